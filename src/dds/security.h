/* DDS Security: passes the files of an enclave to Cyclone's plugins. */
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
  TB__SECURITY_CRL, /* revoked certificates; the only file that may be missing */
  TB__SECURITY_FILE_COUNT
} tb__security_file_t;

/* Paths; only the CRL may be "". */
typedef struct tb__security {
  char files[TB__SECURITY_FILE_COUNT][PATH_MAX];
} tb__security_t;

/* Adds the files and the plugins to `qos`, the dds_qos_t of a participant. */
void tb__security_apply(const tb__security_t *security, void *qos);

/* Why Cyclone has refused a participant with these files, from the messages that it logged.
 * TB_ERR_INVALID with the files that may be at fault; TB_ERR_TRANSPORT when the cause is unknown.
 */
tb_status_t tb__security_refusal(const tb__security_t *security,
                                 const tb__dds_log_capture_t *capture, tb_error_t *error);

/* The path of the plugin `name` next to the libddsc at `library`; `name` itself, for the search
 * path of the loader, if it is not there. */
void tb__security_plugin_path(const char *library, const char *name, char out[PATH_MAX]);

#endif
