/* The buckets of OpenMetrics histograms of times, the same wherever they are written. */
#ifndef TB_BASE_METRIC_BUCKETS_H
#define TB_BASE_METRIC_BUCKETS_H

#include <stdint.h>

#define TB__FIRST_POSITIVE_BUCKET 5

/* Upper bounds; the text is in seconds. */
static const struct tb__metric_bucket {
  const char *text;
  int64_t ns;
} tb__metric_buckets[] = {
    {"-1.0", -1000000000}, {"-0.1", -100000000}, {"-0.01", -10000000},
    {"-0.001", -1000000},  {"0.0", 0},           {"0.0001", 100000},
    {"0.001", 1000000},    {"0.005", 5000000},   {"0.01", 10000000},
    {"0.025", 25000000},   {"0.05", 50000000},   {"0.1", 100000000},
    {"0.25", 250000000},   {"0.5", 500000000},   {"1.0", 1000000000},
    {"2.5", 2500000000},   {"5.0", 5000000000},  {"10.0", 10000000000},
    {"+Inf", INT64_MAX},
};

#define TB__METRIC_BUCKET_COUNT (sizeof tb__metric_buckets / sizeof *tb__metric_buckets)

#endif
