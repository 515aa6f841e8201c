/* Values for parameters of nodes, in the order in which they were given. */
#ifndef TB_ROS2_PARAMETER_SECTIONS_H
#define TB_ROS2_PARAMETER_SECTIONS_H

#include <timebase/ros2_parameter.h>

typedef struct tb__parameter_section {
  char *nodes; /* a pattern, see node_pattern.h */
  tb_ros2_parameter_t *parameters;
  size_t count, capacity;
} tb__parameter_section_t;

typedef struct tb__parameter_sections {
  tb__parameter_section_t *items;
  size_t count, capacity;
} tb__parameter_sections_t;

void tb__parameter_sections_fini(tb__parameter_sections_t *sections);

/* A new section at the end. TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__parameter_sections_add(tb__parameter_sections_t *sections,
                                                      const char *nodes);

/* A parameter at the end of the last section. Takes ownership of the value, unless it fails. */
TB_WARN_UNUSED tb_status_t tb__parameter_sections_add_value(tb__parameter_sections_t *sections,
                                                            const char *name,
                                                            const tb_ros2_parameter_value_t *value);

/* Appends the content of a parameter file. TB_ERR_INVALID with the line and what is wrong there,
 * TB_ERR_LIMIT, TB_ERR_NO_MEMORY; content before the error may have been appended. */
TB_WARN_UNUSED tb_status_t tb__parameter_sections_parse(tb__parameter_sections_t *sections,
                                                        const void *bytes, size_t size,
                                                        tb_error_t *error);

/* The same for a file; errors name it. Also TB_ERR_NOT_FOUND, TB_ERR_SYSTEM. */
TB_WARN_UNUSED tb_status_t tb__parameter_sections_read(tb__parameter_sections_t *sections,
                                                       const char *path, tb_error_t *error);

#endif
