/* Serialized responses of ~/get_type_description, as a node of jazzy makes them. */
#ifndef TB_TEST_DESCRIBED_TYPE_H
#define TB_TEST_DESCRIBED_TYPE_H

#include <stdint.h>
#include <string.h>

typedef struct description {
  uint8_t bytes[4096];
  size_t size;
} description_t;

static inline void description_put(description_t *to, uint64_t bits, size_t width)
{
  while ((to->size - 4) % width != 0)
    to->bytes[to->size++] = 0;
  for (size_t i = 0; i < width; i++)
    to->bytes[to->size++] = (uint8_t)(bits >> (8 * i));
}

static inline void description_text(description_t *to, const char *text)
{
  description_put(to, strlen(text) + 1, 4);
  memcpy(to->bytes + to->size, text, strlen(text) + 1);
  to->size += strlen(text) + 1;
}

static inline void description_begin(description_t *to, int is_successful, const char *reason)
{
  memset(to, 0, sizeof *to);
  to->bytes[1] = 1;
  to->size = 4;
  description_put(to, (uint64_t)is_successful, 1);
  description_text(to, reason);
}

static inline void description_type(description_t *to, const char *name, uint32_t fields)
{
  description_text(to, name);
  description_put(to, fields, 4);
}

static inline void description_field(description_t *to, const char *name, uint8_t type_id,
                                     uint64_t capacity, uint64_t string_capacity,
                                     const char *nested)
{
  description_text(to, name);
  description_put(to, type_id, 1);
  description_put(to, capacity, 8);
  description_put(to, string_capacity, 8);
  description_text(to, nested);
  description_text(to, "0");
}

/* After the types: a source, whose text is of no use, and nothing else. */
static inline void description_end(description_t *to, const char *type)
{
  description_put(to, 1, 4);
  description_text(to, type);
  description_text(to, "msg");
  description_text(to, "int8 not_this\n");
  description_put(to, 0, 4);
}

/* my_msgs/Scan: a header, and a time and text in it. */
static inline void description_of_scan(description_t *to)
{
  description_begin(to, 1, "");
  description_type(to, "my_msgs/msg/Scan", 2);
  description_field(to, "ranges", 154, 0, 0, "");
  description_field(to, "header", 1, 0, 0, "std_msgs/msg/Header");
  description_put(to, 2, 4);
  description_type(to, "builtin_interfaces/msg/Time", 2);
  description_field(to, "sec", 6, 0, 0, "");
  description_field(to, "nanosec", 7, 0, 0, "");
  description_type(to, "std_msgs/msg/Header", 2);
  description_field(to, "stamp", 1, 0, 0, "builtin_interfaces/msg/Time");
  description_field(to, "frame_id", 17, 0, 0, "");
  description_end(to, "my_msgs/msg/Scan");
}

#endif
