#include "ros2/write_turn.h"

#include "held/parking.h"

enum { FREE, TAKEN, WANTED };

bool tb__write_turn_take(tb__write_turn_t *turn, tb__deadline_t deadline, int64_t limit_ns)
{
  uint32_t free = FREE;
  if (atomic_compare_exchange_strong(&turn->word, &free, TAKEN)) return true;
  tb__deadline_t until = tb__deadline_at(tb__steady_now_ns() + limit_ns);
  if (deadline.clock == TB__DEADLINE_STEADY && deadline.ns < until.ns) until = deadline;
  for (bool in_time = true;;) {
    if (atomic_exchange(&turn->word, WANTED) == FREE) return true;
    if (!in_time) return false;
    in_time = tb__futex_wait(&turn->word, WANTED, until);
  }
}

void tb__write_turn_give(tb__write_turn_t *turn)
{
  if (atomic_exchange(&turn->word, FREE) == WANTED) tb__futex_wake_one(&turn->word);
}
