/* The texts of rules with their places filled in. */
#include <stdio.h>
#include <string.h>

#include "contract/finding.h"

#define LISTED_MAX    5  /* of {list} */
#define COMMANDED_MAX 20 /* of {subjects} */

/* As snprintf: counts what does not fit. */
typedef struct output {
  char *buffer;
  size_t size, length;
  bool is_command;
} output_t;

static void put_bytes(output_t *out, const char *bytes, size_t count)
{
  if (out->length < out->size) {
    size_t room = out->size - out->length - 1;
    size_t copied = count < room ? count : room;
    memcpy(out->buffer + out->length, bytes, copied);
    out->buffer[out->length + copied] = '\0';
  }
  out->length += count;
}

static void put(output_t *out, const char *text)
{
  put_bytes(out, text, strlen(text));
}

static bool is_plain(const char *name)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.";
  return *name && name[strspn(name, plain)] == '\0';
}

/* A command is made to be pasted into a shell, and names come from others. */
static void put_name(output_t *out, const char *name)
{
  if (!out->is_command || is_plain(name)) {
    put(out, name);
    return;
  }
  put(out, "'");
  for (; *name; name++) {
    if (*name == '\'')
      put(out, "'\\''");
    else
      put_bytes(out, name, 1);
  }
  put(out, "'");
}

static void put_number(output_t *out, uint64_t number)
{
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  put(out, text);
}

static void put_names(output_t *out, const tb__finding_t *finding, size_t most, const char *between)
{
  size_t count = finding->subject_count < most ? finding->subject_count : most;
  for (size_t i = 0; i < count; i++) {
    if (i) put(out, between);
    put_name(out, finding->subjects[i].name);
  }
}

static void put_list(output_t *out, const tb__finding_t *finding)
{
  uint64_t count = tb__finding_subject_count(finding);
  put_names(out, finding, LISTED_MAX, ", ");
  if (count <= LISTED_MAX) return;
  put(out, " and ");
  put_number(out, count - (finding->subject_count < LISTED_MAX ? finding->subject_count
                                                               : (uint64_t)LISTED_MAX));
  put(out, " more");
}

/* Topics and transforms are of nodes, not of the /clock or the parameter that is their cause. */
static bool is_of_node(const tb__finding_t *finding)
{
  const tb__finding_t *below = finding->below;
  return finding->cause && !(below && (below->subjects[0].kind == TB__SUBJECT_CLOCK ||
                                       below->subjects[0].kind == TB__SUBJECT_PARAMETER));
}

/* Returns the length of the place at `text`, 0: there is none. */
static size_t put_place(output_t *out, const tb__finding_t *finding, const char *text)
{
  static const char *const places[] = {"{subject}", "{subjects}", "{list}",
                                       "{count}",   "{of}",       "{detail}"};
  size_t place = 0;
  while (place < 6 && strncmp(text, places[place], strlen(places[place])) != 0)
    place++;
  if (place == 6) return 0;
  switch (place) {
  case 0:
    put_name(out, finding->subjects[0].name);
    break;
  case 1:
    put_names(out, finding, COMMANDED_MAX, " ");
    break;
  case 2:
    put_list(out, finding);
    break;
  case 3:
    put_number(out, tb__finding_subject_count(finding));
    break;
  case 4:
    if (is_of_node(finding)) put(out, " of ");
    if (is_of_node(finding)) put_name(out, finding->cause);
    break;
  default:
    if (finding->subjects[0].detail) put_name(out, finding->subjects[0].detail);
  }
  return strlen(places[place]);
}

size_t tb__finding_text(const tb__finding_t *finding, const char *text, bool is_command,
                        char *buffer, size_t size)
{
  output_t out = {buffer, size, 0, is_command};
  if (size) *buffer = '\0';
  while (*text) {
    size_t length = *text == '{' ? put_place(&out, finding, text) : 0;
    if (!length) {
      put_bytes(&out, text, 1);
      length = 1;
    }
    text += length;
  }
  return out.length;
}

size_t tb__finding_title(const tb__finding_t *finding, char *buffer, size_t size)
{
  const tb__rule_t *rule = finding->rule;
  const char *text = tb__finding_subject_count(finding) == 1 ? rule->one : rule->many;
  return tb__finding_text(finding, text, false, buffer, size);
}

tb__remedies_t tb__finding_remedies(const tb__finding_t *finding)
{
  const tb__rule_t *rule = finding->rule;
  const tb__remedies_t *ros1 = finding->is_ros1 ? tb__rule_ros1(finding->id) : NULL;
  if (ros1) return *ros1;
  return (tb__remedies_t){rule->remedy_ros, rule->remedy_timebase, rule->remedy_launch};
}

const char *tb__subject_kind_name(tb__subject_kind_t kind)
{
  static const char *const names[] = {"node", "topic",   "clock",     "frame",
                                      "host", "process", "recording", "parameter"};
  return names[(unsigned)kind <= TB__SUBJECT_PARAMETER ? kind : 0];
}

bool tb__rule_find(const char *id, tb__rule_id_t *out)
{
  for (int i = 0; i < TB__RULE_COUNT; i++)
    if (strcmp(tb__rule((tb__rule_id_t)i)->id, id) == 0) {
      *out = (tb__rule_id_t)i;
      return true;
    }
  return false;
}

const char *tb__severity_name(tb__severity_t severity)
{
  static const char *const names[] = {"none", "note", "warn", "error"};
  return names[(unsigned)severity <= TB__SEVERITY_ERROR ? severity : 0];
}
