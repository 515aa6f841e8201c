#include "topic_pub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/rate.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_publisher.h>
#include <unistd.h>

#include "clocks.h"
#include "definition/message_encoder.h"
#include "definition_requests.h"
#include "json.h"
#include "message_json.h"
#include "message_style.h"
#include "text.h"
#include "topic_pub_ros1.h"

/* Stays so long for the last messages of best effort, as the player does. */
#define KEEP_ALIVE_NS (200 * TB_NS_PER_MS)
#define ASK_STEP_NS   (100 * TB_NS_PER_MS)
#define ASK_LIMIT_NS  (5 * TB_NS_PER_S)
#define YAML_MAX      ((size_t)64 << 20)
#define ACK_LIMIT_S   5 /* a subscription of a busy machine is slow */
#define MATCH_STEP_NS (20 * TB_NS_PER_MS)

typedef struct pub {
  const command_t *command;
  const topic_pub_arguments_t *arguments;
  tb_cancel_token_t *token; /* by a signal */
  ros_clock_t ros;          /* with the context and the graph */
  tb_clock_t *system;
  tb_steady_clock_t *steady;
  tb__definitions_t *definitions;
  definition_requests_t *requests; /* NULL: no node was asked */
  const tb__schema_t *schema;
  tb__message_encoder_t *encoder;
  char *text;       /* of --stdin and --yaml-file */
  const char *yaml; /* what has not been published */
  size_t document;  /* which one `encoder` has; from 1 */
  topic_pub_ros1_t ros1;
  tb_ros2_node_t *node;
  tb_ros2_publisher_t *publisher;
  uint32_t incompatible; /* reported */
} pub_t;

/* --- the definition --- */

static tb_status_t look_up(pub_t *pub)
{
  const topic_pub_arguments_t *arguments = pub->arguments;
  tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH"),
                                    .folders = arguments->folders,
                                    .folder_count = arguments->folder_count};
  const tb__definition_key_t key = {.type = arguments->type};
  tb__definition_entry_t *entry = NULL;
  tb_status_t status = tb__definitions_create(&places, &pub->definitions);
  if (!status) status = tb__definitions_get(pub->definitions, &key, &entry);
  const tb__known_definition_t *known = status ? NULL : tb__definition_entry_known(entry);
  if (known) pub->schema = known->schema;
  return status;
}

/* Whoever publishes or subscribes to the type. */
static tb_status_t ask_of(pub_t *pub, const tb_ros2_graph_snapshot_t *snapshot)
{
  tb_steady_time_t now = {0};
  for (size_t i = 0; i < snapshot->endpoint_count && !pub->schema; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    tb__definition_entry_t *entry = NULL;
    if (endpoint->kind != TB_ROS2_ENDPOINT_TOPIC || !endpoint->type_hash) continue;
    if (strcmp(endpoint->type, pub->arguments->type) != 0) continue;
    tb_status_t status = definition_requests_get(pub->requests, endpoint, &entry);
    if (status) return status;
    const tb__known_definition_t *known = tb__definition_entry_known(entry);
    if (known) pub->schema = known->schema;
  }
  tb_steady_clock_now(pub->steady, &now);
  definition_requests_step(pub->requests, snapshot, now.ns);
  return TB_OK;
}

static tb_status_t ask(pub_t *pub)
{
  tb_status_t status = TB_OK;
  pub->requests = definition_requests_create(pub->ros.context, pub->definitions);
  if (!pub->requests) return TB_ERR_NO_MEMORY;
  tb_wait_options_t wait = TB_WAIT_OPTIONS_INIT;
  wait.token = pub->token;
  for (int64_t left_ns = ASK_LIMIT_NS; !status && !pub->schema && left_ns > 0;
       left_ns -= ASK_STEP_NS) {
    const tb_ros2_graph_snapshot_t *snapshot = NULL;
    status = tb_ros2_graph_snapshot(pub->ros.graph, &snapshot, NULL);
    if (!status) status = ask_of(pub, snapshot);
    tb_ros2_graph_snapshot_release(snapshot);
    if (!status && !pub->schema)
      status = tb_steady_clock_sleep_for(pub->steady, (tb_duration_t){ASK_STEP_NS}, &wait);
  }
  return status == TB_ERR_CANCELLED ? TB_OK : status;
}

