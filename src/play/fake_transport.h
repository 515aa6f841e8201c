/* A transport that records what it is given, for tests of players. */
#ifndef TB_PLAY_FAKE_TRANSPORT_H
#define TB_PLAY_FAKE_TRANSPORT_H

#include <stdint.h>
#include <timebase/play_transport.h>

#include "server/manual_pacer.h"

/* The trace is text: "@25" when steady time has moved, in ms since the start; "c1000" a tick, in ms
 * of its time, "L1000" with reason LOOP, "S1000" SEEK; "/a" a message of that topic; "settle" and
 * "flush"; two paths
 * where another file of the bag begins. */
typedef struct tb__fake_transport {
  tb__manual_pacer_t *pacer;
  char *trace;
  size_t trace_size;
  int64_t traced_ns; /* steady time of the last mark */

  const char *fault_topic; /* publishing it fails */
  tb_status_t fault;
  tb_status_t tick_fault, flush_fault;
  int64_t publish_cost_ns; /* steady */
  size_t topics, messages, ticks, interrupts;
  tb_duration_t flush_limit; /* the last one */

  int64_t limit_ns; /* TB_PLAY_NO_LIMIT at first */
  tb_status_t limit_fault;
  bool keeps; /* messages are kept until "send", which is written down if there were any */
  size_t kept;
  bool limits_messages; /* each message sets the limit to 0 */
  bool pends_messages;  /* each message makes it 0 for the next poll */
  bool pends;
  size_t jumps, names;
  int64_t time_ns; /* as the player has set it */
  void (*wake)(void *user);
  void *wake_user;

  /* Called with each event, after it was written down. NULL: not. */
  void (*on_tick)(void *user, int64_t steady_ns, int64_t time_ns, tb_jump_reason_t reason);
  void (*on_message)(void *user, int64_t steady_ns, const char *topic, const void *data,
                     size_t size);
  void (*on_settle)(void *user), (*on_flush)(void *user);
  void *user;
} tb__fake_transport_t;

tb_play_transport_t tb__fake_transport_init(tb__fake_transport_t *fake, tb__manual_pacer_t *pacer);
/* Sets the limit and wakes the player. */
void tb__fake_transport_limit(tb__fake_transport_t *fake, int64_t limit_ns);
void tb__fake_transport_fini(tb__fake_transport_t *fake);

#endif
