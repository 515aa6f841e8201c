/* ros1_sender [latched]: a program that publishes /clock, and /bytes (test_msgs/Bytes) for each
 * subscriber with a queue of 4. Each line of its input is a command, answered with what both
 * publishers count and the status of the last tick, as JSON: "clock NANOSECONDS", "send SIZE COUNT"
 * (each message is SIZE bytes of its number), or an empty line. Messages of the library go to
 * stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/log.h>
#include <timebase/ros1_clock_publisher.h>
#include <timebase/ros1_publisher.h>

#define SIZE_MAX_SENT ((size_t)64 << 20)

static void print_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  fprintf(stderr, "%d %s\n", (int)level, message);
  fflush(stderr);
}

static void check(const char *what, tb_status_t status, const tb_error_t *error)
{
  if (!status) return;
  fprintf(stderr, "%s: %s %s\n", what, tb_status_name(status), error->text);
  exit(1);
}

static void send_bytes(tb_ros1_publisher_t *publisher, size_t size, unsigned count)
{
  tb_error_t error = TB_ERROR_INIT;
  unsigned char *bytes = malloc(size + 1);
  if (!bytes || size > SIZE_MAX_SENT) exit(1);
  for (unsigned i = 0; i < count; i++) {
    memset(bytes, (int)(i & 255), size);
    check("publish", tb_ros1_publisher_publish(publisher, bytes, size, &error), &error);
  }
  free(bytes);
}

int main(int argc, char **argv)
{
  static const tb_ros1_message_type_t type = {"test_msgs/Bytes", "0123456789abcdef0123456789abcdef",
                                              "uint8[] data\n"};
  tb_error_t error = TB_ERROR_INIT;
  tb_ros1_context_options_t options = TB_ROS1_CONTEXT_OPTIONS_INIT;
  tb_ros1_publisher_options_t publishing = TB_ROS1_PUBLISHER_OPTIONS_INIT;
  tb_ros1_context_t *context;
  tb_ros1_clock_publisher_t *clock;
  tb_ros1_publisher_t *bytes;
  tb_log_set_hook(print_log, NULL);
  options.node_name = "/sender";
  publishing.queue_size = 4;
  publishing.latched = argc > 1 && strcmp(argv[1], "latched") == 0;
  check("context", tb_ros1_context_create(&options, &context, &error), &error);
  check("clock", tb_ros1_clock_publisher_create(context, NULL, &clock, &error), &error);
  check("bytes", tb_ros1_publisher_create(context, "/bytes", &type, &publishing, &bytes, &error),
        &error);
  char line[128];
  tb_status_t ticked = TB_OK;
  while (fgets(line, sizeof line, stdin)) {
    long long time_ns;
    size_t size;
    unsigned count;
    if (sscanf(line, "clock %lld", &time_ns) == 1)
      ticked = tb_ros1_clock_publisher_publish(clock, time_ns, &error);
    else if (sscanf(line, "send %zu %u", &size, &count) == 2)
      send_bytes(bytes, size, count);
    printf("{\"clock\": %u, \"bytes\": %u, \"dropped\": %llu, \"ticked\": \"%s\"}\n",
           tb_ros1_clock_publisher_matched(clock), tb_ros1_publisher_matched(bytes),
           (unsigned long long)tb_ros1_publisher_dropped(bytes), tb_status_name(ticked));
    fflush(stdout);
  }
  tb_ros1_publisher_destroy(bytes);
  tb_ros1_clock_publisher_destroy(clock);
  tb_ros1_context_destroy(context);
  return 0;
}
