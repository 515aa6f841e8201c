#include "play/topic_filter.h"
#include "base/no_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define CLOCK_TOPIC    "/clock"
#define SERVICE_EVENTS "/_service_event"
#define ACTION         "/_action/"

static void names_free(char **names)
{
  for (size_t i = 0; names && names[i]; i++)
    free(names[i]);
  free(names);
}

/* With the '/' that a name on the command line may lack; types have none. */
static char *full_name(const char *name, const char *prefix)
{
  size_t size = strlen(prefix) + strlen(name) + 1;
  char *full = malloc(size);
  if (full) snprintf(full, size, "%s%s", prefix, name + (*prefix && *name == '/'));
  return full;
}

static tb_status_t names_copy(const char *const *names, size_t count, const char *prefix,
                              char ***out, tb_error_t *error)
{
  char **copy = calloc(count + 1, sizeof *copy);
  if (!copy) return tb__no_memory_for(error, "recorder");
  for (size_t i = 0; i < count; i++) {
    copy[i] = full_name(names[i], prefix);
    if (copy[i]) continue;
    names_free(copy);
    return tb__no_memory_for(error, "recorder");
  }
  *out = copy;
  return TB_OK;
}

static tb_status_t copy_lists(tb__topic_filter_t *filter, const tb__topic_choices_t *choices,
                              tb_error_t *error)
{
  const struct {
    const char *const *names;
    size_t count;
    const char *prefix;
    char ***to;
  } lists[] = {
      {choices->topics, choices->topic_count, "/", &filter->topics},
      {choices->exclude_topics, choices->exclude_topic_count, "/", &filter->excluded},
      {choices->types, choices->type_count, "", &filter->types},
      {choices->exclude_types, choices->exclude_type_count, "", &filter->excluded_types},
      {choices->services, choices->service_count, "/", &filter->services},
      {choices->exclude_services, choices->exclude_service_count, "/", &filter->excluded_services},
      {choices->actions, choices->action_count, "/", &filter->actions},
      {choices->exclude_actions, choices->exclude_action_count, "/", &filter->excluded_actions},
  };
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < sizeof lists / sizeof *lists && !status; i++)
    status = names_copy(lists[i].names, lists[i].count, lists[i].prefix, lists[i].to, error);
  return status;
}

static tb_status_t compile(const char *name, const char *text, tb__topic_choice_t *choice,
                           tb_error_t *error)
{
  tb_error_t why = TB_ERROR_INIT;
  choice->name = name;
  if (!text) return TB_OK;
  tb_status_t status = tb_topic_expression_create(text, &choice->expression, &why);
  return status ? tb_error_set(error, status, "recorder: %s: %s", name, why.text) : TB_OK;
}

tb_status_t tb__topic_filter_init(tb__topic_filter_t *filter, const tb__topic_choices_t *choices,
                                  tb_error_t *error)
{
  *filter = (tb__topic_filter_t){
      .all = choices->all,
      .include_hidden = choices->include_hidden,
      .clock = choices->clock,
      .all_services = choices->all_services,
      .all_actions = choices->all_actions,
  };
  if (!choices->all && !choices->regex && !choices->all_services && !choices->all_actions &&
      choices->topic_count + choices->type_count + choices->service_count + choices->action_count ==
          0)
    return tb_error_set(error, TB_ERR_INVALID, "recorder: no topic is selected");
  tb_status_t status = compile("regex", choices->regex, &filter->include, error);
  if (!status) status = compile("exclude_regex", choices->exclude_regex, &filter->exclude, error);
  if (!status) status = copy_lists(filter, choices, error);
  if (status) tb__topic_filter_fini(filter);
  return status;
}

void tb__topic_filter_fini(tb__topic_filter_t *filter)
{
  tb_topic_expression_destroy(filter->include.expression);
  tb_topic_expression_destroy(filter->exclude.expression);
  names_free(filter->topics);
  names_free(filter->excluded);
  names_free(filter->types);
  names_free(filter->excluded_types);
  names_free(filter->services);
  names_free(filter->excluded_services);
  names_free(filter->actions);
  names_free(filter->excluded_actions);
  *filter = (tb__topic_filter_t){0};
}

