/* The text is made by the thread that steps, once a second, and the server's thread copies it: so
 * the graph and the topics have one owner, and clients that ask often cost readers nothing. */
#include "observe_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "contract/metrics_text.h"
#include "text.h"

#define SERIES_MAX 64
#define OVERFLOW   "_other"

/* A publisher, or all those that are one. */
typedef struct series {
  const char *topic, *node; /* the owner's */
  char publisher[33];
  tb__topic_stream_t is;
} series_t;

struct observe_metrics {
  observe_t *observe;
  tb_metrics_server_t *server;
  pthread_mutex_t lock;    /* for the text */
  tb__metrics_text_t text; /* as it is served */
  size_t series_count;     /* the last is that of all others, if `has_others` */
  bool has_others, is_full;
  uint64_t unattributed;
  series_t series[SERIES_MAX + 1];
};

/* --- what there is --- */

/* Of what is printed. */
static void merge(tb__topic_stream_t *into, const tb__topic_stream_t *from)
{
  for (size_t i = 0; i < TB__STAMP_KIND_COUNT; i++)
    into->stamps.kinds[i] += from->stamps.kinds[i];
  into->stamps.equal += from->stamps.equal;
  into->stamps.backward += from->stamps.backward;
  into->stamps.arrivals += from->stamps.arrivals;
  if (from->stamps.gap.max_ns > into->stamps.gap.max_ns)
    into->stamps.gap.max_ns = from->stamps.gap.max_ns;
  into->bytes += from->bytes;
  into->not_received += from->not_received;
  into->gaps += from->gaps;
  tb__spread_merge(&into->stamps.age, &from->stamps.age);
  tb__spread_merge(&into->travel, &from->travel);
}

/* Only this thread takes streams away: readers put new ones at the end. */
static observe_stream_t *first_stream(observe_topic_t *topic)
{
  pthread_mutex_lock(&topic->lock);
  observe_stream_t *stream = topic->streams;
  pthread_mutex_unlock(&topic->lock);
  return stream;
}

/* A publisher keeps the series that it has, so that the limit moves no counts. True: there are no
 * more. */
static bool give_series(observe_t *observe)
{
  size_t count = 0;
  for (int round = 0; round < 2; round++)
    for (observe_topic_t *topic = observe->topics; topic; topic = topic->next)
      for (observe_stream_t *stream = first_stream(topic), *next; stream; stream = next) {
        if (round == 0) {
          count += stream->has_series;
        } else if (!stream->has_series && count < SERIES_MAX) {
          stream->has_series = true;
          count++;
        }
        pthread_mutex_lock(&topic->lock);
        next = stream->next;
        pthread_mutex_unlock(&topic->lock);
      }
  return count == SERIES_MAX;
}

static void collect_one_locked(observe_metrics_t *metrics, const observe_topic_t *topic,
                               const observe_stream_t *stream)
{
  series_t *others = &metrics->series[SERIES_MAX];
  if (!stream->has_series && !metrics->is_full) return; /* it has just come */
  if (!stream->has_series) {
    metrics->has_others = true;
    merge(&others->is, &stream->is);
    return;
  }
  series_t *series = &metrics->series[metrics->series_count++];
  series->topic = topic->name;
  series->node = stream->node ? stream->node : "";
  for (size_t i = 0; i < sizeof stream->guid; i++)
    snprintf(series->publisher + 2 * i, 3, "%02x", stream->guid[i]);
  series->is = stream->is;
}

