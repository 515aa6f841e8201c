/* Messages from YAML, as `ros2 topic pub` takes them: fields that are not named have the defaults
 * of their definition, or zero. Plain CDR, little endian, or what ROS 1 has, where the schema is of
 * ROS 1. */
#ifndef TB_DEFINITION_MESSAGE_ENCODER_H
#define TB_DEFINITION_MESSAGE_ENCODER_H

#include <timebase/error.h>

#include "base/private_api.h"
#include "definition/schema.h"

typedef struct tb__message_encoder tb__message_encoder_t;

/* `yaml`, a mapping of fields (empty: none), is read once; the schema must outlive the encoder.
 * TB_ERR_INVALID: not YAML, or not of the type: line, column and field are in the text.
 * TB_ERR_LIMIT: more than 16 MiB, or a million values; a message of more than 64 MiB.
 * TB_ERR_UNSUPPORTED: built without YAML. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__message_encoder_create(const tb__schema_t *schema, const char *yaml,
                                                      size_t size, tb__message_encoder_t **out,
                                                      tb_error_t *error) TB_WARN_UNUSED;
/* Accepts NULL. */
TB_PRIVATE_API void tb__message_encoder_destroy(tb__message_encoder_t *encoder);

/* Whether there are "now" for a time or "auto" for a header in it: messages differ by the time. */
TB_PRIVATE_API bool tb__message_encoder_needs_time(const tb__message_encoder_t *encoder);

/* The message, with what stands for the time being `now_ns` (>= 0; seconds that the type has no
 * room for: TB_ERR_RANGE). Valid until the next call. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__message_encoder_run(tb__message_encoder_t *encoder, int64_t now_ns,
                                                   const uint8_t **out, size_t *out_size,
                                                   tb_error_t *error) TB_WARN_UNUSED;

#endif
