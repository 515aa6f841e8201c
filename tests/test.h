/* cmocka with the headers that it needs before it, for every unit test. */
#ifndef TB_TEST_H
#define TB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <timebase/status.h>

/* Prints the code's name on failure, not a number. */
#define assert_status(expression, expected)                                                        \
  do {                                                                                             \
    tb_status_t status_ = (expression);                                                            \
    if (status_ != (expected))                                                                     \
      fail_msg("%s: %s, expected %s", #expression, tb_status_name(status_),                        \
               tb_status_name(expected));                                                          \
  } while (0)

#define assert_ok(expression) assert_status(expression, TB_OK)

#endif
