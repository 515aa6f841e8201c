/* Bytes as the text of a duration and of a time. An accepted value must be formatted to a text
 * that reads back the same; a refused one must leave the output untouched. */
#include <stdlib.h>
#include <string.h>
#include <timebase/duration.h>
#include <timebase/time.h>

#include "fuzz.h"

static void check_duration(const char *text)
{
  tb_duration_t duration = {77}, again = {77};
  char canonical[TB_DURATION_TEXT_SIZE];
  if (tb_duration_parse(text, &duration) != TB_OK) {
    if (duration.ns != 77) abort();
    return;
  }
  if (tb_duration_format(duration, canonical, sizeof canonical) != TB_OK ||
      tb_duration_parse(canonical, &again) != TB_OK || again.ns != duration.ns)
    abort();
}

static void check_time(const char *text)
{
  tb_time_t time = {77, TB_TIME_SYSTEM}, again = {77, TB_TIME_SYSTEM};
  char canonical[TB_TIME_TEXT_SIZE];
  if (tb_time_parse(text, TB_TIME_ROS, &time) != TB_OK) {
    if (time.ns != 77 || time.kind != TB_TIME_SYSTEM) abort();
    return;
  }
  if (tb_time_format(time, canonical, sizeof canonical) != TB_OK ||
      tb_time_parse(canonical, TB_TIME_ROS, &again) != TB_OK || again.ns != time.ns ||
      again.kind != TB_TIME_ROS)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = strndup((const char *)data, size);
  if (!text) return 0;
  check_duration(text);
  check_time(text);
  free(text);
  return 0;
}
