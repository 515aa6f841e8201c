#include "dds/inner_writer.h"

#include <dds/ddsi/ddsi_entity_index.h>
#include <dds/ddsi/q_bswap.h>
#include <string.h>

ddsi_guid_t tb__inner_guid(const void *bytes)
{
  ddsi_guid_t guid;
  memcpy(&guid, bytes, sizeof guid);
  return nn_ntoh_guid(guid);
}

bool tb__inner_writer_enter(dds_entity_t writer, const struct ddsi_sertype *type,
                            tb__inner_writer_t *out)
{
  struct ddsi_domaingv *domain = ddsrt_atomic_ldvoidp(&type->gv);
  dds_guid_t name;
  if (!domain || dds_get_guid(writer, &name) < 0) return false;
  ddsi_guid_t guid = tb__inner_guid(name.v);
  struct thread_state *thread = lookup_thread_state();
  thread_state_awake(thread, domain);
  struct ddsi_writer *found = entidx_lookup_writer_guid(domain->entity_index, &guid);
  *out = (tb__inner_writer_t){thread, domain, found};
  if (!found) thread_state_asleep(thread);
  return found;
}

void tb__inner_writer_leave(const tb__inner_writer_t *inner)
{
  thread_state_asleep(inner->thread);
}
