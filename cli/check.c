/* `timebase check`: a recording against the runtime contract. */
#include "check.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/bag_reader.h>

#include "bag.h"
#include "bag_evidence.h"
#include "check_against.h"
#include "contract/junit.h"
#include "findings.h"
#include "json.h"
#include "manifest.h"
#include "progress.h"
#include "recording_feed.h"
#include "text.h"

enum { FOLDERS_MAX = 16 };

typedef struct arguments {
  const char *bag, *manifest, *against;
  const char *html, *junit; /* files to be written; NULL: none */
  double rate;              /* of --against; 0: not given */
  const char *folders[FOLDERS_MAX];
  size_t folder_count;
  bool json;
  tb__severity_t fail_on;
  tb_bag_limits_t limits;
} arguments_t;

typedef struct check {
  const command_t *command;
  const arguments_t *arguments;
  tb__manifest_t manifest;
  const char *manifest_name; /* NULL: there is none */
  tb__recording_t recording;
  tb__report_t *report; /* NULL: none is wanted */
  recording_feed_t feed;
  char damage[TB_ERROR_TEXT_SIZE];
  uint64_t unread, unclosed;
  bool is_salvaged;
  tb_error_t refused; /* a limit, or memory */
} check_t;

static void note_damage(check_t *check, const char *text)
{
  if (check->unread++ == 0) snprintf(check->damage, sizeof check->damage, "%s", text);
}

static bool is_damage(tb_status_t status)
{
  return status == TB_ERR_CORRUPT || status == TB_ERR_TRUNCATED || status == TB_ERR_NOT_FOUND;
}

/* One run, whole or else what can be read. */
static tb_status_t open_run(check_t *check, size_t run, tb_bag_reader_t **out, tb_error_t *error)
{
  struct stat exists;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.limits = check->arguments->limits;
  options.content = TB_BAG_CONTENT_ANY;
  options.run = run;
  tb_status_t status = tb_bag_reader_open(check->arguments->bag, &options, out, error);
  if (!is_damage(status) || stat(check->arguments->bag, &exists) != 0) return status;
  tb_error_t second = TB_ERROR_INIT;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  if (tb_bag_reader_open(check->arguments->bag, &options, out, &second)) return status;
  note_damage(check, error->text);
  check->is_salvaged = true;
  return TB_OK;
}

static tb_status_t add_topics(check_t *check, const tb_bag_info_t *info)
{
  tb_status_t status = recording_feed_topics(&check->feed, info);
  if (!status && check->recording.topic_count > TB__RECORDING_TOPICS_MAX)
    tb_error_set(&check->refused, TB_ERR_LIMIT,
                 "%s: %u topics; only the first %d were judged: check a part of it ('timebase bag "
                 "cut --topics')",
                 check->arguments->bag, check->recording.topic_count, TB__RECORDING_TOPICS_MAX);
  return status;
}

/* Every message once. What cannot be read is counted. */
static tb_status_t read_messages(check_t *check, tb_bag_reader_t *reader)
{
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  for (;;) {
    tb_status_t status = tb_bag_reader_next(reader, &message, &error);
    if (status == TB_ERR_END) return TB_OK;
    if (status == TB_ERR_LIMIT || (status && bag_is_out_of_room(&error))) {
      if (!check->refused.status) check->refused = error;
    } else if (status) {
      note_damage(check, error.text);
    } else {
      status = recording_feed_message(&check->feed, &message);
      if (status) return status;
      progress_at(message.log_time_ns);
    }
  }
}

/* The manifest that the recording carries, unless another one was given. */
static tb_status_t take_recorded_manifest(check_t *check, const tb_bag_info_t *info)
{
  bag_evidence_t evidence;
  tb_status_t status = bag_evidence_read(info, &check->arguments->limits, &evidence);
  if (!status && evidence.manifest) {
    status = bag_evidence_manifest(&evidence, &check->manifest);
    if (!status) check->manifest_name = "the recording";
    if (status == TB_ERR_CORRUPT) {
      command_begin_warning(check->command);
      text_err("the manifest in the recording has errors and is not used: 'timebase manifest show "
               "%s' prints them\n",
               check->arguments->bag);
      status = TB_OK;
    }
  }
  bag_evidence_release(&evidence);
  return status;
}

