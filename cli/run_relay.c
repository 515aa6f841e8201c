/* Follows /clock and shares it under a name. Of all commands that are started with one name one is
 * the relay: the one that holds the name. When it ends, another one takes over. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/extrapolating_source.h>
#include <timebase/jump.h>
#include <timebase/shm_publisher.h>
#include <unistd.h>

#include "clocks.h"
#include "run.h"
#include "text.h"

#define ROUND_MS       20                 /* of what is published when no tick comes */
#define ROUNDS_TO_TAKE 10                 /* between two attempts to take over */
#define MARGIN_NS      (2 * TB_NS_PER_MS) /* for a thread that is delayed before it publishes */
#define BOUND_NS       (10 * ROUND_MS * TB_NS_PER_MS)

struct run_relay {
  const command_t *command;
  relay_kind_t kind;
  int domain;
  char name[RUN_RELAY_NAME_SIZE];
  ros_clock_t ros;
  tb_source_t *outer; /* that runs on between ticks; NULL: none */
  tb_clock_t *clock;  /* on it; else that of `ros` */
  tb_jump_handler_t *handler;
  pthread_mutex_t mutex;         /* of the following; the clock is not read under it (J8) */
  tb_shm_publisher_t *publisher; /* NULL: another process is the relay */
  tb_anchor_t last;              /* as published */
  int end[2];                    /* a pipe that ends when the relay does */
  bool has_thread;
  pthread_t thread;
};

const char *run_relay_name(const run_relay_t *relay)
{
  return relay->name;
}

static tb_clock_t *clock_of(const run_relay_t *relay)
{
  return relay->clock ? relay->clock : relay->ros.clock;
}

static void publish_locked(run_relay_t *relay, const tb_anchor_t *anchor, tb_jump_reason_t reason)
{
  relay->last = *anchor;
  if (relay->publisher) (void)tb_shm_publisher_anchor(relay->publisher, anchor, reason);
}

static void on_jump(const tb_jump_t *jump, void *user)
{
  run_relay_t *relay = user;
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = jump->after.ns;
  pthread_mutex_lock(&relay->mutex);
  publish_locked(relay, &anchor, jump->reason);
  pthread_mutex_unlock(&relay->mutex);
}

static int64_t anchored_now(const tb_anchor_t *anchor, int64_t steady_ns)
{
  if (anchor->rate == 0) return anchor->time_ns;
  int64_t passed_ns = steady_ns > anchor->steady.ns ? steady_ns - anchor->steady.ns : 0;
  int64_t ran_ns = (int64_t)((double)passed_ns * anchor->rate);
  return anchor->time_ns + (ran_ns < anchor->bound.ns ? ran_ns : anchor->bound.ns);
}

/* The next stretch of a time that runs on. Until it is published the last one goes on, so it must
 * not be below that for MARGIN_NS: where it would be, it begins with where the last one is then,
 * and holds until the clock is there too. */
static tb_anchor_t run_on(const run_relay_t *relay, const tb_clock_reading_t *reading,
                          int64_t steady_ns)
{
  tb_extrapolating_stats_t stats;
  tb_anchor_t next = TB_ANCHOR_INIT;
  int64_t shared_ns = anchored_now(&relay->last, steady_ns);
  int64_t ahead_ns = anchored_now(&relay->last, steady_ns + MARGIN_NS);
  bool runs = reading->state == TB_CLOCK_RUNNING &&
              !tb_extrapolating_source_stats(relay->outer, &stats) && stats.rate > 0;
  next.time_ns = reading->time.ns;
  if (!runs) {
    if (next.time_ns < ahead_ns) next.time_ns = ahead_ns;
    return next;
  }
  next.rate = stats.rate;
  next.steady.ns = steady_ns;
  next.bound.ns = (int64_t)((double)BOUND_NS * stats.rate);
  if (next.time_ns >= shared_ns && anchored_now(&next, steady_ns + MARGIN_NS) >= ahead_ns)
    return next;
  next.steady.ns += (int64_t)((double)(ahead_ns - next.time_ns) / stats.rate);
  next.time_ns = ahead_ns;
  return next;
}

/* What no tick tells: that time is stopped and its source alive, and how it runs between ticks. */
static void publish_round(run_relay_t *relay)
{
  tb_clock_reading_t reading;
  int64_t steady_ns = command_steady_ns();
  if (!clock_of(relay) || tb_clock_read(clock_of(relay), &reading)) return;
  bool lives = reading.state == TB_CLOCK_RUNNING || reading.state == TB_CLOCK_PAUSED;
  pthread_mutex_lock(&relay->mutex);
  bool is_current = reading.epoch == tb_clock_epoch(clock_of(relay)) &&
                    command_steady_ns() - steady_ns < MARGIN_NS / 2;
  if (lives && reading.time.ns > 0 && is_current) {
    tb_anchor_t anchor = relay->outer ? run_on(relay, &reading, steady_ns) : relay->last;
    if (relay->outer || reading.state == TB_CLOCK_PAUSED)
      publish_locked(relay, &anchor, TB_JUMP_REASON_NONE);
  }
  pthread_mutex_unlock(&relay->mutex);
}

