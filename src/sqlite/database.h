/* Opening a database for reading without changing anything beside it. */
#ifndef TB_SQLITE_DATABASE_H
#define TB_SQLITE_DATABASE_H

#include <sqlite3.h>
#include <timebase/error.h>

/* For how long another program, which reads or commits, is waited for. */
#define TB__SQLITE_BUSY_LIMIT_MS 5000

/* Read-only, in full view of a write-ahead log. Text of errors begins with the name. */
tb_status_t tb__sqlite_open(const char *path, const char *name, sqlite3 **out,
                            tb_error_t *error) TB_WARN_UNUSED;

/* The same for a damaged file: as long as its first page can be understood. *out_unread: which log
 * or journal beside it could not be read, "log (-wal)"; NULL: none. */
tb_status_t tb__sqlite_open_damaged(const char *path, const char *name, sqlite3 **out,
                                    const char **out_unread, tb_error_t *error) TB_WARN_UNUSED;

/* SQLite's result code and message as ours; `what` may be "". */
tb_status_t tb__sqlite_error(sqlite3 *database, const char *name, const char *what,
                             tb_error_t *error) TB_WARN_UNUSED;

#endif