static tb_status_t begin(check_t *check, const tb_bag_info_t *info)
{
  tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH"),
                                    .folders = check->arguments->folders,
                                    .folder_count = check->arguments->folder_count};
  tb_status_t status = check->manifest_name ? TB_OK : take_recorded_manifest(check, info);
  if (!status)
    status = tb__recording_init(&check->recording, check->manifest_name ? &check->manifest : NULL,
                                &places);
  if (!status && check->arguments->html) {
    const char *slash = strrchr(check->arguments->bag, '/');
    const char *name = slash && slash[1] ? slash + 1 : check->arguments->bag;
    check->report = check->recording.report = tb__report_create(name, "log time");
    if (!check->report) status = TB_ERR_NO_MEMORY;
  }
  check->feed.recording = &check->recording;
  if (!status) recording_feed_notes(&check->feed, info);
  return status;
}

/* Run after run, as they were recorded. */
static tb_status_t read_runs(check_t *check, tb_error_t *error)
{
  size_t runs = 1;
  for (size_t run = 1; run <= runs; run++) {
    tb_bag_reader_t *reader = NULL;
    tb_status_t status = open_run(check, run, &reader, error);
    if (status) return status;
    const tb_bag_info_t *info = tb_bag_reader_info(reader);
    runs = info->run_count;
    if (info->damage) note_damage(check, info->damage);
    check->unclosed += info->unclosed_count;
    if (run == 1)
      status = begin(check, info);
    else
      tb__recording_begin_run(&check->recording);
    if (!status) status = add_topics(check, info);
    progress_span(info->runs[run - 1].start_ns, info->runs[run - 1].end_ns, run - 1, runs);
    if (!status) status = read_messages(check, reader);
    tb_bag_reader_close(reader);
    if (status) return tb_error_set(error, status, "%s", tb_status_message(status));
  }
  return TB_OK;
}

static tb_status_t switch_off(const check_t *check, tb__findings_t *findings)
{
  tb_status_t status = TB_OK;
  for (size_t i = 0; check->manifest_name && i < check->manifest.off_count && !status; i++)
    if (check->manifest.off[i].subjects.count == 0)
      status = tb__findings_switch_off(findings, check->manifest.off[i].rule,
                                       check->manifest.off[i].reason);
  return status;
}

/* EXIT_OK, or a message was printed. */
static int write_html(check_t *check, const tb__findings_t *findings)
{
  tb_error_t error = TB_ERROR_INIT;
  char text[64];
  if (!check->report) return EXIT_OK;
  tb__report_fact(check->report, "Recording", check->arguments->bag);
  tb__recording_report(&check->recording);
  if (check->manifest_name) tb__report_fact(check->report, "Manifest", check->manifest_name);
  if (check->unread) {
    snprintf(text, sizeof text, "%" PRIu64 " part%s could not be read", check->unread,
             bag_plural(check->unread));
    tb__report_fact(check->report, "Damaged", text);
  }
  if (check->refused.status) tb__report_fact(check->report, "Not complete", check->refused.text);
  tb_status_t status = tb__report_write(check->report, findings, check->arguments->html, &error);
  return status ? command_failed(check->command, status, &error) : EXIT_OK;
}

/* EXIT_OK, or a message was printed. */
static int write_junit(const check_t *check, const tb__findings_t *findings)
{
  tb_error_t error = TB_ERROR_INIT;
  if (!check->arguments->junit) return EXIT_OK;
  tb_status_t status = tb__junit_write(findings, check->arguments->bag, check->arguments->fail_on,
                                       check->arguments->junit, &error);
  return status ? command_failed(check->command, status, &error) : EXIT_OK;
}

