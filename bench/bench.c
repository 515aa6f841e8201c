#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* Rows that this build does not have. */
static const struct {
  const char *name, *reason;
} left_out[] = {
#ifndef TB_BENCH_ROS1
    {"now_ros_active_vs_ros1", "built without libroscpp-core-dev"},
#endif
#ifndef TB_BENCH_BAG
    {"mcap_*, seek_indexed, sqlite_read, ros1_to_mcap", "built without TB_WITH_BAG"},
#endif
#ifndef TB_BENCH_ROS1_BAG
    {"ros1_bag_read_none, ros1_bag_read_none_10k, ros1_bag_read_lz4",
     "built without librosbag-dev"},
#endif
#ifndef TB_BENCH_ROS1_GRAPH
    {"ros1_clock_latency, ros1_idle_cpu", "built without python3-rosmaster or libroscpp-dev"},
#endif
#ifndef TB_BENCH_ROS2
    {"clock_topic_latency", "built without TB_WITH_ROS2"},
    {"clock_1khz_cpu_1_node", "built without TB_WITH_ROS2"},
    {"clock_1khz_cpu_100_nodes", "built without TB_WITH_ROS2"},
    {"param_get_round_trip", "built without TB_WITH_ROS2"},
    {"node_create", "built without TB_WITH_ROS2"},
#endif
#ifndef TB_BENCH_RCL_NODE
    {"rcl_*", "built without TB_WITH_ROS2 or TB_WITH_RCL"},
#endif
#ifndef TB_BENCH_COMMAND
    {"observe_cpu", "built without TB_WITH_ROS2 or the command"},
    {"convert_zstd, sqlite_to_mcap, record_cpu",
     "built without TB_WITH_BAG, TB_WITH_ROS2 or the command"},
#endif
#ifndef TB_BENCH_PLAY
    {"play_*", "built without TB_WITH_BAG or TB_WITH_ROS2"},
#endif
    {NULL, NULL},
};

/* More is better. */
static bool is_rate(const row_t *row)
{
  return strstr(row->unit, "/s") != NULL;
}

static bool is_met(const row_t *row, const result_t *result)
{
  double bound = result->against * row->target;
  return is_rate(row) ? result->value >= bound : result->value <= bound;
}

/* With a limit of 0: infinite, unless the value is 0. */
static double ratio_of(const result_t *result)
{
  if (result->against != 0) return result->value / result->against;
  return result->value == 0 ? 0 : INFINITY;
}

static void print_row(const row_t *row, const result_t *result)
{
  printf("%-35s %10.2f %-5s %10.2f %-34s %6.3f  at %s %-5g %s\n", row->name, result->value,
         row->unit, result->against, row->against, ratio_of(result),
         is_rate(row) ? "least" : "most", row->target, is_met(row, result) ? "met" : "MISSED");
  fflush(stdout);
}

static void json_row(FILE *json, const row_t *row, const result_t *result, bool first)
{
  char ratio[32] = "null";
  if (isfinite(ratio_of(result))) snprintf(ratio, sizeof ratio, "%.4f", ratio_of(result));
  fprintf(json,
          "%s\n  {\"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\", \"against\": \"%s\", "
          "\"against_value\": %.4f, \"ratio\": %s, \"target\": %g, \"at_least\": %s, \"met\": %s}",
          first ? "" : ",", row->name, result->value, row->unit, row->against, result->against,
          ratio, row->target, is_rate(row) ? "true" : "false",
          is_met(row, result) ? "true" : "false");
}

static const struct {
  const row_t *rows;
  const int *count;
} tables[] = {
    {core_rows, &core_row_count},         {definition_rows, &definition_row_count},
    {tick_rows, &tick_row_count},         {timer_rows, &timer_row_count},
    {wake_rows, &wake_row_count},         {allocation_rows, &allocation_row_count},
    {shm_rows, &shm_row_count},           {measure_rows, &measure_row_count},
#ifdef TB_BENCH_BAG
    {bag_rows, &bag_row_count},           {sqlite_rows, &sqlite_row_count},
    {check_rows, &check_row_count},       {ros1_mcap_rows, &ros1_mcap_row_count},
#endif
#ifdef TB_BENCH_ROS1_BAG
    {ros1_bag_rows, &ros1_bag_row_count},
#endif
#ifdef TB_BENCH_ROS1_GRAPH
    {ros1_rows, &ros1_row_count},
#endif
#ifdef TB_BENCH_ROS2
    {ros2_rows, &ros2_row_count},         {node_rows, &node_row_count},
#endif
#ifdef TB_BENCH_COMMAND
    {observe_rows, &observe_row_count},
#endif
#if defined(TB_BENCH_COMMAND) && defined(TB_BENCH_BAG)
    {info_rows, &info_row_count},         {convert_rows, &convert_row_count},
    {record_rows, &record_row_count},
#endif
#ifdef TB_BENCH_RCL_NODE
    {rcl_rows, &rcl_row_count},
#endif
#ifdef TB_BENCH_PLAY
    {play_rows, &play_row_count},
#endif
};

