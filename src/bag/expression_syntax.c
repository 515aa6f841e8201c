#include "bag/expression_syntax.h"
#include "base/no_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_GROUP SIZE_MAX
#define DIGITS   "0123456789"
#define LETTERS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* A group, or a back reference, in the order of their beginnings. */
typedef struct part {
  size_t at;     /* the offset */
  size_t parent; /* the group that it is in; NO_GROUP: none */
  size_t number; /* of what a group captures, or of what is referred to; 0: nothing */
  size_t end;    /* of a group, once it is closed */
  bool is_reference;
  bool is_assertion;
  bool repeats;
} part_t;

typedef struct scan {
  char *text;
  size_t at;
  part_t *parts;
  size_t part_count;
  size_t captures;
  size_t group;    /* the innermost one that is open */
  size_t closed;   /* the group that has just ended */
  bool can_repeat; /* what was just read */
  tb_error_t *error;
} scan_t;

static tb_status_t refuse(scan_t *scan, size_t at, const char *why)
{
  tb_error_set(scan->error, TB_ERR_INVALID, "%s", why);
  if (scan->error) scan->error->offset = (int64_t)at;
  return TB_ERR_INVALID;
}

static tb_status_t end_term(scan_t *scan, size_t length, bool can_repeat)
{
  scan->at += length;
  scan->can_repeat = can_repeat;
  scan->closed = NO_GROUP;
  return TB_OK;
}

/* --- escapes --- */

static bool has_hex(const char *text, size_t count)
{
  return strspn(text, DIGITS "abcdefABCDEF") >= count;
}

/* Those that are one character, with `escape` after the backslash. 0 in *out_length: it is none of
 * them. */
static tb_status_t read_character(scan_t *scan, char *escape, size_t *out_length)
{
  *out_length = 0;
  if (*escape == '\0') return refuse(scan, scan->at, "nothing follows the last '\\'");
  if (*escape == 'v') *escape = '\v'; /* to PCRE2 'v' is any line break */
  if (*escape == 'c' && (escape[1] == '\0' || !strchr(LETTERS, escape[1])))
    return refuse(scan, scan->at, "'\\c' needs a letter after it");
  if (*escape == 'x' && !has_hex(escape + 1, 2))
    return refuse(scan, scan->at, "'\\x' needs two hexadecimal digits after it");
  if (*escape == 'u' && !has_hex(escape + 1, 4))
    return refuse(scan, scan->at, "'\\u' needs four hexadecimal digits after it");
  if (*escape == '0' && escape[1] && strchr(DIGITS, escape[1]))
    return refuse(scan, scan->at, "octal numbers are not supported; write \\x and two digits");
  if (strchr("fnrt0", *escape) || !strchr(LETTERS DIGITS, *escape)) *out_length = 2;
  if (*escape == 'c') *out_length = 3;
  if (*escape == 'x') *out_length = 4;
  if (*escape == 'u') *out_length = 6;
  return TB_OK;
}

static tb_status_t refuse_escape(scan_t *scan, char escape)
{
  char why[] = "ECMAScript has no '\\?'; for the letter itself leave out the '\\'";
  if (strchr(DIGITS, escape)) return refuse(scan, scan->at, "a number in [...] means nothing");
  *strchr(why, '?') = escape;
  return refuse(scan, scan->at, why);
}

static part_t *add_part(scan_t *scan)
{
  part_t *part = &scan->parts[scan->part_count++];
  *part = (part_t){.at = scan->at, .parent = scan->group};
  return part;
}

static tb_status_t read_reference(scan_t *scan)
{
  char *end;
  part_t *part = add_part(scan);
  part->is_reference = true;
  part->number = strtoul(scan->text + scan->at + 1, &end, 10);
  return end_term(scan, (size_t)(end - scan->text) - scan->at, true);
}

static tb_status_t read_escape(scan_t *scan)
{
  char *escape = scan->text + scan->at + 1;
  size_t length;
  tb_status_t status = read_character(scan, escape, &length);
  if (status) return status;
  if (length > 0) return end_term(scan, length, true);
  if (strchr("dDwWsS", *escape)) return end_term(scan, 2, true);
  if (strchr("bB", *escape)) return end_term(scan, 2, false);
  if (strchr(DIGITS, *escape)) return read_reference(scan);
  return refuse_escape(scan, *escape);
}

/* --- [...] --- */

static tb_status_t read_named_class(scan_t *scan)
{
  static const char *const names[] = {"alnum", "alpha", "blank", "cntrl", "digit", "graph",
                                      "lower", "print", "punct", "space", "upper", "xdigit"};
  const char *name = scan->text + scan->at + 2;
  if (name[-1] != ':')
    return refuse(scan, scan->at, "[[.x.]] and [[=x=]] are not supported; for '[' write '\\['");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t length = strlen(names[i]);
    if (strncmp(name, names[i], length) != 0 || strncmp(name + length, ":]", 2) != 0) continue;
    scan->at += length + 4;
    return TB_OK;
  }
  return refuse(scan, scan->at,
                "no such class; the classes are [:alnum:] [:alpha:] [:blank:] [:cntrl:] "
                "[:digit:] [:graph:] [:lower:] [:print:] [:punct:] [:space:] [:upper:] [:xdigit:]");
}

static tb_status_t read_class_escape(scan_t *scan)
{
  char *escape = scan->text + scan->at + 1;
  size_t length;
  tb_status_t status = read_character(scan, escape, &length);
  if (status) return status;
  if (length == 0 && !strchr("dDwWsSb", *escape)) return refuse_escape(scan, *escape);
  scan->at += length ? length : 2;
  return TB_OK;
}

