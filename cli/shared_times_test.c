/* Nodes whose middleware does not announce their processes (Fast DDS). */
#include "shared_times.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <timebase/clock.h>
#include <timebase/shm_publisher.h>
#include <timebase/shm_source.h>
#include <unistd.h>

#include "test.h"

static char name[64];
static tb_shm_publisher_t *publisher;
static tb_source_t *source;
static tb_clock_t *clock_of_test;
static int names = -1;                       /* what src/rcl/node_names.c makes */
static char front[32], talker[64], talk[32]; /* nodes, which no other process has */

static int setup(void **state)
{
  (void)state;
  snprintf(name, sizeof name, "cli-test-%ld", (long)getpid());
  snprintf(front, sizeof front, "/front%ld", (long)getpid());
  snprintf(talker, sizeof talker, "%s/talker", front);
  snprintf(talk, sizeof talk, "/talk%ld", (long)getpid());
  names = memfd_create("timebase-nodes", MFD_CLOEXEC);
  assert_true(names >= 0 && dprintf(names, "%s\n%s\n", talker, talk) > 0);
  return 0;
}

/* This process follows the time. */
static void follow(void)
{
  tb_clock_options_t options = {TB_TIME_ROS, NULL};
  assert_ok(tb_shm_publisher_open(name, NULL, &publisher, NULL));
  assert_ok(tb_shm_source_create(name, NULL, &source, NULL));
  options.source = source;
  assert_ok(tb_clock_create(&options, &clock_of_test));
}

static int teardown(void **state)
{
  (void)state;
  static const char *const files[] = {"timebase", "timebase-wake1"};
  tb_clock_destroy(clock_of_test);
  tb_source_destroy(source);
  tb_shm_publisher_close(publisher);
  clock_of_test = NULL;
  source = NULL;
  publisher = NULL;
  close(names);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[80];
    snprintf(path, sizeof path, "/dev/shm/%s.%s", files[i], name);
    unlink(path);
  }
  return 0;
}

/* Of a node whose process is not announced. */
static shared_time_t time_of(const char *node_name, char out[65])
{
  tb_ros2_graph_participant_t participant = {.guid = {1, 2, 3}, .middleware = "Fast DDS"};
  tb_ros2_graph_node_t node = {.full_name = node_name, .participant_guid = {1, 2, 3}};
  tb_ros2_graph_snapshot_t snapshot = {
      .nodes = &node, .node_count = 1, .participants = &participant, .participant_count = 1};
  shared_times_t times;
  const char *found = NULL;
  shared_times_read(&times);
  shared_time_t time = shared_times_of(&times, &snapshot, participant.guid, &found);
  snprintf(out, 65, "%s", found ? found : "");
  shared_times_release(&times);
  return time;
}

static void test_a_process_that_shows_its_nodes(void **state)
{
  (void)state;
  char found[65];
  follow();
  while (time_of(talker, found) != SHARED_TIME_FOLLOWED)
    sched_yield(); /* until its thread is in the list */
  assert_string_equal(found, name);
  assert_int_equal(time_of(talk, found), SHARED_TIME_FOLLOWED);
}

static void test_a_process_that_follows_nothing(void **state)
{
  (void)state;
  char found[65];
  assert_int_equal(time_of(talk, found), SHARED_TIME_NONE);
}

/* A part of a name is none. */
static void test_a_node_that_no_process_shows(void **state)
{
  (void)state;
  char found[65];
  follow();
  while (time_of(front, found) != SHARED_TIME_UNKNOWN)
    sched_yield(); /* until this process is in the list of readers */
  char longer[72];
  snprintf(longer, sizeof longer, "%ser", talk);
  assert_int_equal(time_of(longer, found), SHARED_TIME_UNKNOWN);
  assert_int_equal(time_of(front, found), SHARED_TIME_UNKNOWN);
}

/* Which of them the node is in is not known. */
static void test_two_processes_with_one_name(void **state)
{
  (void)state;
  char found[65], byte;
  int ends[2];
  follow();
  while (time_of(front, found) != SHARED_TIME_UNKNOWN)
    sched_yield(); /* until this process is in the list of readers */
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) _exit(close(ends[1]) != 0 || read(ends[0], &byte, 1) != 0);
  assert_true(child > 0);
  assert_int_equal(time_of(talk, found), SHARED_TIME_UNKNOWN);
  close(ends[0]);
  close(ends[1]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

#define WITH_NAMES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_NAMES(test_a_process_that_shows_its_nodes),
      WITH_NAMES(test_a_process_that_follows_nothing),
      WITH_NAMES(test_a_node_that_no_process_shows),
      WITH_NAMES(test_two_processes_with_one_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
