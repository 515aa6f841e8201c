/* The source on shared memory. Clocks are read from the page itself (clock/page.h). The threads
 * here dispatch jumps and wake the waiters that are due: they move the timeline to where the page
 * is, by ordinary anchors, at each new epoch and, while there are waiters, when one is due, for
 * which the publisher wakes this process (source/wake_area.h), or at each tick. */
#include <limits.h>
#include <stdlib.h>
#include <timebase/shm_source.h>

#include "base/no_memory.h"
#include "base/sized.h"
#include "clock/source.h"
#include "held/parking.h"
#include "platform/thread.h"
#include "platform/time.h"
#include "source/shm_file.h"
#include "source/source_names.h"
#include "source/wake_link.h"

#define PROBE_NS                                                                                   \
  INT64_C(2500000000) /* the longest wait for a jump, or for a tick while there are waiters */
#define RETRY_NS INT64_C(1000000)

typedef struct shm_view {
  tb__page_view_t view; /* first */
  tb__shared_file_t map;
  struct shm_source *source; /* while it is started; by the timeline's mutex */
} shm_view_t;

typedef struct shm_source {
  tb__shared_file_t file; /* the descriptor, to ask for the lock */
  tb_source_t *source;
  tb_timeline_t *timeline;
  tb__page_view_t *view;
  tb__guarded_map_t *guard; /* of the page */
  const tb__page_t *page;
  tb__thread_t jump_thread, tick_thread;
  _Atomic bool stopping;
  _Atomic uint32_t threads; /* futex: how many run */
  _Atomic uint32_t nudges;  /* futex: raised for threads that wait for the file to be restored */
  _Atomic uint64_t invalid;

  /* By the timeline's mutex. */
  tb__page_copy_t copy;   /* where the timeline was moved last */
  uint64_t epoch;         /* dispatched; 0: none */
  uint64_t version;       /* of the page then */
  uint64_t ignored_epoch; /* of a publisher that has ended */
  bool cannot_run;        /* no wake-up thread could be started: anchors are ticks */
  bool is_parked;         /* the thread that follows waits on `wanted`, not on the slot */

  /* Changed by the thread that follows only, with the timeline's mutex. */
  tb__wake_link_t link;
} shm_source_t;

typedef struct shm_policy {
  tb__anchor_policy_t policy;
  shm_source_t *self;
  tb__page_copy_t before; /* of `self`: restored, unless the anchor is committed */
  uint64_t version_before;
  bool is_sound, is_taken;
  bool passes_zero; /* the page has been reset and started again: that is two jumps */
} shm_policy_t;

/* ---- moving the timeline to where the page is ---- */

static tb_anchor_t anchor_of(const shm_source_t *self, int64_t time_ns, int64_t steady_ns)
{
  const tb__linear_time_t *linear = &self->copy.linear;
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = time_ns;
  anchor.state = self->copy.state < TB_CLOCK_RUNNING ? TB_CLOCK_RUNNING : self->copy.state;
  if (linear->rate == 0 || self->cannot_run || atomic_load(&self->view->foreign)) return anchor;
  int64_t moment_ns = tb__linear_time_moment(linear, time_ns);
  anchor.rate = linear->rate;
  anchor.steady.ns = moment_ns > steady_ns && moment_ns != INT64_MAX ? moment_ns : steady_ns;
  anchor.bound.ns = linear->until_ns > time_ns ? linear->until_ns - time_ns : 0;
  return anchor;
}

static bool is_foreign(const shm_source_t *self)
{
  uint64_t theirs = atomic_load(&self->page->time_namespace), ours = tb__time_namespace();
  return theirs != ours || theirs == 0;
}

/* Sets the halted timeline to the last time of the page that can have been read. No waiter was due
 * in between. */
static void set_time(shm_source_t *self, int64_t time_ns) TB_REQUIRES(self->timeline->mutex)
{
  if (self->timeline->time_ns == 0 || time_ns == 0 || time_ns == self->timeline->time_ns) return;
  self->timeline->time_ns = time_ns;
  tb__timeline_publish_locked(self->timeline);
}

