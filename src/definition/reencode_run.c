/* The steps of a plan over one message. Nothing outside of it is read, whatever it holds. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "definition/reencode.h"

#define ENCAPSULATION_SIZE 4
#define PADDING_MAX        3  /* bytes after the last field of CDR */
#define BLOCK              64 /* bytes: less than that is copied at once, where there are so many */
#define SLACK              (BLOCK + 8) /* bytes that may be written beyond what was asked for */
#define GROWTH_MAX         8
#define GROWTH_FREE        ((size_t)64 << 10)
#define NS_PER_S           1000000000u
#define COLD               __attribute__((cold, noinline))

typedef struct run {
  const tb__reencode_plan_t *plan;
  const tb__reencode_input_t *input;
  tb_error_t *error;
  const uint8_t *in; /* after the encapsulation */
  size_t in_size, in_at;
  tb__reencode_buffer_t *buffer;
  uint8_t *out; /* after the encapsulation */
  size_t out_at, out_room;
  bool is_turned; /* the input is big endian */
} run_t;

static tb_status_t run_steps(run_t *run, const tb__reencode_step_t *step, size_t count);

/* --- failures --- */

static COLD tb_status_t fail(const run_t *run, const tb__reencode_step_t *step, tb_status_t status,
                             const char *what)
{
  return tb_error_set(run->error, status, "message of %.150s, field %.200s, byte %zu: %s",
                      run->input->type, run->plan->paths + step->path,
                      (size_t)(run->in - (const uint8_t *)run->input->data) + run->in_at, what);
}

static COLD tb_status_t too_short(const run_t *run, const tb__reencode_step_t *step)
{
  return fail(run, step, TB_ERR_TRUNCATED, "the message ends before it does");
}

static COLD tb_status_t above_bound(const run_t *run, const tb__reencode_step_t *step)
{
  return fail(run, step, TB_ERR_CORRUPT,
              step->kind == TB__REENCODE_STRING ? "a string that is longer than its bound"
                                                : "a sequence that is longer than its bound");
}

/* --- bytes --- */

