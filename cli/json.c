#include "json.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/text.h>

#include "text.h"

static bool failed; /* some value could not be created */

json_t *text_json(const char *text)
{
  static const char replacement[] = "\xEF\xBF\xBD";
  char *valid = malloc(strlen(text) * (sizeof replacement - 1) + 1);
  char one[TB_TEXT_CHARACTER_SIZE];
  size_t size = 0;
  if (!valid) return NULL;
  for (size_t taken; (taken = tb_text_escape_character(text, one)) > 0; text += taken) {
    bool is_utf8 = taken > 1 || !(*text & 0x80);
    memcpy(valid + size, is_utf8 ? text : replacement, is_utf8 ? taken : sizeof replacement - 1);
    size += is_utf8 ? taken : sizeof replacement - 1;
  }
  json_t *string = json_stringn(valid, size);
  free(valid);
  return string;
}

json_t *json_to_iterate(const json_t *object)
{
  union {
    const json_t *in;
    json_t *out;
  } of = {.in = object};
  return of.out;
}

bool json_is_whole(void)
{
  return !failed;
}

void json_put(json_t *object, const char *key, json_t *value)
{
  failed |= json_object_set_new(object, key, value) != 0;
}

void json_push(json_t *array, json_t *value)
{
  failed |= json_array_append_new(array, value) != 0;
}

/* The fewest digits that read back as the same numbers: 0.1, not 0.10000000000000001. */
static char *dump(const json_t *root, size_t flags)
{
  for (size_t digits = 15;; digits++) {
    char *text = json_dumps(root, flags | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(digits));
    json_t *again = text && digits < 17 ? json_loads(text, 0, NULL) : NULL;
    bool is_exact = !text || digits >= 17 || json_equal(root, again);
    json_decref(again);
    if (is_exact) return text;
    free(text);
  }
}

/* DEL is ASCII, but a control character. */
static void print_without_del(char *text)
{
  for (char *del; (del = strchr(text, 0x7F)); text = del + 1) {
    *del = '\0';
    text_own(stdout, text);
    text_own(stdout, "\\u007f");
  }
  text_own(stdout, text);
  text_own(stdout, "\n");
}

bool json_print(json_t *root, size_t flags)
{
  char *text = root ? dump(root, flags) : NULL;
  json_decref(root);
  if (text) print_without_del(text);
  free(text);
  return text;
}

int json_finish(const command_t *command, json_t *root, int status)
{
  if (!failed && json_print(root, 0)) return status;
  if (failed) json_decref(root);
  return command_failed(command, TB_ERR_NO_MEMORY, NULL);
}
