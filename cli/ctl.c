#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_client.h>

#include "graph_view.h"
#include "json.h"
#include "similar.h"
#include "text.h"

#define TYPES       "rosbag2_interfaces/srv/"
#define REQUEST_MAX 32
#define BODY        4 /* after the encapsulation */

enum { OPTION_JSON = 256 };

/* What the first byte of an answer says. */
typedef enum answer_kind {
  ANSWER_NONE,    /* nothing: it has been carried out */
  ANSWER_SUCCESS, /* 1: it was done */
  ANSWER_CODE,    /* 0: it was done; jazzy's form has no fields, its byte is 0 too */
  ANSWER_BOOL,
  ANSWER_RATE,
  ANSWER_COUNT,
} answer_kind_t;

typedef enum argument_kind {
  ARGUMENT_NONE,
  ARGUMENT_RATE,
  ARGUMENT_TIME,
  ARGUMENT_COUNT,    /* of messages */
  ARGUMENT_REPEATED, /* a count of requests */
} argument_kind_t;

typedef struct verb {
  const char *name, *service, *type;
  argument_kind_t argument;
  answer_kind_t answer;
  bool is_timed;       /* rolling's request has a time, a mode and a text: zeros and "" are "now" */
  const char *refusal; /* the usual reason */
} verb_t;

static const verb_t verbs[] = {
    {"pause", "pause", "Pause", ARGUMENT_NONE, ANSWER_NONE, false, NULL},
    {"resume", "resume", "Resume", ARGUMENT_NONE, ANSWER_CODE, true, NULL},
    {"toggle", "toggle_paused", "TogglePaused", ARGUMENT_NONE, ANSWER_NONE, false, NULL},
    {"seek", "seek", "Seek", ARGUMENT_TIME, ANSWER_SUCCESS, false,
     "the time is not in the recording"},
    {"rate", "set_rate", "SetRate", ARGUMENT_RATE, ANSWER_SUCCESS, false,
     "it does not play at this rate"},
    {"next", "play_next", "PlayNext", ARGUMENT_NONE, ANSWER_SUCCESS, false,
     "it is not paused, or there is no next message"},
    {"step", "play_next", "PlayNext", ARGUMENT_REPEATED, ANSWER_SUCCESS, false,
     "it is not paused, or there is no next message"},
    {"burst", "burst", "Burst", ARGUMENT_COUNT, ANSWER_COUNT, false, NULL},
    {"stop", "stop", "Stop", ARGUMENT_NONE, ANSWER_CODE, false, "it was stopped already"},
    {"split", "split_bagfile", "SplitBagfile", ARGUMENT_NONE, ANSWER_CODE, true,
     "it is not recording, or the file could not be split"},
    {"snapshot", "snapshot", "Snapshot", ARGUMENT_NONE, ANSWER_SUCCESS, false,
     "nothing was written"},
    {"status", "is_paused", "IsPaused", ARGUMENT_NONE, ANSWER_BOOL, false, NULL},
};
#define VERBS (sizeof verbs / sizeof *verbs)

static const verb_t get_rate = {"rate",      "get_rate", "GetRate", ARGUMENT_NONE,
                                ANSWER_RATE, false,      NULL};

typedef struct arguments {
  bool json;
  graph_options_t graph;
  const verb_t *verb;
  const char *node; /* NULL: the only one */
  const char *value;
  double rate;
  int64_t time_ns;
  uint64_t count;
} arguments_t;

/* What a call brought. */
typedef struct answer {
  tb_status_t status;
  uint8_t body[16]; /* zeros where the answer is shorter */
  char text[256];   /* of a result with a code */
} answer_t;

typedef struct work {
  const command_t *command;
  const arguments_t *arguments;
  graph_view_t view;
  char **nodes; /* full names, of those that offer the service */
  size_t count;
  const verb_t *asked; /* of the call under way */
  const char *asked_node;
  answer_t answer;
} work_t;

/* --- requests and answers --- */