/* EXIT_OK, or a message was printed. */
static int find_definition(pub_t *pub)
{
  tb_status_t status = look_up(pub);
  if (!status && !pub->schema) status = ask(pub);
  if (status) return command_failed(pub->command, status, NULL);
  if (pub->schema) return EXIT_OK;
  text_err("timebase %s: the definition of %s is unknown; source its workspace "
           "(AMENT_PREFIX_PATH), or name its folder with --definitions\n",
           pub->command->name, pub->arguments->type);
  return EXIT_IO;
}

/* --- what is published --- */

/* A pipe could be waited for without end. NULL: errno, or 0 if it is no regular file. */
static FILE *open_file(const char *name)
{
  struct stat is;
  int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return NULL;
  bool is_regular = fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
  FILE *file = is_regular ? fdopen(fd, "r") : NULL;
  if (!file) close(fd);
  if (!is_regular) errno = 0;
  return file;
}

/* All of it. EXIT_OK, or a message was printed. */
static int read_text(pub_t *pub)
{
  const topic_pub_arguments_t *arguments = pub->arguments;
  const char *name = arguments->file ? arguments->file : "standard input";
  size_t size = 0, count = 1;
  FILE *file = arguments->file ? open_file(arguments->file) : stdin;
  int failure = file ? 0 : errno;
  if (!file && !failure)
    return command_usage_error(pub->command,
                               "--yaml-file %s: not a regular file; write it to one first", name);
  while (!failure && count > 0) {
    char *grown = size < YAML_MAX ? realloc(pub->text, 2 * size + 4096) : NULL;
    if (!grown) {
      if (arguments->file) fclose(file);
      return size < YAML_MAX ? command_failed(pub->command, TB_ERR_NO_MEMORY, NULL)
                             : command_usage_error(pub->command, "%s: more than 64 MiB", name);
    }
    pub->text = grown;
    count = fread(pub->text + size, 1, size + 4095, file);
    size += count;
    pub->text[size] = '\0';
    if (ferror(file)) failure = errno;
  }
  if (file && arguments->file) fclose(file);
  if (!failure && strlen(pub->text) == size) return EXIT_OK;
  text_err("timebase %s: %s: %s\n", pub->command->name, name,
           failure ? strerror(failure) : "has a NUL, so it is not YAML");
  return EXIT_IO;
}

/* The line of --- or ... that ends a document, or the end. *out_next: what follows that. */
static const char *end_of_document(const char *yaml, const char **out_next)
{
  for (const char *line = yaml; *line; line = *out_next) {
    size_t length = strcspn(line, "\n");
    *out_next = line + length + (line[length] == '\n');
    bool is_mark = strncmp(line, "---", 3) == 0 || strncmp(line, "...", 3) == 0;
    if (is_mark && strspn(line + 3, " \t\r") + 3 == length) return line;
  }
  *out_next = yaml + strlen(yaml);
  return *out_next;
}

/* Of comments and empty lines alone. */
static bool is_empty(const char *yaml, const char *end)
{
  while (yaml < end) {
    size_t spaces = strspn(yaml, " \t\r");
    if (yaml[spaces] != '\n' && yaml[spaces] != '#' && yaml + spaces < end) return false;
    yaml += strcspn(yaml, "\n");
    yaml += *yaml == '\n';
  }
  return true;
}

