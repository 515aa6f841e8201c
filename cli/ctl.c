#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_client.h>

#include "ctl_message.h"
#include "graph_view.h"
#include "json.h"
#include "text.h"

enum { OPTION_JSON = 256 };

/* What can be steered. The services of a player and a recorder are below its name, those of a
 * simulator in its namespace. */
typedef struct target {
  char *name, *prefix;
  bool is_simulator;
} target_t;

typedef struct arguments {
  bool json;
  graph_options_t graph;
  const verb_t *verb;
  const char *node; /* NULL: the only one */
  const char *value;
  request_values_t values;
} arguments_t;

typedef struct work {
  const command_t *command;
  const arguments_t *arguments;
  graph_view_t view;
  target_t *targets; /* that offer the service */
  size_t count;
  const operation_t *asked; /* of the call under way */
  const request_form_t *asked_form;
  const target_t *asked_target;
  answer_t answer;
} work_t;

/* --- calls --- */

static void call(size_t index, void *user)
{
  (void)index;
  work_t *work = user;
  const operation_t *operation = work->asked;
  const tb_wait_options_t options = {.limit = work->arguments->graph.limit};
  uint8_t request[REQUEST_MAX];
  char service[512];
  tb_ros2_client_t *client = NULL;
  tb_ros2_response_t response = {0};
  work->answer = (answer_t){0};
  snprintf(service, sizeof service, "%s/%s", work->asked_target->prefix, operation->service);
  graph_view_register_hashes(&work->view, service);
  tb_status_t status =
      tb_ros2_client_create(work->view.context, service, operation->type, NULL, &client, NULL);
  size_t size = ctl_make_request(operation, work->asked_form, &work->arguments->values, request);
  if (!status) status = tb_ros2_client_call(client, request, size, &options, &response, NULL);
  work->answer.status = status;
  if (!status) ctl_take_answer(&work->answer, &response);
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
}

/* --- nodes --- */

/* Where the name of the service begins, if the endpoint is a server of it; NULL: it is not. */
static const char *service_of(const tb_ros2_graph_endpoint_t *endpoint,
                              const operation_t *operation)
{
  const char *slash = strrchr(endpoint->name, '/');
  bool is_server = endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST && !endpoint->is_publisher;
  if (!is_server || !operation->service || !slash || strcmp(slash + 1, operation->service) != 0 ||
      strcmp(endpoint->type, operation->type) != 0)
    return NULL;
  return slash;
}

/* The server of a target's service; NULL: it has none. */
static const tb_ros2_graph_endpoint_t *server_of(const work_t *work, const target_t *target,
                                                 const operation_t *operation)
{
  const tb_ros2_graph_snapshot_t *snapshot = work->view.snapshot;
  size_t length = strlen(target->prefix);
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const char *name = snapshot->endpoints[i].name;
    const char *end = service_of(&snapshot->endpoints[i], operation);
    if (end && (size_t)(end - name) == length && strncmp(name, target->prefix, length) == 0)
      return &snapshot->endpoints[i];
  }
  return NULL;
}

static int ask(work_t *work, const operation_t *operation, const target_t *target)
{
  const tb_ros2_graph_endpoint_t *server = server_of(work, target, operation);
  work->asked = operation;
  work->asked_form = ctl_find_form(operation, server ? server->type_hash : NULL);
  work->asked_target = target;
  return graph_view_each(&work->view, 1, call, work);
}

static void target_release(target_t *target)
{
  free(target->name);
  free(target->prefix);
}

/* False: the endpoint is not of a service of that verb, or there is no memory. */
static bool find_target(const tb_ros2_graph_snapshot_t *snapshot,
                        const tb_ros2_graph_endpoint_t *endpoint, const verb_t *verb, target_t *out)
{
  const char *of_player = service_of(endpoint, &verb->player);
  const char *of_simulator = service_of(endpoint, &verb->simulator);
  const char *end = of_player ? of_player : of_simulator;
  if (!end || (of_player && end == endpoint->name)) return false;
  size_t length = (size_t)(end - endpoint->name);
  const char *node = endpoint->node >= 0 ? snapshot->nodes[endpoint->node].full_name : NULL;
  bool has_name = !of_player && node;
  *out = (target_t){
      .name = has_name ? strdup(node) : strndup(endpoint->name, length ? length : 1),
      .prefix = strndup(endpoint->name, length),
      .is_simulator = !of_player,
  };
  if (out->name && out->prefix) return true;
  target_release(out);
  return false;
}

