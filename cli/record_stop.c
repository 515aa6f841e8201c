#include "record_stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 100 /* for a client whose reader of answers is matched late */
#define BODY      4   /* after the encapsulation */
#define TEXT      (BODY + 8)
/* Of Stop_Response in rolling. */
#define RESULT_HASH "RIHS01_983be924a9344f450ec0b34695bab924df6f01a7380084a239f5748614c18a04"

/* Stop_Response of rolling: a code and a text. That of jazzy has one byte, and a client on Fast DDS
 * refuses more. */
static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, uint8_t code,
                   const char *text)
{
  const char *hash = request->response_type_hash;
  uint8_t cdr[64] = {0, 1};
  size_t size = BODY + 4;
  if (hash && strcmp(hash, RESULT_HASH) == 0) {
    size_t length = strlen(text) + 1;
    cdr[BODY] = code;
    cdr[BODY + 4] = (uint8_t)length;
    memcpy(cdr + TEXT, text, length);
    size = TEXT + (length + 3) / 4 * 4;
  }
  tb_ros2_service_reply(service, &request->id, cdr, size, NULL); /* or it is gone */
}

/* On the context's thread. */
static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  record_stop_t *stop = user;
  if (atomic_exchange(&stop->is_asked, true)) {
    answer(service, request, 1, "the recording is ending already");
    return;
  }
  answer(service, request, 0, "");
  ssize_t written = write(stop->pipe[1], "", 1);
  (void)written; /* the pipe is empty */
}

int record_stop_begin(record_stop_t *stop, const command_t *command, tb_ros2_node_t *node)
{
  tb_error_t error = TB_ERROR_INIT;
  if (pipe2(stop->pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    memset(stop->pipe, 0, sizeof stop->pipe);
    tb_status_t failed = tb_error_set(&error, TB_ERR_SYSTEM, "pipe: %s", strerror(errno));
    return command_failed(command, failed, &error);
  }
  tb_status_t status = tb_ros2_node_create_service(node, "~/stop", "rosbag2_interfaces/srv/Stop",
                                                   NULL, on_request, stop, &stop->service, &error);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

void record_stop_close(record_stop_t *stop)
{
  if (atomic_load(&stop->is_asked)) poll(NULL, 0, ANSWER_MS);
  tb_ros2_service_destroy(stop->service);
  for (int i = 0; i < 2; i++)
    if (stop->pipe[i] > 0) close(stop->pipe[i]);
  stop->service = NULL;
}

int record_stop_fd(const record_stop_t *stop)
{
  return stop->service ? stop->pipe[0] : -1;
}
