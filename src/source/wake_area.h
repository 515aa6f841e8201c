/* The area beside a page in which its readers write when they want to be woken. The publisher makes
 * the file, as a new one each time, and notes its inode on the page; readers that may write it take
 * a slot there. Whatever is read from it is input: any reader may have written anything, truncated
 * it, or taken all slots. So the publisher gives it up when its contents are gone, and a reader
 * that was not woken when it should have been goes back to being woken by each tick.
 *
 * A slot belongs to the process that holds the lock on its byte of the file, which ends with it: a
 * forked child closes its descriptor.
 *
 * No wake-up is lost. A reader reads its word, writes its wish, reads the page, and waits while the
 * word has not changed; a publisher writes the page and then reads the wishes. Page version and
 * wish are written and read in one order that all see (seq_cst), so either the publisher reads the
 * wish, or the reader reads what was published. */
#ifndef TB_SOURCE_WAKE_AREA_H
#define TB_SOURCE_WAKE_AREA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/shared_file.h"

#define TB__WAKE_AREA_MAGIC  UINT64_C(0x656b6177736d7474) /* "ttmswake" */
#define TB__WAKE_AREA_FORMAT 1                            /* also in the file's name */
#define TB__WAKE_AREA_SIZE   12288
#define TB__WAKE_SLOTS       256

/* As a file that is full of zeros has it. A wish of 1 ns is one for each tick. */
#define TB__WAKE_NO_WISH 0

typedef struct tb__wake_reader {
  _Atomic uint64_t process_id;
  _Atomic uint64_t process_namespace; /* in which that is its number; 0: unknown */
  _Atomic uint64_t time_namespace;
  uint64_t unused;
} tb__wake_reader_t;

typedef struct tb__wake_area {
  _Atomic uint64_t magic;
  _Alignas(64) _Atomic uint32_t slots; /* those from this one on have never been taken */
  _Alignas(64) _Atomic int64_t wish_ns[TB__WAKE_SLOTS];
  _Atomic uint32_t word[TB__WAKE_SLOTS]; /* futex */
  tb__wake_reader_t readers[TB__WAKE_SLOTS];
} tb__wake_area_t;

_Static_assert(sizeof(tb__wake_area_t) <= TB__WAKE_AREA_SIZE, "the file");

/* How many have been taken at some time, at most. */
uint32_t tb__wake_area_slots(const tb__shared_file_t *file);

/* ---- for publishers ---- */

/* Makes a new file at `path`. TB_ERR_SYSTEM. */
tb_status_t tb__wake_area_create(tb__shared_file_t *file, const char *path, uint32_t mode,
                                 uint64_t *out_inode, tb_error_t *error) TB_WARN_UNUSED;

#define TB__WAKE_ALL INT64_MAX

/* Wakes the readers that wish for a time up to `time_ns`, each once; TB__WAKE_ALL: all that wish
 * for anything. No system call where none is due. False: the area has lost its contents. */
bool tb__wake_area_wake(const tb__shared_file_t *file, int64_t time_ns) TB_WARN_UNUSED;

/* Wakes all that wait in an area whose contents are gone; its file is extended for that. Call after
 * the page says that there is no area any more. */
void tb__wake_area_give_up(const tb__shared_file_t *file);

/* ---- for readers ---- */

typedef struct tb__wake_slot {
  tb__shared_file_t file;
  uint32_t index;
  bool is_taken;
  int fork_place; /* of the descriptor that is locked: tb__fork_closes; -1: none */
} tb__wake_slot_t;

#define TB__WAKE_SLOT_NONE                                                                         \
  {                                                                                                \
    TB__SHARED_FILE_NONE, 0, false, -1                                                             \
  }

/* False: there is none to have: the file is missing, another one, may not be written, is full. */
bool tb__wake_slot_take(tb__wake_slot_t *slot, const char *path, uint64_t inode) TB_WARN_UNUSED;
void tb__wake_slot_leave(tb__wake_slot_t *slot);

/* Whether the area still has its contents. */
bool tb__wake_slot_is_sound(const tb__wake_slot_t *slot);
void tb__wake_slot_wish(const tb__wake_slot_t *slot, int64_t time_ns);
/* Whether the wish is as it was written last. */
bool tb__wake_slot_still_wishes(const tb__wake_slot_t *slot, int64_t time_ns);
_Atomic uint32_t *tb__wake_slot_word(const tb__wake_slot_t *slot);
/* Ends the wait of this process's own thread. */
void tb__wake_slot_raise(const tb__wake_slot_t *slot);

#endif