static int report(check_t *check, tb__findings_t *findings)
{
  check_result_t result = {.path = check->arguments->bag,
                           .recording = &check->recording,
                           .findings = findings,
                           .damage = check->unread ? check->damage : NULL,
                           .unread = check->unread,
                           .is_unclosed = check->unread && !check->is_salvaged &&
                                          check->unread == check->unclosed,
                           .manifest = check->manifest_name};
  int status = findings_status(findings, check->arguments->fail_on);
  if (result.damage && !result.is_unclosed) status = EXIT_CHECK;
  int written = write_html(check, findings);
  if (!written) written = write_junit(check, findings);
  if (written) status = written;
  if (check->arguments->json) return json_finish(check->command, check_json(&result), status);
  check_print(&result);
  return status;
}

/* Of ROS 1, in whatever file: its remedies are others. */
static bool is_ros1(const tb__recording_t *recording)
{
  bool has_ros1 = false;
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    if (recording->topics[i].is_cdr) return false;
    has_ros1 |= recording->topics[i].is_ros1;
  }
  return has_ros1;
}

static int judge(check_t *check)
{
  tb__findings_t *findings = tb__findings_create();
  if (findings && is_ros1(&check->recording)) tb__findings_of_ros1(findings);
  tb_status_t status = findings ? switch_off(check, findings) : TB_ERR_NO_MEMORY;
  tb__recording_finish(&check->recording);
  if (!status) status = tb__recording_judge(&check->recording, findings);
  if (!status) status = tb__findings_finish(findings);
  int result = status ? command_failed(check->command, status, NULL) : report(check, findings);
  tb__findings_destroy(findings);
  if (check->refused.status)
    return command_failed(check->command, check->refused.status, &check->refused);
  return result;
}

/* EXIT_OK, or a message was printed. */
static int load_manifest(check_t *check)
{
  const char *path = check->arguments->manifest;
  if (!path) return EXIT_OK;
  int result = manifest_load(check->command, path, &check->manifest, NULL);
  if (!result) check->manifest_name = path;
  return result;
}

/* False: *result is set. */
static bool parse(const command_t *command, int argc, char **argv, arguments_t *out, int *result)
{
  enum { DEFINITIONS = 0x100, FAIL_ON, AGAINST, RATE, HTML, JUNIT };
  static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                          {"manifest", required_argument, NULL, 'm'},
                                          {"definitions", required_argument, NULL, DEFINITIONS},
                                          {"fail-on", required_argument, NULL, FAIL_ON},
                                          {"against", required_argument, NULL, AGAINST},
                                          {"rate", required_argument, NULL, RATE},
                                          {"html", required_argument, NULL, HTML},
                                          {"junit", required_argument, NULL, JUNIT},
                                          PROGRESS_OPTION,
                                          BAG_LIMIT_OPTIONS,
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  for (int option; (option = command_next_option(argc, argv, ":hm:", options)) != -1;) {
    *result = EXIT_OK;
    if (option == 'j') {
      out->json = true;
    } else if (option == 'm') {
      out->manifest = optarg;
    } else if (option == DEFINITIONS && out->folder_count < FOLDERS_MAX) {
      out->folders[out->folder_count++] = optarg;
    } else if (option == DEFINITIONS) {
      *result = command_usage_error(command, "more than %d times --definitions", FOLDERS_MAX);
    } else if (option == AGAINST) {
      out->against = optarg;
    } else if (option == HTML) {
      out->html = optarg;
    } else if (option == JUNIT) {
      out->junit = optarg;
    } else if (option == RATE) {
      if (!command_parse_double(command, "--rate", optarg, 1e-6, 1e6, &out->rate))
        *result = EXIT_USAGE;
    } else if (option == FAIL_ON) {
      if (!findings_parse_fail_on(command, optarg, &out->fail_on)) *result = EXIT_USAGE;
    } else if (progress_option(option)) {
      continue;
    } else if (!bag_limit_option(command, option, &out->limits, result)) {
      *result = option == 'h' ? command_help(command) : command_bad_option(command, option, argv);
      return false;
    }
    if (*result) return false;
  }
  if (optind + 1 == argc) {
    out->bag = argv[optind];
    return true;
  }
  *result = optind == argc
                ? command_usage_error(command, "missing BAG")
                : command_usage_error(command, "unexpected argument '%s'", argv[optind + 1]);
  return false;
}

