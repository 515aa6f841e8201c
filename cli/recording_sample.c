#include "recording_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording_feed.h"

#define SURE 0.6 /* of what log times are */

static tb_status_t take_messages(recording_feed_t *feed, tb_bag_reader_t *reader)
{
  tb_bag_message_t message;
  size_t bytes = 0;
  for (uint64_t i = 0; i < RECORDING_SAMPLE_MESSAGES && bytes < RECORDING_SAMPLE_BYTES; i++) {
    tb_status_t status = tb_bag_reader_next(reader, &message, NULL);
    if (status == TB_ERR_END || status == TB_ERR_NO_MEMORY)
      return status == TB_ERR_END ? TB_OK : status;
    if (status) continue;
    bytes += message.size;
    status = recording_feed_message(feed, &message);
    if (status) return status;
  }
  return TB_OK;
}

/* Stamps may be anything. */
static int64_t difference(int64_t a, int64_t b)
{
  int64_t out;
  if (!__builtin_sub_overflow(a, b, &out)) return out;
  return a < b ? INT64_MIN : INT64_MAX;
}

/* Of a stream: how many of its stamps are far from log times or of an age, and how far. */
static uint64_t weigh(const tb__stamps_t *stamps, int64_t *out_off_ns)
{
  uint64_t far = stamps->kinds[TB__STAMP_FAR], aged = stamps->age.moments.count;
  const tb__stamp_excess_t *excess = &stamps->excess[TB__STAMP_FAR];
  if (far > aged)
    *out_off_ns = difference(excess->at_ns, excess->stamp_ns);
  else /* the bins of the quantiles end before a day does */
    *out_off_ns = aged ? stamps->age.moments.min_ns : 0;
  return far > aged ? far : aged;
}

/* By the topic with most stamps. Latched messages are as old as they are. */
static void compare_stamps(const tb__recording_t *recording, recording_sample_t *out)
{
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    const tb__recorded_topic_t *topic = &recording->topics[i];
    for (const tb__recorded_stream_t *stream = topic->first; stream; stream = stream->next) {
      int64_t off_ns;
      uint64_t stamps = weigh(&stream->stamps, &off_ns);
      if (topic->is_latched || stamps <= out->stamps) continue;
      out->stamps = stamps;
      out->off_ns = off_ns;
      snprintf(out->topic, sizeof out->topic, "%s", topic->name);
    }
  }
}

static void compare_ticks(const tb__recording_t *recording, recording_sample_t *out)
{
  out->stamps = recording->tick_off.moments.count;
  out->off_ns = (int64_t)recording->tick_off.moments.mean_ns;
  snprintf(out->topic, sizeof out->topic, "/clock");
}

static const char *without_slash(const char *name)
{
  return name + (*name == '/');
}

static void compare_types(const tb__manifest_t *manifest, const tb_bag_info_t *info,
                          recording_sample_t *out)
{
  const char *clock = manifest->clock.topic ? manifest->clock.topic : "/clock";
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    if (strcmp(without_slash(topic->name), without_slash(clock)) == 0 &&
        strcmp(topic->type, "rosgraph_msgs/msg/Clock") == 0 && topic->message_count > 0)
      out->has_declared = true;
    const char *type = tb__manifest_topic(manifest, topic->name, NULL)->type;
    if (!type || strcmp(type, topic->type) == 0) continue;
    if (out->unfit_type++ == 0)
      snprintf(out->unfit, sizeof out->unfit, "%s is %s, and %s is declared", topic->name,
               topic->type, type);
  }
}

static tb_status_t measure(tb_bag_reader_t *reader, tb__recording_t *recording,
                           recording_sample_t *out)
{
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  recording_feed_t feed = {.recording = recording};
  recording_feed_notes(&feed, info);
  tb_status_t status = recording_feed_topics(&feed, info);
  if (!status) status = take_messages(&feed, reader);
  recording_feed_fini(&feed);
  if (status) return status;
  tb__recording_finish(recording);
  out->provenance = recording->provenance;
  out->has_clock = recording->has_clock;
  if (recording->has_clock)
    compare_ticks(recording, out);
  else
    compare_stamps(recording, out);
  return TB_OK;
}

tb_status_t recording_sample_read(const char *path, const tb_bag_limits_t *limits,
                                  const tb__manifest_t *manifest, recording_sample_t *out,
                                  tb_error_t *error)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH")};
  tb_bag_reader_t *reader = NULL;
  options.limits = *limits;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  options.content = TB_BAG_CONTENT_ANY;
  options.run = 1;
  memset(out, 0, sizeof *out);
  tb_status_t status = tb_bag_reader_open(path, &options, &reader, error);
  if (status) return status;
  tb__recording_t *recording = calloc(1, sizeof *recording);
  status = recording ? tb__recording_init(recording, NULL, &places) : TB_ERR_NO_MEMORY;
  if (!status) status = measure(reader, recording, out);
  if (!status && manifest) compare_types(manifest, tb_bag_reader_info(reader), out);
  if (recording) tb__recording_fini(recording);
  free(recording);
  tb_bag_reader_close(reader);
  return status ? tb_error_set(error, status, "%s: %s", path, tb_status_message(status)) : TB_OK;
}

bool recording_sample_fits(const recording_sample_t *sample)
{
  return sample->stamps == 0 ||
         (sample->off_ns < RECORDING_SAMPLE_NEAR_NS && sample->off_ns > -RECORDING_SAMPLE_NEAR_NS);
}

bool recording_sample_is_ros(const recording_sample_t *sample)
{
  return sample->provenance.log_time == TB__LOG_TIME_ROS && sample->provenance.confidence >= SURE;
}

recording_sample_text_t recording_sample_log_time(const recording_sample_t *sample)
{
  recording_sample_text_t out;
  const tb__provenance_t *provenance = &sample->provenance;
  char how[32] = "declared";
  if (!provenance->is_declared)
    snprintf(how, sizeof how, "inferred, %.0f %%", 100 * provenance->confidence);
  snprintf(out.text, sizeof out.text, "%s (%s: %s)", tb__log_time_text(provenance->log_time), how,
           provenance->why);
  return out;
}
