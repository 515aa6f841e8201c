#include "ros_arguments.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_arguments.h>

int ros_arguments_take(int argc, char **argv, ros_arguments_t *out)
{
  *out = (ros_arguments_t){NULL, 0};
  const char **copy = calloc((size_t)argc + 1, sizeof *copy);
  if (!copy) return -1;
  memcpy(copy, argv, (size_t)argc * sizeof *copy);
  int left = tb_ros2_remove_ros_arguments(argc, argv);
  if (left == argc)
    free(copy);
  else
    *out = (ros_arguments_t){copy, argc};
  return left;
}

void ros_arguments_release(ros_arguments_t *arguments)
{
  free(arguments->argv);
  *arguments = (ros_arguments_t){NULL, 0};
}
