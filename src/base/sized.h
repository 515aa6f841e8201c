/* Structs that may grow: a program that was built with other headers of the same ABI hands over
 * another size (docs/abi.md). */
#ifndef TB_BASE_SIZED_H
#define TB_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <timebase/error.h>

/* False: fields that this library does not know are set. */
static inline bool tb__sized_is_known(const void *given, size_t given_size, size_t size)
{
  if (!given) return true;
  for (size_t i = size; i < given_size; i++)
    if (((const unsigned char *)given)[i]) return false;
  return true;
}

/* `given` if it has the size, otherwise `known` with what was given and zeros. NULL stays NULL. */
static inline const void *tb__sized_in(const void *given, size_t given_size, void *known,
                                       size_t size)
{
  if (!given || given_size == size) return given;
  memset(known, 0, size);
  memcpy(known, given, given_size < size ? given_size : size);
  return known;
}

/* Where a call fills `out`: that itself if it has the size (also NULL), otherwise `filled`, which
 * begins as a copy, as not all of it need be filled. */
static inline void *tb__sized_out(void *out, size_t out_size, void *filled, size_t size)
{
  if (!out || out_size == size) return out;
  memset(filled, 0, size);
  memcpy(filled, out, out_size < size ? out_size : size);
  return filled;
}

/* What this library does not know becomes 0, unless the call has failed. */
static inline void tb__sized_end(tb_status_t status, void *out, size_t out_size, const void *full,
                                 size_t size)
{
  if (!out || out == full) return;
  memcpy(out, full, out_size < size ? out_size : size);
  if (!status && out_size > size) memset((char *)out + size, 0, out_size - size);
}

static inline tb_status_t tb__sized_unsupported(tb_error_t *error, const char *type)
{
  return tb_error_set(error, TB_ERR_UNSUPPORTED,
                      "%s: a field is set that this version of timebase does not know; run the "
                      "program with the version that it was built with, or a later one",
                      type);
}

static inline bool tb__is_zero(const void *bytes, size_t size)
{
  return tb__sized_is_known(bytes, size, 0);
}

/* Of a struct that keeps its size: whether a newer program has set fields in the room for them.
 * False: TB_ERR_UNSUPPORTED. */
#define TB__RESERVED_IS_0(options) tb__is_zero((options)->reserved, sizeof(options)->reserved)

/* Of a call that takes a struct: makes `pointer` point to all the fields that this library knows,
 * in place or in `known`. False: TB_ERR_UNSUPPORTED. */
#define TB__SIZED_IN(pointer, given_size, known)                                                   \
  (tb__sized_is_known((pointer), (given_size), sizeof(known)) &&                                   \
   ((pointer) = tb__sized_in((pointer), (given_size), &(known), sizeof(known)), true))

/* Of a call that fills a struct: the pointer to fill, and afterwards the copy to `out`. */
#define TB__SIZED_OUT(out, out_size, filled)                                                       \
  tb__sized_out((out), (out_size), &(filled), sizeof(filled))
#define TB__SIZED_END(status, out, out_size, full)                                                 \
  tb__sized_end((status), (out), (out_size), (full), sizeof *(full))

#endif
