#include "bag_evidence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/message_definition.h>
#include <timebase/time.h>

#include "json.h"
#include "text.h"

#define STRING_TYPE "std_msgs/msg/String"

typedef struct strings {
  tb_message_definition_t *definition;
  tb_message_field_t *data;
} strings_t;

static tb_status_t strings_open(strings_t *out)
{
  tb_status_t status = tb_message_definition_find(STRING_TYPE, NULL, 0, &out->definition, NULL);
  return status ? status : tb_message_field_create(out->definition, "data", &out->data, NULL);
}

static void strings_close(strings_t *strings)
{
  tb_message_field_destroy(strings->data);
  tb_message_definition_destroy(strings->definition);
}

static tb_status_t add_point(bag_evidence_t *evidence, const char *text, size_t length)
{
  tb__point_t point;
  if (!tb__point_parse(text, length, &point)) return TB_OK;
  evidence->point_total++;
  if (evidence->point_count == BAG_EVIDENCE_POINTS_MAX) return TB_OK;
  if (!evidence->points) {
    evidence->points = calloc(BAG_EVIDENCE_POINTS_MAX, sizeof *evidence->points);
    if (!evidence->points) return TB_ERR_NO_MEMORY;
  }
  evidence->points[evidence->point_count++] = point;
  return TB_OK;
}

/* A message of one of the two topics. */
static tb_status_t add_message(bag_evidence_t *evidence, const strings_t *strings,
                               const tb_bag_info_t *info, const tb_bag_message_t *message)
{
  const char *text = NULL;
  size_t length = 0;
  if (tb_message_field_string(strings->data, message->data, message->size, &text, &length))
    return TB_OK;
  if (strcmp(info->topics[message->topic].name, TB__POINTS_TOPIC) == 0)
    return add_point(evidence, text, length);
  if (evidence->manifest || length > TB__MANIFEST_SIZE_MAX) return TB_OK;
  evidence->manifest = strndup(text, length);
  return evidence->manifest ? TB_OK : TB_ERR_NO_MEMORY;
}

/* Failures are those of single messages, until the end. */
static tb_status_t read_run(bag_evidence_t *evidence, const strings_t *strings,
                            tb_bag_reader_t *reader)
{
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  tb_bag_message_t message;
  for (;;) {
    tb_status_t status = tb_bag_reader_next(reader, &message, NULL);
    if (status == TB_ERR_END) return TB_OK;
    if (!status) status = add_message(evidence, strings, info, &message);
    if (status == TB_ERR_NO_MEMORY) return status;
  }
}

/* The topics of the recording that are ours. */
static size_t find_topics(const tb_bag_info_t *info, const char *names[2])
{
  size_t count = 0;
  for (size_t i = 0; i < info->topic_count && count < 2; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    if (strcmp(topic->type, STRING_TYPE) != 0 || strcmp(topic->serialization_format, "cdr") != 0)
      continue;
    if (strcmp(topic->name, TB__MANIFEST_TOPIC) == 0 || strcmp(topic->name, TB__POINTS_TOPIC) == 0)
      names[count++] = topic->name;
  }
  return count;
}

static tb_status_t read_messages(bag_evidence_t *evidence, const tb_bag_info_t *info,
                                 const tb_bag_limits_t *limits)
{
  const char *names[2];
  strings_t strings = {0};
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.topics = names;
  options.topic_count = find_topics(info, names);
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  options.limits = *limits;
  if (!options.topic_count) return TB_OK;
  tb_status_t status = strings_open(&strings);
  for (size_t run = 1; !status && run <= info->run_count; run++) {
    tb_bag_reader_t *reader = NULL;
    options.run = info->run_count > 1 ? run : 0;
    status = tb_bag_reader_open(info->path, &options, &reader, NULL);
    if (!status) status = read_run(evidence, &strings, reader);
    tb_bag_reader_close(reader);
    if (status && status != TB_ERR_NO_MEMORY) status = TB_OK; /* of the damage others report */
  }
  strings_close(&strings);
  return status == TB_ERR_NO_MEMORY ? status : TB_OK;
}

