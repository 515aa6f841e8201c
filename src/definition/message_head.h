/* What time checks need of a message: the stamp and frame of its header, the edges of a TFMessage.
 */
#ifndef TB_DEFINITION_MESSAGE_HEAD_H
#define TB_DEFINITION_MESSAGE_HEAD_H

#include "definition/field_path.h"

/* Of the type itself if it is std_msgs/Header, else of its field "header" if that is one, else of
 * its first field that is one. */
typedef struct tb__message_head {
  tb__field_path_t *stamp, *frame_id; /* NULL: the type has no header */
} tb__message_head_t;

/* The schema must outlive it. A type without a header is no failure. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__message_head_init(tb__message_head_t *head,
                                                 const tb__schema_t *schema,
                                                 tb_error_t *error) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__message_head_fini(tb__message_head_t *head);

/* TB_ERR_NOT_FOUND: the type has no header. TB_ERR_TRUNCATED, TB_ERR_CORRUPT. 0 is a stamp here,
 * and so is a time that is none (tb__is_no_time). */
TB_PRIVATE_API tb_status_t tb__message_head_stamp(const tb__message_head_t *head,
                                                  const tb__message_t *message,
                                                  int64_t *out_ns) TB_WARN_UNUSED;
/* As tb__message_string. */
TB_PRIVATE_API tb_status_t tb__message_head_frame(const tb__message_head_t *head,
                                                  const tb__message_t *message, const char **out,
                                                  size_t *out_length) TB_WARN_UNUSED;

/* A geometry_msgs/TransformStamped. Texts are in the message, each with a NUL. */
typedef struct tb__edge {
  int64_t stamp_ns; /* as that of a header: it may be no time */
  const char *parent, *child;
  size_t parent_length, child_length;
} tb__edge_t;

/* Of the first field of the root that is a sequence or an array of them. */
typedef struct tb__edge_paths {
  tb__field_path_t *all, *stamp, *parent, *child; /* `all`: NULL if there is no such field */
} tb__edge_paths_t;

/* TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__edge_paths_init(tb__edge_paths_t *paths, const tb__schema_t *schema,
                                               tb_error_t *error) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__edge_paths_fini(tb__edge_paths_t *paths);

/* False: no more of them. */
typedef bool (*tb__edge_fn)(void *user, const tb__edge_t *edge);

/* TB_ERR_NOT_FOUND: the type has none. TB_ERR_TRUNCATED, TB_ERR_CORRUPT: after those that were
 * passed on. */
TB_PRIVATE_API tb_status_t tb__edge_paths_each(const tb__edge_paths_t *paths,
                                               const tb__message_t *message, tb__edge_fn found,
                                               void *user) TB_WARN_UNUSED;

#endif
