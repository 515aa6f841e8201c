/* The Cyclone DDS library of this process. */
#ifndef TB_DDS_LIBRARY_H
#define TB_DDS_LIBRARY_H

#include <timebase/error.h>

/* Makes sure that the libddsc in this process is of the release that this code was compiled for:
 * the structures behind raw samples are internal to a release. TB_ERR_VERSION. */
tb_status_t tb__dds_library_check(tb_error_t *error);

/* The same for a given file name of the library, "libddsc.so.0.10.2", and release, "0.10.2". A name
 * without a release number passes: there is nothing to compare. */
tb_status_t tb__dds_library_check_path(const char *path, const char *release, tb_error_t *error);

/* The code that stands for Cyclone's `code`; fills the text with `what` and Cyclone's own words. */
tb_status_t tb__dds_error_set(tb_error_t *error, int code, const char *what);

#endif
