#include <timebase/ros1_clock_source.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sized.h"
#include "clock/source.h"
#include "held/parking.h"
#include "platform/time.h"
#include "ros1/clock_message.h"
#include "ros1/context.h"
#include "ros1/sample.h"
#include "ros1/sim_time.h"
#include "ros1/topic_name.h"
#include "source/tick_intake.h"

#define CLOCK_TOPIC      "/clock"
#define MESSAGE_MAX      64 /* bytes: more is no time */
#define DECIDE_NS        INT64_C(1000000000)
#define STEP_LOOK_NS     INT64_C(1000000000) /* between looks at system time, while it is the time */
#define STEP_SMALLEST_NS INT64_C(1000000)
#define PUBLISHERS_KEPT  16

/* Who has ticked, for messages. */
typedef struct publisher {
  uint64_t id;
  char text[TB__ROS1_NAME_SIZE + TB__ROS1_HOST_SIZE + 24];
} publisher_t;

typedef struct clock_source {
  tb_ros1_context_t *context;
  bool owns_context;
  tb_ros1_sample_callback_t observer; /* may be NULL */
  void *observer_user;
  bool always; /* whatever /use_sim_time is */
  tb_timeline_t *timeline;
  tb__tick_queue_t queue;

  /* Of the loop's thread, while running. */
  tb__ros1_subscription_t subscription;
  tb__sim_time_reader_t reader;
  tb__ros1_timer_t step_timer;
  int64_t looked_offset_ns; /* of system time from steady time */
  bool is_subscribed;

  _Atomic uint32_t decided; /* futex: the master has answered, or cannot be reached */
  tb__mutex_t mutex;        /* what follows */
  bool counting;            /* from before it subscribes until after it has unsubscribed */
  tb_ros1_clock_mode_t mode;
  bool anchor_wanted;
  publisher_t publishers[PUBLISHERS_KEPT];
  uint32_t publishers_seen;
  uint64_t last_publisher;
  uint64_t samples;
  tb__tick_intake_t intake;
} clock_source_t;

/* --- messages --- */

static void remember_publisher(clock_source_t *self, const tb__publisher_link_t *link)
    TB_REQUIRES(self->mutex)
{
  if (self->last_publisher == link->id) return;
  self->last_publisher = link->id;
  for (size_t i = 0; i < PUBLISHERS_KEPT; i++)
    if (self->publishers[i].id == link->id) return;
  publisher_t *publisher = &self->publishers[self->publishers_seen++ % PUBLISHERS_KEPT];
  publisher->id = link->id;
  snprintf(publisher->text, sizeof publisher->text, link->publisher[0] ? "%s (%s:%u)" : "%s%s:%u",
           link->publisher, link->uri.host, (unsigned)link->uri.port);
}