static void collect(observe_metrics_t *metrics)
{
  series_t *others = &metrics->series[SERIES_MAX];
  *others = (series_t){.topic = OVERFLOW, .node = OVERFLOW, .publisher = OVERFLOW};
  metrics->series_count = 0;
  metrics->has_others = false;
  metrics->unattributed = 0;
  metrics->is_full = give_series(metrics->observe);
  for (observe_topic_t *topic = metrics->observe->topics; topic; topic = topic->next)
    for (observe_stream_t *stream = first_stream(topic); stream;) {
      pthread_mutex_lock(&topic->lock);
      collect_one_locked(metrics, topic, stream);
      stream = stream->next;
      pthread_mutex_unlock(&topic->lock);
    }
  for (observe_topic_t *topic = metrics->observe->topics; topic; topic = topic->next) {
    pthread_mutex_lock(&topic->lock);
    metrics->unattributed += topic->unattributed;
    pthread_mutex_unlock(&topic->lock);
  }
}

/* --- as text --- */

static tb__metrics_labels_t labels_of(const series_t *series)
{
  return (tb__metrics_labels_t){
      {{"node", series->node}, {"topic", series->topic}, {"publisher", series->publisher}}};
}

static void put_histogram(observe_metrics_t *metrics, tb__metrics_text_t *text, const char *name,
                          const char *help, tb__metrics_part_t part, bool is_age)
{
  tb__metrics_head(text, name, "histogram", "seconds", help);
  for (size_t i = 0; i <= SERIES_MAX; i++) {
    const series_t *series = &metrics->series[i];
    if (i == SERIES_MAX ? !metrics->has_others : i >= metrics->series_count) continue;
    tb__metrics_labels_t labels = labels_of(series);
    tb__metrics_histogram(text, name, &labels, is_age ? &series->is.stamps.age : &series->is.travel,
                          part);
  }
}

typedef uint64_t (*count_fn_t)(const tb__topic_stream_t *stream);

static uint64_t messages_of(const tb__topic_stream_t *stream)
{
  return stream->stamps.arrivals;
}

static uint64_t bytes_of(const tb__topic_stream_t *stream)
{
  return stream->bytes;
}

static uint64_t gaps_of(const tb__topic_stream_t *stream)
{
  return stream->gaps;
}

static uint64_t missed_of(const tb__topic_stream_t *stream)
{
  return stream->not_received;
}

static void put_counts(observe_metrics_t *metrics, tb__metrics_text_t *text, const char *name,
                       count_fn_t count)
{
  for (size_t i = 0; i <= SERIES_MAX; i++) {
    const series_t *series = &metrics->series[i];
    if (i == SERIES_MAX ? !metrics->has_others : i >= metrics->series_count) continue;
    tb__metrics_labels_t labels = labels_of(series);
    tb__metrics_count(text, name, &labels, count(&series->is));
  }
}

static void put_stamps(observe_metrics_t *metrics, tb__metrics_text_t *text)
{
  static const struct {
    const char *name;
    tb__stamp_kind_t kind;
  } kinds[] = {{"zero", TB__STAMP_ZERO},     {"invalid", TB__STAMP_INVALID},
               {"future", TB__STAMP_FUTURE}, {"system_time", TB__STAMP_SYSTEM},
               {"far_off", TB__STAMP_FAR},   {"stale_epoch", TB__STAMP_STALE_EPOCH},
               {"old", TB__STAMP_OLD}};
  static const char name[] = "timebase_message_stamps_total";
  tb__metrics_head(text, "timebase_message_stamps", "counter", NULL, "Stamps that are wrong");
  for (size_t i = 0; i <= SERIES_MAX; i++) {
    const series_t *series = &metrics->series[i];
    if (i == SERIES_MAX ? !metrics->has_others : i >= metrics->series_count) continue;
    tb__metrics_labels_t labels = labels_of(series);
    labels.of[3].name = "kind";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      labels.of[3].value = kinds[k].name;
      tb__metrics_count(text, name, &labels, series->is.stamps.kinds[kinds[k].kind]);
    }
    labels.of[3].value = "backward";
    tb__metrics_count(text, name, &labels, series->is.stamps.backward);
    labels.of[3].value = "equal";
    tb__metrics_count(text, name, &labels, series->is.stamps.equal);
  }
}

