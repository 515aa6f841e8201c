#include "params/parameter_sections.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void section_fini(tb__parameter_section_t *section)
{
  for (size_t i = 0; i < section->count; i++) {
    free((void *)(uintptr_t)section->parameters[i].name);
    tb_ros2_parameter_value_release(&section->parameters[i].value);
  }
  free(section->parameters);
  free(section->nodes);
}

void tb__parameter_sections_fini(tb__parameter_sections_t *sections)
{
  for (size_t i = 0; i < sections->count; i++)
    section_fini(&sections->items[i]);
  free(sections->items);
  *sections = (tb__parameter_sections_t){0};
}

/* Room for one more in an array. */
static tb_status_t reserve(void **items, size_t count, size_t *capacity, size_t item_size)
{
  if (count < *capacity) return TB_OK;
  size_t larger = *capacity ? 2 * *capacity : 4;
  void *moved = realloc(*items, larger * item_size);
  if (!moved) return TB_ERR_NO_MEMORY;
  *items = moved;
  *capacity = larger;
  return TB_OK;
}

tb_status_t tb__parameter_sections_add(tb__parameter_sections_t *sections, const char *nodes)
{
  void *items = sections->items;
  tb_status_t status =
      reserve(&items, sections->count, &sections->capacity, sizeof *sections->items);
  if (status) return status;
  sections->items = items;
  char *copy = strdup(nodes);
  if (!copy) return TB_ERR_NO_MEMORY;
  sections->items[sections->count++] = (tb__parameter_section_t){.nodes = copy};
  return TB_OK;
}

tb_status_t tb__parameter_sections_add_value(tb__parameter_sections_t *sections, const char *name,
                                             const tb_ros2_parameter_value_t *value)
{
  tb__parameter_section_t *section = &sections->items[sections->count - 1];
  void *items = section->parameters;
  tb_status_t status =
      reserve(&items, section->count, &section->capacity, sizeof *section->parameters);
  if (status) return status;
  section->parameters = items;
  char *copy = strdup(name);
  if (!copy) return TB_ERR_NO_MEMORY;
  section->parameters[section->count++] = (tb_ros2_parameter_t){copy, *value};
  return TB_OK;
}
