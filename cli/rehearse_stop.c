/* A pause, and inputs that are withheld: the safety output has to trip in steady time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/name_pattern.h"
#include "rehearse.h"

#define SLACK_NS (500 * TB_NS_PER_MS)
#define RESET_NS (2 * TB_NS_PER_S) /* in which the output is good again, at least */

/* Opens it once its publisher and its definition are known. */
static bool has_safety(rehearse_t *rehearse)
{
  rehearse_safety_t *safety = &rehearse->safety;
  if (!safety->declared->topic) return false;
  if (safety->subscription || safety->why[0]) return safety->subscription;
  const char *name = safety->declared->topic;
  const tb_ros2_graph_endpoint_t *publisher = rehearse_stack_publisher(rehearse, name);
  if (!publisher) {
    snprintf(safety->why, sizeof safety->why, "the stack does not publish it");
    return false;
  }
  for (observe_topic_t *topic = rehearse->observe.topics; topic; topic = topic->next) {
    if (strcmp(topic->name, name) != 0) continue;
    pthread_mutex_lock(&topic->lock);
    const tb__known_definition_t *known = topic->known;
    pthread_mutex_unlock(&topic->lock);
    if (known)
      rehearse_safety_open(safety, rehearse->observe.context, publisher, known);
    else
      snprintf(safety->why, sizeof safety->why,
               "the definition of its type is unknown; name its folder with --definitions");
  }
  if (!safety->subscription && !safety->why[0])
    snprintf(safety->why, sizeof safety->why, "it is not observed: there are too many topics");
  return safety->subscription;
}

/* A stack may have none; one that is declared and cannot be observed, or inputs that are declared
 * to be withheld without any, prove nothing. */
static void note_no_safety(rehearse_t *rehearse, tb__rehearsal_step_t step)
{
  const rehearse_safety_t *safety = &rehearse->safety;
  bool is_needed = rehearse->manifest.rehearsal.withhold.count > 0;
  if (safety->declared->topic)
    tb__rehearsal_note(&rehearse->result, step, TB__PROOF_NONE, "%s: %s", safety->declared->topic,
                       safety->why);
  else
    tb__rehearsal_note(&rehearse->result, step, is_needed ? TB__PROOF_NONE : TB__PROOF_NEEDLESS,
                       "the stack declares no safety output; if it has one, write "
                       "rehearsal.safety with topic, field, trips and within");
}

/* How long the stack has to become good again. */
static int64_t reset_limit(const rehearse_t *rehearse)
{
  const tb__manifest_rehearsal_t *declared = &rehearse->manifest.rehearsal;
  int64_t limit_ns = declared->resume_ns > RESET_NS ? declared->resume_ns : RESET_NS;
  return limit_ns + declared->safety.within_ns;
}

static bool is_good(rehearse_t *rehearse)
{
  tb__trip_t trip = rehearse_safety_state(&rehearse->safety);
  return trip.messages && !trip.is_tripped;
}

/* Until the output is good, or should be. False: it cannot go on. */
static bool await_reset(rehearse_t *rehearse)
{
  int64_t end_ns = rehearse_now(rehearse) + reset_limit(rehearse);
  while (!is_good(rehearse) && rehearse_now(rehearse) < end_ns)
    if (!rehearse_turn(rehearse)) return false;
  return true;
}

/* The same, and where it stays tripped, as many do until somebody resets them, with the stack
 * started again. */
static bool make_good(rehearse_t *rehearse)
{
  if (!await_reset(rehearse)) return false;
  if (is_good(rehearse)) return true;
  rehearse_report(rehearse, "%s stays tripped; the stack is started again",
                  rehearse->safety.declared->topic);
  return rehearse_restart(rehearse) && await_reset(rehearse);
}

/* Whether playing goes on for long enough that no jump intervenes. */
static bool has_room(rehearse_t *rehearse)
{
  tb_player_status_t status;
  int64_t needed_ns = rehearse->safety.declared->within_ns + reset_limit(rehearse) + SLACK_NS;
  tb_player_status(rehearse->player.player, &status);
  return status.end_ns - status.position_ns >= needed_ns;
}

