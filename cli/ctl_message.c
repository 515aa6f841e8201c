#include "ctl_message.h"

#include <string.h>

#define BODY 4 /* after the encapsulation */

static void put_u32(uint8_t *at, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    at[i] = (uint8_t)(value >> (8 * i));
}

static void put_u64(uint8_t *at, uint64_t value)
{
  put_u32(at, (uint32_t)value);
  put_u32(at + 4, (uint32_t)(value >> 32));
}

static uint32_t get_u32(const uint8_t *at)
{
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t ctl_get_u64(const uint8_t *at)
{
  return get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

size_t ctl_make_request(const operation_t *operation, const request_form_t *form,
                        const request_values_t *values, uint8_t out[REQUEST_MAX])
{
  uint64_t bits = 0;
  memset(out, 0, REQUEST_MAX);
  out[1] = 1;
  if (form) {
    put_u32(out + BODY + form->at, form->number);
    return BODY + form->size;
  }
  out[BODY] = operation->state;
  switch (operation->argument) {
  case ARGUMENT_TIME:
    put_u32(out + BODY, (uint32_t)(values->time_ns / TB_NS_PER_S));
    put_u32(out + BODY + 4, (uint32_t)(values->time_ns % TB_NS_PER_S));
    return BODY + 8;
  case ARGUMENT_RATE:
    memcpy(&bits, &values->rate, sizeof bits);
    put_u64(out + BODY, bits);
    return BODY + 8;
  case ARGUMENT_COUNT:
    put_u64(out + BODY, values->count);
    return BODY + 8;
  case ARGUMENT_NONE:
  case ARGUMENT_REPEATED:
    break;
  }
  return BODY + 4;
}

static bool is_big_endian(const uint8_t *cdr)
{
  return cdr[1] == 0;
}

/* The text after one or two codes: a length with its NUL, the characters. */
static void take_text(answer_t *answer, const uint8_t *body, size_t size)
{
  if (size < 8) return;
  size_t length = get_u32(body + 4);
  if (length == 0 || length > size - 8) return;
  length--;
  if (length >= sizeof answer->text) length = sizeof answer->text - 1;
  memcpy(answer->text, body + 8, length);
}

void ctl_take_answer(answer_t *answer, const tb_ros2_response_t *response)
{
  const uint8_t *cdr = response->cdr;
  if (response->size <= BODY || is_big_endian(cdr)) {
    answer->status = TB_ERR_CORRUPT;
    return;
  }
  size_t size = response->size - BODY;
  memcpy(answer->body, cdr + BODY, size < sizeof answer->body ? size : sizeof answer->body);
  take_text(answer, cdr + BODY, size);
}
