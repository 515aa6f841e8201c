/* A stack for `timebase rehearse`: the nodes "estimator", which makes /odom of /scan with its
 * stamp, and /pose and /tf with the time of its clock, and "guard", whose /stop (std_msgs/msg/Bool,
 * in steady time) is true while no /scan comes. It ends with SIGINT or SIGTERM.
 *
 *   rehearse_peer [FAULT]
 *
 *   wall      a third node is on wall time
 *   zero      /pose begins before the clock does, with stamps of 0, for a second
 *   glimpse   the same, but only before anybody can have subscribed
 *   slow      /odom comes 400 ms after its /scan
 *   stale     after a jump back /pose goes on in the old time
 *   edge      the same with /tf
 *   stuck     after a jump back inputs are dropped, as older than the last one
 *   ros       the guard measures in ROS time
 *   fed       the guard takes /imu for /scan
 *   tripped   /stop is always true
 *   latch     /stop stays true once it was after the first input
 *   jitter    each second stamp of /pose is before the one before it
 *   clock     publishes /clock itself
 *   dies      ends with status 3 after ten inputs
 *   leaves    leaves a child behind that does nothing, ignores SIGINT, and prints the
 *             numbers of both */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_subscription.h>
#include <unistd.h>

#define MS          1000000
#define TURN_NS     (5 * MS)
#define PERIOD_NS   (50 * MS)
#define LOST_NS     (250 * MS)
#define LATE_NS     (400 * MS)
#define WAITING_MAX 256
#define ZEROS_MAX   20

static tb_ros2_context_t *context;
static tb_ros2_node_t *estimator, *guard;
static tb_ros2_publisher_t *odom, *pose, *tf, *stop;
static const char *fault = "";
static atomic_int signalled;

/* Of /scan, with the steady time at which it came. Under the mutex. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int64_t stamp_ns, due_ns;
} waiting[WAITING_MAX];
static size_t waiting_count;
static int64_t last_input_ns = -1; /* as the guard measures */
static int64_t newest_ns;          /* stamp */
static unsigned inputs;

static bool has(const char *name)
{
  return strcmp(fault, name) == 0;
}

static void check(tb_status_t status, const char *what)
{
  if (!status) return;
  fprintf(stderr, "rehearse_peer: %s: %s\n", what, tb_status_name(status));
  exit(1);
}

static int64_t steady_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* 0: it has not begun. */
static int64_t ros_now(void)
{
  tb_time_t now = {0};
  return tb_clock_now(tb_ros2_node_clock(estimator), &now) ? 0 : now.ns;
}

static int64_t guard_now(void)
{
  return has("ros") ? ros_now() : steady_now();
}

/* std_msgs/msg/Header with an empty frame_id. */
static void publish_header(tb_ros2_publisher_t *publisher, int64_t stamp_ns)
{
  uint32_t words[5] = {0x00000100, (uint32_t)(stamp_ns / 1000000000),
                       (uint32_t)(stamp_ns % 1000000000), 1, 0};
  check(tb_ros2_publisher_publish(publisher, words, sizeof words, NULL), "publish");
}

static void on_scan(const tb_ros2_sample_t *sample, void *user)
{
  uint32_t words[3];
  (void)user;
  if (sample->size < sizeof words) return;
  memcpy(words, sample->cdr, sizeof words);
  int64_t stamp_ns = (int64_t)words[1] * 1000000000 + words[2];
  pthread_mutex_lock(&mutex);
  last_input_ns = guard_now();
  bool is_dropped = has("stuck") && stamp_ns < newest_ns;
  if (stamp_ns < newest_ns && !is_dropped) waiting_count = 0; /* reset at a jump */
  if (!is_dropped) newest_ns = stamp_ns;
  if (!is_dropped && waiting_count < WAITING_MAX) {
    waiting[waiting_count].stamp_ns = stamp_ns;
    waiting[waiting_count++].due_ns = steady_now() + (has("slow") ? LATE_NS : 0);
  }
  if (++inputs == 10 && has("dies")) _exit(3);
  pthread_mutex_unlock(&mutex);
}

static void on_imu(const tb_ros2_sample_t *sample, void *user)
{
  (void)sample;
  (void)user;
  if (!has("fed")) return;
  pthread_mutex_lock(&mutex);
  last_input_ns = guard_now();
  pthread_mutex_unlock(&mutex);
}

static void send_odom(void)
{
  size_t sent = 0;
  pthread_mutex_lock(&mutex);
  while (sent < waiting_count && waiting[sent].due_ns <= steady_now())
    publish_header(odom, waiting[sent++].stamp_ns);
  waiting_count -= sent;
  memmove(waiting, waiting + sent, waiting_count * sizeof *waiting);
  pthread_mutex_unlock(&mutex);
}

