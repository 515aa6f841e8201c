/* Sources by name. A built-in name needs a factory here and a row in the table of
 * source_names.c. */
#ifndef TB_SOURCE_SOURCE_NAMES_H
#define TB_SOURCE_SOURCE_NAMES_H

#include <timebase/source.h>

#define TB__SOURCE_PREFIX_MAX 31

typedef struct tb__source_name {
  char prefix[TB__SOURCE_PREFIX_MAX + 1];
  tb_source_factory_t create;
  void *user;
} tb__source_name_t;

/* "manual", "shm:NAME", "extrapolating:NAME" */
tb_status_t tb__manual_source_from_name(const char *rest, void *user, tb_source_t **out,
                                        tb_error_t *error) TB_WARN_UNUSED;
tb_status_t tb__shm_source_from_name(const char *rest, void *user, tb_source_t **out,
                                     tb_error_t *error) TB_WARN_UNUSED;
tb_status_t tb__extrapolating_source_from_name(const char *rest, void *user, tb_source_t **out,
                                               tb_error_t *error) TB_WARN_UNUSED;

/* What TIMEBASE_SOURCE names; NULL: nothing. */
const char *tb__source_name_in_environment(void);
/* The source of that name; *out is untouched if there is none. Logs why it fails. */
tb_status_t tb__source_create_from_environment(tb_source_t **out) TB_WARN_UNUSED;

#endif