static bool lists(char *const *names, const char *topic)
{
  for (size_t i = 0; names && names[i]; i++)
    if (strcmp(names[i], topic) == 0) return true;
  return false;
}

/* `if_unknown`: the result when the expression cannot be evaluated. */
static bool matches(tb__topic_choice_t *choice, const char *topic, bool if_unknown)
{
  bool found = if_unknown;
  tb_error_t error = TB_ERROR_INIT;
  if (!choice->expression) return false;
  if (tb_topic_expression_search(choice->expression, topic, &found, &error) == TB_OK)
    choice->has_matched |= found;
  else if (!choice->has_failed) {
    choice->has_failed = true;
    tb__log(TB_LOG_ERROR, "recorder: %s: %s; such topics are recorded", choice->name, error.text);
  }
  return found;
}

static bool ends_with(const char *text, const char *end)
{
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The events of a service are chosen by its name; also as a topic that is listed. */
static bool wants_events(tb__topic_filter_t *filter, const char *topic)
{
  char service[256]; /* ROS names are shorter */
  int length = (int)(strlen(topic) - strlen(SERVICE_EVENTS));
  if (length >= (int)sizeof service) return false;
  snprintf(service, sizeof service, "%.*s", length, topic);
  bool included = filter->all_services || (filter->all && filter->include_hidden) ||
                  lists(filter->services, service) || lists(filter->topics, topic) ||
                  (!filter->all && matches(&filter->include, service, true));
  bool excluded = matches(&filter->exclude, service, false);
  return included && !excluded && !lists(filter->excluded_services, service) &&
         !lists(filter->excluded, topic);
}

/* What an action consists of: topics, and the events of its services. */
static bool is_of_action(const char *topic)
{
  static const char *const parts[] = {"feedback", "status", "send_goal" SERVICE_EVENTS,
                                      "cancel_goal" SERVICE_EVENTS, "get_result" SERVICE_EVENTS};
  const char *part = strstr(topic, ACTION);
  if (!part || part == topic) return false;
  part += strlen(ACTION);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strcmp(part, parts[i]) == 0) return true;
  return false;
}

/* By the name of the action; also as topics that are listed. */
static bool wants_action(tb__topic_filter_t *filter, const char *topic, const char *type)
{
  char action[256]; /* ROS names are shorter */
  int length = (int)(strstr(topic, ACTION) - topic);
  if (length >= (int)sizeof action) return false;
  snprintf(action, sizeof action, "%.*s", length, topic);
  bool included = filter->all_actions || (filter->all && filter->include_hidden) ||
                  lists(filter->actions, action) || lists(filter->topics, topic) ||
                  lists(filter->types, type) ||
                  (!filter->all && matches(&filter->include, action, true));
  bool excluded = matches(&filter->exclude, action, false) || lists(filter->excluded_types, type) ||
                  lists(filter->excluded, topic);
  return included && !excluded && !lists(filter->excluded_actions, action);
}

bool tb__topic_filter_wants(tb__topic_filter_t *filter, const char *topic, const char *type)
{
  if (filter->clock && strcmp(topic, CLOCK_TOPIC) == 0) return true;
  if (is_of_action(topic)) return wants_action(filter, topic, type);
  if (ends_with(topic, SERVICE_EVENTS)) return wants_events(filter, topic);
  bool listed = lists(filter->topics, topic) || lists(filter->types, type);
  bool included = !filter->all && matches(&filter->include, topic, true);
  bool excluded = matches(&filter->exclude, topic, false) || lists(filter->excluded_types, type);
  if (!listed && !filter->all && !included) return false;
  if (excluded || lists(filter->excluded, topic)) return false;
  return listed || filter->include_hidden || !strstr(topic, "/_");
}

static void report(const tb__topic_choice_t *choice, const char *when)
{
  if (choice->expression && !choice->has_matched && !choice->has_failed)
    tb__log(TB_LOG_WARN, "recorder: %s: expression '%.200s' has matched no topic%s", choice->name,
            tb_topic_expression_text(choice->expression), when);
}

void tb__topic_filter_report(const tb__topic_filter_t *filter, const char *when)
{
  if (!filter->all) report(&filter->include, when);
  report(&filter->exclude, when);
}
