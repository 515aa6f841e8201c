/* The process's default source, and the clocks that follow it. */
#ifndef TB_CLOCK_DEFAULT_SOURCE_H
#define TB_CLOCK_DEFAULT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/source.h>

#include "clock/clock.h"

/* Call before a clock follows: makes the default that the environment names, unless the default has
 * been decided already. Returns what making it returns; TB_ERR_DEADLOCK in a jump callback, where
 * it cannot be made. With no lock held. */
tb_status_t tb__default_need(void) TB_WARN_UNUSED;

/* Makes the clock a follower. Returns the default, acquired, or NULL. With the clock's `moving`
 * held. */
tb_source_t *tb__default_join(tb_clock_t *clock);
/* The opposite, if the clock is a follower. With its `moving` held. */
void tb__default_leave(tb_clock_t *clock);

/* Clears the default if it is `source`, which is about to be destroyed. With no lock held. The
 * limit is a steady time, INT64_MAX: none; TB_ERR_TIMEOUT: some clocks may have left it. */
tb_status_t tb__default_forget(tb_source_t *source, int64_t limit_ns) TB_WARN_UNUSED;

/* Logs, once per process, that there is no default. With no lock held. */
void tb__default_report_none(void);

/* Moves the clock to `source`, which is or becomes the default, if it still follows. *out_stop: the
 * source to stop, or untouched. TB_ERR_TIMEOUT: the clock has not moved. */
tb_status_t tb__clock_follow(tb_clock_t *clock, tb_source_t *source, int64_t limit_ns,
                             tb__held_timeline_t **spares, tb_source_t **out_stop) TB_WARN_UNUSED;

/* Spare nodes, so that moving a clock cannot fail. Adds `count`; false (unchanged): no memory. */
bool tb__held_reserve(tb__held_timeline_t **spares, uint32_t count) TB_WARN_UNUSED;
void tb__held_free(tb__held_timeline_t *spares);

/* Makes the source that the environment names. The source part, which knows sources by name,
 * registers it before there is a clock; this part calls nothing in that one. */
typedef struct tb__default_maker {
  const char *(*name)(void);                /* in the environment; NULL: it names none */
  tb_status_t (*create)(tb_source_t **out); /* untouched if none is named; logs why it fails */
} tb__default_maker_t;

/* `maker` must last as long as the process. Any thread, any number of times. */
void tb__default_set_maker(const tb__default_maker_t *maker);

#endif
