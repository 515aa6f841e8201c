/* Follows the topics that the master knows, subscribes, and hands messages to the core. All but
 * beginning and end is on the context's thread. */
#include <timebase/ros1_recorder.h>

#include <stdlib.h>
#include <string.h>
#include <timebase/ros1_clock_source.h>
#include <timebase/ros1_subscription.h>
#include <timebase/ros1_topics.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "clock/jump_wait.h"
#include "platform/time.h"
#include "play/topic_filter.h"

#define STORAGE             "rosbag1"
#define CLOCK_TOPIC         "/clock"
#define CLOCK_SIZE          8
#define MESSAGE_MAX         UINT32_C(1000000000) /* as bags */
#define PUBLISHERS_MAX      4096                 /* of a topic; later ones share a connection */
#define UNNAMED_MAX         16                   /* such connections, one for each definition */
#define EXPRESSIONS_WARN_NS (3 * TB_NS_PER_S)
#define LATCHED                                                                                    \
  "- durability: transient_local\n  reliability: reliable\n  history: keep_last\n  depth: 1\n"

/* A publisher that has sent something: a connection of the bag. It has another one for each
 * definition of its type. */
typedef struct publisher {
  char *name, *type, *md5sum;
  uint64_t connection; /* the latest: another comes when it was lost */
  size_t index;        /* in the core; SIZE_MAX: it is not recorded, which was reported */
} publisher_t;

typedef struct topic {
  struct topic *next;
  tb_ros1_recorder_t *recorder;
  char *name;
  bool is_clock;
  bool reported_full;                   /* publishers that are recorded without a name */
  tb_ros1_subscription_t *subscription; /* NULL: it failed, which was reported */
  publisher_t *publishers;
  size_t publisher_count;
} topic_t;

struct tb_ros1_recorder {
  tb_ros1_context_t *context;
  tb_recorder_t *core;
  tb__topic_filter_t filter;
  uint32_t message_max;
  tb_source_t *source; /* of the clock; both NULL: none, or the user's */
  tb_clock_t *clock;
  tb_ros1_topics_t *master;
  int64_t warn_at_ns; /* of expressions that match nothing; INT64_MAX: it was */
  topic_t *topics;
};

/* --- messages --- */

static tb_status_t add_to_core(const topic_t *topic, const tb_ros1_sample_t *sample,
                               const char *name, size_t *out, tb_error_t *error)
{
  const tb_bag_writer_topic_t info = {.name = topic->name,
                                      .type = sample->type.name,
                                      .serialization_format = "ros1",
                                      .offers = sample->latched ? LATCHED : "",
                                      .type_hash = sample->type.md5sum,
                                      .definition = sample->type.definition,
                                      .definition_encoding = "ros1msg",
                                      .publisher = name};
  return tb_recorder_add_topic(topic->recorder->core, &info, out, error);
}

/* What it is called in messages. */
static const char *name_of(const char *publisher)
{
  return *publisher ? publisher : "a publisher without a name";
}

static void publisher_fini(publisher_t *publisher)
{
  free(publisher->name);
  free(publisher->type);
  free(publisher->md5sum);
}

static void report_full(topic_t *topic, const char *what)
{
  if (!topic->reported_full) tb__log(TB_LOG_ERROR, "recorder: %s: %s", topic->name, what);
  topic->reported_full = true;
}

static void report_added(const topic_t *topic, const publisher_t *publisher)
{
  bool is_again = false;
  for (const publisher_t *one = topic->publishers; one < publisher; one++)
    if (strcmp(one->name, publisher->name) == 0) is_again = true;
  tb__log(is_again ? TB_LOG_WARN : TB_LOG_INFO, "recorder: %s (%s) by %s%s", topic->name,
          publisher->type, name_of(publisher->name),
          is_again ? ": with another definition than before; it is recorded as another connection"
                   : "");
}

static publisher_t *publisher_add(topic_t *topic, const tb_ros1_sample_t *sample, const char *name)
{
  tb_error_t error = TB_ERROR_INIT;
  if (topic->publisher_count >= PUBLISHERS_MAX)
    report_full(topic, "more publishers than are told apart; later ones are recorded without a "
                       "name, and of these no more than 16 definitions");
  if (topic->publisher_count == PUBLISHERS_MAX + UNNAMED_MAX) return NULL;
  publisher_t *all =
      reallocarray(topic->publishers, topic->publisher_count + 1, sizeof *topic->publishers);
  if (!all) return NULL;
  topic->publishers = all;
  publisher_t *added = &all[topic->publisher_count];
  *added = (publisher_t){strdup(name), strdup(sample->type.name), strdup(sample->type.md5sum), 0,
                         SIZE_MAX};
  if (!added->name || !added->type || !added->md5sum) {
    publisher_fini(added);
    return NULL;
  }
  topic->publisher_count++;
  if (add_to_core(topic, sample, name, &added->index, &error) != TB_OK)
    tb__log(TB_LOG_ERROR, "recorder: %s by %s is not recorded: %s", topic->name, name_of(name),
            error.text);
  else
    report_added(topic, added);
  return added;
}

