#include "rosbag2/header_stamp.h"

#include <stdlib.h>
#include <string.h>

#include "definition/resolve.h"
#include "wire/clock_message.h"

#define LENGTH_AT TB__CLOCK_MESSAGE_SIZE /* of the frame's name, after encapsulation and stamp */
#define FRAME_AT  (LENGTH_AT + 4)

static uint32_t length_of(const uint8_t *bytes, bool little)
{
  uint32_t length = 0;
  for (int i = 0; i < 4; i++)
    length |= (uint32_t)bytes[i] << (8 * (little ? i : 3 - i));
  return length;
}

/* rosgraph_msgs/Clock is as a header begins. */
bool tb__header_stamp_guess(const void *cdr, size_t size, int64_t *out_ns)
{
  const uint8_t *bytes = cdr;
  int64_t stamp_ns;
  if (size <= FRAME_AT || tb__clock_message_decode(cdr, TB__CLOCK_MESSAGE_SIZE, &stamp_ns) != TB_OK)
    return false;
  uint32_t length = length_of(bytes + LENGTH_AT, bytes[1] == 1);
  if (length == 0 || length > size - FRAME_AT || bytes[FRAME_AT + length - 1] != '\0') return false;
  *out_ns = stamp_ns;
  return true;
}

tb_status_t tb__stamp_reader_init(tb__stamp_reader_t *reader, const char *type,
                                  const tb_bag_topic_t *recorded, tb_error_t *error)
{
  tb__definition_request_t request = {.type = type,
                                      .recorded = recorded ? recorded->definition : NULL,
                                      .recorded_encoding =
                                          recorded ? recorded->definition_encoding : NULL,
                                      .places = {.prefixes = getenv("AMENT_PREFIX_PATH")}};
  tb__definition_t definition;
  *reader = (tb__stamp_reader_t){.schema = NULL};
  tb_status_t status =
      type ? tb__definition_resolve(&request, &definition, error) : TB_ERR_NOT_FOUND;
  if (status) return status == TB_ERR_NO_MEMORY ? status : TB_OK;
  reader->schema = definition.schema;
  status = tb__message_head_init(&reader->head, reader->schema, error);
  if (status) tb__stamp_reader_fini(reader);
  return status;
}

void tb__stamp_reader_fini(tb__stamp_reader_t *reader)
{
  tb__message_head_fini(&reader->head);
  tb__schema_destroy(reader->schema);
  *reader = (tb__stamp_reader_t){.schema = NULL};
}

bool tb__stamp_reader_may_find(const tb__stamp_reader_t *reader)
{
  return !reader->schema || reader->head.stamp;
}

bool tb__stamp_reader_read(const tb__stamp_reader_t *reader, const void *cdr, size_t size,
                           int64_t *out_ns)
{
  tb__message_t message;
  if (!reader->schema) return tb__header_stamp_guess(cdr, size, out_ns);
  return tb__message_open(&message, reader->schema, cdr, size) == TB_OK &&
         tb__message_head_stamp(&reader->head, &message, out_ns) == TB_OK &&
         !tb__is_no_time(*out_ns);
}
