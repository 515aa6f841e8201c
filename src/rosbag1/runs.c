#include "rosbag1/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

static bool is_before(uint64_t time_ns, uint64_t other_ns)
{
  return other_ns > TB__ROSBAG1_DISORDER_NS && time_ns < other_ns - TB__ROSBAG1_DISORDER_NS;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* --- connections --- */

/* NULL: out of memory. */
static tb__rosbag1_stream_t *find_stream(tb__rosbag1_runs_t *runs, uint32_t connection)
{
  size_t low = 0, high = runs->stream_count;
  if (runs->found < high && runs->streams[runs->found].connection == connection)
    return &runs->streams[runs->found];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (runs->streams[middle].connection < connection)
      low = middle + 1;
    else
      high = middle;
  }
  runs->found = low;
  if (low < runs->stream_count && runs->streams[low].connection == connection)
    return &runs->streams[low];
  if (runs->stream_count == runs->stream_capacity) {
    size_t capacity = runs->stream_capacity ? 2 * runs->stream_capacity : 16;
    tb__rosbag1_stream_t *streams = reallocarray(runs->streams, capacity, sizeof *streams);
    if (!streams) return NULL;
    runs->streams = streams;
    runs->stream_capacity = capacity;
  }
  tb__rosbag1_stream_t *at = &runs->streams[low];
  memmove(at + 1, at, (runs->stream_count - low) * sizeof *at);
  *at = (tb__rosbag1_stream_t){.connection = connection};
  runs->stream_count++;
  return at;
}

/* What an earlier stretch had, which did not become a run. */
static void settle(const tb__rosbag1_runs_t *runs, tb__rosbag1_stream_t *stream)
{
  if (stream->later_number == runs->later_number) return;
  stream->last_ns = later_of(stream->last_ns, stream->later_last_ns);
  stream->count += stream->later_count;
  stream->later_last_ns = stream->later_count = 0;
  stream->later_number = runs->later_number;
}

/* --- runs --- */

static void stretch_add(tb__rosbag1_stretch_t *stretch, uint64_t time_ns, uint64_t id)
{
  if (stretch->message_count++ == 0) *stretch = (tb__rosbag1_stretch_t){id, time_ns, time_ns, 1};
  if (time_ns < stretch->start_ns) stretch->start_ns = time_ns;
  if (time_ns > stretch->end_ns) stretch->end_ns = time_ns;
}

static tb_status_t put_run(tb__rosbag1_runs_t *runs, tb_error_t *error)
{
  tb__rosbag1_run_t *items = reallocarray(runs->items, runs->count + 1, sizeof *items);
  if (!items) return tb__no_memory(error);
  runs->items = items;
  tb__rosbag1_run_t *run = &items[runs->count];
  *run = (tb__rosbag1_run_t){.first_id = runs->now.first_id,
                             .start_ns = runs->now.start_ns,
                             .end_ns = runs->now.end_ns,
                             .message_count = runs->now.message_count,
                             .counts = calloc(runs->stream_count + 1, sizeof *run->counts)};
  if (!run->counts) return tb__no_memory(error);
  runs->count++;
  for (size_t i = 0; i < runs->stream_count; i++) {
    tb__rosbag1_stream_t *stream = &runs->streams[i];
    settle(runs, stream);
    if (stream->count > 0)
      run->counts[run->count_count++] = (tb__rosbag1_count_t){stream->connection, stream->count};
  }
  return TB_OK;
}

/* What came since time was earlier is the next one. */
static tb_status_t begin_run(tb__rosbag1_runs_t *runs, tb_error_t *error)
{
  if (runs->count + 1 >= TB__ROSBAG1_RUNS_MAX) {
    runs->gave_up = true;
    return TB_OK;
  }
  tb_status_t status = put_run(runs, error);
  if (status) return status;
  for (size_t i = 0; i < runs->stream_count; i++) {
    tb__rosbag1_stream_t *stream = &runs->streams[i];
    *stream = (tb__rosbag1_stream_t){.connection = stream->connection,
                                     .last_ns = stream->later_last_ns,
                                     .count = stream->later_count,
                                     .total = stream->total,
                                     .later_number = runs->later_number + 1};
  }
  runs->later_number++;
  runs->before_ns = runs->now.end_ns;
  runs->now = runs->later;
  runs->later = (tb__rosbag1_stretch_t){0};
  return TB_OK;
}

/* It was disorder: the stretch is part of the run. */
static void join_later(tb__rosbag1_runs_t *runs)
{
  tb__rosbag1_stretch_t *now = &runs->now, *later = &runs->later;
  if (later->start_ns < now->start_ns) now->start_ns = later->start_ns;
  now->message_count += later->message_count;
  *later = (tb__rosbag1_stretch_t){0};
  runs->later_number++;
}

/* From before the jump, but written after it. */
static bool is_straggler(const tb__rosbag1_runs_t *runs, const tb__rosbag1_stream_t *stream,
                         uint64_t time_ns)
{
  return stream->last_ns == 0 && runs->before_ns > 0 && time_ns <= runs->before_ns &&
         is_before(runs->now.end_ns, time_ns);
}

tb_status_t tb__rosbag1_runs_add(tb__rosbag1_runs_t *runs, uint32_t connection, uint64_t time_ns,
                                 uint64_t id, tb_error_t *error)
{
  if (runs->gave_up) return TB_OK;
  tb__rosbag1_stream_t *stream = find_stream(runs, connection);
  if (!stream) return tb__no_memory(error);
  settle(runs, stream);
  stream->total++;
  if (runs->now.message_count > 0 && is_straggler(runs, stream, time_ns)) {
    runs->now.message_count++;
    stream->count++;
    return TB_OK;
  }
  if (runs->now.message_count == 0 || !is_before(time_ns, runs->now.end_ns)) {
    if (runs->later.message_count > 0) join_later(runs);
    settle(runs, stream);
    stretch_add(&runs->now, time_ns, id);
    stream->last_ns = later_of(stream->last_ns, time_ns);
    stream->count++;
    return TB_OK;
  }
  bool jumps = is_before(time_ns, stream->last_ns);
  stretch_add(&runs->later, time_ns, id);
  stream->later_last_ns = later_of(stream->later_last_ns, time_ns);
  stream->later_count++;
  return jumps ? begin_run(runs, error) : TB_OK;
}

static bool are_jumps(const tb__rosbag1_runs_t *runs)
{
  uint64_t most = 0;
  for (size_t i = 0; i < runs->stream_count; i++)
    most = later_of(most, runs->streams[i].total);
  return !runs->gave_up && runs->count > 0 &&
         most / (runs->count + 1) >= TB__ROSBAG1_RUN_MESSAGES_MIN;
}

tb_status_t tb__rosbag1_runs_end(tb__rosbag1_runs_t *runs, tb_error_t *error)
{
  if (!are_jumps(runs)) {
    tb__rosbag1_runs_fini(runs);
    return TB_OK;
  }
  if (runs->later.message_count > 0) join_later(runs);
  return put_run(runs, error);
}

void tb__rosbag1_runs_fini(tb__rosbag1_runs_t *runs)
{
  for (size_t i = 0; i < runs->count; i++)
    free(runs->items[i].counts);
  free(runs->items);
  free(runs->streams);
  *runs = (tb__rosbag1_runs_t){0};
}
