/* What clang-tidy's analyzer, which reads one file at a time, cannot see: the functions that
 * fill in an error return the status that they are given. Included before each file that it looks
 * at. */
#ifndef TB_ANALYZER_MODEL_H
#define TB_ANALYZER_MODEL_H

#include <timebase/error.h>

#define tb_error_set(error, status, ...)                                                           \
  ((void)(tb_error_set)(error, status, __VA_ARGS__), (status))
#define tb_error_set_errno(error, status, ...)                                                     \
  ((void)(tb_error_set_errno)(error, status, __VA_ARGS__), (status))

#endif
