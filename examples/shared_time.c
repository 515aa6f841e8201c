/* One time for several processes of a machine, through memory: no network, no ROS.
 *
 *   shared_time publish NAME
 *   shared_time follow NAME [SECONDS]
 *
 * The publisher, in one terminal, makes a time that runs ten times as fast as the wall clock and
 * loops from 100 s to 105 s until it is ended. A follower, in others, sleeps for
 * SECONDS of that time (default 10), one by one. Start them in any order; end the publisher with
 * Ctrl-C and start it again: its followers continue. The file is /dev/shm/timebase.NAME, and stays.
 *
 * Other programs follow it with TIMEBASE_SOURCE=shm:NAME in their environment, which is the source
 * of all clocks without a source of their own. Returns 0, 1 if time did not advance, 3 on errors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/timebase.h>

#define S     TB_NS_PER_S
#define FIRST (100 * S)
#define LAST  (105 * S)
#define SPEED 10

static int fail(const char *what, tb_status_t status, const tb_error_t *error)
{
  fprintf(stderr, "shared_time: %s: %s\n", what,
          error->text[0] ? error->text : tb_status_message(status));
  return 3;
}

/* An anchor states the time at a steady time, the rate at which it advances, and a bound that it
 * does not pass. So a few anchors a second give a time that is exact to the nanosecond. A new
 * anchor is due before the bound is reached, so time stops soon after the publisher has died. */
static int publish(const char *name)
{
  tb_shm_publisher_t *publisher = NULL;
  tb_steady_clock_t *steady = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  tb_jump_reason_t reason = TB_JUMP_REASON_NONE;
  tb_status_t status = tb_shm_publisher_open(name, NULL, &publisher, &error);
  if (!status) status = tb_steady_clock_create(&steady);
  if (!status) status = tb_now(steady, &anchor.steady);
  anchor.time_ns = FIRST;
  anchor.rate = SPEED;
  while (!status) {
    anchor.bound.ns = LAST - anchor.time_ns < S ? LAST - anchor.time_ns : S;
    status = tb_shm_publisher_anchor(publisher, &anchor, reason);
    if (!status) status = tb_sleep_for(steady, (tb_duration_t){S / 20}, NULL);
    tb_steady_time_t before = anchor.steady;
    tb_now(steady, &anchor.steady);
    anchor.time_ns += (anchor.steady.ns - before.ns) * SPEED;
    reason = anchor.time_ns >= LAST ? TB_JUMP_REASON_LOOP : TB_JUMP_REASON_NONE;
    if (anchor.time_ns >= LAST) anchor.time_ns = FIRST; /* a jump back, for each follower */
  }
  tb_shm_publisher_close(publisher);
  tb_steady_clock_destroy(steady);
  return fail("publish", status, &error);
}

/* On a thread of this process; its readers wait until all its handlers have returned. */
static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)user;
  if (jump->kind == TB_JUMP_BACKWARD)
    printf("shared_time: back from %.3f to %.3f\n", tb_time_to_seconds(jump->before),
           tb_time_to_seconds(jump->after));
  else if (jump->kind == TB_JUMP_CLOCK_CHANGE)
    puts("shared_time: another publisher");
}

/* Relative sleeps keep their remaining time across jumps and changes of the publisher. The limit is
 * in steady time, as a stopped time would never end them. */
static int sleep_on(tb_clock_t *clock, int seconds)
{
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.limit.ns = 30 * S;
  tb_clock_reading_t now = {0};
  for (int i = 0; i < seconds; i++) {
    tb_status_t status = tb_sleep_for(clock, (tb_duration_t){S}, &options);
    tb_clock_read(clock, &now);
    printf("shared_time: %.3f\n", tb_time_to_seconds(now.time));
    if (!status) continue;
    printf("shared_time: given up: %s%s\n", tb_status_message(status),
           now.state == TB_CLOCK_LOST ? ", the publisher is gone" : "");
    return 1;
  }
  printf("shared_time: slept for %d s\n", seconds);
  return 0;
}

static int follow(const char *name, int seconds)
{
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_jump_handler_t *handler = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold.min_backward.ns = -1;
  options.threshold.on_clock_change = true;
  options.after = on_jump;
  tb_status_t status = tb_shm_source_create(name, NULL, &source, &error);
  if (!status) status = tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &clock);
  if (!status) status = tb_jump_handler_create(clock, &options, &handler);
  int result = status ? fail("follow", status, &error) : sleep_on(clock, seconds);
  tb_jump_handler_destroy(handler);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  return result;
}

int main(int argc, char **argv)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc == 3 && !strcmp(argv[1], "publish")) return publish(argv[2]);
  if ((argc == 3 || argc == 4) && !strcmp(argv[1], "follow"))
    return follow(argv[2], argc == 4 ? (int)strtol(argv[3], NULL, 10) : 10);
  fprintf(stderr, "usage: shared_time publish NAME | shared_time follow NAME [SECONDS]\n");
  return 2;
}
