/* The thread "tb-monitor": checks items at moments of steady time, one after the other. It exists
 * while there are items. Their checks may call the program's callbacks. */
#ifndef TB_MEASURE_MONITOR_H
#define TB_MEASURE_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/status.h>

typedef struct tb__monitored tb__monitored_t;

/* What an item does. */
typedef struct tb__monitored_ops {
  /* On the thread, nothing is held. Returns the steady time of the next check, INT64_MAX: none. */
  int64_t (*check)(tb__monitored_t *item, int64_t now_ns);
  /* Frees it, once no check of it runs. */
  void (*release)(tb__monitored_t *item);
} tb__monitored_ops_t;

/* The first member of what is monitored. All but `ops` is by the monitor's mutex. */
struct tb__monitored {
  const tb__monitored_ops_t *ops;
  tb__monitored_t *next, *previous;
  int64_t due_ns; /* steady; INT64_MAX: not */
  bool poked;     /* while its check ran */
  bool removed;   /* the same */
};

/* Starts the thread if there is none. TB_ERR_SYSTEM, TB_ERR_FORKED, TB_ERR_NO_MEMORY: the item is
 * not added. [any thread, from callbacks] */
tb_status_t tb__monitor_add(tb__monitored_t *item, int64_t due_ns);

/* Has it checked at once, in any case after this call. [any thread, from callbacks] */
void tb__monitor_poke(tb__monitored_t *item);

/* No check of it begins any more. Returns when none runs and it has been released, except from its
 * own check, a jump callback and the log hook: there it returns at once, and a check that runs is
 * the last; the item is released after it. [any thread] */
void tb__monitor_remove(tb__monitored_t *item);

/* Whether this is the thread. */
bool tb__monitor_is_here(void);

#endif
