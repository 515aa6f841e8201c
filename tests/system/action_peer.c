/* action_peer ACTION: the server of an action (example_interfaces/action/Fibonacci), for
 * play_requests_test.py. It prints "ready", then "send_goal ID ORDER", "cancel_goal ID" and
 * "get_result ID" for what it is asked. On standard input "accept" or "refuse" answers the oldest
 * goal without an answer. Ends when its input does. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_service.h>

#define GOALS_MAX   16
#define LINE_SIZE   32
#define PART(kind)  "example_interfaces/action/Fibonacci_" kind
#define SERVICES    3
#define HEADER_SIZE 4
#define ID_SIZE     16

static const char *const names[SERVICES] = {"send_goal", "cancel_goal", "get_result"};
static const char *const types[SERVICES] = {PART("SendGoal"), "action_msgs/srv/CancelGoal",
                                            PART("GetResult")};
static tb_ros2_service_t *services[SERVICES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static tb_ros2_request_id_t held[GOALS_MAX];
static size_t held_count;

static void print(const char *name, const uint8_t *cdr, size_t size)
{
  if (size < HEADER_SIZE + ID_SIZE) exit(1);
  flockfile(stdout);
  printf("%s ", name);
  for (size_t i = 0; i < ID_SIZE; i++)
    printf("%02x", cdr[HEADER_SIZE + i]);
  if (size > HEADER_SIZE + ID_SIZE + 3 && strcmp(name, "send_goal") == 0)
    printf(" %d", cdr[HEADER_SIZE + ID_SIZE]);
  printf("\n");
  funlockfile(stdout);
}

static void on_goal(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service, (void)user;
  pthread_mutex_lock(&mutex);
  if (held_count == GOALS_MAX) exit(1);
  held[held_count++] = request->id;
  pthread_mutex_unlock(&mutex);
  print(names[0], request->cdr, request->size);
}

/* Of a result: its state, and a sequence without members; of a cancel the same. */
static void on_other(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  static const uint8_t answer[] = {0, 1, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0};
  print(user, request->cdr, request->size);
  if (tb_ros2_service_reply(service, &request->id, answer, sizeof answer, NULL)) exit(1);
}

static void answer_goal(bool accepts)
{
  const uint8_t answer[16] = {0, 1, 0, 0, accepts};
  pthread_mutex_lock(&mutex);
  if (held_count == 0) exit(1);
  tb_ros2_request_id_t id = held[0];
  memmove(held, held + 1, --held_count * sizeof *held);
  pthread_mutex_unlock(&mutex);
  if (tb_ros2_service_reply(services[0], &id, answer, sizeof answer, NULL)) exit(1);
}

int main(int argc, char **argv)
{
  tb_ros2_context_t *context = NULL;
  tb_error_t error = TB_ERROR_INIT;
  char line[LINE_SIZE], name[128];
  if (argc != 2) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  tb_status_t status = tb_ros2_context_create(NULL, &context, &error);
  for (int i = 0; i < SERVICES && !status; i++) {
    snprintf(name, sizeof name, "%s/_action/%s", argv[1], names[i]);
    status = tb_ros2_service_create(context, name, types[i], NULL, i ? on_other : on_goal,
                                    (void *)names[i], &services[i], &error);
  }
  if (status) {
    fprintf(stderr, "action_peer: %s\n", error.text);
    return 1;
  }
  printf("ready\n");
  while (fgets(line, sizeof line, stdin))
    answer_goal(strcmp(line, "accept\n") == 0);
  for (int i = 0; i < SERVICES; i++)
    tb_ros2_service_destroy(services[i]);
  tb_ros2_context_destroy(context);
  return 0;
}
