/* Generations of caches. At each jump that resets they rise twice: in "before", to one during which
 * nothing is labelled, as threads may read the old time or the new one, and in "after". */
#include <stdatomic.h>
#include <stdlib.h>
#include <timebase/reset.h>

#include "base/fork.h"
#include "base/saturate.h"
#include "base/sized.h"

#define FUTURE_NS INT64_C(100000000)
#define NONE      INT64_MIN

struct tb_reset {
  const tb_clock_t *clock;
  tb_jump_handler_t *handler;
  int64_t min_forward_ns, future_ns;
  tb_jump_callback_t on_reset;
  void *user;
  _Atomic uint64_t generation;
  /* Of the following the jumps of the clock are the only writers, one at a time. */
  _Atomic int64_t latest_ns;  /* the latest time that any reset has left; NONE: no reset yet */
  _Atomic int64_t ends_by_ns; /* stamps up to this are of before a step forward; NONE: no step */
  int64_t left_ns;            /* the time that a source left which has not started again; NONE */
};

/* What a jump that resets leaves, and where it leads to: 0 is a clock that has not started. */
static void move_bounds(tb_reset_t *reset, int64_t before_ns, int64_t after_ns)
{
  if (before_ns > reset->latest_ns) reset->latest_ns = before_ns;
  if (after_ns > before_ns)
    reset->ends_by_ns = after_ns > reset->latest_ns ? reset->latest_ns : before_ns;
  else if (after_ns <= reset->ends_by_ns)
    reset->ends_by_ns = NONE; /* those times come again */
}

static bool resets(const tb_jump_t *jump)
{
  return jump->kind != TB_JUMP_STARTED;
}

static void before_jump(const tb_jump_t *jump, void *user)
{
  tb_reset_t *reset = user;
  if (resets(jump)) atomic_fetch_add(&reset->generation, 1);
}

static void after_jump(const tb_jump_t *jump, void *user)
{
  tb_reset_t *reset = user;
  bool has_left = jump->before.ns != 0;
  int64_t before_ns = has_left ? jump->before.ns : reset->left_ns;
  if (before_ns != NONE) move_bounds(reset, before_ns, jump->after.ns);
  reset->left_ns = jump->after.ns ? NONE : before_ns;
  if (!resets(jump)) return;
  atomic_fetch_add(&reset->generation, 1);
  if (reset->on_reset) reset->on_reset(jump, reset->user);
}

static tb_status_t make_handler(tb_reset_t *reset, tb_clock_t *clock, const char *name)
{
  const tb_jump_handler_options_t options = {
      .name = name ? name : "reset",
      .threshold = {{reset->min_forward_ns}, {-1}, true},
      .before = before_jump,
      .after = after_jump,
      .user = reset,
  };
  return tb_jump_handler_create(clock, &options, &reset->handler);
}

static tb_status_t create(tb_clock_t *clock, const tb_reset_options_t *options, tb_reset_t **out)
{
  static const tb_reset_options_t defaults = TB_RESET_OPTIONS_INIT;
  if (!options) options = &defaults;
  if (!clock || !out || options->min_forward.ns < 0 || options->future.ns < 0)
    return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_reset_t *reset = calloc(1, sizeof *reset);
  if (!reset) return TB_ERR_NO_MEMORY;
  reset->clock = clock;
  reset->min_forward_ns = options->min_forward.ns;
  reset->future_ns = options->future.ns ? options->future.ns : FUTURE_NS;
  reset->on_reset = options->on_reset;
  reset->user = options->user;
  reset->generation = 2;
  reset->latest_ns = reset->ends_by_ns = reset->left_ns = NONE;
  tb_status_t status = make_handler(reset, clock, options->name);
  if (status) {
    free(reset);
    return status;
  }
  *out = reset;
  return TB_OK;
}

tb_status_t tb_reset_create_sized(tb_clock_t *clock, const tb_reset_options_t *options,
                                  size_t options_size, tb_reset_t **out)
{
  tb_reset_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return create(clock, options, out);
}

void tb_reset_destroy(tb_reset_t *reset)
{
  if (!reset) return;
  tb_jump_handler_destroy(reset->handler);
  free(reset);
}

/* Those of jumps in progress are odd. */
static uint64_t label_of(uint64_t generation)
{
  return generation % 2 ? 0 : generation;
}

uint64_t tb_reset_generation(const tb_reset_t *reset)
{
  return reset ? label_of(atomic_load(&reset->generation)) : 0;
}

bool tb_reset_poll(const tb_reset_t *reset, uint64_t *seen)
{
  if (!reset || !seen) return false;
  uint64_t generation = atomic_load(&reset->generation);
  if (*seen == generation) return false;
  *seen = generation;
  return true;
}

/* What belongs to one generation. */
typedef struct moment {
  uint64_t generation;
  tb_time_t now;
  int64_t latest_ns, ends_by_ns;
} moment_t;

/* Each round but the last has met a jump. */
static tb_status_t read_moment(const tb_reset_t *reset, moment_t *out)
{
  do {
    out->generation = atomic_load(&reset->generation);
    tb_status_t status = tb_clock_now(reset->clock, &out->now);
    if (status) return status;
    out->latest_ns = atomic_load(&reset->latest_ns);
    out->ends_by_ns = atomic_load(&reset->ends_by_ns);
  } while (out->generation != atomic_load(&reset->generation));
  return tb_time_is_set(out->now) ? TB_OK : TB_ERR_NOT_SET;
}

tb_status_t tb_reset_read(const tb_reset_t *reset, tb_time_t *time, uint64_t *generation)
{
  moment_t moment;
  if (!reset || !time || !generation) return TB_ERR_INVALID;
  tb_status_t status = read_moment(reset, &moment);
  if (status) return status;
  *time = moment.now;
  *generation = label_of(moment.generation);
  return TB_OK;
}

tb_status_t tb_reset_accept(const tb_reset_t *reset, tb_time_t stamp, uint64_t *generation)
{
  moment_t moment;
  if (!reset || !generation) return TB_ERR_INVALID;
  if (!tb_time_is_set(stamp)) return TB_ERR_NOT_SET;
  tb_status_t status = read_moment(reset, &moment);
  if (status) return status;
  if (stamp.kind != moment.now.kind) return TB_ERR_CLOCK_MISMATCH;
  if (stamp.ns <= moment.ends_by_ns) return TB_ERR_JUMP_FORWARD;
  bool is_ahead = stamp.ns > tb__add_saturated(moment.now.ns, reset->future_ns);
  if (is_ahead && stamp.ns <= moment.latest_ns) return TB_ERR_JUMP_BACKWARD;
  *generation = label_of(moment.generation);
  return TB_OK;
}
