/* Sources by name, and the default that TIMEBASE_SOURCE names. The environment is read once in a
 * process, so each such case runs in a separate process: this program with the name of the case as
 * its argument, whose output is compared. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/clock.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/manual_source.h>
#include <timebase/source.h>
#include <unistd.h>

#include "test.h"

#define S TB_NS_PER_S

/* ---- a source that prints what happens to it ---- */

typedef struct teller {
  tb_source_t *source;
  tb_status_t start_status;
} teller_t;

#define TELL_FD 9

static bool alone; /* in the process of a case */
static _Atomic int made;

static void print(const char *text)
{
  if (alone && write(TELL_FD, text, strlen(text)) < 0) _exit(9);
}

static tb_status_t teller_start(void *self, tb_timeline_t *timeline)
{
  teller_t *teller = self;
  print("start ");
  return teller->start_status ? teller->start_status : tb_timeline_tick(timeline, 7 * S, 0);
}

static void teller_stop(void *self)
{
  (void)self;
  print("stop ");
}

static void teller_destroy(void *self)
{
  free(self);
  print("destroy ");
}

static const tb_source_ops_t teller_ops = {"teller", teller_start, teller_stop, teller_destroy};

/* "teller", "teller:fails", and "teller:no", which has no word for its failure */
static tb_status_t teller_create(const char *rest, void *user, tb_source_t **out, tb_error_t *error)
{
  atomic_fetch_add(&made, 1);
  if (user) snprintf(user, 32, "%s", rest);
  if (!strcmp(rest, "no")) return TB_ERR_UNSUPPORTED;
  if (!strcmp(rest, "bad")) return tb_error_set(error, TB_ERR_RANGE, "teller: too bad");
  if (!strcmp(rest, "nothing")) return TB_OK;
  teller_t *teller = calloc(1, sizeof *teller);
  if (!teller) return TB_ERR_NO_MEMORY;
  if (!strcmp(rest, "fails")) teller->start_status = TB_ERR_TRANSPORT;
  tb_status_t status = tb_source_create(&teller_ops, teller, &teller->source);
  if (!status) *out = teller->source;
  return status;
}

/* ---- by name ---- */

static void test_X7_a_name_makes_a_source(void **state)
{
  (void)state;
  tb_source_t *source = NULL;
  tb_error_t error = TB_ERROR_INIT;
  char rest[32] = "-";
  assert_ok(tb_source_create_from_name("manual", &source, &error));
  assert_ok(tb_manual_source_set(source, 5 * S));
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_source_register("teller-2", teller_create, rest));
  assert_ok(tb_source_create_from_name("teller-2:a:b c", &source, NULL));
  assert_string_equal(rest, "a:b c");
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_source_create_from_name("teller-2", &source, NULL));
  assert_string_equal(rest, "");
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_source_register("teller-2", NULL, NULL));
  assert_string_equal(error.text, "");
}

static void test_X7_the_error_of_a_bad_name_has_what_where_and_what_to_do(void **state)
{
  (void)state;
  tb_source_t *const untouched = (tb_source_t *)(uintptr_t)64;
  tb_source_t *source = untouched;
  const struct {
    const char *name;
    tb_status_t status;
    const char *text;
  } cases[] = {
      {"shn:robot", TB_ERR_NOT_FOUND,
       "source \"shn:robot\": unknown kind of source \"shn\"; known are manual, shm, "
       "extrapolating, teller"},
      {"", TB_ERR_NOT_FOUND,
       "source \"\": unknown kind of source \"\"; known are manual, shm, extrapolating, "
       "teller"},
      {":", TB_ERR_NOT_FOUND,
       "source \":\": unknown kind of source \"\"; known are manual, shm, extrapolating, "
       "teller"},
      {"tell", TB_ERR_NOT_FOUND,
       "source \"tell\": unknown kind of source \"tell\"; known are manual, shm, "
       "extrapolating, teller"},
      {"ros1:http://h:1", TB_ERR_NOT_FOUND,
       "source \"ros1:http://h:1\": it is in libtimebase-ros1, which this program has not loaded; "
       "link the program with it (pkg-config timebase-ros1)"},
      {"manual:5", TB_ERR_INVALID, "source \"manual:5\": \"manual\" takes no argument"},
      {"teller:bad", TB_ERR_RANGE, "teller: too bad"},
      {"teller:no", TB_ERR_UNSUPPORTED, "source \"teller:no\": not supported"},
      {"teller:nothing", TB_ERR_INVALID, "source \"teller:nothing\": invalid argument or value"},
  };
  assert_ok(tb_source_register("teller", teller_create, NULL));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb_source_create_from_name(cases[i].name, &source, &error), cases[i].status);
    assert_int_equal(error.status, cases[i].status);
    assert_string_equal(error.text, cases[i].text);
    assert_status(tb_source_create_from_name(cases[i].name, &source, NULL), cases[i].status);
    assert_ptr_equal(source, untouched);
  }
  char endless[2000];
  memset(endless, 'x', sizeof endless - 1);
  endless[sizeof endless - 1] = '\0';
  assert_status(tb_source_create_from_name(endless, &source, NULL), TB_ERR_NOT_FOUND);
  assert_status(tb_source_create_from_name(NULL, &source, NULL), TB_ERR_INVALID);
  assert_status(tb_source_create_from_name("manual", NULL, NULL), TB_ERR_INVALID);
  assert_ok(tb_source_register("teller", NULL, NULL));
}

