/* Your own time source: ROS time from the lines of a file or of another program.
 *
 *   custom_source UNTIL_S NAME
 *
 * NAME is "lines:FILE" or, for standard input, "lines:-"; each line is a time in seconds. Sleeps
 * until that time is UNTIL_S and reports jumps and clock changes meanwhile:
 *
 *   (echo 10; sleep 1; echo 12.5; sleep 1; echo 3; sleep 1; echo 20) | custom_source 15 lines:-
 *
 * Returns 0 if the time was reached, 1 if the lines ended before it, 3 if the source cannot be
 * created.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/timebase.h>
#include <unistd.h>

typedef struct lines {
  int fd;
  int wake[2];              /* a pipe: closed when the thread must end */
  tb_cancel_token_t *ended; /* not ours: cancelled after the last line */
  tb_timeline_t *timeline;  /* moved by the ticks */
  pthread_t thread;
} lines_t;

/* A tick runs the jump handlers and wakes waiters that are due, on this thread. */
static bool line_tick(lines_t *lines, const char *line)
{
  char *end;
  tb_duration_t time;
  double seconds = strtod(line, &end);
  if (end == line || *end || tb_duration_from_seconds(seconds, &time)) {
    tb_timeline_count_dropped(lines->timeline);
    return true;
  }
  /* Negative times are refused and counted, as is every tick after the last clock has gone. */
  return tb_timeline_tick(lines->timeline, time.ns, TB_JUMP_REASON_NONE) != TB_ERR_DETACHED;
}

/* False: the lines have ended, or the source is being stopped. */
static bool line_byte(lines_t *lines, char *out)
{
  struct pollfd fds[] = {{lines->wake[0], POLLIN, 0}, {lines->fd, POLLIN, 0}};
  while (poll(fds, 2, -1) < 0)
    if (errno != EINTR) return false;
  return !fds[0].revents && read(lines->fd, out, 1) == 1;
}

static void *lines_run(void *argument)
{
  lines_t *lines = argument;
  char line[64], byte;
  size_t size = 0;
  bool attached = true;
  while (attached && line_byte(lines, &byte)) {
    if (byte != '\n') {
      if (size < sizeof line - 1) line[size++] = byte;
      continue;
    }
    line[size] = '\0';
    size = 0;
    attached = line_tick(lines, line);
  }
  tb_timeline_set_state(lines->timeline, TB_CLOCK_LOST); /* time does not advance any more */
  tb_cancel_token_cancel(lines->ended);
  return NULL;
}

/* ---- functions that timebase calls ---- */

/* Called for the first clock, or when the source becomes the default. Ticks may begin. */
static tb_status_t lines_start(void *self, tb_timeline_t *timeline)
{
  lines_t *lines = self;
  lines->timeline = timeline;
  if (pipe(lines->wake)) return TB_ERR_SYSTEM;
  if (!pthread_create(&lines->thread, NULL, lines_run, lines)) return TB_OK;
  close(lines->wake[0]);
  close(lines->wake[1]);
  return TB_ERR_SYSTEM; /* nothing has changed */
}

/* Called after the last clock. No lock is held, so it may wait for the thread. */
static void lines_stop(void *self)
{
  lines_t *lines = self;
  close(lines->wake[1]); /* the thread's end of the pipe becomes readable */
  pthread_join(lines->thread, NULL);
  close(lines->wake[0]);
}

static void lines_destroy(void *self)
{
  lines_t *lines = self;
  if (lines->fd != STDIN_FILENO) close(lines->fd);
  free(lines);
}

static const tb_source_ops_t lines_ops = {"lines", lines_start, lines_stop, lines_destroy};

/* Creates a source for "lines:FILE", which then works wherever a source is named, also in
 * TIMEBASE_SOURCE. */
static tb_status_t lines_create(const char *file, void *user, tb_source_t **out, tb_error_t *error)
{
  int fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (fd < 0) return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "lines: '%s'", file);
  lines_t *lines = calloc(1, sizeof *lines);
  tb_status_t status = lines ? tb_source_create(&lines_ops, lines, out) : TB_ERR_NO_MEMORY;
  if (status) {
    if (fd != STDIN_FILENO) close(fd);
    free(lines);
    return tb_error_set(error, status, "lines: %s", tb_status_message(status));
  }
  lines->fd = fd;
  lines->ended = user;
  return TB_OK;
}

/* ---- the program ---- */

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)user;
  if (jump->kind == TB_JUMP_BACKWARD)
    printf("custom_source: back from %.3f to %.3f\n", tb_time_to_seconds(jump->before),
           tb_time_to_seconds(jump->after));
  else
    printf("custom_source: %s\n",
           jump->kind == TB_JUMP_STARTED ? "time has started" : "the clock has its source");
}

static int sleep_until(tb_clock_t *clock, double until_s, tb_cancel_token_t *ended)
{
  tb_time_t until = {0, TB_TIME_ROS}, now = until;
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.token = ended;
  if (tb_time_from_seconds(until_s, TB_TIME_ROS, &until)) return 1;
  tb_status_t status = tb_sleep_until(clock, until, &options);
  tb_clock_now(clock, &now);
  bool reached = now.ns >= until.ns; /* the last line may be both the time and the end */
  printf("custom_source: %s at %.3f (%s)\n", reached ? "awake" : "given up",
         tb_time_to_seconds(now), tb_status_name(status));
  return reached ? 0 : 1;
}

int main(int argc, char **argv)
{
  char *end = NULL;
  double until_s = argc == 3 ? strtod(argv[1], &end) : 0;
  if (argc != 3 || end == argv[1] || *end) {
    fprintf(stderr, "usage: custom_source UNTIL_S lines:FILE\n");
    return 2;
  }
  tb_error_t error = TB_ERROR_INIT;
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_cancel_token_t *ended = NULL;
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold.min_backward.ns = -1;
  options.threshold.on_clock_change = true;
  options.after = on_jump;
  if (tb_cancel_token_create(&ended) || tb_source_register("lines", lines_create, ended) ||
      tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, NULL}, &clock) ||
      tb_jump_handler_create(clock, &options, &handler) ||
      tb_source_create_from_name(argv[2], &source, &error) || tb_clock_set_source(clock, source)) {
    fprintf(stderr, "custom_source: %s\n", error.text[0] ? error.text : "out of memory");
    return 3;
  }
  int result = sleep_until(clock, until_s, ended);
  tb_jump_handler_destroy(handler);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  tb_cancel_token_destroy(ended);
  return result;
}
