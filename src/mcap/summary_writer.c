#include "mcap/summary_writer.h"

#include <libdeflate.h>
#include <string.h>

#define MAX_GROUPS 8

typedef struct group {
  uint8_t opcode;
  uint64_t start, length;
} group_t;

typedef struct summary {
  const tb__mcap_writer_t *writer;
  tb__mcap_bytes_t *out;
  group_t groups[MAX_GROUPS];
  size_t group_count;
} summary_t;

static uint64_t here(const summary_t *summary)
{
  return summary->writer->position + summary->out->size;
}

static void end_group(summary_t *summary, uint8_t opcode, uint64_t start)
{
  if (here(summary) == start) return;
  summary->groups[summary->group_count++] = (group_t){opcode, start, here(summary) - start};
}

static bool put_definitions(summary_t *summary, uint8_t opcode, const tb__mcap_table_t *all)
{
  uint64_t start = here(summary);
  for (size_t id = 0; id < all->count; id++) {
    const tb__mcap_definition_t *one = &all->at[id];
    if (!one->content) continue;
    uint8_t *out = tb__mcap_bytes_add(summary->out, TB__MCAP_HEAD_SIZE + one->size);
    if (!out) return false;
    tb__mcap_put_head(&out, opcode, one->size);
    memcpy(out, one->content, one->size);
  }
  end_group(summary, opcode, start);
  return true;
}

static bool put_records(summary_t *summary, uint8_t opcode, const tb__mcap_bytes_t *records)
{
  uint64_t start = here(summary);
  uint8_t *out = tb__mcap_bytes_add(summary->out, records->size);
  if (!out && records->size) return false;
  if (records->size) memcpy(out, records->at, records->size);
  end_group(summary, opcode, start);
  return true;
}

static bool put_statistics(summary_t *summary)
{
  const tb__mcap_writer_t *writer = summary->writer;
  uint64_t start = here(summary);
  uint32_t used = 0;
  for (size_t id = 0; id < writer->definitions.channels.count; id++)
    used += writer->tracks[id] && writer->tracks[id]->count > 0;
  size_t length = 46 + 10 * (size_t)used;
  uint8_t *out = tb__mcap_bytes_add(summary->out, TB__MCAP_HEAD_SIZE + length);
  if (!out) return false;
  tb__mcap_put_head(&out, TB__MCAP_STATISTICS, length);
  tb__mcap_put_u64(&out, writer->message_count);
  tb__mcap_put_u16(&out, (uint16_t)writer->definitions.schema_count);
  tb__mcap_put_u32(&out, (uint32_t)writer->definitions.channel_count);
  tb__mcap_put_u32(&out, writer->attachment_count);
  tb__mcap_put_u32(&out, writer->metadata_count);
  tb__mcap_put_u32(&out, writer->chunk_count);
  tb__mcap_put_u64(&out, writer->start_ns);
  tb__mcap_put_u64(&out, writer->end_ns);
  tb__mcap_put_u32(&out, 10 * used);
  for (size_t id = 0; id < writer->definitions.channels.count; id++) {
    if (!writer->tracks[id] || writer->tracks[id]->count == 0) continue;
    tb__mcap_put_u16(&out, (uint16_t)id);
    tb__mcap_put_u64(&out, writer->tracks[id]->count);
  }
  end_group(summary, TB__MCAP_STATISTICS, start);
  return true;
}

static bool put_offsets(summary_t *summary)
{
  for (size_t i = 0; i < summary->group_count; i++) {
    uint8_t *out = tb__mcap_bytes_add(summary->out, TB__MCAP_HEAD_SIZE + 17);
    if (!out) return false;
    tb__mcap_put_head(&out, TB__MCAP_SUMMARY_OFFSET, 17);
    tb__mcap_put_u8(&out, summary->groups[i].opcode);
    tb__mcap_put_u64(&out, summary->groups[i].start);
    tb__mcap_put_u64(&out, summary->groups[i].length);
  }
  return true;
}

static bool put_footer(summary_t *summary, uint64_t start, uint64_t offsets)
{
  tb__mcap_bytes_t *bytes = summary->out;
  size_t size = TB__MCAP_HEAD_SIZE + TB__MCAP_FOOTER_SIZE + TB__MCAP_MAGIC_SIZE;
  uint8_t *out = tb__mcap_bytes_add(bytes, size);
  if (!out) return false;
  tb__mcap_put_head(&out, TB__MCAP_FOOTER, TB__MCAP_FOOTER_SIZE);
  tb__mcap_put_u64(&out, start);
  tb__mcap_put_u64(&out, offsets);
  const uint8_t *first = bytes->at + (start - summary->writer->position);
  tb__mcap_put_u32(&out, libdeflate_crc32(0, first, (size_t)(out - first)));
  tb__mcap_put_magic(&out);
  return true;
}

bool tb__mcap_put_summary(const tb__mcap_writer_t *writer, tb__mcap_bytes_t *out)
{
  summary_t summary = {.writer = writer, .out = out};
  uint8_t *end = tb__mcap_bytes_add(out, TB__MCAP_HEAD_SIZE + 4);
  if (!end) return false;
  tb__mcap_put_head(&end, TB__MCAP_DATA_END, 4);
  tb__mcap_put_u32(&end, writer->crc);
  uint64_t start = here(&summary);
  if (!put_definitions(&summary, TB__MCAP_SCHEMA, &writer->definitions.schemas) ||
      !put_definitions(&summary, TB__MCAP_CHANNEL, &writer->definitions.channels) ||
      !put_statistics(&summary) ||
      !put_records(&summary, TB__MCAP_CHUNK_INDEX, &writer->chunk_index) ||
      !put_records(&summary, TB__MCAP_ATTACHMENT_INDEX, &writer->attachment_index) ||
      !put_records(&summary, TB__MCAP_METADATA_INDEX, &writer->metadata_index))
    return false;
  uint64_t offsets = here(&summary);
  return put_offsets(&summary) && put_footer(&summary, start, offsets);
}
