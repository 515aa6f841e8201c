/* The definition of a type, from wherever there is one. */
#ifndef TB_DEFINITION_RESOLVE_H
#define TB_DEFINITION_RESOLVE_H

#include "definition/message_definition.h"
#include "definition/parse.h"

/* What is looked at, in this order. */
typedef struct tb__definition_request {
  const char *type;                         /* "package/msg/Name" */
  const char *recorded, *recorded_encoding; /* as tb_bag_topic_t has them; may be NULL or empty */
  const char *described; /* a node's, by type_description.h; may be NULL or empty */
  tb__definition_places_t places;
} tb__definition_request_t;

typedef struct tb__definition {
  tb__schema_t *schema;
  tb__definition_origin_t origin;
  char note[TB_ERROR_TEXT_SIZE]; /* why an earlier source was of no use; "": none was there */
} tb__definition_t;

/* tb__schema_destroy(out->schema). A source that has no definition, or one that is wrong, leaves it
 * to the next. TB_ERR_NOT_FOUND: definition unknown, with the first failure in the text.
 * TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__definition_resolve(const tb__definition_request_t *request,
                                                  tb__definition_t *out,
                                                  tb_error_t *error) TB_WARN_UNUSED;

/* The same of one origin. TB_ERR_NOT_FOUND: it has none, and out->note is "", or it is wrong, and
 * that is noted there. */
tb_status_t tb__definition_resolve_at(const tb__definition_request_t *request,
                                      tb__definition_origin_t origin,
                                      tb__definition_t *out) TB_WARN_UNUSED;

/* Whether a hash is ROS 1's md5sum of a type. */
bool tb__is_md5sum(const char *hash);

/* What a connection of ROS 1 announces, to be freed: `text`, unless its md5sum is another than
 * `md5sum` and a definition that has that one is in the places (NULL: none) or built in, as ROS 1
 * has it. `md5sum` may be NULL or no sum: not known. TB_ERR_NOT_FOUND: the text is empty, which is
 * not the sum's, and there is no other. TB_ERR_NO_MEMORY. [file system] */
TB_PRIVATE_API tb_status_t tb__ros1_definition_of(const char *type, const char *md5sum,
                                                  const char *text,
                                                  const tb__definition_places_t *places, char **out,
                                                  tb_error_t *error) TB_WARN_UNUSED;

/* "the recording", "a node", "AMENT_PREFIX_PATH", "--definitions", "built in", "definition
 * unknown". */
TB_PRIVATE_API const char *tb__definition_origin_text(tb__definition_origin_t origin);

#endif
