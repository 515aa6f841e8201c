#include "rosbag2/topic_filter.h"
#include "base/no_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "wire/clock_message.h"

static void names_free(char **names)
{
  for (size_t i = 0; names && names[i]; i++)
    free(names[i]);
  free(names);
}

/* With the '/' that a name on the command line may lack. */
static char *full_name(const char *name)
{
  size_t size = strlen(name) + 2;
  char *full = malloc(size);
  if (!full) return NULL;
  full[0] = '/';
  memcpy(full + 1, name + (*name == '/'), strlen(name + (*name == '/')) + 1);
  return full;
}

static tb_status_t names_copy(const char *const *names, size_t count, char ***out,
                              tb_error_t *error)
{
  char **copy = calloc(count + 1, sizeof *copy);
  if (!copy) return tb__no_memory_for(error, "recorder");
  for (size_t i = 0; i < count; i++) {
    copy[i] = full_name(names[i]);
    if (copy[i]) continue;
    names_free(copy);
    return tb__no_memory_for(error, "recorder");
  }
  *out = copy;
  return TB_OK;
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

tb_status_t tb__topic_filter_init(tb__topic_filter_t *filter,
                                  const tb_ros2_recorder_options_t *options, tb_error_t *error)
{
  *filter = (tb__topic_filter_t){
      .all = options->all,
      .include_hidden = options->include_hidden,
      .clock = options->recorder.log_time == TB_RECORDER_TIME_ROS,
  };
  if (!options->all && !options->regex && options->topic_count == 0)
    return tb_error_set(error, TB_ERR_INVALID, "recorder: no topic is selected");
  tb_status_t status = compile("regex", options->regex, &filter->include, error);
  if (!status) status = compile("exclude_regex", options->exclude_regex, &filter->exclude, error);
  if (!status) status = names_copy(options->topics, options->topic_count, &filter->topics, error);
  if (!status)
    status =
        names_copy(options->exclude_topics, options->exclude_topic_count, &filter->excluded, error);
  if (status) tb__topic_filter_fini(filter);
  return status;
}

void tb__topic_filter_fini(tb__topic_filter_t *filter)
{
  tb_topic_expression_destroy(filter->include.expression);
  tb_topic_expression_destroy(filter->exclude.expression);
  names_free(filter->topics);
  names_free(filter->excluded);
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

bool tb__topic_filter_wants(tb__topic_filter_t *filter, const char *topic)
{
  if (filter->clock && strcmp(topic, TB__CLOCK_TOPIC) == 0) return true;
  bool listed = lists(filter->topics, topic);
  bool included = !filter->all && matches(&filter->include, topic, true);
  bool excluded = matches(&filter->exclude, topic, false);
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
