/* Clocks that report steady time: never set, never jump, the same whatever ROS time does. */
#ifndef TIMEBASE_STEADY_CLOCK_H
#define TIMEBASE_STEADY_CLOCK_H

#include <timebase/status.h>
#include <timebase/steady_time.h>

/** A clock that reports steady time. */
typedef struct tb_steady_clock tb_steady_clock_t;

TB_BEGIN_DECLS

/** [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY. */
TB_API TB_WARN_UNUSED tb_status_t tb_steady_clock_create(tb_steady_clock_t **out);

/** As tb_clock_destroy. [any thread] [blocks] TB_ERR_DEADLOCK from a jump callback. */
TB_API tb_status_t tb_steady_clock_destroy(tb_steady_clock_t *clock);

/** CLOCK_MONOTONIC: slewed by NTP, never stepped, and does not count while the machine is
 * suspended. A resume is a forward step of system time against it (jump.h). [any thread] [from
 * callbacks] TB_ERR_INVALID for NULL. */
TB_HOT_API tb_status_t tb_steady_clock_now(const tb_steady_clock_t *clock, tb_steady_time_t *out);

TB_END_DECLS

#endif