static void put_topics(observe_metrics_t *metrics, tb__metrics_text_t *text)
{
  put_histogram(metrics, text, "timebase_message_age_seconds",
                "ROS time at reception minus the stamp", TB__METRICS_NOT_NEGATIVE, true);
  put_histogram(metrics, text, "timebase_message_ahead_seconds",
                "The same of stamps in the future, without the sign", TB__METRICS_NEGATIVE, true);
  put_histogram(metrics, text, "timebase_source_to_receive_seconds",
                "System time of reception minus that of publishing", TB__METRICS_ALL, false);
  tb__metrics_head(text, "timebase_messages", "counter", NULL, "Messages that were received here");
  put_counts(metrics, text, "timebase_messages_total", messages_of);
  tb__metrics_head(text, "timebase_message_bytes", "counter", "bytes", "Their size");
  put_counts(metrics, text, "timebase_message_bytes_total", bytes_of);
  tb__metrics_head(text, "timebase_message_gaps", "counter", NULL,
                   "Times without a message as long as a stall");
  put_counts(metrics, text, "timebase_message_gaps_total", gaps_of);
  tb__metrics_head(text, "timebase_messages_not_received", "gauge", NULL,
                   "Messages that were published and did not come here so far");
  put_counts(metrics, text, "timebase_messages_not_received", missed_of);
  put_stamps(metrics, text);
  tb__metrics_head(text, "timebase_messages_unattributed", "counter", NULL,
                   "Messages of publishers above the limit");
  tb__metrics_count(text, "timebase_messages_unattributed_total", NULL, metrics->unattributed);
  tb__metrics_head(text, "timebase_topics_left_out", "gauge", NULL, "Topics above the limit");
  tb__metrics_count(text, "timebase_topics_left_out", NULL, metrics->observe->left_out);
}

static void put_direction(tb__metrics_text_t *text, const char *name, const char *label,
                          const char *value, uint64_t count)
{
  tb__metrics_labels_t labels = {{{label, value}}};
  tb__metrics_count(text, name, &labels, count);
}

static void put_clock(tb__metrics_text_t *text, observe_clock_t *clock)
{
  static tb__ticks_t ticks; /* large */
  static const char jumps[] = "timebase_time_jumps_total",
                    dropped[] = "timebase_ticks_dropped_total";
  pthread_mutex_lock(&clock->lock);
  bool is_expected = clock->is_expected;
  ticks = clock->ticks;
  pthread_mutex_unlock(&clock->lock);
  tb__metrics_head(text, "timebase_clock_publishers", "gauge", NULL,
                   "Publishers of the clock that ticked by turns; 0 without any tick");
  uint32_t publishers = tb__ticks_simultaneous(&ticks);
  if (publishers == 0 && ticks.all.ticks) publishers = 1;
  tb__metrics_count(text, "timebase_clock_publishers", NULL, publishers);
  if (!is_expected) return;
  tb__metrics_head(text, "timebase_clock_rate_hertz", "gauge", "hertz", "Ticks that moved time");
  tb__metrics_number(text, "timebase_clock_rate_hertz", NULL, tb__tick_stream_rate(&ticks.all));
  tb__metrics_head(text, "timebase_real_time_factor", "gauge", NULL,
                   "Seconds of the clock a steady second");
  tb__metrics_number(text, "timebase_real_time_factor", NULL, tb__tick_stream_factor(&ticks.all));
  tb__metrics_head(text, "timebase_clock_stalls", "counter", NULL, "Times that ticks stopped");
  tb__metrics_count(text, "timebase_clock_stalls_total", NULL, ticks.all.stalls);
  tb__metrics_head(text, "timebase_time_jumps", "counter", NULL, "Jumps of the clock");
  put_direction(text, jumps, "direction", "backward", ticks.all.kinds[TB__TICK_BACKWARD]);
  put_direction(text, jumps, "direction", "forward", ticks.all.kinds[TB__TICK_SKIP]);
  tb__metrics_head(text, "timebase_ticks_dropped", "counter", NULL, "Ticks that moved nothing");
  put_direction(text, dropped, "reason", "zero", ticks.all.kinds[TB__TICK_ZERO]);
  put_direction(text, dropped, "reason", "invalid", ticks.all.kinds[TB__TICK_INVALID]);
  put_direction(text, dropped, "reason", "repeated", ticks.all.kinds[TB__TICK_REPEAT]);
}