static const target_t *listed(const work_t *work, const char *name)
{
  for (size_t i = 0; i < work->count; i++) {
    const target_t *target = &work->targets[i];
    if (target->name && strcmp(target->name, name) == 0) return target;
  }
  return NULL;
}

static void forget_targets(work_t *work)
{
  for (size_t i = 0; i < work->count; i++)
    target_release(&work->targets[i]);
  free(work->targets);
  work->targets = NULL;
  work->count = 0;
}

static int list_targets(work_t *work, const verb_t *verb)
{
  const tb_ros2_graph_snapshot_t *snapshot = work->view.snapshot;
  forget_targets(work);
  work->targets = calloc(snapshot->endpoint_count + 1, sizeof *work->targets);
  if (!work->targets) return command_failed(work->command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    target_t target;
    if (!find_target(snapshot, &snapshot->endpoints[i], verb, &target)) continue;
    if (listed(work, target.name))
      target_release(&target);
    else
      work->targets[work->count++] = target;
  }
  return EXIT_OK;
}

static bool is_there(const graph_view_t *view, const verb_t *verb, const char *node)
{
  bool is_found = false;
  for (size_t i = 0; i < view->snapshot->endpoint_count && !is_found; i++) {
    target_t target;
    if (!find_target(view->snapshot, &view->snapshot->endpoints[i], verb, &target)) continue;
    is_found = strcmp(target.name, node) == 0;
    target_release(&target);
  }
  return is_found;
}

/* What kind of node it is shows when all of its services are known. */
static bool is_enough(const graph_view_t *view, void *user)
{
  const arguments_t *arguments = user;
  bool wants_kind = arguments->verb->player.answer == ANSWER_BOOL;
  return !wants_kind && arguments->node && is_there(view, arguments->verb, arguments->node);
}

static bool is_player(const work_t *work, const target_t *target)
{
  return server_of(work, target, &ctl_get_rate);
}

static const char *kind_of(const work_t *work, const target_t *target)
{
  return target->is_simulator ? "simulator" : is_player(work, target) ? "player" : "recorder";
}

/* What a simulator has no service for. */
static void print_no_service(const work_t *work, const target_t *target)
{
  const verb_t *verb = work->arguments->verb;
  text_err("timebase %s: %s is a simulator", work->command->name, target->name);
  text_err(" (simulation_interfaces), and has no service for '%s'; it can pause, resume, toggle, "
           "step, reset, stop, status",
           verb->name);
  if (strcmp(verb->name, "rate") == 0)
    text_err(". Of timebase serve: --rate, and its keys + and -");
  if (strcmp(verb->name, "seek") == 0) text_err(". Of timebase serve: --start, and reset");
  text_err("\n");
}

static const target_t *first_simulator(const work_t *work)
{
  for (size_t i = 0; i < work->count; i++)
    if (work->targets[i].is_simulator) return &work->targets[i];
  return NULL;
}

