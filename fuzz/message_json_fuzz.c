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
  json_decref(whole);
  json_decref(cut);
  tb__schema_destroy(schema);
  return 0;
}
