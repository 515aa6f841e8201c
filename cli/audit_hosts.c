#include "audit_hosts.h"

#include <stdlib.h>

#include "audit.h"
#include "contract/points.h"
#include "text.h"

#define MS(ns) ((double)(ns) / (double)TB_NS_PER_MS)

/* How many were compared, and how many of them are off. */
static size_t count_compared(const audit_t *audit, size_t *out_off)
{
  const host_clocks_t *hosts = &audit->hosts;
  size_t count = 0;
  *out_off = 0;
  for (size_t i = 0; i < hosts->count; i++) {
    int64_t ahead_ns, bound_ns;
    count += tb__host_offset_best(&hosts->list[i].offset, &ahead_ns, &bound_ns) != TB__HOST_UNKNOWN;
    *out_off += tb__host_offset_is_off(&hosts->list[i].offset, audit->limits.host_offset_ns);
  }
  return count;
}

static void find_of(audit_t *audit, const host_clock_t *host, const char *subject, bool is_all)
{
  tb__finding_input_t input = {
      .rule = TB__RULE_HOST_OFFSET, .kind = TB__SUBJECT_HOST, .subject = subject};
  tb__system_sync_t sync = tb__system_sync_read();
  char text[TB__FINDING_LINE_SIZE];
  tb__host_offset_text(&host->offset, text, sizeof text);
  tb__findings_add(audit->findings, &input, "%s", text);
  if (!sync.is_synchronized)
    tb__findings_add_evidence(audit->findings,
                              "this host's own clock is not synchronized (adjtimex)");
  if (is_all)
    tb__findings_add_evidence(audit->findings,
                              "so is that of all others: this host's own clock may be the one "
                              "that is off");
}

void audit_hosts_find(audit_t *audit)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  size_t off, compared;
  pthread_mutex_lock(&audit->hosts.mutex);
  compared = count_compared(audit, &off);
  for (size_t i = 0; i < audit->hosts.count; i++) {
    const host_clock_t *host = &audit->hosts.list[i];
    bool has_node = false, is_all = off == compared && off > 1;
    if (!tb__host_offset_is_off(&host->offset, audit->limits.host_offset_ns)) continue;
    for (size_t j = 0; j < snapshot->node_count; j++) {
      if (!host_clock_is_of(host, snapshot->nodes[j].participant_guid)) continue;
      find_of(audit, host, snapshot->nodes[j].full_name, is_all);
      has_node = true;
    }
    if (!has_node) find_of(audit, host, "a program without a node", is_all);
  }
  pthread_mutex_unlock(&audit->hosts.mutex);
}

/* The list goes on to be filled by readers: its mutex is no part of what a const audit promises. */
static pthread_mutex_t *mutex_of(const audit_t *audit)
{
  return &audit->tf.audit->hosts.mutex;
}

void audit_hosts_print(const audit_t *audit)
{
  const host_clocks_t *hosts = &audit->hosts;
  tb__system_sync_t sync = tb__system_sync_read();
  pthread_mutex_lock(mutex_of(audit));
  size_t off, compared = count_compared(audit, &off);
  int64_t most_ns = 0, most_bound_ns = 0;
  for (size_t i = 0; i < hosts->count; i++) {
    int64_t ahead_ns, bound_ns;
    if (tb__host_offset_best(&hosts->list[i].offset, &ahead_ns, &bound_ns) != TB__HOST_BY_REQUESTS)
      continue;
    if (llabs(ahead_ns) < llabs(most_ns)) continue;
    most_ns = ahead_ns;
    most_bound_ns = bound_ns;
  }
  pthread_mutex_unlock(mutex_of(audit));
  text_out("system clock: %s", sync.is_synchronized ? "synchronized" : "not synchronized");
  if (sync.max_error_ns >= 0) text_out(", error at most %.1f ms", MS(sync.max_error_ns));
  text_out("; %zu process%s compared", compared, compared == 1 ? "" : "es");
  if (most_bound_ns)
    text_out(", the furthest is %.1f ms %s (+- %.1f ms)", MS(llabs(most_ns)),
             most_ns < 0 ? "behind" : "ahead", MS(most_bound_ns));
  text_out("\n");
}

json_t *audit_hosts_local_json(void)
{
  tb__system_sync_t sync = tb__system_sync_read();
  json_t *out = json_object();
  json_put(out, "synchronized", json_boolean(sync.is_synchronized));
  json_put(out, "max_error_ns",
           sync.max_error_ns < 0 ? json_null() : json_integer(sync.max_error_ns));
  return out;
}

static json_t *host_json(const audit_t *audit, const host_clock_t *host)
{
  static const char *const names[] = {"unknown", "requests", "one-way minimum"};
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  json_t *out = json_object(), *nodes = json_array();
  int64_t ahead_ns = 0, bound_ns = 0;
  tb__host_evidence_t by = tb__host_offset_best(&host->offset, &ahead_ns, &bound_ns);
  for (size_t i = 0; i < snapshot->node_count; i++)
    if (host_clock_is_of(host, snapshot->nodes[i].participant_guid))
      json_push(nodes, text_json(snapshot->nodes[i].full_name));
  json_put(out, "nodes", nodes);
  for (size_t i = 0; i < snapshot->participant_count; i++)
    if (host_clock_is_of(host, snapshot->participants[i].guid))
      json_put(out, "addresses", text_json(snapshot->participants[i].addresses));
  json_put(out, "by", json_string(names[by]));
  json_put(out, "offset_ns", by == TB__HOST_UNKNOWN ? json_null() : json_integer(ahead_ns));
  json_put(out, "bound_ns", by == TB__HOST_BY_REQUESTS ? json_integer(bound_ns) : json_null());
  json_put(out, "requests", json_integer(host->offset.exchanges));
  json_put(out, "messages", json_integer((json_int_t)host->offset.samples));
  json_put(out, "one_way_ns",
           host->offset.samples ? json_integer(host->offset.one_way_ns) : json_null());
  return out;
}

json_t *audit_hosts_json(const audit_t *audit)
{
  json_t *list = json_array();
  pthread_mutex_lock(mutex_of(audit));
  for (size_t i = 0; i < audit->hosts.count; i++)
    json_push(list, host_json(audit, &audit->hosts.list[i]));
  pthread_mutex_unlock(mutex_of(audit));
  return list;
}
