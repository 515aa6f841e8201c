/* Moves a clock by hand. */
#include <stdio.h>
#include <string.h>
#include <timebase/clock.h>
#include <timebase/manual_source.h>

int main(void)
{
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_time_t now;
  tb_status_t status = tb_manual_source_create(&source);
  if (!status) status = tb_clock_create(NULL, &clock);
  if (!status) status = tb_clock_set_source(clock, source);
  if (!status) status = tb_manual_source_set(source, 1500000000);
  if (!status) status = tb_clock_now(clock, &now);
  if (status || now.ns != 1500000000) {
    fprintf(stderr, "core: %s\n", tb_status_message(status));
    return 1;
  }
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  puts("core: ok");
  return 0;
}
