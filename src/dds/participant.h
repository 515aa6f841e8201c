/* A DDS participant: the presence of a program in a domain. */
#ifndef TB_DDS_PARTICIPANT_H
#define TB_DDS_PARTICIPANT_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>

#include "dds/guid.h"
#include "dds/security.h"

typedef struct tb__participant tb__participant_t;

typedef struct tb__participant_options {
  uint32_t domain_id;
  const char *config;    /* Cyclone's configuration: XML fragments and URIs, comma-separated */
  const char *user_data; /* USER_DATA as text */
  bool keep_dds_log;     /* do not send Cyclone's log to the log hook */
  const tb__security_t *security; /* NULL: as in `config`, usually none */
} tb__participant_options_t;

/* TB_ERR_VERSION: another Cyclone DDS is loaded. TB_ERR_LIMIT, TB_ERR_UNSUPPORTED: see domain.h.
 * TB_ERR_INVALID: see there and security.h. */
TB_WARN_UNUSED tb_status_t tb__participant_create(const tb__participant_options_t *options,
                                                  tb__participant_t **out, tb_error_t *error);
void tb__participant_destroy(tb__participant_t *participant);

int32_t tb__participant_handle(const tb__participant_t *participant);

/* With DDS Security. */
bool tb__participant_is_secured(const tb__participant_t *participant);

/* Whether nothing uses the domain once this library has deleted it: the program did not create it.
 */
bool tb__participant_owns_domain(const tb__participant_t *participant);

/* Does not call DDS, so it may be used in a forked child. */
tb__guid_t tb__participant_guid(const tb__participant_t *participant);

#endif
