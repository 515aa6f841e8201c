/* Values and descriptions of ROS 2 parameters. */
#ifndef TIMEBASE_ROS2_PARAMETER_H
#define TIMEBASE_ROS2_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** The type of a parameter's value; numbers as in rcl_interfaces/msg/ParameterType. */
typedef enum tb_ros2_parameter_type {
  TB_ROS2_PARAMETER_NOT_SET = 0,       /**< no value */
  TB_ROS2_PARAMETER_BOOL = 1,          /**< `bool_value` */
  TB_ROS2_PARAMETER_INTEGER = 2,       /**< `integer_value` */
  TB_ROS2_PARAMETER_DOUBLE = 3,        /**< `double_value` */
  TB_ROS2_PARAMETER_STRING = 4,        /**< `string_value` */
  TB_ROS2_PARAMETER_BYTE_ARRAY = 5,    /**< `items.bytes` */
  TB_ROS2_PARAMETER_BOOL_ARRAY = 6,    /**< `items.bools` */
  TB_ROS2_PARAMETER_INTEGER_ARRAY = 7, /**< `items.integers` */
  TB_ROS2_PARAMETER_DOUBLE_ARRAY = 8,  /**< `items.doubles` */
  TB_ROS2_PARAMETER_STRING_ARRAY = 9,  /**< `items.strings` */
} tb_ros2_parameter_type_t;

/** The elements of an array: of the type that the value's type names, NULL only if there are none.
 */
typedef union tb_ros2_parameter_items {
  const void *any;            /**< of any array */
  const uint8_t *bytes;       /**< of TB_ROS2_PARAMETER_BYTE_ARRAY */
  const bool *bools;          /**< of TB_ROS2_PARAMETER_BOOL_ARRAY */
  const int64_t *integers;    /**< of TB_ROS2_PARAMETER_INTEGER_ARRAY */
  const double *doubles;      /**< of TB_ROS2_PARAMETER_DOUBLE_ARRAY */
  const char *const *strings; /**< of TB_ROS2_PARAMETER_STRING_ARRAY: each UTF-8, not NULL */
} tb_ros2_parameter_items_t;

/** A value. One that a call of the library filled in owns its memory: give it back with
 * tb_ros2_parameter_value_release. */
typedef struct tb_ros2_parameter_value {
  tb_ros2_parameter_type_t type;   /**< which of the following counts */
  bool bool_value;                 /**< of a bool */
  int64_t integer_value;           /**< of an integer */
  double double_value;             /**< of a double */
  const char *string_value;        /**< UTF-8, not NULL */
  tb_ros2_parameter_items_t items; /**< of an array */
  size_t count;                    /**< of an array's elements */
} tb_ros2_parameter_value_t;

/** No value. */
#define TB_ROS2_PARAMETER_VALUE_INIT                                                               \
  {                                                                                                \
    TB_ROS2_PARAMETER_NOT_SET, false, 0, 0.0, 0, {0}, 0                                            \
  }

/** A name and its value. */
typedef struct tb_ros2_parameter {
  const char *name;                /**< such as "use_sim_time" or "camera.rate" */
  tb_ros2_parameter_value_t value; /**< what it holds */
} tb_ros2_parameter_t;

/** The description of a parameter and the values that it takes
 * (rcl_interfaces/msg/ParameterDescriptor).
 */
typedef struct tb_ros2_parameter_descriptor {
  const char *description;            /**< NULL: none */
  const char *additional_constraints; /**< in words; NULL: none */
  bool read_only;                     /**< keeps the value that it has when it is declared */
  bool dynamic_typing;                /**< may take a value of another type, and may be unset */

  bool has_integer_range;           /**< of an integer, or of each in an array */
  int64_t integer_from, integer_to; /**< both allowed */
  uint64_t integer_step;            /**< from `from`; `to` is always allowed; 0: any */

  bool has_double_range;         /**< of a double, or of each in an array */
  double double_from, double_to; /**< both allowed */
  double double_step;            /**< as above, up to rounding (1e-14 of the value) */
  uint64_t reserved[4];          /**< 0 */
} tb_ros2_parameter_descriptor_t;

