/* Any bytes as a /clock message. An accepted message must be encoded to the same bytes. */
#include <stdlib.h>

#include "wire/clock_message.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  int64_t time_ns = -1, again_ns = -1;
  uint8_t message[TB__CLOCK_MESSAGE_SIZE];
  tb_status_t status = tb__clock_message_decode(data, size, &time_ns);
  if (status != TB_OK) {
    if (time_ns != -1) abort();
    return 0;
  }
  if (tb__clock_message_encode(time_ns, message) != (time_ns == 0 ? TB_ERR_NOT_SET : TB_OK))
    abort();
  if (time_ns != 0 && (tb__clock_message_decode(message, sizeof message, &again_ns) != TB_OK ||
                       again_ns != time_ns))
    abort();
  return 0;
}
