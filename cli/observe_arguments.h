/* Arguments that `timebase observe` and `timebase top` share: which topics and paths, and where. */
#ifndef TB_CLI_OBSERVE_ARGUMENTS_H
#define TB_CLI_OBSERVE_ARGUMENTS_H

#include <getopt.h>

#include "observe.h"

enum {
  OBSERVE_OPTION_DOMAIN = 512, /* above those of the commands */
  OBSERVE_OPTION_DEFINITIONS,
  OBSERVE_OPTION_MAX_TOPICS,
  OBSERVE_OPTION_PATH,
  OBSERVE_OPTION_FIND_PATHS,
};

/* Rows of the table of getopt_long. */
#define OBSERVE_OPTIONS                                                                            \
  {"domain", required_argument, NULL, OBSERVE_OPTION_DOMAIN},                                      \
      {"definitions", required_argument, NULL, OBSERVE_OPTION_DEFINITIONS},                        \
      {"max-topics", required_argument, NULL, OBSERVE_OPTION_MAX_TOPICS},                          \
      {"path", required_argument, NULL, OBSERVE_OPTION_PATH},                                      \
  {                                                                                                \
    "find-paths", no_argument, NULL, OBSERVE_OPTION_FIND_PATHS                                     \
  }

/* Their lines in the help. */
#define OBSERVE_OPTIONS_HELP                                                                       \
  "  --path FROM:TO[:BUDGET]\n"                                                                    \
  "                     the latency from messages of FROM to those of TO that repeat their\n"      \
  "                     header.stamp, in steady and in ROS time. Observes the two topics.\n"       \
  "                     \"cannot keep up\" if it grows in steady time; \"drops inputs\" if\n"      \
  "                     fewer of them have an output than at a lower factor. BUDGET (100ms,\n"     \
  "                     0.5) is compared with both latencies: \"over budget in ROS time\n"         \
  "                     alone\" is caused by the real-time factor. At most 16\n"                   \
  "  --find-paths       show the paths too that nodes have from a topic that they subscribe\n"     \
  "                     to to one that they publish, where 9 of 10 outputs repeat the stamp\n"     \
  "                     of an input\n"                                                             \
  "  --definitions DIR  look for DIR/package/msg/Name.msg or .idl too; may be repeated\n"          \
  "  --max-topics N     observe at most N topics, 1 to 10000 (default 500)\n"                      \
  "  --domain N         DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"                   \
  "  -h, --help         this text\n\n"

typedef struct observe_arguments {
  observe_t *observe;
  int domain, topics_max;
  const char *filters[OBSERVE_FILTERS_MAX], *folders[OBSERVE_FOLDERS_MAX];
  size_t filter_count, folder_count;
} observe_arguments_t;

/* EXIT_OK, or a message has been printed. Free it by observe_arguments_fini either way. */
int observe_arguments_init(observe_arguments_t *arguments, observe_t *observe);
void observe_arguments_fini(observe_arguments_t *arguments);
/* An option that getopt_long returned. False: a message has been printed. */
bool observe_take_option(observe_arguments_t *arguments, int option, char **argv);
/* The topics, from optind on. EXIT_OK, or a message has been printed. */
int observe_take_topics(observe_arguments_t *arguments, int argc, char **argv);
/* Opens it with them. EXIT_OK, or a message has been printed. observe_close it either way. */
int observe_arguments_open(const observe_arguments_t *arguments);

#endif
