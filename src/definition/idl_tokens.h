/* The words of an IDL text, without comments, lines of the preprocessor, and the headings between
 * files. Pure. */
#ifndef TB_DEFINITION_IDL_TOKENS_H
#define TB_DEFINITION_IDL_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum tb__idl_token_kind {
  TB__IDL_END,
  TB__IDL_NAME,
  TB__IDL_NUMBER,
  TB__IDL_TEXT,  /* in quotes of either kind */
  TB__IDL_SIGN,  /* one character, or "::" */
  TB__IDL_WRONG, /* a comment or a text without an end, or a character that IDL has not */
} tb__idl_token_kind_t;

typedef struct tb__idl_tokens {
  const char *text;
  size_t size;
  tb__idl_token_kind_t kind; /* of the word at hand */
  size_t at, length;
} tb__idl_tokens_t;

void tb__idl_tokens_init(tb__idl_tokens_t *tokens, const char *text, size_t begin, size_t end);
void tb__idl_tokens_next(tb__idl_tokens_t *tokens);
bool tb__idl_tokens_is(const tb__idl_tokens_t *tokens, const char *word);

#endif