static tb_status_t read_class(scan_t *scan)
{
  size_t begin = scan->at++;
  tb_status_t status = TB_OK;
  bool is_empty = scan->text[scan->at] == ']'; /* PCRE2 takes "[]*" for "[]" */
  if (scan->text[scan->at] == '^') scan->at++;
  while (!status && scan->text[scan->at] != ']') {
    const char *character = scan->text + scan->at;
    if (!*character) return refuse(scan, begin, "the '[' is not closed");
    if (*character == '\\')
      status = read_class_escape(scan);
    else if (*character == '[' && character[1] && strchr(":.=", character[1]))
      status = read_named_class(scan);
    else
      scan->at++;
  }
  return !status ? end_term(scan, 1, !is_empty) : status;
}

/* --- groups --- */

static tb_status_t open_group(scan_t *scan)
{
  const char *text = scan->text + scan->at;
  bool is_plain = text[1] != '?';
  if (!is_plain && (text[2] == '\0' || !strchr(":=!", text[2])))
    return refuse(scan, scan->at,
                  "of groups with '?' only (?:...), (?=...) and (?!...) are supported");
  part_t *part = add_part(scan);
  part->number = is_plain ? ++scan->captures : 0;
  part->is_assertion = !is_plain && text[2] != ':';
  scan->group = (size_t)(part - scan->parts);
  return end_term(scan, is_plain ? 1 : 3, false);
}

static tb_status_t close_group(scan_t *scan)
{
  if (scan->group == NO_GROUP) return refuse(scan, scan->at, "the ')' closes nothing");
  size_t group = scan->group;
  part_t *part = &scan->parts[group];
  part->end = scan->at;
  scan->group = part->parent;
  end_term(scan, 1, !part->is_assertion);
  scan->closed = group;
  return TB_OK;
}

/* --- repeats --- */

/* The length of "{2}", "{2,}" or "{2,3}"; 0: it is none of them. *out_once: not more than once. */
static size_t braces_length(const char *text, bool *out_once)
{
  size_t digits = strspn(text + 1, DIGITS);
  const char *last = text + 1, *end = text + 1 + digits;
  if (digits == 0) return 0;
  if (*end == ',') {
    last = end + 1;
    end = last + strspn(last, DIGITS);
  }
  *out_once = last < end && strtoul(last, NULL, 10) <= 1;
  return *end == '}' ? (size_t)(end - text) + 1 : 0;
}

static tb_status_t read_repeat(scan_t *scan)
{
  const char *text = scan->text + scan->at;
  bool once = *text == '?';
  size_t length = *text == '{' ? braces_length(text, &once) : 1;
  if (length == 0)
    return refuse(scan, scan->at, "'{' begins a repeat: {2}, {2,} or {2,3}; for itself, '\\{'");
  if (!scan->can_repeat) return refuse(scan, scan->at, "nothing to repeat before it");
  if (scan->closed != NO_GROUP) scan->parts[scan->closed].repeats = !once;
  return end_term(scan, length + (text[length] == '?'), false);
}

/* --- all of it --- */

static tb_status_t read_term(scan_t *scan)
{
  switch (scan->text[scan->at]) {
  case '\\':
    return read_escape(scan);
  case '[':
    return read_class(scan);
  case '(':
    return open_group(scan);
  case ')':
    return close_group(scan);
  case '*':
  case '+':
  case '?':
  case '{':
    return read_repeat(scan);
  case '|':
  case '^':
  case '$':
    return end_term(scan, 1, false);
  default:
    return end_term(scan, 1, true);
  }
}

static size_t find_capture(const scan_t *scan, size_t number)
{
  for (size_t i = 0; i < scan->part_count; i++)
    if (!scan->parts[i].is_reference && scan->parts[i].number == number) return i;
  return NO_GROUP;
}

/* ECMAScript forgets what groups in a repeated part matched each time that it begins; PCRE2 does
 * not, and takes \10 for an octal number before the tenth group. */
static tb_status_t check_reference(scan_t *scan, const part_t *reference)
{
  size_t group = find_capture(scan, reference->number);
  const part_t *part = &scan->parts[group == NO_GROUP ? 0 : group];
  if (group == NO_GROUP || (reference->number > 9 && part->at > reference->at))
    return refuse(scan, reference->at, "no group of that number before it");
  bool is_inside = reference->at > part->at && reference->at < part->end;
  bool repeats = is_inside && part->repeats;
  for (size_t i = part->parent; i != NO_GROUP; i = scan->parts[i].parent)
    repeats |= scan->parts[i].repeats;
  return repeats ? refuse(scan, reference->at,
                          "a reference to a group in a part that repeats is not supported")
                 : TB_OK;
}

static tb_status_t read_all(scan_t *scan)
{
  tb_status_t status = TB_OK;
  while (!status && scan->text[scan->at])
    status = read_term(scan);
  if (!status && scan->group != NO_GROUP)
    return refuse(scan, scan->parts[scan->group].at, "the '(' is not closed");
  for (size_t i = 0; !status && i < scan->part_count; i++)
    if (scan->parts[i].is_reference) status = check_reference(scan, &scan->parts[i]);
  return status;
}

tb_status_t tb__expression_syntax(char *text, tb_error_t *error)
{
  size_t parts = 0;
  for (const char *at = text; *at; at++)
    parts += *at == '(' || *at == '\\';
  scan_t scan = {.text = text, .group = NO_GROUP, .closed = NO_GROUP, .error = error};
  if (!*text) return refuse(&scan, 0, "it is empty, and would match every topic");
  scan.parts = calloc(parts + 1, sizeof *scan.parts);
  if (!scan.parts) return tb__no_memory(error);
  tb_status_t status = read_all(&scan);
  free(scan.parts);
  return status;
}
