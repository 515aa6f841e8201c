#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "manifest.h"
#include "text.h"
#ifdef TB_CLI_ROS2
#include "manifest_compare.h"
#endif

enum { OPTION_JSON = 256, OPTION_GRAPH, OPTION_STRICT };

typedef struct arguments {
  const char *path;
  bool json, strict, graph_too;
#ifdef TB_CLI_ROS2
  graph_options_t graph;
#endif
} arguments_t;

static json_t *problems_json(const tb__problems_t *problems)
{
  json_t *out = json_array();
  for (size_t i = 0; i < problems->count; i++) {
    const tb__problem_t *problem = &problems->items[i];
    json_t *item = json_object();
    json_put(item, "severity", json_string(problem->is_error ? "error" : "warn"));
    json_put(item, "line", problem->line ? json_integer((json_int_t)problem->line) : json_null());
    json_put(item, "column",
             problem->line ? json_integer((json_int_t)problem->column) : json_null());
    json_put(item, "text", text_json(problem->text));
    json_push(out, item);
  }
  return out;
}

static int compare(const command_t *command, const arguments_t *arguments,
                   const tb__manifest_t *manifest, json_t *root)
{
#ifdef TB_CLI_ROS2
  return manifest_compare(command, &arguments->graph, manifest, root);
#else
  (void)arguments;
  (void)manifest;
  (void)root;
  return command_usage_error(command, "--graph: this build has no ROS 2 graph");
#endif
}

static int verify(const command_t *command, const arguments_t *arguments)
{
  tb__problems_t *problems = calloc(1, sizeof *problems);
  tb__manifest_t manifest = {0};
  json_t *root = arguments->json ? json_object() : NULL;
  if (!problems) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  int result = manifest_read(command, arguments->path, problems, &manifest);
  bool is_read = result == EXIT_OK || result == EXIT_CHECK;
  if (is_read && !root) manifest_print_problems(arguments->path, problems);
  if (is_read && root) json_put(root, "problems", problems_json(problems));
  if (!result && arguments->strict && problems->warning_count) result = EXIT_CHECK;
  if (is_read && !problems->error_count && arguments->graph_too) {
    int compared = compare(command, arguments, &manifest, root);
    if (compared) result = compared;
  }
  if (!result && !root)
    text_out("%s: good%s\n", arguments->path,
             arguments->graph_too ? ", and the graph is as it declares" : "");
  if (root && is_read)
    result = json_finish(command, root, result);
  else
    json_decref(root);
  tb__manifest_fini(&manifest);
  free(problems);
  return result;
}

/* False: *result is set. */
static bool parse(const command_t *command, int argc, char **argv, arguments_t *out, int *result)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"graph", no_argument, NULL, OPTION_GRAPH},
      {"strict", no_argument, NULL, OPTION_STRICT},
#ifdef TB_CLI_ROS2
      GRAPH_OPTIONS,
#endif
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  for (int option; (option = command_next_option(argc, argv, ":h", options)) != -1;) {
    if (option == 'h') {
      *result = command_help(command);
      return false;
    }
    if (option == OPTION_JSON)
      out->json = true;
    else if (option == OPTION_STRICT)
      out->strict = true;
    else if (option == OPTION_GRAPH)
      out->graph_too = true;
    else {
#ifdef TB_CLI_ROS2
      *result = graph_options_take(command, option, argv, &out->graph);
      out->graph_too = true;
#else
      *result = command_bad_option(command, option, argv);
#endif
    }
    if (*result) return false;
  }
  if (optind + 1 == argc) {
    out->path = argv[optind];
    return true;
  }
  *result = optind == argc
                ? command_usage_error(command, "missing FILE or BAG")
                : command_usage_error(command, "unexpected argument '%s'", argv[optind + 1]);
  return false;
}

static int run(const command_t *command, int argc, char **argv)
{
  arguments_t arguments = {0};
  int result = EXIT_OK;
#ifdef TB_CLI_ROS2
  arguments.graph = (graph_options_t){.domain = -1, .limit = {2 * TB_NS_PER_S}};
#endif
  if (!parse(command, argc, argv, &arguments, &result)) return result;
  return command_finish(command, verify(command, &arguments));
}

const command_t command_manifest_verify = {
    .name = "manifest verify",
    .summary = "check a manifest, and whether the graph is as it declares",
    .usage = "timebase manifest verify FILE|BAG [--graph] [--strict] [--json] [--domain ID] "
             "[--wait D] [--limit D]",
    .help =
        "Prints what is wrong with a manifest, each with line and column: 'error' where it cannot\n"
        "be used, 'warning' where what it declares hardly fits together.\n"
#ifdef TB_CLI_ROS2
        "With --graph, also what differs from it on the live graph, as 'timebase audit FILE' "
        "finds\n"
        "it: nodes that are missing or on another time, the clock's publisher, QoS, rate, factor\n"
        "and error, types, rates and ages of topics, evidence without a publisher. What could not\n"
        "be observed is listed as such and is no difference, as are nodes that it does not name\n"
        "and what rules find that are switched off.\n\n"
        "  --graph            compare with the graph too; implied by the next three\n"
        "  --domain ID        of the graph (default: ROS_DOMAIN_ID, or 0)\n"
        "  --wait D           look at the graph for D, not until discovery has settled\n"
        "  --limit D          wait at most D for answers of nodes (default 2s)\n"
#else
        "\n"
#endif
        "  --strict           warnings fail too\n"
        "  --json             one JSON object: problems (severity, line, column, text); with\n"
        "                     --graph also differences and notes (kind, name, text)\n"
        "  -h, --help         this text\n\n"
        "Exit status: 0 good; 1 errors, or differences; 2 wrong usage; 3 it cannot be read, or\n"
        "no transport.\n",
    .run = run,
};
