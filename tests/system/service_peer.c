/* A program that serves "/echo" of std_srvs/srv/Trigger's name: it answers each request with the
 * request itself. It prints "ready", then a line for each request, and ends when its stdin does.
 *
 *   echo      answers at once
 *   late      answers each request with the next one
 *   silent    answers nothing */
#include <stdio.h>
#include <string.h>
#include <timebase/ros2_service.h>
#include <unistd.h>

typedef struct mode {
  bool silent, late, has_kept;
  tb_ros2_request_id_t kept_id;
  unsigned char kept[4096];
  size_t kept_size;
} peer_mode_t;

static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  peer_mode_t *mode = user;
  tb_error_t error = TB_ERROR_INIT;
  printf("request %zu\n", request->size);
  if (mode->silent) return;
  if (!mode->late) {
    if (tb_ros2_service_reply(service, &request->id, request->cdr, request->size, &error) != TB_OK)
      printf("reply: %s\n", error.text);
    return;
  }
  if (mode->has_kept)
    tb_ros2_service_reply(service, &mode->kept_id, mode->kept, mode->kept_size, NULL);
  if (request->size > sizeof mode->kept) return;
  memcpy(mode->kept, request->cdr, request->size);
  mode->kept_size = request->size;
  mode->kept_id = request->id;
  mode->has_kept = true;
}

int main(int argc, char **argv)
{
  static peer_mode_t mode;
  tb_ros2_context_t *context;
  tb_ros2_service_t *service;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  if (argc != 2) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  mode.silent = strcmp(argv[1], "silent") == 0;
  mode.late = strcmp(argv[1], "late") == 0;
  qos.depth = 1000;
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_service_create(context, "/echo", "std_srvs/srv/Trigger", &qos, answer, &mode,
                             &service, &error) != TB_OK) {
    fprintf(stderr, "service_peer: %s\n", error.text);
    return 1;
  }
  printf("ready\n");
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
  tb_ros2_service_destroy(service);
  tb_ros2_context_destroy(context);
  return 0;
}