static void test_X7_prefixes_are_checked_and_taken_once(void **state)
{
  (void)state;
  tb_source_t *source;
  const char *bad[] = {"", "a:b", "a b", "\xc3\xa4", "12345678901234567890123456789012"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_status(tb_source_register(bad[i], teller_create, NULL), TB_ERR_INVALID);
  assert_status(tb_source_register(NULL, teller_create, NULL), TB_ERR_INVALID);
  assert_status(tb_source_register("manual", teller_create, NULL), TB_ERR_BUSY);
  assert_status(tb_source_register("manual", NULL, NULL), TB_ERR_NOT_FOUND);
  assert_ok(tb_source_register("a", teller_create, NULL));
  assert_ok(tb_source_register("1234567890123456789012345678901", teller_create, NULL));
  assert_status(tb_source_register("a", teller_create, NULL), TB_ERR_BUSY);
  assert_ok(tb_source_register("a", NULL, NULL));
  assert_status(tb_source_register("a", NULL, NULL), TB_ERR_NOT_FOUND);
  assert_status(tb_source_create_from_name("a", &source, NULL), TB_ERR_NOT_FOUND);
  assert_ok(tb_source_register("1234567890123456789012345678901", NULL, NULL));
}

/* ---- by environment: the cases, each in its own process ---- */

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  char line[600];
  snprintf(line, sizeof line, "[%d %s] ", level, message);
  print(line);
}

static void case_open(void)
{
  tb_log_set_hook(on_log, NULL);
  assert_ok(tb_source_register("teller", teller_create, NULL));
}

static tb_clock_t *follower(void)
{
  tb_clock_t *clock = NULL;
  assert_ok(tb_clock_create(NULL, &clock));
  return clock;
}

static void assert_now(const tb_clock_t *clock, int64_t time_ns)
{
  tb_time_t now;
  assert_ok(tb_clock_now(clock, &now));
  assert_int_equal(now.ns, time_ns);
}

static void case_default(void **state)
{
  (void)state;
  case_open();
  tb_clock_options_t own = {TB_TIME_ROS, NULL};
  tb_clock_t *clocks[3];
  assert_ok(tb_clock_create(&own, &clocks[2]));
  assert_null(tb_source_get_default()); /* not needed yet */
  for (int i = 0; i < 2; i++)
    assert_now(clocks[i] = follower(), 7 * S);
  assert_int_equal(made, 1);
  assert_ok(tb_clock_set_source(clocks[2], TB_SOURCE_DEFAULT));
  assert_now(clocks[2], 7 * S);
  for (int i = 0; i < 3; i++)
    assert_ok(tb_clock_destroy(clocks[i]));
  print("end ");
}

static void case_clock_left(void **state)
{
  (void)state;
  static tb_clock_t *left;
  case_open();
  left = follower();
  assert_now(left, 7 * S);
}

static void case_replaced(void **state)
{
  (void)state;
  tb_source_t *source;
  case_open();
  tb_clock_t *clock = follower();
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_source_set_default(source));
  assert_now(clock, 0);
  print("replaced ");
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
  print("end ");
}

