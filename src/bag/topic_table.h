/* The topics of a bag, by name, merged over its files. */
#ifndef TB_BAG_TOPIC_TABLE_H
#define TB_BAG_TOPIC_TABLE_H

#include <timebase/bag_reader.h>

#include "bag/metadata.h"
#include "storage/storage.h"

typedef struct tb__topic_table {
  tb_bag_topic_t *topics; /* the strings are the table's own */
  size_t count;
  size_t *by_name;      /* indices, sorted by name */
  size_t *by_record;    /* indices, sorted by what files call it, format and type */
  const char **records; /* by topic: what files call it */
  unsigned *renamed;    /* by topic: the last number that was put after its name */
  const void **bags;    /* by topic: the bag whose offers were taken last */
  char **oddities;      /* what was odd about topics or files; nothing is lost by it */
  size_t oddity_count;
} tb__topic_table_t;

/* Finds the topic, or adds it and takes its strings. A topic whose name exists with another type or
 * format gets a number after it ("/a_2"); that, and a name that is not text, is logged and kept in
 * `oddities`. Types of ROS 1 with one MD5 sum are one, by its modern name. `metadata` may be NULL;
 * its offers go before the file's, since users edit them there. Of another `bag` (an address) than
 * before, offers that are new are added. */
tb_status_t tb__topic_table_merge(tb__topic_table_t *table, tb__bag_file_topic_t *topic,
                                  const char *path, const void *bag,
                                  const tb__bag_metadata_t *metadata, size_t *out,
                                  tb_error_t *error) TB_WARN_UNUSED;

/* Logs the text and keeps it. */
tb_status_t tb__topic_table_note(tb__topic_table_t *table, const char *text,
                                 tb_error_t *error) TB_WARN_UNUSED;

bool tb__topic_table_find(const tb__topic_table_t *table, const char *name, size_t *out);

/* Adds the counts if their sums are `total` and every message belongs to a known topic. */
bool tb__topic_table_add_counts(tb__topic_table_t *table, const tb__bag_metadata_t *metadata,
                                uint64_t total);

void tb__topic_table_fini(tb__topic_table_t *table);

#endif
