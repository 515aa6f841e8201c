#include "graph_view.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/ros2_type_hash.h>
#include <unistd.h>

#include "similar.h"
#include "text.h"
#include "unnamed.h"

#define QUIET_NS            (500 * TB_NS_PER_MS)
#define QUIET_WHEN_EMPTY_NS (2 * TB_NS_PER_S)
#define SETTLE_LIMIT_NS     (5 * TB_NS_PER_S)
#define LOOK_NS             (100 * TB_NS_PER_MS)
#define SLICE_NS            (50 * TB_NS_PER_MS) /* a signal is noticed within it */
#define STACK_SIZE          (512 * 1024)
#define SUGGESTIONS_MAX     3
#define ANSWER_MAX          "1 MiB"
#define AT_ONCE_MAX         128

static const atomic_int *signalled;

int graph_options_take(const command_t *command, int option, char **argv, graph_options_t *options)
{
  bool good;
  switch (option) {
  case GRAPH_OPTION_WAIT:
    good = command_parse_limit(command, "--wait", optarg, &options->wait);
    break;
  case GRAPH_OPTION_LIMIT:
    good = command_parse_limit(command, "--limit", optarg, &options->limit);
    break;
  case GRAPH_OPTION_DOMAIN:
    good = command_parse_domain(command, optarg, &options->domain);
    break;
  default:
    return command_bad_option(command, option, argv);
  }
  return good ? EXIT_OK : EXIT_USAGE;
}

static int64_t now_ns(const graph_view_t *view)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(view->steady, &now);
  return now.ns;
}

void graph_view_limit_answers(void)
{
  const char *settings = getenv("CYCLONEDDS_URI");
  char *text = NULL;
  int length = asprintf(&text,
                        "%s%s<Domain><Internal><MaxSampleSize>" ANSWER_MAX
                        "</MaxSampleSize></Internal></Domain>",
                        settings ? settings : "", settings && *settings ? "," : "");
  if (length >= 0) setenv("CYCLONEDDS_URI", text, 1);
  if (length >= 0) free(text);
}

int graph_view_open(const command_t *command, int domain, graph_view_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  options.has_domain_id = domain >= 0;
  options.domain_id = domain >= 0 ? domain : 0;
  *out = (graph_view_t){.command = command};
  command_show_log(command);
  tb_status_t status = tb_steady_clock_create(&out->steady);
  if (!status) status = tb_ros2_context_create(&options, &out->context, &error);
  if (!status) status = tb_ros2_graph_create(out->context, &out->graph, &error);
  if (status) return command_failed(command, status, &error);
  out->begin_ns = now_ns(out);
  signalled = command_catch_signals();
  return EXIT_OK;
}

void graph_view_close(graph_view_t *view)
{
  tb_ros2_graph_snapshot_release(view->snapshot);
  tb_ros2_graph_destroy(view->graph);
  tb_ros2_context_destroy(view->context);
  tb_steady_clock_destroy(view->steady);
  *view = (graph_view_t){0};
}

void graph_view_end_by_signal(void)
{
  signal(*signalled, SIG_DFL);
  raise(*signalled);
}

/* TB_ERR_TIMEOUT: no change until then. */
static tb_status_t wait_for_change(const graph_view_t *view, uint32_t seen, int64_t until_ns)
{
  for (;;) {
    int64_t left_ns = until_ns - now_ns(view);
    if (*signalled) graph_view_end_by_signal();
    if (left_ns <= 0) return TB_ERR_TIMEOUT;
    tb_duration_t slice = {left_ns < SLICE_NS ? left_ns : SLICE_NS};
    tb_status_t status =
        tb_ros2_graph_wait_for_change(view->graph, seen, &(tb_wait_options_t){.limit = slice});
    if (status != TB_ERR_TIMEOUT) return status;
  }
}

int graph_view_refresh(graph_view_t *view)
{
  tb_error_t error = TB_ERROR_INIT;
  const tb_ros2_graph_snapshot_t *snapshot;
  tb_status_t status = tb_ros2_graph_snapshot(view->graph, &snapshot, &error);
  if (status) return command_failed(view->command, status, &error);
  tb_ros2_graph_snapshot_release(view->snapshot);
  view->snapshot = snapshot;
  return EXIT_OK;
}

