#include "mcap/recover.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "mcap/file_writer.h"
#include "mcap/index.h"
#include "storage/limits.h"

typedef struct recovery {
  tb__bag_input_t input;
  const tb_bag_limits_t *limits;
  tb__mcap_definitions_t definitions;
  tb__mcap_index_t summary;     /* as far as it could be read */
  tb_error_t summary_error;     /* its status is TB_OK if all of it was */
  tb__mcap_writer_t *writer;    /* NULL: only checking */
  const char *from;             /* its path */
  tb__mcap_definitions_t later; /* all of them, after looking ahead */
  bool has_looked_ahead;
  uint64_t *chunks; /* of the summary: where they are */
  size_t chunk_count;
  tb__mcap_loss_fn loss;
  void *user;
  tb__mcap_recovery_t totals;
} recovery_t;

static tb_status_t on_damage(void *user, const tb__mcap_damage_t *damage, tb_error_t *error)
{
  (void)error; /* nothing that fails */
  recovery_t *recovery = user;
  tb__mcap_recovery_t *totals = &recovery->totals;
  if (damage->harm != TB__MCAP_HARMLESS)
    totals->is_unclosed =
        totals->damages++ == 0 && tb__mcap_is_unclosed(damage->status, damage->size);
  totals->lost_bytes += damage->size;
  if (damage->harm == TB__MCAP_DOUBTFUL)
    totals->doubtful_messages += damage->message_count;
  else
    totals->lost_messages += damage->message_count;
  if (recovery->loss) recovery->loss(recovery->user, damage);
  return TB_OK;
}

static tb_status_t report(recovery_t *recovery, tb__mcap_harm_t harm, const tb_error_t *why,
                          uint64_t messages)
{
  tb__mcap_damage_t damage = {.harm = harm, .status = why->status, .message_count = messages};
  damage.offset = why->offset < 0 ? 0 : (uint64_t)why->offset;
  memcpy(damage.text, why->text, sizeof damage.text);
  return on_damage(recovery, &damage, NULL);
}

static tb_status_t define(recovery_t *recovery, uint8_t opcode,
                          const tb__mcap_definition_t *definition, tb_error_t *error)
{
  tb_status_t status = tb__mcap_definitions_add(&recovery->definitions, opcode, definition->content,
                                                definition->size, error);
  if (status || !recovery->writer) return status;
  return tb__mcap_writer_define(recovery->writer, opcode, definition->content, definition->size,
                                error);
}

/* With its schema. False: it is not among `all`. */
static bool take_channel(recovery_t *recovery, const tb__mcap_definitions_t *all, uint16_t id,
                         tb_status_t *out_status, tb_error_t *error)
{
  tb__mcap_channel_t channel;
  if (!tb__mcap_definitions_channel(all, id, &channel)) return false;
  tb__mcap_definition_t schema = tb__mcap_definition(&all->schemas, channel.schema_id);
  bool is_new = !tb__mcap_definition(&recovery->definitions.schemas, channel.schema_id).content;
  tb_status_t status = TB_OK;
  if (schema.content && is_new) status = define(recovery, TB__MCAP_SCHEMA, &schema, error);
  if (!status) status = define(recovery, TB__MCAP_CHANNEL, &all->channels.at[id], error);
  *out_status = status;
  return true;
}

static tb_status_t check_size(const recovery_t *recovery, tb_error_t *error)
{
  uint64_t limit = recovery->limits->unpacked_size;
  if (tb__mcap_writer_size(recovery->writer) <= limit) return TB_OK;
  return tb_error_set(error, TB_ERR_LIMIT,
                      "%s: what can be read exceeds the limit of %llu bytes for "
                      "unpacked files (--max-unpacked-size)",
                      recovery->input.path, (unsigned long long)limit);
}

/* All definitions, wherever they are: for messages that come before theirs, which is rare. */
static tb_status_t look_ahead(recovery_t *recovery, tb_error_t *error)
{
  const tb__mcap_visitor_t visitor = {.salvages = true};
  tb__bag_input_t input;
  if (recovery->has_looked_ahead) return TB_OK;
  recovery->has_looked_ahead = true;
  tb_status_t status = tb__bag_input_open(recovery->from, recovery->input.path, &input, error);
  input.limits = *recovery->limits;
  if (!status) status = tb__mcap_scan(&input, &recovery->later, &visitor, error);
  tb__bag_input_close(&input);
  return status;
}

