#include "rosbag2_options.h"

#include <string.h>

#include "text.h"

typedef struct no_effect {
  const char *option, *reason;
} no_effect_t;

static const no_effect_t without_effect[] = {
    {"disable-loan-message", "messages are never loaned"},
    {"storage-config-file", "storages have no settings beyond the options"},
    {"polling-interval", "new topics are reported as they appear"},
    {"compression-queue-size", "compression waits for the disk, within --max-cache-size"},
    {"compression-threads", "one thread compresses"},
    {"compression-threads-priority", "threads run at the priority of the process"},
    {"progress-bar", "the screen shows progress"},
    {"progress-bar-update-rate", "the screen shows progress"},
    {"progress-bar-separation-lines", "the screen shows progress"},
    {"send-actions-as-client", "topics of actions are published as they were recorded"},
    {"storage", "the format is told from the files"},
};

bool is_rosbag2_option(int option)
{
  return option == ROSBAG2_NO_EFFECT || option == ROSBAG2_LOG_LEVEL;
}

int rosbag2_option(const command_t *command, int option)
{
  static const char *const levels[] = {"debug", "info", "warn", "error", "fatal", NULL};
  const char *name = *command_option_name() ? command_option_name()
                     : option == 'p'        ? "polling-interval"
                                            : "storage";
  int level = 0;
  if (option == ROSBAG2_LOG_LEVEL) {
    if (!command_parse_word(command, "--log-level", optarg, levels, &level)) return EXIT_USAGE;
    command_set_log_level((tb_log_level_t)((level + 1) * (int)TB_LOG_DEBUG));
    return EXIT_OK;
  }
  const char *reason = "see --help";
  for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect; i++)
    if (strcmp(without_effect[i].option, name) == 0) reason = without_effect[i].reason;
  text_err("timebase %s: note: --%s has no effect here: %s\n", command->name, name, reason);
  return EXIT_OK;
}