/* Participants are waited for only once, however often the view settles. */
static int64_t settle_deadline_ns(const graph_view_t *view, tb_duration_t wait, int64_t begin_ns,
                                  int64_t changed_ns)
{
  if (wait.ns > 0) return wait.ns < INT64_MAX - begin_ns ? begin_ns + wait.ns : INT64_MAX;
  int64_t quiet_ns = changed_ns + (view->snapshot->node_count ? QUIET_NS : QUIET_WHEN_EMPTY_NS);
  int64_t awaited_ns = view->begin_ns + SETTLE_LIMIT_NS;
  if (view->snapshot->awaited_count && quiet_ns < awaited_ns) quiet_ns = awaited_ns;
  return quiet_ns < begin_ns + SETTLE_LIMIT_NS ? quiet_ns : begin_ns + SETTLE_LIMIT_NS;
}

/* Whether a participant is still awaited may change without a change of the graph. */
int graph_view_settle(graph_view_t *view, tb_duration_t wait, graph_view_enough_t is_enough,
                      void *user)
{
  int64_t begin_ns = now_ns(view), changed_ns = begin_ns;
  for (;;) {
    uint32_t seen = tb_ros2_graph_changes(view->graph);
    int result = graph_view_refresh(view);
    if (result || (is_enough && is_enough(view, user))) return result;
    int64_t deadline_ns = settle_deadline_ns(view, wait, begin_ns, changed_ns);
    int64_t look_ns = now_ns(view) + LOOK_NS;
    bool looks_again = view->snapshot->awaited_count > 0 && look_ns < deadline_ns;
    tb_status_t status = wait_for_change(view, seen, looks_again ? look_ns : deadline_ns);
    if (status == TB_OK) changed_ns = now_ns(view);
    if (status == TB_ERR_TIMEOUT && !looks_again) return EXIT_OK;
    if (status && status != TB_ERR_TIMEOUT) return command_failed(view->command, status, NULL);
  }
}

typedef struct wanted {
  const char *const *names;
  size_t count;
  const char *service;
} wanted_t;

static bool are_present(const graph_view_t *view, void *user)
{
  const wanted_t *wanted = user;
  for (size_t i = 0; i < wanted->count; i++)
    if (!tb_ros2_graph_find_node(view->snapshot, wanted->names[i]) ||
        !graph_view_has_service(view, wanted->names[i], wanted->service))
      return false;
  return true;
}

int graph_view_await(graph_view_t *view, const char *const *names, size_t count,
                     const char *service, tb_duration_t wait)
{
  wanted_t wanted = {names, count, service};
  return graph_view_settle(view, wait, are_present, &wanted);
}

typedef struct jobs {
  graph_view_work_t work;
  void *user;
  size_t count;
  atomic_size_t next;
  int done; /* a pipe: a byte is written at the end of each */
} jobs_t;

static void *jobs_run(void *user)
{
  jobs_t *jobs = user;
  for (size_t i; (i = atomic_fetch_add(&jobs->next, 1)) < jobs->count;) {
    jobs->work(i, jobs->user);
    ssize_t written = write(jobs->done, "", 1);
    (void)written;
  }
  return NULL;
}

/* A call that waits for an answer cannot be interrupted: a signal ends the program, unless the
 * caller waits for the answers. */
static void jobs_await(const graph_view_t *view, size_t count, int done)
{
  struct pollfd fds[] = {{done, POLLIN, 0}, {command_signal_fd(), POLLIN, 0}};
  char bytes[64];
  while (count > 0) {
    poll(fds, view->defers_signals ? 1 : 2, -1);
    if (!view->defers_signals && *signalled) graph_view_end_by_signal();
    size_t wanted = count < sizeof bytes ? count : sizeof bytes;
    ssize_t got = fds[0].revents ? read(done, bytes, wanted) : 0;
    if (got > 0) count -= (size_t)got;
    fds[0].revents = 0;
  }
}

int graph_view_each(const graph_view_t *view, size_t count, graph_view_work_t work, void *user)
{
  int done[2];
  pthread_attr_t attributes;
  pthread_t threads[AT_ONCE_MAX];
  size_t begun = 0, wanted = count < AT_ONCE_MAX ? count : AT_ONCE_MAX;
  if (pipe(done) != 0) return command_failed(view->command, TB_ERR_SYSTEM, NULL);
  jobs_t jobs = {.work = work, .user = user, .count = count, .done = done[1]};
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_SIZE);
  while (begun < wanted && !pthread_create(&threads[begun], &attributes, jobs_run, &jobs))
    begun++;
  if (!begun) jobs_run(&jobs);
  jobs_await(view, count, done[0]);
  while (begun > 0)
    pthread_join(threads[--begun], NULL);
  pthread_attr_destroy(&attributes);
  close(done[0]);
  close(done[1]);
  return EXIT_OK;
}

static bool is_service_of(const tb_ros2_graph_endpoint_t *endpoint, const char *node,
                          const char *service)
{
  size_t length = strlen(node);
  return endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST && !endpoint->is_publisher &&
         strncmp(endpoint->name, node, length) == 0 && endpoint->name[length] == '/' &&
         strcmp(endpoint->name + length + 1, service) == 0;
}

