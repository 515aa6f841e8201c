/* DDS domains of this process: each is created once and shared by its participants. */
#ifndef TB_DDS_DOMAIN_H
#define TB_DDS_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>

typedef struct tb__dds_domain tb__dds_domain_t;

/* Creates the domain with the Cyclone configuration `config`, or joins it if it exists with the
 * same text and the same `identity`: the path of the certificate, "" for participants without
 * security. Cyclone has one set of permissions per domain, and does not support secured and
 * unsecured participants in one domain of a process. TB_ERR_INVALID: the domain has another
 * configuration or identity, or Cyclone cannot read this one. TB_ERR_LIMIT: no participant index is
 * free on this machine. TB_ERR_SYSTEM, TB_ERR_NO_MEMORY: the limits of this process are too low for
 * Cyclone, see room.h. TB_ERR_UNSUPPORTED: an identity in a domain that the program itself has
 * created. */
TB_WARN_UNUSED tb_status_t tb__dds_domain_acquire(uint32_t id, const char *config,
                                                  const char *identity, tb__dds_domain_t **out,
                                                  tb_error_t *error);

/* Whether this library has created it, and not the program. */
bool tb__dds_domain_is_own(const tb__dds_domain_t *domain);

/* The last release deletes the domain. Accepts NULL. */
void tb__dds_domain_release(tb__dds_domain_t *domain);

#endif
