/* Bytes as the YAML of `ros2 bag convert`: what is accepted names an output and chooses topics. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "contract/output_options.h"
#include "fuzz.h"

static bool begins(const char *word, const char *with)
{
  return strncmp(word, with, strlen(with)) == 0;
}

static void check(const tb__output_words_t *output)
{
  bool has_output = false, has_choice = false;
  for (size_t i = 0; i < output->count; i++) {
    const char *word = output->items[i];
    if (!begins(word, "--") || !strchr(word, '=')) abort();
    has_output |= begins(word, "--output=") && word[strlen("--output=")];
    has_choice |= begins(word, "--topic") || begins(word, "--regex=");
  }
  if (!has_output || !has_choice || output->items[output->count]) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  tb__output_options_t options = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status =
      tb__output_options_parse("o.yaml", (const char *)data, size, &options, &error);
  if (status && (options.outputs || options.count || error.status != status)) abort();
  if (!status && options.count == 0) abort();
  for (size_t i = 0; i < options.count; i++)
    check(&options.outputs[i]);
  tb__output_options_fini(&options);
  return 0;
}
