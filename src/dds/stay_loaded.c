#include "dds/stay_loaded.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool stays;

void tb__stay_loaded(void)
{
  Dl_info info;
  if (atomic_load(&stays)) return;
  if (dladdr((void *)&stays, &info) && info.dli_fname)
    (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  atomic_store(&stays, true);
}
