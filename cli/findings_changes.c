#include "findings_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "text.h"

void findings_changes_fini(findings_changes_t *changes)
{
  for (size_t i = 0; i < changes->count; i++) {
    free(changes->keys[i]);
    free(changes->titles[i]);
  }
  free(changes->keys);
  free(changes->titles);
  changes->keys = changes->titles = NULL;
  changes->count = 0;
}

/* The finding is the same while its rule, its severity and its subjects are. */
static char *key_of(const tb__finding_t *finding)
{
  char *key = NULL;
  size_t size;
  FILE *stream = open_memstream(&key, &size);
  if (!stream) return NULL;
  text_to(stream, "%s %s", tb__severity_name(finding->severity), finding->rule->id);
  for (size_t i = 0; i < finding->subject_count; i++) {
    text_to(stream, "\n");
    text_to(stream, "%s", finding->subjects[i].name);
  }
  text_to(stream, "\n\n");
  text_to(stream, "%s", finding->cause ? finding->cause : "");
  return fclose(stream) == 0 ? key : NULL;
}

static char *title_of(const tb__finding_t *finding)
{
  char title[TB__FINDING_TEXT_SIZE], *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return NULL;
  tb__finding_title(finding, title, sizeof title);
  text_to(stream, "%s %s: ", tb__severity_name(finding->severity), finding->rule->id);
  text_to(stream, "%s", title);
  return fclose(stream) == 0 ? text : NULL;
}

/* False: no memory. */
static bool changes_take(const tb__findings_t *findings, findings_changes_t *out)
{
  size_t count = tb__findings_count(findings);
  *out = (findings_changes_t){0};
  out->keys = calloc(count + 1, sizeof *out->keys);
  out->titles = calloc(count + 1, sizeof *out->titles);
  if (!out->keys || !out->titles) return false;
  out->count = count;
  for (size_t i = 0; i < count; i++) {
    out->keys[i] = key_of(tb__findings_at(findings, i));
    out->titles[i] = title_of(tb__findings_at(findings, i));
    if (!out->keys[i] || !out->titles[i]) return false;
  }
  return true;
}

static bool has_key(const findings_changes_t *changes, const char *key)
{
  for (size_t i = 0; i < changes->count; i++)
    if (strcmp(changes->keys[i], key) == 0) return true;
  return false;
}

/* What `some` has and `others` lack. */
static size_t print_lacking(const findings_changes_t *some, const findings_changes_t *others,
                            const char *sign, json_t *out)
{
  size_t count = 0;
  for (size_t i = 0; i < some->count; i++) {
    if (has_key(others, some->keys[i])) continue;
    count++;
    if (out)
      json_push(out, json_string(some->titles[i]));
    else
      text_out("%s %s\n", sign, some->titles[i]);
  }
  return count;
}

/* Releases the two lists, or prints them with the round. */
static int report_json(const findings_report_t *report, json_t *come, json_t *gone, bool is_wanted)
{
  if (!is_wanted) {
    json_decref(come);
    json_decref(gone);
    return EXIT_OK;
  }
  json_t *root = report->json(report->user);
  json_put(root, "come", come);
  json_put(root, "gone", gone);
  return json_finish(report->command, root, EXIT_OK);
}

int findings_changes_report(findings_changes_t *changes, const findings_report_t *report,
                            const tb__findings_t *findings, bool json)
{
  findings_changes_t now;
  json_t *come = json ? json_array() : NULL, *gone = json ? json_array() : NULL;
  bool is_first = changes->rounds == 0;
  int result = EXIT_OK;
  if (!changes_take(findings, &now)) {
    findings_changes_fini(&now);
    json_decref(come);
    json_decref(gone);
    return command_failed(report->command, TB_ERR_NO_MEMORY, NULL);
  }
  now.rounds = changes->rounds + 1;
  if (is_first && !json) report->text(report->user);
  if (!is_first || json) {
    size_t count = print_lacking(&now, changes, "+", come);
    count += print_lacking(changes, &now, "-", gone);
    if (json) result = report_json(report, come, gone, is_first || count);
  }
  findings_changes_fini(changes);
  *changes = now;
  return result;
}
