/* Samples whose content says which inline QoS they must have. */
#ifndef TB_TEST_INLINE_QOS_PATTERN_H
#define TB_TEST_INLINE_QOS_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "dds/endpoint.h"
#include "dds/related_identity.h"

#define PATTERN_HEAD 16 /* encapsulation, writer, number, whether it has a related identity */

static inline tb_qos_t pattern_qos(void)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.history = TB_QOS_KEEP_ALL;
  return qos;
}

static inline tb__endpoint_options_t pattern_options(const char *topic, const tb_qos_t *qos)
{
  return (tb__endpoint_options_t){
      .topic = topic, .type = "std_msgs::msg::dds_::String_", .qos = qos};
}

static inline tb__related_identity_t pattern_identity(uint32_t writer, uint32_t number)
{
  tb__related_identity_t identity = {.sequence = (int64_t)number << 30 | writer};
  memset(identity.guid.bytes, (int)(writer * 31 + number) & 0xff, TB__GUID_SIZE);
  return identity;
}

/* `size` is a multiple of 4. */
static inline void pattern_write(uint32_t writer, uint32_t number, bool has_identity, uint8_t *out,
                                 size_t size)
{
  const uint32_t head[3] = {writer, number, has_identity};
  memcpy(out, "\0\1\0\0", 4);
  memcpy(out + 4, head, sizeof head);
  for (size_t i = PATTERN_HEAD; i < size; i++)
    out[i] = (uint8_t)(i * 7 + number + writer);
}

static inline bool pattern_matches(const uint8_t *bytes, size_t size,
                                   const tb__sample_origin_t *origin)
{
  uint32_t head[3];
  if (size < PATTERN_HEAD) return false;
  memcpy(head, bytes + 4, sizeof head);
  for (size_t i = PATTERN_HEAD; i < size; i++)
    if (bytes[i] != (uint8_t)(i * 7 + head[1] + head[0])) return false;
  if (!head[2]) return !origin->has_related;
  tb__related_identity_t expected = pattern_identity(head[0], head[1]);
  return origin->has_related && origin->related.sequence == expected.sequence &&
         tb__guid_equal(&origin->related.guid, &expected.guid);
}

#endif
