#include <errno.h>
#include <stdlib.h>
#include <timebase/shm_publisher.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "base/sized.h"
#include "clock/timeline.h"
#include "platform/futex.h"
#include "platform/mutex.h"
#include "platform/time.h"
#include "source/shm_file.h"
#include "source/wake_area.h"

struct tb_shm_publisher {
  tb__shared_file_t file;
  tb__mutex_t mutex;
  tb__page_copy_t copy; /* as published last */
  bool has_run;         /* in this epoch */
  int64_t moved_ns;     /* steady: the last tick that moved time */
  tb__shared_file_t wake_file;
  char *path, *wake_path;
  bool has_wake_area; /* the page says so */
  uint64_t inode;     /* of the file */
  int64_t looked_ns;  /* steady: when the file was last looked for under its name */
  bool is_gone;       /* it was not there */
};

/* Between two looks whether the file is still under its name: each is a call of the system. */
#define LOOK_NS (100 * TB_NS_PER_MS)

/* Fills the copy that is not current, and makes it current. */
static void page_write(tb__page_t *page, const tb__page_copy_t *copy)
{
  uint64_t next = atomic_load(&page->version) + 1;
  tb__page_slot_t *slot = &page->slots[next & 1];
  atomic_store_explicit(&slot->time_ns, copy->linear.time_ns, memory_order_release);
  atomic_store_explicit(&slot->epoch, copy->epoch, memory_order_release);
  atomic_store_explicit(&slot->steady_ns, copy->linear.steady_ns, memory_order_release);
  atomic_store_explicit(&slot->rate, copy->linear.rate, memory_order_release);
  atomic_store_explicit(&slot->until_ns, copy->linear.until_ns, memory_order_release);
  atomic_store_explicit(&slot->before_ns, copy->before_ns, memory_order_release);
  atomic_store_explicit(&slot->publishers, copy->publishers, memory_order_release);
  atomic_store_explicit(&slot->state, (uint32_t)copy->state, memory_order_release);
  atomic_store_explicit(&slot->reason, copy->reason, memory_order_release);
  atomic_store_explicit(&slot->jump_reason, copy->jump_reason, memory_order_release);
  atomic_store_explicit(&page->alive_ns, tb__steady_coarse_now_ns(), memory_order_relaxed);
  atomic_store(&page->version, next); /* before wishes are read, in one order with them */
}

/* What time has reached, for readers that wish for a time: while it runs by itself they see to that
 * themselves, and each change concerns all. So does a jump, and a change of the state. */
static int64_t reached_ns(const tb__page_copy_t *last, const tb__page_copy_t *copy)
{
  if (copy->epoch != last->epoch || copy->state != last->state || copy->linear.rate > 0 ||
      last->linear.rate > 0)
    return TB__WAKE_ALL;
  return copy->linear.time_ns > 0 ? copy->linear.time_ns : 1;
}

static void wake_readers(tb_shm_publisher_t *publisher, int64_t time_ns)
{
  tb__page_t *page = publisher->file.map;
  if (!publisher->has_wake_area || tb__wake_area_wake(&publisher->wake_file, time_ns)) return;
  publisher->has_wake_area = false;
  atomic_store(&page->wake_publisher, 0);
  tb__wake_area_give_up(&publisher->wake_file);
}

static void publish(tb_shm_publisher_t *publisher, const tb__page_copy_t *copy)
{
  tb__page_t *page = publisher->file.map;
  bool jumps = copy->epoch != publisher->copy.epoch;
  int64_t time_ns = reached_ns(&publisher->copy, copy);
  page_write(page, copy);
  publisher->copy = *copy;
  wake_readers(publisher, time_ns);
  atomic_fetch_add(&page->tick_word, 1);
  tb__futex_wake_shared(&page->tick_word); /* for readers that have no slot */
  if (!jumps) return;
  atomic_fetch_add(&page->epoch_word, 1);
  tb__futex_wake_shared(&page->epoch_word);
}

/* How far time has run in steady time that is not ours is not known here. */
static int64_t time_left(const tb__page_t *page, const tb__linear_time_t *linear)
{
  uint64_t theirs = atomic_load(&page->time_namespace);
  bool known = theirs != 0 && theirs == tb__time_namespace();
  return linear->rate > 0 && known ? tb__linear_time_at(linear, tb__steady_now_ns())
                                   : linear->time_ns;
}

/* Above the epochs of a page that has lost its contents (its file was truncated): readers may have
 * seen them. */
static uint64_t first_epoch(void)
{
  int64_t now_ns = tb__system_now_ns();
  return now_ns > 0 ? (uint64_t)now_ns : 0;
}

