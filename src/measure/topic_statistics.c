/* Statistics of a topic: what is recorded in its callbacks. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/saturate.h"
#include "base/sized.h"
#include "measure/statistics.h"
#include "platform/time.h"

#define MIN_AGE_NS     INT64_C(-1000000000)
#define MAX_AGE_NS     INT64_C(5000000000)
#define FUTURE_NS      INT64_C(5000000)
#define STALE_GRACE_NS INT64_C(1000000000) /* a publisher may take so long to see a jump */

static const char *const metric_names[TB_TOPIC_METRICS] = {
    [TB_TOPIC_MESSAGE_AGE] = "message_age",
    [TB_TOPIC_SOURCE_TO_RECEIVE] = "source_to_receive",
    [TB_TOPIC_CALLBACK_QUEUE_DELAY] = "callback_queue_delay",
    [TB_TOPIC_PROCESSING] = "processing",
    [TB_TOPIC_PROCESSING_ROS] = "processing_ros",
    [TB_TOPIC_SOURCE_TO_CALLBACK] = "source_to_callback",
    [TB_TOPIC_MESSAGE_PERIOD] = "message_period",
};

const char *tb_topic_metric_name(tb_topic_metric_t metric)
{
  return (size_t)metric < TB_TOPIC_METRICS ? metric_names[metric] : "unknown";
}

static void count(tb_topic_statistics_t *topic, tb__topic_count_t which)
{
  tb__count(&topic->counts[which], 1);
}

static void record(tb_topic_statistics_t *topic, tb_topic_metric_t metric, int64_t value_ns)
{
  tb_histogram_record(topic->writers[metric], (tb_duration_t){value_ns});
}

/* ---- publishers ---- */

static void add_publisher(uint8_t guid[16], uint64_t *last, const tb_topic_message_t *message)
{
  memcpy(guid, message->writer_guid, sizeof message->writer_guid);
  *last = message->sequence;
}

static bool is_of(const uint8_t guid[16], const tb_topic_message_t *message)
{
  return !memcmp(guid, message->writer_guid, sizeof message->writer_guid);
}

/* The last number of a publisher beyond the first ones. */
static uint64_t *last_of_other(tb_topic_statistics_t *topic, const tb_topic_message_t *message)
{
  uint32_t known = atomic_load_explicit(&topic->other_count, memory_order_relaxed);
  for (uint32_t i = 0; i < known; i++)
    if (is_of(topic->others[i].guid, message)) return &topic->others[i].last;
  tb__other_publisher_t *added = &topic->others[topic->other_next];
  topic->other_next = (topic->other_next + 1) % TB__OTHER_PUBLISHERS;
  add_publisher(added->guid, &added->last, message);
  if (known < TB__OTHER_PUBLISHERS)
    atomic_store_explicit(&topic->other_count, known + 1, memory_order_relaxed);
  return &added->last;
}

/* The last number of the publisher of a message, and where its losses are counted. */
static uint64_t *last_of(tb_topic_statistics_t *topic, const tb_topic_message_t *message,
                         _Atomic uint64_t **out_lost)
{
  uint32_t known = atomic_load_explicit(&topic->publisher_count, memory_order_relaxed);
  for (uint32_t i = 0; i < known; i++)
    if (is_of(topic->publishers[i].guid, message)) {
      *out_lost = &topic->publishers[i].lost;
      return &topic->publishers[i].last;
    }
  if (known == TB__PUBLISHERS) {
    *out_lost = &topic->other_lost;
    return last_of_other(topic, message);
  }
  tb__seen_publisher_t *added = &topic->publishers[known];
  add_publisher(added->guid, &added->last, message);
  atomic_store_explicit(&topic->publisher_count, known + 1, memory_order_release);
  *out_lost = &added->lost;
  return &added->last;
}

/* Numbers that come late or again are no losses. */
static void note_losses(tb_topic_statistics_t *topic, const tb_topic_message_t *message)
{
  if (!message->sequence) return;
  _Atomic uint64_t *counter;
  uint64_t *last = last_of(topic, message, &counter);
  if (message->sequence <= *last) return;
  uint64_t lost = message->sequence - *last - 1;
  *last = message->sequence;
  if (!lost) return;
  tb__count(counter, lost);
  tb__count(&topic->counts[TB__LOST], lost);
}

/* ---- age ---- */

