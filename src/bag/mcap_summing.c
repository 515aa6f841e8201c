#include "bag/mcap_summing.h"

#include <libdeflate.h>
#include <string.h>

#define MAX_GROUPS 8

typedef struct group {
  uint8_t opcode;
  uint64_t start, length;
} group_t;

typedef struct summing {
  const tb__mcap_writer_t *writer;
  tb__mcap_bytes_t *out;
  group_t groups[MAX_GROUPS];
  size_t group_count;
} summing_t;

static uint64_t here(const summing_t *summing)
{
  return summing->writer->position + summing->out->size;
}

static void end_group(summing_t *summing, uint8_t opcode, uint64_t start)
{
  if (here(summing) == start) return;
  summing->groups[summing->group_count++] = (group_t){opcode, start, here(summing) - start};
}

static bool put_definitions(summing_t *summing, uint8_t opcode, const tb__mcap_table_t *all)
{
  uint64_t start = here(summing);
  for (size_t id = 0; id < all->count; id++) {
    const tb__mcap_definition_t *one = &all->at[id];
    if (!one->content) continue;
    uint8_t *out = tb__mcap_bytes_add(summing->out, TB__MCAP_HEAD_SIZE + one->size);
    if (!out) return false;
    tb__mcap_put_head(&out, opcode, one->size);
    memcpy(out, one->content, one->size);
  }
  end_group(summing, opcode, start);
  return true;
}

static bool put_records(summing_t *summing, uint8_t opcode, const tb__mcap_bytes_t *records)
{
  uint64_t start = here(summing);
  uint8_t *out = tb__mcap_bytes_add(summing->out, records->size);
  if (!out && records->size) return false;
  if (records->size) memcpy(out, records->at, records->size);
  end_group(summing, opcode, start);
  return true;
}

static bool put_statistics(summing_t *summing)
{
  const tb__mcap_writer_t *writer = summing->writer;
  uint64_t start = here(summing);
  uint32_t used = 0;
  for (size_t id = 0; id < writer->definitions.channels.count; id++)
    used += writer->tracks[id] && writer->tracks[id]->count > 0;
  size_t length = 46 + 10 * (size_t)used;
  uint8_t *out = tb__mcap_bytes_add(summing->out, TB__MCAP_HEAD_SIZE + length);
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
  end_group(summing, TB__MCAP_STATISTICS, start);
  return true;
}

static bool put_offsets(summing_t *summing)
{
  for (size_t i = 0; i < summing->group_count; i++) {
    uint8_t *out = tb__mcap_bytes_add(summing->out, TB__MCAP_HEAD_SIZE + 17);
    if (!out) return false;
    tb__mcap_put_head(&out, TB__MCAP_SUMMARY_OFFSET, 17);
    tb__mcap_put_u8(&out, summing->groups[i].opcode);
    tb__mcap_put_u64(&out, summing->groups[i].start);
    tb__mcap_put_u64(&out, summing->groups[i].length);
  }
  return true;
}

static bool put_footer(summing_t *summing, uint64_t start, uint64_t offsets)
{
  tb__mcap_bytes_t *bytes = summing->out;
  size_t size = TB__MCAP_HEAD_SIZE + TB__MCAP_FOOTER_SIZE + TB__MCAP_MAGIC_SIZE;
  uint8_t *out = tb__mcap_bytes_add(bytes, size);
  if (!out) return false;
  tb__mcap_put_head(&out, TB__MCAP_FOOTER, TB__MCAP_FOOTER_SIZE);
  tb__mcap_put_u64(&out, start);
  tb__mcap_put_u64(&out, offsets);
  const uint8_t *summary = bytes->at + (start - summing->writer->position);
  tb__mcap_put_u32(&out, libdeflate_crc32(0, summary, (size_t)(out - summary)));
  tb__mcap_put_magic(&out);
  return true;
}

bool tb__mcap_put_summary(const tb__mcap_writer_t *writer, tb__mcap_bytes_t *out)
{
  summing_t summing = {.writer = writer, .out = out};
  uint8_t *end = tb__mcap_bytes_add(out, TB__MCAP_HEAD_SIZE + 4);
  if (!end) return false;
  tb__mcap_put_head(&end, TB__MCAP_DATA_END, 4);
  tb__mcap_put_u32(&end, writer->crc);
  uint64_t start = here(&summing);
  if (!put_definitions(&summing, TB__MCAP_SCHEMA, &writer->definitions.schemas) ||
      !put_definitions(&summing, TB__MCAP_CHANNEL, &writer->definitions.channels) ||
      !put_statistics(&summing) ||
      !put_records(&summing, TB__MCAP_CHUNK_INDEX, &writer->chunk_index) ||
      !put_records(&summing, TB__MCAP_ATTACHMENT_INDEX, &writer->attachment_index) ||
      !put_records(&summing, TB__MCAP_METADATA_INDEX, &writer->metadata_index))
    return false;
  uint64_t offsets = here(&summing);
  return put_offsets(&summing) && put_footer(&summing, start, offsets);
}
