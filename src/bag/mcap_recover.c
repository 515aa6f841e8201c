#include "bag/mcap_recover.h"

#include <string.h>
#include <unistd.h>

#include "bag/mcap_index.h"
#include "bag/mcap_writer.h"

typedef struct recovery {
  tb__mcap_input_t input;
  tb__mcap_definitions_t definitions;
  tb__mcap_writer_t *writer; /* NULL: only checking */
  tb__mcap_loss_fn loss;
  void *user;
  tb__mcap_recovery_t totals;
} recovery_t;

static tb_status_t on_damage(void *user, const tb__mcap_damage_t *damage, tb_error_t *error)
{
  (void)error; /* nothing that fails */
  recovery_t *recovery = user;
  recovery->totals.damages++;
  recovery->totals.lost_bytes += damage->size;
  recovery->totals.lost_messages += damage->message_count;
  if (recovery->loss) recovery->loss(recovery->user, damage);
  return TB_OK;
}

static tb_status_t tell(recovery_t *recovery, const tb_error_t *why, uint64_t messages)
{
  tb__mcap_damage_t damage = {.status = why->status, .message_count = messages};
  damage.offset = why->offset < 0 ? 0 : (uint64_t)why->offset;
  memcpy(damage.text, why->text, sizeof damage.text);
  return on_damage(recovery, &damage, NULL);
}

static tb_status_t on_message(recovery_t *recovery, const tb__mcap_record_t *record,
                              tb_error_t *error)
{
  tb__mcap_message_t message;
  tb_error_t detail;
  tb__mcap_parse_message(record->content, record->size, &message);
  if (!tb__mcap_definition(&recovery->definitions.channels, message.channel_id).content) {
    tb__mcap_error(&recovery->input, TB_ERR_CORRUPT, record->offset, &detail,
                   "a message of channel %u, which is defined nowhere before", message.channel_id);
    return tell(recovery, &detail, 1);
  }
  recovery->totals.messages++;
  return recovery->writer ? tb__mcap_writer_message(recovery->writer, &message, error) : TB_OK;
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

/* Behind the data: nothing is lost with it, but the file is not whole. */
static tb_status_t check_summary(recovery_t *recovery, tb_error_t *error)
{
  tb__mcap_index_t index = {0};
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t found = tb__mcap_summary_load(&recovery->input, &index, &detail);
  bool told = recovery->totals.damages > 0;
  if (!found && !told && index.message_count != recovery->totals.messages)
    found = tb__mcap_error(&recovery->input, TB_ERR_CORRUPT, recovery->input.size, &detail,
                           "the summary counts other messages than there are");
  if (found == TB_ERR_CORRUPT || (found == TB_ERR_TRUNCATED && !told)) tell(recovery, &detail, 0);
  bool failed = found == TB_ERR_SYSTEM || found == TB_ERR_NO_MEMORY;
  if (failed && error) *error = detail;
  tb__mcap_index_fini(&index);
  return failed ? found : TB_OK;
}

static tb_status_t run(recovery_t *recovery, const char *from, const char *to,
                       const tb__bag_output_options_t *options, tb_error_t *error)
{
  const tb__mcap_visitor_t visitor = {.user = recovery,
                                      .record = on_record,
                                      .attachment = on_attachment,
                                      .damage = on_damage,
                                      .salvages = true};
  tb_status_t status = tb__mcap_input_open(from, &recovery->input, error);
  if (!status && to) status = tb__mcap_writer_create(to, options, &recovery->writer, error);
  if (!status) status = tb__mcap_scan(&recovery->input, &recovery->definitions, &visitor, error);
  if (!status) status = check_summary(recovery, error);
  if (!recovery->writer) return status;
  tb_status_t closed = tb__mcap_writer_close(recovery->writer, status ? NULL : error);
  if (!status) status = closed;
  if (status && to) unlink(to);
  return status;
}

tb_status_t tb__mcap_recover(const char *from, const char *to,
                             const tb__bag_output_options_t *options, tb__mcap_loss_fn loss,
                             void *user, tb__mcap_recovery_t *out, tb_error_t *error)
{
  recovery_t recovery = {.input = {.fd = -1}, .loss = loss, .user = user};
  tb_status_t status = run(&recovery, from, to, options, error);
  tb__mcap_definitions_fini(&recovery.definitions);
  tb__mcap_input_close(&recovery.input);
  if (!status) *out = recovery.totals;
  return status;
}
