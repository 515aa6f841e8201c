/* DDS domains of this process: each is created once and shared by its participants. */
#ifndef TB_DDS_DOMAIN_H
#define TB_DDS_DOMAIN_H

#include <stdint.h>
#include <timebase/error.h>

typedef struct tb__dds_domain tb__dds_domain_t;

/* Creates the domain with the Cyclone configuration `config`, or joins it when it is there with the
 * same text. TB_ERR_INVALID: it has another configuration, or Cyclone cannot read this one.
 * TB_ERR_LIMIT: no participant index is free on this machine. */
tb_status_t tb__dds_domain_acquire(uint32_t id, const char *config, tb__dds_domain_t **out,
                                   tb_error_t *error);

/* The last release deletes the domain. Accepts NULL. */
void tb__dds_domain_release(tb__dds_domain_t *domain);

#endif