static int no_node(work_t *work)
{
  const arguments_t *arguments = work->arguments;
  int result = list_targets(work, ctl_find_verb("pause"));
  if (result) return result;
  const target_t *named = arguments->node ? listed(work, arguments->node) : first_simulator(work);
  bool is_simulator = named && named->is_simulator && !arguments->verb->simulator.service;
  const operation_t *wanted = &arguments->verb->player;
  const char *service = wanted->service ? wanted->service : arguments->verb->simulator.service;
  if (is_simulator && (arguments->node || work->count == 1))
    print_no_service(work, named);
  else if (arguments->node && tb_ros2_graph_find_node(work->view.snapshot, arguments->node))
    text_err("timebase %s: '%s' has no service %s\n", work->command->name, arguments->node,
             service);
  else if (arguments->node)
    graph_view_no_such_node(&work->view, arguments->node);
  else if (work->count)
    text_err("timebase %s: neither player nor recorder has a service %s%s\n", work->command->name,
             service,
             strcmp(arguments->verb->name, "snapshot") == 0 ? "; record with --snapshot-mode" : "");
  else
    text_err("timebase %s: no player or recorder is running in this domain, and no simulator with "
             "services\n",
             work->command->name);
  return EXIT_CHECK;
}

static int several_nodes(const work_t *work)
{
  text_err("timebase %s: several nodes can %s: ", work->command->name, work->arguments->verb->name);
  for (size_t i = 0; i < work->count; i++)
    text_err("%s%s (%s)", i ? ", " : "", work->targets[i].name, kind_of(work, &work->targets[i]));
  text_err("; name one: timebase ctl %s %s\n", work->targets[0].name, work->arguments->verb->name);
  return EXIT_USAGE;
}

/* --- showing --- */

