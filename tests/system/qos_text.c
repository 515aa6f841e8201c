#include "system/qos_text.h"

#include "test.h"

typedef struct text {
  char *at;
  size_t room;
} text_t;

static void append(text_t *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(text_t *out, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(out->at, out->room, format, arguments);
  va_end(arguments);
  assert_in_range(length, 0, out->room - 1);
  out->at += length;
  out->room -= (size_t)length;
}

static void append_duration(text_t *out, const char *name, int64_t value)
{
  if (value == DDS_INFINITY)
    append(out, "\"%s\":\"infinite\"", name);
  else
    append(out, "\"%s\":%lld", name, (long long)value);
}

static void append_history(text_t *out, dds_history_kind_t kind, int32_t depth)
{
  append(out, "\"KEEP_%s\",\"depth\":%d", kind == DDS_HISTORY_KEEP_ALL ? "ALL" : "LAST",
         (int)depth);
}

static void append_retention(text_t *out, const dds_qos_t *qos, bool is_writer)
{
  static const char *const durabilities[] = {"VOLATILE", "TRANSIENT_LOCAL", "TRANSIENT",
                                             "PERSISTENT"};
  dds_reliability_kind_t reliability;
  dds_durability_kind_t durability;
  dds_history_kind_t history;
  dds_duration_t duration;
  int32_t depth, samples, instances, each;
  assert_true(dds_qget_reliability(qos, &reliability, &duration));
  append(out, "\"reliability\":{\"kind\":\"%s\",",
         reliability == DDS_RELIABILITY_RELIABLE ? "RELIABLE" : "BEST_EFFORT");
  append_duration(out, "max_blocking_time_ns", duration);
  assert_true(dds_qget_durability(qos, &durability));
  assert_true(dds_qget_history(qos, &history, &depth));
  append(out, "},\"durability\":\"%s\",\"history\":{\"kind\":", durabilities[durability]);
  append_history(out, history, depth);
  if (is_writer &&
      dds_qget_durability_service(qos, &duration, &history, &depth, &samples, &instances, &each)) {
    append(out, "},\"durability_service\":{");
    append_duration(out, "cleanup_delay_ns", duration);
    append(out, ",\"history\":");
    append_history(out, history, depth);
    append(out, ",\"max_samples\":%d,\"max_instances\":%d,\"max_samples_per_instance\":%d", samples,
           instances, each);
  }
  assert_true(dds_qget_resource_limits(qos, &samples, &instances, &each));
  append(out, "},\"resource_limits\":[%d,%d,%d],", samples, instances, each);
}

static void append_times(text_t *out, const dds_qos_t *qos, bool is_writer)
{
  static const char *const kinds[] = {"AUTOMATIC", "MANUAL_BY_PARTICIPANT", "MANUAL_BY_TOPIC"};
  dds_liveliness_kind_t liveliness;
  dds_duration_t duration;
  assert_true(dds_qget_deadline(qos, &duration));
  append_duration(out, "deadline_ns", duration);
  if (is_writer) {
    assert_true(dds_qget_lifespan(qos, &duration));
    append(out, ",");
    append_duration(out, "lifespan_ns", duration);
  }
  assert_true(dds_qget_latency_budget(qos, &duration));
  append(out, ",");
  append_duration(out, "latency_budget_ns", duration);
  if (!is_writer) {
    assert_true(dds_qget_time_based_filter(qos, &duration));
    append(out, ",");
    append_duration(out, "time_based_filter_ns", duration);
  }
  assert_true(dds_qget_liveliness(qos, &liveliness, &duration));
  append(out, ",\"liveliness\":{\"kind\":\"%s\",", kinds[liveliness]);
  append_duration(out, "lease_duration_ns", duration);
}

static const char *truth(bool value)
{
  return value ? "true" : "false";
}

static void append_order(text_t *out, const dds_qos_t *qos, bool is_writer)
{
  static const char *const scopes[] = {"INSTANCE", "TOPIC", "GROUP"};
  dds_ownership_kind_t ownership;
  dds_destination_order_kind_t order;
  dds_presentation_access_scope_kind_t scope;
  bool coherent, ordered;
  int32_t value;
  assert_true(dds_qget_ownership(qos, &ownership));
  append(out, "},\"ownership\":\"%s\",",
         ownership == DDS_OWNERSHIP_EXCLUSIVE ? "EXCLUSIVE" : "SHARED");
  if (is_writer) {
    assert_true(dds_qget_ownership_strength(qos, &value));
    append(out, "\"ownership_strength\":%d,", (int)value);
  }
  assert_true(dds_qget_destination_order(qos, &order));
  assert_true(dds_qget_presentation(qos, &scope, &coherent, &ordered));
  append(out,
         "\"destination_order\":\"BY_%s_TIMESTAMP\",\"presentation\":{\"access_scope\":\"%s\","
         "\"coherent\":%s,\"ordered\":%s},",
         order == DDS_DESTINATIONORDER_BY_SOURCE_TIMESTAMP ? "SOURCE" : "RECEPTION", scopes[scope],
         truth(coherent), truth(ordered));
  assert_true(dds_qget_transport_priority(qos, &value));
  append(out, "\"transport_priority\":%d,", (int)value);
}

static void append_form(text_t *out, const dds_qos_t *qos, bool is_writer)
{
  dds_data_representation_id_t *forms = NULL;
  dds_type_consistency_kind_t kind;
  dds_duration_t unwritten, disposed;
  char **partitions = NULL;
  uint32_t count = 0;
  bool flag[5];
  if (is_writer) {
    assert_true(dds_qget_writer_data_lifecycle(qos, &flag[0]));
    append(out, "\"writer_autodispose\":%s,", truth(flag[0]));
  } else {
    assert_true(dds_qget_reader_data_lifecycle(qos, &unwritten, &disposed));
    assert_true(unwritten == DDS_INFINITY && disposed == DDS_INFINITY);
    append(out, "\"reader_autopurge_ns\":[\"infinite\",\"infinite\"],");
  }
  dds_qget_partition(qos, &count, &partitions);
  assert_int_equal(count, 0);
  assert_true(dds_qget_data_representation(qos, &count, &forms));
  assert_int_equal(count, 1);
  assert_int_equal(forms[0], DDS_DATA_REPRESENTATION_XCDR1);
  dds_free(forms);
  append(out, "\"partition\":[],\"data_representation\":[\"XCDR1\"]");
  if (is_writer) return;
  assert_true(
      dds_qget_type_consistency(qos, &kind, &flag[0], &flag[1], &flag[2], &flag[3], &flag[4]));
  append(out,
         ",\"type_consistency\":{\"kind\":\"%s_TYPE_COERCION\",\"ignore_sequence_bounds\":%s,"
         "\"ignore_string_bounds\":%s,\"ignore_member_names\":%s,\"prevent_type_widening\":%s,"
         "\"force_type_validation\":%s}",
         kind == DDS_TYPE_CONSISTENCY_ALLOW_TYPE_COERCION ? "ALLOW" : "DISALLOW", truth(flag[0]),
         truth(flag[1]), truth(flag[2]), truth(flag[3]), truth(flag[4]));
}

void qos_text(const dds_qos_t *qos, bool is_writer, char out[QOS_TEXT_SIZE])
{
  text_t text = {out, QOS_TEXT_SIZE};
  append(&text, "{");
  append_retention(&text, qos, is_writer);
  append_times(&text, qos, is_writer);
  append_order(&text, qos, is_writer);
  append_form(&text, qos, is_writer);
  append(&text, "}");
}
