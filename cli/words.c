#include "words.h"

#include <getopt.h>
#include <string.h>

#include "bag.h"

void words_take(words_t *words, int argc, char **argv)
{
  words->items[words->count++] = optarg;
  while (optind < argc && argv[optind][0] != '-')
    words->items[words->count++] = argv[optind++];
}

const char *words_without_slash(const char *name)
{
  return name + (*name == '/');
}

bool words_have_topic(const words_t *words, const char *topic)
{
  for (size_t i = 0; i < words->count; i++)
    if (strcmp(words_without_slash(words->items[i]), words_without_slash(topic)) == 0) return true;
  return false;
}

bool words_are_topic(const char *word, const tb_bag_info_t *info)
{
  const words_t one = {&word, 1};
  for (size_t i = 0; i < info->topic_count; i++)
    if (words_have_topic(&one, info->topics[i].name)) return true;
  return false;
}

bool words_check_topics(const words_t *words, const command_t *command, const char *option,
                        const tb_bag_info_t *info)
{
  for (size_t word = 0; word < words->count; word++) {
    if (words_are_topic(words->items[word], info)) continue;
    bag_no_topic(command, option, info, words->items[word]);
    return false;
  }
  return true;
}
