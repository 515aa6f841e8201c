/* Values of parameters in YAML, read event by event, so that memory grows with what is kept only.
 */
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
tb_status_t tb__parameter_reader_init(tb__parameter_reader_t *reader, const void *bytes,
                                      size_t size, bool has_lines, tb_error_t *error);
void tb__parameter_reader_fini(tb__parameter_reader_t *reader);

/* The next event. TB_ERR_INVALID: no YAML, or an alias. */
tb_status_t tb__parameter_reader_next(tb__parameter_reader_t *reader);

/* The current event is a scalar: its text, which goes with the event. NULL, and the error filled
 * in: there is a NUL in it, TB_ERR_INVALID. */
const char *tb__parameter_reader_text(tb__parameter_reader_t *reader);

/* The current event begins a value, which is read to its end. The caller releases it. */
tb_status_t tb__parameter_reader_value(tb__parameter_reader_t *reader,
                                       tb_ros2_parameter_value_t *out);

/* Fills in the error, with the line of the current event, and returns `status`. */
tb_status_t tb__parameter_reader_fail(tb__parameter_reader_t *reader, tb_status_t status,
                                      const char *format, ...) TB_PRINTF(3, 4);

#endif
