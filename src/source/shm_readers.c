#include <timebase/shm_readers.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/sized.h"
#include "source/shm_file.h"
#include "source/wake_area.h"

typedef struct reader_list {
  tb_shm_readers_t list; /* first */
  tb_shm_reader_t *readers;
  size_t capacity;
  uint64_t process_namespace, time_namespace; /* of this process */
} reader_list_t;

static bool list_grow(reader_list_t *self)
{
  size_t capacity = self->capacity ? 2 * self->capacity : 16;
  tb_shm_reader_t *readers = realloc(self->readers, capacity * sizeof *readers);
  if (!readers) return false;
  self->readers = readers;
  self->capacity = capacity;
  return true;
}

static tb_status_t list_add(reader_list_t *self, const char *name, const tb__wake_reader_t *reader,
                            tb_error_t *error)
{
  uint64_t process_id = atomic_load(&reader->process_id);
  if (!process_id) return TB_OK; /* it has just taken its slot, or just left it */
  if (self->list.count == self->capacity && !list_grow(self)) return tb__no_memory(error);
  tb_shm_reader_t *added = &self->readers[self->list.count++];
  *added = (tb_shm_reader_t){
      .process_id = process_id,
      .process_namespace = atomic_load(&reader->process_namespace),
      .time_namespace = atomic_load(&reader->time_namespace),
  };
  added->in_process_namespace =
      added->process_namespace && added->process_namespace == self->process_namespace;
  added->in_time_namespace = added->time_namespace && added->time_namespace == self->time_namespace;
  snprintf(added->name, sizeof added->name, "%s", name);
  return TB_OK;
}

static tb_status_t add_area(reader_list_t *self, const tb__shared_file_t *file, const char *name,
                            tb_error_t *error)
{
  const tb__wake_area_t *area = file->map;
  tb_status_t status = TB_OK;
  uint32_t slots = tb__wake_area_slots(file);
  for (uint32_t i = 0; i < slots && !status; i++)
    if (tb__shared_file_byte_is_locked(file, i))
      status = list_add(self, name, &area->readers[i], error);
  return status;
}

static tb_status_t add_name(reader_list_t *self, const char *name, const tb_shm_options_t *options,
                            tb_error_t *error)
{
  char *path = tb__shm_wake_path(name, options);
  if (!path) return tb__no_memory(error);
  tb__shared_file_t file;
  tb_status_t status = tb__shared_file_open_existing(&file, path, TB__WAKE_AREA_SIZE, false);
  if (!status) {
    status = add_area(self, &file, name, error);
    tb__shared_file_close(&file);
  } else if (status == TB_ERR_NO_MEMORY) {
    tb__no_memory(error);
  } else if (status == TB_ERR_CORRUPT || errno == ENOENT) {
    status = TB_OK; /* there is none, or none that any reader uses */
  } else {
    tb_error_set_errno(error, status, errno, "%s: cannot be opened", path);
  }
  free(path);
  return status;
}

/* Files of other users are left out, and whatever else cannot be opened. */
static tb_status_t add_all(reader_list_t *self, const tb_shm_options_t *options, tb_error_t *error)
{
  const char *folder = tb__shm_directory(options);
  char prefix[32];
  int length = snprintf(prefix, sizeof prefix, "timebase-wake%d.", TB__WAKE_AREA_FORMAT);
  DIR *directory = opendir(folder);
  if (!directory)
    return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s: the folder cannot be read", folder);
  tb_status_t status = TB_OK;
  for (const struct dirent *entry; !status && (entry = readdir(directory));) {
    const char *name = entry->d_name + length;
    if (strncmp(entry->d_name, prefix, (size_t)length) != 0 || !tb__shm_name_is_valid(name))
      continue;
    status = add_name(self, name, options, NULL);
    if (status != TB_ERR_NO_MEMORY) status = TB_OK; /* anybody can put anything there */
    if (status) tb__no_memory(error);
  }
  closedir(directory);
  return status;
}

static int by_name(const void *a, const void *b)
{
  return strcmp(((const tb_shm_reader_t *)a)->name, ((const tb_shm_reader_t *)b)->name);
}

tb_status_t tb_shm_readers_create_sized(const char *name, const tb_shm_options_t *options,
                                        size_t options_size, tb_shm_readers_t **out,
                                        tb_error_t *error)
{
  tb_shm_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_shm_options_t");
  if (!out) return tb_error_set(error, TB_ERR_INVALID, "out is NULL");
  tb_status_t status = name ? tb__shm_name_check(name, error) : TB_OK;
  if (status) return status;
  reader_list_t *self = calloc(1, sizeof *self);
  if (!self) return tb__no_memory(error);
  self->process_namespace = tb__process_namespace();
  self->time_namespace = tb__time_namespace();
  status = name ? add_name(self, name, options, error) : add_all(self, options, error);
  if (status) {
    tb_shm_readers_destroy(&self->list);
    return status;
  }
  if (self->list.count) qsort(self->readers, self->list.count, sizeof *self->readers, by_name);
  self->list.readers = self->readers;
  *out = &self->list;
  return TB_OK;
}

void tb_shm_readers_destroy(const tb_shm_readers_t *readers)
{
  reader_list_t *self = (reader_list_t *)readers;
  if (!self) return;
  free(self->readers);
  free(self);
}
