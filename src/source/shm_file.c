#include "source/shm_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/page.h"
#include "source/wake_area.h"

#define NAME_MAX_LENGTH 64

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

tb_status_t tb__shm_file_open(tb__shared_file_t *file, const char *name,
                              const tb_shm_options_t *options, bool writable, tb_error_t *error)
{
  tb_shm_options_t defaults = TB_SHM_OPTIONS_INIT;
  if (!options) options = &defaults;
  tb_status_t status = tb__shm_name_check(name, error);
  if (status) return status;
  if (options->mode > 0777)
    return tb_error_set(error, TB_ERR_INVALID, "mode 0%o: give permissions only, at most 0777",
                        options->mode);
  char path[4096];
  const char *directory = tb__shm_directory(options);
  if ((size_t)snprintf(path, sizeof path, "%s/timebase.%s", directory, name) >= sizeof path)
    return tb_error_set(error, TB_ERR_INVALID, "the directory \"%.40s...\" is too long", directory);
  status = tb__shared_file_open(file, path, TB__PAGE_SIZE, writable,
                                options->mode ? options->mode : 0600, error);
  if (!status) status = page_check(file->map, path, error);
  if (status) tb__shared_file_close(file);
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