static int encode(pub_t *pub, const char *yaml, size_t size)
{
  tb_error_t error = TB_ERROR_INIT;
  char which[40] = "";
  tb__message_encoder_destroy(pub->encoder);
  pub->encoder = NULL;
  tb_status_t status = tb__message_encoder_create(pub->schema, yaml, size, &pub->encoder, &error);
  if (pub->arguments->file) snprintf(which, sizeof which, "message %zu: ", pub->document);
  if (status == TB_ERR_INVALID || status == TB_ERR_LIMIT)
    return command_usage_error(pub->command, "YAML: %s%s", which, error.text);
  return status ? command_failed(pub->command, status, &error) : EXIT_OK;
}

/* The next message of a file; *out_is_there: there is one. */
static int take_document(pub_t *pub, bool *out_is_there)
{
  const char *begin, *end, *next = pub->yaml;
  do {
    begin = next;
    end = end_of_document(begin, &next);
  } while (is_empty(begin, end) && *next);
  pub->yaml = next;
  *out_is_there = !is_empty(begin, end);
  pub->document++;
  return *out_is_there ? encode(pub, begin, (size_t)(end - begin)) : EXIT_OK;
}

/* All messages of a file are looked at before the first is published. */
static int check_documents(pub_t *pub)
{
  bool is_there = true;
  size_t count = 0;
  int result = EXIT_OK;
  pub->yaml = pub->text;
  while (!result && is_there) {
    result = take_document(pub, &is_there);
    count += is_there;
  }
  pub->yaml = pub->text;
  pub->document = 0;
  if (!result && count == 0)
    return command_usage_error(pub->command, "%s: has no messages", pub->arguments->file);
  return result ? result : take_document(pub, &is_there);
}

static int prepare(pub_t *pub)
{
  const topic_pub_arguments_t *arguments = pub->arguments;
  if (arguments->file) return check_documents(pub);
  const char *values = arguments->from_stdin ? pub->text : arguments->values;
  return encode(pub, values, strlen(values));
}

/* --- messages --- */

static int show(const pub_t *pub, int number, const uint8_t *data, size_t size)
{
  json_t *decoded = NULL;
  tb_status_t status = message_json(pub->schema, data, size, MESSAGE_ITEMS_DEFAULT, &decoded);
  if (status) return command_failed(pub->command, status, NULL);
  text_out("publishing #%d:\n", number);
  message_print_yaml(decoded);
  text_out("---\n");
  json_decref(decoded);
  command_flush();
  return EXIT_OK;
}

static void report_incompatible(pub_t *pub)
{
  const char *policy = NULL;
  uint32_t count = tb_ros2_publisher_incompatible(pub->publisher, &policy);
  if (count == pub->incompatible) return;
  pub->incompatible = count;
  command_begin_warning(pub->command);
  text_err("a subscription of %s gets nothing: its %s does not fit\n", pub->arguments->topic,
           policy);
}

static int publish(pub_t *pub, int number)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_time_t now = {0};
  const uint8_t *data;
  size_t size;
  tb_clock_t *clock = pub->arguments->use_sim_time ? pub->ros.clock : pub->system;
  tb_status_t status = tb_clock_now(clock, &now);
  if (!status) status = tb__message_encoder_run(pub->encoder, now.ns, &data, &size, &error);
  if (status) return command_failed(pub->command, status, &error);
  int print = pub->arguments->print;
  int result = print && number % print == 0 ? show(pub, number, data, size) : EXIT_OK;
  if (result) return result;
  status = pub->arguments->ros1 ? topic_pub_ros1_publish(&pub->ros1, data, size, &error)
                                : tb_ros2_publisher_publish(pub->publisher, data, size, &error);
  if (pub->publisher) report_incompatible(pub);
  return status ? command_failed(pub->command, status, &error) : EXIT_OK;
}

static uint32_t matched(const pub_t *pub)
{
  return pub->arguments->ros1 ? topic_pub_ros1_matched(&pub->ros1)
                              : tb_ros2_publisher_matched(pub->publisher);
}

