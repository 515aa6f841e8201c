#include "bag_topics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/topic_expression.h>

#include "bag.h"
#include "text.h"

#define TOPICS_LISTED 20

typedef struct expression {
  const char *option;
  const char *text; /* NULL: none */
  tb_topic_expression_t *compiled;
  bool *matches; /* for each topic; NULL: none */
} expression_t;

typedef struct filter {
  const bag_topics_t *wanted;
  expression_t include, exclude;
} filter_t;

static void expression_free(expression_t *expression)
{
  tb_topic_expression_destroy(expression->compiled);
  free(expression->matches);
}

static int open_with_content(const command_t *command, const filter_t *filter,
                             const tb_bag_reader_options_t *topics, tb_bag_content_t content,
                             tb_bag_reader_t **out)
{
  const words_t *bags = filter->wanted->bags;
  tb_bag_reader_options_t options = *topics;
  options.run = filter->wanted->run;
  options.limits = filter->wanted->limits;
  options.content = content;
  return bag_open_first_run(command, bags->items, bags->count, &options, out);
}

static bool is_foreign(const tb_bag_info_t *info)
{
  for (size_t i = 0; i < info->topic_count; i++)
    if (strcmp(info->topics[i].serialization_format, "ros1") == 0 ||
        strcmp(info->topics[i].serialization_format, "cdr") == 0)
      return false;
  return info->topic_count > 0;
}

/* Each message of what has neither ROS 1's nor ROS 2's is refused. */
static int open_bags(const command_t *command, const filter_t *filter,
                     const tb_bag_reader_options_t *topics, tb_bag_reader_t **out)
{
  int result = open_with_content(command, filter, topics, TB_BAG_CONTENT_ANY, out);
  if (result || !is_foreign(tb_bag_reader_info(*out))) return result;
  tb_bag_reader_close(*out);
  *out = NULL;
  return open_with_content(command, filter, topics, TB_BAG_CONTENT_ALL, out);
}

/* "/go/_action/status" of "/go". */
static bool is_of_actions(const words_t *actions, const char *topic)
{
  static const char part[] = "/_action/";
  topic = words_without_slash(topic);
  for (size_t i = 0; i < actions->count; i++) {
    const char *action = words_without_slash(actions->items[i]);
    size_t length = strlen(action);
    if (strncmp(topic, action, length) == 0 && strncmp(topic + length, part, sizeof part - 1) == 0)
      return true;
  }
  return false;
}

/* The first ones: a robot has many. */
static void print_topics(const tb_bag_info_t *info)
{
  size_t count = info->topic_count > TOPICS_LISTED + 1 ? TOPICS_LISTED : info->topic_count;
  for (size_t i = 0; i < count; i++)
    text_err("%s %s", i ? "," : "", info->topics[i].name);
  if (count < info->topic_count) text_err(" and %zu more", info->topic_count - count);
  if (count == 0) text_err(" none");
}

/* Names given with an option. */
typedef struct names {
  const char *option;
  const words_t *words;
  bool are_actions, are_excluded;
} names_t;

static bool is_recorded(const names_t *names, size_t word, const tb_bag_info_t *info)
{
  const words_t one = {&names->words->items[word], 1};
  if (!names->are_actions) return words_are_topic(*one.items, info);
  for (size_t i = 0; i < info->topic_count; i++)
    if (is_of_actions(&one, info->topics[i].name)) return true;
  return false;
}

static void warn_of_missing(const command_t *command, const names_t *names, size_t word,
                            const tb_bag_info_t *info)
{
  const char *name = names->words->items[word];
  if (!names->are_actions) {
    bag_warn_no_topic(command, names->option, info, name);
    return;
  }
  flockfile(stderr);
  command_begin_warning(command);
  text_err("%s: %s has no action %s\n", names->option, info->path, name);
  funlockfile(stderr);
}

