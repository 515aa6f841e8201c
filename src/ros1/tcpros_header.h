/* The header that both ends of a TCPROS connection send first: fields "name=value". */
#ifndef TB_ROS1_TCPROS_HEADER_H
#define TB_ROS1_TCPROS_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

#define TB__TCPROS_HEADER_MAX ((uint32_t)1 << 20) /* definitions of messages may be long */
#define TB__TCPROS_FIELDS_MAX 64

/* Not terminated, and of any bytes. */
typedef struct tb__tcpros_field {
  const char *name, *value;
  size_t name_size, value_size;
} tb__tcpros_field_t;

typedef struct tb__tcpros_header {
  tb__tcpros_field_t fields[TB__TCPROS_FIELDS_MAX]; /* they point into what was parsed */
  size_t count;
} tb__tcpros_header_t;

/* `bytes` without the length of the whole. TB_ERR_CORRUPT, TB_ERR_LIMIT. */
tb_status_t tb__tcpros_header_parse(const uint8_t *bytes, size_t size, tb__tcpros_header_t *out,
                                    tb_error_t *error) TB_WARN_UNUSED;

/* Copies the value of the last field of that name, cut to `size`. False: there is none; `out` is
 * "". */
bool tb__tcpros_header_get(const tb__tcpros_header_t *header, const char *name, char *out,
                           size_t size);

/* The same, whole, to be freed; without zeros inside. "" for what is not there. NULL: out of
 * memory. */
char *tb__tcpros_header_copy(const tb__tcpros_header_t *header, const char *name);
/* The name of the node that sent it, "callerid". Names end up in messages and are compared: others
 * than ROS allows become "". False: there is none. */
bool tb__tcpros_header_take_name(const tb__tcpros_header_t *header, char *out, size_t size);

typedef struct tb__tcpros_pair {
  const char *name, *value;
} tb__tcpros_pair_t;

/* With the length of the whole, to be freed. NULL: out of memory. */
uint8_t *tb__tcpros_header_write(const tb__tcpros_pair_t *pairs, size_t count, size_t *out_size);

static inline uint32_t tb__tcpros_read_u32(const uint8_t *bytes)
{
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

static inline void tb__tcpros_write_u32(uint32_t value, uint8_t *out)
{
  for (int i = 0; i < 4; i++)
    out[i] = (uint8_t)(value >> 8 * i);
}

#endif