static tb_status_t await_ros1(pub_t *pub, uint32_t wanted, tb_wait_options_t *wait)
{
  tb_steady_time_t now = {0}, end = {0};
  tb_steady_clock_now(pub->steady, &end);
  end.ns += wait->limit.ns;
  bool has_limit = wait->limit.ns > 0;
  wait->limit = TB_NO_LIMIT;
  tb_status_t status = TB_OK;
  while (!status && matched(pub) < wanted) {
    tb_steady_clock_now(pub->steady, &now);
    if (has_limit && now.ns >= end.ns) return TB_ERR_TIMEOUT;
    status = tb_steady_clock_sleep_for(pub->steady, (tb_duration_t){MATCH_STEP_NS}, wait);
  }
  return status;
}

/* *out_is_over: a signal came. */
static int wait_for_subscriptions(pub_t *pub, bool *out_is_over)
{
  const topic_pub_arguments_t *arguments = pub->arguments;
  uint32_t wanted = (uint32_t)arguments->wait_matching;
  tb_wait_options_t wait = TB_WAIT_OPTIONS_INIT;
  wait.token = pub->token;
  wait.limit = arguments->wait_max;
  if (matched(pub) >= wanted) return EXIT_OK;
  text_out("waiting for at least %u matching subscription%s\n", wanted, wanted == 1 ? "" : "s");
  command_flush();
  tb_status_t status = arguments->ros1
                           ? await_ros1(pub, wanted, &wait)
                           : tb_ros2_publisher_wait_for_matched(pub->publisher, wanted, &wait);
  if (pub->publisher) report_incompatible(pub);
  *out_is_over = status == TB_ERR_CANCELLED;
  if (!status || *out_is_over) return EXIT_OK;
  if (status != TB_ERR_TIMEOUT) return command_failed(pub->command, status, NULL);
  text_err("timebase %s: %u of %u subscriptions of %s within --max-wait-time-secs\n",
           pub->command->name, matched(pub), wanted, arguments->topic);
  return EXIT_CHECK;
}

static tb_status_t wait_for_time(pub_t *pub)
{
  clock_hint_t hint;
  tb_wait_options_t wait = TB_WAIT_OPTIONS_INIT;
  wait.token = pub->token;
  if (!pub->arguments->use_sim_time) return TB_OK;
  clock_hint_begin(pub->command, &pub->ros, &hint);
  tb_status_t status = tb_clock_wait_until_started(pub->ros.clock, &wait);
  clock_hint_end(&hint);
  return status;
}

static int publish_all(pub_t *pub)
{
  const topic_pub_arguments_t *arguments = pub->arguments;
  tb_rate_t *rate = NULL;
  tb_wait_options_t wait = TB_WAIT_OPTIONS_INIT;
  int result = EXIT_OK;
  wait.token = pub->token;
  tb_status_t status = wait_for_time(pub);
  if (!status)
    status = arguments->use_sim_time
                 ? tb_clock_rate_create_hz(pub->ros.clock, arguments->hz, &rate)
                 : tb_steady_clock_rate_create_hz(pub->steady, arguments->hz, &rate);
  bool is_there = true;
  for (int number = 1; !status && !result; number++) {
    result = publish(pub, number);
    if (!result && arguments->file) result = take_document(pub, &is_there);
    if (number == arguments->times || !is_there) break;
    if (number == INT32_MAX) number = 0;
    if (!result) status = tb_rate_sleep(rate, &wait, NULL);
  }
  tb_rate_destroy(rate);
  if (result || !status || status == TB_ERR_CANCELLED) return result;
  return command_failed(pub->command, status, NULL);
}

/* What subscriptions have not taken yet, and how long the node stays. */
static void linger(pub_t *pub)
{
  tb_wait_options_t wait = TB_WAIT_OPTIONS_INIT;
  wait.token = pub->token;
  wait.limit = (tb_duration_t){ACK_LIMIT_S * TB_NS_PER_S};
  if (pub->arguments->ros1 ? topic_pub_ros1_drain(&pub->ros1, pub->steady, pub->token)
                           : tb_ros2_publisher_wait_for_acks(pub->publisher, &wait))
    return;
  wait.limit = TB_NO_LIMIT;
  tb_steady_clock_sleep_for(pub->steady, pub->arguments->keep_alive, &wait);
}

