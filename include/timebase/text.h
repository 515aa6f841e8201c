/* Foreign text on a terminal or in a log. Names, types and notes of recordings, names of nodes and
 * what is in files may be any bytes: printed as they are, they move the cursor, end the line or
 * turn the text around. */
#ifndef TIMEBASE_TEXT_H
#define TIMEBASE_TEXT_H

#include <stddef.h>
#include <timebase/export.h>

/** Room for one character of tb_text_escape_character, with its NUL. */
#define TB_TEXT_CHARACTER_SIZE 12

TB_BEGIN_DECLS

/** Writes the first character of `text` (NUL-terminated) to `out`: itself if it is UTF-8 that can
 * be printed, else an escape such as "\x1b", "\xff" or "\u202e", for controls (C0, DEL, C1), line
 * separators, what changes the direction of text or is not seen, and bytes that are not UTF-8. A
 * backslash stays as it is, so escaping twice does no harm. Returns how many bytes of `text` that
 * was; 0 at its end. [any thread] [from callbacks] [async-signal-safe] */
TB_API size_t tb_text_escape_character(const char *text, char out[TB_TEXT_CHARACTER_SIZE]);

/** Escapes all of `text`, as snprintf writes: at most `size` bytes with the NUL, and no part of a
 * character. Returns the length that it would have without the limit; `buffer` may be NULL if
 * `size` is 0. `buffer` and `text` must not overlap. [any thread] [from callbacks]
 * [async-signal-safe] */
TB_API size_t tb_text_escape(const char *text, char *buffer, size_t size);

TB_END_DECLS

#endif
