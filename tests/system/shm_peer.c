/* A process that shares a time through memory, or follows one, for shm_test.c:
 *
 *   shm_peer DIRECTORY NAME [--time-namespace]
 *
 * Commands on standard input, each answered by a line that begins with it; it also prints
 * what happens: handlers, timers, sleeps. Ends at the end of standard input. */
#include <inttypes.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <timebase/timebase.h>
#include <unistd.h>

#include "platform/futex.h"
#include "system/follower.h"
#include "system/shm_pattern.h"
#include "waiting.h"

static const char *page_name;
static tb_shm_options_t page_options = TB_SHM_OPTIONS_INIT;
static tb_shm_publisher_t *publisher;
static tb_source_t *source;
static tb_clock_t *followed;
static tb_timer_queue_t *queue;

static void answer(const char *command, tb_status_t status, const tb_error_t *error)
{
  printf("%s %s%s%s\n", command, tb_status_name(status), error && error->text[0] ? ": " : "",
         error ? error->text : "");
}

static void must(tb_status_t status)
{
  if (!status) return;
  printf("failed: %s\n", tb_status_name(status));
  exit(3);
}

#define THREADS_MAX 8
static pthread_t threads[THREADS_MAX];
static int thread_count;

/* Joined at the end: by then what it does has been printed. */
static void start_thread(void *(*run)(void *), void *argument)
{
  if (thread_count == THREADS_MAX || pthread_create(&threads[thread_count++], NULL, run, argument))
    must(TB_ERR_SYSTEM);
}

static int64_t now_of_clock(void)
{
  tb_time_t now = {-1, TB_TIME_ROS};
  must(tb_clock_now(followed, &now));
  return now.ns;
}

/* ---- the publisher ---- */

static int wakes_left; /* this one is not made any more; 0: all are */

void __real_tb__futex_wake_shared(const _Atomic uint32_t *word);
void __wrap_tb__futex_wake_shared(const _Atomic uint32_t *word);
void __wrap_tb__futex_wake_shared(const _Atomic uint32_t *word)
{
  if (wakes_left > 0 && --wakes_left == 0) raise(SIGKILL);
  __real_tb__futex_wake_shared(word);
}

static void publish(const char *mode)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_shm_options_t options = page_options;
  if (*mode) options.mode = (uint32_t)strtoul(mode, NULL, 8);
  answer("publish", tb_shm_publisher_open(page_name, &options, &publisher, &error), &error);
}

static void unpublish(const char *unused)
{
  (void)unused;
  tb_shm_publisher_close(publisher);
  publisher = NULL;
  answer("unpublish", TB_OK, NULL);
}

static void tick(const char *time)
{
  answer("tick", tb_shm_publisher_tick(publisher, strtoll(time, NULL, 10), TB_JUMP_REASON_NONE),
         NULL);
}

/* "FIRST COUNT": each a nanosecond after the other. */
static void ticks(const char *text)
{
  char *end;
  int64_t time_ns = strtoll(text, &end, 10);
  for (int64_t left = strtoll(end, NULL, 10); left > 0; left--)
    must(tb_shm_publisher_tick(publisher, time_ns++, TB_JUMP_REASON_TICK));
  answer("ticks", TB_OK, NULL);
}

/* "TIME RATE BOUND": from this moment on. */
static void anchor(const char *text)
{
  char *end;
  tb_anchor_t next = TB_ANCHOR_INIT;
  struct timespec steady;
  clock_gettime(CLOCK_MONOTONIC, &steady);
  next.steady.ns = (int64_t)steady.tv_sec * TB_NS_PER_S + steady.tv_nsec;
  next.time_ns = strtoll(text, &end, 10);
  next.rate = strtod(end, &end);
  next.bound.ns = strtoll(end, NULL, 10);
  answer("anchor", tb_shm_publisher_anchor(publisher, &next, TB_JUMP_REASON_NONE), NULL);
}

