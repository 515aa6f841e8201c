#include "audit.h"

#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit_report.h"
#include "audit_ros1.h"
#include "findings.h"
#include "manifest.h"
#include "ros1_ticks.h"
#include "text.h"
#include "unnamed.h"

enum { OPTION_JSON = 256, OPTION_WATCH, OPTION_FAIL_ON, OPTION_DURATION, OPTION_RULES };

#define STEP_NS           (50 * TB_NS_PER_MS)
#define DURATION_NS       (2 * TB_NS_PER_S)
#define WATCH_DURATION_NS (5 * TB_NS_PER_S)

typedef struct arguments {
  const char *manifest; /* NULL: none */
  bool json, watch;
  tb__severity_t fail_on;
  tb_duration_t duration; /* 0: the default */
  graph_options_t graph;
} arguments_t;

static int64_t now_ns(const audit_t *audit)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(audit->view.steady, &now);
  return now.ns;
}

/* Samples topics until then. False: a signal came first. */
static bool wait_until(audit_t *audit, int64_t deadline_ns)
{
  struct pollfd fd = {.fd = command_signal_fd(), .events = POLLIN};
  for (;;) {
    int64_t left_ns = deadline_ns - now_ns(audit);
    if (left_ns <= 0) return true;
    audit_topics_step(audit);
    if (left_ns > STEP_NS) left_ns = STEP_NS;
    if (poll(&fd, 1, (int)((left_ns + TB_NS_PER_MS - 1) / TB_NS_PER_MS)) > 0) return false;
  }
}

/* --- the manifest --- */

static void take_manifest(audit_t *audit, const tb__manifest_t *manifest)
{
  audit->manifest = *manifest;
  audit->has_manifest = true;
  if (manifest->clock.topic) audit->clock_topic = manifest->clock.topic;
  audit->limits = manifest->limits;
}

/* --- rounds --- */

static void forget(audit_t *audit)
{
  node_times_release(&audit->view, audit->times);
  audit_declared_release(&audit->declared);
  free(audit->nodes);
  tb__findings_destroy(audit->findings);
  audit->times = NULL;
  audit->nodes = NULL;
  audit->findings = NULL;
}

/* Findings of what was gathered. EXIT_OK, or a message has been printed. */
static int judge(audit_t *audit)
{
  int result = audit_nodes_judge(audit);
  if (result) return result;
  audit->findings = tb__findings_create();
  if (!audit->findings) return command_failed(audit->command, TB_ERR_NO_MEMORY, NULL);
  tb_status_t status = audit_declared_begin(audit);
  if (status) return command_failed(audit->command, status, NULL);
  audit_nodes_find(audit);
  audit_hosts_find(audit);
  audit_receivers_find(audit);
  audit_clock_find(audit);
  audit_topics_find(audit);
  audit_tf_find(audit);
  audit_log_find(audit);
  audit_declared_find(audit);
  status = tb__findings_finish(audit->findings);
  if (!status && audit->declared.is_lost) status = TB_ERR_NO_MEMORY;
  return status ? command_failed(audit->command, status, NULL) : EXIT_OK;
}

/* The questions to the nodes, which wait for answers while the main thread samples topics. */
typedef struct asking {
  audit_t *audit;
  tb_duration_t limit;
  int result;
} asking_t;

static void *ask(void *user)
{
  asking_t *asking = user;
  audit_t *audit = asking->audit;
  asking->result = node_times_query(&audit->view, asking->limit, &audit->times);
  return NULL;
}

/* The same for what time it is on their hosts. */
static void *ask_hosts(void *user)
{
  asking_t *asking = user;
  asking->result = host_clocks_ask(&asking->audit->hosts, &asking->audit->view, asking->limit);
  return NULL;
}

/* Asks and listens until the end of the time. *out_signalled: a signal came first. */
static int gather(audit_t *audit, int64_t duration_ns, bool *out_signalled)
{
  int64_t begin_ns = now_ns(audit);
  asking_t asking = {audit, audit->limit, EXIT_OK}, hosts;
  pthread_t thread, hosts_thread;
  if (asking.limit.ns > duration_ns) asking.limit.ns = duration_ns;
  int64_t end_ns = duration_ns < INT64_MAX - begin_ns ? begin_ns + duration_ns : INT64_MAX;
  int result = audit_topics_begin(audit);
  if (!result) result = audit_tf_begin(audit);
  if (!result) host_clocks_begin(&audit->hosts, &audit->view);
  hosts = asking;
  audit->answered_ns = begin_ns;
  bool is_thread = !result && pthread_create(&thread, NULL, ask, &asking) == 0;
  if (!result && !is_thread) ask(&asking);
  bool is_hosts_thread = !result && pthread_create(&hosts_thread, NULL, ask_hosts, &hosts) == 0;
  if (!result) *out_signalled = !wait_until(audit, end_ns);
  if (is_thread) pthread_join(thread, NULL);
  if (is_hosts_thread) pthread_join(hosts_thread, NULL);
  audit_topics_end(audit);
  audit_tf_end(audit);
  audit_clock_cut(audit);
  if (!result) result = asking.result;
  return result ? result : hosts.result;
}