/* The clock has begun another epoch since the last message. */
static void enter_epoch(tb_topic_statistics_t *topic, uint64_t epoch)
{
  tb_statistics_t *statistics = topic->statistics;
  tb__mutex_lock(&statistics->jump_mutex);
  topic->epoch = statistics->epoch_begin;
  tb__mutex_unlock(&statistics->jump_mutex);
  if (topic->epoch.epoch != epoch) topic->epoch = (tb__epoch_begin_t){.epoch = epoch};
  topic->has_last_stamp = false;
  for (int i = 0; i < TB_TOPIC_METRICS && topic->has_epoch; i++)
    tb_histogram_writer_begin_epoch(topic->writers[i]);
  topic->has_epoch = true;
  atomic_store_explicit(&topic->epoch_number, epoch, memory_order_relaxed);
}

static int64_t future_limit(const tb_topic_statistics_t *topic)
{
  if (topic->options.future_limit.ns) return topic->options.future_limit.ns;
  int64_t tick_ns = atomic_load_explicit(&topic->statistics->tick_ns, memory_order_relaxed);
  return tick_ns > FUTURE_NS ? tick_ns : FUTURE_NS;
}

/* Whether the message is from before the jump that began this epoch. */
static bool is_stale(const tb_topic_statistics_t *topic, const tb_topic_message_t *message,
                     int64_t received_ns, int64_t age_ns)
{
  const tb__epoch_begin_t *epoch = &topic->epoch;
  if (!epoch->steady_ns) return false;
  if (received_ns < epoch->steady_ns) return true;
  return age_ns < -future_limit(topic) && message->stamp_ns <= epoch->before_ns &&
         tb__sub_saturated(received_ns, epoch->steady_ns) < STALE_GRACE_NS;
}

static void note_order(tb_topic_statistics_t *topic, int64_t stamp_ns)
{
  if (topic->has_last_stamp && stamp_ns == topic->last_stamp_ns) count(topic, TB__DUPLICATES);
  if (topic->has_last_stamp && stamp_ns < topic->last_stamp_ns) count(topic, TB__STAMPS_BACK);
  topic->last_stamp_ns = stamp_ns;
  topic->has_last_stamp = true;
}

static void note_age(tb_topic_statistics_t *topic, const tb_topic_message_t *message,
                     const tb_clock_reading_t *reading, int64_t received_ns)
{
  if (!message->has_stamp) {
    count(topic, TB__NO_STAMP);
  } else if (message->stamp_ns <= 0) {
    count(topic, TB__ZERO_STAMPS);
  } else if (!reading || reading->time.ns == 0) {
    count(topic, TB__NO_TIME);
  } else {
    int64_t age_ns = tb__sub_saturated(reading->time.ns, message->stamp_ns);
    if (is_stale(topic, message, received_ns, age_ns)) {
      count(topic, TB__STALE_EPOCH);
      return;
    }
    if (age_ns < -future_limit(topic)) count(topic, TB__FUTURE);
    if (age_ns < 0 && age_ns >= -TB_HISTOGRAM_MAX_NS)
      tb__count(&topic->ahead_sum_ns, (uint64_t)-age_ns);
    note_order(topic, message->stamp_ns);
    record(topic, TB_TOPIC_MESSAGE_AGE, age_ns);
  }
}

/* ---- callbacks ---- */

/* What depends on the middleware's time stamps. */
static void note_transport(tb_topic_statistics_t *topic, const tb_topic_message_t *message,
                           int64_t now_ns)
{
  int64_t received_ns = message->receive_steady_ns ? message->receive_steady_ns : now_ns;
  int64_t delay_ns = tb__sub_saturated(now_ns, received_ns);
  if (topic->last_received_ns)
    record(topic, TB_TOPIC_MESSAGE_PERIOD, tb__sub_saturated(received_ns, topic->last_received_ns));
  topic->last_received_ns = received_ns;
  if (message->receive_steady_ns) record(topic, TB_TOPIC_CALLBACK_QUEUE_DELAY, delay_ns);
  if (!message->source_timestamp_ns || !message->receive_timestamp_ns) return;
  int64_t transport_ns =
      tb__sub_saturated(message->receive_timestamp_ns, message->source_timestamp_ns);
  /* in steady time, as system time may have been set back since */
  if (tb__sub_saturated(received_ns, transport_ns) < topic->made_steady_ns)
    count(topic, TB__HISTORY);
  else
    record(topic, TB_TOPIC_SOURCE_TO_RECEIVE, transport_ns);
  if (message->receive_steady_ns)
    record(topic, TB_TOPIC_SOURCE_TO_CALLBACK, tb__add_saturated(transport_ns, delay_ns));
}

