#include "contract/recording_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "contract/durations.h"

#define PREFIX    "timebase."
#define ITEMS_MAX 1000

/* The value after "NAME=", up to the next space; NULL: there is none. */
static const char *field(const char *text, const char *name, size_t *out_length)
{
  size_t size = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += size) {
    if ((at != text && at[-1] != ' ') || at[size] != '=') continue;
    *out_length = strcspn(at + size + 1, " ");
    return at + size + 1;
  }
  return NULL;
}

/* 0: there is none. */
static int64_t number(const char *text, const char *name)
{
  size_t length = 0;
  const char *value = field(text, name, &length);
  return value ? strtoll(value, NULL, 10) : 0;
}

static bool is_word(const char *text, const char *name, const char *word)
{
  size_t length = 0;
  const char *value = field(text, name, &length);
  return value && length == strlen(word) && memcmp(value, word, length) == 0;
}

/* `subject` may be NULL. */
static tb__made_t *add(tb__recording_made_t *made, tb__rule_id_t rule, const char *subject,
                       size_t length)
{
  if (made->count == ITEMS_MAX) return NULL;
  char *copy = subject ? strndup(subject, length) : NULL;
  tb__made_t *items = reallocarray(made->items, made->count + 1, sizeof *items);
  if (items) made->items = items;
  if (!items || (subject && !copy)) {
    free(copy);
    made->status = TB_ERR_NO_MEMORY;
    return NULL;
  }
  items[made->count] = (tb__made_t){.rule = rule, .subject = copy};
  return &items[made->count++];
}

static void note_loss(tb__recording_made_t *made, const char *topic, const char *value)
{
  const char *end = strstr(topic, " ("); /* of several recordings */
  tb__made_t *item =
      add(made, TB__RULE_MESSAGES_LOST, topic, end ? (size_t)(end - topic) : strlen(topic));
  if (!item) return;
  long long way = number(value, "on_the_way"), queue = number(value, "in_queue"),
            file = number(value, "in_file");
  snprintf(item->text, sizeof item->text,
           "%lld lost on the way, %lld in the recorder's queue, %lld by the file system; from %s "
           "to %s",
           way, queue, file, tb__moment_text(number(value, "first_at_ns")).text,
           tb__moment_text(number(value, "last_at_ns")).text);
}

static void note_event(tb__recording_made_t *made, const char *value)
{
  int64_t paused_ns = number(value, "paused_ns"), at_ns = number(value, "at_ns");
  if (!is_word(value, "event", "resumed") || paused_ns <= 0 || number(value, "messages") <= 0)
    return;
  tb__made_t *item = add(made, TB__RULE_RECORDING_PAUSED, NULL, 0);
  if (!item) return;
  item->from_ns = tb__sub_saturated(at_ns, paused_ns);
  item->end_ns = at_ns;
  snprintf(item->text, sizeof item->text, "nothing was recorded for %s, from %s on",
           tb__duration_text(paused_ns).text, tb__moment_text(item->from_ns).text);
}

static void note_sync(tb__recording_made_t *made, const char *when, const char *value)
{
  if (!is_word(value, "synchronized", "no")) return;
  tb__made_t *item = add(made, TB__RULE_RECORDER_UNSYNCHRONIZED, NULL, 0);
  if (item)
    snprintf(item->text, sizeof item->text, "at the %.5s of the recording (adjtimex)", when);
}

/* It comes before the publishers. */
static void note_host(tb__recording_made_t *made, const char *value)
{
  free(made->host);
  made->host = strdup(value);
  if (!made->host) made->status = TB_ERR_NO_MEMORY;
}

static void note_publisher(tb__recording_made_t *made, const char *value)
{
  size_t length = 0;
  const char *host = field(value, "host", &length);
  if (!host) return;
  if (made->host && (strlen(made->host) != length || memcmp(made->host, host, length) != 0))
    made->has_hosts = true;
}

static void note_log_time(tb__recording_made_t *made, const char *value)
{
  made->is_of_sending = strcmp(value, "source") == 0;
  made->is_system_time = made->is_of_sending || strcmp(value, "receive") == 0;
}

void tb__recording_made_note(tb__recording_made_t *made, const char *key, const char *value)
{
  size_t length = strlen(PREFIX);
  if (strncmp(key, PREFIX, length) != 0) return;
  key += length;
  if (strncmp(key, "lost.", 5) == 0)
    note_loss(made, key + 5, value);
  else if (strncmp(key, "event.", 6) == 0)
    note_event(made, value);
  else if (strncmp(key, "clock.", 6) == 0)
    note_sync(made, key + 6, value);
  else if (strncmp(key, "publisher.", 10) == 0)
    note_publisher(made, value);
  else if (strcmp(key, "host") == 0)
    note_host(made, value);
  else if (strcmp(key, "log_time") == 0)
    note_log_time(made, value);
  else if (strncmp(key, "log_time (", 10) == 0) /* of another recording */
    made->is_system_time = false;
}

void tb__recording_made_fini(tb__recording_made_t *made)
{
  for (size_t i = 0; i < made->count; i++)
    free(made->items[i].subject);
  free(made->items);
  free(made->host);
}
