#include <string.h>

#include "bag.h"
#include "contract/durations.h"
#include "recording_sample.h"
#include "text.h"

/* --- recordings of different times --- */

/* What is different of their time; false: nothing that is known. */
static bool are_unlike(const recording_sample_t *first, const recording_sample_t *other)
{
  bool is_known = first->provenance.log_time && other->provenance.log_time;
  if (is_known && recording_sample_is_ros(first) != recording_sample_is_ros(other)) return true;
  return first->stamps && other->stamps &&
         recording_sample_fits(first) != recording_sample_fits(other);
}

static void describe(const char *path, const recording_sample_t *sample)
{
  text_err("  %s: log times are %s", path, recording_sample_log_time(sample).text);
  if (!recording_sample_fits(sample))
    text_err("; the time of %s is %s off them", sample->topic,
             tb__duration_text(sample->off_ns).text);
  text_err("\n");
}

void bag_warn_of_unlike(const command_t *command, const tb_bag_limits_t *limits,
                        const char *const *paths, size_t count)
{
  recording_sample_t first, other;
  if (count < 2 || recording_sample_read(paths[0], limits, NULL, &first, NULL)) return;
  for (size_t i = 1; i < count; i++) {
    if (recording_sample_read(paths[i], limits, NULL, &other, NULL)) return;
    if (!are_unlike(&first, &other)) continue;
    flockfile(stderr);
    command_begin_warning(command);
    text_err("recordings of different times are merged by their log times: their messages are not "
             "in the order in which they were made, and stamps of one fit no time of the other\n");
    describe(paths[0], &first);
    describe(paths[i], &other);
    funlockfile(stderr);
    return;
  }
}

/* --- topics of one type with several definitions --- */

static bool differ(const char *a, const char *b)
{
  return *a && *b && strcmp(a, b) != 0;
}

/* What is known of both; definitions as texts only where no hash says whether they are the same. */
static const char *difference(const tb_bag_topic_t *a, const tb_bag_topic_t *b)
{
  if (*a->type_hash && *b->type_hash) return differ(a->type_hash, b->type_hash) ? "hash" : NULL;
  bool is_comparable = strcmp(a->definition_encoding, b->definition_encoding) == 0;
  return is_comparable && differ(a->definition, b->definition) ? "definition" : NULL;
}

/* Bags of ROS 1 are read with a topic for each definition, as which `convert` keeps them. */
static bool is_told_apart(const command_t *command, const tb_bag_topic_t *topic)
{
  return command == &command_bag_convert && strcmp(topic->serialization_format, "ros1") == 0;
}

static int compare(const command_t *command, const tb_bag_info_t *merged, const bool *wanted,
                   const tb_bag_info_t *one)
{
  for (size_t i = 0; i < one->topic_count; i++)
    for (size_t j = 0; j < merged->topic_count; j++) {
      const tb_bag_topic_t *a = &merged->topics[j], *b = &one->topics[i];
      if ((wanted && !wanted[j]) || is_told_apart(command, a)) continue;
      const char *what =
          strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 ? difference(a, b) : NULL;
      if (!what) continue;
      text_err("timebase %s: topic %s: %s has another %s of %s than the recordings before: they "
               "cannot be merged into one topic; leave it out of one with timebase bag filter -x\n",
               command->name, a->name, one->path, what, a->type);
      return EXIT_IO;
    }
  return EXIT_OK;
}

int bag_check_definitions(const command_t *command, const tb_bag_info_t *merged, const bool *wanted,
                          const tb_bag_reader_options_t *options, const char *const *paths,
                          size_t count)
{
  tb_bag_reader_options_t all = *options;
  int result = EXIT_OK;
  all.run = 0;
  for (size_t i = 1; i < count && !result; i++) {
    tb_bag_reader_t *reader = NULL;
    tb_error_t error = TB_ERROR_INIT;
    if (tb_bag_reader_open(paths[i], &all, &reader, &error))
      return bag_refused(command, &paths[i], 1, &error);
    result = compare(command, merged, wanted, tb_bag_reader_info(reader));
    tb_bag_reader_close(reader);
  }
  return result;
}
