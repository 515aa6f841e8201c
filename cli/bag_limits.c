#include "bag_limits.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* Digits, then K, M, G or T. 0 would mean the default, and is refused. */
static bool parse(const char *text, uint64_t *out)
{
  static const char units[] = "KMGT";
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  const char *unit = end > text && *end ? strchr(units, *end) : NULL;
  unsigned shift = unit ? 10 * ((unsigned)(unit - units) + 1) : 0;
  if (unit) end++;
  bool is_number = strchr("0123456789", text[0]) && end != text && !*end && !errno;
  if (!is_number || value == 0 || value > (UINT64_MAX >> shift)) return false;
  *out = (uint64_t)value << shift;
  return true;
}

static bool set(const command_t *command, const char *name, uint64_t max, uint64_t *out)
{
  if (parse(optarg, out) && *out <= max) return true;
  command_usage_error(command,
                      "%s %s: must be a whole number from 1 to %llu, with or without K, M, G or T",
                      name, optarg, (unsigned long long)max);
  return false;
}

bool bag_limit_option(const command_t *command, int option, tb_bag_limits_t *limits, int *result)
{
  bool is_right = false;
  switch (option) {
  case BAG_LIMIT_CHUNK:
    is_right = set(command, "--max-chunk-size", UINT32_MAX, &limits->chunk_size);
    break;
  case BAG_LIMIT_OVERLAP:
    is_right = set(command, "--max-overlap-size", INT64_MAX, &limits->overlap_size);
    break;
  case BAG_LIMIT_UNPACKED:
    is_right = set(command, "--max-unpacked-size", INT64_MAX, &limits->unpacked_size);
    break;
  case BAG_LIMIT_FILES:
    is_right = set(command, "--max-files", INT32_MAX, &limits->file_count);
    break;
  default:
    return false;
  }
  *result = is_right ? EXIT_OK : EXIT_USAGE;
  return true;
}
