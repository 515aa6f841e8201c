#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/time.h>

#include "bag_info.h"
#include "bag_notes.h"
#include "json.h"
#include "text.h"

#define COLUMN_MAX     64
#define SERVICE_EVENTS "/_service_event"

void bag_info_compression(const bag_info_t *info, char *out, size_t size)
{
  static const char *const modes[] = {
      [TB_BAG_COMPRESSION_NONE] = "none",
      [TB_BAG_COMPRESSION_MESSAGES] = "message",
      [TB_BAG_COMPRESSION_FILES] = "file",
      [TB_BAG_COMPRESSION_CHUNKS] = "chunk",
  };
  const char *format = info->bag->compression_format;
  snprintf(out, size, "%s%s%s", modes[info->bag->compression], *format ? ":" : "", format);
}

/* And nothing else is wrong. */
static bool is_unclosed(const bag_info_t *info)
{
  return info->damage[0] && !info->is_salvaged && !info->bag->damage &&
         info->failures == info->bag->unclosed_count;
}

const char *bag_info_file(const bag_info_t *info, size_t index)
{
  const char *file = info->bag->files[index];
  size_t length = strlen(info->bag->path);
  if (strncmp(file, info->bag->path, length) != 0 || !file[length]) return file;
  file += length;
  return file + strspn(file, "/");
}

bool bag_info_is_service(const tb_bag_topic_t *topic)
{
  size_t length = strlen(topic->name), end = strlen(SERVICE_EVENTS);
  return length > end && strcmp(topic->name + length - end, SERVICE_EVENTS) == 0;
}

double bag_info_rate(const bag_info_t *info, size_t topic)
{
  const bag_info_topic_t *seen = &info->topics[topic];
  if (!info->is_scanned || seen->count < 2 || seen->last_ns <= seen->first_ns) return 0;
  return (double)(seen->count - 1) * TB_NS_PER_S / (double)(seen->last_ns - seen->first_ns);
}

/* ---- for people ---- */

static void print_time(const char *label, int64_t ns)
{
  text_out("%-13s %" PRId64 ".%09" PRId64 " s", label, ns / TB_NS_PER_S, ns % TB_NS_PER_S);
  char text[TB_TIME_TEXT_SIZE];
  tb_time_t time = {.ns = ns, .kind = TB_TIME_ROS};
  if (!tb_time_format(time, text, sizeof text)) text_out(" (%s)", text);
  text_out("\n");
}

/* Of what is printed for the type. */
static size_t type_length(const tb_bag_topic_t *topic)
{
  const char *format = topic->serialization_format;
  size_t length = (size_t)text_columns(topic->type);
  return strcmp(format, "cdr") == 0 ? length
                                    : length + (size_t)text_columns(format) + strlen(" ()");
}

/* A text that is too long for a column widens it for no other. */
static void widen(size_t *column, size_t length)
{
  if (length > *column && length <= COLUMN_MAX) *column = length;
}

static void fill(size_t column, size_t length)
{
  text_out("%*s", (int)(length < column ? column - length : 0) + 2, "");
}

static void print_topic(const bag_info_t *info, size_t index, const size_t columns[3])
{
  const tb_bag_topic_t *topic = &info->bag->topics[index];
  const bag_info_topic_t *seen = &info->topics[index];
  text_out("  %s", topic->name);
  fill(columns[0], (size_t)text_columns(topic->name));
  text_out("%s", topic->type);
  if (strcmp(topic->serialization_format, "cdr") != 0)
    text_out(" (%s)", topic->serialization_format);
  fill(columns[1], type_length(topic));
  text_out("%*" PRIu64 " message%s", (int)columns[2], seen->count, bag_plural(seen->count));
  if (bag_info_rate(info, index) > 0 && !info->has_digests)
    text_out("%*s  %.4g Hz, longest gap %.3f s", seen->count == 1, "", bag_info_rate(info, index),
             (double)seen->longest_gap_ns / TB_NS_PER_S);
  if (info->has_digests) text_out("%*s  sha256 %s", seen->count == 1, "", seen->sha256);
  text_out("\n");
}

static const char *const reliabilities[] = {"reliable", "best_effort"};

