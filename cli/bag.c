#include "bag.h"
#include "similar.h"
#include "text.h"

#define TOPICS_NAMED 5

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <timebase/bag_check.h>
#include <unistd.h>

static const command_t *const commands[] = {
    &command_bag_info,     &command_bag_cat,        &command_bag_check,   &command_bag_convert,
    &command_bag_cut,      &command_bag_filter,     &command_bag_merge,   &command_bag_sort,
    &command_bag_compress, &command_bag_decompress, &command_bag_recover, &command_bag_reindex,
    &command_bag_list,     &command_bag_get,        &command_bag_add,     &command_bag_du,
#ifdef TB_CLI_PLAY
    &command_bag_play,     &command_bag_record,     &command_bag_burst,
#endif
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

const char *bag_plural(uint64_t count)
{
  return count == 1 ? "" : "s";
}

bool bag_is_out_of_room(const tb_error_t *error)
{
  return error->status == TB_ERR_NO_MEMORY || error->os_errno == ENOMEM ||
         error->os_errno == EMFILE || error->os_errno == ENFILE;
}

void bag_print_hint(const command_t *command, const char *const *paths, size_t count)
{
  const char *path = count == 1 ? paths[0] : "BAG";
  text_err(
      "timebase %s: run 'timebase bag check %s' to see what is wrong, 'timebase bag recover %s "
      "-o OUT' to save what can be read\n",
      command->name, path, path);
}

/* The recording exists and is damaged: a file that metadata.yaml lists may be missing,
 * which the system has reported. */
static bool is_damaged(const tb_error_t *error, const char *const *paths, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (access(paths[i], F_OK) != 0) return false;
  return error->status == TB_ERR_CORRUPT || error->status == TB_ERR_TRUNCATED ||
         (error->status == TB_ERR_NOT_FOUND && error->os_errno == ENOENT);
}

int bag_refused(const command_t *command, const char *const *paths, size_t count,
                const tb_error_t *error)
{
  command_failed(command, error->status, error);
  if (is_damaged(error, paths, count)) bag_print_hint(command, paths, count);
  return EXIT_IO;
}

static int open_run(const command_t *command, const char *const *paths, size_t count,
                    const tb_bag_reader_options_t *options, bool may_be_first,
                    tb_bag_reader_t **out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_reader_options_t one = *options;
  if (one.run == 0) one.run = count == 1;
  tb_status_t status = tb_bag_reader_open_many(paths, count, &one, out, &error);
  if (status == TB_ERR_RANGE && options->run > 0)
    return command_usage_error(command, "--run: %s", error.text);
  if (status) return bag_refused(command, paths, count, &error);
  const tb_bag_info_t *info = tb_bag_reader_info(*out);
  size_t runs = info->run_count;
  if (options->run > 0 || runs == 1) return EXIT_OK;
  if (may_be_first && strcmp(info->storage_id, "rosbag1") == 0) return EXIT_OK;
  tb_bag_reader_close(*out);
  *out = NULL;
  return command_usage_error(command,
                             "%s: time was set back while it was recorded: choose one of its runs "
                             "with --run 1 to %zu ('timebase bag info' lists them)",
                             paths[0], runs);
}

int bag_open_run(const command_t *command, const char *const *paths, size_t count,
                 const tb_bag_reader_options_t *options, tb_bag_reader_t **out)
{
  return open_run(command, paths, count, options, false, out);
}

int bag_open_first_run(const command_t *command, const char *const *paths, size_t count,
                       const tb_bag_reader_options_t *options, tb_bag_reader_t **out)
{
  return open_run(command, paths, count, options, true, out);
}

static size_t distance_of(const tb_bag_info_t *info, size_t topic, const char *name)
{
  return similar_distance(name + (*name == '/'),
                          info->topics[topic].name + (info->topics[topic].name[0] == '/'));
}

static void print_no_topic(const char *option, const tb_bag_info_t *info, const char *name)
{
  size_t nearest[TOPICS_NAMED], count = 0;
  bool has_all = info->topic_count <= TOPICS_NAMED;
  for (size_t i = 0; i < info->topic_count; i++) {
    size_t at = count < TOPICS_NAMED ? count++ : TOPICS_NAMED;
    for (; !has_all && at > 0 &&
           distance_of(info, i, name) < distance_of(info, nearest[at - 1], name);
         at--)
      if (at < TOPICS_NAMED) nearest[at] = nearest[at - 1];
    if (at < TOPICS_NAMED) nearest[at] = i;
  }
  text_err("%s: %s has no topic %s; ", option, info->path, name);
  if (count < info->topic_count)
    text_err("nearest of its %zu:", info->topic_count);
  else
    text_err("it has%s", count ? "" : " none");
  for (size_t i = 0; i < count; i++)
    text_err("%s %s", i ? "," : "", info->topics[nearest[i]].name);
  text_err("\n");
}

void bag_no_topic(const command_t *command, const char *option, const tb_bag_info_t *info,
                  const char *name)
{
  text_err("timebase %s: ", command->name);
  print_no_topic(option, info, name);
  command_print_usage(command);
}

void bag_warn_no_topic(const command_t *command, const char *option, const tb_bag_info_t *info,
                       const char *name)
{
  flockfile(stderr);
  command_begin_warning(command);
  print_no_topic(option, info, name);
  funlockfile(stderr);
}

int bag_unreadable(const command_t *command, const char *path, tb_status_t status,
                   const tb_error_t *error)
{
  command_failed(command, status, error);
  if (status == TB_ERR_CORRUPT || status == TB_ERR_TRUNCATED || status == TB_ERR_UNSUPPORTED)
    text_err("timebase %s: %s: nothing could be read; is it a recording?\n", command->name, path);
  return EXIT_IO;
}

static int run(const command_t *command, int argc, char **argv)
{
  return command_run_one_of(
      command, commands, COMMAND_COUNT,
      "Inspects, checks and rewrites recordings of rosbag2 and bags of ROS 1.", argc, argv);
}

const command_t command_bag = {
    .name = "bag",
    .summary = "inspect, print, check, convert, cut, filter, merge and recover recordings",
    .usage = "timebase bag "
             "info|cat|check|convert|cut|filter|merge|sort|compress|decompress|recover|reindex|"
             "list|get|add|du|"
             "play|record|burst "
             "...",
    .help =
        "See 'timebase bag COMMAND --help' for details. A recording is a folder, with or without\n"
        "metadata.yaml, or one of its files (.db3, .mcap, .zstd;\n"
        "of ROS 1 .bag, also as .bag.active).\n",
    .run = run,
};
