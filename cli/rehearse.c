/* `timebase rehearse`: the acceptance of a stack that is not changed for it. */
#include "rehearse.h"

#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bag.h"
#include "json.h"
#include "manifest.h"
#include "play_topics.h"
#include "publishers.h"
#include "text.h"

#define TURN_MS             2
#define NAMED_NS            TB_NS_PER_S
#define STEP_NS             (50 * TB_NS_PER_MS)
#define DISCOVERY_NS        (5 * TB_NS_PER_S) /* before the stack is started */
#define DEFINITIONS_NS      (6 * TB_NS_PER_S) /* for the answers of nodes about their types */
#define FIRST_TICK_NS       (10 * TB_NS_PER_S)
#define FIRST_TICK_GRACE_NS (100 * TB_NS_PER_MS)
#define END_NS              (100 * TB_NS_PER_MS) /* a run ends before the recording does */
#define CLOCK_HZ            100.0
#define START_LIMIT_NS      (30 * TB_NS_PER_S)
#define UNTIL_THE_END       INT64_MAX

/* --- time --- */

int64_t rehearse_now(const rehearse_t *rehearse)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(rehearse->observe.steady, &now);
  return now.ns;
}

void rehearse_report(const rehearse_t *rehearse, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  flockfile(stderr);
  text_err("timebase %s: ", rehearse->command->name);
  text_to_v(stderr, format, arguments);
  text_err("\n");
  funlockfile(stderr);
  va_end(arguments);
}

/* Its node is known a moment after it. */
static void look_for_other_clock(rehearse_t *rehearse, int64_t now_ns)
{
  char node[256] = "";
  if (!rehearse_has_other_clock(rehearse, node, sizeof node)) return;
  if (!rehearse->other_clock_ns) rehearse->other_clock_ns = now_ns;
  if (node[0] != '/' && now_ns - rehearse->other_clock_ns < NAMED_NS) return;
  snprintf(rehearse->why, sizeof rehearse->why,
           "not reached: /clock is also published by %s; stop it, or start the stack without it",
           node);
}

static void attend_graph(rehearse_t *rehearse, int64_t now_ns)
{
  if (now_ns < rehearse->next_step_ns) return;
  rehearse->next_step_ns = now_ns + STEP_NS;
  observe_step(&rehearse->observe);
  rehearse_recording_poll(&rehearse->recording);
  if (now_ns >= rehearse->next_second_ns) {
    rehearse->next_second_ns = now_ns + TB_NS_PER_S;
    observe_end_second(&rehearse->observe);
  }
  look_for_other_clock(rehearse, now_ns);
}

bool rehearse_turn(rehearse_t *rehearse)
{
  char status[64];
  struct pollfd fd = {command_signal_fd(), POLLIN, 0};
  if (rehearse->why[0]) return false;
  if (poll(&fd, 1, TURN_MS) > 0) {
    rehearse->is_signalled = true;
    snprintf(rehearse->why, sizeof rehearse->why, "not reached: a signal ended the rehearsal");
    return false;
  }
  attend_graph(rehearse, rehearse_now(rehearse));
  if (rehearse_stack_has_ended(&rehearse->stack)) {
    rehearse_stack_describe(&rehearse->stack, status, sizeof status);
    snprintf(rehearse->why, sizeof rehearse->why, "not reached: the command ended early, with %s",
             status);
  } else if (atomic_load(&rehearse->player.is_done)) {
    snprintf(rehearse->why, sizeof rehearse->why, "not reached: the player ended early: %.200s",
             rehearse->player.error.text);
  }
  return !rehearse->why[0];
}

bool rehearse_wait_until(rehearse_t *rehearse, int64_t until_ns)
{
  while (rehearse_now(rehearse) < until_ns)
    if (!rehearse_turn(rehearse)) return false;
  return true;
}

/* --- opening --- */

