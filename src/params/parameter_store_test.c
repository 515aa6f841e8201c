#include "params/parameter_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/clock.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <unistd.h>

#include "forking.h"
#include "test.h"

#define BOOL(x)                                                                                    \
  &(const tb_ros2_parameter_value_t)                                                               \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_BOOL, .bool_value = (x)                                              \
  }
#define INTEGER(x)                                                                                 \
  &(const tb_ros2_parameter_value_t)                                                               \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_INTEGER, .integer_value = (x)                                        \
  }
#define DOUBLE(x)                                                                                  \
  &(const tb_ros2_parameter_value_t)                                                               \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_DOUBLE, .double_value = (x)                                          \
  }
#define STRING(x)                                                                                  \
  &(const tb_ros2_parameter_value_t)                                                               \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_STRING, .string_value = (x)                                          \
  }
#define INTEGERS(...)                                                                              \
  &(const tb_ros2_parameter_value_t)                                                               \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_INTEGER_ARRAY, .items.integers = (const int64_t[]){__VA_ARGS__},     \
    .count = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)                              \
  }
#define NOT_SET                                                                                    \
  &(const tb_ros2_parameter_value_t)                                                               \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_NOT_SET                                                              \
  }

static const tb_ros2_parameter_descriptor_t dynamic = {.dynamic_typing = true};
static const tb_ros2_parameter_descriptor_t read_only = {.read_only = true};

/* What the hooks were called with, as text, and what they do. */
typedef struct fixture {
  tb__parameter_store_t *store;
  char trace[4096];
  tb_status_t refuse_check, refuse_apply;
  const char *reason;
  void (*in_check)(struct fixture *f);
  void (*in_changed)(struct fixture *f);
} fixture_t;

static void trace_value(fixture_t *f, const tb_ros2_parameter_t *parameter)
{
  char text[80];
  switch (parameter->value.type) {
  case TB_ROS2_PARAMETER_NOT_SET:
    snprintf(text, sizeof text, " %s", parameter->name);
    break;
  case TB_ROS2_PARAMETER_INTEGER:
    snprintf(text, sizeof text, " %s=%d", parameter->name, (int)parameter->value.integer_value);
    break;
  case TB_ROS2_PARAMETER_STRING:
    snprintf(text, sizeof text, " %s=%s", parameter->name, parameter->value.string_value);
    break;
  default:
    snprintf(text, sizeof text, " %s=?", parameter->name);
  }
  assert_true(strlen(f->trace) + strlen(text) < sizeof f->trace);
  strcat(f->trace, text);
}

static void trace(fixture_t *f, const char *what, const tb_ros2_parameter_t *list, size_t count)
{
  if (count == 0) return;
  strcat(f->trace, what);
  for (size_t i = 0; i < count; i++)
    trace_value(f, &list[i]);
  strcat(f->trace, ";");
}

static tb_status_t on_check(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                            tb_error_t *error)
{
  fixture_t *f = user;
  trace(f, "check", parameters, count);
  if (f->in_check) f->in_check(f);
  if (f->refuse_check && f->reason) tb_error_set(error, f->refuse_check, "%s", f->reason);
  return f->refuse_check;
}

static tb_status_t on_apply(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                            tb_error_t *error)
{
  fixture_t *f = user;
  (void)error;
  trace(f, "apply", parameters, count);
  return f->refuse_apply;
}

static void on_changed(const tb_ros2_parameter_t *added, size_t added_count,
                       const tb_ros2_parameter_t *changed, size_t changed_count,
                       const tb_ros2_parameter_t *deleted, size_t deleted_count, void *user)
{
  fixture_t *f = user;
  trace(f, "added", added, added_count);
  trace(f, "changed", changed, changed_count);
  trace(f, "deleted", deleted, deleted_count);
  if (f->in_changed) f->in_changed(f);
}

static int setup(void **state)
{
  static const tb__parameter_store_hooks_t hooks = {on_check, on_apply, on_changed, NULL};
  fixture_t *f = calloc(1, sizeof *f);
  assert_non_null(f);
  assert_ok(tb__parameter_store_create(&hooks, f, &f->store));
  *state = f;
  return 0;
}

