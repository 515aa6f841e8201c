#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "similar.h"
#include "text.h"

static const command_t *const commands[] = {
#ifdef TB_CLI_PLAY
    &command_play,     &command_record,  &command_rehearse,
#endif
#ifdef TB_CLI_BAG
    &command_bag,      &command_check,
#endif
#ifdef TB_CLI_ROS2
    &command_watch,    &command_observe, &command_top,      &command_wait,
#endif
#ifdef TB_CLI_BRIDGE
    &command_bridge,
#endif
    &command_serve,    &command_run,     &command_now,      &command_sleep,
#ifdef TB_CLI_ROS2
    &command_nodes,    &command_param,   &command_topic,    &command_sim_time,
    &command_ctl,      &command_audit,
#endif
#ifdef TB_CLI_MANIFEST
    &command_manifest,
#endif
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void print_help(FILE *out)
{
  text_to(out, "usage: timebase COMMAND [ARGUMENT...]\n\n"
               "ROS time: play and record bags, serve and watch clocks, read and wait for time.\n\n"
               "commands:\n");
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    text_to(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
  text_to(out,
          "\nSee 'timebase COMMAND --help' for details; 'timebase --version' prints the version.\n"
          "Exit status: 0 success, 1 a check failed or a limit passed, 2 wrong usage,\n"
          "3 files or transport.\n");
}

/* A file or socket must not get the number of a closed standard stream. Writing to a closed
 * standard output still fails: its replacement is opened for reading. */
static void fill_closed_streams(void)
{
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) return;
}

/* NULL: a message has been printed. */
static const command_t *find(const char *name)
{
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (!strcmp(name, commands[i]->name)) return commands[i];
  text_err("timebase: unknown command '%s'", name);
  const char *before = "; did you mean";
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (!is_similar(name, commands[i]->name)) continue;
    text_err("%s '%s'", before, commands[i]->name);
    before = " or";
  }
  text_err("%s 'timebase --help' lists them\nusage: timebase COMMAND [ARGUMENT...]\n",
           strcmp(before, " or") ? ";" : "?");
  return NULL;
}

static bool asks_for_help(const char *word)
{
  return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

int main(int argc, char **argv)
{
  fill_closed_streams();
  setvbuf(stdout, NULL, _IOFBF,
          BUFSIZ);          /* only command_flush writes, which a signal can interrupt */
  signal(SIGPIPE, SIG_IGN); /* a write to a closed pipe fails instead */
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  const char *name = argv[1];
  bool is_help = asks_for_help(name);
  if (is_help && (argc == 2 || asks_for_help(argv[2]))) {
    print_help(stdout);
    return fflush(stdout) ? EXIT_IO : EXIT_OK;
  }
  if (!strcmp(name, "--version")) {
    text_out("timebase " TB_VERSION "\n");
    return fflush(stdout) ? EXIT_IO : EXIT_OK;
  }
  const command_t *command = find(is_help ? argv[2] : name);
  if (!command) return EXIT_USAGE;
  return is_help ? command_help(command) : command->run(command, argc - 1, argv + 1);
}
