/* Arguments of the command line that are for ROS, as every ROS 2 program takes them:
 *
 *   program --its-own --ros-args -r chatter:=talk -p rate:=5 -- more
 *
 * -r RULE, --remap RULE: `__node:=x`, `__name:=x`, `__ns:=/x`, or `from:=to` for topics and
 * services, `rostopic://from:=to` and `rosservice://from:=to` for one of the two; each for one node
 * with its name before: `talker:__ns:=/x`. Names may be relative, "~/private", or have {node} and
 * {ns} in them. The first rule that matches counts.
 *
 * -p RULE, --param RULE: `name:=value` or `node:name:=value`, with values as
 * tb_ros2_parameter_value_parse reads them.
 *
 * --params-file FILE: a YAML file of parameters: nodes (also with the wildcards * and **), below
 * them ros__parameters. Of values for one parameter the last one counts, in the order of the
 * command line; the parameter_overrides of a node (ros2_node.h) come after all of them. It must be
 * a regular file, of 4 MiB at most.
 *
 * -e NAME, --enclave NAME: the enclave of secured graphs.
 *
 * Accepted without effect here, because the library writes no logs of ROS: --log-level,
 * --log-config-file, --log-file-name, and --enable- or --disable- before rosout-logs, stdout-logs
 * and external-lib-logs. Anything else between "--ros-args" and "--" or the end is an error, and
 * the error names it. Rules outside, which rclcpp still accepts, are left to the program. */
#ifndef TIMEBASE_ROS2_ARGUMENTS_H
#define TIMEBASE_ROS2_ARGUMENTS_H

#include <timebase/export.h>

TB_BEGIN_DECLS

/** Removes from `argv` everything between each "--ros-args" and the next "--" (or the end),
 * including these two, so that the program can read the rest; argv[0] stays. What remains moves up,
 * and NULL follows it. Returns the new count. A context reads ROS arguments by itself, and must be
 * given them before. [any thread] [from callbacks] */
TB_API int tb_ros2_remove_ros_arguments(int argc, char **argv);

TB_END_DECLS

#endif
