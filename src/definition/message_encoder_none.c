/* In builds without YAML. */
#include "definition/message_encoder.h"

tb_status_t tb__message_encoder_create(const tb__schema_t *schema, const char *yaml, size_t size,
                                       tb__message_encoder_t **out, tb_error_t *error)
{
  (void)schema, (void)yaml, (void)size, (void)out;
  return tb_error_set(error, TB_ERR_UNSUPPORTED, "built without YAML");
}

void tb__message_encoder_destroy(tb__message_encoder_t *encoder)
{
  (void)encoder;
}

bool tb__message_encoder_needs_time(const tb__message_encoder_t *encoder)
{
  (void)encoder;
  return false;
}

tb_status_t tb__message_encoder_run(tb__message_encoder_t *encoder, int64_t now_ns,
                                    const uint8_t **out, size_t *out_size, tb_error_t *error)
{
  (void)encoder, (void)now_ns, (void)out, (void)out_size;
  return tb_error_set(error, TB_ERR_UNSUPPORTED, "built without YAML");
}
