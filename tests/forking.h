/* For tests with children whose exit status is checked. The thread that finds steps of system time
 * ends by itself a while after it is no longer needed, and is joined later. In a child that is
 * forked in between nobody can join it: thread sanitizer would report it there, and end the child
 * with a status of its own. Races are reported in children as everywhere. */
#ifndef TB_TEST_FORKING_H
#define TB_TEST_FORKING_H

#ifdef __SANITIZE_THREAD__

const char *__tsan_default_options(void)
    __attribute__((weak)); /* several files of a program may say so */

__attribute__((visibility("default"))) const char *__tsan_default_options(void)
{
  return "report_thread_leaks=0";
}

#endif

#endif
