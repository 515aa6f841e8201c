#include "ros1/turns.h"

#include <stddef.h>
#include <string.h>

#include "base/list.h"

static bool is_for(const tb__ros1_turn_t *turn, const tb__ros1_uri_t *peer)
{
  return turn->peer->port == peer->port && strcmp(turn->peer->host, peer->host) == 0;
}

static bool is_busy(const tb__ros1_turns_t *turns, const tb__ros1_uri_t *peer)
{
  unsigned count = 0;
  for (const tb__ros1_turn_t *turn = turns->taken; turn; turn = turn->next)
    count += is_for(turn, peer);
  return count >= TB__TURNS_MAX;
}

static void begin(tb__ros1_turns_t *turns, tb__ros1_turn_t *turn)
{
  turn->state = TB__TURN_TAKEN;
  TB__CHAIN_APPEND(turns->taken, turn);
  turn->run(turn);
}

void tb__ros1_turn_take(tb__ros1_turns_t *turns, tb__ros1_turn_t *turn, const tb__ros1_uri_t *peer,
                        void (*run)(tb__ros1_turn_t *turn))
{
  turn->peer = peer;
  turn->run = run;
  if (!is_busy(turns, peer)) {
    begin(turns, turn);
    return;
  }
  turn->state = TB__TURN_WAITING;
  TB__CHAIN_APPEND(turns->waiting, turn);
}

void tb__ros1_turn_give(tb__ros1_turns_t *turns, tb__ros1_turn_t *turn)
{
  tb__ros1_turn_state_t state = turn->state;
  turn->state = TB__TURN_NONE;
  if (state == TB__TURN_WAITING) TB__CHAIN_REMOVE(turns->waiting, turn);
  if (state != TB__TURN_TAKEN) return;
  TB__CHAIN_REMOVE(turns->taken, turn);
  tb__ros1_turn_t *next = turns->waiting;
  while (next && !is_for(next, turn->peer))
    next = next->next;
  if (!next) return;
  TB__CHAIN_REMOVE(turns->waiting, next);
  begin(turns, next);
}
