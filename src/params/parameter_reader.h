/* Reads values of parameters in YAML event by event, so that only kept values take memory. */
#ifndef TB_ROS2_PARAMETER_READER_H
#define TB_ROS2_PARAMETER_READER_H

#include <stdbool.h>
#include <timebase/ros2_parameter.h>
#include <yaml.h>

#define TB__PARAMETER_YAML_SIZE_MAX ((size_t)4 << 20)

typedef struct tb__parameter_reader {
  yaml_parser_t parser;
  yaml_event_t event; /* the current one */
  const unsigned char *bytes;
  size_t size;
  bool has_lines; /* errors begin with "line 3: " */
  tb_error_t *error;
} tb__parameter_reader_t;

/* `bytes` stay until fini. TB_ERR_LIMIT above TB__PARAMETER_YAML_SIZE_MAX. */
TB_WARN_UNUSED tb_status_t tb__parameter_reader_init(tb__parameter_reader_t *reader,
                                                     const void *bytes, size_t size, bool has_lines,
                                                     tb_error_t *error);
void tb__parameter_reader_fini(tb__parameter_reader_t *reader);

/* The next event. TB_ERR_INVALID: not YAML, or an alias. */
TB_WARN_UNUSED tb_status_t tb__parameter_reader_next(tb__parameter_reader_t *reader);

/* The text of the current event, a scalar; valid as long as the event. NULL, with the error set to
 * TB_ERR_INVALID: it contains a NUL. */
const char *tb__parameter_reader_text(tb__parameter_reader_t *reader);

/* Reads the value that begins with the current event. The caller releases it. */
TB_WARN_UNUSED tb_status_t tb__parameter_reader_value(tb__parameter_reader_t *reader,
                                                      tb_ros2_parameter_value_t *out);

/* Sets the error, with the line of the current event, and returns `status`. */
tb_status_t tb__parameter_reader_fail(tb__parameter_reader_t *reader, tb_status_t status,
                                      const char *format, ...) TB_PRINTF(3, 4);

#endif
