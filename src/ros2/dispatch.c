#include "ros2/dispatch.h"
#include "base/callback_depth.h"
#include "base/list.h"

#include "held/parking.h"
#include "platform/time.h"

/* The dispatch that this thread belongs to. */
static _Thread_local const tb__dispatch_t *here;

void tb__dispatch_init(tb__dispatch_t *dispatch)
{
  *dispatch = (tb__dispatch_t){.next_due_ns = INT64_MAX};
  tb__mutex_init(&dispatch->mutex);
}

bool tb__dispatch_is_here(const tb__dispatch_t *dispatch)
{
  return here == dispatch;
}

static void wake(_Atomic uint32_t *word)
{
  atomic_fetch_add(word, 1);
  tb__futex_wake_all(word);
}

static void post_locked(tb__dispatch_t *dispatch, tb__dispatch_member_t *member)
    TB_REQUIRES(dispatch->mutex)
{
  if (member->posted || !member->is_member) return;
  member->posted = true;
  member->next_posted = NULL;
  if (dispatch->last_posted)
    dispatch->last_posted->next_posted = member;
  else
    dispatch->first_posted = member;
  dispatch->last_posted = member;
}

static void post_due(tb__dispatch_t *dispatch) TB_REQUIRES(dispatch->mutex)
{
  if (dispatch->next_due_ns == INT64_MAX) return;
  int64_t next_ns = INT64_MAX, now_ns = tb__steady_now_ns();
  if (now_ns < dispatch->next_due_ns) return;
  for (tb__dispatch_member_t *member = dispatch->first; member; member = member->next) {
    if (member->due_ns <= now_ns) {
      member->due_ns = INT64_MAX;
      post_locked(dispatch, member);
    } else if (member->due_ns < next_ns) {
      next_ns = member->due_ns;
    }
  }
  dispatch->next_due_ns = next_ns;
}

static tb__dispatch_member_t *posted_take(tb__dispatch_t *dispatch) TB_REQUIRES(dispatch->mutex)
{
  tb__dispatch_member_t *member = dispatch->first_posted;
  if (!member) return NULL;
  dispatch->first_posted = member->next_posted;
  if (!dispatch->first_posted) dispatch->last_posted = NULL;
  member->posted = false;
  return member;
}

/* False: nothing is left to run until *out_deadline. */
static bool run_next(tb__dispatch_t *dispatch, tb__deadline_t *out_deadline)
{
  tb__mutex_lock(&dispatch->mutex);
  post_due(dispatch);
  tb__dispatch_member_t *member = posted_take(dispatch);
  *out_deadline = dispatch->next_due_ns == INT64_MAX
                      ? TB__NO_DEADLINE
                      : (tb__deadline_t){TB__DEADLINE_STEADY, dispatch->next_due_ns};
  dispatch->running = member;
  tb__mutex_unlock(&dispatch->mutex);
  if (!member) return false;
  member->run(member);
  tb__mutex_lock(&dispatch->mutex);
  dispatch->running = NULL;
  void (*finish)(tb__dispatch_member_t *) = member->finish;
  tb__mutex_unlock(&dispatch->mutex);
  wake(&dispatch->done);
  if (finish) finish(member);
  return true;
}

static void *run(void *argument)
{
  tb__dispatch_t *dispatch = argument;
  here = dispatch;
  tb__callback_begin(); /* all that the thread does */
  for (;;) {
    tb__deadline_t deadline;
    uint32_t seen = atomic_load(&dispatch->work);
    if (run_next(dispatch, &deadline)) continue;
    tb__mutex_lock(&dispatch->mutex);
    bool stop = dispatch->stop;
    tb__mutex_unlock(&dispatch->mutex);
    if (stop) return NULL;
    tb__futex_wait(&dispatch->work, seen, deadline);
  }
}

void tb__dispatch_fini(tb__dispatch_t *dispatch)
{
  if (dispatch->started && !tb__is_forked()) {
    tb__mutex_lock(&dispatch->mutex);
    dispatch->stop = true;
    tb__mutex_unlock(&dispatch->mutex);
    wake(&dispatch->work);
    tb__thread_join(&dispatch->thread);
  }
  tb__mutex_fini(&dispatch->mutex);
}

tb_status_t tb__dispatch_add(tb__dispatch_t *dispatch, tb__dispatch_member_t *member,
                             void (*run_member)(tb__dispatch_member_t *member))
{
  tb_status_t status = TB_OK;
  *member = (tb__dispatch_member_t){.run = run_member, .due_ns = INT64_MAX, .is_member = true};
  tb__mutex_lock(&dispatch->mutex);
  if (!dispatch->started) status = tb__thread_start(&dispatch->thread, "tb-ros2", run, dispatch);
  if (!status) {
    dispatch->started = true;
    TB__LIST_PUSH(dispatch->first, member);
  }
  tb__mutex_unlock(&dispatch->mutex);
  return status;
}

static void unlink_locked(tb__dispatch_t *dispatch, tb__dispatch_member_t *member)
    TB_REQUIRES(dispatch->mutex)
{
  member->is_member = false;
  TB__LIST_REMOVE(dispatch->first, member);
  if (!member->posted) return;
  tb__dispatch_member_t *last = NULL, **link = &dispatch->first_posted;
  while (*link != member) {
    last = *link;
    link = &last->next_posted;
  }
  *link = member->next_posted;
  if (dispatch->last_posted == member) dispatch->last_posted = last;
}

void tb__dispatch_remove(tb__dispatch_t *dispatch, tb__dispatch_member_t *member)
{
  if (tb__is_forked()) return;
  tb__mutex_lock(&dispatch->mutex);
  unlink_locked(dispatch, member);
  for (;;) {
    uint32_t seen = atomic_load(&dispatch->done);
    if (dispatch->running != member) break;
    tb__mutex_unlock(&dispatch->mutex);
    tb__futex_wait(&dispatch->done, seen, TB__NO_DEADLINE);
    tb__mutex_lock(&dispatch->mutex);
  }
  tb__mutex_unlock(&dispatch->mutex);
}

bool tb__dispatch_leave(tb__dispatch_t *dispatch, tb__dispatch_member_t *member,
                        void (*finish)(tb__dispatch_member_t *member))
{
  if (!tb__dispatch_is_here(dispatch)) return false;
  tb__mutex_lock(&dispatch->mutex);
  bool runs = dispatch->running == member;
  if (runs) {
    if (!tb__is_forked()) unlink_locked(dispatch, member);
    member->finish = finish;
  }
  tb__mutex_unlock(&dispatch->mutex);
  return runs;
}

void tb__dispatch_post(tb__dispatch_t *dispatch, tb__dispatch_member_t *member)
{
  tb__mutex_lock(&dispatch->mutex);
  post_locked(dispatch, member);
  tb__mutex_unlock(&dispatch->mutex);
  wake(&dispatch->work);
}

void tb__dispatch_set_due(tb__dispatch_t *dispatch, tb__dispatch_member_t *member, int64_t due_ns)
{
  tb__mutex_lock(&dispatch->mutex);
  bool sooner = due_ns < dispatch->next_due_ns;
  member->due_ns = due_ns;
  if (sooner) dispatch->next_due_ns = due_ns;
  tb__mutex_unlock(&dispatch->mutex);
  if (sooner) wake(&dispatch->work);
}