/* On a thread of DDS. */
static void on_tick(const tb_ros2_sample_t *sample, void *user)
{
  rehearse_t *rehearse = user;
  const observe_clock_t *clock = &rehearse->observe.clock;
  tb__message_t message;
  int64_t steady_ns = rehearse_now(rehearse), tick_ns = 0;
  size_t at = 0;
  if (tb__message_open(&message, clock->schema, sample->cdr, sample->size) ||
      tb__field_path_find(clock->path, &message, 0, &at) ||
      tb__message_time(&message, &at, &tick_ns))
    return;
  pthread_mutex_lock(&rehearse->tick_lock);
  if (rehearse->is_in_run) tb__run_factor_feed(&rehearse->factor, tick_ns, steady_ns);
  pthread_mutex_unlock(&rehearse->tick_lock);
}

/* EXIT_OK, or a message was printed. */
static int open_observer(rehearse_t *rehearse)
{
  static const char *const all[] = {"*"};
  observe_t *observe = &rehearse->observe;
  const rehearse_arguments_t *arguments = rehearse->arguments;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  tb_ros2_subscription_options_t options = {on_tick, rehearse};
  observe->command = rehearse->command;
  observe->filters = all;
  observe->filter_count = 1;
  observe->topics_max = OBSERVE_TOPICS_MAX;
  observe->is_reliable = true;
  observe->reads_edges = true;
  for (size_t i = 0; i < rehearse->manifest.path_count && i < OBSERVE_PATHS_MAX; i++) {
    const tb__manifest_path_t *path = &rehearse->manifest.paths[i];
    if (!observe_add_path(observe, strdup(path->from), strdup(path->to), path->budget_ns, false))
      return command_failed(rehearse->command, TB_ERR_NO_MEMORY, NULL);
  }
  int result =
      observe_open(observe, arguments->domain, arguments->folders, arguments->folder_count);
  if (result) return result;
  tb_status_t status = tb_ros2_subscription_create(observe->context, "/clock", CLOCK_TYPE, &qos,
                                                   &options, &rehearse->ticks, &error);
  return status ? command_failed(rehearse->command, status, &error) : EXIT_OK;
}

static int load_manifest(rehearse_t *rehearse)
{
  const char *path = rehearse->arguments->manifest;
  int result = manifest_load(rehearse->command, path, &rehearse->manifest, NULL);
  if (result) return result;
  const char *clock = rehearse->manifest.clock.topic;
  if (!clock || strcmp(clock, "/clock") != 0)
    return command_usage_error(
        rehearse->command,
        "%s: a rehearsal plays with /clock; write mode replay, and no clock.topic", path);
  return EXIT_OK;
}

static int refuse_ros1(const rehearse_t *rehearse, const tb_bag_reader_t *reader)
{
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  tb_error_t error = TB_ERROR_INIT;
  for (size_t i = 0; i < info->topic_count; i++)
    if (strcmp(info->topics[i].serialization_format, "ros1") != 0) return EXIT_OK;
  if (info->topic_count == 0) return EXIT_OK;
  tb_error_set(
      &error, TB_ERR_UNSUPPORTED,
      "%s is a recording of ROS 1; convert it for a rehearsal: 'timebase bag convert %s -o "
      "OUT.mcap'",
      info->path, info->path);
  return command_failed(rehearse->command, error.status, &error);
}

/* Before anything is started. The reader is of all topics. */
static int check_bag(const rehearse_t *rehearse, tb_bag_reader_t **out)
{
  const tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  int result = bag_open_run(rehearse->command, &rehearse->arguments->bag, 1, &options, out);
  return result ? result : refuse_ros1(rehearse, *out);
}

/* --- the steps --- */

/* EXIT_OK, or a message was printed: another publisher of /clock. */
static int refuse_other_clock(rehearse_t *rehearse)
{
  char node[256] = "";
  rehearse_settle(rehearse, DISCOVERY_NS);
  while (rehearse_has_other_clock(rehearse, node, sizeof node) && node[0] != '/' &&
         rehearse_turn(rehearse))
    ; /* until it is named */
  if (rehearse->is_signalled) return EXIT_OK;
  if (rehearse_has_other_clock(rehearse, node, sizeof node)) {
    rehearse_report(rehearse,
                    "refused: /clock is published by %s; stop it, or use another --domain", node);
    return EXIT_CHECK;
  }
  tb_status_t status = tb_ros2_graph_snapshot(rehearse->observe.graph, &rehearse->before, NULL);
  return status ? command_failed(rehearse->command, status, NULL) : EXIT_OK;
}

