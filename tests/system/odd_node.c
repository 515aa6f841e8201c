/* Nodes that are not as they should be, for the commands that see and set them:
 *
 *   silent NAME          never answers requests for its parameters; prints "asked SERVICE"
 *   foreign NAME         has only use_sim_time, as nodes of rclpy do; prints "undeclared PARAMETER"
 *                        when it is asked for another one, where rclpy logs a warning
 *   refuse NAME REASON   refuses every set
 *   bare NAME            has no services of parameters
 *   strange NAME         has parameters whose names and values would harm a terminal
 *   large NAME           has parameters whose names come to more than 1 MiB
 *   clock QOS            no node: publishes on /clock, "be" (best effort) or "rel" (reliable)
 *
 * Prints "ready", and ends when its stdin does. */
#include <stdio.h>
#include <string.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

static const char *const services[][2] = {
    {"get_parameters", "rcl_interfaces/srv/GetParameters"},
    {"set_parameters", "rcl_interfaces/srv/SetParameters"},
    {"list_parameters", "rcl_interfaces/srv/ListParameters"},
};

#define SERVICE_COUNT (sizeof services / sizeof *services)

static tb_ros2_service_t *open_services[SERVICE_COUNT];

static void wait_for_end(void)
{
  char byte;
  printf("ready\n");
  fflush(stdout);
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
}

static void on_silent(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service, (void)request;
  printf("asked %s\n", (const char *)user);
  fflush(stdout);
}

/* The strings of a CDR sequence at `offset`, one after the other. */
static const char *next_string(const tb_ros2_request_t *request, size_t *offset)
{
  uint32_t length;
  const char *at = (const char *)request->cdr + (*offset + 3) / 4 * 4;
  memcpy(&length, at, sizeof length);
  *offset = (*offset + 3) / 4 * 4 + sizeof length + length;
  return at + sizeof length;
}

static uint32_t count_of(const tb_ros2_request_t *request)
{
  uint32_t count;
  memcpy(&count, (const char *)request->cdr + 4, sizeof count);
  return count;
}

/* GetParameters: no values at all where one is not declared, as from rclpy. */
static void on_foreign_get(tb_ros2_service_t *service, const tb_ros2_request_t *request)
{
  static const uint8_t none[8] = {0, 1, 0, 0};
  static const uint8_t off[56] = {0, 1, 0, 0, 1, 0, 0, 0, 1, [28] = 1};
  size_t offset = 8;
  bool is_declared = true;
  for (uint32_t i = 0; i < count_of(request); i++) {
    const char *name = next_string(request, &offset);
    if (strcmp(name, "use_sim_time") == 0) continue;
    is_declared = false;
    printf("undeclared %s\n", name);
    fflush(stdout);
  }
  if (is_declared)
    tb_ros2_service_reply(service, &request->id, off, sizeof off, NULL);
  else
    tb_ros2_service_reply(service, &request->id, none, sizeof none, NULL);
}

static void on_foreign_list(tb_ros2_service_t *service, const tb_ros2_request_t *request)
{
  static const uint8_t none[12] = {0, 1, 0, 0};
  static const uint8_t one[32] = {0,   1,   0,   0,   1,   0,   0,   0,   13,  0,   0,   0,
                                  'u', 's', 'e', '_', 's', 'i', 'm', '_', 't', 'i', 'm', 'e'};
  size_t offset = 8;
  bool is_wanted = count_of(request) == 0;
  for (uint32_t i = 0; i < count_of(request); i++)
    if (strcmp(next_string(request, &offset), "use_sim_time") == 0) is_wanted = true;
  if (is_wanted)
    tb_ros2_service_reply(service, &request->id, one, sizeof one, NULL);
  else
    tb_ros2_service_reply(service, &request->id, none, sizeof none, NULL);
}

/* SetParameters: refuses one. */
static void on_foreign_set(tb_ros2_service_t *service, const tb_ros2_request_t *request)
{
  static const uint8_t refused[20] = {0, 1, 0, 0, 1, 0, 0, 0, 0, [12] = 3, [16] = 'n', [17] = 'o'};
  tb_ros2_service_reply(service, &request->id, refused, sizeof refused, NULL);
}

static void on_foreign(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  const char *name = user;
  if (strcmp(name, "get_parameters") == 0)
    on_foreign_get(service, request);
  else if (strcmp(name, "list_parameters") == 0)
    on_foreign_list(service, request);
  else
    on_foreign_set(service, request);
}