/* The row number `i` of all; NULL past the last. */
static const row_t *row_at(int i)
{
  for (size_t table = 0; table < sizeof tables / sizeof *tables; table++) {
    if (i < *tables[table].count) return &tables[table].rows[i];
    i -= *tables[table].count;
  }
  return NULL;
}

static const row_t *find_row(const char *name)
{
  const row_t *row;
  for (int i = 0; (row = row_at(i)); i++)
    if (!strcmp(row->name, name)) return row;
  return NULL;
}

static void print_left_out(FILE *out)
{
  for (int i = 0; left_out[i].name; i++)
    fprintf(out, "left out: %s (%s)\n", left_out[i].name, left_out[i].reason);
}

static int usage(FILE *out)
{
  fprintf(out, "usage: bench [--json FILE] [ROW...]\n\nrows:\n");
  const row_t *row;
  for (int i = 0; (row = row_at(i)); i++)
    fprintf(out, "  %s\n", row->name);
  print_left_out(out);
  return out == stderr ? 2 : 0;
}

typedef struct run {
  FILE *json;
  int done, missed, failed;
} run_t;

static void *do_nothing(void *argument)
{
  return argument;
}

/* glibc takes real locks only after a thread was created, as real programs do. */
static void become_threaded(void)
{
  pthread_t thread;
  if (!pthread_create(&thread, NULL, do_nothing, NULL)) pthread_join(thread, NULL);
}

/* In a process of its own, so that no row depends on the memory and the threads that those before
 * it have left. */
static bool measure(const row_t *row, result_t *out)
{
  int ends[2];
  if (pipe(ends) != 0) return bench_fail(row, "no pipe");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    become_threaded();
    result_t result;
    bool good = row->run(row, &result) && write(ends[1], &result, sizeof result) == sizeof result;
    exit(good ? 0 : 1);
  }
  close(ends[1]);
  if (child < 0) bench_fail(row, "no process for it");
  bool good = read(ends[0], out, sizeof *out) == sizeof *out;
  close(ends[0]);
  int status;
  good = child > 0 && waitpid(child, &status, 0) == child && good;
  if (good && status != 0)
    fprintf(stderr, "bench: %s: measured, but ended with %d\n", row->name, status);
  return good;
}

static void run_row(run_t *run, const row_t *row)
{
  result_t result;
  if (!measure(row, &result)) {
    run->failed++;
    return;
  }
  if (!strcmp(row->against, "limit")) result.against = row->limit;
  print_row(row, &result);
  if (run->json) json_row(run->json, row, &result, run->done == 0);
  run->done++;
  run->missed += !is_met(row, &result);
}

static void run_all(run_t *run)
{
  const row_t *row;
  for (int i = 0; (row = row_at(i)); i++)
    run_row(run, row);
  print_left_out(stdout);
}

int main(int argc, char **argv)
{
  run_t run = {0};
  int first = 1;
  if (argc == 5 && !strcmp(argv[1], BENCH_SHM_PEER))
    return bench_shm_peer(argv[2], argv[3], argv[4]);
#ifdef TB_BENCH_ROS2
  if (argc == 2 && !strcmp(argv[1], BENCH_ROS2_PEER)) return bench_ros2_peer();
  if (argc == 4 && !strcmp(argv[1], BENCH_NODE_PEER)) return bench_node_peer(argv[2], argv[3]);
#endif
#ifdef TB_BENCH_ROS1_GRAPH
  if (argc == 4 && !strcmp(argv[1], BENCH_ROS1_PEER)) return bench_ros1_peer(argv[2], argv[3]);
#endif
#ifdef TB_BENCH_COMMAND
  if (argc == 2 && !strcmp(argv[1], BENCH_OBSERVE_PEER)) return bench_observe_peer();
#endif
#if defined(TB_BENCH_COMMAND) && defined(TB_BENCH_BAG)
  if (argc == 4 && !strcmp(argv[1], BENCH_RECORD_PEER)) return bench_record_peer(argv[2], argv[3]);
#endif
#ifdef TB_BENCH_PLAY
  if (argc == 4 && !strcmp(argv[1], BENCH_PLAY_PEER)) return bench_play_peer(argv[2], argv[3]);
#endif
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
  printf("%-35s %14s %-45s %6s\n", "row", "value", "     against", "ratio");
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