static uint32_t load_little(const uint8_t *bytes)
{
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

static void store_little(uint8_t *bytes, uint32_t number)
{
  bytes[0] = (uint8_t)number;
  bytes[1] = (uint8_t)(number >> 8);
  bytes[2] = (uint8_t)(number >> 16);
  bytes[3] = (uint8_t)(number >> 24);
}

static size_t padding(size_t at, uint32_t align)
{
  return (0 - at) & (align - 1);
}

static COLD tb_status_t grow(run_t *run, uint64_t needed)
{
  uint64_t most = (uint64_t)run->input->size * GROWTH_MAX + GROWTH_FREE;
  if (needed > most)
    return tb_error_set(run->error, TB_ERR_LIMIT,
                        "message of %.150s: more than %d times its %zu bytes once it is re-encoded",
                        run->input->type, GROWTH_MAX, run->input->size);
  size_t room = (size_t)needed + (size_t)needed / 2 + ENCAPSULATION_SIZE + SLACK + 256;
  uint8_t *data = realloc(run->buffer->data, room);
  if (!data) return tb__no_memory_for(run->error, "re-encoded message");
  run->buffer->data = data;
  run->buffer->room = room;
  run->out = data + (run->plan->to_ros1 ? 0 : ENCAPSULATION_SIZE);
  run->out_room = room - ENCAPSULATION_SIZE - SLACK;
  return TB_OK;
}

/* Room for `size` bytes, aligned, with zeros before them. NULL: *status says why. */
static inline uint8_t *put(run_t *run, uint32_t align, size_t size, tb_status_t *status)
{
  size_t before = run->plan->to_ros1 ? 0 : padding(run->out_at, align);
  if (__builtin_expect(size > run->out_room || run->out_at + before + size > run->out_room, 0)) {
    *status = grow(run, (uint64_t)run->out_at + before + size);
    if (*status) return NULL;
  }
  uint8_t *at = run->out + run->out_at;
  memset(at, 0, 8); /* padding is at most 7, and there is slack */
  run->out_at += before + size;
  return at + before;
}

/* `size` bytes of the input, aligned. NULL: there are fewer. */
static inline const uint8_t *take(run_t *run, uint32_t align, uint64_t size)
{
  size_t at = run->in_at + (run->plan->to_ros1 ? padding(run->in_at, align) : 0);
  if (__builtin_expect(at > run->in_size || size > run->in_size - at, 0)) return NULL;
  run->in_at = at + (size_t)size;
  return run->in + at;
}

/* Bytes that were taken, to where they were put. */
static inline void move(const run_t *run, uint8_t *to, const uint8_t *from, size_t size)
{
  if (size <= BLOCK && run->in_size - (size_t)(from - run->in) >= BLOCK)
    memcpy(to, from, BLOCK); /* some of these are written again */
  else
    memcpy(to, from, size);
}

static uint32_t load(const run_t *run, const uint8_t *bytes)
{
  uint32_t number = load_little(bytes);
  return run->is_turned ? __builtin_bswap32(number) : number;
}

static tb_status_t put_number(run_t *run, uint32_t number)
{
  tb_status_t status = TB_OK;
  uint8_t *to = put(run, 4, 4, &status);
  if (to) store_little(to, number);
  return status;
}

/* --- runs of bytes --- */

static void turn(uint8_t *to, const uint8_t *from, uint32_t width, size_t count)
{
  for (size_t i = 0; i < count; i++, to += width, from += width)
    for (uint32_t k = 0; k < width; k++)
      to[k] = from[width - 1 - k];
}

/* `count` times the bytes of a step. */
static void turn_pieces(const run_t *run, const tb__reencode_step_t *step, uint8_t *to,
                        const uint8_t *from, size_t count)
{
  const tb__reencode_piece_t *pieces = run->plan->pieces + step->first_piece;
  for (size_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < step->piece_count; k++) {
      size_t size = (size_t)pieces[k].width * pieces[k].count;
      turn(to, from, pieces[k].width, pieces[k].count);
      to += size;
      from += size;
    }
}

static inline tb_status_t copy(run_t *run, const tb__reencode_step_t *step, uint32_t count)
{
  tb_status_t status = TB_OK;
  uint64_t size = (uint64_t)step->size * count;
  if (count == 0) return TB_OK; /* no padding either */
  const uint8_t *from = take(run, step->align, size);
  if (!from) return too_short(run, step);
  uint8_t *to = put(run, step->align, (size_t)size, &status);
  if (!to) return status;
  if (run->is_turned)
    turn_pieces(run, step, to, from, count);
  else
    move(run, to, from, (size_t)size);
  return TB_OK;
}

/* The number of elements, which is passed on for a sequence. */
static tb_status_t pass_length(run_t *run, const tb__reencode_step_t *step, uint32_t *out)
{
  *out = step->count;
  if (!step->is_sequence) return TB_OK;
  const uint8_t *from = take(run, 4, 4);
  if (!from) return too_short(run, step);
  *out = load(run, from);
  if (step->count > 0 && *out > step->count) return above_bound(run, step);
  if (*out > run->in_size - run->in_at) return too_short(run, step); /* no element is empty */
  return put_number(run, *out);
}

static tb_status_t run_many(run_t *run, const tb__reencode_step_t *step)
{
  uint32_t count = 0;
  tb_status_t status = pass_length(run, step, &count);
  return status ? status : copy(run, step, count);
}

static tb_status_t run_bools(run_t *run, const tb__reencode_step_t *step)
{
  uint32_t count = 0;
  tb_status_t status = pass_length(run, step, &count);
  const uint8_t *from = status ? NULL : take(run, 1, count);
  if (status) return status;
  if (!from) return too_short(run, step);
  uint8_t *to = put(run, 1, count, &status);
  for (uint32_t i = 0; i < count && to; i++)
    to[i] = from[i] != 0;
  return status;
}

static tb_status_t run_loop(run_t *run, const tb__reencode_step_t *step)
{
  uint32_t count = 0;
  tb_status_t status = pass_length(run, step, &count);
  for (uint32_t i = 0; i < count && !status; i++)
    status = run_steps(run, step + 1, step->body);
  return status;
}

/* --- what is different --- */

static inline tb_status_t run_time(run_t *run, const tb__reencode_step_t *step)
{
  tb_status_t status = TB_OK;
  const uint8_t *from = take(run, 4, 8);
  if (!from) return too_short(run, step);
  uint32_t seconds = load(run, from), ns = load(run, from + 4);
  if (ns >= NS_PER_S) return fail(run, step, TB_ERR_CORRUPT, "a time with 1e9 ns or more");
  if (step->kind == TB__REENCODE_TIME && seconds > INT32_MAX)
    return fail(run, step, TB_ERR_RANGE,
                run->plan->to_ros1 ? "a negative time, which ROS 1 has not"
                                   : "a time after January 2038, which ROS 2 has not");
  uint8_t *to = put(run, 4, 8, &status);
  if (!to) return status;
  store_little(to, seconds);
  store_little(to + 4, ns);
  return TB_OK;
}

static inline tb_status_t string_to_ros2(run_t *run, const tb__reencode_step_t *step)
{
  tb_status_t status = TB_OK;
  const uint8_t *from = take(run, 1, 4);
  if (!from) return too_short(run, step);
  uint32_t length = load_little(from);
  from = take(run, 1, length);
  if (!from) return too_short(run, step);
  if (length == UINT32_MAX || (step->count > 0 && length > step->count))
    return above_bound(run, step);
  uint8_t *to = put(run, 4, (size_t)length + 5, &status);
  if (!to) return status;
  store_little(to, length + 1);
  move(run, to + 4, from, length);
  to[4 + (size_t)length] = '\0';
  return TB_OK;
}

static inline tb_status_t string_to_ros1(run_t *run, const tb__reencode_step_t *step)
{
  tb_status_t status = TB_OK;
  const uint8_t *from = take(run, 4, 4);
  if (!from) return too_short(run, step);
  uint32_t length = load(run, from);
  from = take(run, 1, length);
  if (!from) return too_short(run, step);
  if (length > 0 && from[--length] != '\0')
    return fail(run, step, TB_ERR_CORRUPT, "a string without a NUL at its end");
  if (step->count > 0 && length > step->count) return above_bound(run, step);
  uint8_t *to = put(run, 1, (size_t)length + 4, &status);
  if (!to) return status;
  store_little(to, length);
  move(run, to + 4, from, length);
  return TB_OK;
}

static inline tb_status_t run_count(run_t *run, const tb__reencode_step_t *step)
{
  if (run->plan->to_ros1) return put_number(run, step->is_first ? run->input->sequence : 0);
  return take(run, 1, 4) ? TB_OK : too_short(run, step);
}

static tb_status_t run_byte(run_t *run, const tb__reencode_step_t *step)
{
  tb_status_t status = TB_OK;
  if (run->plan->to_ros1) return take(run, 1, 1) ? TB_OK : too_short(run, step);
  uint8_t *to = put(run, 1, 1, &status);
  if (to) *to = 0;
  return status;
}

/* What is usual; false: the steps that follow find out what is wrong. */
static inline bool header_to_ros2(run_t *run, tb_status_t *status)
{
  const uint8_t *from = run->in + run->in_at;
  size_t left = run->in_size - run->in_at;
  if (left < 16) return false;
  uint32_t seconds = load_little(from + 4), ns = load_little(from + 8);
  uint32_t length = load_little(from + 12);
  if (seconds > INT32_MAX || ns >= NS_PER_S || length > left - 16) return false;
  run->in_at += 16 + (size_t)length;
  uint8_t *to = put(run, 4, (size_t)length + 13, status);
  if (!to) return true;
  store_little(to, seconds);
  store_little(to + 4, ns);
  store_little(to + 8, length + 1);
  move(run, to + 12, from + 16, length);
  to[12 + (size_t)length] = '\0';
  return true;
}

static inline bool header_to_ros1(run_t *run, uint32_t sequence, tb_status_t *status)
{
  size_t at = run->in_at + padding(run->in_at, 4);
  if (at > run->in_size || run->in_size - at < 13) return false;
  const uint8_t *from = run->in + at;
  uint32_t seconds = load(run, from), ns = load(run, from + 4), size = load(run, from + 8);
  if (seconds > INT32_MAX || ns >= NS_PER_S || size == 0 || size > run->in_size - at - 12 ||
      from[12 + (size_t)size - 1] != '\0')
    return false;
  run->in_at = at + 12 + size;
  uint8_t *to = put(run, 1, (size_t)size + 15, status);
  if (!to) return true;
  store_little(to, sequence);
  store_little(to + 4, seconds);
  store_little(to + 8, ns);
  store_little(to + 12, size - 1);
  move(run, to + 16, from + 12, size - 1);
  return true;
}

static inline tb_status_t run_header(run_t *run, const tb__reencode_step_t *step)
{
  tb_status_t status = TB_OK;
  bool is_done = run->plan->to_ros1
                     ? header_to_ros1(run, step->is_first ? run->input->sequence : 0, &status)
                     : header_to_ros2(run, &status);
  return is_done ? status : run_steps(run, step + 1, step->body);
}

/* The severity that is not above it. */
static tb_status_t run_level(run_t *run, const tb__reencode_step_t *step)
{
  static const uint8_t ros1[] = {1, 2, 4, 8, 16}, ros2[] = {10, 20, 30, 40, 50};
  const uint8_t *from = take(run, 1, 1);
  tb_status_t status = TB_OK;
  if (!from) return too_short(run, step);
  const uint8_t *known = run->plan->to_ros1 ? ros2 : ros1,
                *other = run->plan->to_ros1 ? ros1 : ros2;
  size_t i = sizeof ros1 - 1;
  while (i > 0 && known[i] > *from)
    i--;
  uint8_t *to = put(run, 1, 1, &status);
  if (to) *to = other[i];
  return status;
}

static tb_status_t run_texts(run_t *run, const tb__reencode_step_t *step)
{
  if (run->plan->to_ros1) return put_number(run, 0);
  const uint8_t *from = NULL;
  uint32_t count = 1;
  if (step->is_sequence && !(from = take(run, 1, 4))) return too_short(run, step);
  if (from) count = load_little(from);
  for (uint32_t i = 0; i < count; i++)
    if (!(from = take(run, 1, 4)) || !take(run, 1, load_little(from))) return too_short(run, step);
  return TB_OK;
}

static inline tb_status_t run_step(run_t *run, const tb__reencode_step_t *step)
{
  switch (step->kind) {
  case TB__REENCODE_COPY:
    return copy(run, step, 1);
  case TB__REENCODE_MANY:
    return run_many(run, step);
  case TB__REENCODE_BOOLS:
    return run_bools(run, step);
  case TB__REENCODE_TIME:
  case TB__REENCODE_DURATION:
    return run_time(run, step);
  case TB__REENCODE_STRING:
    return run->plan->to_ros1 ? string_to_ros1(run, step) : string_to_ros2(run, step);
  case TB__REENCODE_LOOP:
    return run_loop(run, step);
  case TB__REENCODE_HEADER:
    return run_header(run, step);
  case TB__REENCODE_COUNT:
    return run_count(run, step);
  case TB__REENCODE_LEVEL:
    return run_level(run, step);
  case TB__REENCODE_TEXTS:
    return run_texts(run, step);
  default:
    return run_byte(run, step);
  }
}

static tb_status_t run_steps(run_t *run, const tb__reencode_step_t *step, size_t count)
{
  tb_status_t status = TB_OK;
  for (const tb__reencode_step_t *end = step + count; step < end && !status; step += 1 + step->body)
    status = run_step(run, step);
  return status;
}

/* --- messages --- */

static tb_status_t open_cdr(run_t *run)
{
  const uint8_t *bytes = run->input->data;
  if (run->input->size < ENCAPSULATION_SIZE)
    return tb_error_set(run->error, TB_ERR_TRUNCATED, "message of %.150s: fewer than 4 bytes",
                        run->input->type);
  if (bytes[0] != 0 || bytes[1] > 1)
    return tb_error_set(run->error, TB_ERR_UNSUPPORTED,
                        "message of %.150s: its encapsulation is not that of CDR",
                        run->input->type);
  run->is_turned = bytes[1] == 0;
  run->in += ENCAPSULATION_SIZE;
  run->in_size -= ENCAPSULATION_SIZE;
  return TB_OK;
}

tb_status_t tb__reencode_run(const tb__reencode_plan_t *plan, const tb__reencode_input_t *input,
                             tb__reencode_buffer_t *out, tb_error_t *error)
{
  static const uint8_t encapsulation[ENCAPSULATION_SIZE] = {0, 1, 0, 0};
  run_t run = {.plan = plan,
               .input = input,
               .error = error,
               .in = input->data,
               .in_size = input->size,
               .buffer = out};
  size_t head = plan->to_ros1 ? 0 : ENCAPSULATION_SIZE;
  tb_status_t status = plan->to_ros1 ? open_cdr(&run) : TB_OK;
  if (!status && out->room == 0) status = grow(&run, 0);
  if (status) return status;
  run.out = out->data + head;
  run.out_room = out->room - ENCAPSULATION_SIZE - SLACK;
  status = run_steps(&run, plan->steps, plan->step_count);
  if (status) return status;
  if (run.in_size - run.in_at > (plan->to_ros1 ? PADDING_MAX : 0))
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "message of %.150s: %zu bytes after its last field: it is of another "
                        "definition",
                        input->type, run.in_size - run.in_at);
  memcpy(out->data, encapsulation, head);
  out->size = run.out_at + head;
  return TB_OK;
}
