#include "mcap/definitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

static void free_table(tb__mcap_table_t *table)
{
  for (size_t i = 0; i < table->count; i++)
    free(table->at[i].content);
  free(table->at);
}

void tb__mcap_definitions_fini(tb__mcap_definitions_t *definitions)
{
  free_table(&definitions->schemas);
  free_table(&definitions->channels);
  *definitions = (tb__mcap_definitions_t){0};
}

static tb_status_t make_place(tb__mcap_table_t *table, size_t id, tb_error_t *error)
{
  if (id < table->count) return TB_OK;
  size_t count = 2 * id + 16 < TB__MCAP_IDS ? 2 * id + 16 : TB__MCAP_IDS;
  tb__mcap_definition_t *at = reallocarray(table->at, count, sizeof *at);
  if (!at) return tb__no_memory(error);
  memset(at + table->count, 0, (count - table->count) * sizeof *at);
  table->at = at;
  table->count = count;
  return TB_OK;
}

static tb_status_t keep(tb__mcap_definitions_t *definitions, tb__mcap_definition_t *place,
                        const void *content, size_t size, tb_error_t *error)
{
  if (size > TB__MCAP_MAX_DEFINITIONS - definitions->bytes)
    return tb_error_set(error, TB_ERR_LIMIT, "more than %llu bytes of schemas and channels",
                        (unsigned long long)TB__MCAP_MAX_DEFINITIONS);
  place->content = malloc(size + 1);
  if (!place->content) return tb__no_memory(error);
  memcpy(place->content, content, size);
  place->size = size;
  definitions->bytes += size;
  return TB_OK;
}

tb_status_t tb__mcap_definitions_add(tb__mcap_definitions_t *definitions, uint8_t opcode,
                                     const void *content, size_t size, tb_error_t *error)
{
  bool is_schema = opcode == TB__MCAP_SCHEMA;
  const char *what = is_schema ? "schema" : "channel";
  tb__mcap_schema_t schema;
  tb__mcap_channel_t channel;
  if (is_schema ? !tb__mcap_parse_schema(content, size, &schema)
                : !tb__mcap_parse_channel(content, size, &channel))
    return tb_error_set(error, TB_ERR_CORRUPT, "a damaged %s record", what);
  uint16_t id = is_schema ? schema.id : channel.id;
  if (is_schema && id == 0) return TB_OK; /* required by the format: to be ignored */
  tb__mcap_table_t *table = is_schema ? &definitions->schemas : &definitions->channels;
  tb_status_t status = make_place(table, id, error);
  if (status) return status;
  tb__mcap_definition_t *place = &table->at[id];
  if (place->content) {
    if (place->size == size && memcmp(place->content, content, size) == 0) return TB_OK;
    return tb_error_set(error, TB_ERR_CORRUPT, "%s %u is defined twice, differently", what, id);
  }
  status = keep(definitions, place, content, size, error);
  if (status) return status;
  definitions->schema_count += is_schema;
  definitions->channel_count += !is_schema;
  return TB_OK;
}

bool tb__mcap_definitions_channel(const tb__mcap_definitions_t *definitions, uint16_t id,
                                  tb__mcap_channel_t *out)
{
  tb__mcap_definition_t place = tb__mcap_definition(&definitions->channels, id);
  return place.content && tb__mcap_parse_channel(place.content, place.size, out);
}

bool tb__mcap_definitions_schema(const tb__mcap_definitions_t *definitions, uint16_t id,
                                 tb__mcap_schema_t *out)
{
  tb__mcap_definition_t place = tb__mcap_definition(&definitions->schemas, id);
  return place.content && tb__mcap_parse_schema(place.content, place.size, out);
}

tb_status_t tb__mcap_definitions_count(tb__mcap_definitions_t *definitions, uint16_t channel,
                                       uint64_t messages, tb_error_t *error)
{
  tb_status_t status = make_place(&definitions->channels, channel, error);
  if (!status) definitions->channels.at[channel].message_count += messages;
  return status;
}
