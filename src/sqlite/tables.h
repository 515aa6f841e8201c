/* What reading sqlite3 files has in common, whole ones (storage.c) and damaged ones
 * (salvage.c). */
#ifndef TB_SQLITE_TABLES_H
#define TB_SQLITE_TABLES_H

#include <sqlite3.h>

#include "storage/storage.h"

typedef struct tb__sqlite_file {
  tb__bag_file_t base;
  char *path; /* for errors */
  sqlite3 *database;
} tb__sqlite_file_t;

/* Statements call the number of a row _rowid_, whatever its column `id` holds. In a table WITHOUT
 * ROWID that is `id`. */
tb_status_t tb__sqlite_prepare(tb__sqlite_file_t *file, const char *sql, sqlite3_stmt **out,
                               tb_error_t *error) TB_WARN_UNUSED;
/* SQLite's last error, with the path. */
tb_status_t tb__sqlite_failed(tb__sqlite_file_t *file, const char *what,
                              tb_error_t *error) TB_WARN_UNUSED;

/* A view or virtual table named `messages` would run code from the file. */
tb_status_t tb__sqlite_check_tables(tb__sqlite_file_t *file, tb_error_t *error) TB_WARN_UNUSED;
tb_status_t tb__sqlite_read_topics(tb__sqlite_file_t *file, tb__bag_file_info_t *out,
                                   tb_error_t *error) TB_WARN_UNUSED;
/* Of the tables that schema 3 and 4 have added, where they are there: definitions, metadata,
 * ros_distro. */
tb_status_t tb__sqlite_read_extras(tb__sqlite_file_t *file, tb__bag_file_info_t *out,
                                   tb_error_t *error) TB_WARN_UNUSED;

/* Topics are in the order of their ids. */
void tb__sqlite_count_row(tb__bag_file_info_t *info, int64_t topic_id);

#endif
