#include "clock/clock.h"
#include "base/list.h"
#include "base/sized.h"
#include "clock/claim.h"

#include <stdlib.h>

#include "clock/callback_context.h"
#include "clock/jump_wait.h"
#include "clock/running.h"
#include "clock/source.h"
#include "held/parking.h"
#include "platform/time.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

#define PATIENCE_NS UINT64_C(10000000) /* after which a publisher may have ended within a jump */

typedef struct snapshot {
  int64_t time_ns;
  uint64_t epoch;
  uint32_t state;
} snapshot_t;

/* What a timeline with a page is read from. */
typedef enum place {
  ON_TIMELINE,  /* nothing has been published on the page yet, or the source is stopped */
  ON_PAGE,      /* its copy */
  ON_LOST_PAGE, /* it has lost its contents: its file was truncated */
} place_t;

static place_t view_load(const tb__page_view_t *view, tb__page_copy_t *out)
{
  const tb__page_t *page = atomic_load_explicit(&view->page, memory_order_acquire);
  if (!page) return ON_TIMELINE;
  return tb__page_load(page, out) ? ON_PAGE : ON_LOST_PAGE;
}

static uint64_t slot_epoch(const tb_timeline_t *timeline, uint64_t version)
{
  const tb__slot_t *slot = &timeline->slots[tb__version_slot(version)];
  return atomic_load_explicit(&slot->epoch, memory_order_acquire);
}

/* How to read a timeline that may be in a jump. */
typedef enum mode {
  READ_SETTLED,    /* not while it is blocked */
  READ_PAST_BLOCK, /* also while it is blocked: in callbacks of a change of source, and after a fork
                    */
  READ_COMMITTED,  /* what has been committed: in callbacks of the timeline's own jump */
} read_mode_t;

static read_mode_t read_mode_of(const tb_timeline_t *timeline)
{
  const tb__jump_t *jump = tb__jump_of_thread;
  bool concerned = tb__jump_concerns(jump, timeline);
  if (concerned && jump && !jump->moved) return READ_COMMITTED;
  return concerned || tb__is_forked() ? READ_PAST_BLOCK : READ_SETTLED;
}

/* The current time and state of the page. False: the page has changed meanwhile. */
static bool page_read(const tb_timeline_t *timeline, const tb__page_copy_t *copy, snapshot_t *out)
{
  const tb__page_t *page = atomic_load_explicit(&timeline->view->page, memory_order_acquire);
  if (!page || !tb__page_time(timeline->view, page, copy, &out->time_ns)) return false;
  out->state = copy->state;
  return true;
}

static bool slot_read(const tb_timeline_t *timeline, uint64_t version, snapshot_t *out)
{
  const tb__slot_t *slot = &timeline->slots[tb__version_slot(version)];
  out->time_ns = atomic_load_explicit(&slot->time_ns, memory_order_acquire);
  out->state = atomic_load_explicit(&slot->state, memory_order_acquire);
  return !(version & TB__VERSION_RUNNING) || tb__running_read(timeline, version, &out->time_ns);
}

/* For a page that is in an epoch that has not been dispatched: the last time of the dispatched
 * epoch. In the middle of a dispatch it is what has been committed. */
static bool ended_read(const tb_timeline_t *timeline, uint64_t version, uint64_t epoch,
                       snapshot_t *out)
{
  const tb__page_t *page = atomic_load_explicit(&timeline->view->page, memory_order_acquire);
  if (!slot_read(timeline, version, out)) return false;
  if (!page || epoch == TB__PAGE_NO_EPOCH || out->time_ns == 0) return true;
  int64_t end_ns = tb__page_epoch_end(timeline->view, page, epoch);
  if (end_ns) out->time_ns = end_ns;
  return true;
}

/* For a page that has lost its contents: the highest time that this process knows, or to which the
 * timeline has run. The version is checked first: a time of another epoch must not be marked in
 * this one. */
