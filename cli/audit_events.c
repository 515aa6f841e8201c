#include "audit_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"

#define TOPIC "/parameter_events"
#define TYPE  "rcl_interfaces/msg/ParameterEvent"
#define ITEMS 8 /* of each list that are looked at: nodes change few at a time */
#define LINE  "================================================================================\n"

static const char definition[] =
    "builtin_interfaces/Time stamp\nstring node\nParameter[] new_parameters\n"
    "Parameter[] changed_parameters\nParameter[] deleted_parameters\n" LINE
    "MSG: rcl_interfaces/Parameter\nstring name\nParameterValue value\n" LINE
    "MSG: rcl_interfaces/ParameterValue\nuint8 type\nbool bool_value\nint64 integer_value\n"
    "float64 double_value\nstring string_value\nbyte[] byte_array_value\nbool[] bool_array_value\n"
    "int64[] integer_array_value\nfloat64[] double_array_value\nstring[] string_array_value\n" LINE
    "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n";

static const char *const lists[] = {"new_parameters", "changed_parameters"};

#define LIST_COUNT 2

typedef struct item_fields {
  tb_message_field_t *name, *type, *value;
} item_fields_t;

typedef struct audit_event_reader {
  tb_message_definition_t *definition;
  tb_message_field_t *node;
  item_fields_t items[LIST_COUNT][ITEMS];
} reader_t;

/* --- reading --- */

static void reader_destroy(reader_t *reader)
{
  if (!reader) return;
  for (size_t i = 0; i < LIST_COUNT * ITEMS; i++) {
    item_fields_t *item = &reader->items[i / ITEMS][i % ITEMS];
    tb_message_field_destroy(item->name);
    tb_message_field_destroy(item->type);
    tb_message_field_destroy(item->value);
  }
  tb_message_field_destroy(reader->node);
  tb_message_definition_destroy(reader->definition);
  free(reader);
}

static tb_status_t field_make(const reader_t *reader, size_t list, size_t index, const char *rest,
                              tb_message_field_t **out, tb_error_t *error)
{
  char path[64];
  snprintf(path, sizeof path, "%s[%zu].%s", lists[list], index, rest);
  return tb_message_field_create(reader->definition, path, out, error);
}

static tb_status_t reader_create(reader_t **out, tb_error_t *error)
{
  reader_t *reader = calloc(1, sizeof *reader);
  if (!reader) return TB_ERR_NO_MEMORY;
  tb_status_t status =
      tb_message_definition_parse(TYPE, "ros2msg", definition, &reader->definition, error);
  if (!status) status = tb_message_field_create(reader->definition, "node", &reader->node, error);
  for (size_t i = 0; i < LIST_COUNT * ITEMS && !status; i++) {
    size_t list = i / ITEMS, index = i % ITEMS;
    item_fields_t *item = &reader->items[list][index];
    status = field_make(reader, list, index, "name", &item->name, error);
    if (!status) status = field_make(reader, list, index, "value.type", &item->type, error);
    if (!status) status = field_make(reader, list, index, "value.bool_value", &item->value, error);
  }
  if (status)
    reader_destroy(reader);
  else
    *out = reader;
  return status;
}

static bool is_text(const char *text, size_t length, const char *wanted)
{
  return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* False: the item is not a value of use_sim_time. */
static bool read_item(const item_fields_t *item, const tb_ros2_sample_t *sample, bool *out)
{
  const char *name;
  size_t length;
  double type, value;
  if (tb_message_field_string(item->name, sample->cdr, sample->size, &name, &length) ||
      !is_text(name, length, "use_sim_time") ||
      tb_message_field_number(item->type, sample->cdr, sample->size, &type) ||
      type != 1 /* a bool */ ||
      tb_message_field_number(item->value, sample->cdr, sample->size, &value))
    return false;
  *out = value != 0;
  return true;
}

/* --- keeping --- */

static void keep_locked(audit_events_t *events, const char *node, bool value, int64_t steady_ns)
{
  audit_event_t *event = NULL;
  for (size_t i = 0; i < events->count && !event; i++)
    if (strcmp(events->list[i].node, node) == 0) event = &events->list[i];
  if (!event && events->count == events->capacity && events->capacity < AUDIT_EVENTS_MAX) {
    size_t capacity = events->capacity * 2 + 16;
    audit_event_t *list = realloc(events->list, capacity * sizeof *list);
    if (!list) return;
    events->list = list;
    events->capacity = capacity;
  }
  if (!event && events->count == events->capacity) return;
  if (!event) event = &events->list[events->count++];
  snprintf(event->node, sizeof event->node, "%s", node);
  event->value = value;
  event->steady_ns = steady_ns;
}

static void on_event(const tb_ros2_sample_t *sample, void *user)
{
  audit_events_t *events = user;
  const reader_t *reader = events->reader;
  tb_steady_time_t now = {0};
  const char *text;
  char node[AUDIT_EVENT_NAME_SIZE];
  size_t length;
  bool value = false, found = false;
  if (tb_message_field_string(reader->node, sample->cdr, sample->size, &text, &length) ||
      length >= sizeof node)
    return;
  memcpy(node, text, length);
  node[length] = '\0';
  for (size_t i = 0; i < LIST_COUNT * ITEMS; i++)
    found |= read_item(&reader->items[i / ITEMS][i % ITEMS], sample, &value);
  if (!found) return;
  tb_steady_clock_now(events->steady, &now);
  pthread_mutex_lock(&events->mutex);
  keep_locked(events, node, value, now.ns);
  pthread_mutex_unlock(&events->mutex);
}

int audit_events_open(audit_t *audit)
{
  audit_events_t *events = &audit->events;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_ros2_subscription_options_t options = {on_event, events};
  *events = (audit_events_t){.steady = audit->view.steady};
  pthread_mutex_init(&events->mutex, NULL);
  qos.reliability = TB_QOS_BEST_EFFORT; /* a publisher that waits for us would be disturbed */
  tb_status_t status = reader_create(&events->reader, &error);
  if (!status)
    status = tb_ros2_subscription_create(audit->view.context, TOPIC, TYPE, &qos, &options,
                                         &events->subscription, &error);
  return status ? command_failed(audit->command, status, &error) : EXIT_OK;
}

void audit_events_close(audit_events_t *events)
{
  if (!events->steady) return;
  tb_ros2_subscription_destroy(events->subscription);
  reader_destroy(events->reader);
  pthread_mutex_destroy(&events->mutex);
  free(events->list);
  *events = (audit_events_t){0};
}

tb__known_bool_t audit_events_of(audit_events_t *events, const char *node, int64_t *out_steady_ns)
{
  tb__known_bool_t value = TB__IS_NOT_KNOWN;
  pthread_mutex_lock(&events->mutex);
  for (size_t i = 0; i < events->count; i++) {
    if (strcmp(events->list[i].node, node) != 0) continue;
    value = events->list[i].value ? TB__IS_TRUE : TB__IS_FALSE;
    *out_steady_ns = events->list[i].steady_ns;
  }
  pthread_mutex_unlock(&events->mutex);
  return value;
}