/* Takes over from the publisher before, whatever the page contains. */
static void take_over(tb_shm_publisher_t *publisher, uint64_t inode)
{
  tb__page_t *page = publisher->file.map;
  tb__page_copy_t last = {0};
  if (!tb__page_load(page, &last)) last = (tb__page_copy_t){.epoch = first_epoch()};
  publisher->copy = last;
  int64_t before_ns = time_left(page, &last.linear);
  tb__page_end_epoch(page, last.epoch, before_ns);
  atomic_store(&page->time_namespace, tb__time_namespace());
  atomic_store(&page->format, TB__PAGE_FORMAT);
  tb__page_copy_t copy = {.epoch = last.epoch + 1,
                          .before_ns = before_ns,
                          .publishers = last.publishers + 1,
                          .state = TB_CLOCK_WAITING,
                          .reason = TB_JUMP_REASON_SOURCE_REPLACED,
                          .jump_reason = TB_JUMP_REASON_SOURCE_REPLACED};
  atomic_store(&page->wake_format, TB__WAKE_AREA_FORMAT);
  atomic_store(&page->wake_inode, publisher->has_wake_area ? inode : 0);
  atomic_store(&page->wake_publisher, publisher->has_wake_area ? copy.publishers : 0);
  page_write(page, &copy);
  atomic_store(&page->magic,
               TB__PAGE_MAGIC); /* at the first one: the file is a page from here on */
  publish(publisher, &copy);
}

static tb_status_t take_name(const tb__shared_file_t *file, const char *name, tb_error_t *error)
{
  tb_status_t status = tb__shared_file_lock(file);
  if (status == TB_ERR_BUSY)
    return tb_error_set(error, status,
                        "shared-memory name \"%s\": another publisher uses it; end that one, or "
                        "choose another name",
                        name);
  if (status)
    return tb_error_set_errno(error, status, errno,
                              "shared-memory name \"%s\": its file cannot be locked", name);
  return TB_OK;
}

/* Where this user may not make it, readers are woken by each tick. */
static tb_status_t make_wake_area(tb_shm_publisher_t *publisher, const char *name,
                                  const tb_shm_options_t *options, uint32_t mode,
                                  uint64_t *out_inode, tb_error_t *error)
{
  publisher->wake_path = tb__shm_wake_path(name, options);
  if (!publisher->wake_path) return tb__no_memory(error);
  tb_status_t status =
      tb__wake_area_create(&publisher->wake_file, publisher->wake_path, mode, out_inode, error);
  publisher->has_wake_area = !status;
  return status == TB_ERR_BUSY ? TB_OK : status;
}

static void publisher_free(tb_shm_publisher_t *publisher)
{
  tb__shared_file_close(&publisher->wake_file);
  tb__shared_file_close(&publisher->file); /* last: another one may make the area after this */
  free(publisher->wake_path);
  free(publisher->path);
  free(publisher);
}

tb_status_t tb_shm_publisher_open_sized(const char *name, const tb_shm_options_t *options,
                                        size_t options_size, tb_shm_publisher_t **out,
                                        tb_error_t *error)
{
  tb_shm_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_shm_options_t");
  if (!out) return tb_error_set(error, TB_ERR_INVALID, "out is NULL");
  tb_status_t status = tb__fork_watch();
  if (status) return tb_error_set(error, status, "%s", tb_status_message(status));
  tb_shm_publisher_t *publisher = calloc(1, sizeof *publisher);
  if (!publisher) return tb__no_memory(error);
  uint64_t inode = 0;
  uint32_t mode = 0;
  publisher->file = publisher->wake_file = (tb__shared_file_t)TB__SHARED_FILE_NONE;
  status = tb__shm_file_open(&publisher->file, name, options, true, &mode, error);
  if (!status) status = take_name(&publisher->file, name, error);
  if (!status && !(publisher->path = tb__shm_page_path(name, options)))
    status = tb__no_memory(error);
  if (!status && !(publisher->inode = tb__shared_file_inode(&publisher->file)))
    status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s: cannot read its number",
                                publisher->path);
  if (!status) status = make_wake_area(publisher, name, options, mode, &inode, error);
  if (status) {
    publisher_free(publisher);
    return status;
  }
  tb__mutex_init(&publisher->mutex);
  take_over(publisher, inode);
  *out = publisher;
  return TB_OK;
}

/* A tick has no steady time: see tb__page_slot_t. */
static tb__linear_time_t linear_of(const tb_anchor_t *anchor)
{
  if (anchor->rate > 0 && anchor->time_ns > 0) return tb__anchor_linear_time(anchor);
  return (tb__linear_time_t){.time_ns = anchor->time_ns, .until_ns = anchor->time_ns};
}

static int64_t linear_now(const tb__linear_time_t *linear, int64_t steady_ns)
{
  return linear->rate > 0 ? tb__linear_time_at(linear, steady_ns) : linear->time_ns;
}

