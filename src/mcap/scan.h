/* Every record of the data section from front to back, and what is damaged between them. */
#ifndef TB_MCAP_SCAN_H
#define TB_MCAP_SCAN_H

#include "mcap/chunk.h"
#include "mcap/definitions.h"

typedef struct tb__mcap_record {
  uint8_t opcode; /* schema, channel, message or metadata */
  bool in_chunk;
  const uint8_t *content; /* valid during the call */
  size_t size;
  uint64_t offset; /* of the record in the file; in a chunk, of that */
} tb__mcap_record_t;

typedef enum tb__mcap_harm {
  TB__MCAP_LOST,     /* it could not be used */
  TB__MCAP_DOUBTFUL, /* it was used, though its CRC is wrong */
  TB__MCAP_HARMLESS, /* what contradicts it is not needed: nothing is lost */
} tb__mcap_harm_t;

/* Something that is wrong at a place. */
typedef struct tb__mcap_damage {
  tb__mcap_harm_t harm;
  tb_status_t status; /* TB_ERR_CORRUPT, TB_ERR_TRUNCATED, TB_ERR_UNSUPPORTED or TB_ERR_LIMIT */
  uint64_t offset, size;
  bool has_times; /* those in the head of a lost chunk */
  uint64_t start_ns, end_ns;
  uint64_t message_count;        /* counted by its indexes, or doubtful; 0: unknown */
  char text[TB_ERROR_TEXT_SIZE]; /* with path and offset */
} tb__mcap_damage_t;

/* The end of the file is missing, and nothing before it. */
static inline bool tb__mcap_is_unclosed(tb_status_t status, uint64_t size)
{
  return status == TB_ERR_TRUNCATED && size == 0;
}

/* A call that fails ends the scan with its status. NULL: not wanted. */
typedef struct tb__mcap_visitor {
  void *user;
  /* Before the records in it, which are checked. */
  tb_status_t (*chunk)(void *user, uint64_t offset, const tb__mcap_chunk_t *chunk,
                       tb_error_t *error);
  tb_status_t (*record)(void *user, const tb__mcap_record_t *record, tb_error_t *error);
  tb_status_t (*attachment)(void *user, uint64_t offset, const tb__mcap_attachment_t *attachment,
                            tb_error_t *error);
  tb_status_t (*damage)(void *user, const tb__mcap_damage_t *damage, tb_error_t *error);
  /* Gives what there is of a chunk that is cut off, and of a whole one with a wrong CRC. */
  bool salvages;
  const uint64_t *chunks; /* where the summary has some: sorted; no record reaches over one */
  size_t chunk_count;
} tb__mcap_visitor_t;

/* The references between records are checked, and all CRCs of the data section: of chunks, of
 * attachments and of all of it, which finds a record that has become one of another kind.
 * Definitions are collected before the visitor sees them. After damage the next record is searched
 * for. TB_ERR_CORRUPT: not MCAP at all. */
tb_status_t tb__mcap_scan(tb__bag_input_t *input, tb__mcap_definitions_t *definitions,
                          const tb__mcap_visitor_t *visitor, tb_error_t *error) TB_WARN_UNUSED;

#endif
