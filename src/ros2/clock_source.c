#include "ros2/clock_source.h"
#include "base/sized.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_clock_source.h>

#include "base/log.h"
#include "base/no_memory.h"
#include "clock/callback_context.h"
#include "clock/source.h"
#include "dds/topic_writers.h"
#include "held/parking.h"
#include "platform/time.h"
#include "ros2/publisher_conflict.h"
#include "ros2/subscription.h"
#include "ros2/topic_endpoint.h"
#include "source/tick_intake.h"
#include "wire/clock_message.h"

#define WRITERS_DEFAULT 64
#define WRITERS_MAX     4096
#define NAMES_PERIOD_NS (20 * 1000 * 1000) /* between queries of the graph for names of nodes */

typedef struct clock_source {
  tb_ros2_context_t *context;
  char *topic;
  tb_qos_t qos;

  /* While running: written by start and stop, which never run at the same time as a callback. */
  tb_ros2_subscription_t *subscription;
  tb_timeline_t *timeline;
  tb__tick_queue_t queue;
  tb__tick_loop_t *loop;             /* NULL: the queue has a thread */
  _Atomic uint32_t dispatching;      /* futex: a thread is in tb_ros2_clock_source_run */
  tb__publisher_conflict_t conflict; /* of the dispatch thread */
  tb__topic_writers_t *all_writers;  /* NULL until a publisher is refused; of the dispatch thread */
  char dds_topic[TB__DDS_NAME_SIZE], dds_type[TB__DDS_NAME_SIZE];

  tb_ros2_subscription_callback_t observer; /* NULL: none */
  void *observer_user;

  void (*changed)(void *user); /* NULL: not watched */
  void *changed_user;

  tb__mutex_t mutex; /* what follows */
  bool running;
  bool counting; /* from before it subscribes until before it unsubscribes */
  tb__guid_t guid;
  const char *policy; /* for which the last publisher was refused */
  bool reported_policy;
  tb_ros2_clock_writer_t *writers;
  uint32_t writer_count, writers_max;
  uint32_t writers_seen;
  tb__tick_intake_t intake;
} clock_source_t;

/* The entry of the writer in the table for users. In a full table a new writer replaces the one
 * that has been silent longest, so that dead writers do not hide live ones. */
static tb_ros2_clock_writer_t *writer_find(clock_source_t *self, const tb__guid_t *guid)
{
  tb_ros2_clock_writer_t *oldest = &self->writers[0];
  for (uint32_t i = 0; i < self->writer_count; i++) {
    tb_ros2_clock_writer_t *writer = &self->writers[i];
    if (tb__guid_is(guid, writer->guid)) return writer;
    if (writer->last_steady_ns < oldest->last_steady_ns) oldest = writer;
  }
  if (self->writer_count < self->writers_max) oldest = &self->writers[self->writer_count++];
  *oldest = (tb_ros2_clock_writer_t){0};
  tb__guid_copy(guid, oldest->guid);
  if (self->writers_seen < UINT32_MAX) self->writers_seen++;
  return oldest;
}

/* Counts the sample. False: it must not become a tick. */
static bool sample_accept(clock_source_t *self, const tb_ros2_sample_t *sample, int64_t time_ns)
{
  int64_t steady_ns = tb__steady_coarse_now_ns();
  tb__guid_t guid = tb__guid_of(sample->writer_guid);
  tb__tick_sample_t tick = {tb__writer_id(sample->writer_guid, sizeof sample->writer_guid), time_ns,
                            sample->source_timestamp_ns, steady_ns};
  tb__mutex_lock(&self->mutex);
  tb_ros2_clock_writer_t *writer = writer_find(self, &guid);
  writer->samples++;
  writer->last_steady_ns = steady_ns;
  tb__tick_taken_t taken = tb__tick_intake_take(&self->intake, &tick);
  tb__mutex_unlock(&self->mutex);
  tb__tick_taken_signal(taken, &self->queue);
  return taken.accepted;
}

