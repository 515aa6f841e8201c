#include "held/parking.h"
#include "base/list.h"

#include <limits.h>
#include <sched.h>
#include <stddef.h>

#include "held/held_time.h"
#include "held/inflight.h"
#include "platform/mutex.h"

/* One wait, on the stack of its thread. Guarded by the mutex of its row. */
typedef struct spot {
  struct spot *next, *previous;
  _Atomic uint32_t *word;
  const tb__wait_spec_t *spec;
  bool in_kernel;          /* waiting on the word, with a deadline of the kernel */
  bool due;                /* in-flight work was begun for the thread */
  bool moved;              /* time was held or released meanwhile */
  _Atomic uint32_t parked; /* futex: 1 while the thread stays parked */
} spot_t;

/* Many rows, so that threads on different words rarely contend. */
typedef struct row {
  _Alignas(64) tb__mutex_t mutex;
  spot_t *spots;
} row_t;

#define ROW_BITS 6
#define ROWS     (1 << ROW_BITS)

static row_t rows[ROWS] = {[0 ... ROWS - 1] = {.mutex = TB__MUTEX_INIT}};

static row_t *row_of(const _Atomic uint32_t *word)
{
  uint64_t mixed = (uint64_t)(uintptr_t)word * UINT64_C(0x9E3779B97F4A7C15);
  return &rows[mixed >> (64 - ROW_BITS)];
}

static void spot_link_locked(row_t *row, spot_t *spot) TB_REQUIRES(row->mutex)
{
  TB__LIST_PUSH(row->spots, spot);
}

static void spot_unlink_locked(row_t *row, spot_t *spot) TB_REQUIRES(row->mutex)
{
  TB__LIST_REMOVE(row->spots, spot);
}

static void spot_unpark(spot_t *spot)
{
  if (!atomic_load(&spot->parked)) return;
  atomic_store(&spot->parked, 0);
  tb__futex_wake_kernel(&spot->parked, 1);
}

static bool has_passed(const tb__wait_spec_t *spec)
{
  return (spec->deadline.clock != TB__DEADLINE_NONE &&
          tb__held_time_now(spec->deadline.clock) >= spec->deadline.ns) ||
         tb__held_time_now(TB__DEADLINE_SYSTEM) >= spec->system_ns;
}

/* In terms of the kernel's clocks. */
static tb__deadline_t kernel_deadline(tb__deadline_t deadline)
{
  int64_t ahead_ns = tb__steady_ahead_ns();
  if (deadline.clock == TB__DEADLINE_STEADY &&
      __builtin_sub_overflow(deadline.ns, ahead_ns, &deadline.ns))
    deadline.ns = 0;
  return deadline;
}

/* True: the deadline has passed. */
static bool wait_in_kernel_locked(row_t *row, spot_t *spot, uint32_t expected)
    TB_REQUIRES(row->mutex)
{
  tb__deadline_t deadline = kernel_deadline(spot->spec->deadline);
  spot->in_kernel = true;
  tb__mutex_unlock(&row->mutex);
  bool woken = tb__futex_wait_kernel(spot->word, expected, deadline);
  tb__mutex_lock(&row->mutex);
  spot->in_kernel = false;
  return !woken && !spot->moved;
}

static void wait_parked_locked(row_t *row, spot_t *spot) TB_REQUIRES(row->mutex)
{
  atomic_store(&spot->parked, 1);
  if (spot->spec->counts_as_idle) {
    tb__inflight_quiesce();
    tb__inflight_notify(tb__inflight_of_os()); /* some callers wait for a number of idle threads */
  }
  tb__mutex_unlock(&row->mutex);
  while (atomic_load(&spot->parked))
    tb__futex_wait_kernel(&spot->parked, 1, TB__NO_DEADLINE);
  tb__mutex_lock(&row->mutex);
}

/* False: the deadline has passed, or time was held or released and the wait asked to recheck
 * then. */
static bool wait_locked(row_t *row, spot_t *spot, uint32_t expected) TB_REQUIRES(row->mutex)
{
  for (;;) {
    spot->moved = false;
    bool held = tb__time_is_held();
    if (spot->spec->rechecks && spot->spec->held != held) return false;
    if (!held) {
      if (wait_in_kernel_locked(row, spot, expected)) return false;
    } else {
      if (atomic_load(spot->word) != expected) return true;
      if (has_passed(spot->spec)) return false;
      wait_parked_locked(row, spot);
    }
    if (atomic_load(spot->word) != expected) return true;
    if (spot->due) return false;
    if (!spot->moved) return true;
    if (spot->spec->rechecks) return false;
  }
}

static bool park(_Atomic uint32_t *word, uint32_t expected, const tb__wait_spec_t *spec)
{
  spot_t spot = {.word = word, .spec = spec};
  row_t *row = row_of(word);
  tb__mutex_lock(&row->mutex);
  spot_link_locked(row, &spot);
  bool woken = wait_locked(row, &spot, expected);
  spot_unlink_locked(row, &spot);
  tb__mutex_unlock(&row->mutex);
  if (spot.due) tb__inflight_adopt(tb__inflight_of_os());
  return woken;
}