static tb_status_t open_own_services(tb_ros2_node_t *node, tb_ros2_service_callback_t callback,
                                     tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < SERVICE_COUNT && !status; i++) {
    char name[64];
    snprintf(name, sizeof name, "~/%s", services[i][0]);
    status = tb_ros2_node_create_service(node, name, services[i][1], &qos, callback,
                                         (void *)services[i][0], &open_services[i], error);
  }
  return status;
}

static tb_status_t on_set(tb_ros2_node_t *node, const tb_ros2_parameter_t *parameters, size_t count,
                          void *user, tb_error_t *error)
{
  (void)node, (void)parameters, (void)count;
  return tb_error_set(error, TB_ERR_INVALID, "%s", (const char *)user);
}

static tb_status_t declare_strange(tb_ros2_node_t *node, tb_error_t *error)
{
  static const char *const items[] = {"\x1b]0;title\a", "caf\xc3\xa9"};
  tb_ros2_parameter_value_t text = tb_ros2_parameter_string("\x1b[2Jgone\r\n\x7f\xe2\x80\xae");
  tb_ros2_parameter_value_t list = TB_ROS2_PARAMETER_VALUE_INIT;
  tb_ros2_parameter_value_t number = tb_ros2_parameter_double(-1.0 / 0.0);
  list.type = TB_ROS2_PARAMETER_STRING_ARRAY;
  list.items.strings = items;
  list.count = 2;
  tb_status_t status = tb_ros2_node_declare_parameter(node, "red\x1b[31m", &text, NULL, error);
  if (!status) status = tb_ros2_node_declare_parameter(node, "list", &list, NULL, error);
  if (!status) status = tb_ros2_node_declare_parameter(node, "number", &number, NULL, error);
  return status;
}

static tb_status_t declare_large(tb_ros2_node_t *node, tb_error_t *error)
{
  static char name[100000];
  tb_ros2_parameter_value_t text = tb_ros2_parameter_string("");
  tb_status_t status = TB_OK;
  memset(name, 'n', sizeof name - 1);
  for (int i = 0; i < 12 && !status; i++) {
    name[0] = (char)('a' + i);
    status = tb_ros2_node_declare_parameter(node, name, &text, NULL, error);
  }
  return status;
}

static tb_status_t run_node(tb_ros2_context_t *context, const char *kind, const char *name,
                            const char *reason, tb_error_t *error)
{
  tb_ros2_node_t *node;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  options.no_parameter_services =
      strcmp(kind, "silent") == 0 || strcmp(kind, "bare") == 0 || strcmp(kind, "foreign") == 0;
  tb_status_t status = tb_ros2_node_create(context, name, "/", &options, &node, error);
  if (status) return status;
  if (strcmp(kind, "silent") == 0)
    status = open_own_services(node, on_silent, error);
  else if (strcmp(kind, "foreign") == 0)
    status = open_own_services(node, on_foreign, error);
  else if (strcmp(kind, "refuse") == 0)
    status = tb_ros2_node_set_parameters_callback(node, on_set, (void *)reason);
  else if (strcmp(kind, "strange") == 0)
    status = declare_strange(node, error);
  else if (strcmp(kind, "large") == 0)
    status = declare_large(node, error);
  if (!status) wait_for_end();
  for (size_t i = 0; i < SERVICE_COUNT; i++)
    tb_ros2_service_destroy(open_services[i]);
  tb_ros2_node_destroy(node);
  return status;
}

static tb_status_t run_clock(tb_ros2_context_t *context, const char *reliability, tb_error_t *error)
{
  tb_ros2_publisher_t *publisher;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  if (strcmp(reliability, "rel") == 0) qos.reliability = TB_QOS_RELIABLE;
  tb_status_t status = tb_ros2_publisher_create(context, "/clock", "rosgraph_msgs/msg/Clock", &qos,
                                                &publisher, error);
  if (status) return status;
  wait_for_end();
  tb_ros2_publisher_destroy(publisher);
  return TB_OK;
}

int main(int argc, char **argv)
{
  tb_ros2_context_t *context = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (argc < 3) return 2;
  tb_status_t status = tb_ros2_context_create(NULL, &context, &error);
  if (!status && strcmp(argv[1], "clock") == 0)
    status = run_clock(context, argv[2], &error);
  else if (!status)
    status = run_node(context, argv[1], argv[2], argc > 3 ? argv[3] : "", &error);
  if (status) fprintf(stderr, "odd_node: %s\n", error.text);
  tb_ros2_context_destroy(context);
  return status ? 1 : 0;
}
