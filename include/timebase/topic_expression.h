/* Expressions that topics are chosen by: rosbag2's `--regex` and `--exclude-regex`. */
#ifndef TIMEBASE_TOPIC_EXPRESSION_H
#define TIMEBASE_TOPIC_EXPRESSION_H

#include <stdbool.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** An expression, ready to search with. It never changes. */
typedef struct tb_topic_expression tb_topic_expression_t;

TB_BEGIN_DECLS

/** Reads an expression as rosbag2 (std::regex, ECMAScript) does: `.` `[...]` `[^...]` `|` `*` `+`
 * `?` `{n,m}`, each also lazy with `?` after it; `(...)`, `(?:...)`, `(?=...)`, `(?!...)`, `\1`;
 * `^` and `$` for the first and the last place; `\d` `\w` `\s` `\b` and their capitals, all of
 * ASCII; `\t` `\n` `\v` `\f` `\r` `\0` `\cX` `\xHH` `\uHHHH`; `[[:alpha:]]` and its like. It works
 * on bytes; upper and lower case differ.
 *
 * What ECMAScript does not have, or has another meaning for than Perl and POSIX (`\A`, `a++`,
 * `(?i)`, `(?<=...)`, a `{` that repeats nothing), is refused rather than given either meaning. So
 * are an empty expression, and `\1` for a group inside a part that repeats.
 *
 *   TB_ERR_INVALID    it is wrong; `offset` of the error counts its bytes, the text names it too
 *   TB_ERR_LIMIT      it is longer than 8 KiB, or too large or too deep
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_topic_expression_create(const char *text,
                                                             tb_topic_expression_t **out,
                                                             tb_error_t *error);

/** Accepts NULL. No search may be in progress. [any thread] */
TB_API void tb_topic_expression_destroy(tb_topic_expression_t *expression);

/** The text that it was made from. Valid as long as the expression. [any thread] */
TB_API const char *tb_topic_expression_text(const tb_topic_expression_t *expression);

/** Whether it matches anywhere in `topic`.
 *
 *   TB_ERR_LIMIT      it cannot be decided with reasonable effort (about 1000000 steps, 16 MiB)
 *
 * Do not treat a failure as "no": an exclusion would let through what it should exclude.
 * [any thread] Several at a time. */
TB_API tb_status_t tb_topic_expression_search(const tb_topic_expression_t *expression,
                                              const char *topic, bool *out_found,
                                              tb_error_t *error);

TB_END_DECLS

#endif
