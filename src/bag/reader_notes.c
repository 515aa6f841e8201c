/* Texts of the info that do not come with the topics: notes, the distribution of ROS, oddities. */
#include <stdlib.h>
#include <string.h>

#include "bag/reader.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "storage/clean.h"

static const tb__yaml_node_t *first_note(const tb__bag_part_t *part)
{
  const tb__yaml_node_t *custom =
      part->location.has_metadata ? part->location.metadata.custom : part->own.custom;
  return custom ? custom->first : NULL;
}

/* What the recorder noted may hold anything: also what no metadata.yaml can. */
static tb_status_t fill_note(tb_bag_reader_t *reader, const tb__bag_part_t *part,
                             const tb__yaml_node_t *node, tb_error_t *error)
{
  bool changed = false;
  char *key = tb__bag_clean(node->key, strlen(node->key), &changed);
  char *value = tb__bag_clean(node->text, strlen(node->text), &changed);
  if (!key || !value) {
    free(key);
    free(value);
    return tb__no_memory(error);
  }
  if (changed)
    tb__log(TB_LOG_WARN,
            "%s: note %.100s has characters that are not text; it is read as \"%.200s\"",
            part->location.path, key, value);
  reader->notes[reader->info.note_count++] = (tb_bag_note_t){key, value};
  return TB_OK;
}

static tb_status_t fill_notes(tb_bag_reader_t *reader, tb_error_t *error)
{
  size_t count = 0;
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < reader->part_count; i++)
    for (const tb__yaml_node_t *node = first_note(&reader->parts[i]); node; node = node->next)
      count++;
  reader->notes = calloc(count + 1, sizeof *reader->notes);
  if (!reader->notes) return tb__no_memory(error);
  reader->info.notes = reader->notes;
  for (size_t i = 0; i < reader->part_count; i++)
    for (const tb__yaml_node_t *node = first_note(&reader->parts[i]); node && !status;
         node = node->next)
      if (tb__yaml_text(node) && !tb__bag_is_run_note(node->key)) /* what is no text: not for us */
        status = fill_note(reader, &reader->parts[i], node, error);
  return status;
}

static tb_status_t fill_distro(tb_bag_reader_t *reader, tb_error_t *error)
{
  const tb__bag_part_t *part = &reader->parts[0];
  const char *text =
      part->location.has_metadata ? part->location.metadata.ros_distro : part->own.ros_distro;
  if (!text) text = "";
  if (reader->ros_distro) text = reader->ros_distro;
  char *clean = tb__bag_clean(text, strlen(text), NULL);
  if (!clean) return tb__no_memory(error);
  free(reader->ros_distro);
  reader->info.ros_distro = reader->ros_distro = clean;
  return TB_OK;
}

static tb_status_t fill_oddities(tb_bag_reader_t *reader, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < reader->part_count && !status; i++)
    if (reader->parts[i].location.oddity)
      status = tb__topic_table_note(&reader->table, reader->parts[i].location.oddity, error);
  reader->info.oddities = (const char *const *)reader->table.oddities;
  reader->info.oddity_count = reader->table.oddity_count;
  return status;
}

tb_status_t tb__bag_reader_fill_texts(tb_bag_reader_t *reader, tb_error_t *error)
{
  tb_status_t status = fill_distro(reader, error);
  for (size_t i = 0; i < reader->part_count; i++)
    if (reader->parts[i].location.notice)
      tb__log(TB_LOG_WARN, "%s", reader->parts[i].location.notice);
  if (!status) status = fill_oddities(reader, error);
  return status ? status : fill_notes(reader, error);
}

void tb__bag_reader_free_texts(tb_bag_reader_t *reader)
{
  for (size_t i = 0; i < reader->info.note_count; i++) {
    free((char *)reader->notes[i].key);
    free((char *)reader->notes[i].value);
  }
  free(reader->notes);
  free(reader->ros_distro);
  free(reader->library);
}
