/* The file of a shared-memory name. */
#ifndef TB_SOURCE_SHM_FILE_H
#define TB_SOURCE_SHM_FILE_H

#include <timebase/shm_publisher.h>

#include "platform/shared_file.h"

/* The mode is that of the options, of the environment, or 0600; *out_mode (or NULL) is set to it.
 */
tb_status_t tb__shm_file_open(tb__shared_file_t *file, const char *name,
                              const tb_shm_options_t *options, bool writable, uint32_t *out_mode,
                              tb_error_t *error) TB_WARN_UNUSED;

/* TB_ERR_INVALID. */
tb_status_t tb__shm_name_check(const char *name, tb_error_t *error) TB_WARN_UNUSED;
bool tb__shm_name_is_valid(const char *name);
const char *tb__shm_directory(const tb_shm_options_t *options);

/* The path of the page. Allocated; NULL: out of memory. */
char *tb__shm_page_path(const char *name, const tb_shm_options_t *options);
/* The path of the area beside the page (wake_area.h), for a name and options with which that was
 * opened. Allocated; NULL: out of memory. */
char *tb__shm_wake_path(const char *name, const tb_shm_options_t *options);

#endif
