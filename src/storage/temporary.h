/* A file that is made for ourselves alone, and has no name once it is open. */
#ifndef TB_STORAGE_TEMPORARY_H
#define TB_STORAGE_TEMPORARY_H

#include <timebase/error.h>

/* A folder of our own, in TMPDIR or /tmp, and the path of a file in it that is not there yet. Who
 * else may write to TMPDIR may put another folder in its place: where there is /proc, the path goes
 * through the descriptor. */
typedef struct tb__temporary {
  char *folder;
  char *path; /* ends with the name of the original file */
  int inside; /* descriptor of the folder, if that is not NULL */
} tb__temporary_t;

/* Where such files are: TMPDIR or /tmp. */
const char *tb__temporary_base(void);
/* A file there to be written without a name, so that it goes with the process; -1 where there are
 * none. `of` comes into errors. */
tb_status_t tb__temporary_open_nameless(const char *of, int *out_fd,
                                        tb_error_t *error) TB_WARN_UNUSED;
/* Gives it its name. */
tb_status_t tb__temporary_name(const tb__temporary_t *temporary, int fd,
                               tb_error_t *error) TB_WARN_UNUSED;

/* *out is zeroed by the caller. The name is that of the file `of` without `suffix` at its end. */
tb_status_t tb__temporary_make(const char *of, const char *suffix, tb__temporary_t *out,
                               tb_error_t *error) TB_WARN_UNUSED;
/* After a failure too. Open descriptors stay valid. */
void tb__temporary_forget(tb__temporary_t *temporary);

#endif