static bool lost_read(const tb_timeline_t *timeline, uint64_t version, uint64_t epoch,
                      snapshot_t *out)
{
  if (!slot_read(timeline, version, out) || atomic_load(&timeline->version) != version)
    return false;
  out->time_ns = tb__page_time_after(timeline->view, epoch, out->time_ns);
  out->state = TB_CLOCK_LOST;
  return true;
}

/* False while the timeline is blocked, with READ_SETTLED. The version is read last, after the mark
 * of a page has been set: a writer that changes the version knows every time that was read
 * before. */
static bool timeline_read(const tb_timeline_t *timeline, read_mode_t mode, snapshot_t *out)
{
  /* C3: no lock and no wait for a writer; overtaken twice, it reads again */
  const tb__page_view_t *view = mode == READ_COMMITTED ? NULL : timeline->view;
  for (;;) {
    tb__page_copy_t copy;
    bool read = false;
    uint64_t version = atomic_load_explicit(&timeline->version, memory_order_acquire);
    if ((version & TB__VERSION_BLOCKED) && mode == READ_SETTLED) return false;
    uint64_t epoch = view ? atomic_load(&view->epoch) : TB__PAGE_NO_EPOCH;
    place_t where = view ? view_load(view, &copy) : ON_TIMELINE;
    if (where == ON_PAGE && copy.epoch != epoch && mode == READ_SETTLED) return false;
    if (where == ON_PAGE && copy.epoch != epoch)
      read = ended_read(timeline, version, epoch, out);
    else if (where == ON_PAGE)
      read = page_read(timeline, &copy, out);
    else
      read = where == ON_LOST_PAGE ? lost_read(timeline, version, epoch, out)
                                   : slot_read(timeline, version, out);
    out->epoch = slot_epoch(timeline, version);
    if (read && atomic_load(&timeline->version) == version) return true;
  }
}

static void read_epoch_of(uintptr_t word, snapshot_t *out)
{
  timeline_read((const tb_timeline_t *)(word & ~TB__WORD_BITS), READ_COMMITTED, out);
}

static tb_status_t wait_for_change(const tb_clock_t *clock, tb__jump_wait_t *wait)
{
  uint32_t seen = atomic_load(&clock->gate);
  if (!tb__word_is_blocked(atomic_load(&clock->word))) return TB_OK;
  return tb__jump_wait_read_clock(wait, (tb_clock_t *)clock, seen);
}

/* For a publisher that ended before it could wake the processes that follow its page. */
static void wake_page_follower(const tb__page_view_t *view)
{
  const tb__page_t *page = atomic_load(&view->page);
  if (page) tb__futex_wake_shared(&page->epoch_word);
}

static tb_status_t wait_for_jump(tb_timeline_t *timeline, tb__jump_wait_t *wait)
{
  uint32_t seen = atomic_load(&timeline->gate);
  if (!tb__timeline_is_blocked(timeline)) return TB_OK;
  if (timeline->view && wait->since_ns) wake_page_follower(timeline->view);
  return tb__jump_wait_read_timeline(wait, timeline, seen);
}

/* J10: reads a timeline whose page is in an epoch that has not been dispatched here. The mutex is
 * held briefly, and never in a callback. False: read again. `may_wait` false: it must not be waited
 * for, as a signal handler may have interrupted the thread that holds it. */
static bool open_read(tb_timeline_t *timeline, bool may_wait, snapshot_t *out)
{
  const tb__page_view_t *view = timeline->view;
  if (!view || !atomic_load(&timeline->readers_never_block)) return false;
  if (may_wait)
    tb__mutex_lock(&timeline->mutex);
  else if (!tb__mutex_try_lock(&timeline->mutex))
    return false;
  bool is_behind = tb__timeline_is_behind_page(timeline);
  if (is_behind) {
    tb__timeline_read_behind_page_locked(timeline, &out->time_ns);
    out->epoch = timeline->epoch;
    out->state = (uint32_t)timeline->state;
  }
  tb__mutex_unlock(&timeline->mutex);
  const tb__page_t *page = atomic_load(&view->page);
  if (!is_behind || !page) return is_behind;
  uint64_t silent_ns =
      (uint64_t)tb__steady_coarse_now_ns() - (uint64_t)atomic_load(&page->alive_ns);
  if (silent_ns > PATIENCE_NS) wake_page_follower(view);
  return is_behind;
}

