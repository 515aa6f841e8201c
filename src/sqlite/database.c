#include "sqlite/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/no_memory.h"

#define HEADER_SIZE 100
#define MAGIC       "SQLite format 3" /* with its NUL: 16 bytes */

typedef struct beside {
  bool wal; /* a write-ahead log with content */
  bool wal_exists, shm_exists;
  bool journal; /* a rollback journal with content */
} beside_t;

static tb_status_t status_of(int code)
{
  switch (code & 0xff) {
  case SQLITE_NOMEM:
    return TB_ERR_NO_MEMORY;
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return TB_ERR_BUSY;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
  case SQLITE_FORMAT:
    return TB_ERR_CORRUPT;
  case SQLITE_ERROR: /* no such table, no such column */
    return TB_ERR_UNSUPPORTED;
  case SQLITE_TOOBIG:
    return TB_ERR_LIMIT;
  default:
    return TB_ERR_SYSTEM;
  }
}

tb_status_t tb__sqlite_error(sqlite3 *database, const char *name, const char *what,
                             tb_error_t *error)
{
  int code = sqlite3_extended_errcode(database);
  const char *separator = *what ? ": " : "";
  if (code == SQLITE_IOERR_SHORT_READ)
    return tb_error_set(error, TB_ERR_TRUNCATED,
                        "%s: %s%sthe file is shorter than its header states", name, what,
                        separator);
  bool is_locked = (code & 0xff) == SQLITE_BUSY;
  tb_error_set(error, status_of(code), "%s: %s%s%s%s", name, what, separator,
               sqlite3_errmsg(database),
               is_locked ? " by another program; try again when it has ended" : "");
  if (error) error->os_errno = sqlite3_system_errno(database);
  return status_of(code);
}

static bool is_unreserved(unsigned char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         strchr("/._-~", c);
}

/* NULL when out of memory. "file://" needs an absolute path, and keeps one with "//" whole. */
static char *make_uri(const char *path, const char *parameters)
{
  const char *scheme = *path == '/' ? "file://" : "file:";
  size_t size = strlen(scheme) + 3 * strlen(path) + strlen(parameters) + 1;
  char *uri = malloc(size);
  if (!uri) return NULL;
  size_t used = (size_t)snprintf(uri, size, "%s", scheme);
  for (const char *c = path; *c; c++) {
    if (is_unreserved((unsigned char)*c))
      uri[used++] = *c;
    else
      used += (size_t)snprintf(uri + used, size - used, "%%%02X", (unsigned char)*c);
  }
  snprintf(uri + used, size - used, "%s", parameters);
  return uri;
}

/* False: no memory, and nothing is known. */
static bool stat_beside(const char *path, const char *suffix, bool *exists, bool *has_content)
{
  char *name;
  struct stat info;
  if (asprintf(&name, "%s%s", path, suffix) < 0) return false;
  *exists = stat(name, &info) == 0;
  *has_content = *exists && info.st_size > 0;
  free(name);
  return true;
}

static bool look_beside(const char *path, beside_t *out)
{
  bool journal_exists, shm;
  return stat_beside(path, "-wal", &out->wal_exists, &out->wal) &&
         stat_beside(path, "-shm", &out->shm_exists, &shm) &&
         stat_beside(path, "-journal", &journal_exists, &out->journal);
}

static uint32_t big_endian(const uint8_t *bytes)
{
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static tb_status_t check_header(const char *name, const uint8_t *header, size_t size,
                                int64_t file_size, tb_error_t *error)
{
  size_t magic_size = size < sizeof MAGIC ? size : sizeof MAGIC;
  if (memcmp(header, MAGIC, magic_size) != 0)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: not a SQLite database", name);
  if (size < HEADER_SIZE)
    return tb_error_set(error, TB_ERR_TRUNCATED, "%s: %zu bytes, less than a database header", name,
                        size);
  int64_t page_size = header[16] << 8 | header[17];
  if (page_size == 1) page_size = 65536;
  int64_t pages = big_endian(header + 28);
  bool count_is_valid = big_endian(header + 24) == big_endian(header + 92);
  if (count_is_valid && pages * page_size > file_size) {
    tb_error_set(error, TB_ERR_TRUNCATED, "%s: %lld bytes, but its header states %lld", name,
                 (long long)file_size, (long long)(pages * page_size));
    if (error) error->offset = file_size;
    return TB_ERR_TRUNCATED;
  }
  return TB_OK;
}

/* With a log beside it the file alone may be stale or short: SQLite judges then. */
static tb_status_t inspect(const char *path, const char *name, const beside_t *beside,
                           bool *in_wal_mode, tb_error_t *error)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno,
                              "%s", name);
  uint8_t header[HEADER_SIZE] = {0};
  struct stat info;
  ssize_t size = pread(fd, header, sizeof header, 0);
  tb_status_t status = TB_OK;
  if (size < 0 || fstat(fd, &info) != 0)
    status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", name);
  close(fd);
  if (status) return status;
  *in_wal_mode = size == HEADER_SIZE && header[18] == 2;
  if (beside->wal) return TB_OK;
  return check_header(name, header, (size_t)size, info.st_size, error);
}

