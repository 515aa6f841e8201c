/* Fields by their names: "header.stamp", "pose.covariance[35]", and with "[]" for all elements
 * "transforms[].header.frame_id". Made once for a schema; finding allocates nothing. */
#ifndef TB_DEFINITION_FIELD_PATH_H
#define TB_DEFINITION_FIELD_PATH_H

#include "definition/message.h"

#define TB__PATH_NAME_SIZE 272 /* a field's name, and one of a few characters in it */

typedef struct tb__field_path tb__field_path_t;

/* From the root type on. The schema must outlive it. TB_ERR_NOT_FOUND: a type has no such field,
 * which the text names; TB_ERR_INVALID: no path, or an index where there are no elements or no so
 * many; TB_ERR_LIMIT; TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__field_path_create(const tb__schema_t *schema, const char *path,
                                                 tb__field_path_t **out,
                                                 tb_error_t *error) TB_WARN_UNUSED;
/* From `type` on, for messages in which it begins at a place that is known. */
TB_PRIVATE_API tb_status_t tb__field_path_create_in(const tb__schema_t *schema, uint32_t type,
                                                    const char *path, tb__field_path_t **out,
                                                    tb_error_t *error) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__field_path_destroy(tb__field_path_t *path);

/* What it leads to; of all elements one. */
TB_PRIVATE_API const tb__field_type_t *tb__field_path_type(const tb__field_path_t *path);
/* Whether that is a single builtin_interfaces/Time. */
TB_PRIVATE_API bool tb__field_path_is_time(const tb__field_path_t *path);

/* The place of the field in `message`, in which the type of the path begins at `base` (0 for the
 * root); padding may come first. Of all elements the first. TB_ERR_TRUNCATED, TB_ERR_CORRUPT;
 * TB_ERR_NOT_FOUND: a sequence has not so many elements. */
TB_PRIVATE_API tb_status_t tb__field_path_find(const tb__field_path_t *path,
                                               const tb__message_t *message, size_t base,
                                               size_t *out_at) TB_WARN_UNUSED;

/* False: no more of them. */
typedef bool (*tb__found_fn)(void *user, const tb__message_t *message, size_t at);

/* The same, for each of the elements in order. */
TB_PRIVATE_API tb_status_t tb__field_path_each(const tb__field_path_t *path,
                                               const tb__message_t *message, size_t base,
                                               tb__found_fn found, void *user) TB_WARN_UNUSED;

#endif
