#include "host_clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_client.h>

#define ASKED_MAX        32   /* processes, at once */
#define PARTICIPANTS_MAX 1024 /* that are looked at */
#define SERVICE          "get_parameters"
#define TYPE             "rcl_interfaces/srv/GetParameters"

/* --- choosing --- */

bool host_clock_is_of(const host_clock_t *host, const uint8_t guid[16])
{
  return memcmp(host->participant, guid, sizeof host->participant) == 0;
}

/* NULL: there are too many. */
static host_clock_t *host_of(host_clocks_t *clocks, const uint8_t guid[16])
{
  for (size_t i = 0; i < clocks->count; i++)
    if (host_clock_is_of(&clocks->list[i], guid)) return &clocks->list[i];
  if (clocks->count == HOST_CLOCKS_MAX) return NULL;
  host_clock_t *host = &clocks->list[clocks->count++];
  *host = (host_clock_t){0};
  memcpy(host->participant, guid, sizeof host->participant);
  return host;
}

void host_clocks_init(host_clocks_t *clocks)
{
  memset(clocks, 0, sizeof *clocks);
  pthread_mutex_init(&clocks->mutex, NULL);
}

void host_clocks_fini(host_clocks_t *clocks)
{
  pthread_mutex_destroy(&clocks->mutex);
}

/* The first node of the process that can be asked; NULL: none. */
static const char *node_to_ask(const graph_view_t *view, const uint8_t guid[16])
{
  const tb_ros2_graph_snapshot_t *snapshot = view->snapshot;
  for (size_t i = 0; i < snapshot->node_count; i++) {
    const tb_ros2_graph_node_t *node = &snapshot->nodes[i];
    if (memcmp(node->participant_guid, guid, 12) == 0 && !node->is_duplicate &&
        graph_view_has_service(view, node->full_name, SERVICE))
      return node->full_name;
  }
  return NULL;
}

/* "udp/239.255.0.1" and "udp6/[ff02::ffff:239.255.0.1]" are those of all processes. */
static bool is_multicast(const char *address)
{
  const char *at = strchr(address, '/');
  if (!at) return false;
  long first = strtol(at + 1, NULL, 10);
  return (first >= 224 && first < 240) || strncmp(at, "/[ff", 4) == 0;
}

/* "udp/192.168.0.7": the first address of its own, without the port. */
static const char *place_of(const tb_ros2_graph_participant_t *participant, size_t *out_length)
{
  const char *at = participant->addresses;
  for (const char *next; is_multicast(at) && (next = strchr(at, ',')); at = next + 1)
    ;
  *out_length = strcspn(at, ",");
  for (size_t i = *out_length; i > 0; i--)
    if (at[i - 1] == ':') {
      *out_length = i - 1;
      break;
    }
  return at;
}

static bool is_at_same_place(const tb_ros2_graph_participant_t *a,
                             const tb_ros2_graph_participant_t *b)
{
  size_t length_a, length_b;
  const char *place_a = place_of(a, &length_a), *place_b = place_of(b, &length_b);
  return length_a == length_b && memcmp(place_a, place_b, length_a) == 0;
}

/* How many processes before it in the list are at the same place. */
static size_t rank_of(const graph_view_t *view, const size_t *list, size_t index)
{
  const tb_ros2_graph_participant_t *participants = view->snapshot->participants;
  size_t rank = 0;
  for (size_t i = 0; i < index; i++)
    rank += is_at_same_place(&participants[list[i]], &participants[list[index]]);
  return rank;
}

/* Processes of others, one of each host first, then a second one of each, and so on: as many as are
 * compared. */
static size_t choose(const graph_view_t *view, size_t *out)
{
  const tb_ros2_graph_snapshot_t *snapshot = view->snapshot;
  size_t others[PARTICIPANTS_MAX], ranks[PARTICIPANTS_MAX], count = 0, chosen = 0;
  for (size_t i = 0; i < snapshot->participant_count && count < PARTICIPANTS_MAX; i++)
    if (!snapshot->participants[i].is_own) others[count++] = i;
  for (size_t i = 0; i < count; i++)
    ranks[i] = rank_of(view, others, i);
  for (size_t rank = 0; chosen < count && chosen < HOST_CLOCKS_MAX; rank++)
    for (size_t i = 0; i < count && chosen < HOST_CLOCKS_MAX; i++)
      if (ranks[i] == rank) out[chosen++] = others[i];
  return chosen;
}

