/* Definitions of both generations, and a message: a byte that chooses the direction, the text of
 * ROS 1 up to a NUL, that of ROS 2 up to a NUL (empty: it is derived), the bytes of the message.
 * What is made is of the other definition, and comes back the same. */
#include <stdlib.h>
#include <string.h>
#include <timebase/message_definition.h>
#include <timebase/reencoder.h>

#include "fuzz.h"

/* The text up to a NUL, which *at moves behind. To be freed. */
static char *take_text(const uint8_t *data, size_t size, size_t *at)
{
  size_t length = strnlen((const char *)data + *at, size - *at);
  char *text = strndup((const char *)data + *at, length);
  *at += length + (*at + length < size);
  return text;
}

static tb_reencoder_t *make(const tb_reencoder_type_t *from, const tb_reencoder_type_t *to)
{
  tb_reencoder_t *reencoder = NULL;
  tb_status_t status = to->definition[0] ? tb_reencoder_create(from, to, &reencoder, NULL)
                                         : tb_reencoder_find(from, NULL, 0, &reencoder, NULL);
  return status ? NULL : reencoder;
}

static void check_is_of(const tb_reencoder_type_t *type, const void *bytes, size_t size)
{
  tb_message_definition_t *definition = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_message_definition_parse(type->name, type->encoding, type->definition, &definition,
                                  &error) ||
      tb_message_definition_check(definition, bytes, size, &error))
    abort();
  tb_message_definition_destroy(definition);
}

/* A new re-encoder each, as headers are counted. */
static void *run_once(const tb_reencoder_type_t *from, const tb_reencoder_type_t *to,
                      const void *data, size_t size, size_t *out_size)
{
  const void *out = NULL;
  tb_reencoder_t *reencoder = NULL;
  if (tb_reencoder_create(from, to, &reencoder, NULL)) abort();
  tb_status_t status = tb_reencoder_run(reencoder, data, size, &out, out_size, NULL);
  void *copy = status ? NULL : malloc(*out_size + 1);
  if (copy) memcpy(copy, out, *out_size);
  if (copy) check_is_of(to, copy, *out_size);
  tb_reencoder_destroy(reencoder);
  return copy;
}

/* There, back and there again. */
static void check_round_trip(const tb_reencoder_type_t *from, const tb_reencoder_type_t *to,
                             const uint8_t *data, size_t size)
{
  size_t there_size = 0, back_size = 0, again_size = 0;
  void *there = run_once(from, to, data, size, &there_size);
  if (!there) return;
  void *back = run_once(to, from, there, there_size, &back_size);
  if (!back) abort();
  void *again = run_once(from, to, back, back_size, &again_size);
  if (!again || again_size != there_size || memcmp(again, there, there_size) != 0) abort();
  free(there);
  free(back);
  free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 1) return 0;
  size_t at = 1;
  bool to_ros1 = data[0] & 1;
  char *one = take_text(data, size, &at), *two = take_text(data, size, &at);
  const tb_reencoder_type_t ros1 = {"p/T", "ros1msg", one, NULL};
  const tb_reencoder_type_t ros2 = {"p/msg/T", data[0] & 2 ? "ros2idl" : "ros2msg", two, NULL};
  tb_reencoder_t *reencoder = make(&ros1, &ros2);
  if (reencoder && to_ros1)
    check_round_trip(tb_reencoder_ros2(reencoder), tb_reencoder_ros1(reencoder), data + at,
                     size - at);
  else if (reencoder)
    check_round_trip(tb_reencoder_ros1(reencoder), tb_reencoder_ros2(reencoder), data + at,
                     size - at);
  tb_reencoder_destroy(reencoder);
  free(one);
  free(two);
  return 0;
}