/* Whether a jump in progress is no reason to wait: it is this thread's own, or a fork has
 * interrupted it. */
static bool is_exempt(bool own)
{
  return own || tb__is_forked();
}

/* Reads the clock at a moment at which neither it nor its timeline is blocked, or inside a callback
 * of the jump that blocks. TB_ERR_BUSY: blocked by another jump, and waiting is not allowed (in a
 * callback of a jump, in the log hook, or if `wait` is NULL) or has been given up. TB_ERR_TIMEOUT:
 * the limit of `wait`. */
static tb_status_t clock_settle(const tb_clock_t *clock, tb__jump_wait_t *wait, uintptr_t *out_word,
                                snapshot_t *out)
{
  const tb__jump_t *jump = tb__jump_of_thread;
  for (;;) {
    uintptr_t word = atomic_load_explicit(&clock->word, memory_order_acquire);
    tb_timeline_t *timeline = (tb_timeline_t *)(word & ~TB__WORD_BITS);
    bool changing = tb__word_is_blocked(word) && !is_exempt(jump && jump->moved == clock);
    if (!changing &&
        ((word & TB__WORD_OS) || timeline_read(timeline, read_mode_of(timeline), out) ||
         open_read(timeline, wait != NULL, out))) {
      if (atomic_load_explicit(&clock->word, memory_order_relaxed) != word) continue;
      *out_word = word;
      return TB_OK;
    }
    if (wait && !changing && !tb__timeline_is_blocked(timeline)) continue; /* not any more */
    if (!wait || tb__may_not_wait()) return TB_ERR_BUSY;
    tb_status_t status = changing ? wait_for_change(clock, wait) : wait_for_jump(timeline, wait);
    if (status) return status;
  }
}

/* Out of line, so that the fast path needs no stack; `clock` and `out` are where it has them. */
__attribute__((noinline)) static tb_status_t now_slowly(const tb_clock_t *clock, tb_time_t *out,
                                                        bool may_wait)
{
  uintptr_t word;
  snapshot_t snapshot = {0};
  tb__jump_wait_t wait = TB__JUMP_WAIT_INIT(INT64_MAX);
  tb_status_t status = clock_settle(clock, may_wait ? &wait : NULL, &word, &snapshot);
  if (status) return status;
  out->ns = (word & TB__WORD_OS) ? tb__system_now_ns() : snapshot.time_ns;
  out->kind = clock->kind;
  return TB_OK;
}

__attribute__((noinline)) static tb_status_t now_of_system(const tb_clock_t *clock, tb_time_t *out)
{
  out->kind = clock->kind;
  out->ns = tb__system_now_ns();
  return TB_OK;
}

__attribute__((noinline)) static tb_status_t now_of_page(const tb_clock_t *clock, tb_time_t *out,
                                                         uintptr_t word, bool may_wait)
{
  const tb__page_view_t *view = ((const tb_timeline_t *)(word & ~TB__WORD_BITS))->view;
  int64_t time_ns;
  bool is_read = tb__page_time_at_rest(view, &time_ns);
  uintptr_t still = atomic_load_explicit(&clock->word, memory_order_relaxed);
  if (!LIKELY(is_read && still == word)) return now_slowly(clock, out, may_wait);
  out->ns = time_ns;
  out->kind = TB_TIME_ROS;
  return TB_OK;
}

