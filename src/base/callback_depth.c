#include "base/callback_depth.h"

#include <stdint.h>

static _Thread_local uint32_t depth;

void tb__callback_begin(void)
{
  depth++;
}

void tb__callback_end(void)
{
  depth--;
}

bool tb__in_callback(void)
{
  return depth > 0;
}
