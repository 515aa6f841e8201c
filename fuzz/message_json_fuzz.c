/* Any bytes as a message of one of some types, which the first byte chooses: whatever the walk over
 * a message takes is decoded as JSON, whole or cut. */
#include <stdlib.h>
#include <string.h>

#include "../cli/message_json.h"
#include "definition/parse.h"
#include "fuzz.h"

static const struct {
  const char *encoding, *text;
} types[] = {
    {"ros1msg",
     "bool a\nint8[3] b\nstring c\nfloat32[] d\nIn[] e\ntime t\nstring[2] f\nduration g\n"
     "================================================================================\n"
     "MSG: my_msgs/In\nfloat64 x\nuint64[] y\nstring z\n"},
    {"ros2msg", "bool a\nint8[3] b\nstring c\nfloat32[] d\nIn[] e\nwstring w\nstring[<=2] f\n"
                "float64[<=4] g\nEmpty h\nint64 i\n"
                "================================================================================\n"
                "MSG: my_msgs/In\nfloat64 x\nuint64[] y\nstring z\n"
                "================================================================================\n"
                "MSG: my_msgs/Empty\n"},
    {"ros1msg", "uint8[] data\n"},
};
#define TYPE_COUNT (sizeof types / sizeof *types)

static tb__schema_t *schema_of(size_t type)
{
  tb__schema_t *schema;
  if (tb__schema_parse("my_msgs/Out", types[type].encoding, types[type].text,
                       strlen(types[type].text), &schema, NULL))
    abort();
  return schema;
}

/* Fields by their paths are what they are in the whole message. */
static void compare_fields(const tb__schema_t *schema, const uint8_t *data, size_t size,
                           const json_t *whole)
{
  static const char *const paths[] = {"e[].z", "e[1].y", "f[1]", "e[0].y[]", "d"};
  const message_fields_t fields = {paths, sizeof paths / sizeof *paths, 0};
  json_t *some = NULL;
  if (message_json_fields(schema, data, size, &fields, &some)) abort();
  const json_t *e = json_object_get(whole, "e"), *all = json_object_get(some, "e[].z");
  if (json_array_size(all) != json_array_size(e)) abort();
  for (size_t i = 0; i < json_array_size(e); i++)
    if (!json_equal(json_array_get(all, i), json_object_get(json_array_get(e, i), "z"))) abort();
  bool has_second = json_array_size(e) > 1;
  const json_t *y = json_object_get(json_array_get(e, 1), "y");
  if (!json_equal(json_object_get(some, "e[1].y"), has_second ? y : json_null())) abort();
  y = json_object_get(json_array_get(e, 0), "y");
  if (!json_equal(json_object_get(some, "e[0].y[]"), y ? y : json_null())) abort();
  const json_t *f = json_array_get(json_object_get(whole, "f"), 1);
  if (!json_equal(json_object_get(some, "f[1]"), f ? f : json_null())) abort();
  if (!json_equal(json_object_get(some, "d"), json_object_get(whole, "d"))) abort();
  json_decref(some);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  tb__message_t message;
  json_t *whole = NULL, *cut = NULL;
  if (!size) return 0;
  tb__schema_t *schema = schema_of(data[0] % TYPE_COUNT);
  bool is_good = !tb__message_open(&message, schema, data + 1, size - 1) &&
                 !tb__message_walk(&message, NULL, NULL, NULL);
  tb_status_t status = message_json(schema, data + 1, size - 1, 0, &whole);
  if (is_good && status) abort();
  if (!status && !json_is_object(whole)) abort();
  if ((message_json(schema, data + 1, size - 1, 2, &cut) == TB_OK) != (status == TB_OK)) abort();
  if (is_good && data[0] % TYPE_COUNT < TYPE_COUNT - 1)
    compare_fields(schema, data + 1, size - 1, whole);
  json_decref(whole);
  json_decref(cut);
  tb__schema_destroy(schema);
  return 0;
}
