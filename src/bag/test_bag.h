/* Bags of every age in a temporary folder, for tests. Failures fail the running test. */
#ifndef TB_BAG_TEST_BAG_H
#define TB_BAG_TEST_BAG_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/* As left by crystal, which had no index of times. */
#define TB__TEST_SCHEMA_CRYSTAL 0

char *tb__test_folder_make(void);
void tb__test_folder_remove(char *folder); /* frees the string too */

/* "folder/name", to be freed. */
char *tb__test_path(const char *folder, const char *name);
void tb__test_write(const char *path, const void *bytes, size_t size);
void *tb__test_read(const char *path, size_t *size);

/* An empty database with the tables of schema 0 (crystal) or 1 to 4. */
sqlite3 *tb__test_db_create(const char *path, int schema);
void tb__test_db_exec(sqlite3 *database, const char *sql);
void tb__test_db_topic(sqlite3 *database, int64_t id, const char *name, const char *type,
                       const char *offers);
/* `size` bytes of little-endian CDR: the encapsulation, then zeros. */
void tb__test_db_message(sqlite3 *database, int64_t topic_id, int64_t time_ns, size_t size);

/* A database with topic 1 "/a" of std_msgs/msg/String and `count` messages from start_ns on, each
 * step_ns after the one before. */
void tb__test_db_simple(const char *path, int schema, int count, int64_t start_ns, int64_t step_ns);

#endif
