/* Wait options with nothing but a limit. */
#ifndef TB_TESTS_WITHIN_H
#define TB_TESTS_WITHIN_H

#include <timebase/sleep.h>

#define WITHIN(duration) (&(tb_wait_options_t){.limit = duration})

#endif
