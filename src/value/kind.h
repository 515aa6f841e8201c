#ifndef TB_VALUE_KIND_H
#define TB_VALUE_KIND_H

#include <stdbool.h>
#include <timebase/time.h>

static inline bool tb__kind_is_valid(tb_time_kind_t kind)
{
  return kind == TB_TIME_SYSTEM || kind == TB_TIME_ROS;
}

#endif