typedef enum care {
  CAREFUL,
  TOLERANT, /* of a file that is shorter than its header states */
} care_t;

#define AS_IT_IS  "?immutable=1" /* the file alone, without what is beside it */
#define WITH_LOG  "?mode=ro"
#define OWN_INDEX "?mode=ro&vfs=unix-none" /* the index of the log is in memory, not in a -shm */

static int open_uri(const char *path, const char *parameters, care_t care, sqlite3 **database)
{
  bool has_own_index = strcmp(parameters, OWN_INDEX) == 0;
  sqlite3_close(*database);
  *database = NULL;
  char *uri = make_uri(path, parameters);
  if (!uri) return SQLITE_NOMEM;
  int code = sqlite3_open_v2(uri, database,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
  free(uri);
  if (code != SQLITE_OK) return code;
  sqlite3_busy_timeout(*database, TB__SQLITE_BUSY_LIMIT_MS);
  bool tolerant = care == TOLERANT; /* what it takes: no statement of ours writes */
  sqlite3_db_config(*database, SQLITE_DBCONFIG_DEFENSIVE, !tolerant, (int *)NULL);
  sqlite3_db_config(*database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, tolerant, (int *)NULL);
  sqlite3_db_config(*database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
  if (has_own_index) /* what SQLite keeps that index in memory for; nothing is locked there */
    code = sqlite3_exec(*database, "PRAGMA locking_mode = exclusive", NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_exec(*database, "PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0;", NULL, NULL,
                        NULL);
  if (code == SQLITE_OK) /* the first statement that looks into the file */
    code = sqlite3_exec(*database, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
  return code;
}

static bool is_denied(int code)
{
  return (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
}

/* Where the folder cannot be written, SQLite cannot make a -shm. Without one no writer has the file
 * open, so nothing needs to be locked. */
static int open_with_log(const char *path, const beside_t *beside, care_t care, sqlite3 **database)
{
  int code = open_uri(path, WITH_LOG, care, database);
  if (is_denied(code) && beside->wal && !beside->shm_exists)
    code = open_uri(path, OWN_INDEX, care, database);
  return code;
}

static tb_status_t open_failed(sqlite3 *database, int code, const char *name,
                               const beside_t *beside, tb_error_t *error)
{
  if (!database) return tb__no_memory(error);
  int system = sqlite3_system_errno(database);
  bool is_out_of_files = system == EMFILE || system == ENFILE;
  if (is_denied(code) && !is_out_of_files && (beside->journal || beside->wal))
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "%s: the recording was cut off and its %s must be merged by a writer; copy "
                        "both to a writable folder and run `sqlite3 FILE 'PRAGMA "
                        "journal_mode=delete'`",
                        name, beside->wal ? "log (-wal)" : "journal (-journal)");
  return tb__sqlite_error(database, name, "", error);
}

tb_status_t tb__sqlite_open(const char *path, const char *name, sqlite3 **out, tb_error_t *error)
{
  beside_t beside;
  bool in_wal_mode = false;
  if (!look_beside(path, &beside)) return tb__no_memory(error);
  tb_status_t status = inspect(path, name, &beside, &in_wal_mode, error);
  if (status) return status;
  /* In WAL mode SQLite would create -wal and -shm, which fails on a read-only medium and leaves
   * litter elsewhere. Without a -wal no writer has it open, and all content is in the file. */
  bool alone = in_wal_mode && !beside.wal_exists;
  sqlite3 *database = NULL;
  int code = alone ? open_uri(path, AS_IT_IS, CAREFUL, &database)
                   : open_with_log(path, &beside, CAREFUL, &database);
  if (is_denied(code) && !alone && !beside.wal && !beside.journal)
    code = open_uri(path, AS_IT_IS, CAREFUL, &database);
  if (code != SQLITE_OK) {
    status = open_failed(database, code, name, &beside, error);
    sqlite3_close(database);
    return status;
  }
  *out = database;
  return TB_OK;
}

tb_status_t tb__sqlite_open_damaged(const char *path, const char *name, sqlite3 **out,
                                    const char **out_unread, tb_error_t *error)
{
  beside_t beside;
  if (!look_beside(path, &beside)) return tb__no_memory(error);
  sqlite3 *database = NULL;
  const char *unread = NULL;
  int code = SQLITE_CANTOPEN;
  if (beside.wal || beside.journal) {
    code = open_with_log(path, &beside, TOLERANT, &database);
    unread = beside.wal ? "log (-wal)" : "journal (-journal)";
  }
  if (code == SQLITE_OK)
    unread = NULL;
  else
    code = open_uri(path, AS_IT_IS, TOLERANT, &database);
  if (code == SQLITE_OK) {
    *out = database;
    *out_unread = unread;
    return TB_OK;
  }
  tb_status_t status =
      database ? tb__sqlite_error(database, name, "", error) : tb__no_memory(error);
  sqlite3_close(database);
  return status;
}