void tb_topic_statistics_begin_sized(tb_topic_statistics_t *topic,
                                     const tb_topic_message_t *message, size_t message_size)
{
  tb_topic_message_t known;
  if (!topic || !message || !TB__SIZED_IN(message, message_size, known)) return;
  tb_statistics_t *statistics = topic->statistics;
  tb_clock_reading_t reading;
  topic->begin_jumps = atomic_load(&statistics->jumps);
  int64_t now_ns = tb__steady_now_ns();
  bool taken = !tb__clock_try_read(statistics->clock, &reading);
  if (taken && (!topic->has_epoch || reading.epoch != topic->epoch.epoch))
    enter_epoch(topic, reading.epoch);
  count(topic, TB__MESSAGES);
  note_losses(topic, message);
  note_transport(topic, message, now_ns);
  note_age(topic, message, taken ? &reading : NULL, topic->last_received_ns);
  topic->begin_steady_ns = now_ns;
  topic->begin_time_ns = taken ? reading.time.ns : 0;
  topic->is_begun = true;
}

void tb_topic_statistics_end(tb_topic_statistics_t *topic)
{
  if (!topic || !topic->is_begun) return;
  tb_time_t time;
  topic->is_begun = false;
  record(topic, TB_TOPIC_PROCESSING, tb__steady_now_ns() - topic->begin_steady_ns);
  if (!topic->begin_time_ns || tb_clock_try_now(topic->statistics->clock, &time)) return;
  if (atomic_load(&topic->statistics->jumps) == topic->begin_jumps)
    record(topic, TB_TOPIC_PROCESSING_ROS, time.ns - topic->begin_time_ns);
}

/* ---- snapshots ---- */

static tb_topic_counts_t counts_of(const tb_topic_statistics_t *topic)
{
  const _Atomic uint64_t *counts = topic->counts;
  return (tb_topic_counts_t){
      .messages = tb__count_of(&counts[TB__MESSAGES]),
      .stale_epoch = tb__count_of(&counts[TB__STALE_EPOCH]),
      .zero_stamps = tb__count_of(&counts[TB__ZERO_STAMPS]),
      .no_stamp = tb__count_of(&counts[TB__NO_STAMP]),
      .no_time = tb__count_of(&counts[TB__NO_TIME]),
      .future = tb__count_of(&counts[TB__FUTURE]),
      .duplicates = tb__count_of(&counts[TB__DUPLICATES]),
      .stamps_back = tb__count_of(&counts[TB__STAMPS_BACK]),
      .history = tb__count_of(&counts[TB__HISTORY]),
      .lost = tb__count_of(&counts[TB__LOST]),
  };
}

static tb_topic_counts_t counts_between(const tb_topic_counts_t *from, const tb_topic_counts_t *to)
{
  return (tb_topic_counts_t){
      .messages = to->messages - from->messages,
      .stale_epoch = to->stale_epoch - from->stale_epoch,
      .zero_stamps = to->zero_stamps - from->zero_stamps,
      .no_stamp = to->no_stamp - from->no_stamp,
      .no_time = to->no_time - from->no_time,
      .future = to->future - from->future,
      .duplicates = to->duplicates - from->duplicates,
      .stamps_back = to->stamps_back - from->stamps_back,
      .history = to->history - from->history,
      .lost = to->lost - from->lost,
  };
}

void tb__topic_statistics_snapshot(tb_topic_statistics_t *topic, int64_t steady_ns,
                                   int64_t clock_ns)
{
  tb_topic_summary_t *summary = &topic->summary;
  tb_topic_counts_t counts = counts_of(topic);
  for (int i = 0; i < TB_TOPIC_METRICS; i++)
    tb_histogram_snapshot(topic->histograms[i]);
  topic->ahead_sum_at_snapshot = tb__count_of(&topic->ahead_sum_ns);
  summary->interval = counts_between(&summary->since_start, &counts);
  summary->since_start = counts;
  summary->publishers = atomic_load(&topic->publisher_count) + atomic_load(&topic->other_count);
  summary->epoch = tb__count_of(&topic->epoch_number);
  summary->rate_hz =
      steady_ns > 0 ? (double)summary->interval.messages * 1e9 / (double)steady_ns : 0;
  summary->clock_rate_hz = clock_ns > 0
                               ? (double)summary->interval.messages * 1e9 / (double)clock_ns
                               : __builtin_nan("");
  tb_histogram_stats_t age = {0};
  tb_histogram_stats(topic->histograms[TB_TOPIC_MESSAGE_AGE], TB_HISTOGRAM_INTERVAL, &age);
  tb__topic_judge(&topic->level, summary, &topic->options, &age, clock_ns,
                  topic->statistics->good_windows);
}

