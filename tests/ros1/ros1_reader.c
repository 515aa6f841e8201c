/* ros1_reader TOPIC: subscribes to TOPIC whatever its type is, and prints a line of JSON for each
 * message: size, first byte, publisher, type. A line of its input is a command, answered by a line
 * that begins with "=": "get NAME", "set NAME bool|int|double|string VALUE", "delete NAME". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros1_parameter.h>
#include <timebase/ros1_subscription.h>

static void on_sample(const tb_ros1_sample_t *sample, void *user)
{
  (void)user;
  const unsigned char *bytes = sample->message;
  printf("{\"size\": %zu, \"first\": %d, \"publisher\": \"%s\", \"type\": \"%s\", \"md5sum\": "
         "\"%s\", \"latched\": %d, \"definition\": %zu}\n",
         sample->size, sample->size ? bytes[0] : -1, sample->publisher, sample->type.name,
         sample->type.md5sum, (int)sample->latched, strlen(sample->type.definition));
  fflush(stdout);
}

static void print(const tb_ros1_parameter_t *value)
{
  if (value->type == TB_ROS1_PARAMETER_BOOL)
    printf("= %s\n", value->integer ? "true" : "false");
  else if (value->type == TB_ROS1_PARAMETER_INT)
    printf("= %ld\n", (long)value->integer);
  else if (value->type == TB_ROS1_PARAMETER_DOUBLE)
    printf("= %.17g\n", value->number);
  else if (value->type == TB_ROS1_PARAMETER_STRING)
    printf("= \"%s\"\n", value->text);
  else
    printf("= other\n");
}

static void obey(tb_ros1_context_t *context, const char *line)
{
  char name[128] = "", kind[16] = "", text[128] = "";
  tb_ros1_parameter_t value = {.type = TB_ROS1_PARAMETER_OTHER};
  tb_status_t status = TB_ERR_INVALID;
  bool has_value = false;
  if (sscanf(line, "get %127s", name) == 1) {
    status = tb_ros1_parameter_get(context, name, TB_NO_LIMIT, &value, NULL);
    has_value = !status;
  } else if (sscanf(line, "set %127s %15s %127s", name, kind, text) == 3) {
    value.type = !strcmp(kind, "bool")     ? TB_ROS1_PARAMETER_BOOL
                 : !strcmp(kind, "int")    ? TB_ROS1_PARAMETER_INT
                 : !strcmp(kind, "double") ? TB_ROS1_PARAMETER_DOUBLE
                                           : TB_ROS1_PARAMETER_STRING;
    value.integer = (int32_t)strtol(text, NULL, 10);
    value.number = strtod(text, NULL);
    value.text = text;
    status = tb_ros1_parameter_set(context, name, &value, TB_NO_LIMIT, NULL);
  } else if (sscanf(line, "delete %127s", name) == 1) {
    status = tb_ros1_parameter_delete(context, name, TB_NO_LIMIT, NULL);
  }
  if (has_value)
    print(&value);
  else
    printf("= %s\n", tb_status_name(status));
  fflush(stdout);
  if (has_value) tb_ros1_parameter_release(&value);
}

int main(int argc, char **argv)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros1_context_t *context;
  tb_ros1_subscription_t *subscription;
  tb_ros1_subscription_options_t options = {.callback = on_sample};
  tb_status_t status = tb_ros1_context_create(NULL, &context, &error);
  if (!status)
    status = tb_ros1_subscription_create(context, argc > 1 ? argv[1] : "/clock", NULL, &options,
                                         &subscription, &error);
  if (status) {
    fprintf(stderr, "%s: %s\n", tb_status_name(status), error.text);
    return 1;
  }
  char line[512];
  while (fgets(line, sizeof line, stdin))
    obey(context, line);
  tb_ros1_subscription_destroy(subscription);
  tb_ros1_context_destroy(context);
  return 0;
}