/* Counts the message. False: it must not become a tick. */
static bool sample_accept(clock_source_t *self, const tb__publisher_link_t *link, int64_t time_ns)
{
  int64_t steady_ns = tb__steady_coarse_now_ns();
  tb__tick_sample_t tick = {.time_ns = time_ns, .steady_ns = steady_ns};
  /* A connection keeps the order, so no message is older than the one before. */
  tick.source_stamp_ns = steady_ns;
  memcpy(tick.writer.bytes, &link->id, sizeof link->id);
  tick.writer.size = sizeof link->id;
  tb__mutex_lock(&self->mutex);
  remember_publisher(self, link);
  self->samples++;
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

static void on_message(void *user, const tb__publisher_link_t *link, const uint8_t *bytes,
                       size_t size)
{
  /* X6: small steps are committed here, jumps on the dispatch thread */
  clock_source_t *self = user;
  int64_t time_ns;
  tb_status_t status = tb__ros1_clock_decode(bytes, size, &time_ns);
  if (!status && self->observer) {
    tb_ros1_sample_t sample = tb__ros1_sample_of(link, bytes, size);
    self->observer(&sample, self->observer_user);
  }
  if (status)
    sample_refuse(self, status);
  else if (sample_accept(self, link, time_ns))
    tb__tick_queue_tick(&self->queue, time_ns);
  else
    tb_timeline_count_dropped(self->timeline);
}

static void on_publishers(void *user, uint32_t open)
{
  clock_source_t *self = user;
  tb__mutex_lock(&self->mutex);
  tb__clock_presence_matched(&self->intake.presence, open);
  if (!open)
    tb__tick_filter_restart(&self->intake.filter); /* who comes now is no second publisher */
  tb__mutex_unlock(&self->mutex);
  tb__tick_queue_when_drained(&self->queue);
}

/* --- on the dispatch thread --- */

/* System time minus steady time, to a few microseconds unless the thread is interrupted. */
static int64_t read_system_offset(void)
{
  int64_t offset_ns = 0, best_ns = INT64_MAX;
  for (int i = 0; i < 4; i++) {
    int64_t before_ns = tb__steady_now_ns(), system_ns = tb__system_now_ns();
    int64_t took_ns = tb__steady_now_ns() - before_ns;
    if (took_ns >= best_ns) continue;
    best_ns = took_ns;
    offset_ns = system_ns - (before_ns + took_ns / 2);
  }
  return offset_ns;
}

/* System time runs as steady time does, but for steps. */
static void anchor_to_system(clock_source_t *self)
{
  int64_t steady_ns = tb__steady_now_ns();
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.steady.ns = steady_ns;
  anchor.time_ns = steady_ns + read_system_offset();
  anchor.rate = 1;
  anchor.bound.ns = INT64_MAX;
  tb_status_t status = tb_timeline_anchor(self->timeline, &anchor, TB_JUMP_REASON_NONE);
  if (status && status != TB_ERR_DETACHED)
    tb__log(TB_LOG_ERROR, "ROS 1: the time cannot follow system time: %s",
            tb_status_message(status));
}

static void settle_start(clock_source_t *self)
{
  atomic_store(&self->decided, 1);
  tb__futex_wake_all(&self->decided);
}

static const char *publisher_text(const clock_source_t *self, const tb__writer_id_t *writer)
    TB_REQUIRES(self->mutex)
{
  for (size_t i = 0; i < PUBLISHERS_KEPT; i++)
    if (!memcmp(&self->publishers[i].id, writer->bytes, sizeof self->publishers[i].id))
      return self->publishers[i].text;
  return "a publisher";
}

static void report_pending(void *user)
{
  clock_source_t *self = user;
  publisher_t pair[2];
  tb__mutex_lock(&self->mutex);
  bool anchor = self->anchor_wanted;
  tb__tick_reports_t reports = tb__tick_intake_reports(&self->intake);
  for (int i = 0; i < 2 && reports.fault; i++)
    snprintf(pair[i].text, sizeof pair[i].text, "%s",
             publisher_text(self, &self->intake.filter.fault_pair[i]));
  self->anchor_wanted = false;
  tb__mutex_unlock(&self->mutex);
  if (anchor) {
    anchor_to_system(self);
    settle_start(self);
  }
  if (reports.fault)
    tb__log(TB_LOG_WARN, "%s: two nodes publish time at once, %s and %s; %s; stop one of them",
            self->subscription.name, pair[0].text, pair[1].text,
            reports.hold ? "the first is followed" : "time follows both and may jump between them");
  tb__tick_reports_log_invalid(&reports, self->subscription.name);
}

/* When the ticks that preceded the change have been committed. */
static void report_states(void *user)
{
  clock_source_t *self = user;
  tb_clock_state_t states[TB__CLOCK_PRESENCE_STATES];
  tb__mutex_lock(&self->mutex); /* so that no tick is accepted in between */
  bool is_topic = self->counting && self->mode == TB_ROS1_CLOCK_TOPIC;
  size_t count = is_topic ? tb__clock_presence_take(&self->intake.presence, states) : 0;
  for (size_t i = 0; i < count; i++)
    tb_timeline_set_state(self->timeline, states[i]);
  tb__mutex_unlock(&self->mutex);
}

/* --- what time it is, on the loop's thread --- */

static void want_anchor(clock_source_t *self)
{
  tb__mutex_lock(&self->mutex);
  self->anchor_wanted = true;
  tb__mutex_unlock(&self->mutex);
  tb__tick_queue_report(&self->queue);
}

static void look_for_step(tb__ros1_timer_t *timer)
{
  clock_source_t *self = TB__ROS1_OWNER(timer, clock_source_t, step_timer);
  int64_t offset_ns = read_system_offset();
  int64_t moved_ns = offset_ns - self->looked_offset_ns;
  tb__ros1_loop_set_timer_in(&self->context->loop, timer, STEP_LOOK_NS);
  if (moved_ns > -STEP_SMALLEST_NS && moved_ns < STEP_SMALLEST_NS) return;
  self->looked_offset_ns = offset_ns;
  want_anchor(self);
}

static void set_mode(clock_source_t *self, tb_ros1_clock_mode_t mode)
{
  tb__mutex_lock(&self->mutex);
  self->mode = mode;
  tb__mutex_unlock(&self->mutex);
}

static void follow_topic(clock_source_t *self)
{
  set_mode(self, TB_ROS1_CLOCK_TOPIC);
  self->is_subscribed = true;
  tb__ros1_subscription_open(&self->subscription, &self->context->node);
  settle_start(self);
}

static void sim_time_read(void *user, tb__sim_time_t value)
{
  /* X6: set: zero until the first message, and never system time; not set: system time */
  clock_source_t *self = user;
  if (value == TB__SIM_TIME_UNKNOWN) {
    settle_start(self);
  } else if (value == TB__SIM_TIME_ON) {
    follow_topic(self);
  } else {
    set_mode(self, TB_ROS1_CLOCK_SYSTEM);
    self->looked_offset_ns = read_system_offset();
    tb__ros1_loop_set_timer_in(&self->context->loop, &self->step_timer, STEP_LOOK_NS);
    want_anchor(self);
  }
}

static void open_on_loop(void *user)
{
  clock_source_t *self = user;
  if (self->always)
    follow_topic(self);
  else
    tb__sim_time_reader_begin(&self->reader, &self->context->node, sim_time_read, self);
}

static void close_on_loop(void *user)
{
  clock_source_t *self = user;
  if (!self->always) tb__sim_time_reader_end(&self->reader);
  tb__ros1_loop_clear_timer(&self->context->loop, &self->step_timer);
  if (self->is_subscribed) tb__ros1_subscription_close(&self->subscription);
  self->is_subscribed = false;
}

/* --- its life --- */

static tb_status_t clock_source_start(void *user, tb_timeline_t *timeline)
{
  clock_source_t *self = user;
  self->timeline = timeline;
  tb_status_t status =
      tb__tick_queue_init(&self->queue, timeline, report_pending, report_states, self);
  if (status) return status;
  tb__mutex_lock(&self->mutex);
  tb__tick_filter_restart(&self->intake.filter);
  self->intake.presence = (tb__clock_presence_t){.reported = TB_CLOCK_NO_PUBLISHER};
  self->counting = true;
  self->anchor_wanted = false;
  tb__mutex_unlock(&self->mutex);
  tb_timeline_set_state(timeline, TB_CLOCK_NO_PUBLISHER);
  atomic_store(&self->decided, 0);
  tb__ros1_loop_call(&self->context->loop, open_on_loop, self);
  tb__deadline_t deadline = {TB__DEADLINE_STEADY, tb__real_steady_now_ns() + DECIDE_NS};
  while (!atomic_load(&self->decided))
    if (!tb__futex_wait_kernel(&self->decided, 0, deadline)) break;
  return TB_OK;
}

static void clock_source_stop(void *user)
{
  clock_source_t *self = user;
  tb__ros1_loop_call(&self->context->loop, close_on_loop, self);
  tb__mutex_lock(&self->mutex);
  self->counting = false;
  self->mode = TB_ROS1_CLOCK_UNDECIDED;
  self->intake.presence.matched = 0;
  tb__mutex_unlock(&self->mutex);
  tb__tick_queue_fini(&self->queue);
}

static void clock_source_destroy(void *user)
{
  clock_source_t *self = user;
  if (!self) return;
  if (self->owns_context) tb_ros1_context_destroy(self->context);
  tb__mutex_fini(&self->mutex);
  free(self);
}

static const tb_source_ops_t clock_source_ops = {
    .name = "/clock of ROS 1",
    .start = clock_source_start,
    .stop = clock_source_stop,
    .destroy = clock_source_destroy,
};

static tb_status_t check_options(const tb_ros1_clock_source_options_t *options, const char *topic,
                                 tb_error_t *error)
{
  if (!tb__ros1_topic_is_valid(topic))
    return tb_error_set(error, TB_ERR_INVALID,
                        "clock source of ROS 1: \"%.99s\" is no name of a topic; it must be like "
                        "/clock",
                        topic);
  if (options->hold_limit.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "clock source of %s: hold_limit is negative", topic);
  if (options->publishers != TB_ROS1_CLOCK_ACCEPT_ALL &&
      options->publishers != TB_ROS1_CLOCK_HOLD_TO_FIRST)
    return tb_error_set(error, TB_ERR_INVALID, "clock source of %s: unknown value %d of publishers",
                        topic, (int)options->publishers);
  if (options->sim_time != TB_ROS1_SIM_TIME_PARAMETER &&
      options->sim_time != TB_ROS1_SIM_TIME_ALWAYS)
    return tb_error_set(error, TB_ERR_INVALID, "clock source of %s: unknown value %d of sim_time",
                        topic, (int)options->sim_time);
  return TB_OK;
}

tb_status_t tb_ros1_clock_source_create_sized(tb_ros1_context_t *context,
                                              const tb_ros1_clock_source_options_t *options,
                                              size_t options_size, tb_source_t **out,
                                              tb_error_t *error)
{
  tb_ros1_clock_source_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros1_clock_source_options_t");
  static const tb_ros1_clock_source_options_t defaults = TB_ROS1_CLOCK_SOURCE_OPTIONS_INIT;
  if (!options) options = &defaults;
  if (!context || !out)
    return tb_error_set(error, TB_ERR_INVALID, "clock source: context or out is NULL");
  const char *topic = options->topic ? options->topic : CLOCK_TOPIC;
  tb_status_t status = check_options(options, topic, error);
  if (status) return status;
  clock_source_t *self = calloc(1, sizeof *self);
  if (!self) goto fail;
  tb__mutex_init(&self->mutex);
  self->context = context;
  self->observer = options->observer;
  self->observer_user = options->observer_user;
  self->always = options->sim_time == TB_ROS1_SIM_TIME_ALWAYS;
  self->step_timer.expired = look_for_step;
  self->subscription.topic = (tb__ros1_topic_t){.type = TB__ROS1_CLOCK_TYPE,
                                                .md5sum = TB__ROS1_CLOCK_MD5SUM,
                                                .former_type = TB__ROS1_CLOCK_FORMER,
                                                .message_max = MESSAGE_MAX};
  snprintf(self->subscription.name, sizeof self->subscription.name, "%s", topic);
  self->subscription.message = on_message;
  self->subscription.publishers_changed = on_publishers;
  self->subscription.user = self;
  tb__tick_filter_options_t filter = {
      .hold_to_first = options->publishers == TB_ROS1_CLOCK_HOLD_TO_FIRST,
      .hold_limit_ns = options->hold_limit.ns ? options->hold_limit.ns : TB_NS_PER_S,
  };
  tb__tick_filter_init(&self->intake.filter, &filter);
  if (tb_source_create(&clock_source_ops, self, out)) goto fail;
  return TB_OK;

fail:
  clock_source_destroy(self);
  return tb_error_set(error, TB_ERR_NO_MEMORY, "clock source of %s: out of memory", topic);
}

static tb_status_t ros1_clock_source_status(tb_source_t *source, tb_ros1_clock_source_status_t *out)
{
  if (!source || !out || !tb__source_is(source, &clock_source_ops)) return TB_ERR_INVALID;
  clock_source_t *self = source->self;
  tb__mutex_lock(&self->mutex);
  *out = (tb_ros1_clock_source_status_t){
      .mode = self->mode,
      .connected = self->intake.presence.matched,
      .first_sample_ns = self->intake.first_sample_steady_ns,
      .last_sample_ns = self->intake.last_sample_steady_ns,
      .samples = self->samples + self->intake.invalid,
      .invalid = self->intake.invalid,
      .refused = self->intake.filter.refused,
      .faults = self->intake.filter.faults,
  };
  tb__mutex_unlock(&self->mutex);
  return TB_OK;
}

tb_status_t tb_ros1_clock_source_status_sized(tb_source_t *source,
                                              tb_ros1_clock_source_status_t *out, size_t out_size)
{
  tb_ros1_clock_source_status_t filled;
  tb_ros1_clock_source_status_t *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = ros1_clock_source_status(source, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

/* --- by name --- */

/* "ros1", "ros1:http://HOST:PORT" */
static tb_status_t from_name(const char *rest, void *user, tb_source_t **out, tb_error_t *error)
{
  tb_ros1_context_options_t options = TB_ROS1_CONTEXT_OPTIONS_INIT;
  tb_ros1_context_t *context;
  (void)user;
  if (*rest) options.master_uri = rest;
  tb_status_t status = tb_ros1_context_create(&options, &context, error);
  if (status) return status;
  status = tb_ros1_clock_source_create(context, NULL, out, error);
  if (status) {
    tb_ros1_context_destroy(context);
    return status;
  }
  clock_source_t *self = (*out)->self;
  self->owns_context = true;
  return TB_OK;
}

/* Programs with the library know the name without a call. */
__attribute__((constructor)) static void register_name(void)
{
  tb_status_t status = tb_source_register("ros1", from_name, NULL);
  (void)status; /* without memory the name is not known, which is reported where it is used */
}
