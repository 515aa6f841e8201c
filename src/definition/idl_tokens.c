#include "definition/idl_tokens.h"

#include "definition/parsers.h"

static size_t line_length(const tb__idl_tokens_t *tokens, size_t at)
{
  const char *end = memchr(tokens->text + at, '\n', tokens->size - at);
  return end ? (size_t)(end - tokens->text) - at : tokens->size - at;
}

static bool begins_line(const tb__idl_tokens_t *tokens, size_t at)
{
  return at == 0 || tokens->text[at - 1] == '\n';
}

static bool has(const tb__idl_tokens_t *tokens, size_t at, const char *text)
{
  size_t length = strlen(text);
  return tokens->size - at >= length && memcmp(tokens->text + at, text, length) == 0;
}

/* A line of '=', and the one with the name of the file's type. */
static size_t after_heading(const tb__idl_tokens_t *tokens, size_t at)
{
  at += line_length(tokens, at);
  if (at < tokens->size && has(tokens, at + 1, "IDL:")) at += 1 + line_length(tokens, at + 1);
  return at;
}

/* What no word begins with. *out_wrong: a comment has no end. */
static size_t skip(const tb__idl_tokens_t *tokens, size_t at, bool *out_wrong)
{
  *out_wrong = false;
  while (at < tokens->size) {
    char c = tokens->text[at];
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      at++;
    } else if (has(tokens, at, "//") || c == '#') {
      at += line_length(tokens, at);
    } else if (has(tokens, at, "/*")) {
      const char *end = memmem(tokens->text + at + 2, tokens->size - at - 2, "*/", 2);
      *out_wrong = !end;
      if (!end) return at;
      at = (size_t)(end - tokens->text) + 2;
    } else if (c == '=' && begins_line(tokens, at) &&
               tb__is_rule(tokens->text + at, line_length(tokens, at))) {
      at = after_heading(tokens, at);
    } else {
      break;
    }
  }
  return at;
}

/* The end of a text; 0: it has none. */
static size_t text_end(const tb__idl_tokens_t *tokens, size_t at)
{
  char quote = tokens->text[at++];
  for (; at < tokens->size; at++) {
    if (tokens->text[at] == quote) return at + 1;
    if (tokens->text[at] == '\\') at++;
  }
  return 0;
}

static size_t number_end(const tb__idl_tokens_t *tokens, size_t at)
{
  for (; at < tokens->size; at++) {
    char c = tokens->text[at], before = tokens->text[at - 1];
    bool is_exponent = (c == '+' || c == '-') && (before == 'e' || before == 'E');
    if (!tb__is_name_char(c) && c != '.' && !is_exponent) break;
  }
  return at;
}

static size_t name_end(const tb__idl_tokens_t *tokens, size_t at)
{
  while (at < tokens->size && tb__is_name_char(tokens->text[at]))
    at++;
  return at;
}

void tb__idl_tokens_next(tb__idl_tokens_t *tokens)
{
  bool is_wrong = false;
  size_t at = skip(tokens, tokens->at + tokens->length, &is_wrong), end = at + 1;
  tokens->at = at;
  tokens->length = 0;
  tokens->kind = is_wrong ? TB__IDL_WRONG : TB__IDL_END;
  if (is_wrong || at >= tokens->size) return;
  char c = tokens->text[at];
  if (tb__is_digit(c) ||
      (c == '.' && at + 1 < tokens->size && tb__is_digit(tokens->text[at + 1]))) {
    tokens->kind = TB__IDL_NUMBER;
    end = number_end(tokens, at + 1);
  } else if (tb__is_name_char(c)) {
    tokens->kind = TB__IDL_NAME;
    end = name_end(tokens, at);
  } else if (c == '"' || c == '\'') {
    end = text_end(tokens, at);
    tokens->kind = end ? TB__IDL_TEXT : TB__IDL_WRONG;
    if (!end) return;
  } else if (c && strchr("{}()<>[];:,=@+-*/%|&^~.", c)) {
    tokens->kind = TB__IDL_SIGN;
    if (has(tokens, at, "::")) end = at + 2;
  } else {
    tokens->kind = TB__IDL_WRONG;
    return;
  }
  tokens->length = end - at;
}

void tb__idl_tokens_init(tb__idl_tokens_t *tokens, const char *text, size_t begin, size_t end)
{
  *tokens = (tb__idl_tokens_t){.text = text, .size = end, .at = begin};
  tb__idl_tokens_next(tokens);
}

bool tb__idl_tokens_is(const tb__idl_tokens_t *tokens, const char *word)
{
  bool is_word = tokens->kind == TB__IDL_NAME || tokens->kind == TB__IDL_SIGN;
  return is_word && strlen(word) == tokens->length &&
         memcmp(tokens->text + tokens->at, word, tokens->length) == 0;
}
