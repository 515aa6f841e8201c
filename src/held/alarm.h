/* Alarms on the operating system's clocks, also while a test holds time: each one makes a poll set
 * readable. */
#ifndef TB_HELD_ALARM_H
#define TB_HELD_ALARM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/status.h>

#include "platform/poll_set.h"

typedef struct tb__poll_alarm {
  int fd;
  bool system;
  bool inflight; /* it went off because a test moved time, and counts as in-flight (inflight.h) */
  _Atomic int64_t when_ns; /* as set */
  struct tb__poll_alarm *next, *previous;
} tb__poll_alarm_t;

/* An alarm on CLOCK_REALTIME (`system`) or CLOCK_MONOTONIC, not set. Its address must not
 * change. */
tb_status_t tb__poll_alarm_init(tb__poll_alarm_t *alarm, tb__poll_set_t *set,
                                bool system) TB_WARN_UNUSED;
void tb__poll_alarm_fini(tb__poll_alarm_t *alarm);
/* At the absolute time `when_ns`; INT64_MAX: never. */
void tb__poll_alarm_set(tb__poll_alarm_t *alarm, int64_t when_ns);
/* Clears an alarm that has gone off. */
void tb__poll_alarm_clear(tb__poll_alarm_t *alarm);
/* The thread that serves the alarm has nothing to do for it until time moves. */
void tb__poll_alarm_quiesce(tb__poll_alarm_t *alarm);

/* Call after time has been held, moved or released. */
void tb__poll_alarms_review(void);
/* The earliest alarm after the time; INT64_MAX: none. */
int64_t tb__poll_alarms_next(bool system, int64_t after_ns);

#endif
