/* What measuring costs the code that is measured. */
#include <stddef.h>
#include <time.h>
#include <timebase/timebase.h>

#include "bench.h"

#define RECORDS  100000
#define VALUES   1024
#define MESSAGES 10000

typedef struct subject {
  tb_histogram_t *histogram;
  tb_histogram_writer_t *writer;
  int64_t values_ns[VALUES];
} subject_t;

static void record(void *context, int64_t times)
{
  const subject_t *subject = context;
  for (int64_t i = 0; i < times; i++)
    tb_histogram_record(subject->writer, (tb_duration_t){subject->values_ns[i % VALUES]});
}

static void do_nothing(void *context, int64_t times)
{
  const subject_t *subject = context;
  for (int64_t i = 0; i < times; i++)
    __asm__ volatile("" : : "r"(subject->values_ns[i % VALUES]) : "memory");
}

/* Latencies from 0.1 ms to 6.5 ms, in no order, and a few ages in the future. */
static bool histogram_record(const row_t *row, result_t *out)
{
  static subject_t subject;
  uint64_t random = 1;
  if (tb_histogram_create(NULL, &subject.histogram) ||
      tb_histogram_writer_create(subject.histogram, &subject.writer))
    return bench_fail(row, "no histogram");
  for (int i = 0; i < VALUES; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int64_t size_ns = (INT64_C(1) << (random >> 40) % 6) * (100000 + (int64_t)(random >> 48));
    subject.values_ns[i] = (random >> 33) % 64 ? size_ns : -size_ns;
  }
  *out = bench_compare(record, do_nothing, &subject, RECORDS);
  tb_histogram_destroy(subject.histogram);
  return true;
}

/* ---- what a callback of a subscription records ---- */

typedef struct telemetry {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_statistics_t *statistics;
  tb_topic_statistics_t *topic;
  tb_topic_message_t message;
} telemetry_t;

static void begin_and_end(void *context, int64_t times)
{
  telemetry_t *self = context;
  for (int64_t i = 0; i < times; i++) {
    self->message.sequence++;
    self->message.stamp_ns++;
    tb_topic_statistics_begin(self->topic, &self->message);
    tb_topic_statistics_end(self->topic);
  }
}

static void count_only(void *context, int64_t times)
{
  telemetry_t *self = context;
  for (int64_t i = 0; i < times; i++) {
    self->message.sequence++;
    self->message.stamp_ns++;
    __asm__ volatile("" : : "r"(self) : "memory");
  }
}

static tb_status_t telemetry_make(telemetry_t *self)
{
  tb_status_t status = tb_manual_source_create(&self->source);
  if (!status) status = tb_manual_source_set(self->source, 100 * TB_NS_PER_S);
  if (!status)
    status = tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, self->source}, &self->clock);
  if (!status)
    status = tb_statistics_create(
        &(tb_statistics_options_t){.node = "/bench", .clock = self->clock}, &self->statistics);
  if (!status)
    status = tb_topic_statistics_create(
        self->statistics, &(tb_topic_statistics_options_t){.topic = "/image"}, &self->topic);
  return status;
}

/* All that can be known of a message: seven histograms. */
static bool telemetry_callback(const row_t *row, result_t *out)
{
  static telemetry_t self;
  bool made = !telemetry_make(&self);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t sent_ns = INT64_C(4000000000) * TB_NS_PER_S, transport_ns = 1000;
  const int64_t now_ns = now.tv_sec * TB_NS_PER_S + now.tv_nsec;
  self.message = (tb_topic_message_t){.stamp_ns = 99 * TB_NS_PER_S,
                                      .source_timestamp_ns = sent_ns,
                                      .receive_timestamp_ns = sent_ns + transport_ns,
                                      /* sent after the statistics were made: no history */
                                      .receive_steady_ns = now_ns + transport_ns,
                                      .writer_guid = {7},
                                      .has_stamp = true};
  if (made) *out = bench_compare(begin_and_end, count_only, &self, MESSAGES);
  tb_statistics_destroy(self.statistics);
  tb_clock_destroy(self.clock);
  tb_source_destroy(self.source);
  return made || bench_fail(row, "no statistics");
}

const row_t measure_rows[] = {
    {"histogram_record", "ns", "limit", 1, histogram_record, 10},
    {"telemetry_callback", "ns", "limit", 1, telemetry_callback, 150},
};
const int measure_row_count = sizeof measure_rows / sizeof *measure_rows;
