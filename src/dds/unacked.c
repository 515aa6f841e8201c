#include "dds/unacked.h"

#include <dds/ddsi/ddsi_domaingv.h>
#include <dds/ddsi/ddsi_entity.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_bswap.h>
#include <dds/ddsi/q_hbcontrol.h>
#include <dds/ddsi/q_thread.h>
#include <string.h>

#include <dds/ddsi/ddsi_endpoint.h> /* which needs those above */
#include <dds/ddsi/ddsi_entity_index.h>

static ddsi_guid_t guid_of(const void *bytes)
{
  ddsi_guid_t guid;
  memcpy(&guid, bytes, sizeof guid);
  return nn_ntoh_guid(guid);
}

/* dds_wait_for_acks waits for all readers; the function that it calls also takes a single one. */
static bool is_acked_by(struct ddsi_writer *writer, const tb__guid_t *reader)
{
  ddsi_guid_t guid = guid_of(reader->bytes);
  return ddsi_writer_wait_for_acks(writer, &guid, 0) != DDS_RETCODE_TIMEOUT;
}

size_t tb__unacked_select(dds_entity_t writer, const struct ddsi_sertype *type,
                          tb__matched_t *readers, size_t count)
{
  struct ddsi_domaingv *domain = ddsrt_atomic_ldvoidp(&type->gv);
  dds_guid_t name;
  size_t unacked = 0;
  if (!domain || dds_get_guid(writer, &name) < 0) return 0;
  ddsi_guid_t guid = guid_of(name.v);
  struct thread_state *thread = lookup_thread_state();
  thread_state_awake(thread, domain);
  struct ddsi_writer *found = entidx_lookup_writer_guid(domain->entity_index, &guid);
  for (size_t i = 0; found && i < count; i++)
    if (!is_acked_by(found, &readers[i].guid)) readers[unacked++] = readers[i];
  thread_state_asleep(thread);
  return unacked;
}