static bool has_endpoints(const rehearse_t *rehearse)
{
  const tb_ros2_graph_snapshot_t *snapshot = rehearse->observe.snapshot;
  for (size_t i = 0; snapshot && i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (endpoint->kind == TB_ROS2_ENDPOINT_TOPIC && strcmp(endpoint->name, "/rosout") != 0 &&
        strcmp(endpoint->name, "/parameter_events") != 0 &&
        rehearse_is_of_stack(rehearse, endpoint->participant_guid))
      return true;
  }
  return false;
}

/* The stack has come up. */
static bool await_start(rehearse_t *rehearse)
{
  int64_t end_ns = rehearse_now(rehearse) + rehearse->arguments->start_limit.ns;
  while (!has_endpoints(rehearse)) {
    if (!rehearse_turn(rehearse)) return false;
    if (rehearse_now(rehearse) < end_ns) continue;
    snprintf(rehearse->why, sizeof rehearse->why,
             "not reached: the command had no topics on the graph within the limit of its start "
             "(--start-limit)");
    return false;
  }
  return true;
}

bool rehearse_restart(rehearse_t *rehearse)
{
  rehearse_stack_end(&rehearse->stack);
  rehearse_stack_t ended = rehearse->stack;
  int result = rehearse_stack_start(rehearse->command, rehearse->arguments->command,
                                    rehearse->arguments->domain, &rehearse->stack);
  if (result) {
    rehearse->stack = ended;
    snprintf(rehearse->why, sizeof rehearse->why, "not reached: the command did not start again");
    return false;
  }
  /* Endpoints of a process that was killed stay for a while: the new ones decide. */
  return await_start(rehearse) && rehearse_settle(rehearse, rehearse->arguments->start_limit.ns);
}

/* It was quiet for as long as is declared. */
static bool await_quiet(rehearse_t *rehearse)
{
  if (!await_start(rehearse)) return false;
  rehearse_report(rehearse, "the stack is up; no /clock for a while");
  if (!rehearse_settle(rehearse, rehearse->arguments->start_limit.ns)) return false;
  int64_t begin_ns = rehearse_now(rehearse);
  while (definition_requests_awaited(rehearse->observe.requests) &&
         rehearse_now(rehearse) < begin_ns + DEFINITIONS_NS)
    if (!rehearse_turn(rehearse)) return false;
  return rehearse_wait_until(rehearse, begin_ns + rehearse->manifest.rehearsal.quiet_ns);
}

/* EXIT_OK, or a message was printed. *out_goes_on: there is something to play. */
static int begin_playing(rehearse_t *rehearse, tb_bag_reader_t *bag, bool *out_goes_on)
{
  const rehearse_arguments_t *arguments = rehearse->arguments;
  double hz = rehearse->manifest.clock.rate_hz > 0 ? rehearse->manifest.clock.rate_hz : CLOCK_HZ;
  size_t count = 0;
  const char **topics = rehearse_choose_inputs(rehearse, tb_bag_reader_info(bag), &count);
  if (!topics) return command_failed(rehearse->command, TB_ERR_NO_MEMORY, NULL);
  if (!count) {
    free(topics);
    *out_goes_on = false;
    snprintf(rehearse->why, sizeof rehearse->why,
             "not reached: the stack subscribes to no topic of the recording that it does not "
             "publish; name the topics to play in rehearsal.inputs");
    return EXIT_OK;
  }
  int result = rehearse_recording_begin(&rehearse->recording, rehearse->command, arguments->output,
                                        arguments->manifest, arguments->domain);
  if (!result)
    result = rehearse_player_open(rehearse->command, arguments->bag, topics, count, hz,
                                  arguments->domain, &rehearse->player);
  free(topics);
  *out_goes_on = !result && rehearse_settle(rehearse, DISCOVERY_NS);
  if (!*out_goes_on) return result;
  rehearse_end_quiet(rehearse);
  return rehearse_player_start(&rehearse->player);
}