/* A channel is defined once in the data, and may be lost with that chunk. */
static tb_status_t find_channel(recovery_t *recovery, const tb__mcap_record_t *record, uint16_t id,
                                bool *found, tb_error_t *error)
{
  tb_error_t detail;
  tb_status_t status = TB_OK;
  const char *what = "is defined only in the summary";
  *found = take_channel(recovery, &recovery->summary.definitions, id, &status, error);
  if (!*found) {
    status = look_ahead(recovery, error);
    if (!status) *found = take_channel(recovery, &recovery->later, id, &status, error);
    what = "is defined after its first message";
  }
  if (status) return status;
  if (*found) {
    tb__bag_input_error(&recovery->input, TB_ERR_CORRUPT, record->offset, &detail, "channel %u %s",
                        id, what);
    return report(recovery, TB__MCAP_HARMLESS, &detail, 0);
  }
  tb__bag_input_error(&recovery->input, TB_ERR_CORRUPT, record->offset, &detail,
                      "a message of channel %u, which is not defined", id);
  return report(recovery, TB__MCAP_LOST, &detail, 1);
}

static tb_status_t on_message(recovery_t *recovery, const tb__mcap_record_t *record,
                              tb_error_t *error)
{
  tb__mcap_message_t message;
  tb_status_t status = TB_OK;
  tb__mcap_parse_message(record->content, record->size, &message);
  uint16_t id = message.channel_id;
  bool found = tb__mcap_definition(&recovery->definitions.channels, id).content;
  if (!found) status = find_channel(recovery, record, id, &found, error);
  if (status || !found) return status;
  recovery->totals.messages++;
  status = tb__mcap_definitions_count(&recovery->definitions, id, 1, error);
  if (status || !recovery->writer) return status;
  status = check_size(recovery, error);
  return status ? status : tb__mcap_writer_message(recovery->writer, &message, error);
}

static tb_status_t on_record(void *user, const tb__mcap_record_t *record, tb_error_t *error)
{
  recovery_t *recovery = user;
  switch (record->opcode) {
  case TB__MCAP_MESSAGE:
    return on_message(recovery, record, error);
  case TB__MCAP_METADATA:
    recovery->totals.metadata++;
    if (!recovery->writer) return TB_OK;
    return tb__mcap_writer_metadata(recovery->writer, record->content, record->size, error);
  default:
    if (!recovery->writer) return TB_OK;
    return tb__mcap_writer_define(recovery->writer, record->opcode, record->content, record->size,
                                  error);
  }
}

static tb_status_t on_attachment(void *user, uint64_t offset,
                                 const tb__mcap_attachment_t *attachment, tb_error_t *error)
{
  recovery_t *recovery = user;
  recovery->totals.attachments++;
  if (!recovery->writer) return TB_OK;
  return tb__mcap_writer_attachment(recovery->writer, &recovery->input, offset, attachment, error);
}

static tb_status_t load_summary(recovery_t *recovery, tb_error_t *error)
{
  tb_error_t *found = &recovery->summary_error;
  tb__mcap_summary_load(&recovery->input, &recovery->summary, found);
  if (found->status != TB_ERR_SYSTEM && found->status != TB_ERR_NO_MEMORY) return TB_OK;
  if (error) *error = *found;
  return found->status;
}

static void report_summary(recovery_t *recovery, const char *what)
{
  tb_error_t found;
  tb__bag_input_error(&recovery->input, TB_ERR_CORRUPT, recovery->input.size, &found, "%s", what);
  report(recovery, TB__MCAP_HARMLESS, &found, 0);
}

/* Compares the statistics. */
static void check_claims(recovery_t *recovery)
{
  const tb__mcap_claims_t *claims = &recovery->summary.claims;
  const tb__mcap_recovery_t *totals = &recovery->totals;
  const tb__mcap_table_t *claimed = &recovery->summary.definitions.channels;
  bool same = true;
  if (!claims->are_there) return;
  if (claims->messages != totals->messages)
    report_summary(recovery, "the summary's count of messages is wrong");
  if (claims->attachments != totals->attachments || claims->metadata != totals->metadata)
    report_summary(recovery, "the summary's count of attachments or metadata records is wrong");
  for (size_t id = 0; id < claimed->count && !recovery->summary_error.status; id++)
    same = same && claimed->at[id].message_count ==
                       tb__mcap_definition(&recovery->definitions.channels, id).message_count;
  if (!same && claims->messages == totals->messages)
    report_summary(recovery, "the summary's count of a channel's messages is wrong");
}