static void die_at_wake(const char *count)
{
  wakes_left = (int)strtol(count, NULL, 10);
  answer("die_at_wake", TB_OK, NULL);
}

static void kill_self_after(int64_t delay_ns)
{
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec when = {.it_value = {delay_ns / TB_NS_PER_S, delay_ns % TB_NS_PER_S}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
    must(TB_ERR_SYSTEM);
}

/* "SEED DELAY_NS": opens the page, ticks and jumps as fast as it can, and is killed in the middle
 * of that. */
static void storm(const char *text)
{
  char *end;
  shm_pattern_t pattern = {.seed = strtoull(text, &end, 10), .unit = 1000};
  int64_t delay_ns = strtoll(end, NULL, 10);
  puts("storm TB_OK");
  kill_self_after(delay_ns);
  must(tb_shm_publisher_open(page_name, &page_options, &publisher, NULL));
  for (;;) {
    tb_anchor_t next = shm_pattern_next(&pattern);
    must(tb_shm_publisher_anchor(publisher, &next, TB_JUMP_REASON_NONE));
  }
}

static _Atomic bool flood_ends;

/* Mostly steps forward; steps back are so short that time is soon past where it was. */
static tb_anchor_t flood_next(uint64_t *seed, int64_t *time_ns)
{
  tb_anchor_t next = TB_ANCHOR_INIT;
  struct timespec steady;
  uint64_t dice = shm_random(seed) % 400;
  int64_t back_ns = (int64_t)(shm_random(seed) % 300000);
  if (dice < 10)
    *time_ns -= *time_ns > back_ns ? back_ns : 0;
  else if (dice < 13)
    *time_ns = dice == 10 ? 0 : back_ns + 1;
  else
    *time_ns += (int64_t)(shm_random(seed) % 20000);
  next.time_ns = *time_ns;
  if (dice < 360) return next;
  clock_gettime(CLOCK_MONOTONIC, &steady);
  next.steady.ns = (int64_t)steady.tv_sec * 1000000000 + steady.tv_nsec;
  next.rate = (double)(dice % 20 + 1);
  next.bound.ns = 100000;
  return next;
}

static void *flood_run(void *argument)
{
  uint64_t seed = *(uint64_t *)argument;
  int64_t time_ns = 1;
  while (!atomic_load(&flood_ends)) {
    tb_anchor_t next = flood_next(&seed, &time_ns);
    must(tb_shm_publisher_anchor(publisher, &next, TB_JUMP_REASON_NONE));
    if (shm_random(&seed) % 2000 == 0) { /* another one takes over */
      tb_shm_publisher_close(publisher);
      must(tb_shm_publisher_open(page_name, &page_options, &publisher, NULL));
    }
    if (shm_random(&seed) % 64 == 0) sched_yield();
  }
  return NULL;
}

/* "SEED": publishes as fast as it can until the end. */
static void flood(const char *text)
{
  static uint64_t seed;
  seed = strtoull(text, NULL, 10);
  start_thread(flood_run, &seed);
  answer("flood", TB_OK, NULL);
}

/* ---- the follower ---- */

static void follow_all(const char *unused)
{
  (void)unused;
  answer("follow_all", follower_start(source), NULL);
}

/* While time runs on. */
static void end_all(const char *unused)
{
  (void)unused;
  bool good = follower_stop();
  if (atomic_load(&follower.reads) == 0) good = false;
  answer("end_all", good ? TB_OK : TB_ERR_CORRUPT, NULL);
}

static void follow(const char *limit_ms)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_shm_source_create(page_name, &page_options, &source, &error);
  if (!status) {
    tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
    if (*limit_ms) options.stall_limit.ns = strtoll(limit_ms, NULL, 10) * TB_NS_PER_MS;
    must(tb_timeline_set_options(tb_source_timeline(source), &options));
    status = tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &followed);
  }
  answer("follow", status, &error);
}