static bool is_of(const publisher_t *publisher, const tb_ros1_sample_t *sample, const char *name)
{
  return strcmp(publisher->name, name) == 0 &&
         strcmp(publisher->md5sum, sample->type.md5sum) == 0 &&
         strcmp(publisher->type, sample->type.name) == 0;
}

static publisher_t *publisher_named(const topic_t *topic, const tb_ros1_sample_t *sample,
                                    const char *name)
{
  for (size_t i = 0; i < topic->publisher_count; i++)
    if (is_of(&topic->publishers[i], sample, name)) return &topic->publishers[i];
  return NULL;
}

/* The one of this name, which may have been started again since. */
static publisher_t *publisher_find(topic_t *topic, const tb_ros1_sample_t *sample)
{
  for (size_t i = 0; i < topic->publisher_count; i++)
    if (topic->publishers[i].connection == sample->connection) return &topic->publishers[i];
  bool is_full = topic->publisher_count >= PUBLISHERS_MAX;
  publisher_t *found = publisher_named(topic, sample, sample->publisher);
  if (!found && is_full) found = publisher_named(topic, sample, "");
  if (!found) found = publisher_add(topic, sample, is_full ? "" : sample->publisher);
  if (!found) return NULL;
  found->connection = sample->connection;
  return found;
}

/* 0: it is no time. */
static int64_t clock_time(const tb_ros1_sample_t *sample)
{
  const uint8_t *bytes = sample->message;
  uint32_t words[2] = {0, 0};
  if (sample->size != CLOCK_SIZE) return 0;
  for (int i = 0; i < CLOCK_SIZE; i++)
    words[i / 4] |= (uint32_t)bytes[i] << 8 * (i % 4);
  return words[1] < TB_NS_PER_S ? words[0] * TB_NS_PER_S + words[1] : 0;
}

static void on_sample(const tb_ros1_sample_t *sample, void *user)
{
  static const uint8_t nothing;
  topic_t *topic = user;
  const publisher_t *publisher = publisher_find(topic, sample);
  if (!publisher || publisher->index == SIZE_MAX) return;
  const tb_recorder_message_t message = {.data = sample->size ? sample->message : &nothing,
                                         .size = sample->size,
                                         .receive_ns = sample->received_ns,
                                         .clock_ns = topic->is_clock ? clock_time(sample) : 0,
                                         .latched = sample->latched};
  tb_recorder_take(topic->recorder->core, publisher->index, &message); /* it counts losses */
}

/* --- topics --- */

static void topic_destroy(topic_t *topic)
{
  tb_ros1_subscription_destroy(topic->subscription);
  for (size_t i = 0; i < topic->publisher_count; i++)
    publisher_fini(&topic->publishers[i]);
  free(topic->publishers);
  free(topic->name);
  free(topic);
}

static tb_status_t topic_begin(tb_ros1_recorder_t *recorder, const char *name, tb_error_t *error)
{
  topic_t *topic = calloc(1, sizeof *topic);
  if (!topic) return tb__no_memory_for(error, "recorder");
  const tb_ros1_subscription_options_t options = {
      .callback = on_sample, .user = topic, .message_max = recorder->message_max};
  topic->recorder = recorder;
  topic->name = strdup(name);
  topic->is_clock = strcmp(name, CLOCK_TOPIC) == 0;
  if (!topic->name) {
    free(topic);
    return tb__no_memory_for(error, "recorder");
  }
  topic->next = recorder->topics;
  recorder->topics = topic;
  return tb_ros1_subscription_create(recorder->context, name, NULL, &options, &topic->subscription,
                                     error);
}

static bool has_topic(const tb_ros1_recorder_t *recorder, const char *name)
{
  const topic_t *topic = recorder->topics;
  while (topic && strcmp(topic->name, name) != 0)
    topic = topic->next;
  return topic;
}

static void on_topics(const tb_ros1_topic_t *topics, size_t count, void *user)
{
  tb_ros1_recorder_t *recorder = user;
  for (size_t i = 0; i < count; i++) {
    tb_error_t error = TB_ERROR_INIT;
    const char *name = topics[i].name;
    if (has_topic(recorder, name) || !tb__topic_filter_wants(&recorder->filter, name, "")) continue;
    if (topic_begin(recorder, name, &error) != TB_OK)
      tb__log(TB_LOG_ERROR, "recorder: %s is not recorded: %s", name, error.text);
  }
  if (tb__steady_now_ns() < recorder->warn_at_ns) return;
  recorder->warn_at_ns = INT64_MAX;
  tb__topic_filter_report(&recorder->filter, " so far");
}

