/* Bytes as a package.xml of rcl: the version is digits and dots, and fits. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "rcl/librcl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char version[8], *text = calloc(size + 1, 1);
  if (!text) return 0;
  memcpy(text, data, size);
  if (tb__librcl_parse_version(text, version, sizeof version) &&
      (!version[0] || version[strspn(version, "0123456789.")]))
    abort();
  free(text);
  return 0;
}
