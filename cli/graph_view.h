/* The graph as `nodes`, `param` and `sim-time` see it, from a participant without a node. */
#ifndef TB_CLI_GRAPH_VIEW_H
#define TB_CLI_GRAPH_VIEW_H

#include <getopt.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_graph.h>
#include <timebase/steady_clock.h>

#include "command.h"

typedef struct graph_options {
  int domain; /* -1: ROS_DOMAIN_ID */
  tb_duration_t wait, limit;
} graph_options_t;

/* Values of getopt_long, above those of the commands. */
enum { GRAPH_OPTION_WAIT = 1024, GRAPH_OPTION_LIMIT, GRAPH_OPTION_DOMAIN };

/* Entries of a command's struct option table. */
#define GRAPH_OPTIONS                                                                              \
  {"wait", required_argument, NULL, GRAPH_OPTION_WAIT},                                            \
      {"limit", required_argument, NULL, GRAPH_OPTION_LIMIT},                                      \
  {                                                                                                \
    "domain", required_argument, NULL, GRAPH_OPTION_DOMAIN                                         \
  }

/* For the default case of getopt_long: one of those above, or command_bad_option. EXIT_OK or
 * EXIT_USAGE. */
int graph_options_take(const command_t *command, int option, char **argv, graph_options_t *options);

typedef struct graph_view {
  const command_t *command;
  tb_ros2_context_t *context;
  tb_ros2_graph_t *graph;
  tb_steady_clock_t *steady;
  int64_t begin_ns;    /* steady */
  bool defers_signals; /* the caller notices them: graph_view_each does not end the program */
  const tb_ros2_graph_snapshot_t *snapshot; /* the latest */
} graph_view_t;

typedef bool (*graph_view_enough_t)(const graph_view_t *view, void *user);
typedef void (*graph_view_work_t)(size_t index, void *user);

/* For a command that asks all nodes for a few names and values, before it joins the domain: what
 * comes to more than 1 MiB is dropped, which is logged. */
void graph_view_limit_answers(void);
/* Joins the domain (-1: ROS_DOMAIN_ID). EXIT_OK, or a message has been printed. Close it either
 * way. Afterwards SIGINT and SIGTERM end the program inside the calls below. */
int graph_view_open(const command_t *command, int domain, graph_view_t *out);
void graph_view_close(graph_view_t *view);

/* After a signal: as if it had not been caught, so that the shell learns what ended the program. */
void graph_view_end_by_signal(void);

/* Takes a new snapshot. EXIT_OK, or a message has been printed. */
int graph_view_refresh(graph_view_t *view);

/* Takes snapshots for `wait` or, if that is 0, until discovery has settled: nothing new for half a
 * second, or for two seconds while there are no nodes, and no participant whose nodes are
 * awaited (unnamed.h); at most 5 s. Returns early when
 * `is_enough` (NULL: never) returns true for a snapshot. EXIT_OK, or a message has been printed. */
int graph_view_settle(graph_view_t *view, tb_duration_t wait, graph_view_enough_t is_enough,
                      void *user);

/* The same, but returns early once all of the nodes are present with that service. The caller
 * checks which are. */
int graph_view_await(graph_view_t *view, const char *const *names, size_t count,
                     const char *service, tb_duration_t wait);

/* Runs `work` for each index below `count` on threads, and returns when all have finished. */
int graph_view_each(const graph_view_t *view, size_t count, graph_view_work_t work, void *user);

/* Whether the node has that parameter service, such as "get_parameters". */
bool graph_view_has_service(const graph_view_t *view, const char *node, const char *service);

/* The type hashes of a service as it announces them, for clients that are made after it. */
void graph_view_register_hashes(const graph_view_t *view, const char *service);

/* The outcome of a call to a node: "ok", "no answer", "gone before it answered" and so on. */
const char *graph_view_answer_text(tb_status_t status);

/* The argument as a full name ("camera" is "/camera"), to be freed. NULL: a message has been
 * printed and *out_status is the exit status. */
char *graph_view_node_name(const graph_view_t *view, const char *argument, int *out_status);

/* Prints that there is no such node, with similar names as suggestions. */
void graph_view_no_such_node(const graph_view_t *view, const char *name);

/* Prints that there are no nodes at all. */
void graph_view_print_empty(const graph_view_t *view);

/* Whether an earlier node has the same name. Nodes are ordered by name. */
bool graph_view_is_repeated(const graph_view_t *view, size_t index);

#endif