static bool is_reliable(const tb_qos_t *qos)
{
  return qos->reliability == TB_QOS_RELIABLE;
}

static bool is_transient_local(const tb_qos_t *qos)
{
  return qos->durability == TB_QOS_TRANSIENT_LOCAL;
}

static void print_details(const bag_info_t *info, size_t index)
{
  const tb_qos_t *qos = &info->bag->topics[index].qos;
  if (info->bag->topics[index].qos_origin == TB_BAG_QOS_DEFAULT) {
    text_out("    QoS not recorded; %" PRIu64 " bytes\n", info->topics[index].bytes);
    return;
  }
  text_out("    %s, %s, ", reliabilities[!is_reliable(qos)],
           is_transient_local(qos) ? "transient_local" : "volatile");
  if (qos->history == TB_QOS_KEEP_ALL)
    text_out("keep_all");
  else
    text_out("keep_last %d", (int)qos->depth);
  text_out("; %" PRIu64 " bytes\n", info->topics[index].bytes);
}

static int service_length(const tb_bag_topic_t *topic)
{
  return (int)(strlen(topic->name) - strlen(SERVICE_EVENTS));
}

/* "package/srv/Name_Event" without the end. */
static int service_type_length(const tb_bag_topic_t *topic)
{
  size_t length = strlen(topic->type), end = strlen("_Event");
  return (int)(length > end && strcmp(topic->type + length - end, "_Event") == 0 ? length - end
                                                                                 : length);
}

static void print_calls(const bag_info_topic_t *seen)
{
  uint64_t requests = seen->calls.requests.count, responses = seen->calls.responses.count;
  if (seen->has_calls)
    text_out("; %" PRIu64 " request%s, %" PRIu64 " response%s", requests, bag_plural(requests),
             responses, bag_plural(responses));
}

static void print_services(const bag_info_t *info)
{
  bool is_first = true;
  for (size_t i = 0; i < info->bag->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->bag->topics[info->order[i]];
    uint64_t count = info->topics[info->order[i]].count;
    if (!bag_info_is_service(topic)) continue;
    if (is_first) text_out("services:\n");
    is_first = false;
    text_out("  %.*s  %.*s  %" PRIu64 " event%s", service_length(topic), topic->name,
             service_type_length(topic), topic->type, count, bag_plural(count));
    if (info->is_verbose) print_calls(&info->topics[info->order[i]]);
    text_out("\n");
  }
}

void bag_info_print_names(const bag_info_t *info)
{
  for (size_t i = 0; i < info->bag->topic_count; i++)
    text_out("%s\n", info->bag->topics[info->order[i]].name);
}

static void print_topics(const bag_info_t *info)
{
  size_t columns[3] = {0}; /* names, types, counts */
  for (size_t i = 0; i < info->bag->topic_count; i++) {
    if (bag_info_is_service(&info->bag->topics[i])) continue;
    widen(&columns[0], (size_t)text_columns(info->bag->topics[i].name));
    widen(&columns[1], type_length(&info->bag->topics[i]));
    widen(&columns[2], (size_t)snprintf(NULL, 0, "%" PRIu64, info->topics[i].count));
  }
  text_out("topics:\n");
  for (size_t i = 0; i < info->bag->topic_count; i++) {
    if (bag_info_is_service(&info->bag->topics[info->order[i]])) continue;
    print_topic(info, info->order[i], columns);
    if (info->is_verbose) print_details(info, info->order[i]);
  }
  print_services(info);
}

static uint64_t payload_size(const bag_info_t *info)
{
  uint64_t size = 0;
  for (size_t i = 0; i < info->bag->topic_count; i++)
    size += info->topics[i].bytes;
  return size;
}

/* Of files and payloads: the files have indexes and definitions too. 0: payloads were not read, or
 * there are none. */
static double compression_ratio(const bag_info_t *info)
{
  uint64_t payload = payload_size(info);
  bool is_known = (info->is_verbose || info->has_digests) && payload > 0;
  return is_known ? (double)bag_file_size(info->bag) / (double)payload : 0;
}

