/* A watchdog on steady time: it reports when ROS time does not advance, and when a worker does not
 * report.
 *
 *   watchdog
 *
 * A watchdog must not wait on the time that it watches: when ROS time stops, so does a timer on it.
 * So the watchdog's own timer is on steady time. A worker reports by restarting a one-shot timer
 * before it fires. */
#include <pthread.h>
#include <stdio.h>
#include <timebase/timebase.h>

#define LIMIT_NS  (100 * TB_NS_PER_MS) /* of steady time */
#define PERIOD_NS (20 * TB_NS_PER_MS)

typedef struct watchdog {
  const tb_clock_t *clock;
  int64_t last_ns; /* ROS time when it was last seen to advance */
  tb_steady_time_t moved;
  bool stalled;
  tb_steady_clock_t *steady;
  tb_cancel_token_t *fired; /* cancelled when the worker's timer first fires */
} watchdog_t;

/* Both callbacks run on the queue's one thread, so they share the watchdog without a lock. */
static void check_time(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  watchdog_t *dog = user;
  tb_time_t now;
  tb_duration_t still;
  /* try_now: a slow jump handler blocks now, and a watchdog must not wait. */
  if (tb_clock_try_now(dog->clock, &now) == TB_OK && now.ns != dog->last_ns) {
    if (dog->stalled) printf("watchdog: ROS time advances again\n");
    dog->last_ns = now.ns;
    dog->moved = info->actual;
    dog->stalled = false;
  } else if (!dog->stalled && !tb_diff(info->actual, dog->moved, &still) && still.ns > LIMIT_NS) {
    dog->stalled = true;
    printf("watchdog: ROS time does not advance\n");
  }
}

static void worker_is_late(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer, (void)info;
  watchdog_t *dog = user;
  printf("watchdog: the worker does not report\n");
  tb_cancel_token_cancel(dog->fired);
}

/* Works by ROS time, and reports after each round. Hangs when ROS time does. */
static tb_status_t work(tb_clock_t *clock, tb_timer_t *report, tb_cancel_token_t *give_up)
{
  const tb_wait_options_t options = {.token = give_up};
  for (int round = 1;; round++) {
    tb_timer_start(report); /* restarts it */
    tb_status_t status = tb_sleep_for(clock, TB_SECONDS(1), &options);
    if (status) return status;
    printf("worker: round %d\n", round);
  }
}

/* Stands in for a simulator that runs for three seconds of ROS time and then stops. */
static void *simulate(void *user)
{
  tb_steady_clock_t *steady;
  if (tb_steady_clock_create(&steady)) return NULL;
  for (int i = 0; i < 31; i++) {
    tb_manual_source_set(user, (100 + i) * 100 * TB_NS_PER_MS);
    tb_sleep_for(steady, TB_MS(2), NULL);
  }
  tb_steady_clock_destroy(steady);
  return NULL;
}

int main(void)
{
  watchdog_t dog = {0};
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *look, *report;
  pthread_t simulator;
  tb_clock_options_t ros = TB_CLOCK_OPTIONS_INIT;
  tb_status_t status = tb_manual_source_create(&source);
  ros.source = source;
  if (!status) status = tb_clock_create(&ros, &clock);
  dog.clock = clock;
  if (!status) status = tb_steady_clock_create(&dog.steady);
  if (!status) status = tb_now(dog.steady, &dog.moved);
  if (!status) status = tb_cancel_token_create(&dog.fired);
  if (!status) status = tb_timer_queue_create(&queue);
  tb_steady_timer_options_t options = {.period = {PERIOD_NS}, .callback = check_time, .user = &dog};
  if (!status) status = tb_timer_create(queue, dog.steady, &options, &look);
  options = (tb_steady_timer_options_t){.mode = TB_TIMER_ONE_SHOT,
                                        .period = {3 * LIMIT_NS},
                                        .callback = worker_is_late,
                                        .user = &dog};
  if (!status) status = tb_timer_create(queue, dog.steady, &options, &report);
  if (!status) status = tb_timer_start(look);
  if (!status) status = tb_timer_queue_start_thread(queue);
  if (!status && !pthread_create(&simulator, NULL, simulate, source)) {
    status = work(clock, report, dog.fired); /* ends when the watchdog fires */
    pthread_join(simulator, NULL);
  }
  printf("watchdog: the worker was ended: %s\n", tb_status_message(status));
  tb_timer_queue_destroy(queue);
  tb_cancel_token_destroy(dog.fired);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  tb_steady_clock_destroy(dog.steady);
  return status != TB_ERR_CANCELLED;
}
