#include "rcl/shared_time.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/source.h>
#include <timebase/timeline.h>

#include "clock/timeline.h"
#include "platform/mutex.h"
#include "rcl/note.h"
#include "rcl/report.h"

#define VARIABLE "TIMEBASE_SOURCE"

/* ---- whether it is followed ---- */

typedef enum decision {
  UNDECIDED,
  NO_SOURCE,
  NO_SHARED_TIME, /* the source is another one */
  LEFT_ALONE,     /* the release is unknown */
  UNUSABLE,       /* the page cannot be opened */
  FOLLOWED,
} decision_t;

static _Atomic int decision;
static tb__mutex_t mutex = TB__MUTEX_INIT; /* the loader is not called under it */
static tb__librcl_release_t release;       /* by mutex, until it is decided */
static char decided_by[256];               /* the same: the program may change its environment */
static _Thread_local bool is_deciding;     /* on this thread: its calls go to librcl */
static char unusable[256];                 /* why; before the decision */

const char *tb__shared_time_name(void)
{
  return decided_by;
}

static decision_t decide(const tb__librcl_t *rcl, const char *name,
                         tb__librcl_release_t *out_release)
{
  if (!name || !name[0]) return NO_SOURCE;
  if (strncmp(name, "shm:", 4) != 0) return NO_SHARED_TIME;
  tb__librcl_recognise(rcl, out_release);
  return out_release->name ? FOLLOWED : LEFT_ALONE;
}

static void explain(decision_t decided)
{
  if (decided == NO_SHARED_TIME)
    tb__rcl_note("nodes keep their own time: %s=%s is no shared time (shm:NAME)", VARIABLE,
                 tb__shared_time_name());
  if (decided != LEFT_ALONE) return;
  tb__rcl_note("nodes keep their own time: this librcl is of an unknown release (%s); a newer "
               "timebase may know it, else follow /clock",
               release.reason);
  tb__report_write("left_alone");
}

/* Threads that are here together decide the same; one of them explains it. No lock is held
 * meanwhile (librcl.c). */
static bool decide_once(void)
{
  const tb__librcl_t *rcl = tb__librcl();
  tb__librcl_release_t own = {0};
  if (is_deciding || !rcl) return false;
  const char *name = getenv(VARIABLE);
  is_deciding = true;
  decision_t decided = decide(rcl, name, &own);
  is_deciding = false;
  tb__mutex_lock(&mutex);
  bool is_first = atomic_load(&decision) == UNDECIDED;
  if (is_first) {
    release = own;
    snprintf(decided_by, sizeof decided_by, "%s", name ? name : "");
    atomic_store(&decision, decided);
  }
  tb__mutex_unlock(&mutex);
  if (is_first) explain(decided);
  return atomic_load(&decision) == FOLLOWED;
}

bool tb__shared_time_is_followed(void)
{
  int decided = atomic_load_explicit(&decision, memory_order_acquire);
  return decided == UNDECIDED ? decide_once() : decided == FOLLOWED;
}

const tb__librcl_release_t *tb__shared_time_release(void)
{
  return atomic_load(&decision) >= LEFT_ALONE ? &release : NULL;
}

const char *tb__shared_time_refusal(void)
{
  int decided = atomic_load(&decision);
  return decided == LEFT_ALONE ? release.reason : decided == UNUSABLE ? unusable : "";
}

/* ---- the clock ---- */

tb_clock_t *_Atomic tb__shared_time_clock;
const tb__page_view_t *_Atomic tb__shared_time_page;

/* rcl's readers never wait for a jump: they may hold the lock of an interpreter that a callback
 * needs (J10). */
static tb_status_t create(tb_clock_t **out)
{
  tb_clock_t *clock = NULL;
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.readers_never_block = true;
  tb_status_t status = tb_clock_create(NULL, &clock);
  tb_source_t *source = status ? NULL : tb_source_get_default();
  if (!status && !source) status = TB_ERR_NOT_FOUND;
  if (!status) status = tb_timeline_set_options(tb_source_timeline(source), &options);
  if (status) {
    tb_clock_destroy(clock);
    return status;
  }
  atomic_store(&tb__shared_time_page, tb_source_timeline(source)->view);
  *out = clock;
  return TB_OK;
}

/* No node may fail for want of the page: it gets the clock that it would have had. What is short of
 * memory fails, as in rcl, and may be tried again. */
static void leave_alone(tb_status_t status)
{
  snprintf(unusable, sizeof unusable, "the time cannot be opened: %s", tb_status_message(status));
  atomic_store(&decision, UNUSABLE);
  tb__rcl_note("nodes keep their own time: %s cannot be used: %s", tb__shared_time_name(),
               tb_status_message(status));
  tb__report_write("left_alone");
}

tb_status_t tb__shared_time_open(tb_clock_t **out)
{
  static tb__mutex_t opening = TB__MUTEX_INIT;
  *out = atomic_load_explicit(&tb__shared_time_clock, memory_order_acquire);
  if (*out) return TB_OK;
  tb_status_t status = TB_OK;
  tb__mutex_lock(&opening);
  *out = atomic_load(&tb__shared_time_clock);
  if (!*out && atomic_load(&decision) == UNUSABLE) {
    status = TB_ERR_NOT_FOUND;
  } else if (!*out) {
    tb__rcl_note_core_log();
    status = create(out);
    if (!status) atomic_store(&tb__shared_time_clock, *out);
    if (status && status != TB_ERR_NO_MEMORY) leave_alone(status);
  }
  tb__mutex_unlock(&opening);
  return status;
}
