/* A buffer of transforms, as tf2 has one, that survives jumps of time.
 *
 *   transform_buffer
 *
 * It keeps the last ten seconds of each edge and interpolates between two stamps. When a recording
 * loops or a simulation is reset, what it holds belongs to the time before: a lookup would answer
 * with where the robot was in the round before. And a transform of that time may be on its way
 * still. A reset (timebase/reset.h) solves both: stamps of before are not accepted, and what the
 * buffer holds is dropped by whichever thread uses it first after the jump. No jump handler takes
 * its mutex, so none can block on a thread that reads the time. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <timebase/timebase.h>

#define EDGES   8
#define ENTRIES 128
#define KEPT_NS (10 * TB_NS_PER_S)

typedef struct entry {
  int64_t stamp_ns;
  double x; /* in place of a pose */
} entry_t;

typedef struct edge {
  char child[32];
  bool is_static;
  unsigned first, count;
  entry_t entries[ENTRIES]; /* a ring, in order of stamps */
} edge_t;

typedef struct buffer {
  tb_reset_t *reset;
  pthread_mutex_t mutex; /* of the following */
  uint64_t generation;
  unsigned clears, late, edge_count;
  edge_t edges[EDGES];
} buffer_t;

static entry_t *entry_at(edge_t *edge, unsigned i)
{
  return &edge->entries[(edge->first + i) % ENTRIES];
}

/* Each access begins with it. Static transforms are right at any time. */
static void drop_old_locked(buffer_t *buffer)
{
  if (!tb_reset_poll(buffer->reset, &buffer->generation)) return;
  for (unsigned i = 0; i < buffer->edge_count; i++)
    if (!buffer->edges[i].is_static) buffer->edges[i].count = 0;
  buffer->clears++;
}

static edge_t *find_locked(buffer_t *buffer, const char *child, bool may_add)
{
  for (unsigned i = 0; i < buffer->edge_count; i++)
    if (!strcmp(buffer->edges[i].child, child)) return &buffer->edges[i];
  if (!may_add || buffer->edge_count == EDGES) return NULL;
  edge_t *edge = &buffer->edges[buffer->edge_count++];
  snprintf(edge->child, sizeof edge->child, "%s", child);
  return edge;
}

static void add_locked(edge_t *edge, entry_t entry)
{
  if (edge->count && entry.stamp_ns <= entry_at(edge, edge->count - 1)->stamp_ns) return;
  while (edge->count &&
         (edge->count == ENTRIES || entry_at(edge, 0)->stamp_ns < entry.stamp_ns - KEPT_NS)) {
    edge->first = (edge->first + 1) % ENTRIES;
    edge->count--;
  }
  edge->count++;
  *entry_at(edge, edge->count - 1) = entry;
}

static void buffer_set_static(buffer_t *buffer, const char *child, double x)
{
  pthread_mutex_lock(&buffer->mutex);
  edge_t *edge = find_locked(buffer, child, true);
  if (edge) {
    edge->is_static = true;
    edge->count = 0;
    add_locked(edge, (entry_t){0, x});
  }
  pthread_mutex_unlock(&buffer->mutex);
}

/* Of a transform that has just been received. The clock is read before the mutex is taken. */
static tb_status_t buffer_set(buffer_t *buffer, const char *child, tb_time_t stamp, double x)
{
  uint64_t generation = 0;
  tb_status_t status = tb_reset_accept(buffer->reset, stamp, &generation);
  pthread_mutex_lock(&buffer->mutex);
  drop_old_locked(buffer);
  /* time may have jumped since the stamp was accepted */
  if (!status && generation != buffer->generation) status = TB_ERR_JUMP_BACKWARD;
  edge_t *edge = status ? NULL : find_locked(buffer, child, true);
  if (edge) add_locked(edge, (entry_t){stamp.ns, x});
  if (status) buffer->late++;
  pthread_mutex_unlock(&buffer->mutex);
  return status;
}