static int teardown(void **state)
{
  fixture_t *f = *state;
  tb__parameter_store_destroy(f->store);
  free(f);
  return 0;
}

static void assert_trace(fixture_t *f, const char *expected)
{
  assert_string_equal(f->trace, expected);
  f->trace[0] = '\0';
}

static void declare(fixture_t *f, const char *name, const tb_ros2_parameter_value_t *value,
                    const tb_ros2_parameter_descriptor_t *descriptor)
{
  assert_ok(tb__parameter_store_declare(f->store, name, value, descriptor, NULL, NULL));
  f->trace[0] = '\0';
}

static tb_status_t set(fixture_t *f, const char *name, const tb_ros2_parameter_value_t *value)
{
  tb_ros2_parameter_t parameter = {name, *value};
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb__parameter_store_set(f->store, &parameter, 1, &error);
  assert_int_equal(error.status, status);
  assert_int_equal(error.text[0] != '\0', status != TB_OK);
  return status;
}

static void assert_holds(fixture_t *f, const char *name, const tb_ros2_parameter_value_t *expected)
{
  tb_ros2_parameter_value_t value = {.type = TB_ROS2_PARAMETER_BYTE_ARRAY};
  if (!expected) {
    assert_status(tb__parameter_store_get(f->store, name, &value, NULL), TB_ERR_NOT_FOUND);
    assert_int_equal(value.type, TB_ROS2_PARAMETER_BYTE_ARRAY);
    return;
  }
  assert_ok(tb__parameter_store_get(f->store, name, &value, NULL));
  assert_true(tb_ros2_parameter_value_equal(&value, expected));
  tb_ros2_parameter_value_release(&value);
}

static void test_values_are_declared_set_and_got(void **state)
{
  fixture_t *f = *state;
  tb_ros2_parameter_value_t out;
  assert_ok(tb__parameter_store_declare(f->store, "a", INTEGER(1), NULL, &out, NULL));
  assert_int_equal(out.integer_value, 1);
  assert_trace(f, "check a=1;apply a=1;added a=1;");
  assert_ok(set(f, "a", INTEGER(2)));
  assert_trace(f, "check a=2;apply a=2;changed a=2;");
  assert_ok(set(f, "a", INTEGER(2))); /* setting the same value is reported too */
  assert_trace(f, "check a=2;apply a=2;changed a=2;");
  assert_holds(f, "a", INTEGER(2));
  assert_holds(f, "b", NULL);
  assert_status(set(f, "b", INTEGER(2)), TB_ERR_NOT_FOUND);
  assert_trace(f, "");
}

static void test_names_are_not_empty(void **state)
{
  fixture_t *f = *state;
  static const char *const bad[] = {NULL, ""};
  for (int i = 0; i < 2; i++) {
    tb_ros2_parameter_value_t out;
    assert_status(tb__parameter_store_declare(f->store, bad[i], INTEGER(1), NULL, NULL, NULL),
                  TB_ERR_INVALID);
    assert_status(tb__parameter_store_undeclare(f->store, bad[i], NULL), TB_ERR_INVALID);
    assert_status(tb__parameter_store_override(f->store, bad[i], INTEGER(1), NULL), TB_ERR_INVALID);
    assert_status(tb__parameter_store_get(f->store, bad[i], &out, NULL), TB_ERR_INVALID);
    assert_status(set(f, bad[i], INTEGER(1)), TB_ERR_INVALID);
  }
  declare(f, "any name: . / {} \xc3\xa9", INTEGER(1), NULL);
  assert_ok(set(f, "any name: . / {} \xc3\xa9", INTEGER(2)));
  assert_status(tb__parameter_store_set(f->store, NULL, 0, NULL), TB_ERR_INVALID);
}

