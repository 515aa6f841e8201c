/* The file of a shared-memory name. */
#ifndef TB_SOURCE_SHM_FILE_H
#define TB_SOURCE_SHM_FILE_H

#include <timebase/shm_publisher.h>

#include "platform/shared_file.h"

tb_status_t tb__shm_file_open(tb__shared_file_t *file, const char *name,
                              const tb_shm_options_t *options, bool writable,
                              tb_error_t *error) TB_WARN_UNUSED;

#endif
