/* The Cyclone DDS library of this process. */
#ifndef TB_DDS_LIBRARY_H
#define TB_DDS_LIBRARY_H

#include <timebase/error.h>

#include "dds/guid.h"

/* Checks that the libddsc in this process has the release that this code was compiled for: raw
 * samples use structures that are internal to a release. TB_ERR_VERSION. */
TB_WARN_UNUSED tb_status_t tb__dds_library_check(tb_error_t *error);

/* The same for a given file name of the library, "libddsc.so.0.10.2", and release, "0.10.2". A name
 * without a release number passes. */
TB_WARN_UNUSED tb_status_t tb__dds_library_check_path(const char *path, const char *release,
                                                      tb_error_t *error);

/* Returns the status for Cyclone's `code`; the error text is `what` and Cyclone's message. */
tb_status_t tb__dds_error_set(tb_error_t *error, int code, const char *what);

/* From now on this library stays in memory, because Cyclone may call it at any time. With no lock
 * held, and not on threads of DDS: it waits for the dynamic linker. */
void tb__dds_stay_loaded(void);

/* Of a DDS entity; zeros if it is gone. */
tb__guid_t tb__dds_guid(int32_t entity);

#endif