static bool are_same(const tb__mcap_table_t *one, const tb__mcap_table_t *other)
{
  for (size_t id = 0; id < one->count; id++) {
    const tb__mcap_definition_t a = one->at[id], b = tb__mcap_definition(other, id);
    if (a.content && b.content && (a.size != b.size || memcmp(a.content, b.content, a.size) != 0))
      return false;
  }
  return true;
}

/* After the data: nothing is lost with it, but the file is not whole. What was lost before, the
 * summary must count. */
static void check_summary(recovery_t *recovery)
{
  tb_error_t *found = &recovery->summary_error;
  const tb__mcap_definitions_t *claimed = &recovery->summary.definitions;
  bool is_damaged = recovery->totals.damages > 0;
  if (found->status == TB_ERR_CORRUPT || (found->status == TB_ERR_TRUNCATED && !is_damaged))
    report(recovery, TB__MCAP_LOST, found, 0);
  if (found->status == TB_ERR_INVALID) report(recovery, TB__MCAP_HARMLESS, found, 0);
  if (is_damaged) return;
  check_claims(recovery);
  if (!are_same(&claimed->channels, &recovery->definitions.channels) ||
      !are_same(&claimed->schemas, &recovery->definitions.schemas))
    report_summary(recovery, "the summary defines a channel or schema differently");
}

static tb_status_t on_chunk(void *user, uint64_t offset, const tb__mcap_chunk_t *chunk,
                            tb_error_t *error)
{
  (void)offset, (void)error;
  recovery_t *recovery = user;
  if (tb__mcap_compression_name(chunk->compression))
    recovery->totals.compression = chunk->compression;
  return TB_OK;
}

/* A summary that can be true lists the chunks, also after damage. */
static tb_status_t list_chunks(recovery_t *recovery, tb_error_t *error)
{
  const tb__mcap_index_t *summary = &recovery->summary;
  if (!summary->is_of_summary || summary->block_count == 0) return TB_OK;
  recovery->chunks = calloc(summary->block_count, sizeof *recovery->chunks);
  if (!recovery->chunks) return tb__no_memory(error);
  for (size_t i = 0; i < summary->block_count; i++)
    recovery->chunks[recovery->chunk_count++] = summary->blocks[i].offset;
  return TB_OK;
}

static tb_status_t run(recovery_t *recovery, const char *from, const char *name, const char *to,
                       const tb__bag_output_options_t *options, tb_error_t *error)
{
  tb__mcap_visitor_t visitor = {.user = recovery,
                                .chunk = on_chunk,
                                .record = on_record,
                                .attachment = on_attachment,
                                .damage = on_damage,
                                .salvages = true};
  tb_status_t status = tb__bag_input_open(from, name, &recovery->input, error);
  recovery->input.limits = *recovery->limits;
  if (!status) status = load_summary(recovery, error);
  if (!status) status = list_chunks(recovery, error);
  visitor.chunks = recovery->chunks;
  visitor.chunk_count = recovery->chunk_count;
  if (!status && to) status = tb__mcap_writer_create(to, options, &recovery->writer, error);
  if (!status) status = tb__mcap_scan(&recovery->input, &recovery->definitions, &visitor, error);
  if (!status) check_summary(recovery);
  if (!recovery->writer) return status;
  tb_status_t closed = tb__mcap_writer_close(recovery->writer, status ? NULL : error);
  if (!status) status = closed;
  if (status && to) unlink(to);
  return status;
}

tb_status_t tb__mcap_recover(const char *from, const char *name, const char *to,
                             const tb__bag_output_options_t *options, tb__mcap_loss_fn loss,
                             void *user, tb__mcap_recovery_t *out, tb_error_t *error)
{
  const tb_bag_limits_t defaults = tb__bag_limits(NULL);
  return tb__mcap_recover_within(&defaults, from, name, to, options, loss, user, out, error);
}

tb_status_t tb__mcap_recover_within(const tb_bag_limits_t *limits, const char *from,
                                    const char *name, const char *to,
                                    const tb__bag_output_options_t *options, tb__mcap_loss_fn loss,
                                    void *user, tb__mcap_recovery_t *out, tb_error_t *error)
{
  recovery_t recovery = {.limits = limits,
                         .input = {.fd = -1},
                         .summary_error = TB_ERROR_INIT,
                         .from = from,
                         .loss = loss,
                         .user = user};
  tb_status_t status = run(&recovery, from, name, to, options, error);
  tb__mcap_definitions_fini(&recovery.definitions);
  tb__mcap_definitions_fini(&recovery.later);
  tb__mcap_index_fini(&recovery.summary);
  free(recovery.chunks);
  tb__bag_input_close(&recovery.input);
  if (!status) *out = recovery.totals;
  return status;
}
