#include "topic.h"

#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/definitions.h"
#include "definition/parse.h"
#include "json.h"
#include "message_json.h"
#include "similar.h"
#include "text.h"
#include "topic_pub.h"
#include "topic_queue.h"
#include "topic_stats.h"

#define PUBLISHERS 64
#define STEP_NS    (50 * TB_NS_PER_MS)

enum {
  OPTION_JSON = 256,
  OPTION_CSV,
  OPTION_FIELD,
  OPTION_DURATION,
  OPTION_FULL,
  OPTION_ROS1,
  OPTION_DOMAIN,
};

/* The definition of a type of the queue. */
typedef struct definition {
  bool is_read;
  tb__known_definition_t known; /* .schema is NULL: unknown, which was printed */
} definition_t;

typedef struct publisher {
  uint64_t id;
  int64_t stamp_ns; /* the last one */
} publisher_t;

typedef struct topic {
  const topic_arguments_t *arguments;
  const topic_graph_t *graph;
  tb_steady_clock_t *steady;
  topic_queue_t queue;
  topic_feed_t *feed;
  definition_t definitions[TOPIC_TYPES];
  publisher_t publishers[PUBLISHERS];
  uint32_t publisher_count;
  topic_stats_t second, total;
  int64_t previous_ns; /* steady: the last message */
  uint64_t dropped, reported_dropped;
  uint64_t seen;
  message_style_t style;
  const tb__schema_t *shown; /* of the last message */
  bool is_closed;            /* standard output */
  const atomic_int *signalled;
  int64_t end_ns; /* steady */
} topic_t;

void topic_full_name(const char *word, char out[TOPIC_NAME_SIZE])
{
  snprintf(out, TOPIC_NAME_SIZE, "%s%s", *word == '/' ? "" : "/", word);
}

static int64_t steady_now(const topic_t *topic)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(topic->steady, &now);
  return now.ns;
}

/* --- a message --- */

/* As it came with the messages. */
static const tb__known_definition_t *announced(topic_t *topic, uint32_t index)
{
  definition_t *definition = &topic->definitions[index];
  tb__known_definition_t *known = &definition->known;
  const topic_type_t *type = topic_queue_type(&topic->queue, index);
  tb_error_t error = TB_ERROR_INIT;
  if (definition->is_read) return known->schema ? known : NULL;
  definition->is_read = true;
  char *text = NULL;
  tb_status_t status =
      tb__ros1_definition_of(type->name, type->md5sum, type->definition, NULL, &text, &error);
  if (!status)
    status = tb__schema_parse(type->name, TB__MESSAGE_ROS1_ENCODING, text, strlen(text),
                              &known->schema, &error);
  free(text);
  if (!status) status = tb__message_head_init(&known->head, known->schema, &error);
  if (!status) return known;
  text_err("timebase %s: %s: ", topic->arguments->command->name, topic->arguments->word);
  text_err("the definition of %s cannot be used: %s\n", type->name, error.text);
  return known->schema ? known : NULL;
}

/* NULL: unknown. */
static const tb__known_definition_t *definition_of(topic_t *topic, const topic_message_t *message)
{
  return topic->graph->definition
             ? topic->graph->definition(topic->feed, message->data, message->size)
             : announced(topic, message->type);
}

static bool read_stamp(const tb__known_definition_t *known, const topic_message_t *message,
                       int64_t *out_ns)
{
  tb__message_t opened;
  return known && known->head.stamp &&
         !tb__message_open(&opened, known->schema, message->data, message->size) &&
         !tb__message_head_stamp(&known->head, &opened, out_ns);
}

static publisher_t *publisher_of(topic_t *topic, uint64_t id)
{
  for (uint32_t i = 0; i < topic->publisher_count; i++)
    if (topic->publishers[i].id == id) return &topic->publishers[i];
  if (topic->publisher_count == PUBLISHERS) return NULL;
  topic->publishers[topic->publisher_count] = (publisher_t){id, 0};
  return &topic->publishers[topic->publisher_count++];
}