bool graph_view_has_service(const graph_view_t *view, const char *node, const char *service)
{
  const tb_ros2_graph_snapshot_t *snapshot = view->snapshot;
  for (size_t i = 0; i < snapshot->endpoint_count; i++)
    if (is_service_of(&snapshot->endpoints[i], node, service)) return true;
  return false;
}

/* As the service announces them: nodes of ROS log a warning about a client without. */
void graph_view_register_hashes(const graph_view_t *view, const char *service)
{
  const tb_ros2_graph_snapshot_t *snapshot = view->snapshot;
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    bool is_request = endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST;
    bool is_reply = endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REPLY;
    char type[256];
    if ((!is_request && !is_reply) || !endpoint->type_hash || strcmp(endpoint->name, service) != 0)
      continue;
    snprintf(type, sizeof type, "%s%s", endpoint->type, is_request ? "_Request" : "_Response");
    (void)tb_ros2_type_hash_register(type, endpoint->type_hash, NULL);
  }
}

const char *graph_view_answer_text(tb_status_t status)
{
  switch (status) {
  case TB_OK:
    return "ok";
  case TB_ERR_TIMEOUT:
  case TB_ERR_NOT_FOUND:
    return "no answer";
  case TB_ERR_CLOSED:
    return "gone before it answered";
  case TB_ERR_CORRUPT:
    return "invalid answer";
  case TB_ERR_UNSUPPORTED:
    return "there is one of Fast DDS and one of Cyclone DDS of this name; nothing was sent";
  default:
    return tb_status_message(status);
  }
}

char *graph_view_node_name(const graph_view_t *view, const char *argument, int *out_status)
{
  tb_ros2_parameter_client_t *client = NULL;
  size_t size = strlen(argument) + 2;
  char *name = malloc(size);
  if (!name) {
    *out_status = command_failed(view->command, TB_ERR_NO_MEMORY, NULL);
    return NULL;
  }
  snprintf(name, size, "%s%s", argument[0] == '/' ? "" : "/", argument);
  tb_status_t status = tb_ros2_parameter_client_create(view->context, name, &client, NULL);
  tb_ros2_parameter_client_destroy(client);
  if (!status) return name;
  text_err("timebase %s: '", view->command->name);
  text_err("%s", argument);
  text_err("' is not a valid node name; write it as 'timebase nodes' prints it: /camera\n");
  *out_status = EXIT_USAGE;
  free(name);
  return NULL;
}

void graph_view_no_such_node(const graph_view_t *view, const char *name)
{
  const tb_ros2_graph_snapshot_t *snapshot = view->snapshot;
  int domain = tb_ros2_context_domain_id(view->context);
  int count = 0;
  text_err("timebase %s: there is no node ", view->command->name);
  text_err("%s", name);
  text_err(" in domain %d", domain);
  for (size_t i = 0; i < snapshot->node_count && count < SUGGESTIONS_MAX; i++) {
    if (graph_view_is_repeated(view, i) || !is_similar(name, snapshot->nodes[i].full_name))
      continue;
    text_err("%s", count++ ? " or " : "; did you mean ");
    text_err("%s", snapshot->nodes[i].full_name);
  }
  if (count)
    text_err("?");
  else if (unnamed_count(snapshot))
    text_err(" so far");
  else if (snapshot->node_count == 0)
    text_err(", which has no nodes; check ROS_DOMAIN_ID");
  else
    text_err("; 'timebase nodes' lists the nodes");
  if (!count && snapshot->node_count > 0 && unnamed_is_loopback(unnamed_own_addresses(snapshot))) {
    text_err("; nodes that do not use loopback are not seen (here ");
    text_err("%s", unnamed_own_addresses(snapshot));
    text_err(")");
  }
  text_err("\n");
}

void graph_view_print_empty(const graph_view_t *view)
{
  text_err("timebase %s: no nodes in domain %d", view->command->name,
           tb_ros2_context_domain_id(view->context));
  if (unnamed_count(view->snapshot)) {
    text_err(" so far\n");
    return;
  }
  text_err("; check ROS_DOMAIN_ID, and that nodes use the same network interface (here ");
  text_err("%s", unnamed_own_addresses(view->snapshot));
  text_err(")\n");
}

bool graph_view_is_repeated(const graph_view_t *view, size_t index)
{
  const tb_ros2_graph_node_t *nodes = view->snapshot->nodes;
  return index > 0 && strcmp(nodes[index].full_name, nodes[index - 1].full_name) == 0;
}
