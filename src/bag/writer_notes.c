/* The custom data of metadata.yaml, and the notes of runs in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/run_note.h"
#include "bag/writer.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "storage/clean.h"

#define NOTE_SIZE 64

static tb__bag_custom_t *find_custom(const tb_bag_writer_t *writer, const char *key)
{
  for (size_t i = 0; i < writer->custom_count; i++)
    if (strcmp(writer->custom[i].key, key) == 0) return &writer->custom[i];
  return NULL;
}

const char *tb_bag_writer_get_custom_data(const tb_bag_writer_t *writer, const char *key)
{
  const tb__bag_custom_t *there = key ? find_custom(writer, key) : NULL;
  return there ? there->value : NULL;
}

tb_status_t tb_bag_writer_set_custom_data(tb_bag_writer_t *writer, const char *key,
                                          const char *value, tb_error_t *error)
{
  if (!writer || !key || !value) return tb__null_argument(error, __func__);
  if (!key || !value || !tb__yaml_can_hold(key) || !tb__yaml_can_hold(value))
    return tb_error_set(error, TB_ERR_INVALID, "a key or value is not UTF-8");
  char *new_value = strdup(value);
  if (!new_value) return tb__no_memory(error);
  tb__bag_custom_t *there = find_custom(writer, key);
  if (there) {
    free(there->value);
    there->value = new_value;
    return TB_OK;
  }
  char *new_key = strdup(key);
  tb__bag_custom_t *custom =
      new_key ? reallocarray(writer->custom, writer->custom_count + 1, sizeof *custom) : NULL;
  if (!custom) {
    free(new_key);
    free(new_value);
    return tb__no_memory(error);
  }
  writer->custom = custom;
  custom[writer->custom_count++] = (tb__bag_custom_t){new_key, new_value};
  return TB_OK;
}

/* Noted before the file ends, so that no metadata lacks it. */
tb_status_t tb_bag_writer_begin_run(tb_bag_writer_t *writer, tb_error_t *error)
{
  if (!writer) return tb__null_argument(error, __func__);
  char key[NOTE_SIZE], value[NOTE_SIZE];
  bool is_empty = writer->output && tb__writer_file(writer)->extent.message_count == 0;
  size_t first_file = writer->file_count - is_empty;
  if (first_file == 0) return TB_OK;
  if (writer->format->is_file) { /* there the order of messages shows it */
    writer->run_count++;
    return TB_OK;
  }
  snprintf(key, sizeof key, TB__RUN_KEY_PREFIX "%zu", writer->run_count + 2);
  snprintf(value, sizeof value, TB__RUN_VALUE "%zu", first_file);
  tb_status_t status = tb_bag_writer_set_custom_data(writer, key, value, error);
  if (status) return status;
  writer->run_count++;
  return is_empty ? tb__writer_save_metadata(writer, error) : tb_bag_writer_split(writer, error);
}