/* --- the run --- */

static int create_publisher(pub_t *pub)
{
  const topic_pub_arguments_t *arguments = pub->arguments;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  options.no_parameter_services = options.no_parameter_events = true;
  tb_status_t status = tb_ros2_node_create(pub->ros.context,
                                           arguments->node ? arguments->node : "timebase_topic_pub",
                                           "", &options, &pub->node, &error);
  if (!status)
    status = tb_ros2_node_create_publisher(pub->node, arguments->topic, arguments->type,
                                           &arguments->qos, &pub->publisher, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(pub->command, "%s", error.text);
  return status ? command_failed(pub->command, status, &error) : EXIT_OK;
}

static int open_ros1(pub_t *pub)
{
  int result = topic_pub_ros1_open(pub->command, pub->arguments, &pub->ros1);
  pub->schema = pub->ros1.schema;
  if (!result) result = prepare(pub);
  return result ? result : topic_pub_ros1_advertise(pub->command, pub->arguments, &pub->ros1);
}

static int open_ros2(pub_t *pub)
{
  int result = topic_clock_open(pub->command, pub->arguments->domain, NULL, &pub->ros);
  if (!result) result = find_definition(pub);
  if (!result) result = prepare(pub);
  return result ? result : create_publisher(pub);
}

static int run_pub(pub_t *pub)
{
  bool is_over = false;
  const topic_pub_arguments_t *arguments = pub->arguments;
  const tb_clock_options_t system = {TB_TIME_SYSTEM, NULL};
  int result = arguments->file || arguments->from_stdin ? read_text(pub) : EXIT_OK;
  if (result) return result;
  tb_status_t status = tb_cancel_token_create_on_signals(&pub->token);
  if (!status) status = tb_steady_clock_create(&pub->steady);
  if (!status) status = tb_clock_create(&system, &pub->system);
  if (status) return command_failed(pub->command, status, NULL);
  result = arguments->ros1 ? open_ros1(pub) : open_ros2(pub);
  if (!result) result = wait_for_subscriptions(pub, &is_over);
  if (!result && !is_over) result = publish_all(pub);
  if (!result && !is_over) linger(pub);
  return result;
}

static void close_pub(pub_t *pub)
{
  tb_ros2_publisher_destroy(pub->publisher);
  tb_ros2_node_destroy(pub->node);
  tb__message_encoder_destroy(pub->encoder);
  topic_pub_ros1_close(&pub->ros1);
  free(pub->text);
  definition_requests_destroy(pub->requests);
  tb__definitions_destroy(pub->definitions);
  ros_clock_close(&pub->ros);
  tb_clock_destroy(pub->system);
  tb_steady_clock_destroy(pub->steady);
  tb_cancel_token_destroy(pub->token);
}

static int run(const command_t *command, int argc, char **argv)
{
  topic_pub_arguments_t arguments = {.hz = 1,
                                     .print = 1,
                                     .wait_matching = -1,
                                     .keep_alive = {KEEP_ALIVE_NS},
                                     .domain = -1,
                                     .qos = TB_QOS_INIT_DEFAULT};
  pub_t pub = {.command = command, .arguments = &arguments};
  bool help = false;
  int result = topic_pub_parse(command, argc, argv, &arguments, &help);
  if (help) return command_help(command);
  if (result) return result;
  command_show_log(command);
  result = run_pub(&pub);
  close_pub(&pub);
  return command_finish(command, result);
}

const command_t command_topic_pub = {
    .name = "topic pub",
    .summary = "publish messages",
    .usage = topic_pub_usage,
    .help = topic_pub_help,
    .run = run,
};