/* Steps that were not followed. The last one, which makes a waiter due, is followed. */
static void skip_to(shm_source_t *self, int64_t now_ns) TB_REQUIRES(self->timeline->mutex)
{
  const tb__page_view_t *view = self->view;
  bool is_due =
      view->wants_ticks && view->wish_ns > self->timeline->time_ns && view->wish_ns <= now_ns;
  set_time(self, is_due ? view->wish_ns - 1 : now_ns);
}

/* A jump starts from the last time of the epoch that was dispatched last: no thread of this process
 * can have read a later one. */
static void enter_epoch(shm_source_t *self) TB_REQUIRES(self->timeline->mutex)
{
  atomic_store(&self->view->settled_epoch, TB__PAGE_NO_EPOCH); /* before reading marks */
  tb__timeline_overtake_readers_locked(self->timeline);
  set_time(self, tb__page_epoch_end(self->view, self->page, self->epoch));
  tb__page_mark_prepare(self->view, self->copy.epoch);
  atomic_store(&self->view->foreign, is_foreign(self));
}

/* False: the page is invalid. */
static bool page_look(shm_source_t *self, bool *out_same, int64_t *out_ns)
    TB_REQUIRES(self->timeline->mutex)
{
  do {
    if (!tb__page_load(self->page, &self->copy)) return false;
    *out_same = self->copy.epoch == self->epoch;
    if (!*out_same) enter_epoch(self);
  } while (!tb__page_time(self->view, self->page, &self->copy, out_ns));
  self->version = self->copy.version;
  return true;
}

/* Whether a copy is of another publisher. Each change of a page raises its version, and only some
 * raise its epoch; a page that starts from zeros begins with a higher epoch than any before it
 * (take_over). */
static bool is_other_publisher(const tb__page_copy_t *copy, const tb__page_copy_t *before)
{
  return copy->publishers != before->publishers ||
         (int64_t)(copy->epoch - copy->version) > (int64_t)(before->epoch - before->version);
}

static tb_anchor_t next_anchor(tb__anchor_policy_t *base, int64_t time_ns, int64_t steady_ns)
{
  shm_policy_t *policy = (shm_policy_t *)base;
  shm_source_t *self = policy->self;
  tb__timeline_assert_locked(self->timeline);
  bool same;
  int64_t now_ns;
  policy->before = self->copy;
  policy->version_before = self->version;
  policy->is_sound = page_look(self, &same, &now_ns);
  if (!policy->is_sound) return (tb_anchor_t){.time_ns = -1};
  atomic_store(&self->view->settled_epoch, TB__PAGE_NO_EPOCH);
  if (!same) atomic_store(&self->view->epoch, TB__PAGE_NO_EPOCH);
  base->reason = (tb_jump_reason_t)(same ? self->copy.reason : self->copy.jump_reason);
  base->replaced = NULL;
  if (same && (!self->view->following || now_ns < time_ns)) skip_to(self, now_ns);
  if (!same && time_ns && is_other_publisher(&self->copy, &policy->before))
    base->replaced = self->source;
  policy->passes_zero = !same && time_ns && !base->replaced && now_ns && !self->copy.before_ns;
  base->renews_epoch = !same && time_ns && now_ns >= self->timeline->time_ns;
  if (!policy->passes_zero) return anchor_of(self, now_ns, steady_ns);
  base->reason = TB_JUMP_REASON_RESET;
  return (tb_anchor_t)TB_ANCHOR_INIT;
}

/* Makes the thread that follows look again. */
static void wake_follower_locked(shm_source_t *self) TB_REQUIRES(self->timeline->mutex)
{
  atomic_fetch_add(&self->view->wanted, 1);
  tb__futex_wake_one(&self->view->wanted);
  tb__wake_slot_raise(&self->link.slot);
}

static void moved(tb__anchor_policy_t *base)
{
  ((shm_policy_t *)base)->is_taken = true;
}

