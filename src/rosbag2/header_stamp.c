#include "rosbag2/header_stamp.h"

#include <string.h>

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
bool tb__header_stamp(const void *cdr, size_t size, int64_t *out_ns)
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

static bool is_field(const char *line, const char *type)
{
  size_t length = strlen(type);
  return strncmp(line, type, length) == 0 && (line[length] == ' ' || line[length] == '\t');
}

/* A constant has a primitive type, so the first line that is no comment and no constant decides. */
bool tb__definition_has_header(const char *type, const char *definition)
{
  if (strcmp(type, "std_msgs/msg/Header") == 0) return true;
  const char *line = definition;
  while (*line) {
    line += strspn(line, " \t\r\n");
    size_t length = strcspn(line, "\n");
    size_t code = strcspn(line, "#\n");
    if (code > 0 && !memchr(line, '=', code)) break;
    line += length;
  }
  return is_field(line, "std_msgs/Header") || is_field(line, "std_msgs/msg/Header") ||
         (strncmp(type, "std_msgs/", 9) == 0 && is_field(line, "Header"));
}