static double double_of(const uint8_t *body)
{
  uint64_t bits = ctl_get_u64(body);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* NULL: it was carried out. */
static const char *why_not(const work_t *work)
{
  const verb_t *verb = work->arguments->verb;
  const answer_t *answer = &work->answer;
  answer_kind_t kind = work->asked_form ? work->asked_form->answer : work->asked->answer;
  if (answer->status == TB_ERR_CORRUPT) return "its answer has no content";
  if (answer->status) return graph_view_answer_text(answer->status);
  uint8_t code = answer->body[kind == ANSWER_STATE];
  bool is_result = kind == ANSWER_RESULT || kind == ANSWER_STATE;
  bool is_refused = (kind == ANSWER_SUCCESS && !code) || (kind == ANSWER_CODE && code) ||
                    (is_result && code != RESULT_OK && code != RESULT_ALREADY_IN_TARGET_STATE);
  if (!is_refused) return NULL;
  return answer->text[0] ? answer->text : verb->refusal && !is_result ? verb->refusal : "refused";
}

static void print_json(json_t *object)
{
  (void)json_print(object, 0);
  command_flush();
}

static void show_answer(const work_t *work, const target_t *target, uint64_t done,
                        const char *problem)
{
  const verb_t *verb = work->arguments->verb;
  bool is_counted = verb->argument == ARGUMENT_COUNT || verb->argument == ARGUMENT_REPEATED;
  if (work->arguments->json) {
    json_t *object = json_object();
    json_put(object, "node", text_json(target->name));
    json_put(object, "verb", json_string(verb->name));
    json_put(object, "ok", json_boolean(!problem));
    if (is_counted)
      json_put(object, target->is_simulator ? "steps" : "messages", json_integer((json_int_t)done));
    if (problem) json_put(object, "reason", text_json(problem));
    print_json(object);
    return;
  }
  text_out("%s: ", target->name);
  if (is_counted && !(target->is_simulator && problem))
    text_out("%llu %s%s", (unsigned long long)done,
             !target->is_simulator ? "played"
             : done == 1           ? "step"
                                   : "steps",
             problem ? ", then " : "");
  text_out("%s\n", problem ? problem : is_counted ? "" : "ok");
  command_flush();
}

static const char *state_name(uint8_t state)
{
  static const char *const names[] = {"stopped", "playing", "paused", "quitting"};
  return state < sizeof names / sizeof *names ? names[state] : "in another state";
}

/* What is known of a target's state. */
typedef struct status_facts {
  const char *kind, *state, *problem;
  bool is_paused, has_rate;
  double rate;
} status_facts_t;

static void print_status_json(const target_t *target, const status_facts_t *facts)
{
  json_t *object = json_object();
  json_put(object, "node", text_json(target->name));
  json_put(object, "kind", json_string(facts->kind));
  json_put(object, "ok", json_boolean(!facts->problem));
  json_put(object, "paused", facts->problem ? json_null() : json_boolean(facts->is_paused));
  json_put(object, "state", facts->problem ? json_null() : text_json(facts->state));
  if (facts->has_rate)
    json_put(object, "rate",
             facts->problem || !isfinite(facts->rate) ? json_null() : json_real(facts->rate));
  if (facts->problem) json_put(object, "reason", text_json(facts->problem));
  print_json(object);
}

static void print_status(const target_t *target, const status_facts_t *facts)
{
  text_out("%s: %s", target->name, facts->kind);
  if (facts->problem) {
    text_out(": %s\n", facts->problem);
    return;
  }
  text_out(", %s", facts->state);
  if (facts->has_rate && isinf(facts->rate)) text_out(", as fast as possible");
  if (facts->has_rate && !isinf(facts->rate)) text_out(", rate %g", facts->rate);
  text_out("\n");
}

/* A player of rosbag2 does not say whether it is stopped. */
static int ask_player(work_t *work, const target_t *target, bool *out_stopped)
{
  *out_stopped = false;
  if (target->is_simulator || !server_of(work, target, &ctl_get_player_state)) return EXIT_OK;
  int result = ask(work, &ctl_get_player_state, target);
  *out_stopped = !result && strcmp(work->answer.text, "stopped") == 0;
  return result;
}

static int show_status(work_t *work, const target_t *target)
{
  const verb_t *verb = work->arguments->verb;
  const operation_t *operation = target->is_simulator ? &verb->simulator : &verb->player;
  status_facts_t facts = {.kind = kind_of(work, target)};
  bool is_stopped;
  int result = ask_player(work, target, &is_stopped);
  if (!result) result = ask(work, operation, target);
  if (result) return result;
  uint8_t state = work->answer.body[0];
  facts.problem = why_not(work);
  facts.has_rate = !target->is_simulator && is_player(work, target);
  facts.is_paused =
      target->is_simulator ? state == STATE_PAUSED || state == STATE_STOPPED : state != 0;
  facts.state = is_stopped             ? "stopped"
                : target->is_simulator ? state_name(state)
                : facts.is_paused      ? "paused"
                : facts.has_rate       ? "playing"
                                       : "recording";
  if (!facts.problem && facts.has_rate) {
    result = ask(work, &ctl_get_rate, target);
    if (result) return result;
    facts.problem = why_not(work);
    facts.rate = double_of(work->answer.body);
  }
  if (work->arguments->json)
    print_status_json(target, &facts);
  else
    print_status(target, &facts);
  return facts.problem ? EXIT_CHECK : EXIT_OK;
}

/* --- running --- */

static int steer_player(work_t *work, const target_t *target)
{
  const verb_t *verb = work->arguments->verb;
  uint64_t count = verb->argument == ARGUMENT_REPEATED ? work->arguments->values.count : 1,
           done = 0;
  const char *problem = NULL;
  bool is_stopped = false;
  int result = verb->wants_playback ? ask_player(work, target, &is_stopped) : EXIT_OK;
  if (is_stopped) problem = "playback is stopped; 'timebase ctl play' starts it again";
  for (; !result && done < count && !problem; done += !problem) {
    result = ask(work, &verb->player, target);
    if (!result) problem = why_not(work);
  }
  if (result) return result;
  if (verb->player.answer == ANSWER_COUNT && !is_stopped) done = ctl_get_u64(work->answer.body);
  show_answer(work, target, done, problem);
  return problem ? EXIT_CHECK : EXIT_OK;
}

/* There is no service that toggles: it is asked for its state first. */
static int steer_simulator(work_t *work, const target_t *target)
{
  const verb_t *verb = work->arguments->verb;
  const operation_t *operation = &verb->simulator;
  const char *problem = NULL;
  if (strcmp(verb->name, "toggle") == 0) {
    int result = ask(work, &ctl_get_state, target);
    if (result) return result;
    problem = why_not(work);
    if (work->answer.body[0] != STATE_PLAYING) operation = &ctl_set_playing;
  }
  if (!problem) {
    int result = ask(work, operation, target);
    if (result) return result;
    problem = why_not(work);
  }
  show_answer(work, target, work->arguments->values.count, problem);
  return problem ? EXIT_CHECK : EXIT_OK;
}

static int steer(work_t *work, const target_t *target)
{
  return target->is_simulator ? steer_simulator(work, target) : steer_player(work, target);
}

static int run_on_graph(work_t *work)
{
  const arguments_t *arguments = work->arguments;
  bool is_status = arguments->verb->player.answer == ANSWER_BOOL;
  int result = graph_view_settle(&work->view, arguments->graph.wait, is_enough, (void *)arguments);
  if (!result) result = list_targets(work, arguments->verb);
  if (result) return result;
  const target_t *named = arguments->node ? listed(work, arguments->node) : NULL;
  if (!work->count || (arguments->node && !named)) return no_node(work);
  if (named) return is_status ? show_status(work, named) : steer(work, named);
  if (!is_status) return work->count > 1 ? several_nodes(work) : steer(work, &work->targets[0]);
  for (size_t i = 0; i < work->count; i++) {
    int one = show_status(work, &work->targets[i]);
    if (one) result = one;
  }
  return result;
}

static int control(const command_t *command, arguments_t *arguments)
{
  work_t work = {.command = command, .arguments = arguments};
  char *node = NULL;
  int result = graph_view_open(command, arguments->graph.domain, &work.view);
  if (!result && arguments->node)
    arguments->node = node = graph_view_node_name(&work.view, arguments->node, &result);
  if (!result) result = run_on_graph(&work);
  forget_targets(&work);
  free(node);
  graph_view_close(&work.view);
  return command_finish(command, result);
}

/* --- arguments --- */

static int unknown_verb(const command_t *command, const char *word)
{
  const char *similar = ctl_similar_verb(word);
  if (similar)
    return command_usage_error(command, "'%s' is not a verb; did you mean '%s'?", word, similar);
  if (*word == '/')
    return command_usage_error(
        command, "no verb given: write 'timebase ctl %s VERB'; --help lists them", word);
  return command_usage_error(command, "'%s' is not a verb; --help lists them", word);
}

static int take_count(const command_t *command, arguments_t *arguments)
{
  int count = arguments->verb->argument == ARGUMENT_REPEATED ? 1 : 0;
  int least = count;
  if (arguments->value && !command_parse_int(command, arguments->verb->name, arguments->value,
                                             least, INT32_MAX, &count))
    return EXIT_USAGE;
  arguments->values.count = (uint64_t)count;
  return EXIT_OK;
}

static int take_value(const command_t *command, arguments_t *arguments)
{
  const verb_t *verb = arguments->verb;
  const char *value = arguments->value;
  switch (verb->argument) {
  case ARGUMENT_NONE:
    if (value) return command_usage_error(command, "%s takes no value: '%s'", verb->name, value);
    return EXIT_OK;
  case ARGUMENT_COUNT:
  case ARGUMENT_REPEATED:
    return take_count(command, arguments);
  case ARGUMENT_TIME:
    if (!value)
      return command_usage_error(command, "seek: no time given, such as 1700000000.5 or "
                                          "2023-11-14T22:13:20Z");
    if (!command_parse_time(command, "seek", value, &arguments->values.time_ns)) return EXIT_USAGE;
    if (arguments->values.time_ns / TB_NS_PER_S > INT32_MAX)
      return command_usage_error(command,
                                 "seek %s: after January 2038, which messages of ROS 2 "
                                 "cannot hold",
                                 value);
    return EXIT_OK;
  case ARGUMENT_RATE:
    break;
  }
  if (!value) return command_usage_error(command, "rate: no rate given, such as 0.5 or max");
  arguments->values.rate = (double)INFINITY;
  if (strcmp(value, "max") == 0) return EXIT_OK;
  return command_parse_double(command, "rate", value, 1e-6, 1e6, &arguments->values.rate)
             ? EXIT_OK
             : EXIT_USAGE;
}

/* "-1" of "rate -1" looks like an option. */
static int bad_option(const command_t *command, int option, int argc, char **argv,
                      graph_options_t *graph)
{
  bool is_digit = option == '?' && optopt >= '0' && optopt <= '9';
  for (int i = 1; is_digit && i + 1 < argc; i++) {
    const verb_t *verb = ctl_find_verb(argv[i]);
    bool takes_one = verb && verb->argument != ARGUMENT_NONE;
    if (takes_one && argv[i + 1][0] == '-' && argv[i + 1][1] == optopt)
      return command_usage_error(command, "%s %s: must not be negative", argv[i], argv[i + 1]);
  }
  return graph_options_take(command, option, argv, graph);
}

static int take_words(const command_t *command, arguments_t *arguments, char **words, int count)
{
  if (!count) return command_usage_error(command, "no verb given; --help lists them");
  arguments->verb = ctl_find_verb(words[0]);
  if (!arguments->verb) {
    if (count < 2) return unknown_verb(command, words[0]);
    arguments->node = *words++;
    count--;
    arguments->verb = ctl_find_verb(words[0]);
    if (!arguments->verb) return unknown_verb(command, words[0]);
  }
  if (count > 2) return command_usage_error(command, "unexpected argument '%s'", words[2]);
  arguments->value = count > 1 ? words[1] : NULL;
  return take_value(command, arguments);
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      GRAPH_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.graph = {.domain = -1, .limit = {5 * TB_NS_PER_S}}};
  int option, result = EXIT_OK;
  while (!result && (option = command_next_option(argc, argv, ":h", options)) != -1) {
    switch (option) {
    case OPTION_JSON:
      arguments.json = true;
      break;
    case 'h':
      return command_help(command);
    default:
      result = bad_option(command, option, argc, argv, &arguments.graph);
    }
  }
  if (!result) result = take_words(command, &arguments, argv + optind, argc - optind);
  return result ? result : control(command, &arguments);
}

