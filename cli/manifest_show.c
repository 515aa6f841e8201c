#include <getopt.h>
#include <stdio.h>

#include "json.h"
#include "manifest.h"
#include "text.h"

static int show(const command_t *command, const char *path, bool json)
{
  tb__problems_t *problems = calloc(1, sizeof *problems);
  tb__manifest_t manifest = {0};
  if (!problems) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  int result = manifest_read(command, path, problems, &manifest);
  manifest_print_problems(path, problems);
  if (!result && json)
    result = json_print(manifest_json(&manifest), JSON_INDENT(2))
                 ? EXIT_OK
                 : command_failed(command, TB_ERR_NO_MEMORY, NULL);
  else if (!result)
    manifest_print(&manifest);
  tb__manifest_fini(&manifest);
  free(problems);
  return result == EXIT_CHECK ? EXIT_USAGE : result;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
  bool json = false;
  for (int option; (option = command_next_option(argc, argv, ":h", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (option != 'j') return command_bad_option(command, option, argv);
    json = true;
  }
  if (optind == argc) return command_usage_error(command, "missing FILE or BAG");
  if (optind + 1 < argc)
    return command_usage_error(command, "unexpected argument '%s'", argv[optind + 1]);
  return command_finish(command, show(command, argv[optind], json));
}

const command_t command_manifest_show = {
    .name = "manifest show",
    .summary = "print a manifest with its defaults",
    .usage = "timebase manifest show FILE|BAG [--json]",
    .help = "Prints the manifest of a file, or the one that a recording has with it, with all\n"
            "defaults filled in. The text is a manifest again; comments mark what is a default,\n"
            "what follows from the mode, and what is declared and cannot be observed.\n\n"
            "  --json             one JSON object; durations in ns (max_error_ns, budget_ns),\n"
            "                     'declared' of a node names what is no default\n"
            "  -h, --help         this text\n\n"
            "Exit status: 0; 1 if the manifest has errors; 3 if there is none or it cannot be\n"
            "read.\n",
    .run = run,
};