static void case_destroyed(void **state)
{
  (void)state;
  case_open();
  tb_clock_t *clock = follower();
  assert_ok(tb_source_destroy(tb_source_get_default()));
  assert_false(tb_clock_is_active(clock));
  assert_ok(tb_clock_destroy(clock));
  print("end ");
}

static void case_program_decides(void **state)
{
  (void)state;
  case_open();
  assert_ok(tb_source_set_default(NULL));
  tb_clock_t *clock = follower();
  assert_false(tb_clock_is_active(clock));
  assert_int_equal(made, 0);
  assert_ok(tb_clock_destroy(clock));
}

/* An invalid value fails every clock that follows, and no other clock, until it is fixed. */
static void refused(tb_status_t status)
{
  tb_clock_t *clock = NULL, *none;
  tb_clock_options_t options = {TB_TIME_ROS, NULL};
  tb_source_t *source;
  case_open();
  assert_status(tb_clock_create(NULL, &clock), status);
  assert_null(clock);
  assert_ok(tb_clock_create(&options, &none));
  assert_status(tb_clock_set_source(none, TB_SOURCE_DEFAULT), status);
  assert_false(tb_clock_is_active(none));
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_source_set_default(source));
  assert_ok(tb_clock_set_source(none, TB_SOURCE_DEFAULT));
  assert_now(none, 0);
  assert_ok(tb_clock_destroy(none));
  assert_ok(tb_source_destroy(source));
}

static void case_bad_name(void **state)
{
  (void)state;
  refused(TB_ERR_NOT_FOUND);
}

static void case_bad_start(void **state)
{
  (void)state;
  refused(TB_ERR_TRANSPORT);
}

static void case_none(void **state)
{
  (void)state;
  case_open();
  tb_clock_reading_t reading;
  tb_clock_t *clock = follower();
  assert_ok(tb_clock_read(clock, &reading));
  assert_int_equal(reading.state, TB_CLOCK_NO_SOURCE);
  setenv("TIMEBASE_SOURCE", "teller", 1); /* read once */
  tb_clock_t *second = follower();
  assert_false(tb_clock_is_active(second));
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_clock_destroy(second));
}

#define THREADS 8
static _Atomic int ready;

static void *first_of_all(void *argument)
{
  (void)argument;
  atomic_fetch_add(&ready, 1);
  while (atomic_load(&ready) < THREADS)
    sched_yield();
  return follower();
}

static void case_many_threads(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  case_open();
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, first_of_all, NULL);
  for (int i = 0; i < THREADS; i++) {
    void *clock;
    pthread_join(threads[i], &clock);
    assert_now(clock, 7 * S);
    assert_ok(tb_clock_destroy(clock));
  }
  assert_int_equal(made, 1);
}

static tb_status_t in_callback;

static void create_follower(const tb_jump_t *jump, void *user)
{
  (void)jump;
  in_callback = tb_clock_create(NULL, user);
}

static void leave_the_program(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  exit(0);
}

static void case_callback(void **state)
{
  (void)state;
  tb_clock_t *clock, *made_inside = NULL;
  tb_source_t *source;
  tb_jump_handler_t *handler;
  case_open();
  assert_ok(tb_manual_source_create(&source));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  tb_jump_handler_options_t handling = {"", {{0}, {0}, true}, create_follower, NULL, &made_inside};
  assert_ok(tb_clock_create(&options, &clock));
  assert_ok(tb_jump_handler_create(clock, &handling, &handler));
  assert_ok(tb_manual_source_set(source, 1 * S)); /* started */
  assert_status(in_callback, TB_ERR_DEADLOCK);    /* nothing is made or started in a callback */
  assert_null(made_inside);
  tb_clock_t *outside = follower();
  assert_ok(tb_clock_set_source(clock, TB_SOURCE_DEFAULT));
  assert_ok(in_callback);
  assert_now(made_inside, 7 * S);
  assert_ok(tb_clock_destroy(made_inside));
  assert_ok(tb_clock_destroy(outside));
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
}

/* The change of the default is still in progress when the library ends. */
static void case_exit_in_callback(void **state)
{
  (void)state;
  static tb_clock_t *clock;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t handling = {"", {{0}, {0}, true}, leave_the_program, NULL, NULL};
  case_open();
  clock = follower();
  assert_ok(tb_jump_handler_create(clock, &handling, &handler));
  tb_source_set_default(NULL);
  fail();
}

