#include "play_topics.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"

typedef struct filter {
  const play_arguments_t *arguments;
  regex_t regex, exclude_regex;
  bool has_regex, has_exclude;
} filter_t;

static int open_bags(const command_t *command, const play_arguments_t *arguments,
                     const tb_bag_reader_options_t *filter, tb_bag_reader_t **out)
{
  const words_t *bags = &arguments->bags;
  tb_bag_reader_options_t options = *filter;
  options.run = (size_t)arguments->run;
  options.limits = arguments->limits;
  return bag_open_run(command, bags->items, bags->count, &options, out);
}

static const char *without_slash(const char *name)
{
  return name + (*name == '/');
}

static bool is_in(const words_t *words, const char *topic)
{
  for (size_t i = 0; i < words->count; i++)
    if (strcmp(without_slash(words->items[i]), without_slash(topic)) == 0) return true;
  return false;
}

/* False: a message was printed. */
static bool check_words(const command_t *command, const char *option, const words_t *words,
                        const tb_bag_info_t *info)
{
  for (size_t word = 0; word < words->count; word++) {
    const words_t one = {&words->items[word], 1};
    size_t i = 0;
    while (i < info->topic_count && !is_in(&one, info->topics[i].name))
      i++;
    if (i < info->topic_count) continue;
    fprintf(stderr, "timebase %s: %s: %s has no topic %s; it has", command->name, option,
            info->path, words->items[word]);
    for (i = 0; i < info->topic_count; i++)
      fprintf(stderr, "%s %s", i ? "," : "", info->topics[i].name);
    fprintf(stderr, "\nusage: %s\n", command->usage);
    return false;
  }
  return true;
}

static bool compile(const command_t *command, const char *option, const char *text, regex_t *out,
                    bool *has)
{
  char reason[200];
  *has = false;
  if (!text) return true;
  int result = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
  *has = result == 0;
  if (*has) return true;
  regerror(result, out, reason, sizeof reason);
  command_usage_error(command, "%s %s: %s", option, text, reason);
  return false;
}

/* Names are matched as ROS says them. */
static bool matches(const regex_t *regex, const char *topic)
{
  char name[1024];
  snprintf(name, sizeof name, "/%s", without_slash(topic));
  return regexec(regex, name, 0, NULL, 0) == 0;
}

static bool is_wanted(const filter_t *filter, const char *topic)
{
  const play_arguments_t *arguments = filter->arguments;
  bool all = arguments->topics.count == 0 && !filter->has_regex;
  if (!all && !is_in(&arguments->topics, topic) &&
      !(filter->has_regex && matches(&filter->regex, topic)))
    return false;
  return !is_in(&arguments->exclude_topics, topic) &&
         !(filter->has_exclude && matches(&filter->exclude_regex, topic));
}

static int open_filtered(const filter_t *filter, const command_t *command,
                         const tb_bag_info_t *info, tb_bag_reader_t **out)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  const char **names = calloc(info->topic_count + 1, sizeof *names);
  if (!names) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < info->topic_count; i++)
    if (is_wanted(filter, info->topics[i].name))
      names[options.topic_count++] = info->topics[i].name;
  options.topics = names;
  int result = options.topic_count > 0
                   ? open_bags(command, filter->arguments, &options, out)
                   : command_usage_error(command, "no topic of %s is left to play", info->path);
  free(names);
  return result;
}

/* The log comes with the second opening. */
static int open_with(filter_t *filter, const command_t *command, tb_bag_reader_t **out)
{
  const play_arguments_t *arguments = filter->arguments;
  const tb_bag_reader_options_t all = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *whole = NULL; /* owns the names */
  int result = open_bags(command, arguments, &all, &whole);
  if (result) return result;
  const tb_bag_info_t *info = tb_bag_reader_info(whole);
  result = EXIT_USAGE;
  if (check_words(command, "--topics", &arguments->topics, info) &&
      check_words(command, "--exclude-topics", &arguments->exclude_topics, info)) {
    command_show_log(command);
    result = open_filtered(filter, command, info, out);
  }
  tb_bag_reader_close(whole);
  return result;
}

int play_topics_open(const command_t *command, const play_arguments_t *arguments,
                     tb_bag_reader_t **out)
{
  filter_t filter = {.arguments = arguments};
  const tb_bag_reader_options_t all = TB_BAG_READER_OPTIONS_INIT;
  int result = EXIT_USAGE;
  if (!arguments->regex && !arguments->exclude_regex && arguments->topics.count == 0 &&
      arguments->exclude_topics.count == 0) {
    command_show_log(command);
    return open_bags(command, arguments, &all, out);
  }
  if (compile(command, "--regex", arguments->regex, &filter.regex, &filter.has_regex) &&
      compile(command, "--exclude-regex", arguments->exclude_regex, &filter.exclude_regex,
              &filter.has_exclude))
    result = open_with(&filter, command, out);
  if (filter.has_regex) regfree(&filter.regex);
  if (filter.has_exclude) regfree(&filter.exclude_regex);
  return result;
}
