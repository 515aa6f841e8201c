#include "bag_select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/topic_expression.h>

#include "bag.h"
#include "text.h"

bool bag_select_begin(bag_select_t *select, const command_t *command, int argc)
{
  bool has_memory = true;
  for (int i = 0; i < BAG_WORD_LISTS; i++) {
    select->lists[i].items = calloc((size_t)argc + 1, sizeof *select->lists[i].items);
    has_memory &= select->lists[i].items != NULL;
  }
  if (!has_memory) command_failed(command, TB_ERR_NO_MEMORY, NULL);
  return has_memory;
}

void bag_select_end(bag_select_t *select)
{
  for (int i = 0; i < BAG_WORD_LISTS; i++)
    free(select->lists[i].items);
}

/* One expression each: of two, the first would be ignored. */
static int take_expression(const command_t *command, const char *name, const char **out)
{
  tb_topic_expression_t *expression = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (*out)
    return command_usage_error(command, "%s: given twice; write one expression, 'A|B'", name);
  *out = optarg;
  if (tb_topic_expression_create(optarg, &expression, &error))
    return command_usage_error(command, "%s: %s", name, error.text);
  tb_topic_expression_destroy(expression);
  return EXIT_OK;
}

bool bag_select_option(bag_select_t *select, const command_t *command, int option, int argc,
                       char **argv, int *result)
{
  *result = EXIT_OK;
  if (option == 'e') {
    *result = take_expression(command, "--regex", &select->regex);
    return true;
  }
  if (option == 'x') {
    *result = take_expression(command, "--exclude-regex", &select->exclude_regex);
    return true;
  }
  if (option < BAG_SELECT_FIRST || option >= BAG_SELECT_FIRST + BAG_WORD_LISTS) return false;
  words_take(&select->lists[option - BAG_SELECT_FIRST], argc, argv);
  return true;
}

static bool has_type(const words_t *words, const char *type)
{
  for (size_t i = 0; i < words->count; i++)
    if (strcmp(words->items[i], type) == 0) return true;
  return false;
}

/* Names are matched in the form that ROS uses. */
static int matches(const command_t *command, const char *option, const char *text,
                   const char *topic, bool *out)
{
  tb_topic_expression_t *expression = NULL;
  tb_error_t error = TB_ERROR_INIT;
  char *name = NULL;
  *out = false;
  if (!text) return EXIT_OK;
  if (asprintf(&name, "/%s", words_without_slash(topic)) < 0)
    return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  tb_status_t status = tb_topic_expression_create(text, &expression, &error);
  if (!status) status = tb_topic_expression_search(expression, name, out, &error);
  tb_topic_expression_destroy(expression);
  free(name);
  return status ? command_usage_error(command, "%s: %s", option, error.text) : EXIT_OK;
}

static int is_wanted(const bag_select_t *select, const command_t *command,
                     const tb_bag_topic_t *topic, bool *out)
{
  const words_t *lists = select->lists;
  bool all = lists[BAG_TOPICS].count == 0 && lists[BAG_TYPES].count == 0 && !select->regex;
  bool included, excluded;
  int result = matches(command, "--regex", select->regex, topic->name, &included);
  if (!result)
    result = matches(command, "--exclude-regex", select->exclude_regex, topic->name, &excluded);
  if (result) return result;
  included |= all || words_have_topic(&lists[BAG_TOPICS], topic->name) ||
              has_type(&lists[BAG_TYPES], topic->type);
  excluded |= words_have_topic(&lists[BAG_EXCLUDED_TOPICS], topic->name) ||
              has_type(&lists[BAG_EXCLUDED_TYPES], topic->type);
  *out = included && !excluded;
  return EXIT_OK;
}

bool bag_select_is_given(const bag_select_t *select)
{
  bool given = select->regex || select->exclude_regex;
  for (int i = 0; i < BAG_WORD_LISTS; i++)
    given |= select->lists[i].count > 0;
  return given;
}

int bag_select_topics(const bag_select_t *select, const command_t *command,
                      const tb_bag_info_t *info, bool **out)
{
  *out = NULL;
  if (!bag_select_is_given(select)) return EXIT_OK;
  int result = EXIT_OK;
  if (!words_check_topics(&select->lists[BAG_TOPICS], command, "--topics", info) ||
      !words_check_topics(&select->lists[BAG_EXCLUDED_TOPICS], command, "--exclude-topics", info))
    return EXIT_USAGE;
  bool *wanted = calloc(info->topic_count + 1, sizeof *wanted), any = false;
  if (!wanted) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < info->topic_count && !result; i++) {
    result = is_wanted(select, command, &info->topics[i], &wanted[i]);
    any |= wanted[i];
  }
  if (!result && !any)
    result = command_usage_error(command, "no topic of %s is left to write", info->path);
  if (result)
    free(wanted);
  else
    *out = wanted;
  return result;
}