/* Its clock is read in a child too. */
static void now_forked(const char *unused)
{
  (void)unused;
  int result = 0;
  pid_t child = fork();
  if (child == 0) {
    tb_clock_reading_t reading = {0};
    tb_status_t status = tb_clock_read(followed, &reading);
    printf("now_forked %s %" PRId64 " %d\n", tb_status_name(status), reading.time.ns,
           (int)reading.state);
    fflush(stdout);
    _exit(0);
  }
  if (child < 0 || waitpid(child, &result, 0) != child || result)
    printf("now_forked ended with %d\n", result);
}

/* The file as another process that may write it leaves it. */
static void cut(const char *size)
{
  char path[128];
  snprintf(path, sizeof path, "%s/timebase.%s", page_options.directory, page_name);
  answer("cut", truncate(path, strtol(size, NULL, 10)) ? TB_ERR_SYSTEM : TB_OK, NULL);
}

/* Answers when the thread sleeps; it prints when the state is reached. */
static void *lost_run(void *unused)
{
  (void)unused;
  tb_status_t status =
      tb_clock_wait_for_state(followed, TB_CLOCK_STATE_BIT(TB_CLOCK_LOST), NULL, NULL);
  printf("lost %s\n", tb_status_name(status));
  return NULL;
}

static void wait_lost(const char *unused)
{
  (void)unused;
  int before = waiters_on(followed);
  start_thread(lost_run, NULL);
  wait_for_waiters(followed, before + 1);
  answer("wait_lost", TB_OK, NULL);
}

static void follow_default(const char *unused)
{
  (void)unused;
  answer("follow_default", tb_clock_create(NULL, &followed), NULL);
}

static void now(const char *unused)
{
  (void)unused;
  tb_clock_reading_t reading = {0};
  must(tb_clock_read(followed, &reading));
  printf("now %" PRId64 " %d\n", reading.time.ns, (int)reading.state);
}

static void try_now(const char *unused)
{
  (void)unused;
  tb_time_t time;
  answer("try_now", tb_clock_try_now(followed, &time), NULL);
}

static void status(const char *unused)
{
  (void)unused;
  tb_shm_status_t now;
  must(tb_shm_source_status(source, &now));
  printf("status %d %" PRIu64 " %d %" PRIu64 "\n", now.has_publisher, now.publishers,
         now.foreign_steady, now.invalid);
}

/* ---- its handlers ---- */

static _Atomic bool held;
static sem_t released;

static void report_jump(const char *name, const char *phase, const tb_jump_t *jump)
{
  printf("%s %s %d %d %" PRId64 " %" PRId64 " %" PRId64 "\n", name, phase, (int)jump->kind,
         (int)jump->reason, jump->before.ns, jump->after.ns, now_of_clock());
}

static void on_before(const tb_jump_t *jump, void *user)
{
  report_jump(user, "before", jump);
}

static void on_after(const tb_jump_t *jump, void *user)
{
  bool waits = !strcmp(user, "two") && atomic_load(&held);
  report_jump(user, "after", jump);
  if (!waits) return;
  while (sem_wait(&released))
    ;
  puts("released");
}

static void handle(const char *name)
{
  static const tb_jump_threshold_t blocking = {.min_backward = {-1}, .on_clock_change = true};
  tb_jump_handler_t *handler;
  static char names[][4] = {"one", "two"};
  char *own = names[strcmp(name, "one") != 0];
  tb_jump_handler_options_t options = {own, blocking, on_before, on_after, own};
  answer("handle", tb_jump_handler_create(followed, &options, &handler), NULL);
}

static void hold(const char *unused)
{
  (void)unused;
  atomic_store(&held, true);
  answer("hold", TB_OK, NULL);
}

static void release(const char *unused)
{
  (void)unused;
  atomic_store(&held, false);
  sem_post(&released);
}

static void *read_run(void *unused)
{
  (void)unused;
  printf("read %" PRId64 "\n", now_of_clock());
  return NULL;
}

