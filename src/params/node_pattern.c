#include "params/node_pattern.h"

#include <stddef.h>
#include <string.h>

#include "wire/names.h"

typedef struct part {
  const char *text; /* NULL: no part */
  size_t length;
} part_t;

/* The part that begins at `text`, or after it if it points to a '/'. */
static part_t part_at(const char *text)
{
  text += *text == '/';
  part_t part = {*text ? text : NULL, strcspn(text, "/")};
  return part;
}

static part_t part_after(part_t part)
{
  return part_at(part.text + part.length);
}

static bool part_is(part_t part, const char *text)
{
  return part.text && part.length == strlen(text) && memcmp(part.text, text, part.length) == 0;
}

bool tb__node_pattern_matches(const char *pattern, const char *full_name)
{
  part_t wanted = part_at(pattern), name = part_at(full_name);
  part_t retry = {NULL, 0}, retry_name = {NULL, 0}; /* after the last '**' */
  bool can_retry = false;
  while (name.text) {
    if (part_is(wanted, "**")) {
      wanted = retry = part_after(wanted);
      retry_name = name;
      can_retry = true;
    } else if (wanted.text &&
               (part_is(wanted, "*") || (wanted.length == name.length &&
                                         memcmp(wanted.text, name.text, name.length) == 0))) {
      wanted = part_after(wanted);
      name = part_after(name);
    } else if (can_retry) {
      wanted = retry;
      name = retry_name = part_after(retry_name);
    } else {
      return false;
    }
  }
  while (part_is(wanted, "**"))
    wanted = part_after(wanted);
  return !wanted.text;
}

/* Each part is a name that a node may have, or a wildcard. */
static tb_status_t check_part(const char *pattern, part_t part, tb_error_t *error)
{
  char name[TB__DDS_NAME_SIZE];
  if (part_is(part, "*") || part_is(part, "**")) return TB_OK;
  if (part.length >= sizeof name)
    return tb_error_set(error, TB_ERR_INVALID, "node '%.60s...': a part is too long", pattern);
  memcpy(name, part.text, part.length);
  name[part.length] = '\0';
  tb_error_t detail = TB_ERROR_INIT;
  if (!tb__node_name_check(name, &detail)) return TB_OK;
  return tb_error_set(error, TB_ERR_INVALID,
                      "node '%.200s': its parts are names, '*' or '**', and '%.80s' is not one",
                      pattern, name);
}

tb_status_t tb__node_pattern_check(const char *pattern, tb_error_t *error)
{
  part_t part = part_at(pattern);
  if (!part.text) return tb_error_set(error, TB_ERR_INVALID, "node '%s': no name", pattern);
  while (part.text) {
    tb_status_t status = check_part(pattern, part, error);
    if (status) return status;
    const char *end = part.text + part.length;
    if (*end == '/' && end[1] == '\0')
      return tb_error_set(error, TB_ERR_INVALID, "node '%.200s': ends with '/'", pattern);
    part = part_at(end);
  }
  return TB_OK;
}