static void put_u32(uint8_t *at, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    at[i] = (uint8_t)(value >> (8 * i));
}

static void put_u64(uint8_t *at, uint64_t value)
{
  put_u32(at, (uint32_t)value);
  put_u32(at + 4, (uint32_t)(value >> 32));
}

static uint32_t get_u32(const uint8_t *at)
{
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get_u64(const uint8_t *at)
{
  return get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

/* Little endian CDR. A request without fields is one byte; the older form of a timed one reads
 * that byte of the newer form and no more. */
static size_t make_request(const work_t *work, uint8_t out[REQUEST_MAX])
{
  const arguments_t *arguments = work->arguments;
  uint64_t bits = 0;
  memset(out, 0, REQUEST_MAX);
  out[1] = 1;
  if (work->asked->is_timed) {
    put_u32(out + BODY + 12, 1); /* the length of "" */
    return BODY + 20;
  }
  switch (work->asked->argument) {
  case ARGUMENT_TIME:
    put_u32(out + BODY, (uint32_t)(arguments->time_ns / TB_NS_PER_S));
    put_u32(out + BODY + 4, (uint32_t)(arguments->time_ns % TB_NS_PER_S));
    return BODY + 8;
  case ARGUMENT_RATE:
    memcpy(&bits, &arguments->rate, sizeof bits);
    put_u64(out + BODY, bits);
    return BODY + 8;
  case ARGUMENT_COUNT:
    put_u64(out + BODY, arguments->count);
    return BODY + 8;
  case ARGUMENT_NONE:
  case ARGUMENT_REPEATED:
    break;
  }
  return BODY + 4;
}

static bool is_big_endian(const uint8_t *cdr)
{
  return cdr[1] == 0;
}

/* The text after a code: a length with its NUL, the characters. */
static void take_text(answer_t *answer, const uint8_t *body, size_t size)
{
  if (size < 8) return;
  size_t length = get_u32(body + 4);
  if (length == 0 || length > size - 8) return;
  length--;
  if (length >= sizeof answer->text) length = sizeof answer->text - 1;
  memcpy(answer->text, body + 8, length);
}

static void take_answer(answer_t *answer, const tb_ros2_response_t *response)
{
  const uint8_t *cdr = response->cdr;
  if (response->size <= BODY || is_big_endian(cdr)) {
    answer->status = TB_ERR_CORRUPT;
    return;
  }
  size_t size = response->size - BODY;
  memcpy(answer->body, cdr + BODY, size < sizeof answer->body ? size : sizeof answer->body);
  take_text(answer, cdr + BODY, size);
}

static void call(size_t index, void *user)
{
  (void)index;
  work_t *work = user;
  const verb_t *verb = work->asked;
  const tb_wait_options_t options = {.limit = work->arguments->graph.limit};
  uint8_t request[REQUEST_MAX];
  char service[512], type[64];
  tb_ros2_client_t *client = NULL;
  tb_ros2_response_t response = {0};
  work->answer = (answer_t){0};
  snprintf(service, sizeof service, "%s/%s", work->asked_node, verb->service);
  snprintf(type, sizeof type, TYPES "%s", verb->type);
  graph_view_register_hashes(&work->view, service);
  tb_status_t status =
      tb_ros2_client_create(work->view.context, service, type, NULL, &client, NULL);
  if (!status)
    status = tb_ros2_client_call(client, request, make_request(work, request), &options, &response,
                                 NULL);
  work->answer.status = status;
  if (!status) take_answer(&work->answer, &response);
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
}

static int ask(work_t *work, const verb_t *verb, const char *node)
{
  work->asked = verb;
  work->asked_node = node;
  return graph_view_each(&work->view, 1, call, work);
}

/* --- nodes --- */

/* The node of a service of that verb: the length of its name, 0 if it is another. */
static size_t node_length(const tb_ros2_graph_endpoint_t *endpoint, const verb_t *verb)
{
  const char *slash = strrchr(endpoint->name, '/');
  char type[64];
  snprintf(type, sizeof type, TYPES "%s", verb->type);
  bool is_server = endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST && !endpoint->is_publisher;
  if (!is_server || !slash || strcmp(slash + 1, verb->service) != 0) return 0;
  return strcmp(endpoint->type, type) == 0 ? (size_t)(slash - endpoint->name) : 0;
}

static bool is_there(const graph_view_t *view, const verb_t *verb, const char *node)
{
  size_t length = strlen(node);
  for (size_t i = 0; i < view->snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &view->snapshot->endpoints[i];
    if (node_length(endpoint, verb) == length && strncmp(endpoint->name, node, length) == 0)
      return true;
  }
  return false;
}

static bool is_listed(const work_t *work, const char *name, size_t length)
{
  for (size_t i = 0; i < work->count; i++) {
    const char *listed = work->nodes[i];
    if (listed && strlen(listed) == length && strncmp(listed, name, length) == 0) return true;
  }
  return false;
}

static void forget_nodes(work_t *work)
{
  for (size_t i = 0; work->nodes && i < work->count; i++)
    free(work->nodes[i]);
  free(work->nodes);
  work->nodes = NULL;
  work->count = 0;
}

static int list_nodes(work_t *work, const verb_t *verb)
{
  const tb_ros2_graph_snapshot_t *snapshot = work->view.snapshot;
  forget_nodes(work);
  work->nodes = calloc(snapshot->endpoint_count + 1, sizeof *work->nodes);
  if (!work->nodes) return command_failed(work->command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    size_t length = node_length(&snapshot->endpoints[i], verb);
    if (!length || is_listed(work, snapshot->endpoints[i].name, length)) continue;
    char *name = strndup(snapshot->endpoints[i].name, length);
    if (!name) return command_failed(work->command, TB_ERR_NO_MEMORY, NULL);
    work->nodes[work->count++] = name;
  }
  return EXIT_OK;
}

/* What kind of node it is shows when all of its services are known. */
static bool is_enough(const graph_view_t *view, void *user)
{
  const arguments_t *arguments = user;
  bool wants_kind = arguments->verb->answer == ANSWER_BOOL;
  return !wants_kind && arguments->node && is_there(view, arguments->verb, arguments->node);
}

static bool is_player(const work_t *work, const char *node)
{
  return is_there(&work->view, &get_rate, node);
}

static int no_node(work_t *work)
{
  const arguments_t *arguments = work->arguments;
  int result = list_nodes(work, &verbs[0]);
  if (result) return result;
  if (arguments->node && tb_ros2_graph_find_node(work->view.snapshot, arguments->node))
    text_err("timebase %s: '%s' has no service %s\n", work->command->name, arguments->node,
             arguments->verb->service);
  else if (arguments->node)
    graph_view_no_such_node(&work->view, arguments->node);
  else if (work->count)
    text_err("timebase %s: neither player nor recorder has a service %s%s\n", work->command->name,
             arguments->verb->service,
             strcmp(arguments->verb->name, "snapshot") == 0 ? "; record with --snapshot-mode" : "");
  else
    text_err("timebase %s: no player or recorder is running in this domain\n", work->command->name);
  return EXIT_CHECK;
}

static int several_nodes(const work_t *work)
{
  text_err("timebase %s: several nodes can %s: ", work->command->name, work->arguments->verb->name);
  for (size_t i = 0; i < work->count; i++)
    text_err("%s%s (%s)", i ? ", " : "", work->nodes[i],
             is_player(work, work->nodes[i]) ? "player" : "recorder");
  text_err("; name one: timebase ctl %s %s\n", work->nodes[0], work->arguments->verb->name);
  return EXIT_USAGE;
}

/* --- showing --- */

static double double_of(const uint8_t *body)
{
  uint64_t bits = get_u64(body);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* NULL: it was carried out. */
static const char *why_not(const verb_t *verb, const answer_t *answer)
{
  if (answer->status == TB_ERR_CORRUPT) return "its answer has no content";
  if (answer->status) return graph_view_answer_text(answer->status);
  bool is_refused = (verb->answer == ANSWER_SUCCESS && !answer->body[0]) ||
                    (verb->answer == ANSWER_CODE && answer->body[0]);
  if (!is_refused) return NULL;
  return answer->text[0] ? answer->text : verb->refusal ? verb->refusal : "refused";
}

static void print_json(json_t *object)
{
  (void)json_print(object, 0);
  command_flush();
}

static void show_answer(const work_t *work, const char *node, uint64_t done, const char *problem)
{
  const verb_t *verb = work->arguments->verb;
  bool is_counted = verb->argument == ARGUMENT_COUNT || verb->argument == ARGUMENT_REPEATED;
  if (work->arguments->json) {
    json_t *object = json_object();
    json_put(object, "node", text_json(node));
    json_put(object, "verb", json_string(verb->name));
    json_put(object, "ok", json_boolean(!problem));
    if (is_counted) json_put(object, "messages", json_integer((json_int_t)done));
    if (problem) json_put(object, "reason", text_json(problem));
    print_json(object);
    return;
  }
  text_out("%s: ", node);
  if (is_counted) text_out("%llu played%s", (unsigned long long)done, problem ? ", then " : "");
  text_out("%s\n", problem ? problem : is_counted ? "" : "ok");
  command_flush();
}

static int show_status(work_t *work, const char *node)
{
  int result = ask(work, work->arguments->verb, node);
  if (result) return result;
  const char *problem = why_not(work->arguments->verb, &work->answer);
  bool is_paused = work->answer.body[0], plays = is_player(work, node);
  double rate = 0;
  if (!problem && plays) {
    result = ask(work, &get_rate, node);
    if (result) return result;
    problem = why_not(&get_rate, &work->answer);
    rate = double_of(work->answer.body);
  }
  if (work->arguments->json) {
    json_t *object = json_object();
    json_put(object, "node", text_json(node));
    json_put(object, "kind", json_string(plays ? "player" : "recorder"));
    json_put(object, "ok", json_boolean(!problem));
    json_put(object, "paused", problem ? json_null() : json_boolean(is_paused));
    if (plays) json_put(object, "rate", problem || !isfinite(rate) ? json_null() : json_real(rate));
    if (problem) json_put(object, "reason", text_json(problem));
    print_json(object);
  } else if (problem) {
    text_out("%s: %s: %s\n", node, plays ? "player" : "recorder", problem);
  } else {
    text_out("%s: %s, %s", node, plays ? "player" : "recorder",
             is_paused ? "paused"
             : plays   ? "playing"
                       : "recording");
    if (plays && isinf(rate)) text_out(", as fast as possible");
    if (plays && !isinf(rate)) text_out(", rate %g", rate);
    text_out("\n");
  }
  return problem ? EXIT_CHECK : EXIT_OK;
}

/* --- running --- */

static int steer(work_t *work, const char *node)
{
  const verb_t *verb = work->arguments->verb;
  uint64_t count = verb->argument == ARGUMENT_REPEATED ? work->arguments->count : 1, done = 0;
  const char *problem = NULL;
  for (; done < count && !problem; done += !problem) {
    int result = ask(work, verb, node);
    if (result) return result;
    problem = why_not(verb, &work->answer);
  }
  if (verb->answer == ANSWER_COUNT) done = get_u64(work->answer.body);
  show_answer(work, node, done, problem);
  return problem ? EXIT_CHECK : EXIT_OK;
}

static int run_on_graph(work_t *work)
{
  const arguments_t *arguments = work->arguments;
  bool is_status = arguments->verb->answer == ANSWER_BOOL;
  int result = graph_view_settle(&work->view, arguments->graph.wait, is_enough, (void *)arguments);
  if (result) return result;
  if (arguments->node) {
    if (!is_there(&work->view, arguments->verb, arguments->node)) return no_node(work);
    return is_status ? show_status(work, arguments->node) : steer(work, arguments->node);
  }
  result = list_nodes(work, arguments->verb);
  if (result) return result;
  if (!work->count) return no_node(work);
  if (!is_status) return work->count > 1 ? several_nodes(work) : steer(work, work->nodes[0]);
  for (size_t i = 0; i < work->count; i++) {
    int one = show_status(work, work->nodes[i]);
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
  forget_nodes(&work);
  free(node);
  graph_view_close(&work.view);
  return command_finish(command, result);
}

/* --- arguments --- */

static const verb_t *find_verb(const char *word)
{
  for (size_t i = 0; i < VERBS; i++)
    if (strcmp(verbs[i].name, word) == 0) return &verbs[i];
  return NULL;
}

static int unknown_verb(const command_t *command, const char *word)
{
  for (size_t i = 0; i < VERBS; i++)
    if (is_similar(word, verbs[i].name))
      return command_usage_error(command, "'%s' is not a verb; did you mean '%s'?", word,
                                 verbs[i].name);
  return command_usage_error(command, "'%s' is not a verb; --help lists them", word);
}

static int take_count(const command_t *command, arguments_t *arguments)
{
  int count = arguments->verb->argument == ARGUMENT_REPEATED ? 1 : 0;
  int least = count;
  if (arguments->value && !command_parse_int(command, arguments->verb->name, arguments->value,
                                             least, INT32_MAX, &count))
    return EXIT_USAGE;
  arguments->count = (uint64_t)count;
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
    if (!command_parse_time(command, "seek", value, &arguments->time_ns)) return EXIT_USAGE;
    if (arguments->time_ns / TB_NS_PER_S > INT32_MAX)
      return command_usage_error(command,
                                 "seek %s: after January 2038, which messages of ROS 2 "
                                 "cannot hold",
                                 value);
    return EXIT_OK;
  case ARGUMENT_RATE:
    break;
  }
  if (!value) return command_usage_error(command, "rate: no rate given, such as 0.5 or max");
  arguments->rate = (double)INFINITY;
  if (strcmp(value, "max") == 0) return EXIT_OK;
  return command_parse_double(command, "rate", value, 1e-6, 1e6, &arguments->rate) ? EXIT_OK
                                                                                   : EXIT_USAGE;
}

static int take_words(const command_t *command, arguments_t *arguments, char **words, int count)
{
  if (!count) return command_usage_error(command, "no verb given; --help lists them");
  arguments->verb = find_verb(words[0]);
  if (!arguments->verb) {
    if (count < 2) return unknown_verb(command, words[0]);
    arguments->node = *words++;
    count--;
    arguments->verb = find_verb(words[0]);
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
      result = graph_options_take(command, option, argv, &arguments.graph);
    }
  }
  if (!result) result = take_words(command, &arguments, argv + optind, argc - optind);
  return result ? result : control(command, &arguments);
}

const command_t command_ctl = {
    .name = "ctl",
    .summary = "steer a running player or recorder",
    .usage = "timebase ctl [NODE] VERB [VALUE] [--json] [--wait D] [--limit D] [--domain N]",
    .help =
        "Steers a player or a recorder that runs in another terminal or on another host: one of\n"
        "timebase or of rosbag2, by the services of rosbag2. NODE is its name, such as\n"
        "/rosbag2_player; it may be left out where one node has the service.\n\n"
        "  status      whether it is paused, and the rate; without NODE, of all of them\n"
        "  pause, resume, toggle\n"
        "              a player or a recorder\n"
        "  stop        a player; a recorder that has this service\n"
        "  seek TIME   a player: seconds since 1970 or ISO 8601 in UTC\n"
        "  rate R      a player: a factor, or max\n"
        "  next        a paused player: the next message\n"
        "  step [N]    a paused player: the next N messages, one after another (default 1)\n"
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
