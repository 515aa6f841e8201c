#include "clock_gauge.h"

#include <math.h>
#include <string.h>

#include "definition/hash.h"
#include "definition/message.h"
#include "json.h"
#include "publishers.h"
#include "ros1_ticks.h"
#include "text.h"

#define DEPTH         50 /* ticks come faster than a busy machine takes them */
#define LATENCY_SHARE 0.999
#define NS_PER_US     1000

#define SECONDS(ns) ((double)(ns) / (double)TB_NS_PER_S)

/* --- one tick --- */

/* Never 0, which is "not known". */
uint64_t clock_publisher_id(const uint8_t guid[16])
{
  uint64_t hash = tb__hash_bytes(TB__HASH_START, guid, 16);
  return hash ? hash : 1;
}

static uint32_t word_at(const uint8_t *bytes, bool is_little)
{
  uint32_t word = 0;
  for (int i = 0; i < 4; i++)
    word |= (uint32_t)bytes[i] << (is_little ? 8 * i : 24 - 8 * i);
  return word;
}

bool clock_tick_read(const tb_ros2_sample_t *sample, int64_t *out_ns)
{
  const uint8_t *bytes = sample->cdr;
  if (sample->size < 12) return false;
  bool is_little = bytes[1] & 1;
  *out_ns =
      tb__time_of_fields((int32_t)word_at(bytes + 4, is_little), word_at(bytes + 8, is_little));
  return true;
}

void clock_latency_add(tb__spread_t *latency, const tb_ros2_sample_t *sample)
{
  int64_t latency_ns;
  if (!__builtin_sub_overflow(sample->receive_timestamp_ns, sample->source_timestamp_ns,
                              &latency_ns))
    tb__spread_add(latency, latency_ns);
}

/* --- the error --- */

/* A quantile is the middle of a bin: the bound is its end. */
static int64_t bound_of(const tb__spread_t *latency)
{
  int64_t bound_ns = tb__spread_quantile(latency, LATENCY_SHARE);
  if (bound_ns > 0) bound_ns += bound_ns / TB__SPREAD_STEPS + NS_PER_US;
  return bound_ns < latency->moments.max_ns ? bound_ns : latency->moments.max_ns;
}

clock_error_t clock_error_make(const tb__tick_stream_t *ticks, const tb__spread_t *latency)
{
  clock_error_t error = {.factor = tb__tick_stream_factor(ticks),
                         .rate_hz = tb__tick_stream_rate(ticks),
                         .latency_ns = bound_of(latency)};
  if (!latency->moments.count) return error;
  if (ticks->usual_step_ns > 0) error.step_ns = ticks->longest_step_ns;
  if (error.step_ns > 0 && error.factor > 0 && error.latency_ns >= 0)
    error.error_ns = (int64_t)ceil(error.factor * (double)error.latency_ns) + error.step_ns;
  return error;
}

/* The longest tick is as much longer than the others at another rate. */
double clock_error_rate(const clock_error_t *error, int64_t allowed_ns)
{
  double left = SECONDS(allowed_ns) - error->factor * SECONDS(error->latency_ns);
  return left > 0 ? ceil(error->rate_hz * SECONDS(error->step_ns) / left) : 0;
}

double clock_error_factor(const clock_error_t *error, int64_t allowed_ns)
{
  return error->error_ns > 0 ? error->factor * (double)allowed_ns / (double)error->error_ns : 0;
}

void clock_error_print(const clock_error_t *error, int64_t allowed_ns)
{
  if (!error->error_ns) return;
  text_out("its time is wrong by at most %.1f ms", 1e3 * SECONDS(error->error_ns));
  if (!allowed_ns) return;
  double rate_hz = clock_error_rate(error, allowed_ns);
  text_out(" (allowed are %.1f ms: ", 1e3 * SECONDS(allowed_ns));
  if (rate_hz > 0) text_out("from %.0f Hz on at this factor, or ", rate_hz);
  text_out("up to a factor of %.3f at this rate)", clock_error_factor(error, allowed_ns));
}

static json_t *number_json(double value, bool is_known)
{
  return is_known ? json_real(value) : json_null();
}

void clock_error_put(json_t *object, const clock_error_t *error, int64_t allowed_ns)
{
  bool is_known = error->error_ns > 0;
  json_put(object, "error_ns", is_known ? json_integer(error->error_ns) : json_null());
  json_put(object, "error_latency_ns", is_known ? json_integer(error->latency_ns) : json_null());
  json_put(object, "error_step_ns", is_known ? json_integer(error->step_ns) : json_null());
  json_put(object, "max_error_ns", allowed_ns ? json_integer(allowed_ns) : json_null());
  if (!allowed_ns) return;
  double rate_hz = clock_error_rate(error, allowed_ns);
  json_put(object, "rate_for_max_error_hz", number_json(rate_hz, is_known && rate_hz > 0));
  json_put(object, "rtf_for_max_error",
           number_json(clock_error_factor(error, allowed_ns), is_known));
}

