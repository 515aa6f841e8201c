#include "clock/default_source.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "clock/callback_context.h"
#include "clock/jump_wait.h"
#include "clock/source.h"
#include "held/parking.h"

typedef enum decision {
  UNDECIDED,
  MAKING, /* a thread makes what the environment names, with no lock held */
  DECIDED,
} decision_t;

/* Futex: 1 through a change of the default with its callbacks. Only calls that jump callbacks may
 * not make wait for it. */
static _Atomic uint32_t changing;

static tb__mutex_t mutex = TB__MUTEX_INIT; /* short; guards what follows */
static tb_source_t *current;               /* counted as its user */
static tb_clock_t *followers;              /* on `current`, or moving to it */
static tb_clock_t *to_move;                /* during a change: followers of the previous default */
static uint32_t follower_count;            /* of both lists */
static tb_clock_t *in_move;                /* the one that is being moved, or NULL */
static _Atomic uint32_t decision;          /* decision_t; futex */

/* What was made for the environment. Guarded by `changing`. */
static tb_source_t *owned;
static pid_t owned_by;

static _Thread_local bool making;

static const tb__default_maker_t *_Atomic registered; /* NULL: there is no clock yet */

void tb__default_set_maker(const tb__default_maker_t *maker)
{
  atomic_store(&registered, maker);
}

static const char *name_in_environment(void)
{
  const tb__default_maker_t *known = atomic_load(&registered);
  return known ? known->name() : NULL;
}

static tb_status_t create_from_environment(tb_source_t **out)
{
  const tb__default_maker_t *known = atomic_load(&registered);
  return known ? known->create(out) : TB_OK;
}

bool tb__held_reserve(tb__held_timeline_t **spares, uint32_t count)
{
  tb__held_timeline_t *added = NULL;
  tb__held_timeline_t **end = &added;
  for (uint32_t i = 0; i < count; i++) {
    *end = calloc(1, sizeof **end);
    if (!*end) {
      tb__held_free(added);
      return false;
    }
    end = &(*end)->next;
  }
  *end = *spares;
  *spares = added;
  return true;
}

void tb__held_free(tb__held_timeline_t *spares)
{
  while (spares) {
    tb__held_timeline_t *next = spares->next;
    free(spares);
    spares = next;
  }
}

/* ---- the list of followers ---- */

static void link_locked(tb_clock_t **list, tb_clock_t *clock) TB_REQUIRES(mutex)
{
  clock->follow_next = *list;
  clock->follow_link = list;
  if (*list) (*list)->follow_link = &clock->follow_next;
  *list = clock;
}

static void unlink_locked(tb_clock_t *clock) TB_REQUIRES(mutex)
{
  *clock->follow_link = clock->follow_next;
  if (clock->follow_next) clock->follow_next->follow_link = clock->follow_link;
}

/* A clock that follows already stays on its list: a change of the default that has yet to move it
 * does so, whether the clock's own change succeeds or not. */
tb_source_t *tb__default_join(tb_clock_t *clock)
{
  tb__mutex_lock(&mutex);
  if (!clock->follows) {
    follower_count++;
    link_locked(&followers, clock);
  }
  clock->follows = true;
  tb_source_t *source = current;
  if (source && !tb__source_try_acquire(source)) source = NULL; /* a default always runs */
  tb__mutex_unlock(&mutex);
  return source;
}

void tb__default_leave(tb_clock_t *clock)
{
  if (!clock->follows) return;
  tb__mutex_lock(&mutex);
  unlink_locked(clock);
  follower_count--;
  clock->follows = false;
  tb__mutex_unlock(&mutex);
}

void tb__default_report_none(void)
{
  static _Atomic bool reported;
  if (atomic_exchange(&reported, true)) return;
  tb__log(
      TB_LOG_INFO,
      "no time source: ROS clocks that follow the process's default use system time until one is "
      "set (tb_source_set_default, or TIMEBASE_SOURCE in the environment)");
}

/* ---- changes ---- */

