/* Assertions on the library's own state; never on input. They are active in debug and sanitizer
 * builds (TB_CHECKED), and gone in releases, which never abort. */
#ifndef TB_BASE_ASSERT_H
#define TB_BASE_ASSERT_H

#if !defined(TB_CHECKED)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TB_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TB_CHECKED 1
#endif
#endif
#endif
#if !defined(TB_CHECKED)
#define TB_CHECKED 0
#endif

#if TB_CHECKED
#include <stdio.h>
#include <stdlib.h>

__attribute__((noreturn, cold, unused)) static inline void
tb__assert_failed(const char *condition, const char *file, int line, const char *function)
{
  fprintf(stderr, "%s:%d: %s: assertion failed: %s\n", file, line, function, condition);
  abort();
}

#define TB__ASSERT(condition)                                                                      \
  ((condition) ? (void)0 : tb__assert_failed(#condition, __FILE__, __LINE__, __func__))
#else
/* The condition is compiled and not evaluated. */
#define TB__ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif
