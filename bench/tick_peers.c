#include "tick_peers.h"

#include <stdlib.h>
#include <time.h>
#include <timebase/duration.h>
#include <unistd.h>

#define TICKS      4000
#define WARM       200
#define CPU_ROUNDS 17
#define CPU_TICKS  500
#define CPU_WARM   2000

/* The reply: when a tick was seen. */
typedef struct seen {
  int64_t stamp_ns, seen_ns;
} seen_t;

/* Commands select the path of the next tick. */
int tick_latency_read(int64_t (*latest)(void *user, tick_path_t path), void *user)
{
  int64_t last[TICK_PATHS] = {0};
  char command = 'r';
  if (write(STDOUT_FILENO, &command, 1) != 1) return 1;
  while (read(STDIN_FILENO, &command, 1) == 1) {
    tick_path_t path = command ? TICK_BARE : TICK_OURS;
    seen_t seen;
    int64_t give_up = bench_now_ns() + TB_NS_PER_S;
    do {
      seen.stamp_ns = latest(user, path);
      seen.seen_ns = bench_now_ns();
    } while (seen.stamp_ns == last[path] && seen.seen_ns < give_up);
    last[path] = seen.stamp_ns;
    if (write(STDOUT_FILENO, &seen, sizeof seen) != sizeof seen) return 1;
  }
  return 0;
}

static void sleep_until(int64_t at_ns)
{
  struct timespec at = {at_ns / TB_NS_PER_S, at_ns % TB_NS_PER_S};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static bool exchange(const peer_t *peer,
                     void (*publish)(void *user, tick_path_t path, int64_t time_ns), void *user,
                     double *took[TICK_PATHS], int counts[TICK_PATHS])
{
  int64_t next_ns = bench_now_ns();
  for (int i = 0; i < TICKS * TICK_PATHS; i++) {
    tick_path_t path = i % TICK_PATHS ? TICK_BARE : TICK_OURS;
    char command = path == TICK_BARE;
    seen_t seen;
    if (write(peer->in, &command, 1) != 1) return false;
    next_ns += TB_NS_PER_MS;
    sleep_until(next_ns);
    int64_t published_ns = bench_now_ns();
    publish(user, path, published_ns);
    if (read(peer->out, &seen, sizeof seen) != sizeof seen) return false;
    if (i >= WARM && seen.stamp_ns >= published_ns) /* else the tick was lost */
      took[path][counts[path]++] = (double)(seen.seen_ns - seen.stamp_ns) / 1000.0;
    if (next_ns < bench_now_ns()) next_ns = bench_now_ns();
  }
  return true;
}

bool tick_latency_measure(const peer_t *peer,
                          void (*publish)(void *user, tick_path_t path, int64_t time_ns),
                          void *user, result_t *out)
{
  double *took[TICK_PATHS] = {calloc(TICKS, sizeof(double)), calloc(TICKS, sizeof(double))};
  int counts[TICK_PATHS] = {0};
  bool done = took[TICK_OURS] && took[TICK_BARE] && exchange(peer, publish, user, took, counts) &&
              counts[TICK_OURS] > TICKS / 2 && counts[TICK_BARE] > TICKS / 2;
  if (done)
    *out = (result_t){bench_median(took[TICK_OURS], counts[TICK_OURS]),
                      bench_median(took[TICK_BARE], counts[TICK_BARE])};
  free(took[TICK_OURS]);
  free(took[TICK_BARE]);
  return done;
}

static void tick(void (*publish)(void *user, int64_t time_ns), void *user, int count)
{
  int64_t next_ns = bench_now_ns();
  for (int i = 0; i < count; i++) {
    next_ns += TB_NS_PER_MS;
    sleep_until(next_ns);
    publish(user, next_ns);
  }
}

bool tick_cpu_measure(const peer_t *value, const peer_t *against,
                      void (*publish)(void *user, int64_t time_ns), void *user, result_t *out)
{
  const peer_t *peers[] = {value, against};
  double took_us[2][CPU_ROUNDS];
  tick(publish, user, CPU_WARM);
  for (int round = 0; round < CPU_ROUNDS; round++) {
    int64_t before_ns[] = {peer_cpu_ns(value), peer_cpu_ns(against)};
    tick(publish, user, CPU_TICKS);
    for (int i = 0; i < 2; i++) {
      int64_t after_ns = peer_cpu_ns(peers[i]);
      if (before_ns[i] < 0 || after_ns < 0) return false;
      took_us[i][round] = (double)(after_ns - before_ns[i]) / CPU_TICKS / 1000;
    }
  }
  *out = (result_t){bench_median(took_us[0], CPU_ROUNDS), bench_median(took_us[1], CPU_ROUNDS)};
  return true;
}
