/* Text of others on a terminal and in JSON: it may be any bytes, and must do no harm there. */
#ifndef TB_CLI_TEXT_H
#define TB_CLI_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "command.h"

/* Prints it with "\x1b" or "\u202e" in the place of what is no UTF-8 or would move the cursor, end
 * the line or turn the text around. Returns its columns, more or less. */
int text_print(FILE *out, const char *text);
/* The same into memory, to be freed. NULL: out of memory. */
char *text_harmless(const char *text);
/* Its columns. */
int text_columns(const char *text);
/* The same, padded with spaces to `columns`. */
void text_print_padded(const char *text, int columns);

/* A JSON string: what is no UTF-8 becomes U+FFFD. */
json_t *text_json(const char *text);
/* As json_object_set_new and json_array_append_new. What fails is told by json_finish. */
void json_put(json_t *object, const char *key, json_t *value);
void json_push(json_t *array, json_t *value);
/* Prints one line, gives the value back, and returns `status`, or EXIT_IO with a message. */
int json_finish(const command_t *command, json_t *root, int status);

#endif
