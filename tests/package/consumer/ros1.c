/* A clock on the ROS 1 source, without a master: it waits for one at time zero. */
#include <stdio.h>
#include <timebase/clock.h>
#include <timebase/ros1_clock_source.h>

int main(void)
{
  tb_ros1_context_options_t options = TB_ROS1_CONTEXT_OPTIONS_INIT;
  tb_clock_options_t clock_options = TB_CLOCK_OPTIONS_INIT;
  tb_ros1_context_t *context = NULL;
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_clock_reading_t reading = {0};
  options.master_uri = "http://127.0.0.1:1/";
  options.host = "127.0.0.1";
  tb_status_t status = tb_ros1_context_create(&options, &context, &error);
  if (!status) status = tb_ros1_clock_source_create(context, NULL, &source, &error);
  clock_options.source = source;
  if (!status) status = tb_clock_create(&clock_options, &clock);
  if (!status) status = tb_clock_read(clock, &reading);
  printf("ros1: %s, state %d\n", tb_status_name(status), (int)reading.state);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  tb_ros1_context_destroy(context);
  return status || reading.time.ns != 0 || reading.state != TB_CLOCK_NO_PUBLISHER;
}