static void put_paths(observe_t *observe, tb__metrics_text_t *text, const char *name,
                      const char *help, bool is_ros)
{
  static tb__spread_t spread; /* large */
  bool has_head = false;
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    observe_path_t *path = &observe->paths[i];
    if (!observe_is_path(path)) continue;
    if (!has_head) tb__metrics_head(text, name, "histogram", "seconds", help);
    has_head = true;
    pthread_mutex_lock(&path->lock);
    spread = is_ros ? path->is.ros : path->is.steady;
    pthread_mutex_unlock(&path->lock);
    char number[8]; /* two paths may be between the same topics */
    snprintf(number, sizeof number, "%zu", i + 1);
    tb__metrics_labels_t labels = {{{"path", number}, {"from", path->from}, {"to", path->to}}};
    tb__metrics_histogram(text, name, &labels, &spread, TB__METRICS_NOT_NEGATIVE);
  }
}

void observe_metrics_update(observe_metrics_t *metrics)
{
  if (!metrics) return;
  tb__metrics_text_t text = {0};
  collect(metrics);
  put_clock(&text, &metrics->observe->clock);
  put_topics(metrics, &text);
  put_paths(metrics->observe, &text, "timebase_path_latency_seconds",
            "Steady time from an input to its output", false);
  put_paths(metrics->observe, &text, "timebase_path_latency_ros_seconds", "The same in ROS time",
            true);
  tb__metrics_end(&text);
  pthread_mutex_lock(&metrics->lock);
  tb__metrics_text_t before = metrics->text;
  metrics->text = text;
  pthread_mutex_unlock(&metrics->lock);
  free(before.text);
}

/* --- as it is served --- */

static tb_status_t write_text(size_t room, char *out, size_t *out_size, void *user)
{
  observe_metrics_t *metrics = user;
  tb_status_t status = TB_OK;
  pthread_mutex_lock(&metrics->lock);
  const tb__metrics_text_t *text = &metrics->text;
  *out_size = text->size;
  if (text->is_failed)
    status = TB_ERR_NO_MEMORY;
  else if (text->size > room)
    status = TB_ERR_LIMIT;
  else
    memcpy(out, text->text, text->size);
  pthread_mutex_unlock(&metrics->lock);
  return status;
}

int observe_metrics_open(observe_metrics_t **out, observe_t *observe, int port)
{
  tb_error_t error = TB_ERROR_INIT;
  observe_metrics_t *metrics = calloc(1, sizeof *metrics);
  if (!metrics) return command_failed(observe->command, TB_ERR_NO_MEMORY, NULL);
  metrics->observe = observe;
  pthread_mutex_init(&metrics->lock, NULL);
  observe_metrics_update(metrics);
  const tb_metrics_server_options_t options = {
      .write = write_text, .user = metrics, .port = (uint16_t)port};
  tb_status_t status = tb_metrics_server_create(&options, &metrics->server, &error);
  if (status) {
    observe_metrics_close(metrics);
    return command_failed(observe->command, status, &error);
  }
  text_err("timebase %s: metrics are served at http://127.0.0.1:%u/metrics\n",
           observe->command->name, (unsigned)tb_metrics_server_port(metrics->server));
  *out = metrics;
  return EXIT_OK;
}

void observe_metrics_close(observe_metrics_t *metrics)
{
  if (!metrics) return;
  tb_metrics_server_destroy(metrics->server);
  pthread_mutex_destroy(&metrics->lock);
  free(metrics->text.text);
  free(metrics);
}