static void print_ratio(const bag_info_t *info)
{
  double ratio = compression_ratio(info);
  if (info->is_verbose && ratio > 0)
    text_out("%-13s %" PRIu64 " bytes of messages; the files have %.3g times that\n",
             "payload:", payload_size(info), ratio);
}

/* Only for a folder: a single file need not have any; a bad one is reported as damage. */
static bool lacks_metadata(const bag_info_t *info)
{
  struct stat folder;
  return info->bag->metadata_version == 0 && !info->is_salvaged &&
         stat(info->bag->path, &folder) == 0 && S_ISDIR(folder.st_mode);
}

/* Of a recording in which time was set back. */
static void print_runs(const bag_info_t *info)
{
  for (size_t i = 0; i < info->bag->run_count; i++) {
    const tb_bag_run_t *run = &info->bag->runs[i];
    char label[32];
    snprintf(label, sizeof label, "run %zu:", i + 1);
    text_out("%-13s %zu file%s, starting with %s\n", label, run->file_count,
             bag_plural(run->file_count), bag_info_file(info, run->first_file));
    print_time("  start:", run->start_ns);
    print_time("  end:", run->end_ns);
  }
}

/* Those of how the recording was made, or the others. The manifest is not printed with them: it has
 * many lines. */
static void print_notes(const bag_info_t *info, const char *label, bool of_making)
{
  size_t prefix = of_making ? strlen(BAG_MADE_PREFIX) : 0;
  for (size_t i = 0; i < info->bag->note_count; i++) {
    const char *key = info->bag->notes[i].key;
    if (strcmp(key, TB__MANIFEST_CUSTOM_DATA) == 0 || bag_note_is_of_making(key) != of_making)
      continue;
    text_out("%-13s %s: %s\n", label, key + prefix, info->bag->notes[i].value);
    label = "";
  }
}

static void print_manifest(const bag_info_t *info)
{
  tb__manifest_t manifest = {0};
  tb_status_t status = bag_evidence_manifest(&info->evidence, &manifest);
  if (info->evidence.is_manifest_unread)
    text_out("%-13s not read ('timebase manifest show' prints it)\n", "manifest:");
  if (!info->evidence.manifest) return;
  text_out("%-13s ", "manifest:");
  if (status)
    text_out("it has errors");
  else
    text_out("%s%smode %s", manifest.name ? manifest.name : "", manifest.name ? ", " : "",
             tb__manifest_mode_name(manifest.mode));
  text_out(" ('timebase manifest show' prints it)\n");
  tb__manifest_fini(&manifest);
}

/* How much was read, and what the counts rest on. */
static const char *extent(const bag_info_t *info)
{
  static const char *const unread[] = {
      [TB_BAG_COUNTED_ROWS] = "no message: counts from the rows (--scan reads times and topics)",
      [TB_BAG_COUNTED_METADATA] = "no message: counts from metadata.yaml (--scan counts messages)",
      [TB_BAG_COUNTED_SUMMARY] = "no message: counts from the summary (--scan counts messages)",
  };
  if (!info->is_scanned) return unread[info->bag->counted];
  if (info->has_digests || info->is_verbose) return "every message in full";
  return info->was_scan_asked
             ? "topic and time of every message ('timebase bag check' reads everything)"
             : "topic and time of every message, as there are no counts that fit";
}

static void print_points(const bag_info_t *info)
{
  if (!info->evidence.point_total) return;
  text_out("%-13s %zu%s\n", "points:", info->evidence.point_total,
           info->is_scanned ? "" : " (--scan prints them)");
  if (info->is_scanned) bag_evidence_print_points(&info->evidence);
}