static void sample_refuse(clock_source_t *self, tb_status_t status)
{
  tb__mutex_lock(&self->mutex);
  bool first = tb__tick_intake_refuse(&self->intake, status);
  tb__mutex_unlock(&self->mutex);
  tb_timeline_count_dropped(self->timeline);
  if (first) tb__tick_queue_report(&self->queue);
}

static const char *remedy_for(const char *policy)
{
  if (!strcmp(policy, "reliability"))
    return "subscribe with best effort, as ROS does, or publish with reliable";
  if (!strcmp(policy, "durability"))
    return "subscribe with volatile durability, as ROS does, or publish with transient local";
  return "use the same policy on both sides";
}

static void report_refusal(const clock_source_t *self, const char *policy)
{
  tb__log(TB_LOG_WARN, "%s: receives nothing from a publisher, as its QoS does not match in %s; %s",
          self->topic, policy, remedy_for(policy));
}

/* On the dispatch thread, since the receive thread must not run callbacks. */
static void report_pending(void *user)
{
  clock_source_t *self = user;
  tb__mutex_lock(&self->mutex);
  tb__tick_reports_t reports = tb__tick_intake_reports(&self->intake);
  const tb__writer_id_t *pair = self->intake.filter.fault_pair;
  const tb__guid_t writers[] = {tb__guid_of(pair[0].bytes), tb__guid_of(pair[1].bytes)};
  const char *policy = self->reported_policy ? NULL : self->policy;
  if (policy) self->reported_policy = true;
  tb__mutex_unlock(&self->mutex);
  int64_t now_ns = tb__real_steady_now_ns();
  if (reports.fault) tb__publisher_conflict_begin(&self->conflict, self->context, writers, now_ns);
  if (self->conflict.is_pending &&
      !tb__publisher_conflict_report(&self->conflict, self->topic, reports.hold, now_ns))
    tb__tick_queue_report_again(&self->queue, now_ns + NAMES_PERIOD_NS);
  if (policy) report_refusal(self, policy);
  tb__tick_reports_log_invalid(&reports, self->topic);
}

static void all_writers_changed(void *user)
{
  clock_source_t *self = user;
  tb__mutex_lock(&self->mutex); /* so that the queue exists */
  if (self->counting) tb__tick_queue_when_drained(&self->queue);
  tb__mutex_unlock(&self->mutex);
}

/* DDS does not report that a refused publisher has gone, so all publishers of the topic are
 * counted. */
static uint32_t count_all_writers(clock_source_t *self, bool refused)
{
  if (refused && !self->all_writers)
    tb__topic_writers_create(tb__ros2_context_participant(self->context), self->dds_topic,
                             self->dds_type, all_writers_changed, self, &self->all_writers);
  return self->all_writers ? tb__topic_writers_count(self->all_writers) : UINT32_MAX;
}

/* On the dispatch thread, when the ticks that preceded the change have been committed. */
static void report_states(void *user)
{
  clock_source_t *self = user;
  tb_clock_state_t states[TB__CLOCK_PRESENCE_STATES];
  tb__mutex_lock(&self->mutex);
  bool refused = self->counting && self->intake.presence.incompatible;
  tb__mutex_unlock(&self->mutex);
  uint32_t all_writers = count_all_writers(self, refused);
  tb__mutex_lock(&self->mutex); /* so that no tick is accepted in between */
  self->intake.presence.unmatched = all_writers > self->intake.presence.matched;
  size_t count = self->counting ? tb__clock_presence_take(&self->intake.presence, states) : 0;
  for (size_t i = 0; i < count; i++)
    tb_timeline_set_state(self->timeline, states[i]);
  tb__mutex_unlock(&self->mutex);
}

/* On a thread of DDS. */
static void on_writers(const tb__writers_status_t *status, void *user)
{
  clock_source_t *self = user;
  tb__mutex_lock(&self->mutex);
  bool counting = self->counting;
  bool refused = status->incompatible != self->intake.presence.incompatible;
  if (status->matched != self->intake.presence.matched)
    tb__clock_presence_matched(&self->intake.presence, status->matched);
  if (refused) tb__clock_presence_incompatible(&self->intake.presence, status->incompatible);
  self->policy = status->policy;
  bool report = refused && !self->reported_policy;
  tb__mutex_unlock(&self->mutex);
  if (!counting) return;
  if (report) tb__tick_queue_report(&self->queue);
  tb__tick_queue_when_drained(&self->queue);
  if (self->changed) self->changed(self->changed_user);
}

