/* A seek back, and what the outputs of the stack do after it. */
#include <stdlib.h>
#include <string.h>

#include "contract/name_pattern.h"
#include "rehearse.h"

#define FLIGHT_NS  (100 * TB_NS_PER_MS) /* messages of the old time may be on their way so long */
#define JUMP_NS    (5 * TB_NS_PER_S)    /* in which the seek is carried out */
#define DEFAULT_NS (2 * TB_NS_PER_S)    /* without a limit */
#define AFTER_NS   (500 * TB_NS_PER_MS) /* after the limit: what comes late is seen */

/* An output, with its counts when the jump was seen and a moment later. */
typedef struct output {
  observe_topic_t *topic;
  uint64_t at_jump[TB__STAMP_KIND_COUNT], after_flight[TB__STAMP_KIND_COUNT];
  int64_t first_good_ns; /* steady; 0: none so far */
} output_t;

typedef struct outputs {
  output_t *items;
  size_t count;
} outputs_t;

/* Returns when the last stamped message came. */
static int64_t count_kinds(observe_topic_t *topic, uint64_t out[TB__STAMP_KIND_COUNT])
{
  int64_t last_ns = 0;
  memset(out, 0, TB__STAMP_KIND_COUNT * sizeof *out);
  pthread_mutex_lock(&topic->lock);
  for (const observe_stream_t *stream = topic->streams; stream; stream = stream->next) {
    const tb__stamps_t *stamps = &stream->is.stamps;
    for (int kind = 0; kind < TB__STAMP_KIND_COUNT; kind++)
      out[kind] += stamps->kinds[kind];
    if (stamps->last_stamped_arrival_ns > last_ns) last_ns = stamps->last_stamped_arrival_ns;
  }
  pthread_mutex_unlock(&topic->lock);
  return last_ns;
}

/* The longest time that a message of the topic takes to come, as it came in the run. */
static int64_t period_of(observe_topic_t *topic)
{
  int64_t period_ns = INT64_MAX;
  pthread_mutex_lock(&topic->lock);
  for (const observe_stream_t *stream = topic->streams; stream; stream = stream->next) {
    double rate = tb__stamps_rate(&stream->is.stamps);
    if (rate > 0 && 1e9 / rate < (double)period_ns) period_ns = (int64_t)(1e9 / rate);
  }
  pthread_mutex_unlock(&topic->lock);
  return period_ns;
}

/* Localization stamps transforms ahead of time, which is of the new time all the same. */
static uint64_t good_of(const uint64_t kinds[TB__STAMP_KIND_COUNT])
{
  return kinds[TB__STAMP_GOOD] + kinds[TB__STAMP_FUTURE];
}

static bool is_declared(const tb__manifest_names_t *names, const char *topic)
{
  for (size_t i = 0; i < names->count; i++)
    if (tb__name_matches(names->items[i], topic)) return true;
  return false;
}

/* Those that are declared; else those that had good stamps and come often enough to be judged. */
static bool is_output(rehearse_t *rehearse, observe_topic_t *topic)
{
  const tb__manifest_rehearsal_t *declared = &rehearse->manifest.rehearsal;
  const tb_ros2_graph_endpoint_t *publisher = rehearse_stack_publisher(rehearse, topic->name);
  uint64_t kinds[TB__STAMP_KIND_COUNT];
  int64_t limit_ns = declared->resume_ns ? declared->resume_ns : DEFAULT_NS;
  count_kinds(topic, kinds);
  bool is_named = is_declared(&declared->outputs, topic->name);
  if (is_named && publisher && !good_of(kinds))
    tb__rehearsal_note(&rehearse->result, TB__STEP_SEEK, TB__PROOF_NONE,
                       "%s: no message with a good stamp came in the run", topic->name);
  if (!publisher || !good_of(kinds)) return false;
  if (declared->outputs.count) return is_named;
  return publisher->qos.durability != TB_QOS_TRANSIENT_LOCAL && period_of(topic) <= limit_ns / 2;
}

/* What is declared and does not come is not proven. */
static void note_missing(rehearse_t *rehearse)
{
  const tb__manifest_names_t *declared = &rehearse->manifest.rehearsal.outputs;
  for (size_t i = 0; i < declared->count; i++) {
    const observe_topic_t *topic = rehearse->observe.topics;
    while (topic && (!tb__name_matches(declared->items[i], topic->name) ||
                     !rehearse_stack_publisher(rehearse, topic->name)))
      topic = topic->next;
    if (!topic)
      tb__rehearsal_note(&rehearse->result, TB__STEP_SEEK, TB__PROOF_NONE,
                         "rehearsal.outputs: %s: the stack does not publish it",
                         declared->items[i]);
  }
}

