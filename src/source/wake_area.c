#include "source/wake_area.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fork.h"
#include "platform/futex.h"

/* How often a publisher tries to take back a wish that its reader is changing. */
#define TRIES 3

static tb__wake_area_t *area_of(const tb__shared_file_t *file)
{
  return file->map;
}

static bool is_sound(const tb__shared_file_t *file)
{
  return file->map && !tb__shared_file_is_cut(file) &&
         atomic_load(&area_of(file)->magic) == TB__WAKE_AREA_MAGIC;
}

uint32_t tb__wake_area_slots(const tb__shared_file_t *file)
{
  uint32_t slots = atomic_load(&area_of(file)->slots);
  return slots < TB__WAKE_SLOTS ? slots : TB__WAKE_SLOTS;
}

/* ---- for publishers ---- */

tb_status_t tb__wake_area_create(tb__shared_file_t *file, const char *path, uint32_t mode,
                                 uint64_t *out_inode, tb_error_t *error)
{
  tb_status_t status = tb__shared_file_create(file, path, TB__WAKE_AREA_SIZE, mode, error);
  if (status) return status;
  *out_inode = tb__shared_file_inode(file);
  if (!*out_inode) {
    status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s: cannot read its number", path);
    tb__shared_file_close(file);
    unlink(path);
    return status;
  }
  atomic_store(&area_of(file)->magic, TB__WAKE_AREA_MAGIC);
  return TB_OK;
}

static void wake_reader(tb__wake_area_t *area, uint32_t index)
{
  atomic_fetch_add(&area->word[index], 1);
  tb__futex_wake_shared(&area->word[index]);
}

/* The wish is taken back, so a reader that does not renew it costs no further call. */
static void wake_if_due(tb__wake_area_t *area, uint32_t index, int64_t time_ns)
{
  int64_t wish_ns = atomic_load(&area->wish_ns[index]);
  int tries = TRIES;
  while (wish_ns != TB__WAKE_NO_WISH && wish_ns <= time_ns) {
    if (!atomic_compare_exchange_weak(&area->wish_ns[index], &wish_ns, TB__WAKE_NO_WISH) &&
        --tries > 0)
      continue;
    wake_reader(area, index);
    return;
  }
}

bool tb__wake_area_wake(const tb__shared_file_t *file, int64_t time_ns)
{
  /* X10: the readers whose wish is met and no others */
  tb__wake_area_t *area = area_of(file);
  if (!is_sound(file)) return false;
  uint32_t slots = tb__wake_area_slots(file);
  for (uint32_t i = 0; i < slots; i++)
    wake_if_due(area, i, time_ns);
  return is_sound(file);
}

void tb__wake_area_give_up(const tb__shared_file_t *file)
{
  tb__wake_area_t *area = area_of(file);
  if (tb__shared_file_is_cut(file) && !tb__shared_file_extend(file, TB__WAKE_AREA_SIZE)) return;
  for (uint32_t i = 0; i < TB__WAKE_SLOTS; i++)
    wake_reader(area, i);
}

/* ---- for readers ---- */

static void describe_self(tb__wake_reader_t *reader)
{
  atomic_store(&reader->process_namespace, tb__process_namespace());
  atomic_store(&reader->time_namespace, tb__time_namespace());
  atomic_store(&reader->process_id, (uint64_t)getpid());
}

static bool take_any(tb__wake_slot_t *slot)
{
  tb__wake_area_t *area = area_of(&slot->file);
  for (uint32_t i = 0; i < TB__WAKE_SLOTS; i++) {
    if (tb__shared_file_lock_byte(&slot->file, i)) continue;
    slot->index = i;
    slot->is_taken = true;
    atomic_store(&area->wish_ns[i], TB__WAKE_NO_WISH); /* of a process that has ended, */
    atomic_store(&area->readers[i].process_id, 0);     /* and its number */
    describe_self(&area->readers[i]);
    uint32_t slots = atomic_load(&area->slots);
    while (slots <= i && !atomic_compare_exchange_weak(&area->slots, &slots, i + 1)) {
    }
    return true;
  }
  return false;
}

/* The descriptor that will hold the lock: noted before another thread forks. */
static bool reopen(tb__wake_slot_t *slot, const char *path)
{
  tb__fork_hold();
  bool is_reopened = tb__shared_file_reopen(&slot->file, path);
  if (is_reopened) slot->fork_place = tb__fork_closes(slot->file.fd);
  tb__fork_release();
  return is_reopened;
}

bool tb__wake_slot_take(tb__wake_slot_t *slot, const char *path, uint64_t inode)
{
  *slot = (tb__wake_slot_t)TB__WAKE_SLOT_NONE;
  if (tb__shared_file_open_existing(&slot->file, path, TB__WAKE_AREA_SIZE, true)) return false;
  if (tb__shared_file_inode(&slot->file) == inode && is_sound(&slot->file) && reopen(slot, path) &&
      take_any(slot))
    return true;
  tb__wake_slot_leave(slot);
  return false;
}

void tb__wake_slot_leave(tb__wake_slot_t *slot)
{
  if (slot->is_taken && !tb__is_forked()) {
    tb__wake_area_t *area = area_of(&slot->file);
    atomic_store(&area->wish_ns[slot->index], TB__WAKE_NO_WISH);
    atomic_store(&area->readers[slot->index].process_id, 0);
    /* A child that is forked between the next two lines has the descriptor, and not the lock. */
    tb__shared_file_unlock_byte(&slot->file, slot->index);
  }
  if (!tb__fork_keeps(slot->fork_place)) slot->file.fd = -1;
  slot->fork_place = -1;
  tb__shared_file_close(&slot->file);
  slot->is_taken = false;
}

bool tb__wake_slot_is_sound(const tb__wake_slot_t *slot)
{
  return slot->is_taken && is_sound(&slot->file);
}

static int64_t as_written(int64_t time_ns)
{
  return time_ns < 1 ? 1 : time_ns;
}

void tb__wake_slot_wish(const tb__wake_slot_t *slot, int64_t time_ns)
{
  int64_t wish_ns = time_ns == INT64_MAX ? TB__WAKE_NO_WISH : as_written(time_ns);
  atomic_store(&area_of(&slot->file)->wish_ns[slot->index], wish_ns);
}

bool tb__wake_slot_still_wishes(const tb__wake_slot_t *slot, int64_t time_ns)
{
  int64_t wish_ns = time_ns == INT64_MAX ? TB__WAKE_NO_WISH : as_written(time_ns);
  return atomic_load(&area_of(&slot->file)->wish_ns[slot->index]) == wish_ns;
}

_Atomic uint32_t *tb__wake_slot_word(const tb__wake_slot_t *slot)
{
  return &area_of(&slot->file)->word[slot->index];
}

void tb__wake_slot_raise(const tb__wake_slot_t *slot)
{
  if (slot->is_taken) wake_reader(area_of(&slot->file), slot->index);
}