/* Before the master is asked: nothing that they publish is missed. */
static tb_status_t begin_named(tb_ros1_recorder_t *recorder, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  for (char **name = recorder->filter.topics; *name && !status; name++)
    if (!has_topic(recorder, *name) && tb__topic_filter_wants(&recorder->filter, *name, ""))
      status = topic_begin(recorder, *name, error);
  if (!status && recorder->filter.clock && !has_topic(recorder, CLOCK_TOPIC))
    status = topic_begin(recorder, CLOCK_TOPIC, error);
  return status;
}

/* --- begin and end --- */

static tb_status_t make_clock(tb_ros1_recorder_t *recorder, tb_error_t *error)
{
  tb_ros1_clock_source_options_t options = TB_ROS1_CLOCK_SOURCE_OPTIONS_INIT;
  options.sim_time = TB_ROS1_SIM_TIME_ALWAYS;
  tb_status_t status =
      tb_ros1_clock_source_create(recorder->context, &options, &recorder->source, error);
  if (status) return status;
  status = tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, recorder->source}, &recorder->clock);
  return status ? tb_error_set(error, status, "recorder: %s", tb_status_message(status)) : TB_OK;
}

static tb_status_t open_parts(tb_ros1_recorder_t *recorder, const char *path,
                              const tb_ros1_recorder_options_t *options, tb_error_t *error)
{
  tb_recorder_options_t core = options->recorder;
  const tb__topic_choices_t choices = {.all = options->all,
                                       .include_hidden = true,
                                       .clock = core.log_time == TB_RECORDER_TIME_ROS,
                                       .topics = options->topics,
                                       .topic_count = options->topic_count,
                                       .regex = options->regex,
                                       .exclude_regex = options->exclude_regex,
                                       .exclude_topics = options->exclude_topics,
                                       .exclude_topic_count = options->exclude_topic_count};
  tb_status_t status = tb__topic_filter_init(&recorder->filter, &choices, error);
  if (!status && core.log_time == TB_RECORDER_TIME_ROS && !core.clock) {
    status = make_clock(recorder, error);
    core.clock = recorder->clock;
  }
  if (!status) status = tb_recorder_create(path, &core, &recorder->core, error);
  if (!status) status = begin_named(recorder, error);
  if (!status)
    status = tb_ros1_topics_create(recorder->context, (tb_duration_t){0}, on_topics, recorder,
                                   &recorder->master, error);
  return status;
}

tb_status_t tb_ros1_recorder_create_sized(tb_ros1_context_t *context, const char *path,
                                          const tb_ros1_recorder_options_t *options,
                                          size_t options_size, tb_ros1_recorder_t **out,
                                          tb_error_t *error)
{
  tb_ros1_recorder_options_t known;
  if (!context || !path || !options || !out) return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros1_recorder_options_t");
  const char *storage = options->recorder.bag.storage_id;
  if (!storage || strcmp(storage, STORAGE) != 0)
    return tb_error_set(error, TB_ERR_INVALID,
                        "recorder of ROS 1: storage \"%.40s\"; it must be " STORAGE,
                        storage ? storage : "");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "recorder: %s", tb_status_message(TB_ERR_FORKED));
  tb_ros1_recorder_t *recorder = calloc(1, sizeof *recorder);
  if (!recorder) return tb__no_memory_for(error, "recorder");
  recorder->context = context;
  recorder->message_max = options->message_max ? options->message_max : MESSAGE_MAX;
  recorder->warn_at_ns = tb__steady_now_ns() + EXPRESSIONS_WARN_NS;
  tb_status_t status = open_parts(recorder, path, options, error);
  if (status)
    tb_ros1_recorder_destroy(recorder);
  else
    *out = recorder;
  return status;
}

tb_recorder_t *tb_ros1_recorder_core(tb_ros1_recorder_t *recorder)
{
  return recorder ? recorder->core : NULL;
}

static void end_subscriptions(tb_ros1_recorder_t *recorder)
{
  tb_ros1_topics_destroy(recorder->master);
  recorder->master = NULL;
  while (recorder->topics) {
    topic_t *topic = recorder->topics;
    recorder->topics = topic->next;
    topic_destroy(topic);
  }
}

tb_status_t tb_ros1_recorder_stop(tb_ros1_recorder_t *recorder, tb_error_t *error)
{
  if (!recorder) return tb__null_argument(error, __func__);
  if (!tb__is_forked() && tb__thread_may_not_wait())
    return tb_error_set(error, TB_ERR_DEADLOCK, "recorder: %s", tb_status_message(TB_ERR_DEADLOCK));
  if (recorder->master) tb__topic_filter_report(&recorder->filter, "");
  end_subscriptions(recorder);
  return tb_recorder_stop(recorder->core, error);
}

void tb_ros1_recorder_destroy(tb_ros1_recorder_t *recorder)
{
  if (!recorder || (!tb__is_forked() && tb__thread_may_not_wait())) return;
  end_subscriptions(recorder);
  tb_recorder_destroy(recorder->core); /* stops it */
  (void)!tb_clock_destroy(recorder->clock);
  tb_source_destroy(recorder->source);
  tb__topic_filter_fini(&recorder->filter);
  free(recorder);
}