int audit_look(audit_t *audit, tb_duration_t wait, tb_duration_t duration)
{
  bool is_signalled = false;
  int result = graph_view_settle(&audit->view, wait, NULL, NULL);
  if (!result) result = gather(audit, duration.ns ? duration.ns : DURATION_NS, &is_signalled);
  if (is_signalled) graph_view_end_by_signal();
  return result ? result : judge(audit);
}

static int run_once(audit_t *audit, const arguments_t *arguments)
{
  int result = audit_look(audit, arguments->graph.wait, arguments->duration);
  if (result) return result;
  if (arguments->json)
    result = audit_report_json(audit);
  else
    audit_report_text(audit);
  if (result) return result;
  bool is_empty = !audit->view.snapshot->node_count && !unnamed_count(audit->view.snapshot);
  if (is_empty) graph_view_print_empty(&audit->view);
  return is_empty ? EXIT_CHECK : findings_status(audit->findings, arguments->fail_on);
}

/* Until a signal comes; the status is that of the last round. */
static int run_watch(audit_t *audit, const arguments_t *arguments)
{
  int64_t duration_ns = arguments->duration.ns ? arguments->duration.ns : WATCH_DURATION_NS;
  findings_changes_t changes = {0};
  findings_report_t report = audit_report_of(audit);
  bool is_signalled = false;
  int status = EXIT_OK;
  int result = graph_view_settle(&audit->view, arguments->graph.wait, NULL, NULL);
  while (!result) {
    result = gather(audit, changes.rounds ? duration_ns : DURATION_NS, &is_signalled);
    if (result || is_signalled) break;
    result = judge(audit);
    if (!result)
      result = findings_changes_report(&changes, &report, audit->findings, arguments->json);
    if (result || !command_flush()) break;
    status = findings_status(audit->findings, arguments->fail_on);
    forget(audit);
    audit_log_restart(&audit->log);
    result = graph_view_refresh(&audit->view);
  }
  findings_changes_fini(&changes);
  return result ? result : status;
}

int audit_open(const command_t *command, const graph_options_t *options,
               const tb__manifest_t *manifest, audit_t *out)
{
  *out = (audit_t){.command = command,
                   .limits = tb__contract_limits_default(),
                   .clock_topic = "/clock",
                   .limit = options->limit};
  if (manifest) take_manifest(out, manifest);
  int result = graph_view_open(command, options->domain, &out->view);
  out->view.defers_signals = true;
  host_clocks_init(&out->hosts);
  if (!result) result = audit_clock_open(out);
  if (!result) result = audit_events_open(out);
  if (!result) result = audit_topics_open(out);
  if (!result) result = audit_log_open(out);
  if (!result) result = audit_tf_open(out);
  return result;
}

void audit_close(audit_t *audit)
{
  forget(audit);
  audit_log_close(&audit->log);
  audit_topics_close(&audit->topics);
  audit_tf_close(&audit->tf);
  host_clocks_fini(&audit->hosts);
  audit_events_close(&audit->events);
  audit_clock_close(&audit->clock);
  graph_view_close(&audit->view);
}

static int audit_run(const command_t *command, const arguments_t *arguments)
{
  static audit_t audit; /* large */
  tb__manifest_t manifest;
  const tb__manifest_t *declared = arguments->manifest ? &manifest : NULL;
  int result = declared ? manifest_load(command, arguments->manifest, &manifest, NULL) : EXIT_OK;
  if (result) return command_finish(command, result);
  result = audit_open(command, &arguments->graph, declared, &audit);
  if (!result)
    result = arguments->watch ? run_watch(&audit, arguments) : run_once(&audit, arguments);
  audit_close(&audit);
  if (declared) tb__manifest_fini(&manifest);
  return command_finish(command, result);
}

/* --- arguments --- */