/* The output is good, and there is enough to play; else from the start. False: it cannot go on. */
static bool prepare(rehearse_t *rehearse)
{
  tb_player_status_t status;
  if (!make_good(rehearse)) return false;
  if (has_room(rehearse)) return true;
  tb_player_status(rehearse->player.player, &status);
  (void)tb_player_seek(rehearse->player.player, status.start_ns, NULL);
  /* Where the stack takes the jump for a loss, it does so before it is judged. */
  return rehearse_wait_until(rehearse, rehearse_now(rehearse) + SLACK_NS) && make_good(rehearse);
}

/* Until it has tripped, or should have. False: it cannot go on. */
static bool follow(rehearse_t *rehearse, tb__rehearsal_step_t step, const char *cause,
                   tb__trip_t before, int64_t begin_ns)
{
  const tb__manifest_safety_t *declared = rehearse->safety.declared;
  tb__trip_facts_t facts = {.topic = declared->topic,
                            .cause = cause,
                            .messages = before.messages,
                            .is_known = before.messages > 0,
                            .was_tripped = before.is_tripped,
                            .within_ns = declared->within_ns};
  int64_t end_ns = begin_ns + declared->within_ns + SLACK_NS;
  while (facts.is_known && !facts.was_tripped && !facts.has_tripped &&
         rehearse_now(rehearse) < end_ns) {
    if (!rehearse_turn(rehearse)) return false;
    tb__trip_t trip = rehearse_safety_state(&rehearse->safety);
    facts.has_tripped = trip.is_tripped;
    facts.after_ns = trip.since_ns > begin_ns ? trip.since_ns - begin_ns : 0;
  }
  tb__rehearsal_judge_trip(&rehearse->result, step, &facts);
  return true;
}

bool rehearse_pause(rehearse_t *rehearse)
{
  if (!has_safety(rehearse)) {
    note_no_safety(rehearse, TB__STEP_PAUSE);
    return true;
  }
  if (!prepare(rehearse)) return false;
  tb__trip_t before = rehearse_safety_state(&rehearse->safety);
  tb_player_pause(rehearse->player.player);
  bool goes_on =
      follow(rehearse, TB__STEP_PAUSE, "time was paused", before, rehearse_now(rehearse));
  tb_player_resume(rehearse->player.player);
  return goes_on;
}

/* --- withheld inputs --- */

/* `topic` is as recorded. */
static bool withhold(rehearse_t *rehearse, const char *topic)
{
  char cause[300];
  snprintf(cause, sizeof cause, "%s was withheld", rehearse_full_name(topic).text);
  if (!prepare(rehearse)) return false;
  tb__trip_t before = rehearse_safety_state(&rehearse->safety);
  rehearse_player_withhold(&rehearse->player, topic);
  bool goes_on = follow(rehearse, TB__STEP_WITHHOLD, cause, before, rehearse_now(rehearse));
  rehearse_player_withhold(&rehearse->player, NULL);
  return goes_on;
}

bool rehearse_withhold(rehearse_t *rehearse)
{
  const tb__manifest_names_t *declared = &rehearse->manifest.rehearsal.withhold;
  if (!has_safety(rehearse)) {
    note_no_safety(rehearse, TB__STEP_WITHHOLD);
    return true;
  }
  if (!declared->count)
    tb__rehearsal_note(&rehearse->result, TB__STEP_WITHHOLD, TB__PROOF_NONE,
                       "no input is declared to be withheld: write rehearsal.withhold: [/TOPIC]");
  for (size_t i = 0; i < declared->count; i++) {
    bool is_played = false;
    for (size_t k = 0; k < rehearse->player.outlet_count; k++) {
      const char *topic = rehearse->player.outlets[k].name;
      if (!tb__name_matches(declared->items[i], rehearse_full_name(topic).text)) continue;
      is_played = true;
      if (!withhold(rehearse, topic)) return false;
    }
    if (!is_played)
      tb__rehearsal_note(&rehearse->result, TB__STEP_WITHHOLD, TB__PROOF_NONE,
                         "%s: it is not played; the recording has to have it, and the stack to "
                         "subscribe to it",
                         declared->items[i]);
  }
  return true;
}
