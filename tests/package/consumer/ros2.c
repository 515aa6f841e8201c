/* Joins a domain and leaves it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_context.h>
#include <timebase/status.h>

int main(void)
{
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_context_t *context = NULL;
  tb_error_t error = {0};
  const char *uri = getenv("CYCLONEDDS_URI");
  if (!uri || !strstr(uri, "name=\"lo\"")) {
    fputs("ros2: CYCLONEDDS_URI does not bind to lo\n", stderr);
    return 1;
  }
  tb_status_t status = tb_ros2_context_create(&options, &context, &error);
  if (status) {
    fprintf(stderr, "ros2: %s: %s\n", tb_status_message(status), error.text);
    return 1;
  }
  printf("ros2: ok, domain %d\n", tb_ros2_context_domain_id(context));
  tb_ros2_context_destroy(context);
  return 0;
}
