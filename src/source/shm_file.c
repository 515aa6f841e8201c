#include "source/shm_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "clock/page.h"
#include "source/wake_area.h"

#define NAME_MAX_LENGTH 64
#define MODE_VARIABLE   "TIMEBASE_SHM_MODE"

bool tb__shm_name_is_valid(const char *name)
{
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  size_t length = strlen(name);
  return length > 0 && length <= NAME_MAX_LENGTH && name[0] != '.' &&
         strspn(name, allowed) == length;
}

tb_status_t tb__shm_name_check(const char *name, tb_error_t *error)
{
  if (name && tb__shm_name_is_valid(name)) return TB_OK;
  return tb_error_set(error, TB_ERR_INVALID,
                      "shared-memory name \"%.80s\": use 1 to %d letters, digits, '_', '-' and "
                      "'.', not beginning with '.'",
                      name ? name : "", NAME_MAX_LENGTH);
}

const char *tb__shm_directory(const tb_shm_options_t *options)
{
  return options && options->directory ? options->directory : "/dev/shm";
}

/* Zeros are a page on which nothing has been published yet. */
static tb_status_t page_check(const tb__page_t *page, const char *path, tb_error_t *error)
{
  uint64_t magic = atomic_load(&page->magic), format = atomic_load(&page->format);
  if (magic == 0) return TB_OK;
  if (magic != TB__PAGE_MAGIC)
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "%s: it is not a timebase page; remove it or choose another name", path);
  if (format == TB__PAGE_FORMAT) return TB_OK;
  return tb_error_set(
      error, TB_ERR_VERSION,
      "%s: its format is %llu, and this release supports %d; use one release on both "
      "sides, or remove the file when it is not in use",
      path, (unsigned long long)format, TB__PAGE_FORMAT);
}

static tb_status_t find_mode(const tb_shm_options_t *options, uint32_t *out, tb_error_t *error)
{
  const char *text = options && options->mode ? NULL : secure_getenv(MODE_VARIABLE);
  char *end = NULL;
  unsigned long mode = options && options->mode ? options->mode : 0600;
  if (text && *text) mode = strtoul(text, &end, 8);
  if (mode > 0777 || mode == 0 || (end && *end))
    return tb_error_set(error, TB_ERR_INVALID, "%s%.20s: give permissions only, at most 0777",
                        end ? MODE_VARIABLE "=" : "mode", end ? text : "");
  *out = (uint32_t)mode;
  return TB_OK;
}

char *tb__shm_page_path(const char *name, const tb_shm_options_t *options)
{
  char *path = NULL;
  if (asprintf(&path, "%s/timebase.%s", tb__shm_directory(options), name) < 0) return NULL;
  return path;
}

tb_status_t tb__shm_file_open(tb__shared_file_t *file, const char *name,
                              const tb_shm_options_t *options, bool writable, uint32_t *out_mode,
                              tb_error_t *error)
{
  uint32_t mode = 0;
  tb_status_t status = tb__shm_name_check(name, error);
  if (!status) status = find_mode(options, &mode, error);
  if (status) return status;
  char *path = tb__shm_page_path(name, options);
  if (!path) return tb__no_memory(error);
  status = tb__shared_file_open(file, path, TB__PAGE_SIZE, writable, mode, error);
  if (!status) status = page_check(file->map, path, error);
  if (status) tb__shared_file_close(file);
  if (!status && out_mode) *out_mode = mode;
  free(path);
  return status;
}

char *tb__shm_wake_path(const char *name, const tb_shm_options_t *options)
{
  const char *directory = tb__shm_directory(options);
  size_t size = strlen(directory) + strlen(name) + 32;
  char *path = malloc(size);
  if (path) snprintf(path, size, "%s/timebase-wake%d.%s", directory, TB__WAKE_AREA_FORMAT, name);
  return path;
}