static inline tb_status_t now(const tb_clock_t *clock, tb_time_t *out, bool may_wait)
{
  uintptr_t word = atomic_load_explicit(&clock->word, memory_order_acquire);
  if (!LIKELY(!(word & TB__WORD_BITS))) {
    if (word & TB__WORD_CHANGING) return now_slowly(clock, out, may_wait);
    return word & TB__WORD_OS ? now_of_system(clock, out) : now_of_page(clock, out, word, may_wait);
  }
  const tb_timeline_t *timeline = (const tb_timeline_t *)word;
  uint64_t version = atomic_load_explicit(&timeline->version, memory_order_acquire);
  const tb__slot_t *slot = &timeline->slots[tb__version_slot(version)];
  int64_t time_ns = atomic_load_explicit(&slot->time_ns, memory_order_acquire);
  uint64_t again = atomic_load_explicit(&timeline->version, memory_order_acquire);
  uintptr_t still = atomic_load_explicit(&clock->word, memory_order_relaxed);
  /* blocked, running or overtaken, or the clock has moved to another timeline */
  if (!LIKELY(again == (version & ~(TB__VERSION_BLOCKED | TB__VERSION_RUNNING)) && still == word))
    return now_slowly(clock, out, may_wait);
  out->ns = time_ns;
  out->kind = TB_TIME_ROS;
  return TB_OK;
}

/* In one cache line, almost: it takes no longer than a call of an empty function. */
__attribute__((aligned(64))) tb_status_t tb_clock_now(const tb_clock_t *clock, tb_time_t *out)
{
  return LIKELY(clock && out) ? now(clock, out, true) : TB_ERR_INVALID;
}

tb_status_t tb_clock_try_now(const tb_clock_t *clock, tb_time_t *out)
{
  /* J4 */
  return LIKELY(clock && out) ? now(clock, out, false) : TB_ERR_INVALID;
}

static tb_clock_state_t state_of(uintptr_t word, tb_clock_state_t state)
{
  if (word & TB__WORD_OS) return state;
  if (tb__is_forked()) return TB_CLOCK_STALLED;
  const tb_timeline_t *timeline = (const tb_timeline_t *)(word & ~TB__WORD_BITS);
  tb_clock_state_t derived = tb__timeline_derive_state(timeline, state);
  if (derived != state && derived == TB_CLOCK_STALLED)
    tb__timeline_report_stall((tb_timeline_t *)timeline, INT64_MAX);
  return derived;
}

/* The epoch of the move that led to where `word` is: a change commits its epoch just before its
 * word, and a reader that does not wait for it may be in between. */
static uint64_t epoch_of_move(const tb_clock_t *clock, uintptr_t word, uint64_t move_epoch)
{
  bool is_before = (word & TB__WORD_CHANGING) && !(word & TB__WORD_MOVED);
  return is_before ? atomic_load(&clock->previous_epoch) : move_epoch;
}

static tb_status_t clock_read(const tb_clock_t *clock, bool may_wait, tb_clock_reading_t *out)
{
  /* C5: time, state and epoch of one moment */
  if (!clock || !out) return TB_ERR_INVALID;
  tb__jump_wait_t wait = TB__JUMP_WAIT_INIT(INT64_MAX);
  for (;;) {
    uint64_t move_epoch = atomic_load(&clock->move_epoch);
    uintptr_t word;
    snapshot_t snapshot = {0};
    tb_status_t status = clock_settle(clock, may_wait ? &wait : NULL, &word, &snapshot);
    if (status) return status;
    uint64_t moved_epoch = epoch_of_move(clock, word, move_epoch);
    if (word & TB__WORD_OS) {
      read_epoch_of(word, &snapshot);
      snapshot.time_ns = tb__system_now_ns();
      snapshot.state = atomic_load(&clock->idle_state);
    }
    if (atomic_load(&clock->move_epoch) != move_epoch || atomic_load(&clock->word) != word)
      continue;
    out->time = (tb_time_t){snapshot.time_ns, clock->kind};
    out->state = state_of(word, (tb_clock_state_t)snapshot.state);
    out->epoch = snapshot.epoch > moved_epoch ? snapshot.epoch : moved_epoch;
    return TB_OK;
  }
}