static void set_in_run(rehearse_t *rehearse, bool is_in_run)
{
  pthread_mutex_lock(&rehearse->tick_lock);
  rehearse->is_in_run = is_in_run;
  pthread_mutex_unlock(&rehearse->tick_lock);
}

/* Plays up to that time after the start, or to just before the end. */
static bool play_for(rehearse_t *rehearse, int64_t run_ns)
{
  tb_player_status_t status;
  int64_t end_ns = rehearse_now(rehearse) + FIRST_TICK_NS;
  while (observe_now(&rehearse->observe, 0).ros_ns <= 0 ||
         !observe_now(&rehearse->observe, 0).is_clock) {
    if (!rehearse_turn(rehearse)) return false;
    if (rehearse_now(rehearse) < end_ns) continue;
    snprintf(rehearse->why, sizeof rehearse->why, "not reached: no tick of /clock came");
    return false;
  }
  /* Nodes that have the first tick later than it came here still stamp without it. */
  bool goes_on = rehearse_wait_until(rehearse, rehearse_now(rehearse) + FIRST_TICK_GRACE_NS);
  rehearse_begin_run(rehearse);
  set_in_run(rehearse, true);
  do {
    goes_on = goes_on && rehearse_turn(rehearse);
    tb_player_status(rehearse->player.player, &status);
  } while (goes_on && !status.loops && status.position_ns < status.end_ns - END_NS &&
           status.position_ns - status.start_ns < run_ns);
  set_in_run(rehearse, false);
  if (goes_on && run_ns < UNTIL_THE_END &&
      (status.loops || status.position_ns - status.start_ns < run_ns))
    tb__rehearsal_note(&rehearse->result, TB__STEP_RUN, TB__PROOF_NONE,
                       "the recording is shorter than rehearsal.run; use a longer one");
  return goes_on;
}

/* EXIT_OK, or a message was printed. */
static int act(rehearse_t *rehearse, tb_bag_reader_t *bag)
{
  int64_t run_ns = rehearse->manifest.rehearsal.run_ns;
  bool goes_on = false;
  if (!await_quiet(rehearse)) return EXIT_OK;
  int result = begin_playing(rehearse, bag, &goes_on);
  if (result || !goes_on) return result;
  rehearse_report(rehearse, "a run at 1x");
  goes_on = play_for(rehearse, run_ns ? run_ns : UNTIL_THE_END);
  rehearse_judge_quiet(rehearse);
  if (!goes_on) return EXIT_OK;
  rehearse->has_run = true;
  rehearse_judge_run(rehearse);
  result = rehearse_recording_end(&rehearse->recording);
  if (!result) result = rehearse_judge_bases(rehearse);
  if (result) return result;
  rehearse_report(rehearse, "a seek back");
  if (!rehearse_seek_back(rehearse)) return EXIT_OK;
  rehearse_report(rehearse, "a pause");
  if (!rehearse_pause(rehearse)) return EXIT_OK;
  rehearse_report(rehearse, "withheld inputs");
  (void)rehearse_withhold(rehearse);
  return EXIT_OK;
}

static int show(rehearse_t *rehearse)
{
  const rehearse_arguments_t *arguments = rehearse->arguments;
  tb_error_t error = TB_ERROR_INIT;
  tb__rehearsal_end(&rehearse->result, rehearse->why[0] ? rehearse->why : "not reached");
  int result = tb__rehearsal_verdict(&rehearse->result) == TB__PROOF_PASS ? EXIT_OK : EXIT_CHECK;
  if (arguments->junit &&
      tb__rehearsal_junit_write(&rehearse->result, arguments->bag, arguments->junit, &error))
    result = command_failed(rehearse->command, error.status, &error);
  if (arguments->json) return json_finish(rehearse->command, rehearse_json(rehearse), result);
  rehearse_print(rehearse);
  return result;
}

