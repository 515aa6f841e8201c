/* The file of a shared-memory name. */
#ifndef TB_SOURCE_SHM_FILE_H
#define TB_SOURCE_SHM_FILE_H

#include <timebase/shm_publisher.h>

#include "platform/shared_file.h"

tb_status_t tb__shm_file_open(tb__shared_file_t *file, const char *name,
                              const tb_shm_options_t *options, bool writable,
                              tb_error_t *error) TB_WARN_UNUSED;

/* TB_ERR_INVALID. */
tb_status_t tb__shm_name_check(const char *name, tb_error_t *error) TB_WARN_UNUSED;
bool tb__shm_name_is_valid(const char *name);
const char *tb__shm_directory(const tb_shm_options_t *options);

/* The path of the area beside the page (wake_area.h), for a name and options with which that was
 * opened. Allocated; NULL: out of memory. */
char *tb__shm_wake_path(const char *name, const tb_shm_options_t *options);

#endif
