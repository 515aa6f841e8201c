#include "audit_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "json.h"
#include "text.h"

#define MS(ns)      ((double)(ns) / (double)TB_NS_PER_MS)
#define SECONDS(ns) ((double)(ns) / (double)TB_NS_PER_S)

/* What /clock was like, for the last line. */
typedef struct clock_facts {
  size_t publishers;
  uint64_t ticks;
  double rate_hz, factor;
  int64_t last_ns, step_ns, latency_ns; /* p99.9 of the latency */
  bool is_paused;
} clock_facts_t;

static clock_facts_t clock_facts(const audit_t *audit)
{
  const tb_ros2_graph_endpoint_t *publishers;
  const tb__tick_stream_t *all = &audit->clock.cut.ticks.all;
  clock_facts_t facts = {
      .ticks = all->ticks,
      .rate_hz = tb__tick_stream_rate(all),
      .factor = tb__tick_stream_factor(all),
      .last_ns = all->last_ns,
      .step_ns = all->usual_step_ns,
      .latency_ns = tb__spread_quantile(&audit->clock.cut.latency, 0.999),
      .is_paused = all->first_ns && !all->usual_step_ns && all->kinds[TB__TICK_REPEAT],
  };
  facts.publishers =
      tb_ros2_graph_publishers(audit->view.snapshot, audit->clock_topic, &publishers);
  return facts;
}

/* --- as text --- */

static void print_clock(const audit_t *audit, const clock_facts_t *facts)
{
  if (!facts->publishers)
    text_out("no publisher of %s", audit->clock_topic);
  else if (!facts->ticks)
    text_out("no tick of %s", audit->clock_topic);
  else if (facts->is_paused)
    text_out("%s is paused at %.3f s", audit->clock_topic, SECONDS(facts->last_ns));
  else if (!facts->step_ns)
    text_out("few ticks of %s", audit->clock_topic);
  else
    text_out("%s at %.1f Hz, factor %.3f", audit->clock_topic, facts->rate_hz, facts->factor);
  clock_error_t error = audit_clock_error(audit);
  if (error.error_ns) text_out(", ");
  clock_error_print(&error, audit->manifest.max_error_ns);
}

static size_t count_base(const audit_t *audit, tb__base_t base)
{
  size_t count = 0;
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++)
    count += audit->nodes[i].verdict.base == base;
  return count;
}

/* What is neither on /clock nor on wall time. */
static void print_other_bases(const audit_t *audit)
{
  size_t shared = 0, others = count_base(audit, TB__BASE_OTHER);
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++)
    shared += audit->nodes[i].verdict.base == TB__BASE_OTHER &&
              audit->nodes[i].verdict.by == TB__BASE_BY_SHARED_MEMORY;
  others -= shared;
  if (shared) text_out(", %zu on a shared time", shared);
  if (others) text_out(", %zu on another source", others);
}

/* Of those on /clock. */
static void print_other_clocks(const audit_t *audit)
{
  size_t count = 0;
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++)
    count += audit->nodes[i].verdict.base == TB__BASE_CLOCK && audit->nodes[i].has_other_clock;
  if (count) text_out(" (%zu of them on a clock under another name)", count);
}

void audit_report_text(const audit_t *audit)
{
  clock_facts_t facts = clock_facts(audit);
  findings_print(audit->findings);
  audit_declared_print(audit);
  findings_print_counts(audit->findings);
  size_t nodes = audit->view.snapshot->node_count;
  size_t topics = audit_topics_sampled(&audit->topics);
  text_out("; %zu node%s: %zu on /clock", nodes, nodes == 1 ? "" : "s",
           count_base(audit, TB__BASE_CLOCK));
  print_other_clocks(audit);
  print_other_bases(audit);
  text_out(", %zu on wall time, %zu unknown; %zu topic%s sampled; ",
           count_base(audit, TB__BASE_WALL), count_base(audit, TB__BASE_UNKNOWN), topics,
           topics == 1 ? "" : "s");
  print_clock(audit, &facts);
  text_out("\n");
  audit_hosts_print(audit);
  command_flush();
}

/* --- as JSON --- */

static const char *role_name(audit_role_t role)
{
  static const char *const names[] = {"node", "quiet", "recorder", "player", "clock", "tool"};
  return names[role];
}

static json_t *nodes_json(const audit_t *audit)
{
  json_t *list = json_array();
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++) {
    const tb_ros2_graph_node_t *node = &audit->view.snapshot->nodes[i];
    tb__base_verdict_t verdict = audit->nodes[i].verdict;
    json_t *item = json_object();
    json_put(item, "name", text_json(node->full_name));
    json_put(item, "middleware", text_json(node->middleware));
    json_put(item, "role", json_string(role_name(audit->nodes[i].role)));
    json_put(item, "time_base", json_string(tb__base_name(verdict.base)));
    json_put(item, "by", json_string(tb__base_evidence_name(verdict.by)));
    json_put(item, "evidence", json_string(tb__base_evidence_text(verdict)));
    const char *shared = audit->nodes[i].shared_time;
    json_put(item, "shared_time", shared[0] ? text_json(shared) : json_null());
    json_push(list, item);
  }
  return list;
}

static json_t *clock_json(const audit_t *audit)
{
  clock_facts_t facts = clock_facts(audit);
  clock_error_t error = audit_clock_error(audit);
  json_t *out = json_object();
  json_put(out, "publishers", json_integer((json_int_t)facts.publishers));
  json_put(out, "ticks", json_integer((json_int_t)facts.ticks));
  json_put(out, "rate_hz", json_real(facts.rate_hz));
  json_put(out, "factor", json_real(facts.factor));
  json_put(out, "time_ns", json_integer(facts.last_ns));
  json_put(out, "step_ns", json_integer(facts.step_ns));
  json_put(out, "latency_p999_ns", json_integer(facts.latency_ns));
  clock_error_put(out, &error, audit->manifest.max_error_ns);
  return out;
}

static json_t *report_json(const audit_t *audit)
{
  json_t *root = json_object();
  json_put(root, "domain", json_integer(tb_ros2_context_domain_id(audit->view.context)));
  json_put(root, "findings", findings_json(audit->findings));
  json_put(root, "counts", findings_counts_json(audit->findings));
  json_put(root, "switched_off", findings_off_json(audit->findings));
  if (audit->has_manifest) {
    json_put(root, "declared", audit_declared_json(audit, AUDIT_ITEM_DECLARED));
    json_put(root, "notes", audit_declared_json(audit, AUDIT_ITEM_NOTE));
  }
  json_put(root, "nodes", nodes_json(audit));
  json_put(root, "clock", clock_json(audit));
  json_put(root, "topics_sampled", json_integer((json_int_t)audit_topics_sampled(&audit->topics)));
  json_put(root, "topics", json_integer((json_int_t)audit->topics.candidates));
  json_put(root, "system_clock", audit_hosts_local_json());
  json_put(root, "hosts", audit_hosts_json(audit));
  json_put(root, "transforms", audit_tf_json(audit));
  return root;
}

int audit_report_json(const audit_t *audit)
{
  return json_finish(audit->command, report_json(audit), EXIT_OK);
}

/* --- both --- */

static void report_text_of(const void *user)
{
  audit_report_text(user);
}

static json_t *report_json_of(const void *user)
{
  return report_json(user);
}

findings_report_t audit_report_of(const audit_t *audit)
{
  return (findings_report_t){audit->command, report_text_of, report_json_of, audit};
}
