/* The graph as `nodes`, `param` and `sim-time` see it: from a participant that has no node. */
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

/* As getopt_long gives them: the values stay clear of those of the commands. */
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
  const tb_ros2_graph_snapshot_t *snapshot; /* of the last look */
} graph_view_t;

typedef bool (*graph_view_enough_t)(const graph_view_t *view, void *user);
typedef void (*graph_view_work_t)(size_t index, void *user);

/* Joins the domain (-1: ROS_DOMAIN_ID). EXIT_OK, or a message has been printed. Close it either
 * way. From here on SIGINT and SIGTERM end the program inside of the calls below. */
int graph_view_open(const command_t *command, int domain, graph_view_t *out);
void graph_view_close(graph_view_t *view);

/* Looks at the graph once more, as it is now. EXIT_OK, or a message has been printed. */
int graph_view_refresh(graph_view_t *view);

/* Looks at the graph for `wait`, or, if that is 0, until discovery has settled: nothing has come
 * for half a second, or for a whole one while there are no nodes; at most 5 s. Earlier when
 * `is_enough` (NULL: nothing is) says so of the new snapshot. EXIT_OK, or a message has been
 * printed. */
int graph_view_look(graph_view_t *view, tb_duration_t wait, graph_view_enough_t is_enough,
                    void *user);

/* The same until all of the nodes are there with that service, or as above: check what is. */
int graph_view_await(graph_view_t *view, const char *const *names, size_t count,
                     const char *service, tb_duration_t wait);

/* Does the work for each index below `count` at the same time, and returns when all is done. */
int graph_view_each(const graph_view_t *view, size_t count, graph_view_work_t work, void *user);

/* Whether a node of the name has that service of parameters, such as "get_parameters". */
bool graph_view_has_service(const graph_view_t *view, const char *node, const char *service);

/* The argument as a full name ("camera" is "/camera"), to be freed. NULL: a message has been
 * printed and *out_status is what to end with. */
char *graph_view_node_name(const graph_view_t *view, const char *argument, int *out_status);

/* Says that there is no such node, and which ones have similar names. */
void graph_view_no_such_node(const graph_view_t *view, const char *name);

/* Says that there are no nodes at all. */
void graph_view_say_empty(const graph_view_t *view);

/* Whether the same name stands at an earlier index: nodes are in order of their names. */
bool graph_view_is_repeated(const graph_view_t *view, size_t index);

#endif
