#include "observe_hosts.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "host_clocks.h"
#include "observe.h"

#define FIRST_NS (TB_NS_PER_S) /* discovery has found most by then */
#define AGAIN_NS (10 * TB_NS_PER_S)
#define LIMIT_NS (500 * TB_NS_PER_MS)
#define MS(ns)   ((double)(ns) / (double)TB_NS_PER_MS)

struct observe_hosts {
  int64_t next_ns; /* steady */
  host_clocks_t asked;
  host_clock_t known[HOST_CLOCKS_MAX]; /* as of the last answers */
  size_t known_count;
  graph_view_t view; /* of the thread; its snapshot is released after it */
  pthread_t thread;
  bool is_asking;
  atomic_bool is_done;
};

static void *ask(void *user)
{
  observe_hosts_t *hosts = user;
  (void)host_clocks_ask(&hosts->asked, &hosts->view, (tb_duration_t){LIMIT_NS});
  atomic_store(&hosts->is_done, true);
  return NULL;
}

static void begin(observe_t *observe, int64_t steady_ns)
{
  observe_hosts_t *hosts = observe->hosts;
  hosts->next_ns = steady_ns + AGAIN_NS;
  hosts->view = (graph_view_t){.command = observe->command,
                               .context = observe->context,
                               .graph = observe->graph,
                               .steady = observe->steady,
                               .defers_signals = true};
  if (tb_ros2_graph_snapshot(observe->graph, &hosts->view.snapshot, NULL)) return;
  host_clocks_begin(&hosts->asked, &hosts->view);
  atomic_store(&hosts->is_done, false);
  hosts->is_asking = pthread_create(&hosts->thread, NULL, ask, hosts) == 0;
  if (!hosts->is_asking) tb_ros2_graph_snapshot_release(hosts->view.snapshot);
}

static void end(observe_hosts_t *hosts)
{
  pthread_join(hosts->thread, NULL);
  tb_ros2_graph_snapshot_release(hosts->view.snapshot);
  hosts->is_asking = false;
  hosts->known_count = hosts->asked.count;
  for (size_t i = 0; i < hosts->known_count; i++)
    hosts->known[i] = hosts->asked.list[i];
}

void observe_hosts_step(observe_t *observe, int64_t steady_ns)
{
  if (!observe->hosts) {
    observe->hosts = calloc(1, sizeof *observe->hosts);
    if (!observe->hosts) return; /* tries again */
    host_clocks_init(&observe->hosts->asked);
    observe->hosts->next_ns = steady_ns + FIRST_NS;
  }
  observe_hosts_t *hosts = observe->hosts;
  if (hosts->is_asking && atomic_load(&hosts->is_done)) end(hosts);
  if (!hosts->is_asking && steady_ns >= hosts->next_ns) begin(observe, steady_ns);
}

void observe_hosts_close(observe_t *observe)
{
  observe_hosts_t *hosts = observe->hosts;
  if (!hosts) return;
  if (hosts->is_asking) end(hosts);
  host_clocks_fini(&hosts->asked);
  free(hosts);
  observe->hosts = NULL;
}

json_t *observe_hosts_json(const observe_t *observe, const uint8_t guid[16])
{
  const observe_hosts_t *hosts = observe->hosts;
  for (size_t i = 0; hosts && i < hosts->known_count; i++) {
    const tb__host_offset_t *offset = &hosts->known[i].offset;
    if (!host_clock_is_of(&hosts->known[i], guid) || !offset->exchanges) continue;
    json_t *out = json_object();
    json_put(out, "offset", json_real(MS(offset->offset_ns)));
    json_put(out, "bound", json_real(MS(offset->bound_ns)));
    return out;
  }
  return json_null();
}