void bag_info_print(const bag_info_t *info)
{
  char compression[40];
  bag_info_compression(info, compression, sizeof compression);
  text_out("%-13s %s\n", "storage:", info->bag->storage_id);
  if (*info->library) text_out("%-13s %s\n", "library:", info->library);
  for (size_t i = 0; i < info->bag->file_count; i++)
    text_out("%-13s %s\n", i ? "" : "files:", bag_info_file(info, i));
  text_out("%-13s %" PRIu64 " bytes\n", "size:", bag_file_size(info->bag));
  print_ratio(info);
  if (*info->bag->ros_distro) text_out("%-13s %s\n", "distribution:", info->bag->ros_distro);
  text_out("%-13s %" PRIu64 "\n", "messages:", info->message_count);
  text_out("%-13s %s\n", "read:", extent(info));
  if (info->message_count > 0) {
    int64_t ns = info->end_ns - info->start_ns;
    print_time("start:", info->start_ns);
    print_time("end:", info->end_ns);
    text_out("%-13s %" PRId64 ".%09" PRId64 " s\n", "duration:", ns / TB_NS_PER_S,
             ns % TB_NS_PER_S);
  }
  if (info->bag->run_count > 1) print_runs(info);
  text_out("%-13s %s\n", "compression:", compression);
  print_notes(info, "notes:", false);
  print_notes(info, "provenance:", true);
  print_manifest(info);
  print_points(info);
  print_topics(info);
  for (size_t i = 0; i < info->bag->oddity_count; i++)
    text_out("%-13s %s\n", i ? "" : "odd:", info->bag->oddities[i]);
  if (lacks_metadata(info))
    text_out(
        "%-13s missing: not closed, or lost; topics, times and counts are those of the files\n",
        "metadata:");
  if (info->damage[0])
    text_out("%-13s %s\n", is_unclosed(info) ? "unclosed:" : "damaged:", info->damage);
  if (info->refused.status) text_out("%-13s %s\n", "not read:", info->refused.text);
}

/* ---- for programs ---- */

static json_t *json_time(int64_t ns, uint64_t count)
{
  return count > 0 ? json_integer(ns) : json_null();
}

static json_t *json_qos(const tb_qos_t *qos)
{
  return json_pack("{s:s, s:s, s:s, s:I}", "reliability", reliabilities[!is_reliable(qos)],
                   "durability", is_transient_local(qos) ? "transient_local" : "volatile",
                   "history", qos->history == TB_QOS_KEEP_ALL ? "keep_all" : "keep_last", "depth",
                   (json_int_t)qos->depth);
}

static json_t *json_calls(const bag_info_topic_t *seen, const bag_service_call_set_t *calls)
{
  return seen->has_calls ? json_integer((json_int_t)calls->count) : json_null();
}

static json_t *json_services(const bag_info_t *info)
{
  json_t *list = json_array();
  for (size_t i = 0; i < info->bag->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->bag->topics[info->order[i]];
    if (!bag_info_is_service(topic)) continue;
    char *name = strndup(topic->name, (size_t)service_length(topic));
    char *type = strndup(topic->type, (size_t)service_type_length(topic));
    const bag_info_topic_t *seen = &info->topics[info->order[i]];
    json_push(list, json_pack("{s:o, s:o, s:I, s:o, s:o}", "name", text_json(name ? name : ""),
                              "type", text_json(type ? type : ""), "count", (json_int_t)seen->count,
                              "request_count", json_calls(seen, &seen->calls.requests),
                              "response_count", json_calls(seen, &seen->calls.responses)));
    free(name);
    free(type);
  }
  return list;
}

static json_t *json_topic(const bag_info_t *info, size_t index)
{
  const tb_bag_topic_t *topic = &info->bag->topics[index];
  const bag_info_topic_t *seen = &info->topics[index];
  json_t *object =
      json_pack("{s:o, s:o, s:o, s:I}", "name", text_json(topic->name), "type",
                text_json(topic->type), "serialization_format",
                text_json(topic->serialization_format), "count", (json_int_t)seen->count);
  if (object && info->is_scanned) {
    json_put(object, "first_ns", json_time(seen->first_ns, seen->count));
    json_put(object, "last_ns", json_time(seen->last_ns, seen->count));
    double rate = bag_info_rate(info, index);
    json_put(object, "rate_hz", rate > 0 ? json_real(rate) : json_null());
    json_put(object, "longest_gap_ns", json_time(seen->longest_gap_ns, seen->count));
  }
  if (object) json_put(object, "qos", json_qos(&topic->qos));
  if (object)
    json_put(object, "qos_recorded", json_boolean(topic->qos_origin != TB_BAG_QOS_DEFAULT));
  if (object && (info->has_digests || info->is_verbose))
    json_put(object, "size", json_integer((json_int_t)seen->bytes));
  if (object && info->has_digests) {
    json_put(object, "sha256", text_json(seen->sha256));
  }
  return object;
}

