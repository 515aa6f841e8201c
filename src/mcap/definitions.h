/* The schemas and channels of a file, by their ids, as the records were. */
#ifndef TB_MCAP_DEFINITIONS_H
#define TB_MCAP_DEFINITIONS_H

#include <timebase/error.h>

#include "mcap/record.h"

#define TB__MCAP_IDS             65536
#define TB__MCAP_MAX_DEFINITIONS (UINT64_C(256) << 20) /* bytes of all together */

typedef struct tb__mcap_definition {
  uint8_t *content; /* NULL: none of this id */
  size_t size;
  uint64_t message_count; /* of a channel, as far as its user counts */
} tb__mcap_definition_t;

typedef struct tb__mcap_table {
  tb__mcap_definition_t *at; /* by id */
  size_t count;              /* no id is above */
} tb__mcap_table_t;

/* Empty when zeroed. */
typedef struct tb__mcap_definitions {
  tb__mcap_table_t schemas, channels;
  uint64_t bytes;
  size_t schema_count, channel_count;
} tb__mcap_definitions_t;

void tb__mcap_definitions_fini(tb__mcap_definitions_t *definitions);

static inline tb__mcap_definition_t tb__mcap_definition(const tb__mcap_table_t *table, size_t id)
{
  return id < table->count ? table->at[id] : (tb__mcap_definition_t){0};
}

/* Of a channel that may still have no definition. */
tb_status_t tb__mcap_definitions_count(tb__mcap_definitions_t *definitions, uint16_t channel,
                                       uint64_t messages, tb_error_t *error) TB_WARN_UNUSED;

/* The same record twice is accepted. TB_ERR_CORRUPT: it cannot be parsed, or another one has
 * its id. */
tb_status_t tb__mcap_definitions_add(tb__mcap_definitions_t *definitions, uint8_t opcode,
                                     const void *content, size_t size,
                                     tb_error_t *error) TB_WARN_UNUSED;

/* False: none of this id. */
bool tb__mcap_definitions_channel(const tb__mcap_definitions_t *definitions, uint16_t id,
                                  tb__mcap_channel_t *out);
bool tb__mcap_definitions_schema(const tb__mcap_definitions_t *definitions, uint16_t id,
                                 tb__mcap_schema_t *out);

#endif