static void on_sample(const tb_ros2_sample_t *sample, void *user)
{
  /* X5: small steps are committed here, jumps on the dispatch thread */
  clock_source_t *self = user;
  int64_t time_ns;
  tb_status_t status = tb__clock_message_decode(sample->cdr, sample->size, &time_ns);
  if (status) {
    sample_refuse(self, status);
    return;
  }
  if (!sample_accept(self, sample, time_ns)) {
    tb_timeline_count_dropped(self->timeline);
    return;
  }
  if (self->observer) self->observer(sample, self->observer_user);
  tb__tick_queue_tick(&self->queue, time_ns);
}

static void queue_end(clock_source_t *self)
{
  tb__mutex_lock(&self->mutex);
  self->counting = false;
  tb__mutex_unlock(&self->mutex);
  tb__tick_queue_fini(&self->queue);
  tb__publisher_conflict_fini(&self->conflict, self->topic,
                              self->intake.filter.options.hold_to_first);
  tb__topic_writers_destroy(self->all_writers);
  self->all_writers = NULL;
}

static tb_status_t clock_source_start(void *user, tb_timeline_t *timeline)
{
  clock_source_t *self = user;
  tb_error_t error = TB_ERROR_INIT;
  self->timeline = timeline;
  tb_status_t status = TB_OK;
  if (self->loop)
    tb__tick_queue_init_for_loop(&self->queue, timeline, report_pending, report_states, self,
                                 self->loop);
  else
    status = tb__tick_queue_init(&self->queue, timeline, report_pending, report_states, self);
  if (status) return status;
  tb__mutex_lock(&self->mutex);
  tb__tick_filter_restart(&self->intake.filter);
  self->intake.presence = (tb__clock_presence_t){.reported = TB_CLOCK_NO_PUBLISHER};
  self->policy = NULL;
  self->reported_policy = false;
  self->counting = true;
  tb__mutex_unlock(&self->mutex);
  tb_timeline_set_state(timeline, TB_CLOCK_NO_PUBLISHER);
  tb_ros2_subscription_options_t options = {on_sample, self};
  tb_ros2_subscription_t *subscription;
  status = tb__subscription_create_watched(self->context, self->topic, TB__CLOCK_TYPE, &self->qos,
                                           &options, on_writers, &subscription, &error);
  if (status) {
    queue_end(self);
    tb__log(TB_LOG_ERROR, "%s", error.text);
    return status;
  }
  tb__mutex_lock(&self->mutex);
  self->subscription = subscription;
  self->guid = tb__subscription_guid(subscription);
  self->running = true;
  if (self->loop) tb__tick_loop_raise(self->loop); /* for what came before */
  tb__mutex_unlock(&self->mutex);
  return TB_OK;
}

static void clock_source_stop(void *user)
{
  clock_source_t *self = user;
  tb__mutex_lock(&self->mutex);
  tb_ros2_subscription_t *subscription = self->subscription;
  self->subscription = NULL;
  self->running = self->counting = false;
  tb__mutex_unlock(&self->mutex);
  tb_ros2_subscription_destroy(subscription); /* no sample is delivered afterwards */
  while (atomic_load(&self->dispatching))     /* it has begun before; no other begins */
    tb__futex_wait_kernel(&self->dispatching, 1, TB__NO_DEADLINE);
  queue_end(self);
}

static void clock_source_destroy(void *user)
{
  clock_source_t *self = user;
  if (!self) return;
  tb__mutex_fini(&self->mutex);
  tb__tick_loop_destroy(self->loop);
  free(self->writers);
  free(self->topic);
  free(self);
}

