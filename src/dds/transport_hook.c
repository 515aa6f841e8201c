#include "dds/transport_hook.h"

#include <dds/version.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dds/inline_qos.h"
#include "dds/inner_writer.h"
#include "dds/stay_loaded.h"
#include "platform/mutex.h"

#include <dds/ddsi/ddsi_participant.h> /* which needs inner_writer.h */
#include <dds/ddsi/ddsi_tran.h>

/* The releases with which it was tried; raw samples have the same list
 * (cmake/TimebaseCyclone.cmake). */
#define IS_KNOWN_RELEASE                                                                           \
  (DDS_VERSION_MAJOR == 0 && DDS_VERSION_MINOR == 10 && DDS_VERSION_PATCH >= 2 &&                  \
   DDS_VERSION_PATCH <= 5)

/* A connection that is hooked. Never freed, because a thread may be in `on_send` at any time; the
 * place is used again for another connection when that of a deleted domain has gone. */
typedef struct hook {
  struct hook *next;
  _Atomic(ddsi_tran_conn_t) conn;     /* NULL: free */
  _Atomic(ddsi_tran_write_fn_t) send; /* what Cyclone, or another library, had there */
  uint32_t domain_id;
  ddsi_guid_prefix_t domain; /* which of the domains that have had this id */
} hook_t;

static tb__mutex_t mutex = TB__MUTEX_INIT; /* of changes */
static _Atomic(hook_t *) hooks;

static hook_t *place_find(ddsi_tran_conn_t conn)
{
  hook_t *hook = atomic_load(&hooks);
  while (hook && atomic_load(&hook->conn) != conn)
    hook = hook->next;
  return hook;
}

/* Cyclone has read the pointer to on_send without a barrier, so its place may be seen later. */
static ddsi_tran_write_fn_t send_of(ddsi_tran_conn_t conn)
{
  hook_t *hook = place_find(conn);
  if (!hook) {
    tb__mutex_lock(&mutex);
    hook = place_find(conn);
    tb__mutex_unlock(&mutex);
  }
  return hook ? atomic_load(&hook->send) : NULL;
}

static ssize_t send_changed(ddsi_tran_write_fn_t send, ddsi_tran_conn_t conn,
                            const ddsi_locator_t *to, size_t count, const ddsrt_iovec_t *parts,
                            uint32_t flags)
{
  tb__packet_t packet;
  ssize_t size = 0;
  tb__packet_result_t result = tb__packet_insert(parts, count, &packet);
  if (result == TB__PACKET_UNCHANGED) return send(conn, to, count, parts, flags);
  for (size_t i = 0; i < count; i++)
    size += (ssize_t)parts[i].iov_len;
  if (result == TB__PACKET_LOST) return size;
  ssize_t sent = send(conn, to, packet.count, packet.parts, flags);
  tb__packet_free(&packet);
  return sent >= 0 && sent < size ? size : sent; /* Cyclone expects no less than it gave */
}

/* Called by Cyclone on any of its threads, and of the program's that write. */
static ssize_t on_send(ddsi_tran_conn_t conn, const ddsi_locator_t *to, size_t count,
                       const ddsrt_iovec_t *parts, uint32_t flags)
{
  ddsi_tran_write_fn_t send = send_of(conn);
  if (!send) return -1;
  if (!tb__inline_qos_is_used()) return send(conn, to, count, parts, flags);
  return send_changed(send, conn, to, count, parts, flags);
}

static bool is_udp(const struct ddsi_tran_conn *conn)
{
  return conn && conn->m_write_fn && conn->m_connless && !conn->m_stream &&
         strncmp(conn->m_factory->m_typename, "udp", 3) == 0;
}

static hook_t *place_make_locked(void) TB_REQUIRES(mutex)
{
  hook_t *hook = atomic_load(&hooks);
  while (hook && atomic_load(&hook->conn))
    hook = hook->next;
  if (hook || !(hook = calloc(1, sizeof *hook))) return hook;
  hook->next = atomic_load(&hooks);
  atomic_store(&hooks, hook);
  return hook;
}

static bool is_of(const hook_t *hook, const struct ddsi_domaingv *domain)
{
  return memcmp(&hook->domain, &domain->ppguid_base.prefix, sizeof hook->domain) == 0;
}

/* Of the domains with this id those before this one have gone, with their connections; the program,
 * or another copy of this library, has deleted them. */
static void places_free_old_locked(const struct ddsi_domaingv *domain) TB_REQUIRES(mutex)
{
  for (hook_t *hook = atomic_load(&hooks); hook; hook = hook->next)
    if (hook->domain_id == domain->config.domainId && !is_of(hook, domain))
      atomic_store(&hook->conn, NULL);
}

