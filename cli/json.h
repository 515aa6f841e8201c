/* JSON output of the command. */
#ifndef TB_CLI_JSON_H
#define TB_CLI_JSON_H

#include <jansson.h>

#include "command.h"

/* A JSON string; bytes that are not UTF-8 become U+FFFD. */
json_t *text_json(const char *text);
/* jansson's iterators take objects that may be changed; whoever calls this changes nothing. */
json_t *json_to_iterate(const json_t *object);
/* As json_object_set_new and json_array_append_new. json_finish reports a failure. */
void json_put(json_t *object, const char *key, json_t *value);
void json_push(json_t *array, json_t *value);
/* Whether all values could be created so far. */
bool json_is_whole(void);
/* Prints the value with jansson's `flags`, in ASCII without control characters except newlines, and
 * releases it. False: out of memory. */
bool json_print(json_t *root, size_t flags);
/* Prints one line, releases the value, and returns `status`, or EXIT_IO with a message. */
int json_finish(const command_t *command, json_t *root, int status);

#endif
