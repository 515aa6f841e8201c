#include "play_topics.h"

static bag_topics_t topics_of(const play_arguments_t *arguments, size_t run)
{
  return (bag_topics_t){.bags = &arguments->bags,
                        .topics = &arguments->topics,
                        .exclude_topics = &arguments->exclude_topics,
                        .services = &arguments->services,
                        .exclude_services = &arguments->exclude_services,
                        .actions = &arguments->actions,
                        .exclude_actions = &arguments->exclude_actions,
                        .regex = arguments->regex,
                        .exclude_regex = arguments->exclude_regex,
                        .run = run,
                        .skips_missing = true,
                        .limits = arguments->limits};
}

int play_topics_open(const command_t *command, const play_arguments_t *arguments, size_t run,
                     tb_bag_reader_t **out)
{
  bag_topics_t wanted = topics_of(arguments, run);
  return bag_topics_open(command, &wanted, out);
}

bool play_topics_choose(const play_arguments_t *arguments, const char *name)
{
  bag_topics_t wanted = topics_of(arguments, 0);
  return bag_topics_choose(&wanted, name);
}
