#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bag.h"
#include "bag_parts.h"
#include "json.h"
#include "text.h"

enum { ATTACHMENT, METADATA };
enum { OPTION_OFFSET = 256 };

/* The one that is asked for, and how many there are. */
typedef struct wanted {
  tb_mcap_part_kind_t kind;
  const char *name;
  uint64_t offset; /* 0: not given */
  const char *output;
  size_t found;
  const char *file, *in; /* where records are looked at, and where it was */
  uint64_t at;
  bool is_out_of_memory;
} wanted_t;

static const char *const words[] = {"attachment", "metadata", NULL};

static void print_pairs(wanted_t *wanted, const tb_mcap_part_t *part)
{
  json_t *pairs = bag_parts_pairs(part);
  if (!json_print(pairs, JSON_INDENT(2))) wanted->is_out_of_memory = true;
}

static bool look(const tb_mcap_part_t *part, void *user)
{
  wanted_t *wanted = user;
  if (part->kind != wanted->kind || strcmp(part->name, wanted->name) != 0) return true;
  if (wanted->offset && part->offset != wanted->offset) return true;
  wanted->found++;
  wanted->in = wanted->file;
  wanted->at = part->offset;
  if (wanted->kind == TB_MCAP_PART_METADATA) print_pairs(wanted, part);
  return true;
}

static tb_status_t write_piece(const void *data, size_t size, void *user, tb_error_t *error)
{
  const uint8_t *at = data;
  int fd = *(const int *)user;
  while (size > 0) {
    ssize_t count = write(fd, at, size);
    if (count < 0)
      return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "the attachment cannot be written");
    at += count;
    size -= (size_t)count;
  }
  return TB_OK;
}

/* An output that is not whole is removed. */
static int get_attachment(const command_t *command, const wanted_t *wanted)
{
  tb_error_t error = TB_ERROR_INIT;
  int fd = STDOUT_FILENO;
  if (!wanted->output && isatty(STDOUT_FILENO))
    return command_usage_error(command, "standard output is a terminal: write -o FILE");
  if (wanted->output) {
    fd = open(wanted->output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
      text_err("timebase %s: %s: %m\n", command->name, wanted->output);
      return EXIT_IO;
    }
  }
  tb_status_t status =
      tb_mcap_file_read_attachment(wanted->in, wanted->at, write_piece, &fd, &error);
  if (wanted->output && close(fd) != 0 && !status)
    status = tb_error_set(&error, TB_ERR_SYSTEM, "%s: cannot be written", wanted->output);
  if (!status) return EXIT_OK;
  if (wanted->output) unlink(wanted->output);
  return command_failed(command, status, &error);
}

static int get(const command_t *command, const char *path, wanted_t *wanted)
{
  bag_parts_t parts;
  bool is_metadata = wanted->kind == TB_MCAP_PART_METADATA;
  int result = bag_parts_open(&parts, command, path, bag_parts_name(wanted->kind));
  for (size_t i = 0; !result && i < parts.info->file_count; i++) {
    tb_error_t error = TB_ERROR_INIT;
    wanted->file = parts.info->files[i];
    tb_status_t status = tb_mcap_file_list(wanted->file, look, wanted, &error);
    if (!status && wanted->is_out_of_memory) status = TB_ERR_NO_MEMORY;
    if (status) result = command_failed(command, status, &error);
  }
  if (!result && wanted->found == 0) {
    text_err("timebase %s: %s has no %s of this name; see 'timebase bag list %s %s'\n",
             command->name, path, words[is_metadata], is_metadata ? "metadata" : "attachments",
             path);
    result = EXIT_CHECK;
  }
  if (!result && wanted->kind == TB_MCAP_PART_ATTACHMENT) {
    if (wanted->found > 1) {
      result = command_usage_error(command,
                                   "%s has %zu attachments of this name: choose with --offset, as "
                                   "'timebase bag list attachments %s' prints it",
                                   path, wanted->found, path);
    } else {
      result = get_attachment(command, wanted);
    }
  }
  bag_parts_close(&parts);
  return result;
}

static int parse_offset(const command_t *command, wanted_t *wanted)
{
  char *end;
  errno = 0;
  wanted->offset = strtoull(optarg, &end, 10);
  if (*optarg >= '0' && *optarg <= '9' && !*end && wanted->offset > 0 && errno == 0) return EXIT_OK;
  return command_usage_error(command, "--offset %s: must be a whole number above 0", optarg);
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {{"name", required_argument, NULL, 'n'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"offset", required_argument, NULL, OPTION_OFFSET},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  wanted_t wanted = {.name = NULL};
  int kind = 0, result = EXIT_OK;
  for (int option;
       !result && (option = command_next_option(argc, argv, ":n:o:h", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (option == 'n')
      wanted.name = optarg;
    else if (option == 'o')
      wanted.output = optarg;
    else
      result = option == OPTION_OFFSET ? parse_offset(command, &wanted)
                                       : command_bad_option(command, option, argv);
  }
  if (result) return result;
  if (optind == argc) return command_usage_error(command, "missing: attachment or metadata");
  if (!command_parse_word(command, "get", argv[optind], words, &kind)) return EXIT_USAGE;
  command_use_form(words[kind]);
  wanted.kind = kind == ATTACHMENT ? TB_MCAP_PART_ATTACHMENT : TB_MCAP_PART_METADATA;
  if (optind + 1 == argc) return command_usage_error(command, "missing BAG");
  if (optind + 2 < argc)
    return command_usage_error(command, "unexpected argument '%s'", argv[optind + 2]);
  if (!wanted.name) return command_usage_error(command, "missing: -n NAME");
  command_show_log(command);
  return command_finish(command, get(command, argv[optind + 1], &wanted));
}

const command_t command_bag_get = {
    .name = "bag get",
    .summary = "an attachment or metadata of a recording in MCAP",
    .usage = "timebase bag get attachment BAG -n NAME [-o FILE] [--offset N]\n"
             "       timebase bag get metadata BAG -n NAME",
    .help = "Writes the data of an attachment, or prints the pairs of a metadata record as JSON.\n"
            "'timebase bag list attachments|metadata BAG' prints the names.\n\n"
            "  -n, --name NAME    of the attachment or the metadata\n"
            "  -o, --output FILE  where the data goes (default: standard output); not one that\n"
            "                     exists\n"
            "  --offset N         which one, where several have one name: its place in its file\n"
            "  -h, --help         this text\n\n"
            "Status 1: there is none of this name.\n",
    .run = run,
};