/* Answers when the thread is blocked by a jump. */
static void read_blocked(const char *unused)
{
  (void)unused;
  start_thread(read_run, NULL);
  while (!atomic_load(&tb_source_timeline(source)->readers))
    sched_yield();
  answer("read_blocked", TB_OK, NULL);
}

/* ---- its waits ---- */

static void *sleep_run(void *argument)
{
  tb_time_t target = {*(int64_t *)argument, TB_TIME_ROS};
  free(argument);
  tb_status_t slept = tb_clock_sleep_until(followed, target, NULL);
  printf("slept %s %" PRId64 "\n", tb_status_name(slept), now_of_clock());
  return NULL;
}

/* Answers when the thread sleeps. */
static void sleep_until(const char *time)
{
  int64_t *target_ns = malloc(sizeof *target_ns);
  int before = waiters_on(followed);
  *target_ns = strtoll(time, NULL, 10);
  start_thread(sleep_run, target_ns);
  wait_for_waiters(followed, before + 1);
  answer("sleep_until", TB_OK, NULL);
}

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)user;
  printf("timer %" PRId64 " %" PRId64 " %" PRIu64 "\n", info->scheduled.ns, info->actual.ns,
         (uint64_t)info->missed);
}

/* Answers when its thread waits for it. */
static void timer_of(const char *period)
{
  tb_timer_t *timer;
  tb_timer_options_t options = {.period = {strtoll(period, NULL, 10)}, .callback = on_timer};
  must(tb_timer_queue_create(&queue));
  must(tb_clock_timer_create(queue, followed, &options, &timer));
  must(tb_timer_start(timer));
  must(tb_timer_queue_start_thread(queue));
  answer("timer_of", TB_OK, NULL);
}

/* ---- under a storm ---- */

static _Atomic uint64_t begun, announced, changes;
static _Atomic bool checks_end;

static void count_before(const tb_jump_t *jump, void *user)
{
  (void)user;
  atomic_fetch_add(&begun, 1);
  bool good = now_of_clock() == jump->before.ns;
  if (!good || !shm_pattern_has(jump->before.ns)) puts("wrong time before");
}

static void count_after(const tb_jump_t *jump, void *user)
{
  (void)user;
  if (now_of_clock() < jump->after.ns || !shm_pattern_has(jump->after.ns)) puts("wrong time after");
  if (jump->kind == TB_JUMP_CLOCK_CHANGE) {
    if (jump->reason != TB_JUMP_REASON_SOURCE_REPLACED) puts("wrong reason");
    atomic_fetch_add(&changes, 1);
  }
  atomic_fetch_add(&announced, 1);
}

/* A torn time is none of the pattern; one that falls must have been announced. */
static void *check_run(void *unused)
{
  (void)unused;
  tb_clock_reading_t last = {0}, next = {0};
  for (uint64_t announced_before = 0; !atomic_load(&checks_end);) {
    uint64_t count = atomic_load(&announced);
    must(tb_clock_read(followed, &next));
    if (!shm_pattern_has(next.time.ns)) printf("torn: %" PRId64 "\n", next.time.ns);
    bool falls = next.time.ns < last.time.ns;
    if (falls && (next.epoch == last.epoch || atomic_load(&announced) == announced_before))
      printf("unannounced: %" PRId64 " after %" PRId64 "\n", next.time.ns, last.time.ns);
    if (next.epoch < last.epoch) puts("epoch falls");
    last = next;
    announced_before = count;
    sched_yield();
  }
  return NULL;
}

static void *sleep_shortly_run(void *unused)
{
  (void)unused;
  const tb_wait_options_t options = {.limit = {TB_NS_PER_MS}};
  tb_status_t status = TB_OK; /* any */
  while (!atomic_load(&checks_end))
    status = tb_clock_sleep_for(followed, (tb_duration_t){3}, &options);
  (void)status;
  return NULL;
}