static void close_all(rehearse_t *rehearse)
{
  rehearse_stack_end(&rehearse->stack);
  rehearse_recording_close(&rehearse->recording);
  rehearse_player_close(&rehearse->player);
  rehearse_safety_close(&rehearse->safety);
  tb_ros2_subscription_destroy(rehearse->ticks);
  tb_ros2_graph_snapshot_release(rehearse->before);
  tb_ros2_graph_snapshot_release(rehearse->quiet);
  observe_close(&rehearse->observe);
}

static int rehearse_stack(rehearse_t *rehearse)
{
  const rehearse_arguments_t *arguments = rehearse->arguments;
  tb_bag_reader_t *bag = NULL;
  if (access(arguments->output, F_OK) == 0)
    return command_usage_error(rehearse->command,
                               "--output: %s already exists; choose another name (nothing was "
                               "changed)",
                               arguments->output);
  int result = check_bag(rehearse, &bag);
  command_show_log(rehearse->command);
  command_catch_signals();
  rehearse_safety_init(&rehearse->safety, &rehearse->manifest.rehearsal.safety);
  if (!result) result = open_observer(rehearse);
  if (!result) result = refuse_other_clock(rehearse);
  if (!result && !rehearse->is_signalled)
    result = rehearse_stack_start(rehearse->command, arguments->command, arguments->domain,
                                  &rehearse->stack);
  if (!result && !rehearse->is_signalled) result = act(rehearse, bag);
  int ended = rehearse_recording_end(&rehearse->recording);
  close_all(rehearse);
  tb_bag_reader_close(bag);
  if (!result) result = ended;
  if (!result && rehearse->has_run && !rehearse->is_signalled)
    result = rehearse_recording_judge(&rehearse->recording, &rehearse->result);
  return result ? result : show(rehearse);
}

/* --- arguments --- */

enum { OPTION_JUNIT = 256, OPTION_DEFINITIONS, OPTION_DOMAIN, OPTION_START };

static void name_output(rehearse_arguments_t *arguments)
{
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  strftime(arguments->default_output, sizeof arguments->default_output,
           "rehearsal_%Y_%m_%d-%H_%M_%S", &local);
  arguments->output = arguments->default_output;
}

/* EXIT_OK, or a message was printed. */
static int take_option(const command_t *command, int option, char **argv, rehearse_arguments_t *out)
{
  switch (option) {
  case 'j':
    out->json = true;
    return EXIT_OK;
  case 'm':
    out->manifest = optarg;
    return EXIT_OK;
  case 'o':
    out->output = optarg;
    return EXIT_OK;
  case OPTION_JUNIT:
    out->junit = optarg;
    return EXIT_OK;
  case OPTION_DOMAIN:
    return command_parse_domain(command, optarg, &out->domain) ? EXIT_OK : EXIT_USAGE;
  case OPTION_START:
    return command_parse_limit(command, "--start-limit", optarg, &out->start_limit) ? EXIT_OK
                                                                                    : EXIT_USAGE;
  case OPTION_DEFINITIONS:
    if (out->folder_count == OBSERVE_FOLDERS_MAX)
      return command_usage_error(command, "--definitions: more than %d", OBSERVE_FOLDERS_MAX);
    out->folders[out->folder_count++] = optarg;
    return EXIT_OK;
  default:
    return command_bad_option(command, option, argv);
  }
}

