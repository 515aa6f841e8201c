#include <timebase/time.h>

#include "value/kind.h"
#include "value/ns.h"

bool tb_time_is_set(tb_time_t time)
{
  /* T5 */
  return time.kind != TB_TIME_ROS || time.ns != 0;
}

/* The kind is written last, so that *out is untouched on failure. */
static tb_status_t with_kind(tb_status_t status, tb_time_kind_t kind, tb_time_t *out)
{
  if (!status) out->kind = kind;
  return status;
}

tb_status_t tb_time_add(tb_time_t time, tb_duration_t duration, tb_time_t *out)
{
  if (!out || !tb__kind_is_valid(time.kind)) return TB_ERR_INVALID;
  return with_kind(tb__ns_add(time.ns, duration.ns, &out->ns), time.kind, out);
}

tb_status_t tb_time_sub(tb_time_t time, tb_duration_t duration, tb_time_t *out)
{
  if (!out || !tb__kind_is_valid(time.kind)) return TB_ERR_INVALID;
  return with_kind(tb__ns_sub(time.ns, duration.ns, &out->ns), time.kind, out);
}

static tb_status_t check_kinds(tb_time_t a, tb_time_t b)
{
  /* T2: system and ROS time are not compared */
  if (!tb__kind_is_valid(a.kind) || !tb__kind_is_valid(b.kind)) return TB_ERR_INVALID;
  return a.kind == b.kind ? TB_OK : TB_ERR_CLOCK_MISMATCH;
}

tb_status_t tb_time_diff(tb_time_t later, tb_time_t earlier, tb_duration_t *out)
{
  tb_status_t status = out ? check_kinds(later, earlier) : TB_ERR_INVALID;
  return status ? status : tb__ns_sub(later.ns, earlier.ns, &out->ns);
}

tb_status_t tb_time_compare(tb_time_t a, tb_time_t b, int *out)
{
  tb_status_t status = out ? check_kinds(a, b) : TB_ERR_INVALID;
  if (!status) *out = tb__ns_compare(a.ns, b.ns);
  return status;
}

tb_time_t tb_time_add_sat(tb_time_t time, tb_duration_t duration)
{
  return (tb_time_t){tb__add_saturated(time.ns, duration.ns), time.kind};
}

tb_time_t tb_time_sub_sat(tb_time_t time, tb_duration_t duration)
{
  return (tb_time_t){tb__sub_saturated(time.ns, duration.ns), time.kind};
}

tb_status_t tb_time_diff_sat(tb_time_t later, tb_time_t earlier, tb_duration_t *out)
{
  tb_status_t status = out ? check_kinds(later, earlier) : TB_ERR_INVALID;
  if (!status) out->ns = tb__sub_saturated(later.ns, earlier.ns);
  return status;
}

tb_status_t tb_time_from_seconds(double seconds, tb_time_kind_t kind, tb_time_t *out)
{
  if (!out || !tb__kind_is_valid(kind)) return TB_ERR_INVALID;
  return with_kind(tb__ns_from_seconds(seconds, &out->ns), kind, out);
}

double tb_time_to_seconds(tb_time_t time)
{
  return tb__ns_to_seconds(time.ns);
}

tb_status_t tb_time_from_timespec(struct timespec spec, tb_time_kind_t kind, tb_time_t *out)
{
  if (!out || !tb__kind_is_valid(kind)) return TB_ERR_INVALID;
  return with_kind(tb__ns_from_timespec(spec, &out->ns), kind, out);
}

tb_status_t tb_time_to_timespec(tb_time_t time, struct timespec *out)
{
  return out ? tb__ns_to_timespec(time.ns, out) : TB_ERR_INVALID;
}

tb_status_t tb_time_to_wire(tb_time_t time, int32_t *out_sec, uint32_t *out_nanosec)
{
  if (!out_sec || !out_nanosec) return TB_ERR_INVALID;
  return tb__ns_to_wire(time.ns, out_sec, out_nanosec);
}

tb_status_t tb_time_from_wire(int32_t sec, uint32_t nanosec, tb_time_kind_t kind, tb_time_t *out)
{
  if (!out || !tb__kind_is_valid(kind)) return TB_ERR_INVALID;
  return with_kind(tb__ns_from_wire(sec, nanosec, &out->ns), kind, out);
}