const command_t command_ctl = {
    .name = "ctl",
    .summary = "steer a running player, recorder or simulator",
    .usage = "timebase ctl [NODE] VERB [VALUE] [--json] [--wait D] [--limit D] [--domain N]",
    .help =
        "Steers a player or a recorder that runs in another terminal or on another host, one of\n"
        "timebase or of rosbag2, by the services of rosbag2; and timebase serve or another\n"
        "simulator, by those of simulation_interfaces. NODE is its name, such as /rosbag2_player\n"
        "or /clock_server; it may be left out where one node has the service.\n\n"
        "  status      whether it is paused, and the rate; without NODE, of all of them\n"
        "  pause, resume, toggle\n"
        "              a player, a recorder or a simulator\n"
        "  stop        a player: ends it, or the playback where it stays (play --keep-alive,\n"
        "              --hold); a recorder that has this service: ends the recording; a "
        "simulator:\n"
        "              pauses and resets\n"
        "  play        a stopped player: plays again from the start\n"
        "  reset       a simulator: back to its start time\n"
        "  seek TIME   a player: seconds since 1970 or ISO 8601 in UTC\n"
        "  rate R      a player: a factor, or max\n"
        "  next        a paused player: the next message\n"
        "  step [N]    a paused player: the next N messages, one after another (default 1);\n"
        "              a paused simulator: N steps\n"
        "  burst [N]   a paused player: N messages at once (default 0: all)\n"
        "  split       a recorder: goes on in a new file\n"
        "  snapshot    a recorder in snapshot mode: writes what it holds\n\n"
        "  --json      one object a line\n"
        "  --wait D    wait at most D for the node to appear; default: until nothing new was "
        "found\n"
        "              for 0.5 s, at most 5 s\n"
        "  --limit D   wait at most D for the answer (default 5s)\n"
        "  --domain N  DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help  this text\n\n"
        "Status 1 if it refused or did not answer, or if there is no such node.\n",
    .run = run,
};
