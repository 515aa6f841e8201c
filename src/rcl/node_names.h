/* The names of this process's nodes, for `timebase run --node`, `nodes` and `audit`: not every
 * middleware announces which process a node is in. They are in a file without a name that this
 * process keeps open, TB__NODE_NAMES of /proc/PID/fd, one to a line: it ends with the process. */
#ifndef TB_RCL_NODE_NAMES_H
#define TB_RCL_NODE_NAMES_H

/* "/talker" */
void tb__node_names_add(const char *name);
/* One of that name. */
void tb__node_names_remove(const char *name);

#endif