static topic_stamp_t judge_stamp(topic_t *topic, const topic_message_t *message, int64_t *out_ns)
{
  if (!read_stamp(definition_of(topic, message), message, out_ns)) return TOPIC_STAMP_NONE;
  if (*out_ns == 0) return TOPIC_STAMP_ZERO;
  if (*out_ns < 0) return TOPIC_STAMP_INVALID;
  publisher_t *publisher = publisher_of(topic, message->publisher);
  bool is_back = publisher && *out_ns < publisher->stamp_ns;
  if (publisher) publisher->stamp_ns = *out_ns;
  if (is_back) return TOPIC_STAMP_BACKWARD;
  bool is_ahead =
      message->now_ns && *out_ns - message->now_ns > topic->graph->tolerance(topic->feed);
  return is_ahead ? TOPIC_STAMP_FUTURE : TOPIC_STAMP_GOOD;
}

static int echo_json(topic_t *topic, const topic_message_t *message, json_t *decoded,
                     const char *problem)
{
  json_t *out = json_object();
  json_put(out, "publisher", text_json(message->name));
  json_put(out, "received_ns", json_integer(message->received_ns));
  json_put(out, "ros_time_ns", message->now_ns ? json_integer(message->now_ns) : json_null());
  json_put(out, "size", json_integer((json_int_t)message->size));
  json_put(out, "latched", json_boolean(message->is_latched));
  json_put(out, "stamp_problem", problem ? json_string(problem) : json_null());
  json_put(out, message_style_key(&topic->style), decoded ? json_incref(decoded) : json_null());
  return json_finish(topic->arguments->command, out, EXIT_OK);
}

static int echo_csv(topic_t *topic, const topic_message_t *message, const json_t *decoded)
{
  json_t *first = json_object();
  json_put(first, "received_ns", json_integer(message->received_ns));
  if (json_is_whole()) message_style_csv(&topic->style, first, decoded);
  json_decref(first);
  return json_is_whole() ? EXIT_OK
                         : command_failed(topic->arguments->command, TB_ERR_NO_MEMORY, NULL);
}

static void echo_yaml(const topic_t *topic, topic_stamp_t stamp, const json_t *decoded)
{
  const char *problem = topic_stamp_problem(stamp);
  if (stamp == TOPIC_STAMP_ZERO) problem = "0";
  if (stamp == TOPIC_STAMP_INVALID) problem = "no valid time: below 0, or with 1e9 ns or more";
  if (problem) text_out("# the stamp is %s\n", problem);
  message_style_yaml(&topic->style, decoded);
}

static void echo_bytes(const topic_t *topic, const topic_message_t *message)
{
  text_out("# %zu bytes that are not of the definition\n", message->size);
  if (topic->style.form == MESSAGE_YAML) text_out("---\n");
}

/* The first message of a type: whether it has the fields. */
static int check_fields(const topic_t *topic, const tb__schema_t *schema)
{
  tb_error_t error = TB_ERROR_INIT;
  if (!schema || schema == topic->shown || !topic->style.field_count) return EXIT_OK;
  tb_status_t status = message_style_check(&topic->style, schema, &error);
  if (status == TB_ERR_NO_MEMORY) return command_failed(topic->arguments->command, status, NULL);
  return status ? command_usage_error(topic->arguments->command, "%s: %s", topic->arguments->word,
                                      error.text)
                : EXIT_OK;
}

static int echo(topic_t *topic, const topic_message_t *message, topic_stamp_t stamp)
{
  const command_t *command = topic->arguments->command;
  const tb__known_definition_t *known = definition_of(topic, message);
  const tb__schema_t *schema = known ? known->schema : NULL;
  message_form_t form = topic->style.form;
  json_t *decoded = NULL;
  int result = check_fields(topic, schema);
  if (result) return result;
  if (schema && topic->shown != schema) topic->style.has_header = false; /* its columns differ */
  if (schema) topic->shown = schema;
  tb_status_t status = TB_ERR_NOT_FOUND;
  if (schema)
    status = message_style_decode(&topic->style, schema, message->data, message->size, &decoded);
  if (status == TB_ERR_NO_MEMORY) return command_failed(command, status, NULL);
  if (form == MESSAGE_JSON)
    result = echo_json(topic, message, decoded, topic_stamp_problem(stamp));
  else if (!decoded)
    echo_bytes(topic, message);
  else if (form == MESSAGE_CSV)
    result = echo_csv(topic, message, decoded);
  else
    echo_yaml(topic, stamp, decoded);
  json_decref(decoded);
  return result;
}

