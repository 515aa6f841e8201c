#include "mcap/extra_records.h"

#include "mcap/scan.h"

typedef struct rest {
  const tb__bag_input_t *from;
  tb__mcap_writer_t *to; /* NULL: only counting */
  tb__bag_span_t span;
  tb_bag_extra_records_t *count;
  uint64_t seen; /* of any time */
} extra_t;

static tb_status_t on_record(void *user, const tb__mcap_record_t *record, tb_error_t *error)
{
  extra_t *rest = user;
  if (record->opcode != TB__MCAP_METADATA ||
      tb__mcap_is_own_metadata(record->content, record->size))
    return TB_OK;
  rest->seen++;
  rest->count->records++;
  if (!rest->to) return TB_OK;
  return tb__mcap_writer_metadata(rest->to, record->content, record->size, error);
}

static bool is_within(tb__bag_span_t span, uint64_t time_ns)
{
  int64_t ns = time_ns > INT64_MAX ? INT64_MAX : (int64_t)time_ns;
  return ns >= span.start_ns && (ns < span.end_ns || span.end_ns == INT64_MAX);
}

static tb_status_t on_attachment(void *user, uint64_t offset,
                                 const tb__mcap_attachment_t *attachment, tb_error_t *error)
{
  extra_t *rest = user;
  rest->seen++;
  if (!is_within(rest->span, attachment->log_time_ns)) return TB_OK;
  rest->count->attachments++;
  if (!rest->to) return TB_OK;
  return tb__mcap_writer_attachment(rest->to, rest->from, offset, attachment, error);
}

tb_status_t tb__mcap_copy_extra_records(tb__bag_input_t *from, const tb__mcap_index_t *index,
                                        tb__mcap_writer_t *to, tb__bag_span_t span,
                                        tb_bag_extra_records_t *count, tb_error_t *error)
{
  extra_t rest = {from, to, span, count, 0};
  const tb__mcap_visitor_t visitor = {
      .user = &rest, .record = on_record, .attachment = on_attachment};
  tb__mcap_definitions_t definitions = {0};
  if (index->extra_count == 0) return TB_OK;
  tb_status_t status = tb__mcap_scan(from, &definitions, &visitor, error);
  tb__mcap_definitions_fini(&definitions);
  if (!status && rest.seen < index->extra_count)
    status = tb_error_set(error, TB_ERR_CORRUPT,
                          "%s: %llu of %llu attachments and metadata records cannot be read",
                          from->path, (unsigned long long)(index->extra_count - rest.seen),
                          (unsigned long long)index->extra_count);
  return status;
}
