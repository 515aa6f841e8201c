/* What the command prints for programs. */
#ifndef TB_CLI_JSON_H
#define TB_CLI_JSON_H

#include <jansson.h>

#include "command.h"

/* A JSON string: what is no UTF-8 becomes U+FFFD. */
json_t *text_json(const char *text);
/* As json_object_set_new and json_array_append_new. What fails is told by json_finish. */
void json_put(json_t *object, const char *key, json_t *value);
void json_push(json_t *array, json_t *value);
/* Prints it, as jansson's `flags` say, in ASCII without control characters but newlines; gives the
 * value back. False: out of memory. */
bool json_print(json_t *root, size_t flags);
/* Prints one line, gives the value back, and returns `status`, or EXIT_IO with a message. */
int json_finish(const command_t *command, json_t *root, int status);

#endif