static bool choose_outputs(rehearse_t *rehearse, outputs_t *out)
{
  note_missing(rehearse);
  out->items = calloc(rehearse->observe.topic_count + 1, sizeof *out->items);
  if (!out->items) return false;
  for (observe_topic_t *topic = rehearse->observe.topics; topic; topic = topic->next)
    if (is_output(rehearse, topic)) out->items[out->count++].topic = topic;
  return true;
}

static void note_counts(outputs_t *outputs, bool is_at_jump)
{
  for (size_t i = 0; i < outputs->count; i++)
    count_kinds(outputs->items[i].topic,
                is_at_jump ? outputs->items[i].at_jump : outputs->items[i].after_flight);
}

static void look_for_good(outputs_t *outputs)
{
  for (size_t i = 0; i < outputs->count; i++) {
    output_t *output = &outputs->items[i];
    uint64_t kinds[TB__STAMP_KIND_COUNT];
    int64_t last_ns = count_kinds(output->topic, kinds);
    if (!output->first_good_ns && good_of(kinds) > good_of(output->at_jump))
      output->first_good_ns = last_ns;
  }
}

static uint32_t epoch_of(rehearse_t *rehearse)
{
  return observe_now(&rehearse->observe, 0).epoch.number;
}

/* Until /clock has jumped back here. 0: it has not. */
static int64_t await_jump(rehearse_t *rehearse, uint32_t epoch)
{
  int64_t end_ns = rehearse_now(rehearse) + JUMP_NS;
  while (epoch_of(rehearse) == epoch)
    if (rehearse_now(rehearse) >= end_ns || !rehearse_turn(rehearse)) return 0;
  return rehearse_now(rehearse);
}

static void judge_outputs(rehearse_t *rehearse, const outputs_t *outputs, int64_t jump_ns)
{
  for (size_t i = 0; i < outputs->count; i++) {
    const output_t *output = &outputs->items[i];
    uint64_t now[TB__STAMP_KIND_COUNT];
    count_kinds(output->topic, now);
    const uint64_t *from = output->at_jump, *later = output->after_flight;
    tb__resume_facts_t facts = {
        .topic = output->topic->name,
        .good = good_of(now) - good_of(from),
        .in_flight = later[TB__STAMP_STALE_EPOCH] - from[TB__STAMP_STALE_EPOCH],
        .stale = now[TB__STAMP_STALE_EPOCH] - later[TB__STAMP_STALE_EPOCH],
        .after_ns = output->first_good_ns - jump_ns,
        .limit_ns = rehearse->manifest.rehearsal.resume_ns,
    };
    static const tb__stamp_kind_t wrong[] = {TB__STAMP_ZERO, TB__STAMP_SYSTEM, TB__STAMP_FAR};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
      facts.wrong += now[wrong[k]] - from[wrong[k]];
    tb__rehearsal_judge_resume(&rehearse->result, &facts);
  }
  if (!rehearse->result.steps[TB__STEP_SEEK].count)
    tb__rehearsal_note(&rehearse->result, TB__STEP_SEEK, TB__PROOF_NONE,
                       "the stack has no output with stamps that comes often enough; name some in "
                       "rehearsal.outputs");
}

static bool follow(rehearse_t *rehearse, outputs_t *outputs)
{
  int64_t limit_ns = rehearse->manifest.rehearsal.resume_ns;
  tb_player_status_t status;
  tb_error_t error = TB_ERROR_INIT;
  uint32_t epoch = epoch_of(rehearse);
  tb_player_status(rehearse->player.player, &status);
  if (tb_player_seek(rehearse->player.player, status.start_ns, &error)) {
    tb__rehearsal_note(&rehearse->result, TB__STEP_SEEK, TB__PROOF_NONE, "no seek: %s", error.text);
    return true;
  }
  int64_t jump_ns = await_jump(rehearse, epoch);
  if (!jump_ns) {
    if (!rehearse->why[0])
      tb__rehearsal_note(
          &rehearse->result, TB__STEP_SEEK, TB__PROOF_NONE,
          "/clock did not jump back by more than a step; play more of the recording");
    return !rehearse->why[0];
  }
  note_counts(outputs, true);
  int64_t end_ns = jump_ns + (limit_ns ? limit_ns : DEFAULT_NS) + AFTER_NS;
  for (bool has_flown = false; rehearse_now(rehearse) < end_ns;) {
    if (!rehearse_turn(rehearse)) return false;
    look_for_good(outputs);
    if (has_flown || rehearse_now(rehearse) - jump_ns < FLIGHT_NS) continue;
    note_counts(outputs, false);
    has_flown = true;
  }
  judge_outputs(rehearse, outputs, jump_ns);
  return true;
}

bool rehearse_seek_back(rehearse_t *rehearse)
{
  outputs_t outputs = {0};
  bool goes_on = choose_outputs(rehearse, &outputs) && follow(rehearse, &outputs);
  free(outputs.items);
  return goes_on;
}
