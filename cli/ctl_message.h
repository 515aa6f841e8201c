/* The requests and answers of `timebase ctl`, in little endian CDR. */
#ifndef TB_CLI_CTL_MESSAGE_H
#define TB_CLI_CTL_MESSAGE_H

#include <stddef.h>
#include <timebase/ros2_client.h>

#include "ctl_verbs.h"

#define REQUEST_MAX 40

typedef struct request_values {
  double rate;
  int64_t time_ns;
  uint64_t count;
} request_values_t;

/* What a call brought. */
typedef struct answer {
  tb_status_t status;
  uint8_t body[16]; /* zeros where the answer is shorter */
  char text[256];   /* of a result with a code */
} answer_t;

/* The size. A request without fields is one byte. `form` may be NULL. */
size_t ctl_make_request(const operation_t *operation, const request_form_t *form,
                        const request_values_t *values, uint8_t out[REQUEST_MAX]);
void ctl_take_answer(answer_t *answer, const tb_ros2_response_t *response);
uint64_t ctl_get_u64(const uint8_t *at);

#endif
