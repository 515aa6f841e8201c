/* Finds a definition that is built in, and a field of it in a message. */
#include <stdint.h>
#include <stdio.h>
#include <timebase/message_definition.h>

int main(void)
{
  static const uint8_t data[] = {0, 1, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0};
  tb_message_definition_t *definition = NULL;
  tb_message_field_t *field = NULL;
  tb_error_t error = TB_ERROR_INIT;
  int64_t time_ns = 0;
  tb_status_t status =
      tb_message_definition_find("rosgraph_msgs/msg/Clock", NULL, 0, &definition, &error);
  if (!status) status = tb_message_field_create(definition, "clock", &field, &error);
  if (!status) status = tb_message_field_time(field, data, sizeof data, &time_ns);
  printf("contract: %s, %lld ns\n", tb_status_name(status), (long long)time_ns);
  tb_message_field_destroy(field);
  tb_message_definition_destroy(definition);
  return status || time_ns != 7000000009;
}
