/* DDS Security: the files of an enclave on their way to Cyclone's plugins. */
#ifndef TB_DDS_SECURITY_H
#define TB_DDS_SECURITY_H

#include <limits.h>
#include <stdbool.h>
#include <timebase/error.h>

#include "dds/log_sink.h"

typedef enum tb__security_file {
  TB__SECURITY_IDENTITY_CA,
  TB__SECURITY_CERTIFICATE,
  TB__SECURITY_PRIVATE_KEY,
  TB__SECURITY_PERMISSIONS_CA,
  TB__SECURITY_GOVERNANCE,
  TB__SECURITY_PERMISSIONS,
  TB__SECURITY_CRL, /* which certificates were revoked: the only one that need not be there */
  TB__SECURITY_FILE_COUNT
} tb__security_file_t;

/* Paths; only the CRL may be "". */
typedef struct tb__security {
  char files[TB__SECURITY_FILE_COUNT][PATH_MAX];
} tb__security_t;

/* The dds_qos_t of a participant gets the files and the plugins. */
void tb__security_apply(const tb__security_t *security, void *qos);

/* Why Cyclone has refused a participant with these files, from what it said meanwhile.
 * TB_ERR_INVALID with the files that may be at fault; TB_ERR_TRANSPORT when nothing is known. */
tb_status_t tb__security_refusal(const tb__security_t *security,
                                 const tb__dds_log_capture_t *capture, tb_error_t *error);

/* The plugin `name` that belongs to the libddsc at `library`; `name` itself, which the loader then
 * looks for in its own folders, if it does not lie there. */
void tb__security_plugin_path(const char *library, const char *name, char out[PATH_MAX]);

#endif
