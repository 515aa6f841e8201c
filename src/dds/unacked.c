#include "dds/unacked.h"

#include "dds/inner_writer.h"

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