/* ROS time; at a fault what the time would be without a jump back. */
static int64_t time_of(const char *at_fault, int64_t *last_ns)
{
  int64_t now_ns = ros_now();
  if (has(at_fault) && now_ns < *last_ns - 500 * MS) now_ns = *last_ns + PERIOD_NS;
  if (now_ns) *last_ns = now_ns;
  return now_ns;
}

/* From "odom" to "base". */
static void send_tf(void)
{
  static int64_t last_ns;
  int64_t now_ns = time_of("edge", &last_ns);
  uint32_t words[25] = {
      0x00000100, 1, (uint32_t)(now_ns / 1000000000), (uint32_t)(now_ns % 1000000000), 5, 0, 0, 5};
  memcpy(&words[5], "odom", 5);
  memcpy(&words[8], "base", 5);
  const double w = 1;
  memcpy(&words[23], &w, sizeof w);
  if (now_ns) check(tb_ros2_publisher_publish(tf, words, sizeof words, NULL), "/tf");
}

static void send_pose(void)
{
  static int64_t last_ns;
  static unsigned count, zeros;
  int64_t now_ns = time_of("stale", &last_ns);
  if (has("jitter") && now_ns && count++ % 2) now_ns -= 120 * MS;
  if (!now_ns && (!has("zero") || zeros == ZEROS_MAX)) return;
  zeros += now_ns == 0;
  publish_header(pose, now_ns);
}

static void send_stop(void)
{
  pthread_mutex_lock(&mutex);
  bool is_lost = last_input_ns < 0 || llabs(guard_now() - last_input_ns) > LOST_NS;
  pthread_mutex_unlock(&mutex);
  static bool was_good, is_latched;
  was_good |= !is_lost;
  is_latched |= has("latch") && was_good && is_lost;
  uint8_t message[8] = {0, 1, 0, 0, is_lost || is_latched || has("tripped")};
  check(tb_ros2_publisher_publish(stop, message, sizeof message, NULL), "/stop");
}

static tb_ros2_node_t *make_node(const char *name, bool use_sim_time)
{
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_parameter_t sim_time = {"use_sim_time", tb_ros2_parameter_bool(use_sim_time)};
  tb_ros2_node_t *node = NULL;
  options.parameter_overrides = &sim_time;
  options.parameter_override_count = 1;
  check(tb_ros2_node_create(context, name, "/", &options, &node, NULL), name);
  return node;
}

static tb_ros2_publisher_t *make_publisher(tb_ros2_node_t *node, const char *topic,
                                           const char *type)
{
  tb_ros2_publisher_t *publisher = NULL;
  check(tb_ros2_node_create_publisher(node, topic, type, NULL, &publisher, NULL), topic);
  return publisher;
}

static void listen_to(tb_ros2_node_t *node, const char *topic,
                      tb_ros2_subscription_callback_t callback)
{
  static tb_ros2_subscription_t *subscriptions[4];
  static size_t count;
  tb_ros2_subscription_options_t options = {callback, NULL};
  check(tb_ros2_node_create_subscription(node, topic, "std_msgs/msg/Header", NULL, &options,
                                         &subscriptions[count++], NULL),
        topic);
}

static void leave_child(void)
{
  pid_t child = fork();
  if (child > 0) {
    fprintf(stderr, "child %d\nchild %d\n", (int)getpid(), (int)child);
    return;
  }
  signal(SIGINT, SIG_IGN);
  for (;;)
    pause();
}

static void on_signal(int number)
{
  signalled = number;
}

static void open_stack(void)
{
  tb_ros2_clock_publisher_t *clock = NULL;
  check(tb_ros2_context_create(NULL, &context, NULL), "context");
  estimator = make_node("estimator", true);
  guard = make_node("guard", true);
  if (has("wall")) (void)make_node("logger", false);
  odom = make_publisher(estimator, "/odom", "std_msgs/msg/Header");
  pose = make_publisher(estimator, "/pose", "std_msgs/msg/Header");
  tf = make_publisher(estimator, "/tf", "tf2_msgs/msg/TFMessage");
  stop = make_publisher(guard, "/stop", "std_msgs/msg/Bool");
  if (has("glimpse"))
    for (int i = 0; i < 3; i++)
      publish_header(pose, 0);
  if (has("clock"))
    check(tb_ros2_node_create_clock_publisher(guard, NULL, NULL, &clock, NULL), "/clock");
  listen_to(estimator, "/scan", on_scan);
  listen_to(guard, "/imu", on_imu);
}

int main(int argc, char **argv)
{
  struct sigaction action = {.sa_handler = on_signal};
  if (argc > 1) fault = argv[1];
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  if (has("leaves")) leave_child();
  open_stack();
  for (int64_t next_ns = 0; !signalled;) {
    send_odom();
    int64_t now_ns = steady_now();
    if (now_ns >= next_ns) {
      next_ns = now_ns + PERIOD_NS;
      send_pose();
      send_tf();
      send_stop();
    }
    struct timespec turn = {0, TURN_NS};
    nanosleep(&turn, NULL);
  }
  _exit(0);
}