static void ended(tb__anchor_policy_t *base)
{
  shm_policy_t *policy = (shm_policy_t *)base;
  shm_source_t *self = policy->self;
  tb__timeline_assert_locked(self->timeline);
  if (!policy->is_sound || !policy->is_taken ||
      policy->passes_zero) { /* readers continue to wait */
    self->copy = policy->before;
    self->version = policy->version_before;
    return;
  }
  atomic_store(&self->view->lost, self->copy.state == TB_CLOCK_LOST);
  if (self->copy.epoch != self->epoch) wake_follower_locked(self); /* a wish is of one epoch */
  self->epoch = self->copy.epoch;
  tb__page_settle(self->view, self->epoch);
  atomic_store(&self->view->page, self->page);
  atomic_fetch_add(&self->timeline->gate, 1);
  tb__futex_wake_all(&self->timeline->gate);
}

/* Whether the timeline has not been moved to where the page is. A page that was truncated counts
 * its versions from zero, and may reach the same number. */
static bool page_has_moved(shm_source_t *self)
{
  tb__page_copy_t copy;
  if (!tb__page_load(self->page, &copy)) {
    if (atomic_load(&self->page->magic)) atomic_fetch_add(&self->invalid, 1);
    return false;
  }
  tb__mutex_lock(&self->timeline->mutex);
  bool is_first = !atomic_load(&self->view->page);
  bool is_moved = copy.version != self->version || copy.epoch != self->epoch;
  bool differs = is_first ? copy.epoch != self->ignored_epoch : is_moved;
  tb__mutex_unlock(&self->timeline->mutex);
  return differs;
}

static void follow(shm_source_t *self)
{
  /* X3: jumps that were missed are one jump */
  if (!page_has_moved(self)) return;
  shm_policy_t policy = {
      .policy = {.next_anchor = next_anchor, .moved = moved, .ended = ended, .may_wait = true},
      .self = self};
  tb_status_t status;
  do {
    policy.is_taken = policy.passes_zero = false;
    status = tb__timeline_apply_policy(self->timeline, &policy.policy);
    if (status == TB_ERR_SYSTEM) self->cannot_run = true;
  } while (status == TB_ERR_SYSTEM || (!status && policy.passes_zero));
}

/* ---- the threads ---- */

static void thread_end(shm_source_t *self)
{
  atomic_fetch_sub(&self->threads, 1);
  tb__futex_wake_all(&self->threads);
}

/* A wait on a page that is truncated meanwhile is not reached by a wake-up: no wait is
 * unlimited. */
static tb__deadline_t next_probe(void)
{
  return (tb__deadline_t){TB__DEADLINE_STEADY, tb__real_steady_now_ns() + PROBE_NS};
}

static void wake_file_waiters(shm_source_t *self)
{
  atomic_fetch_add(&self->nudges, 1);
  tb__futex_wake_kernel(&self->nudges, INT_MAX);
}

static tb_anchor_t anchor_at_known(tb__anchor_policy_t *base, int64_t time_ns, int64_t steady_ns)
{
  (void)steady_ns;
  const shm_source_t *self = ((shm_policy_t *)base)->self;
  int64_t known_ns = tb__page_time_known(self->view);
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = known_ns > time_ns ? known_ns : time_ns;
  anchor.state = TB_CLOCK_LOST;
  return anchor;
}

/* The page has lost its contents: stops time at the highest one that has been read, and wakes the
 * waiters that are due. */
static void stop_time(shm_source_t *self)
{
  tb_timeline_t *timeline = self->timeline;
  shm_policy_t policy = {.policy = {.next_anchor = anchor_at_known, .may_wait = true},
                         .self = self};
  tb__mutex_lock(&timeline->mutex);
  bool must_move = timeline->time_ns && atomic_load(&self->view->page) &&
                   (timeline->running || tb__page_time_known(self->view) > timeline->time_ns);
  tb__mutex_unlock(&timeline->mutex);
  tb_status_t status = must_move ? tb__timeline_apply_policy(timeline, &policy.policy) : TB_OK;
  (void)status; /* it fails where the timeline has no clock any more */
}

/* Checks whether a page has lost its contents: its file was truncated, and perhaps extended
 * again. */
static void check_for_loss(shm_source_t *self)
{
  tb__page_copy_t copy;
  if (!atomic_load(&self->view->page) || tb__page_load(self->page, &copy)) return;
  stop_time(self);
  tb__mutex_lock(&self->timeline->mutex);
  tb__waiters_report_state_locked(self->timeline);
  tb__mutex_unlock(&self->timeline->mutex);
}

