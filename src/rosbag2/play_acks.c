#include "rosbag2/play_acks.h"

#include <string.h>

#include "base/fork.h"
#include "held/parking.h"
#include "ros2/publisher.h"

#define SLICE     ((tb_duration_t){50 * TB_NS_PER_MS}) /* what a stop may have to wait */
#define NAMES_MAX 8

static tb_ros2_publisher_t *awaited_of(tb__play_acks_t *acks, uint64_t *out_asked)
{
  tb__mutex_lock(&acks->mutex);
  tb_ros2_publisher_t *publisher = atomic_load(&acks->awaited);
  *out_asked = acks->asked;
  tb__mutex_unlock(&acks->mutex);
  return publisher;
}

static void set_awaited(tb__play_acks_t *acks, tb_ros2_publisher_t *publisher)
{
  tb__mutex_lock(&acks->mutex);
  atomic_store(&acks->awaited, publisher);
  acks->asked++;
  tb__mutex_unlock(&acks->mutex);
}

/* A later request is not answered by this. A failure is reported with the next message. */
static void await(tb__play_acks_t *acks, tb_ros2_publisher_t *publisher, uint64_t asked)
{
  while (!atomic_load(&acks->stopping) && atomic_load(&acks->awaited) == publisher &&
         tb_ros2_publisher_wait_for_acks(publisher, &(tb_wait_options_t){.limit = SLICE}) ==
             TB_ERR_TIMEOUT)
    ;
  tb__mutex_lock(&acks->mutex);
  if (acks->asked == asked) atomic_store(&acks->awaited, NULL);
  tb__mutex_unlock(&acks->mutex);
  tb__play_wake_call(acks->wake);
}

static void *run(void *user)
{
  tb__play_acks_t *acks = user;
  while (!atomic_load(&acks->stopping)) {
    uint32_t events = atomic_load(&acks->events);
    uint64_t asked;
    tb_ros2_publisher_t *publisher = awaited_of(acks, &asked);
    if (publisher)
      await(acks, publisher, asked);
    else if (!atomic_load(&acks->stopping))
      tb__futex_wait(&acks->events, events, TB__NO_DEADLINE);
  }
  return NULL;
}

static void report(tb__play_acks_t *acks)
{
  atomic_fetch_add(&acks->events, 1);
  tb__futex_wake_all(&acks->events);
}

tb_status_t tb__play_acks_start(tb__play_acks_t *acks, tb__play_wake_t *wake, tb_error_t *error)
{
  acks->wake = wake;
  tb__mutex_init(&acks->mutex);
  tb_status_t status = tb__thread_start(&acks->thread, "tb-acks", run, acks);
  if (status)
    return tb_error_set(error, status,
                        "play transport: cannot create a thread for acknowledgements");
  acks->has_thread = true;
  return TB_OK;
}

void tb__play_acks_stop(tb__play_acks_t *acks)
{
  if (!acks->has_thread || tb__is_forked()) return;
  atomic_store(&acks->stopping, true);
  report(acks);
  tb__thread_join(&acks->thread);
  tb__mutex_fini(&acks->mutex);
  acks->has_thread = false;
}

void tb__play_acks_sent(tb__play_acks_t *acks, tb_ros2_publisher_t *publisher)
{
  if (tb_ros2_publisher_wait_for_acks(publisher, &(tb_wait_options_t){.limit = TB_NO_WAIT}) !=
      TB_ERR_TIMEOUT)
    return;
  set_awaited(acks, publisher);
  report(acks);
}

void tb__play_acks_forget(tb__play_acks_t *acks)
{
  if (acks->has_thread) set_awaited(acks, NULL);
}

bool tb__play_acks_awaited(const tb__play_acks_t *acks)
{
  return atomic_load(&acks->awaited) != NULL;
}

/* --- names --- */

static const tb_ros2_graph_endpoint_t *endpoint_of(const tb_ros2_graph_snapshot_t *graph,
                                                   const tb__guid_t *guid)
{
  for (size_t i = 0; i < graph->endpoint_count; i++)
    if (tb__guid_is(guid, graph->endpoints[i].guid)) return &graph->endpoints[i];
  return NULL;
}

static const char *node_of(const tb_ros2_graph_snapshot_t *graph, const tb__guid_t *guid)
{
  const tb_ros2_graph_endpoint_t *endpoint = endpoint_of(graph, guid);
  return endpoint && endpoint->node >= 0 ? graph->nodes[endpoint->node].full_name
                                         : "a program without a node";
}

static void print_nodes(const tb_ros2_graph_snapshot_t *graph, const tb__guid_t *readers,
                        size_t count, FILE *out)
{
  if (count == 0) fputs("a subscription", out);
  for (size_t i = 0; i < count; i++)
    fprintf(out, "%s%s", i ? ", " : "", node_of(graph, &readers[i]));
}

void tb__play_acks_print_nodes(const tb_ros2_graph_snapshot_t *graph,
                               tb_ros2_publisher_t *publisher, FILE *out)
{
  tb__guid_t readers[NAMES_MAX];
  size_t count = tb__ros2_publisher_unacked(publisher, readers, NAMES_MAX);
  print_nodes(graph, readers, count, out);
}

size_t tb__play_acks_print_unkept(const tb_ros2_graph_snapshot_t *graph,
                                  tb_ros2_publisher_t *publisher, FILE *out)
{
  tb__guid_t readers[NAMES_MAX];
  size_t count = NAMES_MAX, unkept = tb__ros2_publisher_unkept(publisher, readers, &count);
  if (unkept > 0) print_nodes(graph, readers, count, out);
  return unkept;
}

const char *tb__play_acks_topic(const tb_ros2_graph_snapshot_t *graph,
                                tb_ros2_publisher_t *publisher)
{
  tb__guid_t writer = tb__ros2_publisher_guid(publisher);
  const tb_ros2_graph_endpoint_t *own = endpoint_of(graph, &writer);
  return own ? own->name : "a message";
}

static void write_names(const tb_ros2_graph_snapshot_t *graph, tb_ros2_publisher_t *publisher,
                        char *out, size_t size)
{
  FILE *stream = fmemopen(out, size, "w");
  if (!stream) return;
  tb__play_acks_print_nodes(graph, publisher, stream);
  fprintf(stream, " to acknowledge %s", tb__play_acks_topic(graph, publisher));
  fclose(stream);
  out[size - 1] = '\0';
}

void tb__play_acks_name(const tb__play_acks_t *acks, tb_ros2_graph_t *graph, char *out, size_t size)
{
  const tb_ros2_graph_snapshot_t *snapshot = NULL;
  tb_ros2_publisher_t *publisher = atomic_load(&acks->awaited);
  snprintf(out, size, "acknowledgements");
  if (!publisher || tb_ros2_graph_snapshot(graph, &snapshot, NULL) != TB_OK) return;
  write_names(snapshot, publisher, out, size);
  tb_ros2_graph_snapshot_release(snapshot);
}
