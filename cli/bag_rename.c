#include "bag_rename.h"

#include <ctype.h>
#include <string.h>

#define SIGN ":="

/* A of A:=B is the topic; a slash at the start makes no difference. */
static bool is_of(const char *word, const char *topic)
{
  const char *name = words_without_slash(word), *bare = words_without_slash(topic);
  size_t length = strlen(bare);
  return strncmp(name, bare, length) == 0 && strncmp(name + length, SIGN, strlen(SIGN)) == 0;
}

static const char *name_in(const char *word)
{
  const char *sign = strstr(word, SIGN);
  return sign ? sign + strlen(SIGN) : NULL;
}

/* "/a/b_1": as ROS 2 and ROS 1 have names. */
static bool is_legal(const char *name)
{
  if (*name != '/') return false;
  for (const char *at = name; *at; at++) {
    if (*at == '/' ? !isalpha((unsigned char)at[1]) && at[1] != '_'
                   : !isalnum((unsigned char)*at) && *at != '_')
      return false;
  }
  return true;
}

const char *bag_rename_of(const words_t *renames, const char *topic)
{
  for (size_t i = 0; i < renames->count; i++)
    if (is_of(renames->items[i], topic)) return name_in(renames->items[i]);
  return topic;
}

static bool is_copied(const bool *wanted, size_t index)
{
  return !wanted || wanted[index];
}

static int check_word(const command_t *command, const char *word, const tb_bag_info_t *info,
                      const bool *wanted)
{
  const char *name = name_in(word);
  if (!name || name == word + strlen(SIGN))
    return command_usage_error(command, "--rename %s: expected A:=B", word);
  if (!is_legal(name))
    return command_usage_error(command,
                               "--rename %s: %s is no name of a topic: write /name, of letters, "
                               "digits and _",
                               word, name);
  for (size_t i = 0; i < info->topic_count; i++)
    if (is_copied(wanted, i) && is_of(word, info->topics[i].name)) return EXIT_OK;
  return command_usage_error(command, "--rename %s: no topic of that name is written", word);
}

/* Topics of one name that differ in type were told apart by the reader. */
static int check_names(const words_t *renames, const command_t *command, const tb_bag_info_t *info,
                       const bool *wanted)
{
  for (size_t i = 0; i < info->topic_count; i++)
    for (size_t k = 0; is_copied(wanted, i) && k < i; k++) {
      const char *a = info->topics[i].name, *b = info->topics[k].name;
      const char *name = bag_rename_of(renames, a);
      if (is_copied(wanted, k) && strcmp(a, b) != 0 && strcmp(name, bag_rename_of(renames, b)) == 0)
        return command_usage_error(command, "--rename: both %s and %s would be %s", b, a, name);
    }
  return EXIT_OK;
}

int bag_rename_check(const words_t *renames, const command_t *command, const tb_bag_info_t *info,
                     const bool *wanted)
{
  int result = EXIT_OK;
  if (renames->count == 0) return EXIT_OK;
  for (size_t i = 0; i < renames->count && !result; i++)
    result = check_word(command, renames->items[i], info, wanted);
  return result ? result : check_names(renames, command, info, wanted);
}
