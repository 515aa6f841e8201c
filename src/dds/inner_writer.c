#include "dds/inner_writer.h"

#include <dds/ddsi/ddsi_entity_index.h>
#include <dds/ddsi/q_bswap.h>
#include <string.h>

#include "dds/guid.h"

ddsi_guid_t tb__inner_guid(const void *bytes)
{
  ddsi_guid_t guid;
  memcpy(&guid, bytes, sizeof guid);
  return nn_ntoh_guid(guid);
}

bool tb__inner_guid_is_of_fast_dds(const ddsi_guid_t *guid)
{
  ddsi_guid_t sent = nn_hton_guid(*guid);
  tb__guid_t bytes;
  memcpy(&bytes, &sent, sizeof bytes);
  return tb__guid_is_of_fast_dds(&bytes);
}

static struct ddsi_domaingv *domain_of(dds_entity_t endpoint, const struct ddsi_sertype *type,
                                       dds_guid_t *out_name)
{
  return dds_get_guid(endpoint, out_name) < 0 ? NULL : ddsrt_atomic_ldvoidp(&type->gv);
}

struct ddsi_domaingv *tb__inner_domain(dds_entity_t endpoint, const struct ddsi_sertype *type)
{
  dds_guid_t name;
  return domain_of(endpoint, type, &name);
}

bool tb__inner_writer_enter(dds_entity_t writer, const struct ddsi_sertype *type,
                            tb__inner_writer_t *out)
{
  dds_guid_t name;
  struct ddsi_domaingv *domain = domain_of(writer, type, &name);
  if (!domain) return false;
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
