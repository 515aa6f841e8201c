#include "top_rows.h"

#include <stdlib.h>
#include <string.h>

/* --- the filter --- */

static bool matches(const top_row_t *row, const top_control_t *control)
{
  const char *filter = control->filter;
  if (control->wrong_only && !row->wrong && !row->gaps) return false;
  return !filter[0] || strcasestr(row->topic, filter) || strcasestr(row->type, filter) ||
         strcasestr(row->node, filter);
}

/* --- the order --- */

static int compare_numbers(double a, double b)
{
  return (a > b) - (a < b);
}

static double number_of(const top_row_t *row, top_column_t column)
{
  switch (column) {
  case TOP_HZ:
    return row->rate_hz;
  case TOP_JITTER:
    return row->jitter_ms;
  case TOP_AGE:
    return row->has_age ? row->age_ms : -1e18;
  case TOP_P99:
    return row->has_age ? row->age_p99_ms : -1e18;
  case TOP_TRAVEL:
    return row->travel_ms;
  case TOP_GAPS:
    return (double)row->gaps;
  case TOP_MISSED:
    return (double)row->missed;
  default:
    return (double)row->wrong;
  }
}

/* By name, so that the order does not depend on what is sorted by alone. */
static int compare_names(const top_row_t *a, const top_row_t *b)
{
  int result = strcmp(a->topic, b->topic);
  if (!result) result = strcmp(a->node, b->node);
  return result ? result : memcmp(a->guid, b->guid, sizeof a->guid);
}

static int compare(const void *of_a, const void *of_b, void *user)
{
  const top_row_t *a = *(const top_row_t *const *)of_a, *b = *(const top_row_t *const *)of_b;
  const top_control_t *control = user;
  int result = 0;
  if (control->sort == TOP_TYPE)
    result = strcmp(a->type, b->type);
  else if (control->sort == TOP_PUBLISHER)
    result = strcmp(a->node, b->node);
  else if (control->sort != TOP_TOPIC)
    result = compare_numbers(number_of(b, control->sort), number_of(a, control->sort));
  else
    result = compare_names(a, b);
  if (result) return control->is_reversed ? -result : result;
  return compare_names(a, b);
}

size_t top_rows_select(const top_table_t *table, const top_control_t *control,
                       const top_row_t **out)
{
  size_t count = 0;
  for (size_t i = 0; i < table->count; i++)
    if (matches(&table->rows[i], control)) out[count++] = &table->rows[i];
  if (count) qsort_r(out, count, sizeof *out, compare, (void *)control);
  return count;
}
