/* Links with the player on a ROS 1 graph, and with all below it. */
#include <stdio.h>
#include <timebase/status.h>

int main(void)
{
  printf("ros1-bag: %s\n", tb_status_name(TB_OK));
  return 0;
}