static void test_invalid_values_are_refused(void **state)
{
  fixture_t *f = *state;
  const tb_ros2_parameter_value_t bad[] = {
      {.type = (tb_ros2_parameter_type_t)10},
      {.type = TB_ROS2_PARAMETER_STRING},
      {.type = TB_ROS2_PARAMETER_INTEGER_ARRAY, .count = 1},
  };
  tb_ros2_parameter_descriptor_t any = {
      .dynamic_typing = true, .has_integer_range = true, .integer_to = 1};
  declare(f, "a", NOT_SET, &any);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_status(tb__parameter_store_declare(f->store, "b", &bad[i], &any, NULL, NULL),
                  TB_ERR_INVALID);
    assert_status(tb__parameter_store_override(f->store, "b", &bad[i], NULL), TB_ERR_INVALID);
    assert_status(set(f, "a", &bad[i]), TB_ERR_INVALID);
  }
  assert_status(tb__parameter_store_declare(f->store, "b", NULL, NULL, NULL, NULL), TB_ERR_INVALID);
  assert_trace(f, "");
}

static void test_types_are_fixed_unless_dynamic(void **state)
{
  fixture_t *f = *state;
  declare(f, "fixed", INTEGER(1), NULL);
  declare(f, "free", INTEGER(1), &dynamic);
  assert_status(set(f, "fixed", DOUBLE(1)), TB_ERR_INVALID);
  assert_status(set(f, "fixed", NOT_SET), TB_ERR_INVALID);
  assert_trace(f, "");
  assert_ok(set(f, "free", STRING("text")));
  assert_holds(f, "free", STRING("text"));
  assert_status(tb__parameter_store_declare(f->store, "none", NOT_SET, NULL, NULL, NULL),
                TB_ERR_INVALID);
  assert_status(tb__parameter_store_declare(f->store, "free", INTEGER(1), &dynamic, NULL, NULL),
                TB_ERR_INVALID);
}

static void test_no_value_deletes_what_is_dynamic(void **state)
{
  fixture_t *f = *state;
  declare(f, "a", INTEGER(1), &dynamic);
  assert_ok(set(f, "a", NOT_SET));
  assert_trace(f, "check a;apply a;deleted a;");
  assert_holds(f, "a", NULL);
  assert_ok(tb__parameter_store_declare(f->store, "a", NOT_SET, &dynamic, NULL, NULL));
  assert_trace(f, "");
  assert_holds(f, "a", NOT_SET);
  assert_ok(set(f, "a", NOT_SET)); /* it has none already */
  assert_trace(f, "check a;apply a;changed a;");
  assert_holds(f, "a", NOT_SET);
}

static void test_read_only_keeps_its_first_value(void **state)
{
  fixture_t *f = *state;
  tb_ros2_parameter_descriptor_t both = {.read_only = true, .dynamic_typing = true};
  declare(f, "a", INTEGER(1), &read_only);
  declare(f, "b", INTEGER(1), &both);
  assert_status(set(f, "a", INTEGER(2)), TB_ERR_INVALID);
  assert_status(set(f, "b", NOT_SET), TB_ERR_INVALID);
  assert_status(tb__parameter_store_undeclare(f->store, "b", NULL), TB_ERR_INVALID);
  assert_holds(f, "a", INTEGER(1));
  assert_trace(f, "");
}

static void test_undeclaring(void **state)
{
  fixture_t *f = *state;
  declare(f, "fixed", INTEGER(1), NULL);
  declare(f, "free", INTEGER(1), &dynamic);
  assert_status(tb__parameter_store_undeclare(f->store, "fixed", NULL), TB_ERR_INVALID);
  assert_status(tb__parameter_store_undeclare(f->store, "none", NULL), TB_ERR_NOT_FOUND);
  assert_ok(tb__parameter_store_undeclare(f->store, "free", NULL));
  assert_trace(f, "deleted free;");
  assert_holds(f, "free", NULL);
  assert_holds(f, "fixed", INTEGER(1));
}