static int compare(const command_t *command, const arguments_t *arguments)
{
  against_arguments_t against = {.bag = arguments->bag,
                                 .original = arguments->against,
                                 .rate = arguments->rate,
                                 .json = arguments->json,
                                 .html = arguments->html,
                                 .junit = arguments->junit,
                                 .limits = arguments->limits};
  if (arguments->manifest)
    return command_usage_error(command, "--manifest and --against contradict each other");
  return command_finish(command, check_against(command, &against));
}

static int run(const command_t *command, int argc, char **argv)
{
  arguments_t arguments = {.fail_on = TB__SEVERITY_WARN};
  check_t check = {.command = command, .arguments = &arguments, .refused = TB_ERROR_INIT};
  tb_error_t error = TB_ERROR_INIT;
  int result = EXIT_OK;
  if (!parse(command, argc, argv, &arguments, &result)) return result;
  if (arguments.against) return compare(command, &arguments);
  if (arguments.rate > 0) return command_usage_error(command, "--rate needs --against");
  result = load_manifest(&check);
  if (!result) {
    progress_begin(command);
    tb_status_t status = read_runs(&check, &error);
    result = status ? bag_unreadable(command, arguments.bag, status, &error) : judge(&check);
  }
  tb__recording_fini(&check.recording);
  tb__report_destroy(check.report);
  if (check.manifest_name) tb__manifest_fini(&check.manifest);
  recording_feed_fini(&check.feed);
  progress_end();
  return command_finish(command, result);
}

const command_t command_check = {
    .name = "check",
    .summary = "check the time of a recording against the contract",
    .usage = "timebase check BAG [--manifest FILE | --against ORIGINAL] [--html FILE]\n"
             "                      [--junit FILE] [--json]",
    .help =
        "Judges the time of a recording by the rules of docs/contract.md: gaps and jumps of\n"
        "/clock, stamps of each topic and frame (zero, in the future, old, backward, of another\n"
        "time), transforms, stamps that look made on reception, clocks of hosts, and evidence "
        "that\n"
        "is missing. Then it prints what log times are, and the stamps of each topic. Each "
        "message\n"
        "is read once. 'timebase bag check' checks the file itself.\n\n"
        "  -m, --manifest FILE\n"
        "                     what the deployment declares: thresholds, budgets, evidence topics,\n"
        "                     rules that are off (default: the manifest in the recording)\n"
        "  --definitions DIR  where message definitions are looked for after the recording and\n"
        "                     AMENT_PREFIX_PATH; may be given several times\n"
        "  --fail-on warn|error\n"
        "                     the least severity for exit status 1 (default warn)\n"
        "  --against ORIGINAL\n"
        "                     BAG is the recording of a replay of ORIGINAL: compares the two\n"
        "                     instead. Messages are matched by topic and content. Prints which "
        "are\n"
        "                     missing or extra, the order between topics, and how far the gaps of\n"
        "                     each topic are off; without /clock, /rosout, /parameter_events.\n"
        "                     --html and --junit are then of the replay: a test case for each of\n"
        "                     missing, extra and reordered\n"
        "  --rate F           with --against: the rate it was played at (default: as measured)\n"
        "  --html FILE        write a report too: one page without other files, with the "
        "findings,\n"
        "                     /clock, and time lines, ages and intervals of each topic\n"
        "  --junit FILE       write JUnit XML too: a test case for each rule, which fails where\n"
        "                     --fail-on has it\n"
        "  --json             print JSON\n" PROGRESS_HELP BAG_LIMIT_HELP
        "  -h, --help         this text\n\n"
        "Exit status: 0 nothing was found, 1 findings (with --against: messages are missing,\n"
        "extra, or out of order within their topic), or damage, 2 wrong usage or manifest, 3 a\n"
        "recording cannot be read, or not all of it within the limits.\n",
    .run = run,
};
