#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/clock.h>
#include <timebase/time.h>

#include "bag.h"
#include "bag_parts.h"
#include "text.h"
#include "words.h"

enum { OPTION_CONTENT = 256, OPTION_LOG_TIME, OPTION_CREATE_TIME };

typedef struct addition {
  const char *name, *data, *media_type;
  int64_t log_time_ns, create_time_ns; /* -1: not given */
  words_t pairs;                       /* "KEY=VALUE" */
} addition_t;

static const char *const words[] = {"attachment", "metadata", NULL};

/* Nanoseconds since 1970, or as times are written. */
static int parse_time(const command_t *command, const char *name, int64_t *out)
{
  char *end;
  tb_time_t time;
  errno = 0;
  *out = strtoll(optarg, &end, 10);
  if (*optarg && !*end && *out >= 0 && errno == 0) return EXIT_OK;
  if (tb_time_parse(optarg, TB_TIME_SYSTEM, &time) == TB_OK && time.ns >= 0) {
    *out = time.ns;
    return EXIT_OK;
  }
  return command_usage_error(
      command, "%s %s: write nanoseconds since 1970, or 2023-11-14T22:13:20Z", name, optarg);
}

static int take_pair(const command_t *command, addition_t *add)
{
  const char *sign = strchr(optarg, '=');
  if (!sign || sign == optarg)
    return command_usage_error(command, "--key %s: write KEY=VALUE", optarg);
  for (size_t i = 0; i < add->pairs.count; i++)
    if (strncmp(add->pairs.items[i], optarg, (size_t)(sign - optarg) + 1) == 0)
      return command_usage_error(command, "--key %s: given twice", optarg);
  add->pairs.items[add->pairs.count++] = optarg;
  return EXIT_OK;
}

static int parse_option(const command_t *command, int option, char **argv, addition_t *add)
{
  switch (option) {
  case 'n':
    add->name = optarg;
    return EXIT_OK;
  case 'f':
    add->data = optarg;
    return EXIT_OK;
  case 'k':
    return take_pair(command, add);
  case OPTION_CONTENT:
    add->media_type = optarg;
    return EXIT_OK;
  case OPTION_LOG_TIME:
    return parse_time(command, "--log-time", &add->log_time_ns);
  case OPTION_CREATE_TIME:
    return parse_time(command, "--creation-time", &add->create_time_ns);
  default:
    return command_bad_option(command, option, argv);
  }
}

/* The last part of the file's name, its time of change, and the time now are the defaults. */
static tb_status_t add_attachment(const char *file, const addition_t *add, tb_error_t *error)
{
  struct stat is;
  tb_clock_t *clock = NULL;
  tb_time_t now = {0};
  int64_t changed_ns = 0;
  char *path = add->data ? strdup(add->data) : NULL;
  if (!path) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  if (stat(path, &is) == 0 && is.st_mtim.tv_sec >= 0)
    changed_ns = (int64_t)is.st_mtim.tv_sec * INT64_C(1000000000) + is.st_mtim.tv_nsec;
  const tb_clock_options_t system = {TB_TIME_SYSTEM, NULL};
  tb_status_t status = tb_clock_create(&system, &clock);
  if (!status) status = tb_clock_now(clock, &now);
  tb_clock_destroy(clock);
  if (!status)
    status = tb_mcap_file_add_attachment(
        file, add->data, add->name ? add->name : basename(path), add->media_type,
        add->log_time_ns >= 0 ? add->log_time_ns : now.ns,
        add->create_time_ns >= 0 ? add->create_time_ns : changed_ns, error);
  free(path);
  return status;
}

static tb_status_t add_metadata(const char *file, const addition_t *add, tb_error_t *error)
{
  size_t count = add->pairs.count;
  const char **values = calloc(count + 1, sizeof *values);
  char **keys = calloc(count + 1, sizeof *keys);
  bool is_made = keys && values;
  for (size_t i = 0; is_made && i < count; i++) {
    const char *sign = strchr(add->pairs.items[i], '=');
    keys[i] = strndup(add->pairs.items[i], (size_t)(sign - add->pairs.items[i]));
    values[i] = sign + 1;
    is_made = keys[i];
  }
  tb_status_t status = is_made
                           ? tb_mcap_file_add_metadata(file, add->name, (const char *const *)keys,
                                                       values, count, error)
                           : tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  for (size_t i = 0; keys && i < count; i++)
    free(keys[i]);
  free(keys);
  free(values);
  return status;
}