static void test_integer_ranges(void **state)
{
  fixture_t *f = *state;
  tb_ros2_parameter_descriptor_t range = {
      .has_integer_range = true, .integer_from = -10, .integer_to = 11, .integer_step = 5};
  static const int64_t good[] = {-10, -5, 0, 10, 11};
  static const int64_t bad[] = {-11, -9, 1, 12, INT64_MAX, INT64_MIN};
  declare(f, "a", INTEGER(5), &range);
  declare(f, "list", INTEGERS(5, 10), &range);
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    assert_ok(set(f, "a", INTEGER(good[i])));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_status(set(f, "a", INTEGER(bad[i])), TB_ERR_RANGE);
    assert_status(set(f, "list", INTEGERS(0, bad[i])), TB_ERR_RANGE);
  }
  assert_ok(set(f, "list", INTEGERS(11)));
  range = (tb_ros2_parameter_descriptor_t){.has_integer_range = true,
                                           .integer_from = INT64_MIN,
                                           .integer_to = INT64_MAX,
                                           .integer_step = (uint64_t)1 << 63};
  declare(f, "wide", INTEGER(0), &range); /* the difference is more than an int64 holds */
  assert_ok(set(f, "wide", INTEGER(INT64_MIN)));
  assert_ok(set(f, "wide", INTEGER(INT64_MAX)));
  assert_status(set(f, "wide", INTEGER(1)), TB_ERR_RANGE);
  range.integer_to = INT64_MIN;
  range.integer_from = 0;
  assert_status(tb__parameter_store_declare(f->store, "b", INTEGER(0), &range, NULL, NULL),
                TB_ERR_INVALID);
}

static void test_double_ranges(void **state)
{
  fixture_t *f = *state;
  tb_ros2_parameter_descriptor_t range = {
      .has_double_range = true, .double_from = -1, .double_to = 2.05, .double_step = 0.1};
  static const double good[] = {-1, -0.9, 0.1 + 0.2, 0.3, 2.0, 2.05};
  static const double bad[] = {-1.1, 0.35, 2.04, 2.06, NAN, INFINITY, -INFINITY, 1e300};
  declare(f, "a", DOUBLE(0.5), &range);
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    assert_ok(set(f, "a", DOUBLE(good[i])));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_status(set(f, "a", DOUBLE(bad[i])), TB_ERR_RANGE);
  range = (tb_ros2_parameter_descriptor_t){
      .has_double_range = true, .double_from = 0, .double_to = INFINITY};
  declare(f, "open", DOUBLE(0), &range);
  assert_ok(set(f, "open", DOUBLE(INFINITY)));
  assert_status(set(f, "open", DOUBLE(NAN)), TB_ERR_RANGE);
  range.double_to = 1e308;
  declare(f, "huge", DOUBLE(0), &range);
  assert_ok(set(f, "huge", DOUBLE(1e308)));
  assert_status(set(f, "huge", DOUBLE(1.7e308)), TB_ERR_RANGE);
  declare(f, "other type", INTEGER(-7), &range); /* a range of doubles does not concern it */
}

