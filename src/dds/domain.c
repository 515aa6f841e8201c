#include "dds/domain.h"
#include "base/list.h"

#include <dds/dds.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dds/first_sample.h"
#include "dds/library.h"
#include "dds/log_sink.h"
#include "dds/room.h"
#include "dds/transport_hook.h"
#include "platform/mutex.h"

struct tb__dds_domain {
  struct tb__dds_domain *next;
  uint32_t id;
  uint32_t users;
  dds_entity_t handle; /* 0: the program created this domain itself and owns it */
  char *config;
  char *identity;
};

static tb__mutex_t domains_mutex = TB__MUTEX_INIT;
static tb__dds_domain_t *domains TB_GUARDED_BY(domains_mutex);

static tb_status_t creation_error(uint32_t id, dds_return_t code,
                                  const tb__dds_log_capture_t *capture, tb_error_t *error)
{
  const char *reason = tb__dds_log_capture_last(capture);
  if (tb__dds_log_capture_find(capture, "free participant index"))
    return tb_error_set(error, TB_ERR_LIMIT,
                        "DDS domain %u: every participant index up to MaxAutoParticipantIndex is "
                        "in use on this machine (%s): stop some processes of this domain, or raise "
                        "Discovery/MaxAutoParticipantIndex in CYCLONEDDS_URI for all of them",
                        id, reason ? reason : "");
  if (tb__dds_log_capture_find(capture, "config:"))
    return tb_error_set(
        error, TB_ERR_INVALID,
        "DDS domain %u: Cyclone DDS refuses its configuration (see CYCLONEDDS_URI): "
        "%s",
        id, reason ? reason : "");
  return tb_error_set(error, TB_ERR_TRANSPORT, "DDS domain %u cannot be created: %s%s%s", id,
                      dds_strretcode(code), reason ? ": " : "", reason ? reason : "");
}

static void domain_free(tb__dds_domain_t *domain)
{
  if (!domain) return;
  free(domain->config);
  free(domain->identity);
  free(domain);
}

static tb__dds_domain_t *domain_alloc(const char *config, const char *identity)
{
  tb__dds_domain_t *domain = calloc(1, sizeof *domain);
  if (domain && (domain->config = strdup(config)) && (domain->identity = strdup(identity)))
    return domain;
  domain_free(domain);
  return NULL;
}

static tb_status_t foreign_refusal(uint32_t id, tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_UNSUPPORTED,
                      "DDS domain %u was created by the program itself, and may hold participants "
                      "without security: let timebase create it first, or unset "
                      "ROS_SECURITY_ENABLE and secure the domain in CYCLONEDDS_URI",
                      id);
}

TB_REQUIRES(domains_mutex)
static tb_status_t domain_create_locked(uint32_t id, const char *config, const char *identity,
                                        const tb__dds_log_capture_t *capture,
                                        tb__dds_domain_t **out, tb_error_t *error)
{
  tb__dds_domain_t *domain = domain_alloc(config, identity);
  if (!domain) return tb_error_set(error, TB_ERR_NO_MEMORY, "DDS domain %u: out of memory", id);
  tb_status_t status = tb__dds_room_for_domain(id, domains != NULL, error);
  if (status) {
    domain_free(domain);
    return status;
  }
  domain->handle = dds_create_domain(id, config);
  if (domain->handle == DDS_RETCODE_PRECONDITION_NOT_MET) {
    domain->handle = 0;
    if (identity[0]) status = foreign_refusal(id, error);
  } else if (domain->handle < 0) {
    status = creation_error(id, domain->handle, capture, error);
  }
  if (status) {
    domain_free(domain);
    return status;
  }
  domain->id = id;
  domain->users = 1;
  domain->next = domains;
  domains = domain;
  *out = domain;
  return TB_OK;
}

TB_REQUIRES(domains_mutex)
static tb_status_t domain_join_locked(tb__dds_domain_t *domain, const char *config,
                                      const char *identity, tb__dds_domain_t **out,
                                      tb_error_t *error)
{
  if (strcmp(domain->identity, identity) != 0)
    return tb_error_set(
        error, TB_ERR_INVALID,
        "DDS domain %u is in use in this process with %s (enclave or ROS_SECURITY_*)"
        ": all contexts of a domain must have the same",
        domain->id, domain->identity[0] ? "other security" : "no security");
  if (strcmp(domain->config, config) != 0)
    return tb_error_set(error, TB_ERR_INVALID,
                        "DDS domain %u is in use in this process with other discovery settings "
                        "(ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS, ROS_LOCALHOST_ONLY, "
                        "CYCLONEDDS_URI): all contexts of a domain must have the same",
                        domain->id);
  tb_status_t status = tb__dds_room_to_join(domain->id, error);
  if (status) return status;
  domain->users++;
  *out = domain;
  return TB_OK;
}

tb_status_t tb__dds_domain_acquire(uint32_t id, const char *config, const char *identity,
                                   tb__dds_domain_t **out, tb_error_t *error)
{
  tb__dds_log_capture_t capture;
  tb__dds_domain_t *domain;
  tb__mutex_lock(&domains_mutex);
  tb__dds_log_capture_begin(&capture);
  for (domain = domains; domain && domain->id != id; domain = domain->next)
    ;
  tb_status_t status = domain
                           ? domain_join_locked(domain, config, identity, &domain, error)
                           : domain_create_locked(id, config, identity, &capture, &domain, error);
  bool foreign = !status && domain->handle == 0;
  tb__dds_log_capture_stop();
  tb__mutex_unlock(&domains_mutex);
  tb__dds_log_capture_replay(&capture);
  if (status) return status;
  if (foreign)
    tb__log(TB_LOG_WARN,
            "DDS domain %u was created by the program itself: its settings apply, and the ROS 2 "
            "discovery variables have no effect",
            id);
  *out = domain;
  return TB_OK;
}

bool tb__dds_domain_is_own(const tb__dds_domain_t *domain)
{
  return domain->handle > 0;
}

TB_REQUIRES(domains_mutex)
static void domain_delete_locked(tb__dds_domain_t *domain)
{
  TB__CHAIN_REMOVE(domains, domain);
  if (domain->handle > 0) {
    dds_delete(domain->handle);
    tb__transport_hook_domain_deleted(domain->id);
    tb__first_sample_domain_deleted(domain->id);
  }
  domain_free(domain);
}

void tb__dds_domain_release(tb__dds_domain_t *domain)
{
  if (!domain) return;
  tb__dds_log_capture_t capture;
  tb__mutex_lock(&domains_mutex);
  tb__dds_log_capture_begin(&capture);
  if (--domain->users == 0) domain_delete_locked(domain);
  tb__dds_log_capture_stop();
  tb__mutex_unlock(&domains_mutex);
  tb__dds_log_capture_replay(&capture);
}
