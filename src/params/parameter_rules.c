#include "params/parameter_rules.h"
#include "base/sized.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SHOWN(name) TB__PARAMETER_NAME_SHOWN, (name)

tb_status_t tb__parameter_name_check(const char *name, tb_error_t *error)
{
  if (name && name[0]) return TB_OK;
  return tb_error_set(error, TB_ERR_INVALID, "parameter: a name must not be empty");
}

tb_status_t tb__parameter_no_memory(const char *name, tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_NO_MEMORY, "parameter %.*s: out of memory", SHOWN(name));
}

tb_status_t tb__parameter_not_declared(const char *name, tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_NOT_FOUND, "parameter %.*s is not declared", SHOWN(name));
}

tb_status_t tb__parameter_descriptor_check(const char *name,
                                           const tb_ros2_parameter_descriptor_t *descriptor,
                                           tb_error_t *error)
{
  const tb_ros2_parameter_descriptor_t *d = descriptor;
  if (!TB__RESERVED_IS_0(d)) return tb__sized_unsupported(error, "tb_ros2_parameter_descriptor_t");
  if (d->has_integer_range && d->integer_from > d->integer_to)
    return tb_error_set(error, TB_ERR_INVALID,
                        "parameter %.*s: its range from %" PRId64 " to %" PRId64 " is empty",
                        SHOWN(name), d->integer_from, d->integer_to);
  if (!d->has_double_range) return TB_OK;
  if (!(d->double_from <= d->double_to))
    return tb_error_set(error, TB_ERR_INVALID,
                        "parameter %.*s: its range from %.17g to %.17g is empty", SHOWN(name),
                        d->double_from, d->double_to);
  if (!(d->double_step >= 0) || (d->double_step > 0 && !isfinite(d->double_from)))
    return tb_error_set(
        error, TB_ERR_INVALID,
        "parameter %.*s: steps of %.17g from %.17g are invalid; use 0 or more, from a number",
        SHOWN(name), d->double_step, d->double_from);
  return TB_OK;
}

static bool integer_fits(const tb_ros2_parameter_descriptor_t *d, int64_t value)
{
  if (value < d->integer_from || value > d->integer_to) return false;
  if (d->integer_step == 0 || value == d->integer_to) return true;
  return ((uint64_t)value - (uint64_t)d->integer_from) % d->integer_step == 0;
}

/* Up to 100 units in the last place. */
static bool nearly_equal(double a, double b)
{
  return isfinite(a) && isfinite(b) && fabs(a - b) <= DBL_EPSILON * fabs(a / 2 + b / 2) * 200;
}

static bool double_fits(const tb_ros2_parameter_descriptor_t *d, double value)
{
  if (nearly_equal(value, d->double_from) || nearly_equal(value, d->double_to)) return true;
  if (!(value >= d->double_from && value <= d->double_to)) return false;
  if (!(d->double_step > 0) || value >= d->double_to) return true;
  double steps = round((value - d->double_from) / d->double_step);
  return nearly_equal(value, d->double_from + steps * d->double_step);
}

static tb_status_t integer_check(const char *name, const tb_ros2_parameter_descriptor_t *d,
                                 int64_t value, tb_error_t *error)
{
  if (!d->has_integer_range || integer_fits(d, value)) return TB_OK;
  char step[48] = "";
  if (d->integer_step > 1) snprintf(step, sizeof step, " in steps of %" PRIu64, d->integer_step);
  return tb_error_set(error, TB_ERR_RANGE,
                      "parameter %.*s: %" PRId64 " is not in its range from %" PRId64 " to %" PRId64
                      "%s",
                      SHOWN(name), value, d->integer_from, d->integer_to, step);
}

static tb_status_t double_check(const char *name, const tb_ros2_parameter_descriptor_t *d,
                                double value, tb_error_t *error)
{
  if (!d->has_double_range || double_fits(d, value)) return TB_OK;
  char step[48] = "";
  if (d->double_step > 0) snprintf(step, sizeof step, " in steps of %g", d->double_step);
  return tb_error_set(error, TB_ERR_RANGE,
                      "parameter %.*s: %.17g is not in its range from %g to %g%s", SHOWN(name),
                      value, d->double_from, d->double_to, step);
}

static tb_status_t range_check(const char *name, const tb_ros2_parameter_descriptor_t *descriptor,
                               const tb_ros2_parameter_value_t *value, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  size_t count = value->items.any ? value->count : 0; /* without items the copy is refused */
  switch (value->type) {
  case TB_ROS2_PARAMETER_INTEGER:
    return integer_check(name, descriptor, value->integer_value, error);
  case TB_ROS2_PARAMETER_DOUBLE:
    return double_check(name, descriptor, value->double_value, error);
  case TB_ROS2_PARAMETER_INTEGER_ARRAY:
    for (size_t i = 0; i < count && !status; i++)
      status = integer_check(name, descriptor, value->items.integers[i], error);
    return status;
  case TB_ROS2_PARAMETER_DOUBLE_ARRAY:
    for (size_t i = 0; i < count && !status; i++)
      status = double_check(name, descriptor, value->items.doubles[i], error);
    return status;
  default:
    return TB_OK;
  }
}

tb_status_t tb__parameter_value_check(const char *name,
                                      const tb_ros2_parameter_descriptor_t *descriptor,
                                      tb_ros2_parameter_type_t type,
                                      const tb_ros2_parameter_value_t *value, tb_error_t *error)
{
  const char *type_name = tb_ros2_parameter_type_name(value->type);
  if (!type_name)
    return tb_error_set(error, TB_ERR_INVALID, "parameter %.*s: unknown type %d", SHOWN(name),
                        (int)value->type);
  if (!descriptor->dynamic_typing && value->type != type)
    return tb_error_set(error, TB_ERR_INVALID,
                        "parameter %.*s has type %s and cannot be set to a value of type %s",
                        SHOWN(name), tb_ros2_parameter_type_name(type), type_name);
  return range_check(name, descriptor, value, error);
}
