#include <timebase/ros2_arguments.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

int tb_ros2_remove_ros_arguments(int argc, char **argv)
{
  if (argc <= 0 || !argv) return 0;
  int kept = 1;
  bool for_ros = false;
  for (int i = 1; i < argc && argv[i]; i++) {
    if (for_ros)
      for_ros = strcmp(argv[i], "--") != 0;
    else if (strcmp(argv[i], "--ros-args") == 0)
      for_ros = true;
    else
      argv[kept++] = argv[i];
  }
  argv[kept] = NULL;
  return kept;
}
