/* `timebase bag cat`: how messages are printed. */
#ifndef TB_CLI_BAG_CAT_H
#define TB_CLI_BAG_CAT_H

#include <timebase/bag_reader.h>

#include "command.h"
#include "definition/definitions.h"

enum { BAG_CAT_FIELDS_MAX = 64 };

typedef enum bag_cat_form { BAG_CAT_YAML, BAG_CAT_JSON, BAG_CAT_CSV } bag_cat_form_t;

/* What is printed of each message. */
typedef struct bag_cat_style {
  bag_cat_form_t form;
  const char *fields[BAG_CAT_FIELDS_MAX]; /* paths; none: all of the message */
  size_t field_count;
  size_t items_max; /* of an array; 0: all */
  bool has_header;  /* of CSV: it has been printed */
} bag_cat_style_t;

/* Whether the type has all the fields that are printed. TB_ERR_NOT_FOUND, TB_ERR_INVALID, with the
 * reason; TB_ERR_NO_MEMORY. */
tb_status_t bag_cat_check_fields(const bag_cat_style_t *style, const tb__schema_t *schema,
                                 tb_error_t *error);

/* To standard output. TB_ERR_TRUNCATED, TB_ERR_CORRUPT, TB_ERR_UNSUPPORTED: the message is not of
 * the schema; TB_ERR_NO_MEMORY. */
tb_status_t bag_cat_show(bag_cat_style_t *style, const tb_bag_topic_t *topic,
                         const tb_bag_message_t *message, const tb__schema_t *schema);

#endif