static int take_message(topic_t *topic, const topic_message_t *message)
{
  int64_t stamp_ns = 0, delay_ns = 0;
  bool wants_stamp = topic->arguments->verb == TOPIC_ECHO || topic->arguments->verb == TOPIC_DELAY;
  topic_stamp_t stamp = wants_stamp ? judge_stamp(topic, message, &stamp_ns) : TOPIC_STAMP_NONE;
  if (stamp_ns >= 0) delay_ns = message->now_ns - stamp_ns;
  topic_stats_add(&topic->second, message, topic->previous_ns, stamp, delay_ns);
  topic_stats_add(&topic->total, message, topic->previous_ns, stamp, delay_ns);
  topic->previous_ns = message->steady_ns;
  topic->seen++;
  return topic->arguments->verb == TOPIC_ECHO ? echo(topic, message, stamp) : EXIT_OK;
}

static bool has_enough(const topic_t *topic)
{
  return topic->arguments->count && topic->seen >= (uint64_t)topic->arguments->count;
}

static int take_all(topic_t *topic)
{
  int result = EXIT_OK;
  topic_message_t *next, *message = topic_queue_take(&topic->queue, &topic->dropped);
  for (; message; message = next) {
    next = message->next;
    /* what is shown slowly ends in time, too */
    bool is_over = has_enough(topic) || *topic->signalled || steady_now(topic) >= topic->end_ns;
    if (!result && !is_over) result = take_message(topic, message);
    free(message);
  }
  if (topic->arguments->verb == TOPIC_ECHO && !command_flush()) topic->is_closed = true;
  return result;
}

/* --- the run --- */

static int report(topic_t *topic, const topic_stats_t *stats, double seconds, bool is_summary)
{
  const topic_arguments_t *arguments = topic->arguments;
  int result = EXIT_OK;
  if (arguments->verb == TOPIC_ECHO) return EXIT_OK;
  if (arguments->style.form == MESSAGE_JSON) {
    json_t *out = topic_stats_json(stats, seconds, topic->dropped);
    if (is_summary) json_put(out, "summary", json_true());
    result = json_finish(arguments->command, out, EXIT_OK);
  } else {
    topic_stats_print(stats, arguments->verb, seconds, is_summary);
  }
  if (!command_flush()) topic->is_closed = true;
  return result;
}

static void report_dropped(topic_t *topic)
{
  if (topic->dropped == topic->reported_dropped) return;
  topic->reported_dropped = topic->dropped;
  command_begin_warning(topic->arguments->command);
  text_err("%llu messages were left out: they come faster than they are shown\n",
           (unsigned long long)topic->dropped);
}

/* Until then, a message, or a signal, which it returns. */
static bool wait_until(const topic_t *topic, int64_t until_ns)
{
  struct pollfd fds[2] = {{.fd = command_signal_fd(), .events = POLLIN},
                          {.fd = topic->queue.fds[0], .events = POLLIN}};
  int64_t left_ns = until_ns - steady_now(topic);
  if (left_ns < 0) left_ns = 0;
  poll(fds, 2, (int)((left_ns + TB_NS_PER_MS - 1) / TB_NS_PER_MS));
  return fds[0].revents != 0;
}

static int run_messages(topic_t *topic)
{
  int64_t begin_ns = steady_now(topic), report_ns = begin_ns + TB_NS_PER_S;
  int64_t duration_ns = topic->arguments->duration.ns;
  bool is_signalled = false;
  int result = EXIT_OK;
  topic->end_ns = INT64_MAX;
  if (duration_ns && duration_ns < INT64_MAX - begin_ns) topic->end_ns = begin_ns + duration_ns;
  while (!result && !is_signalled && !topic->is_closed && !has_enough(topic)) {
    int64_t until_ns = report_ns < topic->end_ns ? report_ns : topic->end_ns;
    int64_t step_ns = steady_now(topic) + STEP_NS;
    if (topic->graph->step && step_ns < until_ns) until_ns = step_ns;
    is_signalled = wait_until(topic, until_ns);
    if (topic->graph->step) result = topic->graph->step(topic->feed);
    if (!result) result = take_all(topic);
    int64_t now_ns = steady_now(topic);
    if (now_ns >= topic->end_ns) break;
    if (result || now_ns < report_ns) continue;
    result = report(topic, &topic->second, 1, false);
    topic->second = (topic_stats_t){0};
    report_ns = now_ns + TB_NS_PER_S;
    if (!topic->seen) topic->graph->explain(topic->feed, false);
    report_dropped(topic);
  }
  double seconds = (double)(steady_now(topic) - begin_ns) / (double)TB_NS_PER_S;
  if (!result && !topic->is_closed) result = report(topic, &topic->total, seconds, true);
  if (result || topic->seen || is_signalled || topic->is_closed) return result;
  topic->graph->explain(topic->feed, true);
  return EXIT_CHECK;
}

