#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCHES 401

int64_t bench_now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(double *numbers, int count)
{
  qsort(numbers, (size_t)count, sizeof *numbers, compare);
  return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

static double batch_ns(batch_t batch, void *context, int64_t times)
{
  int64_t start = bench_now_ns();
  batch(context, times);
  return (double)(bench_now_ns() - start) / (double)times;
}

result_t bench_compare(batch_t value, batch_t against, void *context, int64_t times)
{
  double values[BATCHES], others[BATCHES];
  batch_ns(value, context, times);
  batch_ns(against, context, times);
  for (int i = 0; i < BATCHES; i++) {
    values[i] = batch_ns(value, context, times);
    others[i] = batch_ns(against, context, times);
  }
  return (result_t){bench_median(values, BATCHES), bench_median(others, BATCHES)};
}

bool bench_fail(const row_t *row, const char *what)
{
  fprintf(stderr, "bench: %s: %s\n", row->name, what);
  return false;
}

static void print_row(const row_t *row, const result_t *result)
{
  double ratio = result->value / result->against;
  printf("%-24s %10.2f %-3s %10.2f %-34s %6.3f  at most %-5g %s\n", row->name, result->value,
         row->unit, result->against, row->against, ratio, row->target,
         ratio <= row->target ? "met" : "MISSED");
  fflush(stdout);
}

static void json_row(FILE *json, const row_t *row, const result_t *result, bool first)
{
  double ratio = result->value / result->against;
  fprintf(json,
          "%s\n  {\"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\", \"against\": \"%s\", "
          "\"against_value\": %.4f, \"ratio\": %.4f, \"target\": %g, \"met\": %s}",
          first ? "" : ",", row->name, result->value, row->unit, row->against, result->against,
          ratio, row->target, ratio <= row->target ? "true" : "false");
}

/* The row number `i` of all; NULL past the last. */
static const row_t *row_at(int i)
{
  if (i < core_row_count) return &core_rows[i];
  i -= core_row_count;
  if (i < timer_row_count) return &timer_rows[i];
#ifdef TB_BENCH_ROS2
  i -= timer_row_count;
  if (i < ros2_row_count) return &ros2_rows[i];
#endif
  return NULL;
}

static const row_t *find_row(const char *name)
{
  const row_t *row;
  for (int i = 0; (row = row_at(i)); i++)
    if (!strcmp(row->name, name)) return row;
  return NULL;
}

static int usage(FILE *out)
{
  fprintf(out, "usage: bench [--json FILE] [ROW...]\n\nrows:\n");
  const row_t *row;
  for (int i = 0; (row = row_at(i)); i++)
    fprintf(out, "  %s\n", row->name);
  return out == stderr ? 2 : 0;
}

typedef struct run {
  FILE *json;
  int done, missed, failed;
} run_t;

static void run_row(run_t *run, const row_t *row)
{
  result_t result;
  if (!row->run(row, &result)) {
    run->failed++;
    return;
  }
  if (row->limit > 0) result.against = row->limit;
  print_row(row, &result);
  if (run->json) json_row(run->json, row, &result, run->done == 0);
  run->done++;
  run->missed += result.value / result.against > row->target;
}

static void run_all(run_t *run)
{
  const row_t *row;
  for (int i = 0; (row = row_at(i)); i++)
    run_row(run, row);
}

int main(int argc, char **argv)
{
  run_t run = {0};
  int first = 1;
  if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) return usage(stdout);
  if (argc > 2 && !strcmp(argv[1], "--json")) {
    run.json = fopen(argv[2], "w");
    if (!run.json) {
      perror(argv[2]);
      return 3;
    }
    first = 3;
  }
  for (int i = first; i < argc; i++)
    if (!find_row(argv[i])) return usage(stderr);
  printf("%-24s %14s %-45s %6s\n", "row", "value", "     against", "ratio");
  if (run.json) fprintf(run.json, "{\"rows\": [");
  if (first == argc) run_all(&run);
  for (int i = first; i < argc; i++)
    run_row(&run, find_row(argv[i]));
  if (run.json) {
    fprintf(run.json, "\n]}\n");
    if (fclose(run.json)) {
      perror(argv[2]);
      return 3;
    }
  }
  printf("%d rows, %d missed, %d failed\n", run.done, run.missed, run.failed);
  return run.failed ? 3 : 0;
}