static void anchor_locked(tb_shm_publisher_t *publisher, const tb_anchor_t *anchor,
                          tb_jump_reason_t reason)
{
  const tb__page_copy_t *last = &publisher->copy;
  int64_t steady_ns = tb__steady_now_ns();
  int64_t before_ns = linear_now(&last->linear, steady_ns);
  tb__page_copy_t next = *last;
  next.linear = linear_of(anchor);
  next.state = anchor->time_ns ? anchor->state : TB_CLOCK_WAITING;
  next.reason = (uint16_t)reason;
  int64_t after_ns = linear_now(&next.linear, steady_ns);
  if ((before_ns == 0) != (after_ns == 0) || after_ns < before_ns) {
    tb__page_end_epoch(publisher->file.map, next.epoch, before_ns);
    next.epoch++;
    next.before_ns = before_ns;
    next.jump_reason = next.reason;
    publisher->has_run = false;
  }
  if (after_ns != before_ns || next.linear.rate > 0) publisher->moved_ns = steady_ns;
  if (next.state == TB_CLOCK_RUNNING && steady_ns - publisher->moved_ns >= TB__PAUSED_AFTER_NS)
    next.state = TB_CLOCK_PAUSED;
  if (next.linear.rate > 0) publisher->has_run = true;
  if (publisher->has_run && next.linear.steady_ns == 0) next.linear.steady_ns = steady_ns;
  publish(publisher, &next);
}

/* Whether the file was truncated, and perhaps filled with zeros since: readers do not see what is
 * written. */
static bool page_is_lost(const tb_shm_publisher_t *publisher)
{
  const tb__page_t *page = publisher->file.map;
  return tb__shared_file_is_cut(&publisher->file) || atomic_load(&page->magic) != TB__PAGE_MAGIC;
}

/* Whether the file has been removed or replaced since the last look: who comes later does not find
 * it. */
static bool has_gone_locked(tb_shm_publisher_t *publisher)
{
  int64_t now_ns = tb__steady_coarse_now_ns();
  if (now_ns - publisher->looked_ns < LOOK_NS) return false;
  bool was_gone = publisher->is_gone;
  publisher->looked_ns = now_ns;
  publisher->is_gone = !tb__shared_file_is_at(publisher->path, publisher->inode);
  return publisher->is_gone && !was_gone;
}

tb_status_t tb_shm_publisher_anchor_sized(tb_shm_publisher_t *publisher, const tb_anchor_t *anchor,
                                          size_t anchor_size, tb_jump_reason_t reason)
{
  tb_anchor_t known;
  if (!TB__SIZED_IN(anchor, anchor_size, known)) return TB_ERR_UNSUPPORTED;
  if (!publisher || !anchor) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (anchor->time_ns < 0) return TB_ERR_RANGE;
  if (!tb__anchor_is_valid(anchor)) return TB_ERR_INVALID;
  if (anchor->rate > 0 && anchor->bound.ns == INT64_MAX) return TB_ERR_INVALID;
  tb__mutex_lock(&publisher->mutex);
  anchor_locked(publisher, anchor, reason);
  tb_status_t status = page_is_lost(publisher) ? TB_ERR_SYSTEM : TB_OK;
  bool has_gone = has_gone_locked(publisher);
  tb__mutex_unlock(&publisher->mutex);
  if (has_gone)
    tb__log(TB_LOG_ERROR,
            "%s was removed or replaced by another process: processes that follow it still get "
            "this time, new ones will not; open the publisher again",
            publisher->path);
  return status;
}

tb_status_t tb_shm_publisher_tick(tb_shm_publisher_t *publisher, int64_t time_ns,
                                  tb_jump_reason_t reason)
{
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = time_ns;
  return tb_shm_publisher_anchor(publisher, &anchor, reason);
}

static tb_status_t sink_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  tb_status_t status = tb_shm_publisher_tick(self, time_ns, reason);
  if (!status) return TB_OK;
  if (status == TB_ERR_SYSTEM)
    return tb_error_set(error, status,
                        "shared memory: the page's file was truncated by another process; "
                        "open the publisher again");
  return tb_error_set(error, status, "shared memory: %s", tb_status_message(status));
}

tb_tick_sink_t tb_shm_publisher_sink(tb_shm_publisher_t *publisher)
{
  return (tb_tick_sink_t){sink_tick, publisher};
}

static void leave(tb_shm_publisher_t *publisher)
{
  tb__page_copy_t last = publisher->copy;
  last.linear.time_ns = linear_now(&last.linear, tb__steady_now_ns());
  last.linear.rate = 0;
  if (last.linear.time_ns) last.state = TB_CLOCK_LOST;
  publish(publisher, &last);
  if (publisher->wake_file.map) unlink(publisher->wake_path);
}

void tb_shm_publisher_close(tb_shm_publisher_t *publisher)
{
  if (!publisher) return;
  if (!tb__is_forked()) leave(publisher); /* else the page belongs to the parent */
  tb__mutex_fini(&publisher->mutex);
  publisher_free(publisher);
}