static void topic_close(topic_t *topic)
{
  topic->graph->close(topic->feed);
  topic_queue_close(&topic->queue);
  for (int i = 0; i < TOPIC_TYPES; i++) {
    tb__message_head_fini(&topic->definitions[i].known.head);
    tb__schema_destroy(topic->definitions[i].known.schema);
  }
  tb_steady_clock_destroy(topic->steady);
}

static int run_topic(const topic_arguments_t *arguments, const topic_graph_t *graph)
{
  static topic_t topic; /* large */
  topic = (topic_t){.arguments = arguments, .graph = graph, .style = arguments->style};
  command_show_log(arguments->command);
  topic.signalled = command_catch_signals();
  tb_status_t status = topic_queue_open(&topic.queue);
  if (!status) status = tb_steady_clock_create(&topic.steady);
  int result = status ? command_failed(arguments->command, status, NULL) : EXIT_OK;
  if (!result) result = graph->open(arguments, &topic.queue, &topic.feed);
  if (!result) result = run_messages(&topic);
  topic_close(&topic);
  return result;
}

/* --- arguments --- */

static bool parse(topic_arguments_t *arguments, int option, char **argv)
{
  const command_t *command = arguments->command;
  message_style_t *style = &arguments->style;
  switch (option) {
  case OPTION_JSON:
    return !message_style_take_form(command, style, MESSAGE_JSON);
  case OPTION_CSV:
    return !message_style_take_form(command, style, MESSAGE_CSV);
  case OPTION_FIELD:
    return !message_style_take_field(command, style, optarg);
  case OPTION_ROS1:
    arguments->ros1 = true;
    return true;
  case OPTION_FULL:
    style->items_max = 0;
    return true;
  case OPTION_DURATION:
    return command_parse_limit(command, "--duration", optarg, &arguments->duration);
  case OPTION_DOMAIN:
    return command_parse_domain(command, optarg, &arguments->domain);
  case 'n':
    return command_parse_int(command, "-n", optarg, 1, INT32_MAX, &arguments->count);
  default:
    command_bad_option(command, option, argv);
    return false;
  }
}

static int unknown_action(const command_t *command, const char *const *verbs, const char *word)
{
  const char *similar = is_similar(word, "pub") ? "pub" : NULL;
  for (size_t i = 0; verbs[i]; i++)
    if (is_similar(word, verbs[i])) similar = verbs[i];
  if (similar)
    return command_usage_error(command, "unknown action '%s'; did you mean '%s'?", word, similar);
  return command_usage_error(command, "unknown action '%s'; use list, echo, hz, bw, delay or pub",
                             word);
}