bool tb__futex_wait(_Atomic uint32_t *word, uint32_t expected, tb__deadline_t deadline)
{
  if (deadline.clock == TB__DEADLINE_NONE) return tb__futex_wait_kernel(word, expected, deadline);
  if (tb__deadline_has_passed(deadline)) return atomic_load(word) != expected;
  tb__wait_spec_t spec = {.deadline = deadline, .system_ns = INT64_MAX};
  return park(word, expected, &spec);
}

bool tb__futex_wait_spec(_Atomic uint32_t *word, uint32_t expected, const tb__wait_spec_t *spec)
{
  if (spec->deadline.clock != TB__DEADLINE_NONE || spec->system_ns != INT64_MAX) {
    if (spec->counts_as_idle && !tb__time_is_held()) tb__inflight_quiesce();
    return park(word, expected, spec);
  }
  if (spec->counts_as_idle) tb__inflight_quiesce();
  return tb__futex_wait_kernel(word, expected, TB__NO_DEADLINE);
}

static void wake_parked(_Atomic uint32_t *word)
{
  row_t *row = row_of(word);
  tb__mutex_lock(&row->mutex);
  for (spot_t *spot = row->spots; spot; spot = spot->next)
    if (spot->word == word) spot_unpark(spot);
  tb__mutex_unlock(&row->mutex);
}

/* The system call orders the change of the word before reading the flag: a thread that parks has
 * either seen the new word, or is seen here. */
static void wake(_Atomic uint32_t *word, int count)
{
  tb__futex_wake_kernel(word, count);
  if (tb__time_is_held()) wake_parked(word);
}

void tb__futex_wake_one(_Atomic uint32_t *word)
{
  wake(word, 1);
}

void tb__futex_wake_all(_Atomic uint32_t *word)
{
  wake(word, INT_MAX);
}

/* Wakes all threads that wait in the kernel. A thread that is about to wait may miss it: then this
 * is repeated. */
static bool row_take_over(row_t *row)
{
  bool done = true;
  tb__mutex_lock(&row->mutex);
  for (spot_t *spot = row->spots; spot; spot = spot->next) {
    if (!spot->in_kernel) continue;
    done = false;
    spot->moved = true;
    tb__futex_wake_kernel(spot->word, INT32_MAX);
  }
  tb__mutex_unlock(&row->mutex);
  return done;
}

void tb__parking_take_over(void)
{
  for (int i = 0; i < ROWS; i++)
    while (!row_take_over(&rows[i]))
      sched_yield();
}

void tb__parking_give_back(void)
{
  for (int i = 0; i < ROWS; i++) {
    tb__mutex_lock(&rows[i].mutex);
    for (spot_t *spot = rows[i].spots; spot; spot = spot->next) {
      spot->moved = true;
      spot_unpark(spot);
    }
    tb__mutex_unlock(&rows[i].mutex);
  }
}

void tb__parking_wake_due(void)
{
  for (int i = 0; i < ROWS; i++) {
    tb__mutex_lock(&rows[i].mutex);
    for (spot_t *spot = rows[i].spots; spot; spot = spot->next) {
      if (!atomic_load(&spot->parked) || !has_passed(spot->spec)) continue;
      tb__inflight_begin(tb__inflight_of_os());
      spot->due = true;
      spot_unpark(spot);
    }
    tb__mutex_unlock(&rows[i].mutex);
  }
}

static int64_t earliest(int64_t deadline_ns, int64_t after_ns, int64_t best_ns)
{
  return deadline_ns > after_ns && deadline_ns < best_ns ? deadline_ns : best_ns;
}

int64_t tb__parking_next(tb__deadline_clock_t clock, int64_t after_ns)
{
  int64_t best_ns = INT64_MAX;
  for (int i = 0; i < ROWS; i++) {
    tb__mutex_lock(&rows[i].mutex);
    for (const spot_t *spot = rows[i].spots; spot; spot = spot->next) {
      const tb__wait_spec_t *spec = spot->spec;
      if (spec->deadline.clock == clock) best_ns = earliest(spec->deadline.ns, after_ns, best_ns);
      if (clock == TB__DEADLINE_SYSTEM) best_ns = earliest(spec->system_ns, after_ns, best_ns);
    }
    tb__mutex_unlock(&rows[i].mutex);
  }
  return best_ns;
}

uint32_t tb__parking_count_idle(void)
{
  uint32_t count = 0;
  for (int i = 0; i < ROWS; i++) {
    tb__mutex_lock(&rows[i].mutex);
    for (const spot_t *spot = rows[i].spots; spot; spot = spot->next)
      count += spot->spec->counts_as_idle && !spot->spec->uncounted && atomic_load(&spot->parked);
    tb__mutex_unlock(&rows[i].mutex);
  }
  return count;
}
