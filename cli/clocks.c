#include "clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/sleep.h>

#include "text.h"

static const char *source_name(void)
{
  const char *name = getenv("TIMEBASE_SOURCE");
  return name && name[0] ? name : NULL;
}

static tb_status_t clock_on_source(ros_clock_t *ros)
{
  tb_clock_options_t options = {TB_TIME_ROS, ros->source};
  return tb_clock_create(&options, &ros->clock);
}

static int named_clock_open(const command_t *command, const char *name, ros_clock_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_source_create_from_name(name, &out->source, &error);
  if (!status) status = clock_on_source(out);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

static void explain_source(const command_t *command, ros_clock_t *clock)
{
  if (clock->explained) return;
  clock->explained = REASON_SILENT;
  text_err(
      "timebase %s: TIMEBASE_SOURCE=%s: no tick received; check that its publisher is running\n",
      command->name, source_name());
}

#ifdef TB_CLI_ROS2
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>

#include "publishers.h"
#include "unnamed.h"

static const char *other_type(const publishers_t *publishers)
{
  for (size_t i = 0; i < publishers->count; i++)
    if (strcmp(publishers->items[i].type, CLOCK_TYPE) != 0) return publishers->items[i].type;
  return NULL;
}

static void print_publishers(const ros_clock_t *clock, const publishers_t *publishers)
{
  text_err("%s in domain %d is published", clock->topic, tb_ros2_context_domain_id(clock->context));
  if (!publishers->count) return;
  text_err(" by ");
  publishers_print_others(stderr, publishers);
}

static clock_reason_t reason_of(const tb_ros2_clock_source_status_t *status,
                                const publishers_t *publishers)
{
  return status->matched                                               ? REASON_SILENT
         : status->incompatible                                        ? REASON_QOS
         : other_type(publishers)                                      ? REASON_TYPE
         : publishers->snapshot && unnamed_count(publishers->snapshot) ? REASON_AWAITED
                                                                       : REASON_NO_PUBLISHER;
}

static void print_none(const ros_clock_t *clock, const publishers_t *publishers)
{
  text_err("no publisher of %s in domain %d", clock->topic,
           tb_ros2_context_domain_id(clock->context));
  if (clock->explained == REASON_AWAITED) {
    text_err(" so far; ");
    unnamed_explain(stderr, publishers->snapshot);
    text_err("\n");
  } else {
    text_err("; start a simulator or 'timebase serve', or check ROS_DOMAIN_ID\n");
  }
}

/* Both sides' values, of the first that does not match. */
static void print_qos(const publishers_t *publishers, const char *policy)
{
  const tb_ros2_graph_endpoint_t ours = PUBLISHERS_CLOCK_READER;
  text_err(", but its QoS does not match: ");
  for (size_t i = 0; i < publishers->count; i++) {
    uint32_t mismatches = tb_ros2_graph_mismatches(&publishers->items[i], &ours);
    if (!mismatches) continue;
    publishers_print_policies(stderr, &publishers->items[i], &ours, mismatches);
    text_err("\n");
    return;
  }
  text_err("%s differs\n", policy ? policy : "a policy");
}

static void print_reason(const ros_clock_t *clock, const publishers_t *publishers,
                         const char *policy, const char *type)
{
  if (clock->explained == REASON_NO_PUBLISHER || clock->explained == REASON_AWAITED) {
    print_none(clock, publishers);
    return;
  }
  print_publishers(clock, publishers);
  if (clock->explained == REASON_SILENT) text_err(", but no tick was received\n");
  if (clock->explained == REASON_QOS) print_qos(publishers, policy);
  if (clock->explained != REASON_TYPE) return;
  text_err(", but with type ");
  text_err("%s", type);
  text_err("; a clock topic has type " CLOCK_TYPE "\n");
}

static void explain_topic(const command_t *command, ros_clock_t *clock)
{
  tb_ros2_clock_source_status_t status;
  publishers_t publishers;
  if (tb_ros2_clock_source_status(clock->source, &status)) return;
  publishers_find(clock->graph, clock->topic, &publishers);
  const char *type = other_type(&publishers);
  clock_reason_t reason = reason_of(&status, &publishers);
  if (reason != clock->explained) {
    clock->explained = reason;
    text_err("timebase %s: ", command->name);
    print_reason(clock, &publishers, status.policy, type);
  }
  publishers_release(&publishers);
}

static void read_facts(const ros_clock_t *clock, ros_clock_facts_t *out)
{
  tb_ros2_clock_source_status_t status = {0};
  tb_ros2_clock_source_status(clock->source, &status);
  *out = (ros_clock_facts_t){status.matched, status.first_sample_ns, status.last_sample_ns};
}

static void leave_topic(ros_clock_t *clock)
{
  tb_ros2_graph_destroy(clock->graph);
  tb_ros2_context_destroy(clock->context);
}

int topic_clock_open(const command_t *command, int domain,
                     const tb_ros2_clock_source_options_t *source, ros_clock_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  const char *topic = source && source->topic ? source->topic : "/clock";
  tb_ros2_context_t *context = NULL;
  tb_ros2_graph_t *graph = NULL;
  options.has_domain_id = domain >= 0;
  options.domain_id = domain >= 0 ? domain : 0;
  *out = (ros_clock_t){.explain = explain_topic, .read_facts = read_facts, .leave = leave_topic};
  snprintf(out->topic, sizeof out->topic, "%s%s", topic[0] == '/' ? "" : "/", topic);
  tb_status_t status = tb_ros2_context_create(&options, &context, &error);
  if (status) return command_failed(command, status, &error);
  out->context = context;
  status = tb_ros2_clock_source_create(context, source, &out->source, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error.text);
  if (!status) status = tb_ros2_graph_create(context, &graph, &error);
  out->graph = graph;
  if (!status) status = clock_on_source(out);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

#else

int topic_clock_open(const command_t *command, int domain,
                     const struct tb_ros2_clock_source_options *source, ros_clock_t *out)
{
  (void)domain, (void)source, (void)out;
  text_err("timebase %s: built without ROS 2, so /clock cannot be followed; set TIMEBASE_SOURCE to "
           "another source\n",
           command->name);
  return EXIT_IO;
}

#endif

int ros_clock_open(const command_t *command, int domain, ros_clock_t *out)
{
  const char *name = source_name();
  *out = (ros_clock_t){0};
  if (!name) return topic_clock_open(command, domain, NULL, out);
  if (domain < 0) return named_clock_open(command, name, out);
  return command_usage_error(
      command, "--domain cannot be used with TIMEBASE_SOURCE=%s, which is in no domain", name);
}

void ros_clock_close(ros_clock_t *clock)
{
  tb_clock_destroy(clock->clock);
  tb_source_destroy(clock->source);
  if (clock->leave) clock->leave(clock);
  *clock = (ros_clock_t){0};
}

ros_clock_facts_t ros_clock_facts(const ros_clock_t *clock)
{
  ros_clock_facts_t facts = {0};
  if (clock->read_facts) clock->read_facts(clock, &facts);
  return facts;
}

void ros_clock_explain(const command_t *command, ros_clock_t *clock)
{
  if (clock->explain)
    clock->explain(command, clock);
  else
    explain_source(command, clock);
}

int ros_clock_timed_out(const command_t *command, ros_clock_t *clock, tb_duration_t limit)
{
  char text[TB_DURATION_TEXT_SIZE] = "";
  ros_clock_explain(command, clock);
  tb_duration_format(limit, text, sizeof text);
  text_err("timebase %s: no time received within %s\n", command->name, text);
  return EXIT_CHECK;
}

/* --- hints --- */

static void *hint_run(void *user)
{
  const clock_hint_t *hint = user;
  tb_wait_options_t wait = {.limit = {TB_NS_PER_S}, .token = hint->done};
  if (tb_clock_wait_until_started(hint->clock->clock, &wait) == TB_ERR_TIMEOUT)
    ros_clock_explain(hint->command, hint->clock);
  return NULL;
}

void clock_hint_begin(const command_t *command, ros_clock_t *clock, clock_hint_t *out)
{
  *out = (clock_hint_t){.command = command, .clock = clock};
  if (tb_cancel_token_create(&out->done) == TB_OK)
    out->is_running = pthread_create(&out->thread, NULL, hint_run, out) == 0;
}

void clock_hint_end(clock_hint_t *hint)
{
  tb_cancel_token_cancel(hint->done);
  if (hint->is_running) pthread_join(hint->thread, NULL);
  tb_cancel_token_destroy(hint->done);
}