/* Referenced. */
static tb_clock_t *clock_in_move(void)
{
  tb__mutex_lock(&mutex);
  tb_clock_t *clock = in_move;
  if (clock) tb__clock_ref(clock);
  tb__mutex_unlock(&mutex);
  return clock;
}

static tb_status_t change_begin(int64_t limit_ns)
{
  tb__jump_wait_t wait = TB__JUMP_WAIT_INIT(limit_ns);
  while (atomic_exchange(&changing, 1)) {
    tb_clock_t *clock = clock_in_move();
    tb_status_t status = tb__jump_wait_for_change(&wait, clock, &changing, 1);
    if (clock) tb__clock_unref(clock);
    if (status) return status;
  }
  return TB_OK;
}

static void change_end(void)
{
  atomic_store(&changing, 0);
  tb__futex_wake_all(&changing);
}

/* The commit of the change, after which clocks that join get `source`. False, with nothing done, if
 * there are more than `prepared` followers. */
static bool replace(tb_source_t *source, uint32_t prepared)
{
  /* X7 */
  tb__mutex_lock(&mutex);
  bool enough = !source || follower_count <= prepared;
  if (enough) {
    current = source;
    to_move = followers;
    followers = NULL;
    if (to_move) to_move->follow_link = &to_move;
  }
  tb__mutex_unlock(&mutex);
  return enough;
}

/* Referenced, as it may be destroyed meanwhile. */
static tb_clock_t *next_to_move(void)
{
  tb__mutex_lock(&mutex);
  tb_clock_t *clock = to_move;
  if (clock) {
    unlink_locked(clock);
    link_locked(&followers, clock);
    tb__clock_ref(clock);
  }
  in_move = clock;
  tb__mutex_unlock(&mutex);
  return clock;
}

static void moved(tb_clock_t *clock)
{
  tb__mutex_lock(&mutex);
  in_move = NULL;
  tb__mutex_unlock(&mutex);
  tb__clock_unref(clock);
}

/* Clocks that have not been moved follow the new default too, but stay where they are. */
static void skip_remaining(void)
{
  for (tb_clock_t *clock; (clock = next_to_move());)
    moved(clock);
}

static uint32_t followers_now(void)
{
  tb__mutex_lock(&mutex);
  uint32_t count = follower_count;
  tb__mutex_unlock(&mutex);
  return count;
}

typedef struct change {
  tb_source_t *stop; /* after the change, with no lock held; NULL: none */
  bool left_without; /* clocks follow, and there is no default */
} change_t;

/* `source` is acquired, or NULL. Except for the limit, all that can fail is done before anything is
 * changed. TB_ERR_TIMEOUT: some clocks have not moved. */
static tb_status_t change_to(tb_source_t *source, int64_t limit_ns, change_t *out)
{
  /* X7: either all clocks that follow are moved, or none */
  tb_status_t status = TB_OK;
  tb__held_timeline_t *spares = NULL;
  tb_source_t *old = tb_source_get_default();
  uint32_t prepared = 0;
  if (source == old) {
    if (source) tb__source_revoke(source); /* acquired twice: never the last */
    return TB_OK;
  }
  while (!replace(source, prepared)) {
    uint32_t wanted = followers_now();
    if (wanted <= prepared) continue;
    if (!tb__held_reserve(&spares, wanted - prepared)) {
      tb__held_free(spares);
      return TB_ERR_NO_MEMORY;
    }
    prepared = wanted;
  }
  *out = (change_t){.stop = old && tb__source_revoke(old) ? old : NULL};
  for (tb_clock_t *clock; !status && (clock = next_to_move()); moved(clock)) {
    tb_source_t *stop = NULL;
    status = tb__clock_follow(clock, source, limit_ns, &spares, &stop);
    if (stop) out->stop = stop; /* `old`, by its last user */
    out->left_without = !source;
    if (tb__is_forked()) status = TB_ERR_FORKED; /* by a callback */
  }
  if (status) skip_remaining();
  tb__held_free(spares);
  return status;
}

