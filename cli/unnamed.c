#include "unnamed.h"

#include <string.h>

#include "json.h"
#include "text.h"

#define NAMES_MAX 8 /* of a line; --json has all */
#define LINES_MAX 3

typedef struct role {
  const char *verb, *noun;
  tb_ros2_endpoint_kind_t kind;
  bool is_publisher;
} role_t;

/* Endpoints by what their node has them for. The other endpoint of a service or client says the
 * same once more. */
static const role_t roles[] = {
    {"publishes", "publisher", TB_ROS2_ENDPOINT_TOPIC, true},
    {"subscribes to", "subscription", TB_ROS2_ENDPOINT_TOPIC, false},
    {"serves", "service", TB_ROS2_ENDPOINT_SERVICE_REQUEST, false},
    {"calls", "client", TB_ROS2_ENDPOINT_SERVICE_REQUEST, true},
};

#define ROLE_COUNT (sizeof roles / sizeof roles[0])

bool unnamed_is(const tb_ros2_graph_participant_t *participant)
{
  return participant->state == TB_ROS2_PARTICIPANT_AWAITED ||
         participant->state == TB_ROS2_PARTICIPANT_UNREADABLE;
}

bool unnamed_has(const tb_ros2_graph_snapshot_t *snapshot, const tb_ros2_graph_endpoint_t *endpoint)
{
  const tb_ros2_graph_participant_t *participant =
      tb_ros2_graph_find_participant(snapshot, endpoint->participant_guid);
  return endpoint->node < 0 && participant && unnamed_is(participant);
}

size_t unnamed_count(const tb_ros2_graph_snapshot_t *snapshot)
{
  size_t count = 0;
  for (size_t i = 0; i < snapshot->participant_count; i++)
    count += unnamed_is(&snapshot->participants[i]);
  return count;
}

/* NULL: there is none. */
static const tb_ros2_graph_participant_t *unnamed_first(const tb_ros2_graph_snapshot_t *snapshot)
{
  for (size_t i = 0; i < snapshot->participant_count; i++)
    if (unnamed_is(&snapshot->participants[i])) return &snapshot->participants[i];
  return NULL;
}

/* NULL: the endpoint is of another participant, or has no role of its own. */
static const role_t *role_of(const tb_ros2_graph_participant_t *participant,
                             const tb_ros2_graph_endpoint_t *endpoint)
{
  if (memcmp(endpoint->participant_guid, participant->guid, sizeof participant->guid) != 0)
    return NULL;
  for (size_t i = 0; i < ROLE_COUNT; i++)
    if (roles[i].kind == endpoint->kind && roles[i].is_publisher == endpoint->is_publisher)
      return &roles[i];
  return NULL;
}

static size_t endpoint_count(const tb_ros2_graph_snapshot_t *snapshot,
                             const tb_ros2_graph_participant_t *participant)
{
  size_t count = 0;
  for (size_t i = 0; i < snapshot->endpoint_count; i++)
    count += memcmp(snapshot->endpoints[i].participant_guid, participant->guid, 16) == 0;
  return count;
}

/* "publishes /clock, /tf; serves /sim/get_parameters and 5 more" */
static void put_endpoints(FILE *out, const tb_ros2_graph_snapshot_t *snapshot,
                          const tb_ros2_graph_participant_t *participant)
{
  size_t count = 0;
  const role_t *last_role = NULL;
  for (size_t r = 0; r < ROLE_COUNT; r++) {
    const char *last_name = ""; /* nodes of one participant may have the same */
    for (size_t i = 0; i < snapshot->endpoint_count; i++) {
      const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
      bool is_next =
          role_of(participant, endpoint) == &roles[r] && strcmp(endpoint->name, last_name) != 0;
      if (is_next) last_name = endpoint->name;
      if (!is_next || ++count > NAMES_MAX) continue;
      if (last_role == &roles[r])
        text_to(out, ", ");
      else
        text_to(out, "%s%s ", last_role ? "; " : ": ", roles[r].verb);
      text_to(out, "%s", endpoint->name);
      last_role = &roles[r];
    }
  }
  if (count > NAMES_MAX) text_to(out, " and %zu more", count - NAMES_MAX);
}

const char *unnamed_own_addresses(const tb_ros2_graph_snapshot_t *snapshot)
{
  for (size_t i = 0; i < snapshot->participant_count; i++)
    if (snapshot->participants[i].is_own) return snapshot->participants[i].addresses;
  return "";
}

