#include "bag_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define NOTE_SIZE 512 /* enough for five numbers */

bool bag_note_is_of_making(const char *key)
{
  return strncmp(key, BAG_MADE_PREFIX, strlen(BAG_MADE_PREFIX)) == 0;
}

/* Under its key, or "KEY (2)" and so on where that is another note's. True in *out_renamed then. */
static tb_status_t copy_note(bag_copy_t *copy, const tb_bag_note_t *note, bool *out_renamed,
                             tb_error_t *error)
{
  char *key = strdup(note->key);
  const char *there = NULL;
  for (unsigned number = 2; key && (there = tb_bag_writer_get_custom_data(copy->writer, key)) &&
                            strcmp(there, note->value) != 0;
       number++) {
    free(key);
    if (asprintf(&key, "%s (%u)", note->key, number) < 0) key = NULL;
  }
  if (!key) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  tb_status_t status = TB_OK;
  *out_renamed = !there && strcmp(key, note->key) != 0;
  if (!there) status = tb_bag_writer_set_custom_data(copy->writer, key, note->value, error);
  free(key);
  return status;
}

tb_status_t bag_notes_copy(bag_copy_t *copy, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  const char *first = NULL; /* that was there already, with another value */
  size_t count = 0;
  for (size_t i = 0; i < info->note_count; i++) {
    bool renamed = false;
    tb_status_t status = copy_note(copy, &info->notes[i], &renamed, error);
    if (status) return status;
    if (renamed && !bag_note_is_of_making(info->notes[i].key) && count++ == 0)
      first = info->notes[i].key;
  }
  if (count > 0)
    text_err("timebase %s: %zu note%s (%s%s) differ%s from another recording's: kept as well, as "
             "'%s (2)'\n",
             copy->command->name, count, bag_plural(count), first, count > 1 ? ", ..." : "",
             count > 1 ? "" : "s", first);
  return TB_OK;
}

/* So that the copy itself notes that it is incomplete or doubtful. */
static tb_status_t note_losses(bag_copy_t *copy, tb_error_t *error)
{
  bool renamed;
  const tb_bag_note_t note = {"recovered", *copy->damage ? copy->damage : copy->failure};
  const tb_bag_note_t other = {"recovered", "from a damaged recording"};
  if (!copy->notes_losses || !*note.value) return TB_OK;
  tb_status_t status = copy_note(copy, &note, &renamed, error);
  return status == TB_ERR_INVALID ? copy_note(copy, &other, &renamed, error) : status;
}

/* Only where the recording says how it was made. Without a time, so that the same copy is the same
 * file. */
static tb_status_t note_rewriting(bag_copy_t *copy, tb_error_t *error)
{
  char text[NOTE_SIZE];
  bool renamed;
  int at;
  const char *verb = strrchr(copy->command->name, ' ');
  if (!tb_bag_writer_get_custom_data(copy->writer, BAG_MADE_PREFIX "recorder")) return TB_OK;
  at = snprintf(text, sizeof text, "verb=%s messages=%" PRIu64,
                verb ? verb + 1 : copy->command->name, copy->copied);
  if (copy->start_ns > 0)
    at += snprintf(text + at, sizeof text - (size_t)at, " start_ns=%" PRId64, copy->start_ns);
  if (copy->end_ns != INT64_MAX)
    at += snprintf(text + at, sizeof text - (size_t)at, " end_ns=%" PRId64, copy->end_ns);
  if (copy->latched > 0)
    at += snprintf(text + at, sizeof text - (size_t)at, " latched=%" PRIu64, copy->latched);
  if (copy->failures > 0)
    at += snprintf(text + at, sizeof text - (size_t)at, " failures=%" PRIu64, copy->failures);
  snprintf(text + at, sizeof text - (size_t)at, " by=timebase " TB_VERSION);
  const tb_bag_note_t note = {BAG_MADE_PREFIX "rewritten", text};
  return copy_note(copy, &note, &renamed, error);
}

tb_status_t bag_notes_add(bag_copy_t *copy, tb_error_t *error)
{
  tb_status_t status = note_rewriting(copy, error);
  return status ? status : note_losses(copy, error);
}
