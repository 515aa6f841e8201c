/* How messages are printed, of recordings and of topics: their form, and which fields. */
#ifndef TB_CLI_MESSAGE_STYLE_H
#define TB_CLI_MESSAGE_STYLE_H

#include <jansson.h>

#include "command.h"
#include "definition/message.h"

enum { MESSAGE_FIELDS_MAX = 64, MESSAGE_ITEMS_DEFAULT = 128 };

typedef enum message_form { MESSAGE_YAML, MESSAGE_JSON, MESSAGE_CSV } message_form_t;

typedef struct message_style {
  message_form_t form;
  const char *fields[MESSAGE_FIELDS_MAX]; /* paths; none: all of the message */
  size_t field_count;
  size_t items_max; /* of an array; 0: all */
  bool has_header;  /* of CSV: it has been printed */
} message_style_t;

/* Of --json and --csv, and of --field. EXIT_OK or EXIT_USAGE. */
int message_style_take_form(const command_t *command, message_style_t *style, message_form_t form);
int message_style_take_field(const command_t *command, message_style_t *style, const char *path);

/* Whether the type has all the fields that are printed. TB_ERR_NOT_FOUND, TB_ERR_INVALID, with the
 * reason; TB_ERR_NO_MEMORY. */
tb_status_t message_style_check(const message_style_t *style, const tb__schema_t *schema,
                                tb_error_t *error);

/* What is printed of a message. TB_ERR_TRUNCATED, TB_ERR_CORRUPT, TB_ERR_UNSUPPORTED: it is not of
 * the schema; TB_ERR_NO_MEMORY. */
tb_status_t message_style_decode(const message_style_t *style, const tb__schema_t *schema,
                                 const void *data, size_t size, json_t **out);

/* To standard output, with --- after it. */
void message_style_yaml(const message_style_t *style, const json_t *decoded);
/* A line, and one of names before the first: the columns of `first`, and one for each field. */
void message_style_csv(message_style_t *style, const json_t *first, const json_t *decoded);
/* "fields" or "message". */
const char *message_style_key(const message_style_t *style);

#endif