/* --- gathering --- */

static int64_t steady_now(const clock_gauge_t *gauge)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(gauge->steady, &now);
  return now.ns;
}

/* On a thread of DDS. */
void clock_gauge_feed(const tb_ros2_sample_t *sample, void *user)
{
  clock_gauge_t *gauge = user;
  int64_t tick_ns, now_ns = steady_now(gauge);
  if (!clock_tick_read(sample, &tick_ns)) return;
  pthread_mutex_lock(&gauge->mutex);
  tb__ticks_feed(&gauge->ticks, clock_publisher_id(sample->writer_guid), tick_ns, now_ns);
  clock_latency_add(&gauge->latency, sample);
  pthread_mutex_unlock(&gauge->mutex);
}

int clock_gauge_begin(const command_t *command, clock_gauge_t *out)
{
  memset(out, 0, sizeof *out);
  tb_status_t status = tb_steady_clock_create(&out->steady);
  if (status) return command_failed(command, status, NULL);
  pthread_mutex_init(&out->mutex, NULL);
  tb__ticks_init(&out->ticks, NULL, true);
  out->begin_ns = steady_now(out);
  return EXIT_OK;
}

int clock_gauge_open(const command_t *command, tb_ros2_context_t *context, const char *topic,
                     clock_gauge_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  tb_ros2_subscription_options_t options = {clock_gauge_feed, out};
  qos.depth = DEPTH;
  int result = clock_gauge_begin(command, out);
  if (result) return result;
  tb_status_t status = tb_ros2_subscription_create(context, topic, CLOCK_TYPE, &qos, &options,
                                                   &out->subscription, &error);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

void clock_gauge_close(clock_gauge_t *gauge)
{
  if (!gauge->steady) return;
  tb_ros2_subscription_destroy(gauge->subscription);
  ros1_gauge_close(gauge);
  pthread_mutex_destroy(&gauge->mutex);
  tb_steady_clock_destroy(gauge->steady);
  gauge->steady = NULL;
}

bool clock_gauge_listens(const clock_gauge_t *gauge)
{
  return gauge->subscription || gauge->ros1 || gauge->is_fed;
}

uint32_t clock_gauge_publishers(clock_gauge_t *gauge)
{
  pthread_mutex_lock(&gauge->mutex);
  uint32_t count = gauge->ticks.publisher_count + (gauge->ticks.unattributed > 0);
  pthread_mutex_unlock(&gauge->mutex);
  return count;
}

void clock_gauge_restart(clock_gauge_t *gauge)
{
  pthread_mutex_lock(&gauge->mutex);
  tb__ticks_init(&gauge->ticks, NULL, true);
  memset(&gauge->latency, 0, sizeof gauge->latency);
  gauge->begin_ns = steady_now(gauge);
  pthread_mutex_unlock(&gauge->mutex);
}

/* The name of the publisher that is left stays with it. */
void clock_gauge_go_on_locked(clock_gauge_t *gauge)
{
  tb__ticks_t before = gauge->ticks;
  tb__ticks_init_after(&gauge->ticks, &before);
  for (uint32_t i = 1; gauge->ticks.publisher_count && i < before.publisher_count; i++)
    if (gauge->names[i].id == gauge->ticks.publishers[0].id) gauge->names[0] = gauge->names[i];
  memset(&gauge->latency, 0, sizeof gauge->latency);
  gauge->begin_ns = steady_now(gauge);
}

static void find_double(const tb__ticks_t *ticks, clock_gauge_facts_t *facts)
{
  for (uint32_t i = 0; i < ticks->publisher_count; i++) {
    const tb__tick_stream_t *stream = &ticks->publishers[i].stream;
    if (!tb__tick_stream_is_double(stream)) continue;
    facts->is_double = true;
    if (stream->apart_ns > facts->apart_ns) facts->apart_ns = stream->apart_ns;
  }
}

clock_gauge_facts_t clock_gauge_read(clock_gauge_t *gauge)
{
  clock_gauge_facts_t facts = {0};
  pthread_mutex_lock(&gauge->mutex);
  const tb__tick_stream_t *all = &gauge->ticks.all;
  facts.span_ns = steady_now(gauge) - gauge->begin_ns;
  facts.publishers = tb__ticks_simultaneous(&gauge->ticks);
  find_double(&gauge->ticks, &facts);
  facts.repeats = all->kinds[TB__TICK_REPEAT];
  facts.distinct =
      all->ticks - all->kinds[TB__TICK_ZERO] - all->kinds[TB__TICK_INVALID] - facts.repeats;
  facts.rate_hz = tb__tick_stream_rate(all);
  facts.factor = tb__tick_stream_factor(all);
  facts.step_ns = all->usual_step_ns;
  facts.error = clock_error_make(all, &gauge->latency);
  pthread_mutex_unlock(&gauge->mutex);
  return facts;
}