static tb_status_t topic_summary(const tb_topic_statistics_t *topic, tb_topic_summary_t *out)
{
  if (!topic || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&topic->statistics->mutex);
  *out = topic->summary;
  tb__mutex_unlock(&topic->statistics->mutex);
  return TB_OK;
}

tb_status_t tb_topic_statistics_summary_sized(const tb_topic_statistics_t *topic,
                                              tb_topic_summary_t *out, size_t out_size)
{
  tb_topic_summary_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = topic_summary(topic, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

const tb_histogram_t *tb_topic_statistics_histogram(const tb_topic_statistics_t *topic,
                                                    tb_topic_metric_t metric)
{
  return topic && (size_t)metric < TB_TOPIC_METRICS ? topic->histograms[metric] : NULL;
}

/* ---- making and destroying ---- */

static bool options_are_valid(const tb_topic_statistics_options_t *options)
{
  return options->expected_rate_hz >= 0 && options->expected_rate_hz <= 1e9 &&
         options->min_age.ns <= options->max_age.ns && options->future_limit.ns >= 0;
}

static void set_options(tb_topic_statistics_t *topic, const tb_topic_statistics_options_t *options)
{
  topic->options = *options;
  topic->options.topic = topic->topic;
  if (!options->min_age.ns) topic->options.min_age.ns = MIN_AGE_NS;
  if (!options->max_age.ns) topic->options.max_age.ns = MAX_AGE_NS;
}

void tb__topic_statistics_free(tb_topic_statistics_t *topic)
{
  for (int i = 0; i < TB_TOPIC_METRICS; i++)
    tb_histogram_destroy(topic->histograms[i]);
  free(topic);
}

/* False: the node has statistics of this name. */
static bool append(tb_topic_statistics_t *topic)
{
  tb_statistics_t *statistics = topic->statistics;
  tb__mutex_lock(&statistics->mutex);
  const tb_topic_statistics_t *other = statistics->topics;
  while (other && strcmp(other->topic, topic->topic) != 0)
    other = other->next;
  if (!other) TB__CHAIN_APPEND(statistics->topics, topic);
  tb__mutex_unlock(&statistics->mutex);
  return !other;
}

static tb_status_t topic_create(tb_statistics_t *statistics,
                                const tb_topic_statistics_options_t *options,
                                tb_topic_statistics_t **out)
{
  if (!statistics || !options || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_topic_statistics_t *topic = calloc(1, sizeof *topic);
  if (!topic) return TB_ERR_NO_MEMORY;
  topic->statistics = statistics;
  topic->made_steady_ns = tb__steady_now_ns();
  bool named = tb__statistics_name(options->topic, topic->topic);
  set_options(topic, options);
  tb_status_t status = named && options_are_valid(&topic->options) ? TB_OK : TB_ERR_INVALID;
  for (int i = 0; i < TB_TOPIC_METRICS && !status; i++)
    status = tb__statistics_histogram(&topic->histograms[i], &topic->writers[i]);
  if (status) {
    tb__topic_statistics_free(topic);
    return status;
  }
  topic->summary = (tb_topic_summary_t){.topic = topic->topic, .reason = ""};
  topic->level = (tb__level_state_t)TB__LEVEL_INIT;
  if (!append(topic)) {
    tb__topic_statistics_free(topic);
    return TB_ERR_INVALID;
  }
  *out = topic;
  return TB_OK;
}

tb_status_t tb_topic_statistics_create_sized(tb_statistics_t *statistics,
                                             const tb_topic_statistics_options_t *options,
                                             size_t options_size, tb_topic_statistics_t **out)
{
  tb_topic_statistics_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return topic_create(statistics, options, out);
}

void tb_topic_statistics_destroy(tb_topic_statistics_t *topic)
{
  if (!topic) return;
  tb_statistics_t *statistics = topic->statistics;
  /* in a forked child the list may be half changed: then it is left as it is */
  if (tb__is_forked() && !tb__mutex_was_free(&statistics->mutex)) return;
  tb__mutex_lock(&statistics->mutex);
  TB__CHAIN_REMOVE(statistics->topics, topic);
  tb__mutex_unlock(&statistics->mutex);
  tb__topic_statistics_free(topic);
}
