/* Creates a clock and nothing else, so that a static program has no other reason to link in what
 * TIMEBASE_SOURCE names. Succeeds when the clock has the time given in ns, within 10 s. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/clock.h>

int main(int argc, char **argv)
{
  tb_clock_options_t options = TB_CLOCK_OPTIONS_INIT;
  options.source = TB_SOURCE_DEFAULT;
  tb_clock_t *clock;
  tb_time_t now = {0, TB_TIME_ROS};
  long long wanted_ns = argc > 1 ? atoll(argv[1]) : 0;
  if (tb_clock_create(&options, &clock) != TB_OK) return 1;
  for (int i = 0; i < 1000 && now.ns != wanted_ns; i++) {
    if (tb_clock_now(clock, &now) != TB_OK) return 1;
    poll(NULL, 0, 10);
  }
  printf("%lld, %s\n", (long long)now.ns, tb_clock_is_active(clock) ? "active" : "no source");
  tb_clock_destroy(clock);
  return now.ns == wanted_ns ? 0 : 1;
}
