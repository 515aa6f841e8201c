#include <stdio.h>
#include <string.h>

#include "text.h"
#include "wait.h"

/* lifecycle_msgs: states and transitions of lifecycle nodes. */
enum { UNCONFIGURED = 1, INACTIVE = 2, ACTIVE = 3, FINALIZED = 4, FIRST_TRANSITION_STATE = 10 };
enum { CONFIGURE = 1, ACTIVATE = 3 };

#define GET_STATE    "lifecycle_msgs/srv/GetState"
#define CHANGE_STATE "lifecycle_msgs/srv/ChangeState"

#define REST_NS (50 * TB_NS_PER_MS) /* while a node is in a transition */

const char *wait_state_name(uint8_t state)
{
  static const char *const names[] = {"unknown", "unconfigured", "inactive", "active", "finalized"};
  static const char *const transitions[] = {"configuring", "cleaning up",  "shutting down",
                                            "activating",  "deactivating", "processing an error"};
  if (state < sizeof names / sizeof *names) return names[state];
  state = (uint8_t)(state - FIRST_TRANSITION_STATE);
  return state < sizeof transitions / sizeof *transitions ? transitions[state] : names[0];
}

/* --- calls --- */

static int open_node(wait_t *wait, wait_node_t *node)
{
  char service[sizeof node->name + 16];
  tb_error_t error = TB_ERROR_INIT;
  const char *slash = node->argument[0] == '/' ? "" : "/";
  int size = snprintf(node->name, sizeof node->name, "%s%s", slash, node->argument);
  if (!node->argument[0] || size < 0 || (size_t)size >= sizeof node->name)
    return command_usage_error(wait->command, "--activate: '%s' is not the name of a node",
                               node->argument);
  snprintf(service, sizeof service, "%s/get_state", node->name);
  tb_status_t status =
      tb_ros2_client_create(wait->ros.context, service, GET_STATE, NULL, &node->get_state, &error);
  if (status == TB_ERR_INVALID)
    return command_usage_error(wait->command, "--activate: '%s' is not the name of a node: %s",
                               node->argument, error.text);
  snprintf(service, sizeof service, "%s/change_state", node->name);
  if (!status)
    status = tb_ros2_client_create(wait->ros.context, service, CHANGE_STATE, NULL,
                                   &node->change_state, &error);
  return status ? command_failed(wait->command, status, &error) : EXIT_OK;
}

int wait_nodes_open(wait_t *wait)
{
  int result = EXIT_OK;
  for (size_t i = 0; i < wait->node_count && !result; i++)
    result = open_node(wait, &wait->nodes[i]);
  return result;
}

void wait_nodes_close(wait_t *wait)
{
  for (size_t i = 0; i < wait->node_count; i++) {
    tb_ros2_client_destroy(wait->nodes[i].get_state);
    tb_ros2_client_destroy(wait->nodes[i].change_state);
  }
}

/* The first byte of the response. False: there is none; `problem` says why. */
static bool call(const wait_t *wait, wait_node_t *node, tb_ros2_client_t *client, uint8_t request,
                 const char *what, uint8_t *out)
{
  /* A transition: its id and an empty label. A request without fields is one byte. */
  const uint8_t cdr[16] = {0, 1, 0, 0, request, 0, 0, 0, 1};
  const tb_wait_options_t options = {.limit = wait_left(wait)};
  tb_ros2_response_t response = {0};
  tb_status_t status =
      tb_ros2_client_call(client, cdr, request ? sizeof cdr : 8, &options, &response, NULL);
  bool is_good = !status && response.size > 4;
  if (is_good) *out = ((const uint8_t *)response.cdr)[4];
  const char *why = !status                      ? "gave an answer without content"
                    : status == TB_ERR_NOT_FOUND ? "is not there, or is no lifecycle node"
                    : status == TB_ERR_TIMEOUT   ? "gave no answer within the limit"
                    : status == TB_ERR_CLOSED    ? "was gone before it answered"
                                                 : tb_status_message(status);
  if (!is_good) snprintf(node->problem, sizeof node->problem, "%s: %s", what, why);
  tb_ros2_response_release(&response);
  return is_good;
}

/* The state, once the node is in no transition. */
static bool get_state(const wait_t *wait, wait_node_t *node)
{
  for (;;) {
    if (!call(wait, node, node->get_state, 0, "get_state", &node->state)) return false;
    if (node->state < FIRST_TRANSITION_STATE) return true;
    if (wait_left(wait).ns < 0) break;
    wait_rest(wait, REST_NS);
  }
  snprintf(node->problem, sizeof node->problem, "it does not leave this state within the limit");
  return false;
}

/* Asks for a transition, and looks whether the node is in the state that it leads to. */
static bool change(const wait_t *wait, wait_node_t *node, uint8_t transition, uint8_t goal)
{
  const char *name = transition == CONFIGURE ? "configure" : "activate";
  uint8_t success = 0;
  if (!call(wait, node, node->change_state, transition, name, &success)) return false;
  if (!get_state(wait, node)) return false;
  if (success && node->state == goal) return true;
  snprintf(node->problem, sizeof node->problem, "%s: %s", name,
           success ? "it reports success, and is in another state"
                   : "it refuses or fails; read its log");
  return false;
}

static bool activate(const wait_t *wait, wait_node_t *node)
{
  if (!get_state(wait, node)) return false;
  if (node->state == ACTIVE) {
    node->outcome = WAIT_NODE_WAS_ACTIVE;
    return true;
  }
  if (node->state == UNCONFIGURED && !change(wait, node, CONFIGURE, INACTIVE)) return false;
  if (node->state != INACTIVE) {
    snprintf(node->problem, sizeof node->problem,
             "it cannot be activated from this state; start it again");
    return false;
  }
  if (!change(wait, node, ACTIVATE, ACTIVE)) return false;
  node->outcome = WAIT_NODE_ACTIVATED;
  return true;
}

int wait_nodes_activate(wait_t *wait)
{
  for (size_t i = 0; i < wait->node_count; i++) {
    wait_node_t *node = &wait->nodes[i];
    if (activate(wait, node)) {
      if (!wait->json) wait_show_node(node);
      continue;
    }
    node->outcome = WAIT_NODE_FAILED;
    if (!wait->json)
      text_err("timebase %s: %s is not active (state: %s): %s\n", wait->command->name, node->name,
               wait_state_name(node->state), node->problem);
    return EXIT_CHECK; /* later nodes may need this one */
  }
  return EXIT_OK;
}