static const tb_source_ops_t clock_source_ops = {
    .name = "/clock of ROS 2",
    .start = clock_source_start,
    .stop = clock_source_stop,
    .destroy = clock_source_destroy,
};

tb_status_t tb_ros2_clock_source_create_sized(tb_ros2_context_t *context,
                                              const tb_ros2_clock_source_options_t *options,
                                              size_t options_size, tb_source_t **out,
                                              tb_error_t *error)
{
  tb_ros2_clock_source_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_clock_source_options_t");
  static const tb_ros2_clock_source_options_t defaults = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  static const tb_qos_t clock_qos = TB_QOS_INIT_CLOCK;
  if (!options) options = &defaults;
  if (!context || !out)
    return tb_error_set(error, TB_ERR_INVALID, "clock source: context or out is NULL");
  const char *topic = options->topic ? options->topic : TB__CLOCK_TOPIC;
  const tb_qos_t *qos = options->qos ? options->qos : &clock_qos;
  if (options->hold_limit.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "clock source of %s: hold_limit is negative", topic);
  if (options->publishers != TB_ROS2_CLOCK_ACCEPT_ALL &&
      options->publishers != TB_ROS2_CLOCK_HOLD_TO_FIRST)
    return tb_error_set(error, TB_ERR_INVALID, "clock source of %s: unknown value %d of publishers",
                        topic, (int)options->publishers);
  if (options->writers_max > WRITERS_MAX)
    return tb_error_set(error, TB_ERR_INVALID,
                        "clock source of %s: writers_max is %u, must be at most %d", topic,
                        options->writers_max, WRITERS_MAX);
  tb__topic_endpoint_t checked;
  tb_status_t status =
      tb__topic_endpoint_init(&checked, context, topic, TB__CLOCK_TYPE, qos, error);
  if (status) return status;
  clock_source_t *self = calloc(1, sizeof *self);
  if (!self) return tb__no_memory(error);
  tb__mutex_init(&self->mutex);
  self->context = context;
  self->qos = *qos;
  snprintf(self->dds_topic, sizeof self->dds_topic, "%s", checked.options.topic);
  snprintf(self->dds_type, sizeof self->dds_type, "%s", checked.options.type);
  tb__tick_filter_options_t filter = {
      .hold_to_first = options->publishers == TB_ROS2_CLOCK_HOLD_TO_FIRST,
      .hold_limit_ns = options->hold_limit.ns ? options->hold_limit.ns : TB_NS_PER_S,
  };
  tb__tick_filter_init(&self->intake.filter, &filter);
  self->topic = strdup(topic);
  self->observer = options->observer;
  self->observer_user = options->observer_user;
  self->writers_max = options->writers_max ? options->writers_max : WRITERS_DEFAULT;
  self->writers = calloc(self->writers_max, sizeof *self->writers);
  status = self->topic && self->writers ? TB_OK : TB_ERR_NO_MEMORY;
  if (!status && options->own_loop) status = tb__tick_loop_create(&self->loop);
  if (!status) status = tb_source_create(&clock_source_ops, self, out);
  if (!status) return TB_OK;
  clock_source_destroy(self);
  return tb_error_set(error, status, "clock source of %s: %s", topic, tb_status_message(status));
}

static clock_source_t *clock_source_of(tb_source_t *source)
{
  return tb__source_is(source, &clock_source_ops) ? source->self : NULL;
}

static tb_status_t ros2_clock_source_status(tb_source_t *source, tb_ros2_clock_source_status_t *out)
{
  if (!source || !out) return TB_ERR_INVALID;
  clock_source_t *self = clock_source_of(source);
  if (!self) return TB_ERR_INVALID;
  tb__mutex_lock(&self->mutex);
  *out = (tb_ros2_clock_source_status_t){
      .publishers = self->writers_seen,
      .first_sample_ns = self->intake.first_sample_steady_ns,
      .last_sample_ns = self->intake.last_sample_steady_ns,
      .reordered = self->intake.filter.reordered,
      .invalid = self->intake.invalid,
      .refused = self->intake.filter.refused,
      .faults = self->intake.filter.faults,
  };
  if (self->running) {
    out->matched = tb_ros2_subscription_matched(self->subscription);
    out->incompatible = tb_ros2_subscription_incompatible(self->subscription, &out->policy);
  }
  tb__mutex_unlock(&self->mutex);
  return TB_OK;
}

