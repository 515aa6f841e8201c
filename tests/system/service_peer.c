/* A program that serves "/echo" of std_srvs/srv/Trigger's name: it answers each request with the
 * request itself. It prints "ready", then a line for each request, and ends when its stdin does.
 *
 *   echo      answers at once
 *   late      answers each request with the next one
 *   silent    answers nothing
 *   form NAME TYPE HASH SIZE CODE
 *             serves NAME in one form of TYPE: announces HASH for the request ("-": none), and
 * takes only requests of SIZE bytes, as a server on Fast DDS does; answers CODE and "" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_type_hash.h>
#include <unistd.h>

typedef struct mode {
  size_t form_size; /* 0: any */
  uint8_t code;
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
  if (mode->silent || (mode->form_size && request->size != mode->form_size)) return;
  if (mode->form_size) {
    const uint8_t cdr[16] = {0, 1, 0, 0, mode->code, 0, 0, 0, 1};
    tb_ros2_service_reply(service, &request->id, cdr, sizeof cdr, NULL);
    return;
  }
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
  bool has_form = argc == 7 && strcmp(argv[1], "form") == 0;
  const char *name = has_form ? argv[2] : "/echo",
             *type = has_form ? argv[3] : "std_srvs/srv/Trigger";
  char full[256];
  if (argc != 2 && !has_form) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  mode.silent = strcmp(argv[1], "silent") == 0;
  mode.late = strcmp(argv[1], "late") == 0;
  qos.depth = 1000;
  if (has_form) {
    snprintf(full, sizeof full, "%s_Request", type);
    mode.form_size = strtoul(argv[5], NULL, 10);
    mode.code = (uint8_t)strtoul(argv[6], NULL, 10);
    if (strcmp(argv[4], "-") != 0 && tb_ros2_type_hash_register(full, argv[4], &error) != TB_OK)
      return 2;
  }
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_service_create(context, name, type, &qos, answer, &mode, &service, &error) != TB_OK) {
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