/* "udp/127.0.0.1:7410@1", "udp6/[::1]:7410@1", "127.0.0.1", "::1", "127.0.0.1,..." */
static bool is_of_loopback(const char *address)
{
  static const char *const schemes[] = {"udp/", "udp6/", "tcp/", "tcp6/"};
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
    size_t length = strlen(schemes[i]);
    if (strncmp(address, schemes[i], length) != 0) continue;
    address += length;
    break;
  }
  address += *address == '[';
  return strncmp(address, "127.", 4) == 0 ||
         (strncmp(address, "::1", 3) == 0 && strchr("],%", address[3]));
}

bool unnamed_is_loopback(const char *addresses)
{
  if (!*addresses) return false;
  for (const char *at = addresses; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (!is_of_loopback(at)) return false;
  }
  return true;
}

/* Where only the announcement arrives, the two do not use the same network interface. */
static void put_reach(FILE *out, const tb_ros2_graph_snapshot_t *snapshot,
                      const tb_ros2_graph_participant_t *participant)
{
  const char *own = unnamed_own_addresses(snapshot);
  bool differ = unnamed_is_loopback(participant->addresses) != unnamed_is_loopback(own);
  text_to(out, "; nothing else arrives from ");
  text_to(out, "%s", participant->addresses);
  text_to(out, differ ? ", and this command uses " : " to ");
  text_to(out, "%s", own);
  text_to(out, differ ? ": have both use the same network interface (here: "
                        "<NetworkInterface> in CYCLONEDDS_URI)"
                      : ": check that both use the same network interface, and firewalls, or that "
                        "it has not been killed (it is listed until its lease ends)");
}

static void put_state(FILE *out, const tb_ros2_graph_participant_t *participant)
{
  bool is_awaited = participant->state == TB_ROS2_PARTICIPANT_AWAITED;
  text_to(out, "of %s (enclave ", participant->middleware);
  text_to(out, "%s", participant->enclave);
  text_to(out, "%s",
          is_awaited ? ") has not announced its nodes (no ros_discovery_info)"
                     : ") announces its nodes in a form that is not ROS's");
}

void unnamed_describe(FILE *out, const tb_ros2_graph_snapshot_t *snapshot,
                      const tb_ros2_graph_participant_t *participant)
{
  put_state(out, participant);
  if (endpoint_count(snapshot, participant))
    put_endpoints(out, snapshot, participant);
  else
    put_reach(out, snapshot, participant);
}

void unnamed_explain(FILE *out, const tb_ros2_graph_snapshot_t *snapshot)
{
  const tb_ros2_graph_participant_t *participant = unnamed_first(snapshot);
  text_to(out, "a participant ");
  put_state(out, participant);
  if (!endpoint_count(snapshot, participant)) put_reach(out, snapshot, participant);
}

void unnamed_warn(const char *command, const tb_ros2_graph_snapshot_t *snapshot)
{
  size_t count = 0;
  for (size_t i = 0; i < snapshot->participant_count; i++) {
    if (!unnamed_is(&snapshot->participants[i]) || ++count > LINES_MAX) continue;
    text_err("timebase %s: warning: nodes may be missing: a participant ", command);
    unnamed_describe(stderr, snapshot, &snapshot->participants[i]);
    text_err("\n");
  }
  if (count > LINES_MAX)
    text_err("timebase %s: warning: and %zu participants more; see 'timebase nodes'\n", command,
             count - LINES_MAX);
}

static json_t *endpoints_json(const tb_ros2_graph_snapshot_t *snapshot,
                              const tb_ros2_graph_participant_t *participant)
{
  json_t *list = json_array();
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    const role_t *role = role_of(participant, endpoint);
    if (!role) continue;
    json_t *item = json_object();
    json_put(item, "kind", json_string(role->noun));
    json_put(item, "name", text_json(endpoint->name));
    json_put(item, "type", text_json(endpoint->type));
    json_push(list, item);
  }
  return list;
}

json_t *unnamed_json(const tb_ros2_graph_snapshot_t *snapshot)
{
  json_t *list = json_array();
  for (size_t i = 0; i < snapshot->participant_count; i++) {
    const tb_ros2_graph_participant_t *participant = &snapshot->participants[i];
    if (!unnamed_is(participant)) continue;
    bool is_awaited = participant->state == TB_ROS2_PARTICIPANT_AWAITED;
    json_t *item = json_object();
    json_put(item, "middleware", text_json(participant->middleware));
    json_put(item, "enclave", text_json(participant->enclave));
    json_put(item, "state", json_string(is_awaited ? "not announced" : "unreadable"));
    json_put(item, "addresses", text_json(participant->addresses));
    json_put(item, "endpoints", endpoints_json(snapshot, participant));
    json_push(list, item);
  }
  return list;
}
