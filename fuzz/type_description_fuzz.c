/* A node's answer to ~/get_type_description. What is made of it is parsed or refused, with a text.
 */
#include <stdlib.h>
#include <string.h>

#include "definition/parse.h"
#include "definition/type_description.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = NULL;
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb__type_description_text("my_msgs/msg/Scan", data, size, &text, &error);
  if (status && (text || !error.text[0])) abort();
  if (status) return 0;
  if (strlen(text) > 0 &&
      tb__schema_parse("my_msgs/msg/Scan", "ros2msg", text, strlen(text), &schema, NULL) == TB_OK)
    tb__schema_destroy(schema);
  free(text);
  return 0;
}
