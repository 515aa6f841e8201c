/* Timers in your own event loop: a queue has a descriptor for epoll, poll or libuv.
 *
 *   event_loop
 *
 * One thread does everything: it reads lines from standard input and makes the calls of its timers,
 * on steady and ROS time, in one queue. Each line is a tick: ROS time advances by a second.
 * Ends with standard input, which is a terminal or a pipe (epoll refuses files):
 *
 *   (for i in 1 2 3; do echo; sleep 0.3; done) | event_loop */
#include <stdio.h>
#include <sys/epoll.h>
#include <timebase/timebase.h>
#include <unistd.h>

static void on_ros_second(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)user;
  printf("event_loop: ROS time %.1f\n", tb_time_to_seconds(info->actual));
}

static void on_steady_period(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer;
  *(int *)user += 1 + (int)info->missed;
}

/* False: end of input. */
static bool read_ticks(tb_source_t *source)
{
  char bytes[64];
  ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
  for (ssize_t i = 0; i < size; i++)
    if (bytes[i] == '\n') tb_manual_source_advance(source, TB_SECONDS(1));
  return size > 0;
}

/* A tick only marks timers as due: the descriptor of the queue becomes readable, and run_due makes
 * the calls on this thread. */
static tb_status_t loop(int set, tb_source_t *source, tb_timer_queue_t *queue)
{
  for (bool more = true; more;) {
    struct epoll_event events[2];
    int count = epoll_wait(set, events, 2, -1); /* no timeout: the queue knows its deadlines */
    if (count < 0) continue;                    /* a signal */
    for (int i = 0; i < count; i++)
      if (events[i].data.fd == STDIN_FILENO) more = read_ticks(source);
    /* The last ticks may have made timers due; it does not matter if none is. */
    tb_status_t status = tb_timer_queue_run_due(queue, NULL);
    if (status) return status;
  }
  return TB_OK;
}

static int watch(int set, int fd)
{
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
}

int main(void)
{
  int periods = 0;
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_steady_clock_t *steady = NULL;
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *ros_timer, *steady_timer;
  tb_timer_options_t each_second = {.period = TB_SECONDS(1), .callback = on_ros_second};
  tb_steady_timer_options_t often = {
      .period = TB_MS(50), .callback = on_steady_period, .user = &periods};
  tb_clock_options_t ros = TB_CLOCK_OPTIONS_INIT;
  tb_status_t status = tb_manual_source_create(&source);
  ros.source = source;
  if (!status) status = tb_manual_source_set(source, 100 * TB_NS_PER_S);
  if (!status) status = tb_clock_create(&ros, &clock);
  if (!status) status = tb_steady_clock_create(&steady);
  if (!status) status = tb_timer_queue_create(&queue);
  if (!status) status = tb_timer_create(queue, clock, &each_second, &ros_timer);
  if (!status) status = tb_timer_create(queue, steady, &often, &steady_timer);
  if (!status) status = tb_timer_start(ros_timer);
  if (!status) status = tb_timer_start(steady_timer);
  int set = epoll_create1(EPOLL_CLOEXEC);
  if (!status && (watch(set, STDIN_FILENO) || watch(set, tb_timer_queue_fd(queue)))) {
    perror("event_loop: epoll"); /* epoll does not support regular files: use a pipe */
    status = TB_ERR_SYSTEM;
  }
  if (!status) status = loop(set, source, queue);
  if (status) fprintf(stderr, "event_loop: %s\n", tb_status_message(status));
  printf("event_loop: %d periods of 50 ms on the wall\n", periods);
  close(set);
  tb_timer_queue_destroy(queue);
  tb_clock_destroy(clock);
  tb_steady_clock_destroy(steady);
  tb_source_destroy(source);
  return status != TB_OK;
}
