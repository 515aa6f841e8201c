#include "play_changes.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVICE_EVENTS "/_service_event"

bool play_changes_init(play_changes_t *changes, int argc)
{
  changes->pause_on.items = calloc((size_t)argc + 1, sizeof *changes->pause_on.items);
  return changes->pause_on.items;
}

void play_changes_fini(play_changes_t *changes)
{
  for (size_t i = 0; changes->rules && changes->rules[i]; i++)
    free(changes->rules[i]);
  free(changes->rules);
  free(changes->pause_on.items);
}

bool play_changes_option(play_changes_t *changes, const command_t *command, int option, int argc,
                         char **argv, tb_player_options_t *player)
{
  switch (option) {
  case PLAY_PREFIX:
    changes->prefix = words_without_slash(optarg);
    if (*changes->prefix && changes->prefix[strlen(changes->prefix) - 1] != '/') return true;
    command_usage_error(command, "--prefix %s: expected a namespace, such as robot1", optarg);
    return false;
  case PLAY_PAUSE_ON:
    words_take(&changes->pause_on, argc, argv);
    return true;
  case PLAY_SKIP_SILENCE:
    if (!command_parse_duration(command, "--skip-silence", optarg, &player->skip_silence))
      return false;
    if (player->skip_silence.ns > 0) return true;
    command_usage_error(command, "--skip-silence %s: must be above 0", optarg);
    return false;
  case PLAY_RESTAMP:
    changes->restamps = true;
    return true;
  default:
    command_bad_option(command, option, argv);
    return false;
  }
}

/* --- the prefix --- */

/* Whether a rule "A:=B" is of that name. */
static bool is_renamed(const words_t *remaps, const char *name)
{
  size_t length = strlen(name);
  for (size_t i = 0; i < remaps->count; i++) {
    const char *rule = words_without_slash(remaps->items[i]);
    if (strncmp(rule, name + 1, length - 1) == 0 && strncmp(rule + length - 1, ":=", 2) == 0)
      return true;
  }
  return false;
}

static bool add_rule(play_changes_t *changes, const char *name, size_t length, size_t *count)
{
  char *rule = NULL;
  if (asprintf(&rule, "%.*s:=/%s%.*s", (int)length, name, changes->prefix, (int)length, name) < 0)
    return false;
  changes->rules[(*count)++] = rule;
  return true;
}

/* The service of events too, for requests that are sent to it. */
static bool add_rules(play_changes_t *changes, const char *name, const words_t *remaps,
                      size_t *count)
{
  size_t length = strlen(name), end = strlen(SERVICE_EVENTS);
  if (*name != '/' || is_renamed(remaps, name)) return true;
  if (!add_rule(changes, name, length, count)) return false;
  bool is_service = length > end && strcmp(name + length - end, SERVICE_EVENTS) == 0;
  return !is_service || add_rule(changes, name, length - end, count);
}

static bool append(words_t *remaps, char *const *rules, size_t count)
{
  const char **items =
      reallocarray(remaps->items, remaps->count + count + 1, sizeof *remaps->items);
  if (!items) return false;
  remaps->items = items;
  for (size_t i = 0; i < count; i++)
    items[remaps->count++] = rules[i];
  return true;
}

int play_changes_apply(play_changes_t *changes, const command_t *command, const tb_bag_info_t *info,
                       bool owns_clock, words_t *remaps)
{
  size_t count = 0;
  if (!words_check_topics(&changes->pause_on, command, "--pause-on", info)) return EXIT_USAGE;
  if (!changes->prefix) return EXIT_OK;
  changes->rules = calloc(2 * info->topic_count + 1, sizeof *changes->rules);
  bool whole = changes->rules;
  for (size_t i = 0; i < info->topic_count && whole; i++)
    if (!owns_clock || strcmp(info->topics[i].name, "/clock") != 0)
      whole = add_rules(changes, info->topics[i].name, remaps, &count);
  whole = whole && append(remaps, changes->rules, count);
  return whole ? EXIT_OK : command_failed(command, TB_ERR_NO_MEMORY, NULL);
}

/* --- pauses --- */

/* On the thread that plays, which has one player. */
static void pause_after(const tb_bag_message_t *message, void *user)
{
  play_changes_t *changes = user;
  if (words_have_topic(&changes->pause_on, changes->info->topics[message->topic].name))
    tb_player_pause(atomic_load(&changes->player));
}

static void take(const tb_bag_message_t *message, void *user)
{
  play_restamp_take(&((play_changes_t *)user)->restamp, message);
}

void play_changes_begin(play_changes_t *changes, const tb_bag_info_t *info,
                        tb_player_options_t *options)
{
  changes->info = info;
  if (changes->restamps) options->before_message = take;
  if (changes->pause_on.count > 0) options->after_message = pause_after;
  options->message_user = changes;
}
