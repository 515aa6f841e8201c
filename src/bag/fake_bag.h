/* A bag in memory, for tests of whatever reads bags. Not part of the library. */
#ifndef TB_BAG_FAKE_BAG_H
#define TB_BAG_FAKE_BAG_H

#include <timebase/bag_reader.h>

#include "storage/storage.h"

typedef struct tb__fake_topic {
  const char *name;
  const char *type;
  const char *offers;               /* YAML as in a topics row; NULL: none */
  const char *serialization_format; /* NULL: cdr */
} tb__fake_topic_t;

typedef struct tb__fake_message {
  size_t topic; /* index; one out of range makes a row of an unknown topic */
  int64_t log_time_ns;
  const void *data; /* NULL with size 0: a short payload of encapsulation alone */
  size_t size;
  size_t file;
  tb_status_t fault;       /* reading the row fails with this */
  int64_t publish_time_ns; /* 0: none is stored */
} tb__fake_message_t;

/* Must outlive the reader. Row ids are indices of messages, plus 1. */
typedef struct tb__fake_bag {
  tb__bag_storage_t storage; /* filled by tb__fake_bag_open */
  const tb__fake_topic_t *topics;
  size_t topic_count;
  const tb__fake_message_t *messages; /* in any order */
  size_t message_count;
  size_t file_count;      /* 0 counts as 1 */
  tb_status_t open_fault; /* opening a file for reading fails with this; the survey works */
  size_t opens;           /* how often a file was opened, survey included */
} tb__fake_bag_t;

/* A payload of std_msgs/msg/Header, little-endian, with that stamp. */
typedef struct tb__fake_header {
  uint8_t encapsulation[4];
  int32_t sec;
  uint32_t nanosec;
  uint32_t length;
  char frame[4];
} tb__fake_header_t;

tb__fake_header_t tb__fake_header(int64_t time_ns);

/* A reader over the bag, with the merging and checks of every other bag. */
tb_status_t tb__fake_bag_open(tb__fake_bag_t *bag, const tb_bag_reader_options_t *options,
                              tb_bag_reader_t **out, tb_error_t *error);

#endif