tb_status_t tb_ros2_clock_source_status_sized(tb_source_t *source,
                                              tb_ros2_clock_source_status_t *out, size_t out_size)
{
  tb_ros2_clock_source_status_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = ros2_clock_source_status(source, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

static int compare_latest_first(const void *a, const void *b)
{
  const tb_ros2_clock_writer_t *first = a, *second = b;
  return (first->last_steady_ns < second->last_steady_ns) -
         (first->last_steady_ns > second->last_steady_ns);
}

tb_status_t tb_ros2_clock_source_writers(tb_source_t *source, uint32_t size,
                                         tb_ros2_clock_writer_t *writers, uint32_t *out_count)
{
  if (!source || !out_count || (size > 0 && !writers)) return TB_ERR_INVALID;
  clock_source_t *self = clock_source_of(source);
  if (!self) return TB_ERR_INVALID;
  tb__mutex_lock(&self->mutex);
  uint32_t count = self->writer_count < size ? self->writer_count : size;
  qsort(self->writers, self->writer_count, sizeof *self->writers, compare_latest_first);
  if (count) memcpy(writers, self->writers, count * sizeof *writers);
  *out_count = self->writer_count;
  tb__mutex_unlock(&self->mutex);
  return TB_OK;
}

int tb_ros2_clock_source_fd(const tb_source_t *source)
{
  if (!source || !tb__source_is(source, &clock_source_ops)) return -1;
  const clock_source_t *self = source->self;
  return self->loop ? tb__tick_loop_fd(self->loop) : -1;
}

/* False: it is stopped, so that the queue must not be used. */
static bool dispatch_begin(clock_source_t *self, tb_status_t *out_status)
{
  tb__mutex_lock(&self->mutex);
  bool running = self->running;
  uint32_t free = 0;
  *out_status = TB_OK;
  if (!running)
    tb__tick_loop_clear(self->loop); /* of what was left, or comes too early */
  else if (!atomic_compare_exchange_strong(&self->dispatching, &free, 1))
    *out_status = TB_ERR_BUSY;
  tb__mutex_unlock(&self->mutex);
  return running && !*out_status;
}

tb_status_t tb_ros2_clock_source_run(tb_source_t *source, uint32_t *out_ticks)
{
  clock_source_t *self = source ? clock_source_of(source) : NULL;
  if (!self || !self->loop) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__thread_may_not_wait()) return TB_ERR_DEADLOCK;
  tb_status_t status;
  uint32_t ticks = 0;
  if (dispatch_begin(self, &status)) {
    ticks = tb__tick_queue_run(&self->queue);
    atomic_store(&self->dispatching, 0);
    tb__futex_wake_all(&self->dispatching);
  }
  if (!status && out_ticks) *out_ticks = ticks;
  return status;
}

bool tb__clock_source_reader_guid(tb_source_t *source, tb__guid_t *out)
{
  clock_source_t *self = clock_source_of(source);
  if (!self) return false;
  tb__mutex_lock(&self->mutex);
  bool running = self->running;
  if (running) *out = self->guid;
  tb__mutex_unlock(&self->mutex);
  return running;
}

void tb__clock_source_watch(tb_source_t *source, void (*changed)(void *user), void *user)
{
  clock_source_t *self = clock_source_of(source);
  if (!self) return;
  self->changed = changed;
  self->changed_user = user;
}

uint32_t tb__clock_source_publishers(tb_source_t *source, uint32_t *out_appearances)
{
  clock_source_t *self = clock_source_of(source);
  if (!self) return 0;
  tb__mutex_lock(&self->mutex);
  uint32_t matched = self->counting ? self->intake.presence.matched : 0;
  if (out_appearances) *out_appearances = self->intake.presence.appearances;
  tb__mutex_unlock(&self->mutex);
  return matched;
}
