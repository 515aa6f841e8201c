/* What happened over time, in bins: as many as fit, whatever the length. All series of a report
 * share one axis of time. Where time grows beyond the bins they are merged by two, each series
 * when it is used next. Fixed memory, no allocation. One thread at a time. */
#ifndef TB_CONTRACT_SERIES_H
#define TB_CONTRACT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  TB__AXIS_BINS = 256,
  TB__BAND_BINS = TB__AXIS_BINS / 2 + 1, /* of two bins of the axis, at even places */
  TB__BAND_KEPT = 21,                    /* values kept of each bin, for quantiles */
};

/* Where bins are: bin i is the time from (base + i) << shift on, in ns. */
typedef struct tb__axis_place {
  uint32_t round; /* how often the axis began again */
  int shift;
  int64_t base;
} tb__axis_place_t;

/* All zero: empty. */
typedef struct tb__axis {
  tb__axis_place_t place;
  int64_t min_ns, max_ns;
  uint64_t inside, outside; /* samples */
  uint64_t away;            /* outside, next to each other, since the last one inside */
  int64_t away_ns;          /* the last of them */
} tb__axis_t;

/* False: the time is not on the axis. It is 0 or less ("no time yet"), or further from the others
 * than a day and than a hundred times their range: one wrong time would hide all others. Where such
 * times turn out to be the many, the axis begins again with them. */
bool tb__axis_add(tb__axis_t *axis, int64_t time_ns);
/* Whether a time is between those that are on the axis. */
bool tb__axis_covers(const tb__axis_t *axis, int64_t time_ns);
/* Bins in use, 0 if it is empty. */
size_t tb__axis_count(const tb__axis_t *axis);
/* The place of a time in bins, of one on the axis: from 0 to tb__axis_count. */
double tb__axis_position(const tb__axis_t *axis, int64_t time_ns);

/* Samples of each bin. All zero: empty. Times are on the axis. */
typedef struct tb__counts {
  tb__axis_place_t place;
  uint32_t bins[TB__AXIS_BINS];
} tb__counts_t;

void tb__counts_add(tb__counts_t *counts, const tb__axis_t *axis, int64_t time_ns);
void tb__counts_follow(tb__counts_t *counts, const tb__axis_t *axis);

/* Values of each bin: how many, extremes, and some for quantiles. */
typedef struct tb__band {
  uint32_t count; /* stays at its greatest value */
  float min, max;
  float kept[TB__BAND_KEPT]; /* the lesser of count and TB__BAND_KEPT */
} tb__band_t;

/* All zero: empty. The choice of values is the same for the same input. */
typedef struct tb__bands {
  tb__axis_place_t place;
  uint32_t random;
  tb__band_t bins[TB__BAND_BINS]; /* bin i is (place.base >> 1) + i, of twice the width */
} tb__bands_t;

void tb__bands_add(tb__bands_t *bands, const tb__axis_t *axis, int64_t time_ns, double value);
void tb__bands_follow(tb__bands_t *bands, const tb__axis_t *axis);

/* Of some bins together: 5 %, median, 95 % and extremes. count 0: there are no values. */
typedef struct tb__band_summary {
  uint64_t count;
  double min, low, median, high, max;
} tb__band_summary_t;

tb__band_summary_t tb__bands_summary(const tb__bands_t *bands, size_t first, size_t count);

/* Ticks of a clock in each bin. */
typedef struct tb__beat {
  uint32_t count;
  uint32_t steps;              /* ordinary ones, that end in the bin */
  int64_t step_ns, arrival_ns; /* sums of these, and of the time they took */
  int64_t first_ns, last_ns;   /* ticks, in the order of arrival */
} tb__beat_t;

/* All zero: empty. */
typedef struct tb__beats {
  tb__axis_place_t place;
  tb__beat_t bins[TB__AXIS_BINS];
} tb__beats_t;

/* `step_ns` and `took_ns` are 0 where the tick was no ordinary step. */
void tb__beats_add(tb__beats_t *beats, const tb__axis_t *axis, int64_t time_ns, int64_t tick_ns,
                   int64_t step_ns, int64_t took_ns);
void tb__beats_follow(tb__beats_t *beats, const tb__axis_t *axis);
/* `count` bins from `first` on, as one. */
tb__beat_t tb__beats_sum(const tb__beats_t *beats, size_t first, size_t count);

#endif