/* While private zeros are mapped, a futex there is not woken. */
static void wait_for_file(shm_source_t *self)
{
  uint32_t seen = atomic_load(&self->nudges);
  tb__mutex_lock(&self->timeline->mutex);
  bool is_back =
      tb__guarded_map_is_cut(self->guard) && tb__guarded_map_restore(self->guard, self->file.fd);
  if (is_back) self->version = 0; /* whatever is there is new */
  tb__mutex_unlock(&self->timeline->mutex);
  if (is_back) wake_file_waiters(self);
  if (!is_back && !atomic_load(&self->stopping))
    tb__futex_wait_kernel(&self->nudges, seen, next_probe());
}

static void *jump_run(void *argument)
{
  shm_source_t *self = argument;
  while (!atomic_load(&self->stopping)) {
    check_for_loss(self);
    if (tb__guarded_map_is_cut(self->guard)) {
      wait_for_file(self);
      continue;
    }
    uint32_t seen = atomic_load(&self->page->epoch_word);
    tb__page_copy_t copy;
    bool sound = tb__page_load(self->page, &copy);
    if (!sound || copy.epoch != atomic_load(&self->view->epoch)) follow(self);
    if (!atomic_load(&self->stopping) && !tb__guarded_map_is_cut(self->guard))
      tb__futex_wait_shared(&self->page->epoch_word, seen, next_probe());
  }
  thread_end(self);
  return NULL;
}

/* ---- the thread that follows what is waited for ---- */

/* The earliest time at which anything on the timeline needs to be woken. */
static int64_t wish_locked(shm_source_t *self) TB_REQUIRES(self->timeline->mutex)
{
  tb_timeline_t *timeline = self->timeline;
  const tb__waiters_t *waiters = &timeline->waiters;
  int64_t wish_ns;
  if (timeline->handlers.forward ||
      ((waiters->watchers || waiters->states) && waiters->watch_min_forward != INT64_MAX))
    return TB__WISH_EACH_TICK;
  bool waits = !tb__deadline_heap_is_empty(&waiters->heaps[TB__AXIS_TIME]) ||
               !tb__deadline_heap_is_empty(&waiters->heaps[TB__AXIS_ELAPSED]);
  if (!waits) return TB__WISH_NONE;
  if (!self->link.slot.is_taken) return TB__WISH_EACH_TICK;
  /* before the first tick, which is a jump, nothing is due; what the page has reached already is
   * followed at once */
  if (!timeline->time_ns || !tb__timeline_first_deadline_locked(self->timeline, &wish_ns))
    return TB__WISH_NONE;
  return wish_ns;
}

/* Writes the wish, and then reads the page: see wake_area.h. True: what is wished for may be there
 * already, so that the publisher may not have read the wish. */
static bool wish_write_locked(shm_source_t *self) TB_REQUIRES(self->timeline->mutex)
{
  /* X10: no wake-up is lost: the wish first, and then the page */
  tb__page_copy_t copy;
  int64_t wish_ns = self->view->wants_ticks ? self->view->wish_ns : TB__WISH_NONE;
  tb__wake_slot_wish(&self->link.slot, wish_ns);
  (void)atomic_load(&self->page->version); /* in one order with the wish */
  if (!atomic_load(&self->view->page) || !tb__page_load(self->page, &copy)) return false;
  if (copy.version == self->version && copy.epoch == self->epoch) return false;
  return copy.epoch != self->epoch || copy.linear.rate > 0 || copy.linear.time_ns >= wish_ns;
}

/* Called with the timeline's mutex, by the thread that begins to wait. */
static void wish_earlier(tb__page_view_t *base)
{
  shm_source_t *self = ((shm_view_t *)base)->source;
  if (!self) return;
  tb__timeline_assert_locked(self->timeline);
  if (self->is_parked || !self->link.slot.is_taken) {
    atomic_fetch_add(&base->wanted, 1);
    tb__futex_wake_one(&base->wanted);
  } else if (wish_write_locked(self)) {
    tb__wake_slot_raise(&self->link.slot);
  }
}