static bool refuse_missing(const command_t *command, const names_t *names, size_t word,
                           const tb_bag_info_t *info)
{
  const char *name = names->words->items[word];
  if (names->are_actions)
    command_usage_error(command, "%s: %s has no action %s", names->option, info->path, name);
  else
    bag_no_topic(command, names->option, info, name);
  return false;
}

/* Whether a name or the expression may choose a topic, or none is given. */
static bool is_any_left(const bag_topics_t *wanted, const names_t *lists, size_t count,
                        const tb_bag_info_t *info)
{
  size_t words = 0;
  for (size_t i = 0; i < count; i++) {
    if (lists[i].are_excluded) continue;
    for (size_t word = 0; word < lists[i].words->count; word++)
      if (is_recorded(&lists[i], word, info)) return true;
    words += lists[i].words->count;
  }
  return words == 0 || wanted->regex;
}

/* False: names are missing, and a message was printed. */
static bool check_names(const command_t *command, const bag_topics_t *wanted,
                        const tb_bag_info_t *info)
{
  const names_t lists[] = {
      {"--topics", wanted->topics, false, false},
      {"--exclude-topics", wanted->exclude_topics, false, true},
      {"--services", wanted->services, false, false},
      {"--exclude-services", wanted->exclude_services, false, true},
      {"--actions", wanted->actions, true, false},
      {"--exclude-actions", wanted->exclude_actions, true, true},
  };
  size_t count = sizeof lists / sizeof *lists;
  bool may_warn = wanted->skips_missing && is_any_left(wanted, lists, count, info);
  for (size_t i = 0; i < count; i++)
    for (size_t word = 0; word < lists[i].words->count; word++) {
      if (is_recorded(&lists[i], word, info)) continue;
      bool is_warning = may_warn || (wanted->skips_missing && lists[i].are_excluded);
      if (!is_warning) return refuse_missing(command, &lists[i], word, info);
      warn_of_missing(command, &lists[i], word, info);
    }
  return true;
}

static bool compile(const command_t *command, expression_t *expression)
{
  tb_error_t error = TB_ERROR_INIT;
  if (!expression->text ||
      tb_topic_expression_create(expression->text, &expression->compiled, &error) == TB_OK)
    return true;
  command_usage_error(command, "%s: %s", expression->option, error.text);
  return false;
}

static void warn_of_no_match(const command_t *command, const expression_t *expression,
                             const tb_bag_info_t *info)
{
  flockfile(stderr);
  command_begin_warning(command);
  text_err("%s '%s' matches no topic of %s; it has", expression->option, expression->text,
           info->path);
  print_topics(info);
  text_err("\n");
  funlockfile(stderr);
}

/* Finds the topics that it matches: names are matched in the form that ROS uses. An exit status; a
 * message was printed unless it is EXIT_OK. */
static int search(const command_t *command, expression_t *expression, const tb_bag_info_t *info)
{
  bool any = false;
  if (!expression->compiled) return EXIT_OK;
  expression->matches = calloc(info->topic_count + 1, sizeof *expression->matches);
  if (!expression->matches) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < info->topic_count; i++) {
    char *name = NULL;
    tb_error_t error = TB_ERROR_INIT;
    if (asprintf(&name, "/%s", words_without_slash(info->topics[i].name)) < 0)
      return command_failed(command, TB_ERR_NO_MEMORY, NULL);
    tb_status_t status =
        tb_topic_expression_search(expression->compiled, name, &expression->matches[i], &error);
    free(name);
    if (status) return command_usage_error(command, "%s: %s", expression->option, error.text);
    any |= expression->matches[i];
  }
  if (!any) warn_of_no_match(command, expression, info);
  return EXIT_OK;
}