tb_status_t tb_clock_read_sized(const tb_clock_t *clock, tb_clock_reading_t *out, size_t out_size)
{
  tb_clock_reading_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = clock_read(clock, true, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

tb_status_t tb__clock_try_read(const tb_clock_t *clock, tb_clock_reading_t *out)
{
  return clock_read(clock, false, out);
}

void tb__clock_count_ticks(const tb_clock_t *clock, tb__tick_counts_t *out)
{
  tb_timeline_t *timeline = tb__timeline_target(tb__clock_timeline(clock));
  const tb__page_t *page = timeline->view ? atomic_load(&timeline->view->page) : NULL;
  uint64_t repeats = atomic_load_explicit(&timeline->counts.repeats, memory_order_relaxed);
  tb__page_copy_t copy;
  bool on_page = page && tb__page_load(page, &copy);
  *out = (tb__tick_counts_t){
      .timeline = timeline,
      .ticks = page ? atomic_load(&page->version)
                    : atomic_load_explicit(&timeline->counts.ticks, memory_order_relaxed),
      .repeats = page ? 0 : repeats,
      .jumps_backward =
          atomic_load_explicit(&timeline->counts.jumps_backward, memory_order_relaxed),
      .runs = page ? on_page && copy.linear.rate > 0
                   : (atomic_load(&timeline->version) & TB__VERSION_RUNNING) != 0,
  };
}

/* The clock may move meanwhile, and the timeline that it left may jump then: read again. */
uint64_t tb_clock_epoch(const tb_clock_t *clock)
{
  if (!clock) return 0;
  for (;;) {
    uint64_t move_epoch = atomic_load(&clock->move_epoch);
    uintptr_t word = atomic_load(&clock->word);
    snapshot_t snapshot = {0};
    read_epoch_of(word, &snapshot);
    uint64_t moved_epoch = epoch_of_move(clock, word, move_epoch);
    if (atomic_load(&clock->move_epoch) == move_epoch && atomic_load(&clock->word) == word)
      return snapshot.epoch > moved_epoch ? snapshot.epoch : moved_epoch;
  }
}

tb_time_kind_t tb_clock_kind(const tb_clock_t *clock)
{
  return clock ? clock->kind : (tb_time_kind_t)0;
}

bool tb_clock_is_active(const tb_clock_t *clock)
{
  return clock && !(atomic_load(&clock->word) & TB__WORD_OS);
}

bool tb__clock_is_settled_locked(const tb_clock_t *clock, const tb_timeline_t *timeline)
{
  const tb__jump_t *jump = tb__jump_of_thread;
  bool changing = tb__word_is_blocked(atomic_load(&clock->word));
  bool blocked = tb__timeline_is_blocked(timeline);
  return (!changing || (jump && jump->moved == clock)) &&
         (!blocked || tb__jump_concerns(jump, timeline));
}

tb_status_t tb__clock_lock_settled(const tb_clock_t *clock, tb_timeline_t **out)
{
  return tb__clock_lock_settled_within(clock, INT64_MAX, out);
}

tb_status_t tb__clock_lock_settled_within(const tb_clock_t *clock, int64_t limit_ns,
                                          tb_timeline_t **out)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__jump_wait_t wait = TB__JUMP_WAIT_INIT(limit_ns);
  for (;;) {
    uintptr_t word;
    snapshot_t snapshot = {0};
    tb_status_t status = clock_settle(clock, &wait, &word, &snapshot);
    if (status) return status;
    tb__clock_lock(clock, out);
    if (tb__clock_is_settled_locked(clock, *out)) return TB_OK;
    tb__clock_unlock(*out);
  }
}

void tb__clock_leave(tb_clock_t *clock)
{
  if (atomic_fetch_sub(&clock->users, 1) == 1) tb__futex_wake_all(&clock->users);
}

void tb__clock_add_waiter_locked(tb_clock_t *clock, tb__waiter_t *waiter)
{
  waiter->clock = clock;
  TB__LIST_PUSH_BY(clock->waiters, waiter, clock_next, clock_previous);
}

void tb__clock_remove_waiter_locked(tb_clock_t *clock, tb_timeline_t *timeline,
                                    tb__waiter_t *waiter)
{
  tb__waiter_unqueue_locked(timeline, waiter);
  tb__waiter_unwatch_locked(timeline, waiter);
  TB__LIST_REMOVE_BY(clock->waiters, waiter, clock_next, clock_previous);
}

void tb__clock_init(tb_clock_t *clock, tb_time_kind_t kind, tb_timeline_t *timeline)
{
  clock->kind = kind;
  atomic_init(&clock->references, 1);
  atomic_init(&clock->word, (uintptr_t)timeline | TB__WORD_OS);
  atomic_init(&clock->idle_state, TB_CLOCK_INACTIVE);
}

tb_status_t tb__clock_create(const tb_clock_options_t *options, tb_clock_t **out)
{
  /* C1: of system or ROS time; steady clocks have a type of their own */
  tb_clock_options_t defaults = TB_CLOCK_OPTIONS_INIT;
  if (!options) options = &defaults;
  bool ros = options->kind == TB_TIME_ROS;
  bool own = options->source && options->source != TB_SOURCE_DEFAULT;
  if (!out || (!ros && options->kind != TB_TIME_SYSTEM) || (!ros && own)) return TB_ERR_INVALID;
  tb_status_t status = tb__fork_watch();
  if (status) return status;
  tb_clock_t *clock = calloc(1, sizeof *clock);
  if (!clock) return TB_ERR_NO_MEMORY;
  tb__clock_init(clock, options->kind, tb__timeline_system());
  if (ros && options->source) status = tb__clock_set_first_source(clock, options->source);
  if (status) {
    tb__clock_unref(clock);
    return status;
  }
  *out = clock;
  return TB_OK;
}

/* Ends all waits on the clock; no new ones can begin. */
static void clock_close(tb_clock_t *clock)
{
  /* L1 */
  tb__waiter_t *to_wake = NULL;
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  clock->closed = true;
  for (tb__waiter_t *waiter = clock->waiters, *next; waiter; waiter = next) {
    next = waiter->clock_next;
    if (waiter->ops->closed(waiter)) {
      waiter->wake_next = to_wake;
      to_wake = waiter;
    }
  }
  tb__clock_unlock(timeline);
  tb__waiters_wake(to_wake);
}

void tb__clock_ref(tb_clock_t *clock)
{
  atomic_fetch_add(&clock->references, 1);
}

void tb__clock_unref(tb_clock_t *clock)
{
  if (atomic_fetch_sub(&clock->references, 1) != 1) return;
  while (clock->held) {
    tb__held_timeline_t *held = clock->held;
    clock->held = held->next;
    tb__timeline_unref(held->timeline);
    free(held);
  }
  free(clock);
}

tb_status_t tb__clock_destroy(tb_clock_t *clock, int64_t limit_ns)
{
  if (!tb__is_forked()) { /* else waiters and source belong to threads of the parent */
    if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
    clock_close(clock);
  }
  tb_status_t status = tb__handlers_remove_of(clock, limit_ns);
  if (!status && !tb__is_forked()) status = tb__users_wait(&clock->users, limit_ns);
  if (!status && !tb__is_forked()) status = tb__clock_leave_source(clock, limit_ns);
  if (!status) tb__clock_unref(clock);
  return status;
}

tb_status_t tb_clock_destroy(tb_clock_t *clock)
{
  if (tb__clock_is_claimed(clock)) return TB_ERR_BUSY;
  return clock ? tb__clock_destroy(clock, INT64_MAX) : TB_OK;
}

tb_status_t tb_clock_destroy_within(tb_clock_t *clock, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  if (!status && tb__clock_is_claimed(clock)) status = TB_ERR_BUSY;
  return status || !clock ? status : tb__clock_destroy(clock, deadline.ns);
}

bool tb__clock_claim(tb_clock_t *clock)
{
  return !atomic_exchange(&clock->is_claimed, true);
}

bool tb__clock_is_claimed(const tb_clock_t *clock)
{
  return clock && !tb__is_forked() && atomic_load(&clock->is_claimed);
}

void tb__clock_unclaim(tb_clock_t *clock)
{
  atomic_store(&clock->is_claimed, false);
}
