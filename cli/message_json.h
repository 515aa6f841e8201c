/* Serialized messages as JSON values, and those as YAML. */
#ifndef TB_CLI_MESSAGE_JSON_H
#define TB_CLI_MESSAGE_JSON_H

#include <jansson.h>

#include "definition/message.h"

/* All fields of a message. Of an array or a sequence that has more than `items_max` elements so
 * many, and then "..."; 0: all. Infinities and NaN are ".inf", "-.inf" and ".nan", integers above
 * 2^63 texts. TB_ERR_TRUNCATED, TB_ERR_CORRUPT, TB_ERR_UNSUPPORTED: it is not of the schema;
 * TB_ERR_NO_MEMORY. */
tb_status_t message_json(const tb__schema_t *schema, const void *data, size_t size,
                         size_t items_max, json_t **out);

/* Paths that fit the schema, as field_path.h reads them. */
typedef struct message_fields {
  const char *const *paths;
  size_t count;
  size_t items_max; /* as above */
} message_fields_t;

/* An object with what each path leads to; null: a sequence has not so many elements. Nothing else
 * is kept, and what follows the fields is not looked at. Errors as above. */
tb_status_t message_json_fields(const tb__schema_t *schema, const void *data, size_t size,
                                const message_fields_t *fields, json_t **out);

/* An object, or any other value, as YAML, to standard output. */
void message_print_yaml(const json_t *message);

#endif