static tb_status_t take_manifest(const tb_bag_info_t *info, bag_evidence_t *out)
{
  *out = (bag_evidence_t){0};
  for (size_t i = 0; i < info->note_count && !out->manifest; i++) {
    if (strcmp(info->notes[i].key, TB__MANIFEST_CUSTOM_DATA) != 0) continue;
    out->manifest = strdup(info->notes[i].value);
    if (!out->manifest) return TB_ERR_NO_MEMORY;
  }
  return TB_OK;
}

tb_status_t bag_evidence_read(const tb_bag_info_t *info, const tb_bag_limits_t *limits,
                              bag_evidence_t *out)
{
  tb_status_t status = take_manifest(info, out);
  return status ? status : read_messages(out, info, limits);
}

tb_status_t bag_evidence_read_notes(const tb_bag_info_t *info, bag_evidence_t *out)
{
  tb_status_t status = take_manifest(info, out);
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    if (strcmp(topic->type, STRING_TYPE) != 0) continue;
    if (strcmp(topic->name, TB__POINTS_TOPIC) == 0) out->point_total += topic->message_count;
    if (strcmp(topic->name, TB__MANIFEST_TOPIC) == 0 && topic->message_count > 0)
      out->is_manifest_unread = !out->manifest;
  }
  return status;
}

tb_status_t bag_evidence_manifest(const bag_evidence_t *evidence, tb__manifest_t *out)
{
  if (!evidence->manifest) return TB_ERR_NOT_FOUND;
  tb__problems_t *problems = calloc(1, sizeof *problems);
  if (!problems) return TB_ERR_NO_MEMORY;
  tb_status_t status =
      tb__manifest_parse(evidence->manifest, strlen(evidence->manifest), problems, out);
  free(problems);
  return status;
}

void bag_evidence_release(bag_evidence_t *evidence)
{
  free(evidence->manifest);
  free(evidence->points);
  *evidence = (bag_evidence_t){0};
}

/* --- points --- */

static void print_ns(int64_t ns)
{
  char text[TB_DURATION_TEXT_SIZE];
  if (tb_duration_format((tb_duration_t){ns}, text, sizeof text) == TB_OK) text_out("%s", text);
}

static void print_time(int64_t ns)
{
  char text[TB_TIME_TEXT_SIZE];
  tb_time_t time = {.ns = ns, .kind = TB_TIME_ROS};
  if (tb_time_format(time, text, sizeof text) == TB_OK)
    text_out("%s", text);
  else
    text_out("%" PRId64 " ns", ns);
}

void bag_evidence_print_points(const bag_evidence_t *evidence)
{
  for (size_t i = 0; i < evidence->point_count; i++) {
    const tb__point_t *point = &evidence->points[i];
    text_out("  %-7s ROS ", tb__point_reason_name(point->reason));
    if (point->has_ros)
      text_out("%" PRId64 ".%09" PRId64, point->ros_ns / TB_NS_PER_S, point->ros_ns % TB_NS_PER_S);
    else
      text_out("none");
    text_out(", system ");
    print_time(point->system_ns);
    if (point->max_error_ns < 0)
      text_out(" (error not known");
    else {
      text_out(" (error at most ");
      print_ns(point->max_error_ns);
    }
    text_out("%s), steady %" PRId64 ".%09" PRId64 "\n",
             point->is_synchronized ? "" : ", not synchronized", point->steady_ns / TB_NS_PER_S,
             point->steady_ns % TB_NS_PER_S);
  }
  if (evidence->point_total > evidence->point_count)
    text_out("  and %zu more\n", evidence->point_total - evidence->point_count);
}

json_t *bag_evidence_point_json(const tb__point_t *point)
{
  json_t *out = json_object();
  json_put(out, "reason", json_string(tb__point_reason_name(point->reason)));
  json_put(out, "ros_ns", point->has_ros ? json_integer(point->ros_ns) : json_null());
  json_put(out, "system_ns", json_integer(point->system_ns));
  json_put(out, "steady_ns", json_integer(point->steady_ns));
  json_put(out, "spread_ns", json_integer(point->spread_ns));
  json_put(out, "max_error_ns",
           point->max_error_ns >= 0 ? json_integer(point->max_error_ns) : json_null());
  json_put(out, "synchronized", json_boolean(point->is_synchronized));
  json_put(out, "jumps", json_integer((json_int_t)point->jumps));
  return out;
}
