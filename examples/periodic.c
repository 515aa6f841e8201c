/* A node that works once a period of ROS time, in two ways: a loop with a rate, and a timer that
 * another thread calls.
 *
 *   periodic [SPEED]
 *
 * The program makes ROS time itself, SPEED times as fast as wall time (default 10), so that it runs
 * without ROS. With another source, such as that of timebase/ros2_clock_source.h, nothing else
 * changes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/timebase.h>

#define ROUNDS 5

/* Stands in for a simulator: a tick every 10 ms of ROS time. */
typedef struct simulator {
  tb_source_t *source;
  double speed;
  atomic_bool stop;
} simulator_t;

static void *simulate(void *user)
{
  simulator_t *simulator = user;
  tb_duration_t tick = TB_MS(10), pause;
  tb_steady_clock_t *steady;
  if (tb_duration_scale(tick, 1 / simulator->speed, &pause) || tb_steady_clock_create(&steady))
    return NULL;
  tb_manual_source_set(simulator->source, 100 * TB_NS_PER_S);
  while (!atomic_load(&simulator->stop)) {
    tb_sleep_for(steady, pause, NULL);
    tb_manual_source_advance(simulator->source, tick);
  }
  tb_steady_clock_destroy(steady);
  return NULL;
}

/* On the queue's thread. Deadlines do not drift: `scheduled` is always a whole number of periods
 * after the first, and missed calls are counted. */
static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)user;
  printf("timer: due at %.3f, called at %.3f, %llu missed\n", tb_time_to_seconds(info->scheduled),
         tb_time_to_seconds(info->actual), (unsigned long long)info->missed);
}

static tb_status_t work(tb_clock_t *clock, tb_rate_t *rate)
{
  /* No limit in steady time: with a source that may stop or pause, set one. */
  for (int i = 0; i < ROUNDS; i++) {
    tb_time_t now;
    tb_rate_result_t result;
    tb_status_t status = tb_rate_sleep(rate, NULL, &result);
    if (!status) status = tb_now(clock, &now);
    if (status) return status;
    printf("rate: round %d at %.3f%s, %llu missed\n", i + 1, tb_time_to_seconds(now),
           result.late ? ", late" : "", (unsigned long long)result.missed);
  }
  return TB_OK;
}

int main(int argc, char **argv)
{
  simulator_t simulator = {.speed = argc > 1 ? strtod(argv[1], NULL) : 10};
  tb_clock_t *clock = NULL;
  tb_rate_t *rate = NULL;
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *timer;
  pthread_t thread;
  if (!(simulator.speed > 0) || tb_manual_source_create(&simulator.source)) return 2;
  tb_clock_options_t ros = TB_CLOCK_OPTIONS_INIT;
  ros.source = simulator.source;
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = TB_NS_PER_S;
  options.callback = on_timer;
  tb_status_t status = tb_clock_create(&ros, &clock);
  if (!status) status = tb_rate_create(clock, TB_MS(500), &rate);
  if (!status) status = tb_timer_queue_create(&queue);
  if (!status) status = tb_timer_create(queue, clock, &options, &timer);
  if (!status) status = tb_timer_start(timer); /* both count from the first tick */
  if (!status) status = tb_timer_queue_start_thread(queue);
  if (!status && !pthread_create(&thread, NULL, simulate, &simulator)) {
    status = work(clock, rate);
    atomic_store(&simulator.stop, true);
    pthread_join(thread, NULL);
  }
  if (status) fprintf(stderr, "periodic: %s\n", tb_status_message(status));
  tb_timer_queue_destroy(queue); /* destroys its timers too */
  tb_rate_destroy(rate);
  tb_clock_destroy(clock);
  tb_source_destroy(simulator.source);
  return status != TB_OK;
}
