/* Any bytes as a file of parameters. */
#include <stdlib.h>

#include "fuzz.h"
#include "params/node_pattern.h"
#include "params/parameter_sections.h"

static void check_section(const tb__parameter_section_t *section)
{
  if (tb__node_pattern_check(section->nodes, NULL) != TB_OK) abort();
  tb__node_pattern_matches(section->nodes, "/ns/node");
  for (size_t i = 0; i < section->count; i++) {
    char *text = NULL;
    if (tb_ros2_parameter_value_format(&section->parameters[i].value, &text) != TB_OK) abort();
    free(text);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  tb__parameter_sections_t sections = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb__parameter_sections_parse(&sections, data, size, &error);
  if (status != TB_OK && error.text[0] == '\0') abort();
  for (size_t i = 0; i < sections.count; i++)
    check_section(&sections.items[i]);
  tb__parameter_sections_fini(&sections);
  return 0;
}