/* Logged at each of two attempts. */
#define BAD_NAME                                                                                   \
  "[40 TIMEBASE_SOURCE=tellr:x in the environment: source \"tellr:x\": unknown kind of source "    \
  "\"tellr\"; known are manual, shm, extrapolating, teller. Correct or unset it] "
#define BAD_START                                                                                  \
  "start destroy [40 TIMEBASE_SOURCE=teller:fails in the environment: the source cannot be "       \
  "started: "                                                                                      \
  "the middleware (DDS, TCP) reported an error] "

static const struct {
  const char *name;
  CMUnitTestFunction run;
  const char *variable; /* NULL: not set */
  const char *output;   /* NULL: only the exit counts */
} cases[] = {
    {"default", case_default, "teller", "start end stop destroy "},
    {"clock_left", case_clock_left, "teller", "start "},
    {"replaced", case_replaced, "teller", "start stop replaced end destroy "},
    {"destroyed", case_destroyed, "teller",
     "start stop [20 no time source: ROS clocks that follow the process's default use system time "
     "until one is set (tb_source_set_default, or TIMEBASE_SOURCE in the environment)] destroy "
     "end "},
    {"program_decides", case_program_decides, "teller", NULL},
    {"bad_name", case_bad_name, "tellr:x", BAD_NAME BAD_NAME},
    {"bad_start", case_bad_start, "teller:fails", BAD_START BAD_START},
    {"none", case_none, NULL, NULL},
    {"none", case_none, "", NULL},
    {"many_threads", case_many_threads, "teller", "start stop destroy "},
    {"callback", case_callback, "teller", "start stop destroy "},
    {"exit_in_callback", case_exit_in_callback, "teller", NULL},
};

#define CASES (sizeof cases / sizeof *cases)

static pid_t case_spawn(size_t i, int output)
{
  char variable[64] = "TIMEBASE_SOURCE=", program[] = "/proc/self/exe", name[32];
  char file[] = "source_names_test", *arguments[] = {program, file, name, NULL};
  char *environment[64] = {NULL};
  size_t count = 0;
  for (char **entry = environ; *entry && count < 62; entry++)
    if (strncmp(*entry, variable, strlen(variable)) != 0) environment[count++] = *entry;
  snprintf(name, sizeof name, "%s", cases[i].name);
  if (cases[i].variable) {
    strcat(variable, cases[i].variable);
    environment[count] = variable;
  }
  posix_spawn_file_actions_t actions;
  pid_t pid;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, TELL_FD);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  assert_int_equal(posix_spawn(&pid, program, &actions, NULL, arguments, environment), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

static void run_case(size_t i)
{
  int ends[2], status;
  char output[2000] = "";
  size_t size = 0;
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  pid_t pid = case_spawn(i, ends[1]);
  close(ends[1]);
  for (ssize_t got; (got = read(ends[0], output + size, sizeof output - 1 - size)) > 0;)
    size += (size_t)got;
  close(ends[0]);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  output[size] = '\0';
  if (status) fail_msg("case %s ended with status %x: %s", cases[i].name, (unsigned)status, output);
  if (cases[i].output) assert_string_equal(output, cases[i].output);
}

static void test_X7_the_environment_names_the_default(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    run_case(i);
}

static int run_alone(const char *name)
{
  alone = true;
  for (size_t i = 0; i < CASES; i++) {
    if (strcmp(name, cases[i].name) != 0) continue;
    const struct CMUnitTest test[] = {{cases[i].name, cases[i].run, NULL, NULL, NULL}};
    return cmocka_run_group_tests(test, NULL, NULL);
  }
  return 1;
}

int main(int argc, char **argv)
{
  if (argc > 1) return run_alone(argv[1]);
  unsetenv("TIMEBASE_SOURCE");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X7_a_name_makes_a_source),
      cmocka_unit_test(test_X7_the_error_of_a_bad_name_has_what_where_and_what_to_do),
      cmocka_unit_test(test_X7_prefixes_are_checked_and_taken_once),
      cmocka_unit_test(test_X7_the_environment_names_the_default),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
