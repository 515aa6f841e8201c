#include "play_manifest.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "contract/durations.h"
#include "contract/manifest.h"
#include "contract/name_pattern.h"
#include "manifest.h"
#include "play_topics.h"
#include "recording_sample.h"
#include "text.h"

#define PLAYER "/rosbag2_player"

typedef struct comparison {
  const command_t *command;
  const play_arguments_t *arguments;
  const tb__manifest_t *manifest;
  uint64_t mismatches;
} comparison_t;

static void report(comparison_t *comparison, const char *where, const char *format, ...)
    TB_PRINTF(3, 4);

static void report(comparison_t *comparison, const char *where, const char *format, ...)
{
  char line[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  text_err("timebase %s: %s: %s\n", comparison->command->name, where, line);
  comparison->mismatches++;
}

static bool publishes_clock(const play_arguments_t *arguments)
{
  return arguments->player.clock_hz > 0 || arguments->player.clock_topics_all ||
         arguments->clock_topics.count > 0;
}

/* --- the arguments --- */

static void compare_rate(comparison_t *comparison)
{
  const tb__manifest_clock_t *clock = &comparison->manifest->clock;
  const char *path = comparison->arguments->manifest_path;
  double rate = comparison->arguments->player.rate, hz = comparison->arguments->player.clock_hz;
  bool is_fastest = rate == TB_PLAYER_FASTEST;
  if (clock->factor_max > 0 && is_fastest)
    report(comparison, path, "clock.factor is at most %g, and --rate max has no factor",
           clock->factor_max);
  else if (clock->factor_max > 0 && (rate < clock->factor_min || rate > clock->factor_max))
    report(comparison, path,
           "clock.factor is %g to %g, and --rate is %g: play at a rate within it, or declare that "
           "factor",
           clock->factor_min, clock->factor_max, rate);
  if (clock->rate_hz <= 0 || hz <= 0) return;
  if (tb__manifest_rate_off(comparison->manifest, hz) > comparison->manifest->limits.rate_warn)
    report(comparison, path, "clock.rate is %g, and --clock is %g: write --clock %g",
           clock->rate_hz, hz, clock->rate_hz);
}

static void compare_publisher(comparison_t *comparison)
{
  const char *publisher = comparison->manifest->clock.publisher;
  const words_t *remaps = &comparison->arguments->remaps;
  for (size_t i = 0; i < remaps->count; i++)
    if (strncmp(remaps->items[i], "__", 2) == 0) return; /* the node has another name */
  if (publisher && publishes_clock(comparison->arguments) && !tb__name_matches(publisher, PLAYER))
    report(comparison, comparison->arguments->manifest_path,
           "clock.publisher is %s, and --clock would publish /clock from %s", publisher, PLAYER);
}

static void compare_mode(comparison_t *comparison)
{
  const play_arguments_t *arguments = comparison->arguments;
  if (comparison->manifest->mode == TB__MODE_VEHICLE) {
    report(comparison, arguments->manifest_path,
           "mode is vehicle, whose ROS time is system time: a recording has another; its nodes "
           "need use_sim_time and mode: replay");
    return;
  }
  compare_publisher(comparison);
  compare_rate(comparison);
}

/* --- the recordings --- */

static void compare_recording(comparison_t *comparison, const char *path,
                              const recording_sample_t *sample)
{
  const play_arguments_t *arguments = comparison->arguments;
  if (sample->unfit_type)
    report(comparison, path, "%s%s", sample->unfit,
           sample->unfit_type > 1 ? ", and further types differ" : "");
  if (comparison->manifest->mode == TB__MODE_VEHICLE) return;
  if (publishes_clock(arguments) && !recording_sample_fits(sample))
    report(comparison, path,
           "--clock publishes log times, which are %s; the time of %s is %s off: no node finds a "
           "transform for its messages. %s",
           recording_sample_log_time(sample).text, sample->topic,
           tb__duration_text(sample->off_ns).text,
           sample->has_clock ? "Play the recorded /clock: leave --clock out"
                             : "Record with /clock, or with --use-sim-time");
}

/* Whatever publishes the declared clock: the player, one of the recordings, or another node. */
static void compare_clocks(comparison_t *comparison, bool is_recorded)
{
  const play_arguments_t *arguments = comparison->arguments;
  const char *declared = comparison->manifest->clock.topic;
  const char *topic = declared ? declared : "/clock";
  if (comparison->manifest->mode == TB__MODE_VEHICLE || publishes_clock(arguments) ||
      arguments->use_sim_time || (is_recorded && play_topics_choose(arguments, topic)))
    return;
  report(comparison, arguments->manifest_path,
         "%s is declared, and nothing would publish it: %s; give --clock, or --use-sim-time where "
         "another node publishes it",
         topic, is_recorded ? "the recorded one is not chosen" : "there is none in the recording");
}

static int compare_recordings(comparison_t *comparison)
{
  const play_arguments_t *arguments = comparison->arguments;
  bool is_recorded = false;
  for (size_t i = 0; i < arguments->bags.count; i++) {
    recording_sample_t sample;
    tb_error_t error = TB_ERROR_INIT;
    tb_status_t status = recording_sample_read(arguments->bags.items[i], &arguments->limits,
                                               comparison->manifest, &sample, &error);
    if (status)
      return bag_unreadable(comparison->command, arguments->bags.items[i], status, &error);
    compare_recording(comparison, arguments->bags.items[i], &sample);
    is_recorded = is_recorded || sample.has_declared;
  }
  compare_clocks(comparison, is_recorded);
  return EXIT_OK;
}

int play_manifest_check(const command_t *command, const play_arguments_t *arguments)
{
  tb__manifest_t manifest = {0};
  if (!arguments->manifest_path) return EXIT_OK;
  int result = manifest_load_any(command, arguments->manifest_path, &manifest);
  if (result) return result;
  comparison_t comparison = {command, arguments, &manifest, 0};
  compare_mode(&comparison);
  result = compare_recordings(&comparison);
  tb__manifest_fini(&manifest);
  return !result && comparison.mismatches ? EXIT_CHECK : result;
}