static void check(const char *unused)
{
  (void)unused;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {.threshold = {.min_backward = {-1}, .on_clock_change = true},
                                       .before = count_before,
                                       .after = count_after};
  must(tb_jump_handler_create(followed, &options, &handler));
  start_thread(check_run, NULL);
  start_thread(sleep_shortly_run, NULL);
  answer("check", TB_OK, NULL);
}

static void count_changes(const char *unused)
{
  (void)unused;
  now_of_clock(); /* all that was published has been dispatched after this */
  while (atomic_load(&announced) !=
         atomic_load(&begun)) /* others see the time before "after" ends */
    usleep(100);
  printf("count_changes %" PRIu64 "\n", atomic_load(&changes));
}

/* ---- the process ---- */

static void be_user(const char *id)
{
  uid_t user = (uid_t)strtoul(id, NULL, 10);
  bool done = !setgid(user) && !setuid(user) && !prctl(PR_SET_DUMPABLE, 1); /* for sanitizers */
  answer("be_user", done ? TB_OK : TB_ERR_SYSTEM, NULL);
}

/* For files that no command gives one. */
static void set_mode(const char *mode)
{
  answer("set_mode", setenv("TIMEBASE_SHM_MODE", mode, 1) ? TB_ERR_SYSTEM : TB_OK, NULL);
}

static const struct command {
  const char *name;
  void (*run)(const char *arguments);
} commands[] = {
    {"publish", publish},
    {"unpublish", unpublish},
    {"tick", tick},
    {"ticks", ticks},
    {"anchor", anchor},
    {"die_at_wake", die_at_wake},
    {"storm", storm},
    {"flood", flood},
    {"follow", follow},
    {"follow_default", follow_default},
    {"follow_all", follow_all},
    {"end_all", end_all},
    {"now", now},
    {"now_forked", now_forked},
    {"cut", cut},
    {"wait_lost", wait_lost},
    {"try_now", try_now},
    {"status", status},
    {"handle", handle},
    {"hold", hold},
    {"release", release},
    {"read_blocked", read_blocked},
    {"sleep_until", sleep_until},
    {"timer_of", timer_of},
    {"check", check},
    {"count_changes", count_changes},
    {"be_user", be_user},
    {"set_mode", set_mode},
};

static void run_line(char *line)
{
  size_t length = strcspn(line, " \n");
  const char *arguments = line + length + (line[length] == ' ');
  line[strcspn(line, "\n")] = '\0';
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strlen(commands[i].name) == length && !memcmp(commands[i].name, line, length)) {
      commands[i].run(arguments);
      return;
    }
  printf("no command: %s\n", line);
}

/* A child is in the new one, a day ahead. Returns in the child. */
static void enter_time_namespace(void)
{
  FILE *offsets = NULL;
  if (!unshare(CLONE_NEWTIME)) offsets = fopen("/proc/self/timens_offsets", "w");
  if (!offsets || fputs("monotonic 86400 0\n", offsets) < 0 || fclose(offsets)) {
    puts("refused");
    exit(0);
  }
  pid_t child = fork();
  if (child == 0) return;
  int result = 0;
  _exit(child > 0 && waitpid(child, &result, 0) == child && WIFEXITED(result) ? WEXITSTATUS(result)
                                                                              : 3);
}

int main(int argc, char **argv)
{
  char line[128];
  if (argc < 3 || sem_init(&released, 0, 0)) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  page_options.directory = argv[1];
  page_name = argv[2];
  if (argc > 3) enter_time_namespace();
  puts("ready");
  while (fgets(line, sizeof line, stdin))
    run_line(line);
  atomic_store(&checks_end, true);
  atomic_store(&flood_ends, true);
  while (thread_count > 0)
    pthread_join(threads[--thread_count], NULL);
  tb_timer_queue_destroy(queue);
  tb_clock_destroy(followed);
  tb_source_destroy(source);
  tb_shm_publisher_close(publisher);
  return 0;
}
