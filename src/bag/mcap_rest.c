#include "bag/mcap_rest.h"

#include "bag/mcap_scan.h"

typedef struct rest {
  const tb__mcap_input_t *from;
  tb__mcap_writer_t *to;
} rest_t;

/* rosbag2's own tells of the file that it is in. */
static bool is_ours(const tb__mcap_record_t *record)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(record->content, record->size);
  return tb__mcap_text_equals(tb__mcap_take_text(&cursor), "rosbag2");
}

static tb_status_t on_record(void *user, const tb__mcap_record_t *record, tb_error_t *error)
{
  const rest_t *rest = user;
  if (record->opcode != TB__MCAP_METADATA || is_ours(record)) return TB_OK;
  return tb__mcap_writer_metadata(rest->to, record->content, record->size, error);
}

static tb_status_t on_attachment(void *user, uint64_t offset,
                                 const tb__mcap_attachment_t *attachment, tb_error_t *error)
{
  const rest_t *rest = user;
  return tb__mcap_writer_attachment(rest->to, rest->from, offset, attachment, error);
}

tb_status_t tb__mcap_copy_rest(tb__mcap_input_t *from, tb__mcap_writer_t *to, tb_error_t *error)
{
  rest_t rest = {from, to};
  const tb__mcap_visitor_t visitor = {
      .user = &rest, .record = on_record, .attachment = on_attachment};
  tb__mcap_definitions_t definitions = {0};
  tb_status_t status = tb__mcap_scan(from, &definitions, &visitor, error);
  tb__mcap_definitions_fini(&definitions);
  return status;
}
