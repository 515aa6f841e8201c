#include "bag/yaml_writer.h"
#include "base/no_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "storage/clean.h"

struct tb__yaml_writer {
  yaml_emitter_t emitter;
  char *bytes; /* with room for a NUL */
  size_t size;
  size_t capacity;
  tb_status_t status;
};

static int append(void *user, unsigned char *bytes, size_t size)
{
  tb__yaml_writer_t *writer = user;
  if (size >= writer->capacity - writer->size) {
    size_t capacity = 2 * writer->capacity + size;
    char *grown = realloc(writer->bytes, capacity);
    if (!grown) return 0;
    writer->bytes = grown;
    writer->capacity = capacity;
  }
  memcpy(writer->bytes + writer->size, bytes, size);
  writer->size += size;
  return 1;
}

/* Takes the event over; `made` is what its initializer returned, which fails for want of memory. */
static void emit(tb__yaml_writer_t *writer, yaml_event_t *event, int made)
{
  if (!made) {
    writer->status = TB_ERR_NO_MEMORY;
  } else if (writer->status) {
    yaml_event_delete(event);
  } else if (!yaml_emitter_emit(&writer->emitter, event)) {
    bool memory =
        writer->emitter.error == YAML_MEMORY_ERROR || writer->emitter.error == YAML_WRITER_ERROR;
    writer->status = memory ? TB_ERR_NO_MEMORY : TB_ERR_INVALID;
  }
}

tb_status_t tb__yaml_writer_create(tb__yaml_writer_t **out, tb_error_t *error)
{
  tb__yaml_writer_t *writer = calloc(1, sizeof *writer);
  if (!writer) return tb__no_memory(error);
  writer->capacity = 1024;
  writer->bytes = malloc(writer->capacity);
  if (!writer->bytes || !yaml_emitter_initialize(&writer->emitter)) {
    free(writer->bytes);
    free(writer);
    return tb__no_memory(error);
  }
  yaml_emitter_set_output(&writer->emitter, append, writer);
  yaml_emitter_set_unicode(&writer->emitter, 1);
  yaml_emitter_set_width(&writer->emitter, -1);
  yaml_event_t event;
  emit(writer, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
  emit(writer, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
  *out = writer;
  return TB_OK;
}

void tb__yaml_open_map(tb__yaml_writer_t *writer)
{
  yaml_event_t event;
  emit(writer, &event,
       yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
}

void tb__yaml_close_map(tb__yaml_writer_t *writer)
{
  yaml_event_t event;
  emit(writer, &event, yaml_mapping_end_event_initialize(&event));
}

void tb__yaml_open_list(tb__yaml_writer_t *writer)
{
  yaml_event_t event;
  emit(writer, &event,
       yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
}

void tb__yaml_close_list(tb__yaml_writer_t *writer)
{
  yaml_event_t event;
  emit(writer, &event, yaml_sequence_end_event_initialize(&event));
}

static void put(tb__yaml_writer_t *writer, const char *text, yaml_scalar_style_t style)
{
  yaml_event_t event;
  emit(writer, &event,
       yaml_scalar_event_initialize(&event, NULL, NULL, (yaml_char_t *)text, -1, 1, 1, style));
}

/* Words and paths that no reader takes for a number, a flag or nothing. */
static bool is_plain(const char *text)
{
  static const char *const special[] = {"null", "true", "false", "yes", "no", "on",
                                        "off",  "y",    "n",     "inf", "nan"};
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_";
  if (!*text || !strchr(letters, *text)) return false;
  for (size_t i = 0; i < sizeof special / sizeof *special; i++)
    if (strcasecmp(text, special[i]) == 0) return false;
  for (const char *c = text; *c; c++)
    if (!strchr(letters, *c) && !strchr("0123456789.-", *c)) return false;
  return true;
}

void tb__yaml_put_text(tb__yaml_writer_t *writer, const char *text)
{
  if (!tb__yaml_can_hold(text)) {
    if (!writer->status) writer->status = TB_ERR_INVALID;
    return;
  }
  put(writer, text, is_plain(text) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

void tb__yaml_put_null(tb__yaml_writer_t *writer)
{
  put(writer, "~", YAML_PLAIN_SCALAR_STYLE);
}

void tb__yaml_put_int(tb__yaml_writer_t *writer, int64_t value)
{
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  put(writer, text, YAML_PLAIN_SCALAR_STYLE);
}

void tb__yaml_put_uint(tb__yaml_writer_t *writer, uint64_t value)
{
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  put(writer, text, YAML_PLAIN_SCALAR_STYLE);
}

void tb__yaml_put_bool(tb__yaml_writer_t *writer, bool value)
{
  put(writer, value ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
}

void tb__yaml_pair(tb__yaml_writer_t *writer, const char *key, const char *text)
{
  tb__yaml_put_text(writer, key);
  tb__yaml_put_text(writer, text);
}

void tb__yaml_pair_int(tb__yaml_writer_t *writer, const char *key, int64_t value)
{
  tb__yaml_put_text(writer, key);
  tb__yaml_put_int(writer, value);
}

void tb__yaml_pair_uint(tb__yaml_writer_t *writer, const char *key, uint64_t value)
{
  tb__yaml_put_text(writer, key);
  tb__yaml_put_uint(writer, value);
}

tb_status_t tb__yaml_writer_finish(tb__yaml_writer_t *writer, char **out, tb_error_t *error)
{
  yaml_event_t event;
  emit(writer, &event, yaml_document_end_event_initialize(&event, 1));
  emit(writer, &event, yaml_stream_end_event_initialize(&event));
  if (!writer->status && !yaml_emitter_flush(&writer->emitter)) writer->status = TB_ERR_NO_MEMORY;
  tb_status_t status = writer->status;
  writer->bytes[writer->size] = '\0';
  if (status)
    free(writer->bytes);
  else
    *out = writer->bytes;
  yaml_emitter_delete(&writer->emitter);
  free(writer);
  if (!status) return TB_OK;
  return tb_error_set(error, status,
                      status == TB_ERR_NO_MEMORY ? "out of memory" : "a string is not UTF-8");
}
