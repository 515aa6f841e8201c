/* The public constructor of clocks. It is here and not in src/clock because a clock may follow the
 * process's default, which TIMEBASE_SOURCE names (X7): every program that has a clock links in the
 * sources by name, a static one too, and src/clock calls nothing in src/source. */
#include "base/sized.h"
#include "clock/clock.h"
#include "clock/default_source.h"
#include "source/source_names.h"

static const tb__default_maker_t from_environment = {
    .name = tb__source_name_in_environment,
    .create = tb__source_create_from_environment,
};

tb_status_t tb_clock_create_sized(const tb_clock_options_t *options, size_t options_size,
                                  tb_clock_t **out)
{
  tb_clock_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__default_set_maker(&from_environment);
  return tb__clock_create(options, out);
}