/* A clock that was made on the source is in the way. */
static int extrapolate(run_relay_t *relay)
{
  tb_clock_destroy(relay->ros.clock);
  relay->ros.clock = NULL;
  tb_status_t status = tb_extrapolating_source_create(relay->ros.source, NULL, &relay->outer);
  if (!status) relay->ros.source = NULL;
  tb_clock_options_t options = {TB_TIME_ROS, relay->outer};
  if (!status) status = tb_clock_create(&options, &relay->clock);
  return status ? command_failed(relay->command, status, NULL) : EXIT_OK;
}

static int follow(run_relay_t *relay)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  int result = topic_clock_open(relay->command, relay->domain, NULL, &relay->ros);
  if (!result && relay->kind == RELAY_EXTRAPOLATING) result = extrapolate(relay);
  if (result) return result;
  options.threshold = (tb_jump_threshold_t){{relay->outer ? 0 : 1}, {-1}, true};
  options.after = on_jump;
  options.user = relay;
  options.name = "timebase run";
  tb_status_t status = tb_jump_handler_create(clock_of(relay), &options, &relay->handler);
  return status ? command_failed(relay->command, status, NULL) : EXIT_OK;
}

static void unfollow(run_relay_t *relay)
{
  tb_jump_handler_destroy(relay->handler);
  if (relay->clock) tb_clock_destroy(relay->clock);
  tb_source_destroy(relay->outer);
  ros_clock_close(&relay->ros);
  relay->handler = NULL;
  relay->clock = NULL;
  relay->outer = NULL;
}

static void set_publisher(run_relay_t *relay, tb_shm_publisher_t *publisher)
{
  pthread_mutex_lock(&relay->mutex);
  relay->publisher = publisher;
  pthread_mutex_unlock(&relay->mutex);
}

/* Becomes the relay, unless another process is. One that cannot follow /clock leaves the name to
 * others. */
static int take(run_relay_t *relay)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_shm_publisher_t *publisher;
  tb_status_t status = tb_shm_publisher_open(relay->name, NULL, &publisher, &error);
  if (status == TB_ERR_BUSY) return EXIT_OK;
  if (status == TB_ERR_INVALID) return command_usage_error(relay->command, "%s", error.text);
  if (status) return command_failed(relay->command, status, &error);
  set_publisher(relay, publisher);
  int result = follow(relay);
  if (!result) return EXIT_OK;
  unfollow(relay);
  set_publisher(relay, NULL);
  tb_shm_publisher_close(publisher);
  return result;
}

static void *relay_run(void *argument)
{
  run_relay_t *relay = argument;
  struct pollfd end = {relay->end[0], POLLIN, 0};
  bool has_failed = false;
  for (unsigned round = 1; poll(&end, 1, ROUND_MS) == 0; round++) {
    if (relay->publisher)
      publish_round(relay);
    else if (!has_failed && round % ROUNDS_TO_TAKE == 0)
      has_failed = take(relay) != EXIT_OK;
  }
  return NULL;
}

void run_relay_find_name(const run_arguments_t *arguments, char out[RUN_RELAY_NAME_SIZE])
{
  const char *domain = getenv("ROS_DOMAIN_ID");
  unsigned user = (unsigned)geteuid(); /* the page is of one user */
  if (arguments->name)
    snprintf(out, RUN_RELAY_NAME_SIZE, "%s", arguments->name);
  else if (arguments->domain >= 0)
    snprintf(out, RUN_RELAY_NAME_SIZE, "%s-%u-%d", arguments->source, user, arguments->domain);
  else
    snprintf(out, RUN_RELAY_NAME_SIZE, "%s-%u-%s", arguments->source, user,
             domain && domain[0] ? domain : "0");
}

int run_relay_open(const command_t *command, const run_arguments_t *arguments, run_relay_t **out)
{
  run_relay_t *relay = calloc(1, sizeof *relay);
  if (!relay) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  *out = relay;
  relay->command = command;
  relay->kind = arguments->relay;
  relay->domain = arguments->domain;
  relay->end[0] = relay->end[1] = -1;
  pthread_mutex_init(&relay->mutex, NULL);
  run_relay_find_name(arguments, relay->name);
  int result = take(relay);
  if (result) return result;
  if (pipe2(relay->end, O_CLOEXEC)) return command_failed(command, TB_ERR_SYSTEM, NULL);
  relay->has_thread = !pthread_create(&relay->thread, NULL, relay_run, relay);
  return relay->has_thread ? EXIT_OK : command_failed(command, TB_ERR_SYSTEM, NULL);
}

void run_relay_close(run_relay_t *relay)
{
  if (!relay) return;
  if (relay->end[1] >= 0) close(relay->end[1]);
  if (relay->has_thread) pthread_join(relay->thread, NULL);
  if (relay->end[0] >= 0) close(relay->end[0]);
  unfollow(relay);
  tb_shm_publisher_close(relay->publisher);
  pthread_mutex_destroy(&relay->mutex);
  free(relay);
}
