/* Follows /clock in every way (follower.h), for never_falls_test.c:
 *
 *   never_falls_peer [extrapolating]
 *
 * Prints "ready", ends with its standard input, and returns 1 if time has ever fallen. */
#include <stdio.h>
#include <timebase/extrapolating_source.h>
#include <timebase/ros2_clock_source.h>

#include "system/follower.h"

int main(int argc, char **argv)
{
  (void)argv;
  tb_ros2_context_t *context;
  tb_source_t *source;
  tb_error_t error = TB_ERROR_INIT;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (tb_ros2_context_create(NULL, &context, &error) ||
      tb_ros2_clock_source_create(context, NULL, &source, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  if (argc > 1 && tb_extrapolating_source_create(source, NULL, &source)) return 2;
  if (follower_start(source)) return 2;
  puts("ready");
  while (getchar() != EOF)
    ;
  bool good = follower_stop();
  fprintf(stderr, "%llu reads, %llu jumps, %llu timers\n",
          (unsigned long long)atomic_load(&follower.reads),
          (unsigned long long)atomic_load(&follower.jumps[0]),
          (unsigned long long)atomic_load(&follower.timers));
  if (tb_source_destroy(source)) good = false;
  tb_ros2_context_destroy(context);
  return !good || atomic_load(&follower.jumps[0]) < 2;
}