/** Any value of the type that the default has. */
#define TB_ROS2_PARAMETER_DESCRIPTOR_INIT                                                          \
  {                                                                                                \
    NULL, NULL, false, false, false, 0, 0, 0, false, 0.0, 0.0, 0.0,                                \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** [any thread] [from callbacks] */
static inline tb_ros2_parameter_value_t tb_ros2_parameter_bool(bool value)
{
  tb_ros2_parameter_value_t out = TB_ROS2_PARAMETER_VALUE_INIT;
  out.type = TB_ROS2_PARAMETER_BOOL;
  out.bool_value = value;
  return out;
}

/** [any thread] [from callbacks] */
static inline tb_ros2_parameter_value_t tb_ros2_parameter_integer(int64_t value)
{
  tb_ros2_parameter_value_t out = TB_ROS2_PARAMETER_VALUE_INIT;
  out.type = TB_ROS2_PARAMETER_INTEGER;
  out.integer_value = value;
  return out;
}

/** [any thread] [from callbacks] */
static inline tb_ros2_parameter_value_t tb_ros2_parameter_double(double value)
{
  tb_ros2_parameter_value_t out = TB_ROS2_PARAMETER_VALUE_INIT;
  out.type = TB_ROS2_PARAMETER_DOUBLE;
  out.double_value = value;
  return out;
}

/** The caller's text, not copied. [any thread] [from callbacks] */
static inline tb_ros2_parameter_value_t tb_ros2_parameter_string(const char *value)
{
  tb_ros2_parameter_value_t out = TB_ROS2_PARAMETER_VALUE_INIT;
  out.type = TB_ROS2_PARAMETER_STRING;
  out.string_value = value;
  return out;
}

/** A value of its own in *out, which is not released before. The count is checked against the
 * type: TB_ERR_INVALID, TB_ERR_NO_MEMORY. [any thread] */
TB_API tb_status_t tb_ros2_parameter_value_copy(const tb_ros2_parameter_value_t *value,
                                                tb_ros2_parameter_value_t *out);

/** Frees what a call of the library filled in, and makes it a value that is not set. Accepts NULL.
 * [any thread] */
TB_API void tb_ros2_parameter_value_release(tb_ros2_parameter_value_t *value);

/** Same type and same contents; a NaN equals itself. [any thread] */
TB_API bool tb_ros2_parameter_value_equal(const tb_ros2_parameter_value_t *a,
                                          const tb_ros2_parameter_value_t *b);

/** "bool", "integer", "double", "string", "byte_array" and so on, "not_set"; static storage. NULL:
 * not a type. [any thread] [from callbacks] */
TB_API const char *tb_ros2_parameter_type_name(tb_ros2_parameter_type_t type);

/** A value as `-p name:=value` and `ros2 param set` read it: YAML. true, false, yes, no, on, off, y
 * and n are bools, 5, 0x1F and 017 integers, 1.5, 1e3, .nan and .inf doubles; anything else,
 * anything quoted, and what has the tag !!str is a string. Numbers too large for an integer are
 * doubles, and those too large for a double strings. [1, 2] is an array, whose items are of one
 * type; [] is one of bools. The tags !byte_array, !bool_array, !integer_array, !double_array and
 * !string_array before a list give its type, and !!null null is no value. In *out is a value of its
 * own, which is not released before. TB_ERR_INVALID, TB_ERR_LIMIT (above 4 MiB), TB_ERR_NO_MEMORY.
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_parameter_value_parse(const char *text,
                                                                tb_ros2_parameter_value_t *out,
                                                                tb_error_t *error);

/** A text on one line from which tb_ros2_parameter_value_parse makes an equal value, in *out: give
 * it back with free(). Strings are quoted where they would be something else. TB_ERR_INVALID: not a
 * valid value, or a string that is not UTF-8; TB_ERR_NO_MEMORY. [any thread] */
TB_API tb_status_t tb_ros2_parameter_value_format(const tb_ros2_parameter_value_t *value,
                                                  char **out);

TB_END_DECLS

#endif