static bool is_wanted(const filter_t *filter, const tb_bag_info_t *info, size_t topic)
{
  const bag_topics_t *wanted = filter->wanted;
  const char *name = info->topics[topic].name;
  const bool *included = filter->include.matches, *excluded = filter->exclude.matches;
  bool all = wanted->topics->count == 0 && wanted->services->count == 0 &&
             wanted->actions->count == 0 && !included;
  if (!all && !words_have_topic(wanted->topics, name) &&
      !words_have_topic(wanted->services, name) && !is_of_actions(wanted->actions, name) &&
      !(included && included[topic]))
    return false;
  return !words_have_topic(wanted->exclude_topics, name) &&
         !words_have_topic(wanted->exclude_services, name) &&
         !is_of_actions(wanted->exclude_actions, name) && !(excluded && excluded[topic]);
}

static int open_filtered(filter_t *filter, const command_t *command, const tb_bag_info_t *info,
                         tb_bag_reader_t **out)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  int result = search(command, &filter->include, info);
  if (!result) result = search(command, &filter->exclude, info);
  if (result) return result;
  const char **names = calloc(info->topic_count + 1, sizeof *names);
  if (!names) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < info->topic_count; i++)
    if (is_wanted(filter, info, i)) names[options.topic_count++] = info->topics[i].name;
  options.topics = names;
  result = options.topic_count > 0
               ? open_bags(command, filter, &options, out)
               : command_usage_error(command, "no topic of %s is left", info->path);
  free(names);
  return result;
}

/* The log comes with the second opening. */
static int open_with(filter_t *filter, const command_t *command, tb_bag_reader_t **out)
{
  const bag_topics_t *wanted = filter->wanted;
  const tb_bag_reader_options_t all = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *whole = NULL; /* owns the names */
  int result = open_bags(command, filter, &all, &whole);
  if (result) return result;
  const tb_bag_info_t *info = tb_bag_reader_info(whole);
  result = EXIT_USAGE;
  if (check_names(command, wanted, info)) {
    command_show_log(command);
    result = open_filtered(filter, command, info, out);
  }
  tb_bag_reader_close(whole);
  return result;
}

int bag_topics_open(const command_t *command, const bag_topics_t *wanted, tb_bag_reader_t **out)
{
  filter_t filter = {.wanted = wanted,
                     .include = {"--regex", wanted->regex, NULL, NULL},
                     .exclude = {"--exclude-regex", wanted->exclude_regex, NULL, NULL}};
  const tb_bag_reader_options_t all = TB_BAG_READER_OPTIONS_INIT;
  int result = EXIT_USAGE;
  size_t words = wanted->topics->count + wanted->exclude_topics->count + wanted->services->count +
                 wanted->exclude_services->count + wanted->actions->count +
                 wanted->exclude_actions->count;
  if (!wanted->regex && !wanted->exclude_regex && words == 0) {
    command_show_log(command);
    return open_bags(command, &filter, &all, out);
  }
  if (compile(command, &filter.include) && compile(command, &filter.exclude))
    result = open_with(&filter, command, out);
  expression_free(&filter.include);
  expression_free(&filter.exclude);
  return result;
}

static bool matches(const char *expression, const char *name)
{
  tb_topic_expression_t *compiled;
  bool found = false;
  if (!expression || tb_topic_expression_create(expression, &compiled, NULL)) return false;
  if (tb_topic_expression_search(compiled, name, &found, NULL)) found = false;
  tb_topic_expression_destroy(compiled);
  return found;
}

bool bag_topics_choose(const bag_topics_t *wanted, const char *name)
{
  bool all = wanted->topics->count == 0 && wanted->services->count == 0 &&
             wanted->actions->count == 0 && !wanted->regex;
  if (!all && !words_have_topic(wanted->topics, name) &&
      !words_have_topic(wanted->services, name) && !is_of_actions(wanted->actions, name) &&
      !matches(wanted->regex, name))
    return false;
  return !words_have_topic(wanted->exclude_topics, name) &&
         !words_have_topic(wanted->exclude_services, name) &&
         !is_of_actions(wanted->exclude_actions, name) && !matches(wanted->exclude_regex, name);
}