static void choose_area(shm_source_t *self)
{
  tb__wake_link_t next;
  if (!tb__wake_link_needs_change(&self->link, self->page, &next)) return;
  tb__mutex_lock(&self->timeline->mutex);
  tb__wake_slot_t old = self->link.slot;
  self->link = next;
  self->view->has_wish = next.slot.is_taken;
  tb__mutex_unlock(&self->timeline->mutex);
  tb__wake_slot_leave(&old);
}

/* What the thread that follows does next. */
typedef enum follower_step {
  FOLLOW, /* the page is where something waited for it */
  WAIT,   /* on the slot, or on the page's ticks */
  PARK,   /* on `wanted`: nothing is waited for */
} follower_step_t;

/* Notes what is waited for and, in the slot, writes it. A thread that lingers waits on its slot for
 * a while longer when nothing is: so a timer that is started again wakes it only when it is due. */
static follower_step_t wish_renew(shm_source_t *self, bool has_followed, bool *lingers)
{
  tb__page_view_t *view = self->view;
  tb__mutex_lock(&self->timeline->mutex);
  view->wish_ns = wish_locked(self);
  view->wants_ticks = view->wish_ns != TB__WISH_NONE;
  view->following = view->wish_ns == TB__WISH_EACH_TICK && (view->following || has_followed);
  bool is_there = self->link.slot.is_taken && wish_write_locked(self);
  *lingers = self->link.slot.is_taken && (*lingers || view->wants_ticks);
  self->is_parked = !view->wants_ticks && !*lingers;
  follower_step_t next = self->is_parked ? PARK : WAIT;
  if (view->wants_ticks && (is_there || !has_followed)) next = FOLLOW;
  tb__mutex_unlock(&self->timeline->mutex);
  return next;
}

/* After a wait that was not ended: whether its publisher has. */
static void note_silence(shm_source_t *self, bool on_slot)
{
  tb__page_copy_t copy;
  bool sound = tb__page_load(self->page, &copy);
  tb__mutex_lock(
      &self->timeline->mutex); /* so that this comes before the first move by a new publisher */
  if (!tb__shared_file_is_locked(&self->file)) atomic_store(&self->view->lost, true);
  const tb__page_view_t *view = self->view;
  int64_t wish_ns = view->wants_ticks ? view->wish_ns : TB__WISH_NONE;
  if (on_slot && ((sound && copy.version != self->version && copy.linear.time_ns >= wish_ns) ||
                  !tb__wake_slot_still_wishes(&self->link.slot, wish_ns)))
    tb__wake_link_note_miss(&self->link);
  tb__waiters_report_state_locked(self->timeline);
  tb__mutex_unlock(&self->timeline->mutex);
}

/* True: nothing has happened for as long as it waits. */
static bool wait_for_tick(shm_source_t *self, const _Atomic uint32_t *word, uint32_t seen)
{
  check_for_loss(self);
  if (tb__guarded_map_is_cut(self->guard)) {
    wait_for_file(self);
    return false;
  }
  bool on_slot = word != &self->page->tick_word;
  if (tb__futex_wait_shared(word, seen, next_probe())) {
    if (on_slot) self->link.misses = 0;
    return false;
  }
  note_silence(self, on_slot);
  return true;
}

static bool is_wanted(shm_source_t *self)
{
  tb__mutex_lock(&self->timeline->mutex);
  bool wanted = self->view->wants_ticks;
  tb__mutex_unlock(&self->timeline->mutex);
  return wanted;
}

static void *tick_run(void *argument)
{
  shm_source_t *self = argument;
  bool lingers = false;
  while (!atomic_load(&self->stopping)) {
    follower_step_t next;
    uint32_t wanted = atomic_load(&self->view->wanted); /* before the page: it may change */
    choose_area(self);
    const _Atomic uint32_t *word =
        self->link.slot.is_taken ? tb__wake_slot_word(&self->link.slot) : &self->page->tick_word;
    uint32_t seen =
        atomic_load(word); /* before the wish: one that is met after this ends the wait */
    if (!tb__wake_link_is_current(&self->link, self->page)) continue;
    bool follows = is_wanted(self);
    do {
      if (follows) follow(self);
      next = wish_renew(self, follows, &lingers);
      follows = true;
    } while (next == FOLLOW && !atomic_load(&self->stopping));
    if (atomic_load(&self->stopping)) break;
    if (next == PARK)
      tb__futex_wait(&self->view->wanted, wanted, TB__NO_DEADLINE);
    else if (wait_for_tick(self, word, seen))
      lingers = false;
  }
  thread_end(self);
  return NULL;
}