static void change_finish(const change_t *change)
{
  if (change->stop) tb__source_stop(change->stop);
  if (change->left_without) tb__default_report_none();
}

/* With `if_undecided`, only while the default is undecided: TB_ERR_BUSY. */
static tb_status_t default_set(tb_source_t *source, bool if_undecided)
{
  tb_status_t status = source ? tb__source_acquire(source, INT64_MAX) : TB_OK;
  if (status) return status;
  change_t change = {0};
  change_begin(INT64_MAX);
  if (if_undecided && atomic_load(&decision) != MAKING)
    status = TB_ERR_BUSY;
  else
    status = change_to(source, INT64_MAX, &change);
  if (!status) atomic_store(&decision, DECIDED);
  if (!status && if_undecided) {
    owned = source;
    owned_by = getpid();
  }
  change_end();
  tb__futex_wake_all(&decision);
  if (status && source && tb__source_revoke(source)) change.stop = source;
  change_finish(&change);
  return status;
}

tb_status_t tb_source_set_default(tb_source_t *source)
{
  if (source == TB_SOURCE_DEFAULT) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
  return default_set(source, false);
}

tb_source_t *tb_source_get_default(void)
{
  tb__mutex_lock(&mutex);
  tb_source_t *source = current;
  tb__mutex_unlock(&mutex);
  return source;
}

tb_status_t tb__default_forget(tb_source_t *source, int64_t limit_ns)
{
  change_t change = {0};
  tb_status_t status = change_begin(limit_ns);
  if (status) return status;
  if (owned == source) owned = NULL;
  if (tb_source_get_default() == source) status = change_to(NULL, limit_ns, &change);
  change_end();
  change_finish(&change);
  return status;
}

/* ---- what the environment names ---- */

static tb_status_t make_from_environment(void)
{
  /* X7: an unusable name fails the clock, and is logged */
  tb_source_t *source = NULL;
  making = true;
  tb_status_t status = create_from_environment(&source);
  if (!status && source) {
    status = default_set(source, true);
    if (status) tb_source_destroy(source);
    if (status && status != TB_ERR_BUSY)
      tb__log(TB_LOG_ERROR,
              "TIMEBASE_SOURCE=%.99s in the environment: the source cannot be started: %s",
              name_in_environment(), tb_status_message(status));
  }
  making = false;
  uint32_t mine = MAKING; /* unless the program has set a default meanwhile */
  if (atomic_compare_exchange_strong(&decision, &mine, status ? UNDECIDED : DECIDED))
    tb__futex_wake_all(&decision);
  else
    status = TB_OK;
  return status;
}

tb_status_t tb__default_need(void)
{
  for (;;) {
    uint32_t seen = atomic_load(&decision);
    if (seen == DECIDED || making)
      return TB_OK; /* making: what makes the default cannot follow it */
    if (tb__may_not_wait()) return name_in_environment() ? TB_ERR_DEADLOCK : TB_OK;
    if (seen == UNDECIDED && atomic_compare_exchange_strong(&decision, &seen, MAKING))
      return make_from_environment();
    if (seen == MAKING) tb__futex_wait(&decision, MAKING, TB__NO_DEADLINE);
  }
}

/* At exit, or when the library is unloaded. If clocks still use the source, or the default is being
 * changed, other threads are running: it stays. In a child of fork its own thread is missing. */
__attribute__((destructor)) static void destroy_owned(void)
{
  if (tb__is_forked() || atomic_exchange(&changing, 1)) return;
  tb_source_t *source = owned_by == getpid() ? owned : NULL;
  bool idle = false;
  if (source) {
    bool is_default = tb_source_get_default() == source;
    tb__mutex_lock(&source->mutex);
    idle = atomic_load(&source->phase) != TB__SOURCE_CHANGING && source->users == is_default;
    tb__mutex_unlock(&source->mutex);
  }
  change_end();
  if (idle) tb_source_destroy(source);
}
