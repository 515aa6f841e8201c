/* Parameters of a ROS 1 graph: they are the master's. */
#ifndef TIMEBASE_ROS1_PARAMETER_H
#define TIMEBASE_ROS1_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros1_context.h>

/** The type of a value. The master keeps it: 1 is not true. */
typedef enum tb_ros1_parameter_type {
  TB_ROS1_PARAMETER_OTHER = 0,      /**< bytes, a date; for tb_ros1_parameter_get also a list and a
                                         dictionary: not shown, and cannot be set */
  TB_ROS1_PARAMETER_BOOL = 1,       /**< boolean */
  TB_ROS1_PARAMETER_INT = 2,        /**< 32 bits */
  TB_ROS1_PARAMETER_DOUBLE = 3,     /**< 64 bits */
  TB_ROS1_PARAMETER_STRING = 4,     /**< UTF-8 */
  TB_ROS1_PARAMETER_LIST = 5,       /**< of tb_ros1_value_t alone */
  TB_ROS1_PARAMETER_DICTIONARY = 6, /**< of tb_ros1_value_t alone */
} tb_ros1_parameter_type_t;

/** A value. */
typedef struct tb_ros1_parameter {
  tb_ros1_parameter_type_t type; /**< which of the following it is */
  int32_t integer;               /**< of INT; of BOOL 0 or 1 */
  double number;                 /**< of DOUBLE; finite */
  const char *text; /**< of STRING; of what was read it is memory to be freed, else NULL */
} tb_ros1_parameter_t;

/** A value of any type, as a tree. The items of a list or a dictionary follow each other in
 * memory. */
typedef struct tb_ros1_value {
  tb_ros1_parameter_type_t type;     /**< which of the following it is */
  int32_t integer;                   /**< of INT; of BOOL 0 or 1 */
  double number;                     /**< of DOUBLE */
  const char *text;                  /**< of STRING; of OTHER as the master sent it; else NULL */
  const char *name;                  /**< its key, in a dictionary; else NULL */
  const struct tb_ros1_value *items; /**< of LIST and DICTIONARY; else NULL */
  size_t count;                      /**< how many those are */
  uint64_t reserved[2];              /**< 0 */
} tb_ros1_value_t;

TB_BEGIN_DECLS

/** Reads what the master has under an absolute name, "/use_sim_time". End it with
 * tb_ros1_parameter_release. All three calls wait for the master, for `limit` of steady time at
 * most (TB_NO_LIMIT: 5 s).
 *
 *   TB_ERR_NOT_FOUND  it is not set
 *   TB_ERR_TRANSPORT  the master does not answer, or not as one does
 *   TB_ERR_TIMEOUT    the limit
 *   TB_ERR_INVALID    not an absolute name; the limit is negative
 *   TB_ERR_DEADLOCK   on the context's thread, as in a callback
 *   TB_ERR_FORKED, TB_ERR_NO_MEMORY
 *
 * [any thread] [blocks] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros1_parameter_get(tb_ros1_context_t *context,
                                                        const char *name, tb_duration_t limit,
                                                        tb_ros1_parameter_t *out,
                                                        tb_error_t *error);
/** Frees the text. Accepts NULL. [any thread] [from callbacks] */
TB_API void tb_ros1_parameter_release(tb_ros1_parameter_t *parameter);

/** Sets it. Errors as above, and TB_ERR_INVALID for a value of type OTHER, a number that is not
 * finite, and a text that is NULL. [any thread] [blocks] */
TB_API tb_status_t tb_ros1_parameter_set(tb_ros1_context_t *context, const char *name,
                                         const tb_ros1_parameter_t *value, tb_duration_t limit,
                                         tb_error_t *error);

/** Deletes it. Errors as above; TB_ERR_NOT_FOUND: it was not set. [any thread] [blocks] */
TB_API tb_status_t tb_ros1_parameter_delete(tb_ros1_context_t *context, const char *name,
                                            tb_duration_t limit, tb_error_t *error);

/** Reads a value of any type; a namespace is a dictionary of what is in it, "/" of all. Release it
 * with tb_ros1_value_release. Errors as tb_ros1_parameter_get. [any thread] [blocks] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros1_parameter_read(tb_ros1_context_t *context,
                                                         const char *name, tb_duration_t limit,
                                                         const tb_ros1_value_t **out,
                                                         tb_error_t *error);
/** Sets a value of any type but OTHER. Errors as tb_ros1_parameter_set, and TB_ERR_INVALID for a
 * key that is NULL and for more than 32 lists and dictionaries inside each other. [any thread]
 * [blocks] */
TB_API tb_status_t tb_ros1_parameter_write(tb_ros1_context_t *context, const char *name,
                                           const tb_ros1_value_t *value, tb_duration_t limit,
                                           tb_error_t *error);
/** The names of all parameters, "/ns/name", as a LIST of STRING in the master's order. Release it
 * with tb_ros1_value_release. Errors as above. [any thread] [blocks] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros1_parameter_names(tb_ros1_context_t *context,
                                                          tb_duration_t limit,
                                                          const tb_ros1_value_t **out,
                                                          tb_error_t *error);
/** Frees what was read. Accepts NULL. [any thread] [from callbacks] */
TB_API void tb_ros1_value_release(const tb_ros1_value_t *value);

TB_END_DECLS

#endif
