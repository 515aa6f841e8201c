#include "wait/call_wait.h"

#include "held/parking.h"

tb_status_t tb__call_wait_begin(tb__call_wait_t *wait, const tb_wait_options_t *options,
                                _Atomic uint32_t *word)
{
  tb_clock_t *clock = options ? options->clock : NULL;
  if (options && options->flags && !clock) return TB_ERR_INVALID;
  tb_status_t status = tb__sleeper_init(&wait->sleeper, clock, TB__GOAL_FOR, INT64_MAX, options);
  if (status) return status;
  wait->word = word;
  wait->deadline = tb__deadline_at(wait->sleeper.limit_ns);
  return tb__sleeper_begin(&wait->sleeper, word);
}

tb_status_t tb__call_wait_ended(tb__call_wait_t *wait)
{
  return tb__sleeper_ended(&wait->sleeper);
}

tb_status_t tb__call_wait_for(tb__call_wait_t *wait, tb_status_t (*look)(void *user), void *user)
{
  for (;;) {
    uint32_t seen = atomic_load(wait->word);
    tb_status_t status = tb__call_wait_ended(wait); /* S5: before what is due */
    if (!status) status = look(user);
    if (status != TB_ERR_TIMEOUT) return status;
    if (!tb__futex_wait(wait->word, seen, wait->deadline)) return TB_ERR_TIMEOUT;
  }
}

void tb__call_wait_end(tb__call_wait_t *wait)
{
  tb__sleeper_end(&wait->sleeper);
}

tb_status_t tb__call_wait(const tb_wait_options_t *options, _Atomic uint32_t *word,
                          tb_status_t (*look)(void *user), void *user)
{
  tb__call_wait_t wait;
  tb_status_t status = tb__call_wait_begin(&wait, options, word);
  if (status) return status;
  status = tb__call_wait_for(&wait, look, user);
  tb__call_wait_end(&wait);
  return status;
}
