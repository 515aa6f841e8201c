/* A node "/texts" with parameters t1, t5000, t20000 and t200000: strings of these lengths, of the
 * pattern "0 1 2 3 ..." that the peer knows. "ready"; ends with its stdin. */
#include <stdio.h>
#include <stdlib.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

static tb_status_t declare(tb_ros2_node_t *node, size_t size, tb_error_t *error)
{
  char name[32], *text = malloc(size + 32);
  size_t length = 0;
  if (!text) return TB_ERR_NO_MEMORY;
  for (int i = 0; length < size; i++)
    length += (size_t)sprintf(text + length, "%d ", i);
  text[size] = '\0';
  snprintf(name, sizeof name, "t%zu", size);
  tb_ros2_parameter_value_t value = tb_ros2_parameter_string(text);
  tb_status_t status = tb_ros2_node_declare_parameter(node, name, &value, NULL, error);
  free(text);
  return status;
}

int main(void)
{
  static const size_t sizes[] = {1, 5000, 20000, 200000};
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  tb_error_t error = TB_ERROR_INIT;
  char byte;
  setvbuf(stdout, NULL, _IOLBF, 0);
  tb_status_t status = tb_ros2_context_create(NULL, &context, &error);
  if (!status) status = tb_ros2_node_create(context, "texts", "/", NULL, &node, &error);
  for (size_t i = 0; i < 4 && !status; i++)
    status = declare(node, sizes[i], &error);
  if (status) {
    fprintf(stderr, "text_node: %s\n", error.text);
    return 1;
  }
  printf("ready\n");
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return 0;
}
