/* What can be read of a damaged MCAP file: it is recovered into a file without a name, and that is
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/mcap_recover.h"
#include "bag/storage.h"
#include "bag/temporary.h"
#include "base/log.h"

typedef struct salvage_file {
  tb__bag_file_t base;
  tb__bag_file_t *inner;
  char *damage; /* the first loss, or NULL */
  bool failed;  /* to keep it */
} salvage_file_t;

static tb__bag_file_t *inner(tb__bag_file_t *file)
{
  return ((salvage_file_t *)file)->inner;
}

static void salvage_close(tb__bag_file_t *base)
{
  if (!base) return;
  salvage_file_t *file = (salvage_file_t *)base;
  if (file->inner) tb__mcap_storage.close(file->inner);
  free(file->damage);
  free(file);
}

static void on_loss(void *user, const tb__mcap_damage_t *loss)
{
  salvage_file_t *file = user;
  if (file->damage) return;
  file->damage = strdup(loss->text);
  file->failed = !file->damage;
}

/* The messages only where indexes tell how many they were. */
static void tell_loss(const char *path, const tb__mcap_recovery_t *all)
{
  char messages[64] = "";
  if (all->lost_messages > 0)
    snprintf(messages, sizeof messages, " and at least %llu message%s",
             (unsigned long long)all->lost_messages, all->lost_messages == 1 ? "" : "s");
  tb__log(TB_LOG_WARN, "%s: %llu damage%s, %llu bytes%s are lost", path,
          (unsigned long long)all->damages, all->damages == 1 ? "" : "s",
          (unsigned long long)all->lost_bytes, messages);
}

static tb_status_t recover(salvage_file_t *file, const char *path, tb_error_t *error)
{
  const tb__bag_output_options_t options = {0};
  tb__temporary_t copy = {0};
  tb__mcap_recovery_t all;
  tb_status_t status = tb__temporary_make(path, "", &copy, error);
  if (!status) status = tb__mcap_recover(path, copy.path, &options, on_loss, file, &all, error);
  if (!status && file->failed) status = tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  if (!status) status = tb__mcap_storage.open(&tb__mcap_storage, copy.path, &file->inner, error);
  tb__temporary_forget(&copy);
  if (!status && all.damages > 0) tell_loss(path, &all);
  return status;
}

static tb_status_t salvage_open(const tb__bag_storage_t *storage, const char *path,
                                tb__bag_file_t **out, tb_error_t *error)
{
  salvage_file_t *file = calloc(1, sizeof *file);
  if (!file) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  file->base.storage = storage;
  tb_status_t status = recover(file, path, error);
  if (status)
    salvage_close(&file->base);
  else
    *out = &file->base;
  return status;
}

static tb_status_t salvage_read_info(tb__bag_file_t *base, tb__bag_file_info_t *out,
                                     tb_error_t *error)
{
  const salvage_file_t *file = (salvage_file_t *)base;
  tb_status_t status = tb__mcap_storage.read_info(file->inner, out, error);
  if (status || !file->damage) return status;
  out->damage = strdup(file->damage);
  return out->damage ? TB_OK : tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
}

static tb_status_t salvage_count_topics(tb__bag_file_t *base, tb__bag_file_info_t *info,
                                        tb_error_t *error)
{
  return tb__mcap_storage.count_topics(inner(base), info, error);
}

static tb_status_t salvage_seek(tb__bag_file_t *base, int64_t time_ns, tb_error_t *error)
{
  return tb__mcap_storage.seek(inner(base), time_ns, error);
}

static tb_status_t salvage_step(tb__bag_file_t *base, tb__bag_row_t *out, tb_error_t *error)
{
  return tb__mcap_storage.step(inner(base), out, error);
}

static tb_status_t salvage_read_topic(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  return tb__mcap_storage.read_topic(inner(base), row, error);
}

static tb_status_t salvage_read_data(tb__bag_file_t *base, tb__bag_row_t *row, tb_error_t *error)
{
  return tb__mcap_storage.read_data(inner(base), row, error);
}

static tb_status_t salvage_copy_rest(tb__bag_file_t *base, tb__bag_output_t *to, tb_error_t *error)
{
  return tb__mcap_storage.copy_rest(inner(base), to, error);
}

const tb__bag_storage_t tb__mcap_salvage = {
    .id = "mcap",
    .extension = ".mcap",
    .open = salvage_open,
    .close = salvage_close,
    .read_info = salvage_read_info,
    .count_topics = salvage_count_topics,
    .seek = salvage_seek,
    .step = salvage_step,
    .read_topic = salvage_read_topic,
    .read_data = salvage_read_data,
    .copy_rest = salvage_copy_rest,
};
