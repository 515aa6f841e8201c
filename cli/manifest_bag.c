#include "manifest_bag.h"

#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "recording_feed.h"
#include "text.h"

/* What cannot be read is left out. */
static tb_status_t take_messages(recording_feed_t *feed, tb_bag_reader_t *reader)
{
  tb_bag_message_t message;
  for (;;) {
    tb_status_t status = tb_bag_reader_next(reader, &message, NULL);
    if (status == TB_ERR_END) return TB_OK;
    if (status == TB_ERR_NO_MEMORY) return status;
    if (status) continue;
    progress_at(message.log_time_ns);
    status = recording_feed_message(feed, &message);
    if (status) return status;
  }
}

static int read_runs(const command_t *command, const char *path, recording_feed_t *feed)
{
  size_t runs = 1;
  for (size_t run = 1; run <= runs; run++) {
    tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
    tb_bag_reader_t *reader = NULL;
    tb_error_t error = TB_ERROR_INIT;
    options.damage = TB_BAG_DAMAGE_SALVAGE;
    options.content = TB_BAG_CONTENT_ANY;
    options.run = run;
    tb_status_t status = tb_bag_reader_open(path, &options, &reader, &error);
    if (status) return bag_unreadable(command, path, status, &error);
    const tb_bag_info_t *info = tb_bag_reader_info(reader);
    runs = info->run_count;
    if (run == 1) recording_feed_notes(feed, info);
    if (run > 1) tb__recording_begin_run(feed->recording);
    status = recording_feed_topics(feed, info);
    progress_span(info->runs[run - 1].start_ns, info->runs[run - 1].end_ns, run - 1, runs);
    if (!status) status = take_messages(feed, reader);
    tb_bag_reader_close(reader);
    if (status) return command_failed(command, status, NULL);
  }
  return EXIT_OK;
}

/* --- what looks wrong --- */

/* Findings of what is missing are no marks: the draft names what must be there. */
static bool is_mark(const tb__finding_t *finding)
{
  return finding->severity > TB__SEVERITY_NOTE && finding->id != TB__RULE_MISSING_EVIDENCE;
}

static char *mark_text(const tb__finding_t *finding, const tb__finding_subject_t *subject)
{
  char text[TB__FINDING_LINE_SIZE + 64];
  snprintf(text, sizeof text, "%s: %s", finding->rule->id,
           subject->evidence_count ? subject->evidence[0] : finding->rule->one);
  return strdup(text);
}

/* The first finding of each topic; of /clock in the place after the last. */
static bool add_mark(manifest_bag_t *bag, const tb__finding_t *finding,
                     const tb__finding_subject_t *subject)
{
  size_t at = SIZE_MAX;
  if (subject->kind == TB__SUBJECT_CLOCK) at = bag->facts.topic_count;
  for (size_t i = 0; subject->kind == TB__SUBJECT_TOPIC && i < bag->facts.topic_count; i++)
    if (strcmp(bag->topics[i].name, subject->name) == 0) at = i;
  if (at == SIZE_MAX || bag->marks[at]) return true;
  bag->marks[at] = mark_text(finding, subject);
  if (!bag->marks[at]) return false;
  if (at < bag->facts.topic_count)
    bag->topics[at].mark = bag->marks[at];
  else
    bag->facts.clock_mark = bag->marks[at];
  return true;
}

static tb_status_t add_marks(manifest_bag_t *bag)
{
  bag->findings = tb__findings_create();
  bag->mark_count = bag->facts.topic_count + 1;
  bag->marks = calloc(bag->mark_count, sizeof *bag->marks);
  if (!bag->findings || !bag->marks) return TB_ERR_NO_MEMORY;
  tb_status_t status = tb__recording_judge(&bag->recording, bag->findings);
  if (!status) status = tb__findings_finish(bag->findings);
  for (size_t i = 0; !status && i < tb__findings_count(bag->findings); i++) {
    const tb__finding_t *finding = tb__findings_at(bag->findings, i);
    for (size_t j = 0; is_mark(finding) && j < finding->subject_count; j++)
      if (!add_mark(bag, finding, &finding->subjects[j])) status = TB_ERR_NO_MEMORY;
  }
  return status;
}

/* --- facts --- */

/* In ROS time, as it is judged; 0: not known. */
static double rate_of(const tb__recording_t *recording, const tb__recorded_topic_t *topic)
{
  double seconds = (double)(topic->last_ns - topic->first_ns) / (double)TB_NS_PER_S *
                   tb__recording_ros_by_log_time(recording);
  return topic->messages < 3 || seconds <= 0 ? 0 : (double)(topic->messages - 1) / seconds;
}

static bool is_wanted(const tb__recorded_topic_t *topic)
{
  return topic->role != TB__RECORDED_CLOCK && topic->role != TB__RECORDED_OWN &&
         strcmp(topic->name, "/rosout") != 0 && strcmp(topic->name, "/parameter_events") != 0;
}

static int compare(const void *left, const void *right)
{
  return strcmp(((const tb__draft_topic_t *)left)->name, ((const tb__draft_topic_t *)right)->name);
}

static tb_status_t fill(manifest_bag_t *bag, const char *path)
{
  const tb__recording_t *recording = &bag->recording;
  size_t size = strlen(path) + 32;
  bool is_steady = false;
  const tb__ticks_t *ticks = tb__recording_ticks(recording, &is_steady);
  bag->source = malloc(size);
  bag->topics = calloc(recording->topic_count + 1, sizeof *bag->topics);
  if (!bag->source || !bag->topics) return TB_ERR_NO_MEMORY;
  snprintf(bag->source, size, "the recording %s", path);
  bag->facts = (tb__draft_facts_t){.source = bag->source,
                                   .is_recording = true,
                                   .has_clock = recording->has_clock,
                                   .topics = bag->topics};
  if (recording->has_clock && is_steady) {
    bag->facts.clock_rate_hz = tb__tick_stream_rate(&ticks->all);
    bag->facts.clock_factor = tb__tick_stream_factor(&ticks->all);
  }
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    const tb__recorded_topic_t *topic = &recording->topics[i];
    if (!is_wanted(topic)) continue;
    bag->topics[bag->facts.topic_count++] = (tb__draft_topic_t){
        .name = topic->name,
        .type = topic->type,
        .rate_hz = topic->is_latched ? 0 : rate_of(recording, topic),
    };
  }
  qsort(bag->topics, bag->facts.topic_count, sizeof *bag->topics, compare);
  return add_marks(bag);
}

int manifest_bag_open(const command_t *command, const char *path, manifest_bag_t *out)
{
  tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH")};
  recording_feed_t feed = {.recording = &out->recording};
  *out = (manifest_bag_t){0};
  tb_status_t status = tb__recording_init(&out->recording, NULL, &places);
  if (status) return command_failed(command, status, NULL);
  int result = read_runs(command, path, &feed);
  recording_feed_fini(&feed);
  if (result) return result;
  tb__recording_finish(&out->recording);
  status = fill(out, path);
  return status ? command_failed(command, status, NULL) : EXIT_OK;
}

void manifest_bag_close(manifest_bag_t *bag)
{
  for (size_t i = 0; bag->marks && i < bag->mark_count; i++)
    free(bag->marks[i]);
  free(bag->marks);
  free(bag->topics);
  free(bag->source);
  tb__findings_destroy(bag->findings);
  tb__recording_fini(&bag->recording);
  *bag = (manifest_bag_t){0};
}
