#include "rosbag2/topic_filter.h"

#include <stdlib.h>
#include <string.h>

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
  if (!copy) return tb_error_set(error, TB_ERR_NO_MEMORY, "recorder: out of memory");
  for (size_t i = 0; i < count; i++) {
    copy[i] = full_name(names[i]);
    if (copy[i]) continue;
    names_free(copy);
    return tb_error_set(error, TB_ERR_NO_MEMORY, "recorder: out of memory");
  }
  *out = copy;
  return TB_OK;
}

static tb_status_t compile(const char *text, regex_t *out, bool *out_is_there, tb_error_t *error)
{
  char why[128];
  if (!text) return TB_OK;
  int failure = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
  *out_is_there = failure == 0;
  if (failure == 0) return TB_OK;
  regerror(failure, out, why, sizeof why);
  return tb_error_set(error, TB_ERR_INVALID, "expression '%.200s': %s", text, why);
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
    return tb_error_set(error, TB_ERR_INVALID, "recorder: no topic is asked for");
  tb_status_t status = compile(options->regex, &filter->regex, &filter->has_regex, error);
  if (status == TB_OK)
    status =
        compile(options->exclude_regex, &filter->exclude_regex, &filter->has_exclude_regex, error);
  if (status == TB_OK)
    status = names_copy(options->topics, options->topic_count, &filter->topics, error);
  if (status == TB_OK)
    status =
        names_copy(options->exclude_topics, options->exclude_topic_count, &filter->excluded, error);
  if (status != TB_OK) tb__topic_filter_fini(filter);
  return status;
}

void tb__topic_filter_fini(tb__topic_filter_t *filter)
{
  if (filter->has_regex) regfree(&filter->regex);
  if (filter->has_exclude_regex) regfree(&filter->exclude_regex);
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

bool tb__topic_filter_wants(const tb__topic_filter_t *filter, const char *topic)
{
  if (filter->clock && strcmp(topic, TB__CLOCK_TOPIC) == 0) return true;
  bool listed = lists(filter->topics, topic);
  if (!listed && !filter->all &&
      !(filter->has_regex && regexec(&filter->regex, topic, 0, NULL, 0) == 0))
    return false;
  if (lists(filter->excluded, topic) ||
      (filter->has_exclude_regex && regexec(&filter->exclude_regex, topic, 0, NULL, 0) == 0))
    return false;
  return listed || filter->include_hidden || !strstr(topic, "/_");
}
