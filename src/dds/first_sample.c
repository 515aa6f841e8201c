#include "dds/first_sample.h"

#include <dds/ddsi/ddsi_domaingv.h>
#include <dds/ddsi/ddsi_entity.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_hbcontrol.h>
#include <dds/ddsi/q_thread.h>

#include <dds/ddsi/ddsi_endpoint.h> /* which needs those above */
#include <dds/ddsi/ddsi_entity_index.h>
#include <dds/ddsi/ddsi_proxy_endpoint.h>

#include "dds/inner_writer.h"

void tb__first_sample_expect(dds_entity_t reader, const struct ddsi_sertype *type,
                             const tb__guid_t *writer)
{
  struct ddsi_domaingv *domain = tb__inner_domain(reader, type);
  if (!domain) return;
  ddsi_guid_t guid = tb__inner_guid(writer->bytes);
  struct thread_state *thread = lookup_thread_state();
  thread_state_awake(thread, domain);
  struct ddsi_proxy_writer *found = entidx_lookup_proxy_writer_guid(domain->entity_index, &guid);
  if (found) {
    ddsrt_mutex_lock(&found->e.lock);
    found->have_seen_heartbeat = 1;
    ddsrt_mutex_unlock(&found->e.lock);
  }
  thread_state_asleep(thread);
}
