/* Links with the player on a ROS 2 graph, and with all below it. */
#include <stdio.h>
#include <timebase/status.h>

int main(void)
{
  printf("ros2-bag: %s\n", tb_status_name(TB_OK));
  return 0;
}
