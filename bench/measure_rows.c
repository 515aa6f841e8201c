/* What measuring costs the code that is measured. */
#include <stddef.h>
#include <timebase/histogram.h>

#include "bench.h"

#define RECORDS 100000
#define VALUES  1024

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

const row_t measure_rows[] = {
    {"histogram_record", "ns", "limit", 1, histogram_record, 10},
};
const int measure_row_count = sizeof measure_rows / sizeof *measure_rows;