static int run(const command_t *command, int argc, char **argv)
{
  if (ros1_is_asked(argc, argv)) return audit_ros1_run(command, argc, argv);
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"watch", no_argument, NULL, OPTION_WATCH},
      {"fail-on", required_argument, NULL, OPTION_FAIL_ON},
      {"duration", required_argument, NULL, OPTION_DURATION},
      {"rules", no_argument, NULL, OPTION_RULES},
      GRAPH_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.fail_on = TB__SEVERITY_ERROR,
                           .graph = {.domain = -1, .limit = {2 * TB_NS_PER_S}}};
  int option, result = EXIT_OK;
  while (!result && (option = command_next_option(argc, argv, ":h", options)) != -1) {
    switch (option) {
    case OPTION_JSON:
      arguments.json = true;
      break;
    case OPTION_WATCH:
      arguments.watch = true;
      break;
    case OPTION_FAIL_ON:
      if (!findings_parse_fail_on(command, optarg, &arguments.fail_on)) result = EXIT_USAGE;
      break;
    case OPTION_DURATION:
      if (!command_parse_limit(command, "--duration", optarg, &arguments.duration))
        result = EXIT_USAGE;
      break;
    case OPTION_RULES:
      findings_print_rules();
      return command_finish(command, EXIT_OK);
    case 'h':
      return command_help(command);
    default:
      result = graph_options_take(command, option, argv, &arguments.graph);
    }
  }
  if (result) return result;
  if (optind < argc) arguments.manifest = argv[optind++];
  if (optind < argc) return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  return audit_run(command, &arguments);
}

const command_t command_audit = {
    .name = "audit",
    .summary = "find what is wrong with time on a graph",
    .usage = "timebase audit [MANIFEST] [--watch] [--fail-on warn|error] [--json] [--duration D]\n"
             "                      [--wait D] [--limit D] [--domain N] [--rules] [--ros1]",
    .help =
        "Looks at a ROS 2 graph from outside and prints what is wrong with its time: nodes on\n"
        "another time base than the others, nodes that /clock does not reach and why, /clock with\n"
        "several publishers or two streams of one, that has stopped, jumps or has gaps, stamps "
        "of\n"
        "sampled topics that are zero, in the future, old, go backward or are of another time\n"
        "base, transforms that are late, shared by publishers or of the time before a jump, hosts\n"
        "whose system clocks are off, and known sentences about time in /rosout. Each finding has "
        "its evidence, what\n"
        "follows from it, and what to do: with ROS 2, with timebase, and in the launch file. What\n"
        "it causes is below it. Nodes that do not answer are judged by what else is known of\n"
        "them. Nothing on the graph is changed.\n\n"
        "  MANIFEST        file of what the deployment declares, to be judged too: /clock (its\n"
        "                  publisher, QoS, rate, factor, error), nodes and their time, topics\n"
        "                  (type, rate, budget), evidence, thresholds, rules that are switched "
        "off\n"
        "  --watch         go on until SIGINT or SIGTERM: print what comes (+) and what goes (-)\n"
        "  --fail-on S     status 1 from this severity on: warn or error (default error)\n"
        "  --json          one object; with --watch one on a line at each change, with \"come\"\n"
        "                  and \"gone\"\n"
        "  --duration D    listen for D (default 2s; with --watch 5s, over and over)\n"
        "  --wait D        follow discovery for D before; default: until nothing new was found "
        "for\n"
        "                  0.5 s (1 s while there are no nodes) and all participants have\n"
        "                  announced their nodes, at most 5 s\n"
        "  --limit D       wait at most D for the answers of nodes (default 2s)\n"
        "  --domain N      DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  --rules         print the list of rules and end\n"
        "  --ros1          look at the ROS 1 graph of ROS_MASTER_URI, with --json, --fail-on,\n"
        "                  --watch, --duration and --limit (for each node; default 1s);\n"
        "                  without MANIFEST\n"
        "  -h, --help      this text\n\n"
        "At most 64 topics are sampled at a time, by best-effort readers, up to 200 messages or\n"
        "8 MiB of each; with --watch others follow. In JSON \"findings\" has \"rule\", "
        "\"severity\",\n"
        "\"title\", \"cause\", \"count\", \"subjects\" with their \"evidence\", "
        "\"consequence\", \"remedy\"\n"
        "and \"caused\", the findings below it; beside it are \"counts\", \"switched_off\", "
        "\"nodes\" with\n"
        "\"time_base\" (clock, wall, other, unknown), \"by\", \"shared_time\" and \"role\",\n"
        "\"clock\", \"topics\" and\n"
        "\"topics_sampled\", \"system_clock\" (this host's), \"hosts\" (processes, and how far "
        "their\n"
        "clocks are ahead), and \"transforms\": whether tf2 would have answered for \"topics\", "
        "and\n"
        "\"edges\"; with a manifest also \"declared\" (what could not be observed) and \"notes\".\n"
        "docs/contract.md explains the rules.\n\n"
        "Status 0 if there is nothing as severe as --fail-on says (with --watch: in the last\n"
        "round), 1 if there is or if there are no nodes, 2 for wrong usage, 3 if the graph cannot\n"
        "be joined.\n",
    .run = run,
};
