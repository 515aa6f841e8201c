#include "manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text.h"
#ifdef TB_CLI_BAG
#include "bag.h"
#include "bag_evidence.h"
#endif

static const command_t *const commands[] = {&command_manifest_init, &command_manifest_verify,
                                            &command_manifest_show};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static bool ends_with(const char *path, const char *end)
{
  size_t length = strlen(path), end_length = strlen(end);
  return length >= end_length && strcmp(path + length - end_length, end) == 0;
}

bool manifest_is_bag(const char *path)
{
  struct stat status;
  if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) return true;
  return ends_with(path, ".mcap") || ends_with(path, ".db3") || ends_with(path, ".bag") ||
         ends_with(path, ".zstd") || ends_with(path, "/metadata.yaml") ||
         strcmp(path, "metadata.yaml") == 0;
}

#ifdef TB_CLI_BAG
static int read_bag(const command_t *command, const char *path, tb__problems_t *problems,
                    tb__manifest_t *out)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  bag_evidence_t evidence = {0};
  tb_error_t error = TB_ERROR_INIT;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  options.content = TB_BAG_CONTENT_TIMES;
  options.run = 1;
  tb_status_t status = tb_bag_reader_open(path, &options, &reader, &error);
  if (status) return bag_unreadable(command, path, status, &error);
  status = bag_evidence_read(tb_bag_reader_info(reader), &options.limits, &evidence);
  tb_bag_reader_close(reader);
  if (!status && evidence.manifest)
    status = tb__manifest_parse(evidence.manifest, strlen(evidence.manifest), problems, out);
  bool has_manifest = evidence.manifest;
  bag_evidence_release(&evidence);
  if (status == TB_ERR_CORRUPT) return EXIT_CHECK;
  if (status) return command_failed(command, status, NULL);
  if (has_manifest) return EXIT_OK;
  text_err("timebase %s: %s has no manifest; record with --manifest FILE, or draft one with "
           "'timebase manifest init %s'\n",
           command->name, path, path);
  return EXIT_IO;
}
#endif

int manifest_read(const command_t *command, const char *path, tb__problems_t *problems,
                  tb__manifest_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
#ifdef TB_CLI_BAG
  if (manifest_is_bag(path)) return read_bag(command, path, problems, out);
#endif
  tb_status_t status = tb__manifest_load(path, problems, out, NULL, &error);
  if (status == TB_ERR_CORRUPT) return EXIT_CHECK;
  return status ? command_bad_file(command, status, &error) : EXIT_OK;
}

void manifest_print_problems(const char *path, const tb__problems_t *problems)
{
  for (size_t i = 0; i < problems->count; i++) {
    const tb__problem_t *problem = &problems->items[i];
    text_err("%s:", path);
    if (problem->line) text_err("%zu:%zu:", problem->line, problem->column);
    text_err(" %s: %s\n", problem->is_error ? "error" : "warning", problem->text);
  }
  size_t more = problems->error_count + problems->warning_count - problems->count;
  if (more) text_err("%s: and %zu more\n", path, more);
}

int manifest_load(const command_t *command, const char *path, tb__manifest_t *out, char **out_text)
{
  tb_error_t error = TB_ERROR_INIT;
  tb__problems_t *problems = calloc(1, sizeof *problems);
  if (!problems) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  tb_status_t status = tb__manifest_load(path, problems, out, out_text, &error);
  int result = EXIT_OK;
  if (status == TB_ERR_CORRUPT) {
    manifest_print_problems(path, problems);
    result = EXIT_USAGE;
  } else if (status) {
    result = command_bad_file(command, status, &error);
  }
  free(problems);
  return result;
}

int manifest_load_any(const command_t *command, const char *path, tb__manifest_t *out)
{
  tb__problems_t *problems = calloc(1, sizeof *problems);
  if (!problems) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  int result = manifest_read(command, path, problems, out);
  if (result == EXIT_CHECK) {
    manifest_print_problems(path, problems);
    result = EXIT_USAGE;
  }
  free(problems);
  return result;
}

static int run(const command_t *command, int argc, char **argv)
{
  return command_run_one_of(command, commands, COMMAND_COUNT,
                            "What a deployment declares about its time.", argc, argv);
}

const command_t command_manifest = {
    .name = "manifest",
    .summary = "draft, verify and show the manifest of a deployment",
    .usage = "timebase manifest init|verify|show ...",
    .help = "A manifest is a YAML file: mode, clock, nodes with their time bases, topics with\n"
            "budgets, paths, evidence, and rules that are switched off. docs/manifest.md explains\n"
            "it, schema/manifest.schema.json is for editors. 'timebase record --manifest FILE'\n"
            "stores it with a recording.\n"
            "See 'timebase manifest COMMAND --help' for details.\n",
    .run = run,
};
