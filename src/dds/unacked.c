#include "dds/unacked.h"

#include "dds/inner_writer.h"

#include <dds/ddsi/ddsi_entity_match.h> /* which needs inner_writer.h */
#include <dds/ddsi/q_whc.h>

/* dds_wait_for_acks waits for all readers; the function that it calls also takes a single one. */
static bool is_acked_by(struct ddsi_writer *writer, const tb__guid_t *reader)
{
  ddsi_guid_t guid = tb__inner_guid(reader->bytes);
  return ddsi_writer_wait_for_acks(writer, &guid, 0) != DDS_RETCODE_TIMEOUT;
}

size_t tb__unacked_select(dds_entity_t writer, const struct ddsi_sertype *type,
                          tb__matched_t *readers, size_t count)
{
  tb__inner_writer_t inner;
  size_t unacked = 0;
  if (!tb__inner_writer_enter(writer, type, &inner)) return 0;
  for (size_t i = 0; i < count; i++)
    if (!is_acked_by(inner.writer, &readers[i].guid)) readers[unacked++] = readers[i];
  tb__inner_writer_leave(&inner);
  return unacked;
}

size_t tb__unacked_bytes(dds_entity_t writer, const struct ddsi_sertype *type, size_t *out_high)
{
  tb__inner_writer_t inner;
  struct whc_state kept;
  *out_high = SIZE_MAX;
  if (!tb__inner_writer_enter(writer, type, &inner)) return 0;
  ddsrt_mutex_lock(&inner.writer->e.lock);
  whc_get_state(inner.writer->whc, &kept);
  *out_high = inner.writer->whc_high;
  ddsrt_mutex_unlock(&inner.writer->e.lock);
  tb__inner_writer_leave(&inner);
  return kept.unacked_bytes;
}

static bool has_asked_again(struct ddsi_writer *writer, const tb__guid_t *reader)
{
  ddsi_guid_t guid = tb__inner_guid(reader->bytes);
  const struct ddsi_wr_prd_match *match =
      ddsrt_avl_lookup(&ddsi_wr_readers_treedef, &writer->readers, &guid);
  return match && match->rexmit_requests > 0;
}

size_t tb__unkept_select(dds_entity_t writer, const struct ddsi_sertype *type,
                         tb__matched_t *readers, size_t *count)
{
  tb__inner_writer_t inner;
  size_t asked = 0, all = *count;
  *count = 0;
  if (!tb__inner_writer_enter(writer, type, &inner)) return 0;
  ddsrt_mutex_lock(&inner.writer->e.lock);
  size_t unkept = inner.writer->rexmit_lost_count;
  for (size_t i = 0; i < all && unkept > 0; i++)
    if (has_asked_again(inner.writer, &readers[i].guid)) readers[asked++] = readers[i];
  ddsrt_mutex_unlock(&inner.writer->e.lock);
  tb__inner_writer_leave(&inner);
  *count = asked;
  return unkept;
}