/* A thread that is about to wait on the page is woken in the next round. */
static void threads_stop(shm_source_t *self)
{
  uint32_t running;
  atomic_store(&self->stopping, true);
  while ((running = atomic_load(&self->threads)) > 0) {
    atomic_fetch_add(&self->view->wanted, 1);
    tb__futex_wake_all(&self->view->wanted);
    wake_file_waiters(self);
    tb__mutex_lock(&self->timeline->mutex);
    tb__wake_slot_raise(&self->link.slot);
    tb__mutex_unlock(&self->timeline->mutex);
    tb__futex_wake_shared(&self->page->tick_word);
    tb__futex_wake_shared(&self->page->epoch_word);
    tb__deadline_t soon = {TB__DEADLINE_STEADY, tb__real_steady_now_ns() + RETRY_NS};
    tb__futex_wait_kernel(&self->threads, running, soon);
  }
}

static tb_status_t threads_start(shm_source_t *self)
{
  atomic_store(&self->stopping, false);
  atomic_store(&self->threads, 1);
  tb_status_t status = tb__thread_start(&self->jump_thread, "tb-shm-jump", jump_run, self);
  if (status) {
    atomic_store(&self->threads, 0);
    return status;
  }
  atomic_fetch_add(&self->threads, 1);
  status = tb__thread_start(&self->tick_thread, "tb-shm-tick", tick_run, self);
  if (!status) return TB_OK;
  atomic_fetch_sub(&self->threads, 1);
  threads_stop(self);
  tb__thread_join(&self->jump_thread);
  return status;
}

/* ---- the source ---- */

static void view_leave(shm_source_t *self)
{
  atomic_store(&self->view->page, NULL);
  atomic_store(&self->view->settled_epoch, TB__PAGE_NO_EPOCH);
  atomic_store(&self->view->epoch, TB__PAGE_NO_EPOCH);
  atomic_fetch_add(&self->timeline->gate, 1);
  tb__futex_wake_all(&self->timeline->gate);
}

static void slot_leave(shm_source_t *self)
{
  tb__mutex_lock(&self->timeline->mutex);
  tb__wake_slot_t slot = self->link.slot;
  self->link.slot = (tb__wake_slot_t)TB__WAKE_SLOT_NONE;
  self->link.offer = (tb__wake_offer_t){0};
  self->view->has_wish = self->view->wants_ticks = false;
  ((shm_view_t *)self->view)->source = NULL;
  tb__mutex_unlock(&self->timeline->mutex);
  tb__wake_slot_leave(&slot);
}

static tb_status_t start(void *argument, tb_timeline_t *timeline)
{
  shm_source_t *self = argument;
  tb__page_copy_t left = {0};
  bool sound =
      tb__page_load(self->page, &left); /* before asking: a publisher may begin meanwhile */
  bool has_publisher = tb__shared_file_is_locked(&self->file);
  self->copy = (tb__page_copy_t){0};
  self->view->following = self->view->wants_ticks = self->cannot_run = false;
  self->is_parked = false;
  self->link.refused = (tb__wake_offer_t){0};
  tb__mutex_lock(&timeline->mutex);
  ((shm_view_t *)self->view)->source = self;
  tb__mutex_unlock(&timeline->mutex);
  self->ignored_epoch = has_publisher ? TB__PAGE_NO_EPOCH : sound ? left.epoch : 0;
  self->epoch = 0;
  atomic_store(&self->view->lost, false);
  tb_timeline_set_state(timeline, has_publisher ? TB_CLOCK_WAITING : TB_CLOCK_NO_PUBLISHER);
  follow(self); /* so that the first clock has its time from the start */
  tb_status_t status = threads_start(self);
  if (!status) return TB_OK;
  slot_leave(self);
  view_leave(self);
  return status;
}