void host_clocks_begin(host_clocks_t *clocks, const graph_view_t *view)
{
  const tb_ros2_graph_snapshot_t *snapshot = view->snapshot;
  size_t chosen[HOST_CLOCKS_MAX], asked = 0, count = choose(view, chosen);
  pthread_mutex_lock(&clocks->mutex);
  clocks->count = 0;
  for (size_t i = 0; i < count; i++) {
    const uint8_t *guid = snapshot->participants[chosen[i]].guid;
    host_clock_t *host = host_of(clocks, guid);
    if (!host || asked == ASKED_MAX) continue;
    const char *node = node_to_ask(view, guid);
    snprintf(host->node, sizeof host->node, "%s", node ? node : "");
    asked += node != NULL;
  }
  pthread_mutex_unlock(&clocks->mutex);
}

/* --- asking --- */

typedef struct asking {
  host_clocks_t *clocks;
  const graph_view_t *view;
  int64_t until_ns; /* steady */
} asking_t;

static tb_duration_t left_of(const asking_t *asking)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(asking->view->steady, &now);
  return (tb_duration_t){asking->until_ns > now.ns ? asking->until_ns - now.ns : 1};
}

/* For use_sim_time: each node of rclcpp and rclpy has it, and logs nothing. */
static bool ask_once(const asking_t *asking, tb_ros2_client_t *client, host_clock_t *host)
{
  static const uint8_t request[] = "\0\1\0\0"
                                   "\1\0\0\0"
                                   "\15\0\0\0"
                                   "use_sim_time\0\0\0"; /* and the NUL of C */
  tb_ros2_response_t response = {0};
  tb_ros2_call_times_t times = {0};
  tb_wait_options_t options = {.limit = left_of(asking)};
  if (tb_ros2_client_call_timed(client, request, sizeof request, &options, &response, &times, NULL))
    return false;
  pthread_mutex_lock(&asking->clocks->mutex);
  tb__host_offset_exchange(&host->offset, times.asked_ns, times.replied_ns, times.received_ns);
  pthread_mutex_unlock(&asking->clocks->mutex);
  tb_ros2_response_release(&response);
  return true;
}

static void ask_host(size_t index, void *user)
{
  const asking_t *asking = user;
  host_clock_t *host = &asking->clocks->list[index];
  tb_ros2_client_t *client = NULL;
  char service[sizeof host->node + sizeof SERVICE];
  if (!*host->node) return;
  snprintf(service, sizeof service, "%s/%s", host->node, SERVICE);
  graph_view_register_hashes(asking->view, service);
  if (tb_ros2_client_create(asking->view->context, service, TYPE, NULL, &client, NULL)) return;
  for (int i = 0; i < TB__HOST_EXCHANGES && ask_once(asking, client, host); i++)
    ;
  tb_ros2_client_destroy(client);
}

int host_clocks_ask(host_clocks_t *clocks, const graph_view_t *view, tb_duration_t limit)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(view->steady, &now);
  asking_t asking = {clocks, view, limit.ns < INT64_MAX - now.ns ? now.ns + limit.ns : INT64_MAX};
  pthread_mutex_lock(&clocks->mutex);
  size_t count = clocks->count;
  pthread_mutex_unlock(&clocks->mutex);
  return graph_view_each(view, count, ask_host, &asking);
}

void host_clocks_sample(host_clocks_t *clocks, const tb_ros2_sample_t *sample)
{
  pthread_mutex_lock(&clocks->mutex);
  host_clock_t *host = host_of(clocks, sample->writer_guid);
  if (host)
    tb__host_offset_sample(&host->offset, sample->source_timestamp_ns,
                           sample->receive_timestamp_ns);
  pthread_mutex_unlock(&clocks->mutex);
}
