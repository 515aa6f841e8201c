/* A table whose inner pages are damaged, made readable again from the leaf pages that are left. */
#ifndef TB_SQLITE_LEAVES_H
#define TB_SQLITE_LEAVES_H

#include <stdint.h>
#include <timebase/bag_reader.h>
#include <timebase/error.h>

/* What is found of the table of messages. */
typedef struct tb__sqlite_leaves {
  uint64_t pages, rows;
} tb__sqlite_leaves_t;

/* Copies the database at `from`, which errors call `name`, to the open file `fd`, in which the
 * table with the page `root` gets inner pages that lead to every leaf page that is whole and has
 * rows of messages, wherever it is in the file. Pages that the file lists as free are left out;
 * what is beside the file (-wal, -journal) is not used. TB_ERR_NOT_FOUND: there is no such page.
 * TB_ERR_LIMIT: the copy gets larger than limits->unpacked_size. */
tb_status_t tb__sqlite_rebuild(const char *from, const char *name, uint32_t root,
                               const tb_bag_limits_t *limits, int fd, tb__sqlite_leaves_t *out,
                               tb_error_t *error) TB_WARN_UNUSED;

#endif