/* To the last file of several. */
static int add_to(const command_t *command, const char *path, bool is_metadata,
                  const addition_t *add)
{
  bag_parts_t parts;
  tb_error_t error = TB_ERROR_INIT;
  int result =
      bag_parts_open(&parts, command, path, is_metadata ? "metadata records" : "attachments");
  if (!result) {
    const char *file = parts.info->files[parts.info->file_count - 1];
    progress_begin(command);
    progress_expect_bytes(bag_size_of_path(file) + (add->data ? bag_size_of_path(add->data) : 0));
    tb_status_t status =
        is_metadata ? add_metadata(file, add, &error) : add_attachment(file, add, &error);
    progress_end();
    if (status == TB_ERR_INVALID)
      result = command_usage_error(command, "%s", error.text);
    else if (status)
      result = command_failed(command, status, &error);
  }
  bag_parts_close(&parts);
  return result;
}

static int parse(const command_t *command, int argc, char **argv, addition_t *add, bool *out_help)
{
  static const struct option options[] = {
      {"name", required_argument, NULL, 'n'},
      {"file", required_argument, NULL, 'f'},
      {"key", required_argument, NULL, 'k'},
      {"content-type", required_argument, NULL, OPTION_CONTENT},
      {"log-time", required_argument, NULL, OPTION_LOG_TIME},
      {"creation-time", required_argument, NULL, OPTION_CREATE_TIME},
      PROGRESS_OPTION,
      {"help", no_argument, NULL, 'h'},
      {0}};
  int result = EXIT_OK;
  for (int option;
       !result && (option = command_next_option(argc, argv, ":n:f:k:h", options)) != -1;) {
    *out_help = option == 'h';
    if (*out_help) return EXIT_OK;
    if (!progress_option(option)) result = parse_option(command, option, argv, add);
  }
  return result;
}

static int check(const command_t *command, int argc, char **argv, const addition_t *add, int *kind)
{
  if (optind == argc) return command_usage_error(command, "missing: attachment or metadata");
  if (!command_parse_word(command, "add", argv[optind], words, kind)) return EXIT_USAGE;
  command_use_form(words[*kind]);
  if (optind + 1 == argc) return command_usage_error(command, "missing BAG");
  if (optind + 2 < argc)
    return command_usage_error(command, "unexpected argument '%s'", argv[optind + 2]);
  bool is_metadata = *kind == 1;
  const char *other = is_metadata            ? (add->data                  ? "--file"
                                                : add->media_type          ? "--content-type"
                                                : add->log_time_ns >= 0    ? "--log-time"
                                                : add->create_time_ns >= 0 ? "--creation-time"
                                                                           : NULL)
                      : add->pairs.count > 0 ? "--key"
                                             : NULL;
  if (other) return command_usage_error(command, "%s is no option of add %s", other, words[*kind]);
  if (!is_metadata && !add->data) return command_usage_error(command, "missing: -f FILE");
  if (is_metadata && !add->name) return command_usage_error(command, "missing: -n NAME");
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  addition_t add = {.log_time_ns = -1, .create_time_ns = -1};
  bool help = false;
  int kind = 0;
  add.pairs.items = calloc((size_t)argc + 1, sizeof *add.pairs.items);
  int result = add.pairs.items ? parse(command, argc, argv, &add, &help)
                               : command_failed(command, TB_ERR_NO_MEMORY, NULL);
  if (!result && !help) result = check(command, argc, argv, &add, &kind);
  if (!result && !help) {
    command_show_log(command);
    result = add_to(command, argv[optind + 1], kind == 1, &add);
  }
  free(add.pairs.items);
  return help ? command_help(command) : command_finish(command, result);
}

const command_t command_bag_add = {
    .name = "bag add",
    .summary = "add an attachment or metadata to a recording in MCAP",
    .usage = "timebase bag add attachment BAG -f FILE [-n NAME] [--content-type T] ...\n"
             "       timebase bag add metadata BAG -n NAME [-k KEY=VALUE]...",
    .help = "Adds a file, or pairs of texts, to a recording; of several files to the last one. A "
            "whole\n"
            "new file takes the place of the old one, so the disk must have room for both; killed\n"
            "half-way or after an error the recording is as it was.\n\n"
            "  -n, --name NAME    of the attachment (default: that of FILE) or the metadata\n"
            "  -f, --file FILE    whose bytes are attached\n"
            "  --content-type T   what they are, such as text/plain\n"
            "  --log-time T, --creation-time T\n"
            "                     ns since 1970, or 2023-11-14T22:13:20Z (default: now; the last\n"
            "                     change of FILE)\n"
            "  -k, --key KEY=VALUE     a pair of the metadata; again for more\n" PROGRESS_HELP
            "  -h, --help         this text\n",
    .run = run,
};
