#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract/manifest_draft.h"
#include "manifest.h"
#include "text.h"
#ifdef TB_CLI_BAG
#include "manifest_bag.h"
#include "progress.h"
#endif
#ifdef TB_CLI_ROS2
#include "manifest_graph.h"
#endif

typedef struct arguments {
  const char *bag; /* NULL: the graph */
  const char *output;
#ifdef TB_CLI_ROS2
  graph_options_t graph;
#endif
} arguments_t;

/* Line by line, which are escaped already. Changes the text. */
static void write_lines(FILE *out, char *text)
{
  for (char *rest = NULL, *line = text; *line; line = rest) {
    size_t length = strcspn(line, "\n");
    rest = line + length + (line[length] == '\n');
    line[length] = '\0';
    text_to(out, "%s\n", line);
  }
}

/* Nothing is overwritten: a manifest has what a person has written into it. */
static int write_file(const command_t *command, const char *path, char *text)
{
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST)
    return command_usage_error(command, "%s already exists; choose another name", path);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (file) write_lines(file, text);
  bool is_written = file && !ferror(file);
  if (file && fclose(file) != 0) is_written = false;
  if (is_written) return EXIT_OK;
  text_err("timebase %s: cannot write %s: %s\n", command->name, path, strerror(errno));
  return EXIT_IO;
}

static int write_draft(const command_t *command, const arguments_t *arguments,
                       const tb__draft_facts_t *facts)
{
  char *text = NULL;
  size_t marks = 0;
  int result = EXIT_OK;
  tb_status_t status = tb__manifest_draft(facts, &text, &marks);
  if (status) return command_failed(command, status, NULL);
  if (arguments->output)
    result = write_file(command, arguments->output, text);
  else
    write_lines(stdout, text);
  free(text);
  if (!result && marks)
    text_err("timebase %s: %zu line%s look%s wrong: search for CHECK\n", command->name, marks,
             marks == 1 ? "" : "s", marks == 1 ? "s" : "");
  return result;
}

static int init_of_graph(const command_t *command, const arguments_t *arguments)
{
#ifdef TB_CLI_ROS2
  static audit_t graph; /* large */
  tb__draft_facts_t facts = {0};
  char source[64];
  int result = manifest_graph_open(command, &arguments->graph, &graph);
  if (!result && !manifest_graph_has_any(&graph)) {
    graph_view_print_empty(&graph.view);
    result = EXIT_IO;
  }
  if (!result && !manifest_graph_facts(&graph, &facts))
    result = command_failed(command, TB_ERR_NO_MEMORY, NULL);
  if (!result) {
    snprintf(source, sizeof source, "the graph of domain %d",
             tb_ros2_context_domain_id(graph.view.context));
    facts.source = source;
    result = write_draft(command, arguments, &facts);
  }
  free((void *)facts.nodes);
  free((void *)facts.topics);
  audit_close(&graph);
  return result;
#else
  (void)arguments;
  return command_usage_error(command, "name a recording: this build has no ROS 2 graph");
#endif
}

static int init_of_bag(const command_t *command, const arguments_t *arguments)
{
#ifdef TB_CLI_BAG
  manifest_bag_t bag;
  progress_begin(command);
  int result = manifest_bag_open(command, arguments->bag, &bag);
  progress_end();
  if (!result) result = write_draft(command, arguments, &bag.facts);
  manifest_bag_close(&bag);
  return result;
#else
  return command_usage_error(command, "%s: this build reads no recordings", arguments->bag);
#endif
}

/* False: *result is set. */
static bool parse(const command_t *command, int argc, char **argv, arguments_t *out, int *result)
{
  static const struct option options[] = {
      {"output", required_argument, NULL, 'o'},
#ifdef TB_CLI_BAG
      PROGRESS_OPTION,
#endif
#ifdef TB_CLI_ROS2
      GRAPH_OPTIONS,
#endif
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  for (int option; (option = command_next_option(argc, argv, ":ho:", options)) != -1;) {
    if (option == 'h') {
      *result = command_help(command);
      return false;
    }
    if (option == 'o') {
      out->output = optarg;
      continue;
    }
#ifdef TB_CLI_BAG
    if (progress_option(option)) continue;
#endif
#ifdef TB_CLI_ROS2
    *result = graph_options_take(command, option, argv, &out->graph);
#else
    *result = command_bad_option(command, option, argv);
#endif
    if (*result) return false;
  }
  if (optind < argc) out->bag = argv[optind++];
  if (optind == argc) return true;
  *result = command_usage_error(command, "unexpected argument '%s'", argv[optind]);
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
  result = arguments.bag ? init_of_bag(command, &arguments) : init_of_graph(command, &arguments);
  return command_finish(command, result);
}

const command_t command_manifest_init = {
    .name = "manifest init",
    .summary = "draft a manifest from a live graph or a recording",
    .usage = "timebase manifest init [BAG] [-o FILE] [--domain ID] [--wait D] [--limit D]",
    .help =
        "Writes a manifest to begin with: what the graph shows, or with BAG what a recording\n"
        "holds. What looks wrong is marked with a comment, CHECK. What is expected of nodes is\n"
        "what most of them do: a node that does otherwise is marked, and its state is not taken\n"
        "over. Recorders, viewers and publishers of /clock do not count for that.\n"
        "Rates are measured: of /clock on a graph for a second, of topics in a recording.\n\n"
        "  -o, --output FILE  write to FILE, which must not exist, not to standard output\n"
#ifdef TB_CLI_BAG
    PROGRESS_HELP
#endif
#ifdef TB_CLI_ROS2
        "  --domain ID        of the graph (default: ROS_DOMAIN_ID, or 0)\n"
        "  --wait D           look at the graph for D, not until discovery has settled\n"
        "  --limit D          wait at most D for answers of nodes (default 2s)\n"
#endif
        "  -h, --help         this text\n\n"
        "Exit status: 0; 2 wrong usage; 3 nothing was found, or it cannot be read or written.\n",
    .run = run,
};