/* False: *result is set. */
static bool parse(const command_t *command, int argc, char **argv, rehearse_arguments_t *out,
                  int *result)
{
  static const struct option options[] = {
      {"manifest", required_argument, NULL, 'm'},
      {"output", required_argument, NULL, 'o'},
      {"junit", required_argument, NULL, OPTION_JUNIT},
      {"definitions", required_argument, NULL, OPTION_DEFINITIONS},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"start-limit", required_argument, NULL, OPTION_START},
      {"json", no_argument, NULL, 'j'},
      {"help", no_argument, NULL, 'h'},
      {0}};
  for (int option; (option = command_next_option(argc, argv, "-:hm:o:", options)) != -1;) {
    *result = EXIT_OK;
    if (option == 'h')
      *result = command_help(command);
    else if (option == 1 && !out->bag)
      out->bag = optarg;
    else if (option == 1)
      *result =
          command_usage_error(command, "unexpected argument '%s'; write -- before COMMAND", optarg);
    else
      *result = take_option(command, option, argv, out);
    if (*result || option == 'h') return false;
  }
  *result = EXIT_USAGE;
  if (!out->bag)
    command_usage_error(command, "missing BAG");
  else if (!out->manifest)
    command_usage_error(command, "missing -m MANIFEST");
  else if (optind == argc)
    command_usage_error(command, "missing -- COMMAND");
  else
    *result = EXIT_OK;
  out->command = &argv[optind];
  if (!out->output) name_output(out);
  return *result == EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  rehearse_arguments_t arguments = {.domain = -1, .start_limit = {START_LIMIT_NS}};
  int result = EXIT_OK;
  if (!parse(command, argc, argv, &arguments, &result)) return result;
  rehearse_t *rehearse = calloc(1, sizeof *rehearse);
  observe_path_t *paths = calloc(OBSERVE_PATHS_MAX, sizeof *paths);
  if (!rehearse || !paths) {
    free(rehearse);
    free(paths);
    return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  }
  rehearse->command = command;
  rehearse->arguments = &arguments;
  rehearse->observe.paths = paths;
  pthread_mutex_init(&rehearse->tick_lock, NULL);
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    pthread_mutex_init(&paths[i].lock, NULL);
  result = load_manifest(rehearse);
  if (!result) result = rehearse_stack(rehearse);
  observe_close_paths(&rehearse->observe);
  tb__manifest_fini(&rehearse->manifest);
  pthread_mutex_destroy(&rehearse->tick_lock);
  free(rehearse);
  return command_finish(command, result);
}

const command_t command_rehearse = {
    .name = "rehearse",
    .summary = "play a recording to a stack and judge how it handles time",
    .usage = "timebase rehearse BAG -m MANIFEST [-o BAG] [--junit FILE] [--json]\n"
             "                         [--definitions DIR]... [--start-limit D] [--domain N]\n"
             "                         -- COMMAND...",
    .help =
        "Starts COMMAND, a stack of nodes that is not changed for it, plays BAG to it with "
        "/clock,\n"
        "and judges seven steps, each PASS, FAIL or NOT PROVEN with its evidence:\n\n"
        "  use-sim-time    each node is on the time that the manifest has for it\n"
        "  quiet-start     no message with a stamp before the first tick of /clock\n"
        "  run             at 1x, with a measured factor of 0.98 to 1.02, ages and latencies are\n"
        "                  within the budgets of topics and paths\n"
        "  seek-back       outputs resume in time, with stamps of the new time alone\n"
        "  pause           the safety output trips, in steady time, while time is paused\n"
        "  withheld-input  and when an input stops\n"
        "  recording       that was made of the run passes 'timebase check'\n\n"
        "The section 'rehearsal' of the manifest declares inputs, outputs, limits and the safety\n"
        "output; see docs/manifest.md. What it does not declare is NOT PROVEN. Of BAG those "
        "topics\n"
        "are played that COMMAND subscribes to and does not publish itself. COMMAND's output goes\n"
        "to standard error. It runs in a process group of its own, which is ended with SIGINT\n"
        "(after 5 s SIGTERM, after 2 s more SIGKILL) when the rehearsal ends, however it ends.\n\n"
        "  -m, --manifest FILE  what the stack should do\n"
        "  -o, --output BAG     the recording of the run (default rehearsal_DATE-TIME)\n"
        "  --junit FILE         write JUnit XML too: a test case for each step; FAIL is a "
        "failure,\n"
        "                       NOT PROVEN an error\n"
        "  --definitions DIR    look for DIR/package/msg/Name.msg or .idl too; may be repeated\n"
        "  --start-limit D      how long COMMAND may take until it has topics (default 30s)\n"
        "  --domain N           DDS domain, 0 to 232, also COMMAND's (default: ROS_DOMAIN_ID, "
        "else\n"
        "                       0)\n"
        "  --json               print one JSON object\n"
        "  -h, --help           this text\n\n"
        "Exit status: 0 all steps passed; 1 one did not, or /clock is published by others; 2 "
        "wrong\n"
        "usage or manifest; 3 files or transport.\n",
    .run = run,
};