static void stop(void *argument)
{
  shm_source_t *self = argument;
  threads_stop(self);
  tb__thread_join(&self->jump_thread);
  tb__thread_join(&self->tick_thread);
  slot_leave(self);
  view_leave(self);
}

static void destroy(void *argument)
{
  shm_source_t *self = argument;
  tb__shared_file_close(&self->file);
  free(self->link.path);
  free(self);
}

static const tb_source_ops_t shm_ops = {"shared memory", start, stop, destroy};

static void view_free(tb__page_view_t *view)
{
  tb__shared_file_close(&((shm_view_t *)view)->map);
  free(view);
}

static tb_status_t create(shm_source_t *self, shm_view_t *view, tb_source_t **out)
{
  tb_status_t status = tb_source_create(&shm_ops, self, out);
  if (status) return status;
  self->source = *out;
  self->timeline = (*out)->timeline;
  self->page = self->file.map;
  self->view = &view->view;
  self->guard = self->file.guard;
  view->map = (tb__shared_file_t){-1, self->file.map, self->file.guard};
  self->file.map = self->file.guard = NULL; /* the view lives as long as the timeline */
  view->view.free = view_free;
  view->view.wish = wish_earlier;
  atomic_init(&view->view.settled_epoch, TB__PAGE_NO_EPOCH);
  atomic_init(&view->view.epoch, TB__PAGE_NO_EPOCH);
  self->timeline->view = &view->view;
  return TB_OK;
}

tb_status_t tb_shm_source_create_sized(const char *name, const tb_shm_options_t *options,
                                       size_t options_size, tb_source_t **out, tb_error_t *error)
{
  tb_shm_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_shm_options_t");
  if (!out) return tb_error_set(error, TB_ERR_INVALID, "out is NULL");
  shm_source_t *self = calloc(1, sizeof *self);
  shm_view_t *view = calloc(1, sizeof *view);
  tb__shared_file_t file = TB__SHARED_FILE_NONE;
  tb_status_t status = TB_OK;
  if (!self || !view) status = tb__no_memory(error);
  if (!status) status = tb__shm_file_open(&file, name, options, false, NULL, error);
  char *wake_path = status ? NULL : tb__shm_wake_path(name, options);
  if (!status && !wake_path) status = tb__no_memory(error);
  if (!status) {
    self->file = file;
    self->link.path = wake_path;
    self->link.slot = (tb__wake_slot_t)TB__WAKE_SLOT_NONE;
    status = create(self, view, out);
    if (status) tb_error_set(error, status, "%s", tb_status_message(status));
  }
  if (!status) return TB_OK;
  tb__shared_file_close(&file);
  free(wake_path);
  free(self);
  free(view);
  return status;
}

tb_status_t tb__shm_source_from_name(const char *rest, void *user, tb_source_t **out,
                                     tb_error_t *error)
{
  (void)user;
  return tb_shm_source_create(rest, NULL, out, error);
}

static tb_status_t shm_source_status(const tb_source_t *source, tb_shm_status_t *out)
{
  if (!out || !tb__source_is(source, &shm_ops)) return TB_ERR_INVALID;
  shm_source_t *self = source->self;
  tb__page_copy_t copy;
  if (!tb__page_load(self->page, &copy)) copy = (tb__page_copy_t){0};
  tb__mutex_lock(&self->timeline->mutex);
  bool has_slot = self->view->has_wish;
  tb__mutex_unlock(&self->timeline->mutex);
  *out = (tb_shm_status_t){
      .has_publisher = tb__shared_file_is_locked(&self->file),
      .publishers = copy.publishers,
      .foreign_steady = atomic_load(&self->view->foreign),
      .is_woken_when_due = has_slot,
      .invalid = atomic_load(&self->invalid),
  };
  return TB_OK;
}

tb_status_t tb_shm_source_status_sized(const tb_source_t *source, tb_shm_status_t *out,
                                       size_t out_size)
{
  tb_shm_status_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = shm_source_status(source, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}