/* A connection of a domain with another id, which has gone, may have been at the same address. */
static hook_t *place_find_locked(ddsi_tran_conn_t conn, const struct ddsi_domaingv *domain)
    TB_REQUIRES(mutex)
{
  hook_t *hook = place_find(conn);
  if (!hook || is_of(hook, domain)) return hook;
  atomic_store(&hook->conn, NULL);
  return NULL;
}

/* Where a connection has a place but not our function, another library has hooked it after this
 * one, and calls ours; or it has put back what it found, and ours is needed again. */
static bool conn_hook_locked(ddsi_tran_conn_t conn, const struct ddsi_domaingv *domain)
    TB_REQUIRES(mutex)
{
  ddsi_tran_write_fn_t there = __atomic_load_n(&conn->m_write_fn, __ATOMIC_ACQUIRE);
  hook_t *hook = place_find_locked(conn, domain);
  if (hook && there != atomic_load(&hook->send)) return true;
  if (!hook) {
    hook = place_make_locked();
    if (!hook) return false;
    hook->domain_id = domain->config.domainId;
    hook->domain = domain->ppguid_base.prefix;
    atomic_store(&hook->send, there);
    atomic_store(&hook->conn, conn);
  }
  while (!__atomic_compare_exchange_n(&conn->m_write_fn, &there, on_send, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE))
    atomic_store(&hook->send, there); /* another copy of the library was first */
  return true;
}

static tb__inline_qos_state_t domain_hook(struct ddsi_domaingv *domain)
{
  tb__inline_qos_state_t state = TB__INLINE_QOS_OFF_TRANSPORT;
  tb__mutex_lock(&mutex);
  places_free_old_locked(domain);
  for (size_t i = 0; i < MAX_XMIT_CONNS; i++) {
    if (!is_udp(domain->xmit_conns[i])) continue;
    if (!conn_hook_locked(domain->xmit_conns[i], domain)) {
      state = TB__INLINE_QOS_OFF_MEMORY;
      break;
    }
    state = TB__INLINE_QOS_ON;
  }
  tb__mutex_unlock(&mutex);
  return state;
}

static bool is_secured(const struct ddsi_writer *writer)
{
#ifdef DDS_HAS_SECURITY
  return writer->c.pp->sec_attr || writer->e.gv->config.omg_security_configuration;
#else
  (void)writer;
  return false;
#endif
}

static uint32_t payload_max(const struct ddsi_config *config)
{
  uint32_t fragments = config->max_msg_size / config->fragment_size;
  return (fragments > 0 ? fragments : 1) * (uint32_t)config->fragment_size;
}

tb__inline_qos_support_t tb__transport_hook_install(dds_entity_t writer,
                                                    const struct ddsi_sertype *type)
{
  tb__inline_qos_support_t support = {.state = TB__INLINE_QOS_OFF_CLOSED};
  tb__inner_writer_t inner;
  if (!IS_KNOWN_RELEASE) {
    support.state = TB__INLINE_QOS_OFF_RELEASE;
    return support;
  }
  tb__stay_loaded();
  if (!tb__inner_writer_enter(writer, type, &inner)) return support;
  if (is_secured(inner.writer)) {
    support.state = TB__INLINE_QOS_OFF_SECURITY;
  } else {
    support.state = domain_hook(inner.domain);
    support.payload_max = payload_max(&inner.domain->config);
  }
  tb__inner_writer_leave(&inner);
  return support;
}

void tb__transport_hook_domain_deleted(uint32_t domain_id)
{
  tb__mutex_lock(&mutex);
  for (hook_t *hook = atomic_load(&hooks); hook; hook = hook->next)
    if (hook->domain_id == domain_id) atomic_store(&hook->conn, NULL);
  tb__mutex_unlock(&mutex);
}

tb_status_t tb__inline_qos_refusal(tb__inline_qos_state_t state, const char *what,
                                   tb_error_t *error)
{
  switch (state) {
  case TB__INLINE_QOS_OFF_RELEASE:
    return tb_error_set(
        error, TB_ERR_UNSUPPORTED,
        "%s: timebase was built for Cyclone DDS %s, with which this is not known to "
        "work: use 0.10.2 to 0.10.5",
        what, DDS_VERSION);
  case TB__INLINE_QOS_OFF_SECURITY:
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "%s: not possible with DDS Security: use Cyclone DDS on both sides "
                        "(RMW_IMPLEMENTATION=rmw_cyclonedds_cpp), or no security",
                        what);
  case TB__INLINE_QOS_OFF_TRANSPORT:
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "%s: only possible over UDP: see General/Transport in CYCLONEDDS_URI",
                        what);
  case TB__INLINE_QOS_OFF_MEMORY:
    return tb_error_set(error, TB_ERR_NO_MEMORY, "%s: out of memory", what);
  default:
    return tb_error_set(error, TB_ERR_CLOSED, "%s: the context was destroyed", what);
  }
}
