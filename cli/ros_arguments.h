/* --ros-args of commands that have a node. */
#ifndef TB_CLI_ROS_ARGUMENTS_H
#define TB_CLI_ROS_ARGUMENTS_H

/* All arguments, for the context of a graph, which reads what follows --ros-args. */
typedef struct ros_arguments {
  const char **argv; /* a copy; NULL: there is no --ros-args */
  int argc;
} ros_arguments_t;

/* Removes what follows --ros-args, up to "--", from `argv`. Returns how many words are left; -1:
 * out of memory. */
int ros_arguments_take(int argc, char **argv, ros_arguments_t *out);
void ros_arguments_release(ros_arguments_t *arguments);

#endif
