/* One descriptor that becomes readable by an event or by alarms of the operating system's clocks.
 */
#ifndef TB_PLATFORM_POLL_SET_H
#define TB_PLATFORM_POLL_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/status.h>

typedef struct tb__poll_set {
  int epoll_fd, event_fd;
} tb__poll_set_t;

typedef struct tb__poll_alarm {
  int fd;
  bool system;
  bool owed;               /* it has gone off by a hand that moved time (activity.h) */
  _Atomic int64_t when_ns; /* as set */
  struct tb__poll_alarm *next, *previous;
} tb__poll_alarm_t;

/* TB_ERR_SYSTEM: no more descriptors. */
tb_status_t tb__poll_set_init(tb__poll_set_t *set);
void tb__poll_set_fini(tb__poll_set_t *set);

void tb__poll_set_raise(tb__poll_set_t *set);
/* Blocks until the event is raised or an alarm has gone off. */
void tb__poll_set_wait(tb__poll_set_t *set);
/* Takes the event back. */
void tb__poll_set_clear(tb__poll_set_t *set);

/* An alarm on CLOCK_REALTIME (`system`) or CLOCK_MONOTONIC, not set; it stays where it is. */
tb_status_t tb__poll_alarm_init(tb__poll_alarm_t *alarm, tb__poll_set_t *set, bool system);
void tb__poll_alarm_fini(tb__poll_alarm_t *alarm);
/* At the absolute time `when_ns`; INT64_MAX: never. */
void tb__poll_alarm_set(tb__poll_alarm_t *alarm, int64_t when_ns);
/* Makes one that has gone off quiet. */
void tb__poll_alarm_clear(tb__poll_alarm_t *alarm);
/* The thread that is to look after the alarm has nothing to do for it until time moves. */
void tb__poll_alarm_rest(tb__poll_alarm_t *alarm);

/* For held_time.h: all alarms are on a list. */
void tb__poll_alarm_list(tb__poll_alarm_t *alarm);
void tb__poll_alarm_unlist(tb__poll_alarm_t *alarm);
/* As the kernel counts. */
void tb__poll_alarm_set_kernel(const tb__poll_alarm_t *alarm, int64_t when_ns);
/* Time has been taken, moved or given back. */
void tb__poll_alarms_review(void);
/* The earliest alarm after the time; INT64_MAX: none. */
int64_t tb__poll_alarms_next(bool system, int64_t after_ns);

#endif
