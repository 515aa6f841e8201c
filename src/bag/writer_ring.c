/* A recording that keeps its newest files: the oldest ones make room. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bag/run_note.h"
#include "bag/writer.h"
#include "base/no_memory.h"
#include "base/saturate.h"

bool tb__writer_is_ring(const tb_bag_writer_t *writer)
{
  const tb_bag_writer_options_t *options = &writer->options;
  return options->max_files > 0 || options->max_total_size > 0 ||
         options->max_total_duration.ns > 0;
}

tb_status_t tb__writer_remember_file(tb_bag_writer_t *writer, tb_error_t *error)
{
  tb__written_file_t *file = tb__writer_file(writer);
  struct stat info;
  if (file->counts) return TB_OK;
  char *path = tb__writer_path(writer, file->name);
  uint64_t *counts = calloc(writer->topic_count + 1, sizeof *counts);
  if (path && counts) {
    for (size_t i = 0; i < writer->topic_count; i++)
      counts[i] = writer->topics[i].in_file;
    file->count = writer->topic_count;
    file->counts = counts;
    file->size = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
  } else {
    free(counts);
  }
  free(path);
  return file->counts ? TB_OK : tb__no_memory(error);
}

/* --- runs, whose notes have indexes of files --- */

static bool find_first_file(const tb_bag_writer_t *writer, size_t run, size_t *out)
{
  char key[64];
  snprintf(key, sizeof key, TB__RUN_KEY_PREFIX "%zu", run);
  const char *value = tb_bag_writer_get_custom_data(writer, key);
  size_t length = strlen(TB__RUN_VALUE);
  if (!value || strncmp(value, TB__RUN_VALUE, length) != 0) return false;
  *out = strtoull(value + length, NULL, 10);
  return true;
}

static void forget_last_run(tb_bag_writer_t *writer)
{
  char key[64];
  snprintf(key, sizeof key, TB__RUN_KEY_PREFIX "%zu", writer->run_count + 1);
  for (size_t i = 0; i < writer->custom_count; i++) {
    tb__bag_custom_t *note = &writer->custom[i];
    if (strcmp(note->key, key) != 0) continue;
    free(note->key);
    free(note->value);
    memmove(note, note + 1, (--writer->custom_count - i) * sizeof *note);
    break;
  }
  writer->run_count--;
}

tb_status_t tb__writer_renumber_runs(tb_bag_writer_t *writer, size_t removed, tb_error_t *error)
{
  char key[64], value[64];
  size_t first = 0, before = 0, gone = 0;
  tb_status_t status = TB_OK;
  if (writer->format->is_file) return TB_OK;
  for (size_t run = 2; run <= writer->run_count + 1 && !status; run++) {
    if (!find_first_file(writer, run, &first)) continue;
    if (before == removed && first == removed + 1) gone++; /* it was all of the run before */
    before = first;
    snprintf(key, sizeof key, TB__RUN_KEY_PREFIX "%zu", run - gone);
    snprintf(value, sizeof value, TB__RUN_VALUE "%zu", first - (first > removed));
    if (run - gone > 1) status = tb_bag_writer_set_custom_data(writer, key, value, error);
  }
  for (; gone > 0; gone--)
    forget_last_run(writer);
  return status;
}

/* --- removing --- */

tb_status_t tb__writer_remove_oldest(tb_bag_writer_t *writer, tb_error_t *error)
{
  tb__written_file_t oldest = writer->files[0];
  tb_status_t status = tb__writer_renumber_runs(writer, 0, error);
  if (status) return status;
  for (size_t i = 0; i < oldest.count; i++) {
    writer->topics[i].count -= oldest.counts[i];
    writer->topics[i].removed += oldest.counts[i];
  }
  memmove(writer->files, writer->files + 1, --writer->file_count * sizeof *writer->files);
  writer->removed_count++;
  status = tb__writer_save_metadata(writer, error); /* which lists no file that is not there */
  if (!status) unlinkat(writer->folder, oldest.name, 0);
  free(oldest.name);
  free(oldest.counts);
  return status;
}

/* Of the files that are closed. */
static void sum_up(const tb_bag_writer_t *writer, uint64_t *out_size, int64_t *out_duration_ns)
{
  *out_size = 0;
  *out_duration_ns = 0;
  for (size_t i = 0; i + 1 < writer->file_count; i++) {
    const tb__bag_extent_t *extent = &writer->files[i].extent;
    *out_size += writer->files[i].size;
    *out_duration_ns =
        tb__add_saturated(*out_duration_ns, tb__sub_saturated(extent->end_ns, extent->start_ns));
  }
}

/* With room for the file that has begun, as far as it is known how large that may be. */
static bool is_over(const tb_bag_writer_t *writer)
{
  const tb_bag_writer_options_t *options = &writer->options;
  uint64_t size;
  int64_t duration_ns;
  sum_up(writer, &size, &duration_ns);
  if (options->max_files > 0 && writer->file_count > options->max_files) return true;
  if (options->max_total_size > 0 &&
      (size > options->max_total_size || options->max_size > options->max_total_size - size))
    return true;
  return options->max_total_duration.ns > 0 &&
         duration_ns > options->max_total_duration.ns - options->max_duration.ns;
}

tb_status_t tb__writer_make_room(tb_bag_writer_t *writer, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  while (!status && tb__writer_is_ring(writer) && writer->file_count > 1 && is_over(writer))
    status = tb__writer_remove_oldest(writer, error);
  return status;
}