static void test_invalid_ranges(void **state)
{
  fixture_t *f = *state;
  const tb_ros2_parameter_descriptor_t bad[] = {
      {.has_double_range = true, .double_from = 1, .double_to = 0},
      {.has_double_range = true, .double_from = NAN, .double_to = 0},
      {.has_double_range = true, .double_to = 1, .double_step = -1},
      {.has_double_range = true, .double_to = 1, .double_step = NAN},
      {.has_double_range = true, .double_from = -INFINITY, .double_to = 1, .double_step = 1},
      {.has_integer_range = true, .integer_from = 1},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_status(tb__parameter_store_declare(f->store, "a", DOUBLE(0), &bad[i], NULL, NULL),
                  TB_ERR_INVALID);
  assert_holds(f, "a", NULL);
}

static void test_overrides_replace_defaults(void **state)
{
  fixture_t *f = *state;
  tb_ros2_parameter_value_t out = TB_ROS2_PARAMETER_VALUE_INIT;
  tb_ros2_parameter_descriptor_t range = {.has_integer_range = true, .integer_to = 10};
  assert_ok(tb__parameter_store_override(f->store, "a", INTEGER(11), NULL));
  assert_status(tb__parameter_store_declare(f->store, "a", INTEGER(1), &range, &out, NULL),
                TB_ERR_RANGE);
  assert_status(tb__parameter_store_declare(f->store, "a", DOUBLE(1), NULL, &out, NULL),
                TB_ERR_INVALID);
  assert_int_equal(out.type, TB_ROS2_PARAMETER_NOT_SET);
  assert_trace(f, "");
  assert_ok(tb__parameter_store_override(f->store, "a", INTEGER(7), NULL));
  assert_ok(tb__parameter_store_declare(f->store, "a", INTEGER(1), &range, &out, NULL));
  assert_int_equal(out.integer_value, 7);
  assert_trace(f, "check a=7;apply a=7;added a=7;");
  assert_ok(set(f, "a", INTEGER(8)));
  assert_ok(tb__parameter_store_override(f->store, "d", STRING("over"), NULL));
  declare(f, "d", NOT_SET, &dynamic);
  assert_holds(f, "d", STRING("over"));
  assert_ok(tb__parameter_store_undeclare(f->store, "d", NULL));
  declare(f, "d", INTEGER(1), &dynamic);
  assert_holds(f, "d", STRING("over"));
}

static void test_batches_are_all_or_none(void **state)
{
  fixture_t *f = *state;
  declare(f, "a", INTEGER(1), NULL);
  declare(f, "b", INTEGER(1), &dynamic);
  declare(f, "c", INTEGER(1), &read_only);
  const tb_ros2_parameter_t good[] = {{"b", *NOT_SET}, {"a", *INTEGER(2)}};
  const tb_ros2_parameter_t bad[][2] = {
      {{"a", *INTEGER(3)}, {"c", *INTEGER(3)}},  {{"a", *INTEGER(3)}, {"d", *INTEGER(3)}},
      {{"a", *INTEGER(3)}, {"b", {.type = 99}}}, {{"a", *DOUBLE(3)}, {"a", *INTEGER(3)}},
      {{"a", *INTEGER(3)}, {NULL, *INTEGER(3)}},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_true(tb__parameter_store_set(f->store, bad[i], 2, NULL) != TB_OK);
  assert_trace(f, "");
  assert_holds(f, "a", INTEGER(1));
  assert_ok(tb__parameter_store_set(f->store, good, 2, NULL));
  assert_trace(f, "check b a=2;apply b a=2;changed a=2;deleted b;");
  assert_holds(f, "a", INTEGER(2));
  assert_holds(f, "b", NULL);
}

static void test_of_a_name_twice_in_a_batch_the_last_counts(void **state)
{
  fixture_t *f = *state;
  declare(f, "a", INTEGER(1), &dynamic);
  declare(f, "b", INTEGER(1), NULL);
  const tb_ros2_parameter_t batch[] = {
      {"a", *NOT_SET}, {"b", *INTEGER(5)}, {"a", *INTEGER(6)}, {"a", *INTEGER(7)}};
  assert_ok(tb__parameter_store_set(f->store, batch, 4, NULL));
  assert_trace(f, "check a=7 b=5;apply a=7 b=5;changed a=7 b=5;");
  assert_ok(tb__parameter_store_set(f->store, batch, 3, NULL));
  assert_holds(f, "a", INTEGER(6));
}

static void test_hooks_may_refuse(void **state)
{
  fixture_t *f = *state;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_parameter_t parameter = {"a", *INTEGER(13)};
  declare(f, "a", INTEGER(1), NULL);
  f->refuse_check = TB_ERR_RANGE;
  f->reason = "unlucky";
  assert_status(tb__parameter_store_set(f->store, &parameter, 1, &error), TB_ERR_RANGE);
  assert_string_equal(error.text, "unlucky");
  assert_trace(f, "check a=13;");
  assert_status(tb__parameter_store_declare(f->store, "b", INTEGER(1), NULL, NULL, NULL),
                TB_ERR_RANGE);
  assert_trace(f, "check b=1;");
  assert_holds(f, "b", NULL);
  f->refuse_check = TB_OK;
  f->refuse_apply = TB_ERR_TRANSPORT; /* without its own text */
  assert_status(set(f, "a", INTEGER(13)), TB_ERR_TRANSPORT);
  assert_trace(f, "check a=13;apply a=13;");
  assert_holds(f, "a", INTEGER(1));
}

/* In a hook: reading works, and changing is refused on this and on any other store. */
static void try_all(fixture_t *f)
{
  tb__parameter_store_t *other;
  assert_status(set(f, "a", INTEGER(5)), TB_ERR_DEADLOCK);
  assert_status(tb__parameter_store_declare(f->store, "n", INTEGER(1), NULL, NULL, NULL),
                TB_ERR_DEADLOCK);
  assert_status(tb__parameter_store_undeclare(f->store, "d", NULL), TB_ERR_DEADLOCK);
  assert_status(tb__parameter_store_override(f->store, "n", INTEGER(1), NULL), TB_ERR_DEADLOCK);
  assert_ok(tb__parameter_store_create(NULL, NULL, &other));
  assert_status(tb__parameter_store_declare(other, "n", INTEGER(1), NULL, NULL, NULL),
                TB_ERR_DEADLOCK);
  tb__parameter_store_destroy(other);
}

static void see_old(fixture_t *f)
{
  assert_holds(f, "a", INTEGER(1));
  try_all(f);
}

static void see_new(fixture_t *f)
{
  assert_holds(f, "a", INTEGER(2));
  try_all(f);
}

static void test_hooks_read_and_do_not_change(void **state)
{
  fixture_t *f = *state;
  declare(f, "a", INTEGER(1), NULL);
  declare(f, "d", INTEGER(1), &dynamic);
  f->in_check = see_old;
  f->in_changed = see_new;
  assert_ok(set(f, "a", INTEGER(2)));
  f->in_check = f->in_changed = NULL;
  assert_ok(set(f, "a", INTEGER(3)));
}

static void set_in_jump(const tb_jump_t *jump, void *user)
{
  fixture_t *f = user;
  (void)jump;
  assert_status(set(f, "a", INTEGER(2)), TB_ERR_DEADLOCK);
  assert_holds(f, "a", INTEGER(1));
  f->refuse_check = TB_ERR_CANCELLED; /* it was here */
}

static void test_jump_callbacks_do_not_wait_for_a_turn(void **state)
{
  fixture_t *f = *state;
  tb_source_t *source;
  tb_clock_t *clock;
  tb_jump_handler_t *handler;
  tb_clock_options_t options = TB_CLOCK_OPTIONS_INIT;
  tb_jump_handler_options_t handler_options = {
      .threshold.min_backward.ns = -1, .after = set_in_jump, .user = f};
  declare(f, "a", INTEGER(1), NULL);
  assert_ok(tb_manual_source_create(&source));
  options.source = source;
  assert_ok(tb_clock_create(&options, &clock));
  assert_ok(tb_jump_handler_create(clock, &handler_options, &handler));
  assert_ok(tb_manual_source_set(source, 1000));
  assert_ok(tb_manual_source_set(source, 10));
  assert_int_equal(f->refuse_check, TB_ERR_CANCELLED);
  tb_jump_handler_destroy(handler);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
}

static void assert_list(fixture_t *f, const char *const *prefixes, size_t count, uint64_t depth,
                        const char *expected)
{
  tb__parameter_states_t states;
  tb__strings_t found;
  char text[500] = "";
  assert_ok(tb__parameter_store_list(f->store, prefixes, count, depth, &states));
  assert_ok(tb__parameter_prefixes(&states, &found));
  for (size_t i = 0; i < states.count; i++)
    strcat(strcat(text, states.items[i]->declaration->name), " ");
  strcat(text, "|");
  for (size_t i = 0; i < found.count; i++)
    strcat(strcat(text, " "), found.items[i]);
  assert_string_equal(text, expected);
  free((void *)(uintptr_t)found.items);
  tb__parameter_states_release(&states);
}

#define PREFIXES(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / 8

static void test_lists(void **state)
{
  fixture_t *f = *state;
  assert_list(f, NULL, 0, 0, "|");
  static const char *const names[] = {"a.d", "z",   "a.b.c", ".x",    "a",
                                      "ab",  "a.b", "q..r",  "o.i.d", "o.i2"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    declare(f, names[i], INTEGER(1), NULL);
  assert_list(f, NULL, 0, 0, ".x a a.b a.b.c a.d ab o.i.d o.i2 q..r z |  a a.b o.i o q.");
  assert_list(f, NULL, 0, 1, "a ab z |");
  assert_list(f, NULL, 0, 2, ".x a a.b a.d ab o.i2 z |  a o");
  assert_list(f, NULL, 0, 3, ".x a a.b a.b.c a.d ab o.i.d o.i2 q..r z |  a a.b o.i o q.");
  assert_list(f, PREFIXES("a"), 0, "a a.b a.b.c a.d | a a.b");
  assert_list(f, PREFIXES("a"), 1, "a a.b a.d | a");
  assert_list(f, PREFIXES("a.b", "z", "a.b"), 1, "a.b a.b.c z | a a.b");
  assert_list(f, PREFIXES("a.", "b", "A", "ac", "zz"), 0, "|");
  assert_list(f, PREFIXES(""), 0, ".x | ");
  assert_list(f, PREFIXES("q", "q."), 1, "q..r | q.");
  assert_list(f, PREFIXES("q"), UINT64_MAX, "q..r | q.");
}

static void test_descriptors_are_copies(void **state)
{
  fixture_t *f = *state;
  char text[] = "what it is";
  tb_ros2_parameter_descriptor_t descriptor = {.description = text, .read_only = true};
  tb__parameter_states_t states;
  static const char *const names[] = {"a", "a"}, *const missing[] = {"a", "b"};
  declare(f, "a", INTEGER(4), &descriptor);
  text[0] = '?';
  assert_ok(tb__parameter_store_read(f->store, names, 2, &states));
  assert_int_equal(states.count, 2);
  assert_ptr_equal(states.items[0], states.items[1]);
  assert_string_equal(states.items[0]->declaration->descriptor.description, "what it is");
  assert_string_equal(states.items[0]->declaration->descriptor.additional_constraints, "");
  tb__parameter_states_release(&states);
  assert_status(tb__parameter_store_read(f->store, missing, 2, &states), TB_ERR_NOT_FOUND);
}

static void test_what_was_read_outlives_changes(void **state)
{
  fixture_t *f = *state;
  tb__parameter_states_t states;
  static const char *const names[] = {"a"};
  declare(f, "a", STRING("old"), &dynamic);
  assert_ok(tb__parameter_store_read(f->store, names, 1, &states));
  assert_ok(set(f, "a", STRING("new")));
  assert_ok(tb__parameter_store_undeclare(f->store, "a", NULL));
  tb__parameter_store_destroy(f->store);
  f->store = NULL;
  assert_string_equal(states.items[0]->declaration->name, "a");
  assert_string_equal(states.items[0]->value.string_value, "old");
  tb__parameter_states_release(&states);
}

#define NAMES  6
#define VALUES 4

/* Value 0 is "not set", negative is "not declared". Parameters 4 and 5 are dynamic, 5 is also
 * read-only; the others take values from 1 to 2, by range. */
static uint64_t random_next(uint64_t *seed)
{
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 33;
}

static bool model_takes(const int *model, size_t name, int value)
{
  if (model[name] < 0) return false;
  if (name == 5) return false;
  return name == 4 || (value >= 1 && value <= 2);
}

static bool model_set(int *model, const size_t *names, const int *values, size_t count)
{
  int before[NAMES];
  memcpy(before, model, sizeof before);
  for (size_t i = 0; i < count; i++) {
    if (!model_takes(before, names[i], values[i])) return false;
  }
  for (size_t i = 0; i < count; i++)
    model[names[i]] = values[i];
  for (size_t i = 0; i < NAMES; i++) {
    if (model[i] == 0 && before[i] > 0) model[i] = -1;
  }
  return true;
}

static tb_ros2_parameter_value_t value_of(int value)
{
  return value == 0 ? *NOT_SET : *INTEGER(value);
}

static void model_compare(fixture_t *f, const int *model, const char *const *names)
{
  for (size_t i = 0; i < NAMES; i++) {
    tb_ros2_parameter_value_t expected = value_of(model[i]);
    assert_holds(f, names[i], model[i] < 0 ? NULL : &expected);
  }
}

static void test_random_batches_do_what_the_model_does(void **state)
{
  fixture_t *f = *state;
  static const char *const names[NAMES] = {"m.a", "b", "z", "m", "dynamic", "fixed"};
  const tb_ros2_parameter_descriptor_t descriptors[NAMES] = {
      [0 ... 3] = {.has_integer_range = true, .integer_from = 1, .integer_to = 2},
      [4] = {.dynamic_typing = true},
      [5] = {.dynamic_typing = true, .read_only = true}};
  int model[NAMES] = {-1, -1, -1, -1, -1, -1};
  const char *given = getenv("TB_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : 4;
  print_message("TB_TEST_SEED=%llu\n", (unsigned long long)seed);
  for (int round = 0; round < 20000; round++) {
    f->trace[0] = '\0';
    size_t name = random_next(&seed) % NAMES, count = 1 + random_next(&seed) % 4, chosen[4];
    int value = (int)(random_next(&seed) % VALUES), values[4];
    tb_ros2_parameter_value_t one = value_of(value);
    if (random_next(&seed) % 8 == 0) {
      bool works = model[name] < 0 && (name >= 4 || (value >= 1 && value <= 2));
      assert_int_equal(works, tb__parameter_store_declare(f->store, names[name], &one,
                                                          &descriptors[name], NULL, NULL) == TB_OK);
      if (works) model[name] = value;
    } else if (random_next(&seed) % 16 == 0) {
      bool works = name == 4 && model[name] >= 0;
      assert_int_equal(works, tb__parameter_store_undeclare(f->store, names[name], NULL) == TB_OK);
      if (works) model[name] = -1;
    } else {
      tb_ros2_parameter_t batch[4];
      for (size_t i = 0; i < count; i++) {
        chosen[i] = random_next(&seed) % NAMES;
        values[i] = (int)(random_next(&seed) % VALUES);
        batch[i] = (tb_ros2_parameter_t){names[chosen[i]], value_of(values[i])};
      }
      bool works = model_set(model, chosen, values, count);
      assert_int_equal(works, tb__parameter_store_set(f->store, batch, count, NULL) == TB_OK);
    }
    model_compare(f, model, names);
  }
}

static void test_a_forked_child_is_refused(void **state)
{
  fixture_t *f = *state;
  declare(f, "a", INTEGER(1), &dynamic);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    tb_ros2_parameter_value_t value;
    tb__parameter_states_t states;
    tb_ros2_parameter_t parameter = {"a", *INTEGER(2)};
    bool refused =
        tb__parameter_store_set(f->store, &parameter, 1, NULL) == TB_ERR_FORKED &&
        tb__parameter_store_get(f->store, "a", &value, NULL) == TB_ERR_FORKED &&
        tb__parameter_store_undeclare(f->store, "a", NULL) == TB_ERR_FORKED &&
        tb__parameter_store_read(f->store, NULL, 0, &states) == TB_ERR_FORKED &&
        tb__parameter_store_list(f->store, NULL, 0, 0, &states) == TB_ERR_FORKED &&
        tb__parameter_store_override(f->store, "a", INTEGER(1), NULL) == TB_ERR_FORKED &&
        tb__parameter_store_declare(f->store, "b", INTEGER(1), NULL, NULL, NULL) == TB_ERR_FORKED;
    tb__parameter_store_destroy(f->store);
    _exit(refused ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_values_are_declared_set_and_got),
      TEST(test_names_are_not_empty),
      TEST(test_invalid_values_are_refused),
      TEST(test_types_are_fixed_unless_dynamic),
      TEST(test_no_value_deletes_what_is_dynamic),
      TEST(test_read_only_keeps_its_first_value),
      TEST(test_undeclaring),
      TEST(test_integer_ranges),
      TEST(test_double_ranges),
      TEST(test_invalid_ranges),
      TEST(test_overrides_replace_defaults),
      TEST(test_batches_are_all_or_none),
      TEST(test_of_a_name_twice_in_a_batch_the_last_counts),
      TEST(test_hooks_may_refuse),
      TEST(test_hooks_read_and_do_not_change),
      TEST(test_jump_callbacks_do_not_wait_for_a_turn),
      TEST(test_lists),
      TEST(test_descriptors_are_copies),
      TEST(test_what_was_read_outlives_changes),
      TEST(test_random_batches_do_what_the_model_does),
      TEST(test_a_forked_child_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