static tb_status_t look_up_locked(buffer_t *buffer, const char *child, int64_t at_ns, double *out)
{
  edge_t *edge = find_locked(buffer, child, false);
  if (!edge || !edge->count) return TB_ERR_NOT_FOUND;
  const entry_t *low = entry_at(edge, 0);
  if (edge->is_static) {
    *out = low->x;
    return TB_OK;
  }
  for (unsigned i = 0; i < edge->count; i++) {
    const entry_t *high = entry_at(edge, i);
    if (high->stamp_ns == at_ns) low = high;
    if (high->stamp_ns >= at_ns && low->stamp_ns <= at_ns) {
      double step = (double)(high->stamp_ns - low->stamp_ns);
      double share = step > 0 ? (double)(at_ns - low->stamp_ns) / step : 0;
      *out = low->x + share * (high->x - low->x);
      return TB_OK;
    }
    low = high;
  }
  return TB_ERR_RANGE; /* extrapolation */
}

static tb_status_t buffer_look_up(buffer_t *buffer, const char *child, tb_time_t at, double *out)
{
  pthread_mutex_lock(&buffer->mutex);
  drop_old_locked(buffer);
  tb_status_t status = look_up_locked(buffer, child, at.ns, out);
  pthread_mutex_unlock(&buffer->mutex);
  return status;
}

/* ---- what it does when a recording loops ---- */

static void show(buffer_t *buffer, const char *child, double at_s)
{
  double x = 0;
  tb_time_t at = tb_ros_time_ns((int64_t)(at_s * 1e9));
  tb_status_t status = buffer_look_up(buffer, child, at, &x);
  if (status)
    printf("transform_buffer: %s at %.2f s: %s\n", child, at_s, tb_status_name(status));
  else
    printf("transform_buffer: %s at %.2f s: %.2f\n", child, at_s, x);
}

/* odom moves by 1 m each second from x0 on. */
static tb_status_t drive(tb_source_t *source, tb_clock_t *clock, buffer_t *buffer, double x0)
{
  for (int i = 0; i < 20; i++) {
    tb_time_t now;
    tb_status_t status = tb_manual_source_advance(source, TB_MS(100));
    if (!status) status = tb_clock_now(clock, &now);
    if (!status) status = buffer_set(buffer, "odom", now, x0 + 0.1 * i);
    if (status) return status;
  }
  return TB_OK;
}

static tb_status_t demonstrate(tb_source_t *source, tb_clock_t *clock, buffer_t *buffer)
{
  tb_time_t on_its_way;
  buffer_set_static(buffer, "laser", 0.25);
  tb_status_t status = tb_manual_source_set(source, 100 * TB_NS_PER_S);
  if (!status) status = drive(source, clock, buffer, 0);
  if (!status) status = tb_clock_now(clock, &on_its_way);
  if (status) return status;
  show(buffer, "odom", 101.05);
  status = tb_manual_source_set(source, 50 * TB_NS_PER_S); /* the recording loops */
  if (status) return status;
  show(buffer, "odom", 101.05);
  show(buffer, "laser", 50);
  status = buffer_set(buffer, "odom", on_its_way, 1.9);
  printf("transform_buffer: late: %s\n", tb_status_name(status));
  status = drive(source, clock, buffer, 7);
  if (!status) show(buffer, "odom", 51.05);
  return status;
}

int main(void)
{
  static buffer_t buffer = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_clock_options_t ros = TB_CLOCK_OPTIONS_INIT;
  tb_status_t status = tb_manual_source_create(&source);
  ros.source = source;
  if (!status) status = tb_clock_create(&ros, &clock);
  if (!status) status = tb_reset_create(clock, NULL, &buffer.reset);
  if (!status) buffer.generation = tb_reset_generation(buffer.reset);
  if (!status) status = demonstrate(source, clock, &buffer);
  if (status) fprintf(stderr, "transform_buffer: %s\n", tb_status_message(status));
  printf("transform_buffer: cleared %u time, %u late\n", buffer.clears, buffer.late);
  tb_reset_destroy(buffer.reset);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  return status != TB_OK;
}
