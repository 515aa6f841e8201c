/* XML-RPC messages from others, as trees of values. Sizes, depths and counts have limits, and
 * documents with a DTD are refused: there are no entities to expand. */
#ifndef TB_ROS1_XMLRPC_PARSE_H
#define TB_ROS1_XMLRPC_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

#define TB__XMLRPC_SIZE_MAX   ((size_t)4 << 20)
#define TB__XMLRPC_DEPTH_MAX  64    /* elements inside each other */
#define TB__XMLRPC_VALUES_MAX 65536 /* of a message */

typedef enum tb__xmlrpc_type {
  TB__XMLRPC_STRING,
  TB__XMLRPC_INT, /* also i4 and i8 */
  TB__XMLRPC_BOOLEAN,
  TB__XMLRPC_DOUBLE,
  TB__XMLRPC_ARRAY,
  TB__XMLRPC_STRUCT,
  TB__XMLRPC_OTHER, /* base64, dateTime.iso8601, nil: `text` is as it came */
} tb__xmlrpc_type_t;

typedef struct tb__xmlrpc_value {
  tb__xmlrpc_type_t type;
  uint32_t count;                       /* of an array or a struct */
  const char *text;                     /* of a string; "" for what is none */
  const char *name;                     /* of a struct's member; else NULL */
  int64_t integer;                      /* int; boolean: 0 or 1 */
  double number;                        /* double */
  const struct tb__xmlrpc_value *first; /* of an array or a struct */
  const struct tb__xmlrpc_value *next;
} tb__xmlrpc_value_t;

typedef enum tb__xmlrpc_kind {
  TB__XMLRPC_CALL,
  TB__XMLRPC_RESPONSE,
  TB__XMLRPC_FAULT,
} tb__xmlrpc_kind_t;

typedef struct tb__xmlrpc_message {
  tb__xmlrpc_kind_t kind;
  const char *method;        /* of a call */
  tb__xmlrpc_value_t params; /* an array; the one value of a response, the struct of a fault */
  struct tb__xmlrpc_memory *memory;
} tb__xmlrpc_message_t;

/* To be ended with tb__xmlrpc_message_fini if it succeeds. TB_ERR_CORRUPT, TB_ERR_LIMIT,
 * TB_ERR_NO_MEMORY. */
tb_status_t tb__xmlrpc_parse(const char *text, size_t size, tb__xmlrpc_message_t *out,
                             tb_error_t *error) TB_WARN_UNUSED;
void tb__xmlrpc_message_fini(tb__xmlrpc_message_t *message);

/* The value at `index`; NULL: there is none, or `array` is none or NULL. */
const tb__xmlrpc_value_t *tb__xmlrpc_at(const tb__xmlrpc_value_t *array, uint32_t index);
/* The member of that name; NULL likewise. */
const tb__xmlrpc_value_t *tb__xmlrpc_member(const tb__xmlrpc_value_t *value, const char *name);
/* NULL: it is not a string, or NULL. */
const char *tb__xmlrpc_string(const tb__xmlrpc_value_t *value);

/* ROS's answers are [code, text, value]. False: the message is none. */
bool tb__xmlrpc_answer(const tb__xmlrpc_message_t *message, int64_t *out_code,
                       const char **out_text, const tb__xmlrpc_value_t **out_value);

#endif
