/* The records of a ROS 1 bag: a header of named fields, then data. Nothing in a file is trusted. */
#ifndef TB_ROSBAG1_RECORD_H
#define TB_ROSBAG1_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TB__ROSBAG1_MAGIC        "#ROSBAG V"
#define TB__ROSBAG1_VERSION_LINE 13      /* bytes of "#ROSBAG V2.0\n" */
#define TB__ROSBAG1_MAX_HEADER   1048576 /* of a record; real ones have less than 4 KiB */

typedef enum tb__rosbag1_op {
  TB__ROSBAG1_DEFINITION = 1, /* format 1.2 only */
  TB__ROSBAG1_MESSAGE = 2,
  TB__ROSBAG1_FILE_HEADER = 3,
  TB__ROSBAG1_INDEX = 4,
  TB__ROSBAG1_CHUNK = 5,
  TB__ROSBAG1_CHUNK_INFO = 6,
  TB__ROSBAG1_CONNECTION = 7,
} tb__rosbag1_op_t;

typedef struct tb__rosbag1_text {
  const char *at; /* not terminated; NULL: there is no such field */
  size_t size;
} tb__rosbag1_text_t;

/* The fields of a header, one after the other. */
typedef struct tb__rosbag1_fields {
  const uint8_t *at;
  size_t left;
} tb__rosbag1_fields_t;

/* A record whose header is in memory; its data may not be. */
typedef struct tb__rosbag1_record {
  uint8_t op;
  tb__rosbag1_fields_t fields;
  size_t head_size; /* bytes before the data, with both lengths */
  uint32_t data_size;
} tb__rosbag1_record_t;

typedef enum tb__rosbag1_parsed {
  TB__ROSBAG1_PARSED,
  TB__ROSBAG1_MORE, /* there are too few bytes: *need has how many would be enough to go on */
  TB__ROSBAG1_BAD,  /* no record */
} tb__rosbag1_parsed_t;

uint32_t tb__rosbag1_u32(const uint8_t *at);
uint64_t tb__rosbag1_u64(const uint8_t *at);

/* The head of the record that begins at `at`. */
tb__rosbag1_parsed_t tb__rosbag1_parse(const uint8_t *at, size_t size, tb__rosbag1_record_t *out,
                                       size_t *need);
/* In memory with its data, or false. */
bool tb__rosbag1_parse_whole(const uint8_t *at, size_t size, tb__rosbag1_record_t *out);

/* False after the last field, and where the rest is none. */
bool tb__rosbag1_next_field(tb__rosbag1_fields_t *fields, tb__rosbag1_text_t *name,
                            tb__rosbag1_text_t *value);
/* The first field of this name; .at is NULL if there is none. */
tb__rosbag1_text_t tb__rosbag1_field(tb__rosbag1_fields_t fields, const char *wanted);
/* False: it is not there, or of another size. */
bool tb__rosbag1_field_u32(tb__rosbag1_fields_t fields, const char *name, uint32_t *out);
bool tb__rosbag1_field_u64(tb__rosbag1_fields_t fields, const char *name, uint64_t *out);
bool tb__rosbag1_field_time(tb__rosbag1_fields_t fields, const char *name, uint64_t *out_ns);
bool tb__rosbag1_text_equals(tb__rosbag1_text_t text, const char *other);

/* Seconds and nanoseconds in ns, which always fit into an int64. */
uint64_t tb__rosbag1_time(const uint8_t *at);

/* Of a message record in 2.0. False: it is none. */
bool tb__rosbag1_parse_message(const uint8_t *at, size_t size, uint32_t *connection,
                               uint64_t *time_ns, tb__rosbag1_record_t *out);

/* Where the next record may begin, from `from` on; `size` if none does. One that ends after the
 * bytes is found too if `may_be_cut`. */
size_t tb__rosbag1_resync(const uint8_t *bytes, size_t from, size_t size, bool may_be_cut);

#endif