static json_t *json_odd(const bag_info_t *info)
{
  json_t *list = json_array();
  for (size_t i = 0; i < info->bag->oddity_count; i++)
    json_array_append_new(list, text_json(info->bag->oddities[i]));
  return list;
}

static json_t *json_manifest(const bag_info_t *info)
{
  tb__manifest_t manifest = {0};
  bool is_good = bag_evidence_manifest(&info->evidence, &manifest) == TB_OK;
  json_t *object = json_object();
  json_put(object, "text", text_json(info->evidence.manifest));
  json_put(object, "name", manifest.name ? text_json(manifest.name) : json_null());
  json_put(object, "mode",
           is_good ? json_string(tb__manifest_mode_name(manifest.mode)) : json_null());
  tb__manifest_fini(&manifest);
  return object;
}

static json_t *json_notes(const bag_info_t *info)
{
  json_t *notes = json_object();
  for (size_t i = 0; i < info->bag->note_count; i++)
    json_put(notes, info->bag->notes[i].key, text_json(info->bag->notes[i].value));
  return notes;
}

static json_t *json_points(const bag_info_t *info)
{
  json_t *list = json_array();
  for (size_t i = 0; i < info->evidence.point_count; i++)
    json_push(list, bag_evidence_point_json(&info->evidence.points[i]));
  return list;
}

static json_t *json_bag(const bag_info_t *info)
{
  static const char *const counted[] = {[TB_BAG_COUNTED_MESSAGES] = "messages",
                                        [TB_BAG_COUNTED_ROWS] = "rows",
                                        [TB_BAG_COUNTED_METADATA] = "metadata",
                                        [TB_BAG_COUNTED_SUMMARY] = "summary"};
  char compression[40];
  bag_info_compression(info, compression, sizeof compression);
  json_t *files = json_array();
  json_t *topics = json_array();
  for (size_t i = 0; i < info->bag->file_count; i++)
    json_array_append_new(files, text_json(bag_info_file(info, i)));
  for (size_t i = 0; i < info->bag->topic_count; i++)
    json_array_append_new(topics, json_topic(info, info->order[i]));
  json_t *object = json_pack(
      "{s:s, s:o, s:I, s:s, s:o, s:o, s:s, s:o}", "storage", info->bag->storage_id, "files", files,
      "message_count", (json_int_t)info->message_count, "counts",
      info->is_scanned ? "messages" : counted[info->bag->counted], "start_ns",
      json_time(info->start_ns, info->message_count), "end_ns",
      json_time(info->end_ns, info->message_count), "compression", compression, "topics", topics);
  if (object) json_put(object, "size", json_integer((json_int_t)bag_file_size(info->bag)));
  double ratio = compression_ratio(info);
  if (object) json_put(object, "library", *info->library ? text_json(info->library) : json_null());
  if (object) json_put(object, "compression_ratio", ratio > 0 ? json_real(ratio) : json_null());
  if (object) json_put(object, "services", json_services(info));
  if (object && *info->bag->ros_distro)
    json_put(object, "ros_distro", text_json(info->bag->ros_distro));
  if (object && info->bag->note_count > 0) json_put(object, "notes", json_notes(info));
  if (object && info->evidence.manifest) json_put(object, "manifest", json_manifest(info));
  if (object && info->evidence.point_count) json_put(object, "points", json_points(info));
  if (object && info->bag->oddity_count > 0) json_object_set_new(object, "odd", json_odd(info));
  if (object && info->damage[0]) json_object_set_new(object, "damaged", text_json(info->damage));
  if (object && is_unclosed(info)) json_object_set_new(object, "unclosed", json_true());
  if (object && info->refused.status)
    json_object_set_new(object, "not_read", text_json(info->refused.text));
  return object;
}

bool bag_info_print_json(const bag_info_t *info)
{
  return json_print(json_bag(info), JSON_INDENT(2));
}
