#include "manifest_clock.h"

#include <stdio.h>

#include "manifest.h"

/* A range is met as it is, a number within the part that warns: as the audit judges. */
static void take(const tb__manifest_t *manifest, manifest_clock_t *out)
{
  const tb__manifest_clock_t *clock = &manifest->clock;
  double part = manifest->limits.rate_warn;
  double factor_part = clock->factor_min == clock->factor_max ? part : 0;
  snprintf(out->topic, sizeof out->topic, "%s", clock->topic ? clock->topic : "/clock");
  out->min_rate_hz = clock->rate_hz * (1 - part);
  out->max_rate_hz = manifest->mode == TB__MODE_REPLAY ? 0 : clock->rate_hz * (1 + part);
  out->min_factor = clock->factor_min * (1 - factor_part);
  out->max_factor = clock->factor_max * (1 + factor_part);
  out->max_error_ns = manifest->max_error_ns;
}

int manifest_clock_read(const command_t *command, const char *path, manifest_clock_t *out)
{
  tb__manifest_t manifest = {0};
  *out = (manifest_clock_t){0};
  int result = manifest_load_any(command, path, &manifest);
  if (result) return result;
  if (manifest.mode == TB__MODE_VEHICLE)
    result = command_usage_error(command, "--manifest: %s: mode vehicle has no /clock", path);
  else
    take(&manifest, out);
  tb__manifest_fini(&manifest);
  return result;
}