static int take_words(topic_arguments_t *arguments, int argc, char **argv)
{
  static const char *const verbs[] = {"list", "echo", "hz", "bw", "delay", NULL};
  int verb = 0, index = optind;
  const command_t *command = arguments->command;
  if (index == argc)
    return command_usage_error(command, "expected list, echo, hz, bw, delay or pub");
  while (verbs[verb] && strcmp(verbs[verb], argv[index]) != 0)
    verb++;
  if (!verbs[verb] && strcmp(argv[index], "pub") == 0)
    return command_usage_error(command, "write 'topic pub' first, and its options after it");
  if (!verbs[verb]) return unknown_action(command, verbs, argv[index]);
  arguments->verb = (topic_verb_t)verb;
  if (++index < argc) arguments->word = argv[index++];
  if (verb != TOPIC_LIST && !arguments->word)
    return command_usage_error(command, "%s takes a topic", verbs[verb]);
  if (index < argc || (verb == TOPIC_LIST && arguments->word))
    return command_usage_error(command, "unexpected argument '%s'", argv[argc - 1]);
  if (verb != TOPIC_ECHO && (arguments->style.form == MESSAGE_CSV || arguments->style.field_count))
    return command_usage_error(command, "--csv and --field are of 'topic echo'");
  if (arguments->word && strlen(arguments->word) >= TOPIC_NAME_SIZE - 1)
    return command_usage_error(command, "the name of the topic is too long");
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"csv", no_argument, NULL, OPTION_CSV},
      {"field", required_argument, NULL, OPTION_FIELD},
      {"duration", required_argument, NULL, OPTION_DURATION},
      {"full", no_argument, NULL, OPTION_FULL},
      {"ros1", no_argument, NULL, OPTION_ROS1},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  topic_arguments_t arguments = {
      .command = command, .style.items_max = MESSAGE_ITEMS_DEFAULT, .domain = -1};
  if (argc > 1 && strcmp(argv[1], "pub") == 0) /* which has options of its own */
    return command_topic_pub.run(&command_topic_pub, argc - 1, argv + 1);
  for (int option; (option = command_next_option(argc, argv, ":hn:", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (!parse(&arguments, option, argv)) return EXIT_USAGE;
  }
  int result = take_words(&arguments, argc, argv);
  if (result) return result;
  if (arguments.ros1 && arguments.domain >= 0)
    return command_usage_error(command, "--domain is of DDS; a graph of ROS 1 is that of "
                                        "ROS_MASTER_URI");
  const topic_graph_t *graph = arguments.ros1 ? &topic_ros1 : &topic_ros2;
  result = arguments.verb == TOPIC_LIST ? graph->list(&arguments) : run_topic(&arguments, graph);
  return command_finish(command, result);
}

const command_t command_topic = {
    .name = "topic",
    .summary = "list topics; their messages, rate, size and delay; publish",
    .usage = "timebase topic list | echo TOPIC | hz TOPIC | bw TOPIC | delay TOPIC\n"
             "       [-n N] [--duration S] [--full] [--json | --csv] [--field PATH]...\n"
             "       [--domain N | --ros1]\n"
             "       timebase topic pub TOPIC TYPE [YAML] ...",
    .help =
        "Shows topics of a ROS 2 graph, or of a ROS 1 graph, with no ROS installed. Definitions\n"
        "come from the publisher (ROS 1, and ROS 2 from jazzy on), AMENT_PREFIX_PATH, or are "
        "built\n"
        "in.\n\n"
        "  list         topics, their types, and how many publish and subscribe to them\n"
        "  echo TOPIC   messages as YAML, each with --- after it. What is wrong with a stamp is a\n"
        "               comment before it\n"
        "  hz TOPIC     messages a second of steady time, and in ROS time where that differs;\n"
        "               the intervals between them\n"
        "  bw TOPIC     bytes a second, and the sizes of messages\n"
        "  delay TOPIC  how old stamps of headers are when messages come, by the time that nodes\n"
        "               have: /clock if it ticks (on ROS 1: if /use_sim_time is set), else system\n"
        "               time. Stamps that are zero or no valid time (and have no age), in the "
        "future\n"
        "               (by more than 5 ms and a tick of /clock) and before that of the last\n"
        "               message of their publisher are counted\n"
        "  pub TOPIC TYPE YAML   publishes messages: see 'timebase topic pub --help'\n\n"
        "  -n N          end after N messages\n"
        "  --duration S  end after S (10, 1.5s, 2m); otherwise on SIGINT or SIGTERM\n"
        "  --full        echo: arrays whole; otherwise their first 128 elements, and \"...\"\n"
        "  --json        list: one array; echo: an object in each line, with \"publisher\",\n"
        "                \"received_ns\" (system time), \"ros_time_ns\", \"size\", \"latched\",\n"
        "                \"stamp_problem\" (zero, invalid, future, backward or null) and\n"
        "                \"message\"; else one a second with all of rate, size and delay, the\n"
        "                last with \"summary\": true\n"
        "                With --field \"fields\" instead of \"message\"\n"
        "  --csv         echo: the system time of receipt in ns, and a column for each field, with "
        "a\n"
        "                header; arrays are one column, as JSON\n"
        "  --field PATH  echo: only this field, such as header.stamp or position[0]; may be given\n"
        "                several times\n"
        "  --domain N    DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  --ros1        the graph of the ROS 1 master of ROS_MASTER_URI\n"
        "  -h, --help    this text\n\n"
        "On ROS 2 it subscribes with best effort, so that no publisher waits for it, or with\n"
        "transient local, where all publishers offer that. 'timebase observe' measures losses and\n"
        "latencies too. Status 1 if no message came within --duration, 3 if the graph cannot be\n"
        "joined or the ROS 1 master does not answer.\n",
    .run = run,
};
