#include "dds/discovered.h"

#include "dds/inner_writer.h"

#include <dds/ddsi/ddsi_entity_index.h> /* which need inner_writer.h */
#include <dds/ddsi/ddsi_proxy_endpoint.h>
#include <dds/ddsi/q_radmin.h>
#include <dds/ddsi/q_rtps.h>

/* With DDS Security writers may be announced by another one, encrypted. */
static bool is_secured(const struct ddsi_domaingv *domain)
{
#ifdef DDS_HAS_SECURITY
  return domain->config.omg_security_configuration;
#else
  (void)domain;
  return false;
#endif
}

/* Of the writer that announces the participant's writers. A heartbeat of it gives the number of the
 * last one; a reader that has all up to a heartbeat is in sync. */
static bool is_in_sync(const struct ddsi_proxy_writer *writer)
{
  return writer->have_seen_heartbeat && writer->n_reliable_readers > 0 &&
         writer->n_readers_out_of_sync == 0 &&
         nn_reorder_next_seq(writer->reorder) > writer->last_seq;
}

bool tb__dds_has_all_writers_of(const struct ddsi_sertype *type, const tb__guid_t *participant)
{
  struct ddsi_domaingv *domain = ddsrt_atomic_ldvoidp(&type->gv);
  if (!domain || is_secured(domain)) return false;
  ddsi_guid_t guid = tb__inner_guid(participant->bytes);
  guid.entityid.u = NN_ENTITYID_SEDP_BUILTIN_PUBLICATIONS_WRITER;
  struct thread_state *thread = lookup_thread_state();
  bool has_all = false;
  thread_state_awake(thread, domain);
  struct ddsi_proxy_writer *found = entidx_lookup_proxy_writer_guid(domain->entity_index, &guid);
  if (found) {
    ddsrt_mutex_lock(&found->e.lock);
    has_all = is_in_sync(found);
    ddsrt_mutex_unlock(&found->e.lock);
  }
  thread_state_asleep(thread);
  return has_all;
}
