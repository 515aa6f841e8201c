#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static const command_t *const commands[] = {
#ifdef TB_CLI_PLAY
    &command_play,
#endif
#ifdef TB_CLI_ROS2
    &command_watch,
#endif
    &command_now,
    &command_sleep,
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void print_help(FILE *out)
{
  fprintf(out, "usage: timebase COMMAND [ARGUMENT...]\n\n"
               "ROS time: play recordings, watch clocks, tell and wait for time.\n\n"
               "commands:\n");
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
  fprintf(out, "\n'timebase COMMAND --help' tells more about one.\n"
               "Exit status: 0 success, 1 a check failed, 2 wrong usage, 3 files or transport.\n");
}

int main(int argc, char **argv)
{
  signal(SIGPIPE, SIG_IGN); /* a closed pipe is seen when writing */
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  const char *name = argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
    print_help(stdout);
    return fflush(stdout) ? EXIT_IO : EXIT_OK;
  }
  if (!strcmp(name, "--version")) {
    puts("timebase " TB_VERSION);
    return fflush(stdout) ? EXIT_IO : EXIT_OK;
  }
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (!strcmp(name, commands[i]->name)) return commands[i]->run(commands[i], argc - 1, argv + 1);
  fprintf(stderr,
          "timebase: unknown command '%s'; 'timebase --help' lists them\n"
          "usage: timebase COMMAND [ARGUMENT...]\n",
          name);
  return EXIT_USAGE;
}
