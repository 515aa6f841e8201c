#include "contract/tf_findings.h"

#include <inttypes.h>
#include <stdio.h>

#include "contract/durations.h"

/* So few messages that waited for a transform are no fault of it. */
#define LATE_AT_LEAST 3

#define SUBJECT_SIZE (2 * TB__FRAME_TEXT_MAX + 8)

typedef struct judged {
  const tb__tf_judge_t *judge;
  const tb__tf_edge_t *edge;
  char subject[SUBJECT_SIZE];
  char evidence[TB__FINDING_LINE_SIZE];
} judged_t;

/* NULL: not known. */
static const char *node_of(const judged_t *judged, uint64_t publisher)
{
  const tb__tf_judge_t *judge = judged->judge;
  return publisher && judge->publisher ? judge->publisher(judge->user, publisher) : NULL;
}

static const char *node_text(const judged_t *judged, uint64_t publisher)
{
  const char *node = node_of(judged, publisher);
  return node ? node : "a program without a node";
}

static tb_status_t add(judged_t *judged, tb__rule_id_t rule, const char *cause)
{
  tb__finding_input_t input = {
      .rule = rule, .kind = TB__SUBJECT_FRAME, .subject = judged->subject, .cause = cause};
  return judged->judge->add(judged->judge->user, &input, judged->evidence);
}

/* Its evidence: what differs between the two. */
static tb_status_t add_shared(judged_t *judged)
{
  const tb__tf_cover_t *cover = judged->judge->cover;
  const tb__tf_edge_t *edge = judged->edge;
  char *out = judged->evidence;
  bool has_two = edge->publishers[0] && edge->publishers[1];
  if (edge->is_both && edge->static_publisher && edge->publishers[0])
    snprintf(out, TB__FINDING_LINE_SIZE, "%s sends it as a static transform, and %s with time",
             node_text(judged, edge->static_publisher), node_text(judged, edge->publishers[0]));
  else if (edge->is_both)
    snprintf(out, TB__FINDING_LINE_SIZE, "it is sent as a static transform, and with time");
  else if (edge->handovers && has_two && edge->parent_changes)
    snprintf(out, TB__FINDING_LINE_SIZE,
             "%s and %s send it by turns, %" PRIu64 " times, with the parents '%s' and '%s'",
             node_text(judged, edge->publishers[0]), node_text(judged, edge->publishers[1]),
             edge->handovers, tb__tf_cover_name(cover, edge->parent),
             tb__tf_cover_name(cover, edge->other_parent));
  else if (edge->handovers && has_two)
    snprintf(out, TB__FINDING_LINE_SIZE, "%s and %s send it by turns, %" PRIu64 " times",
             node_text(judged, edge->publishers[0]), node_text(judged, edge->publishers[1]),
             edge->handovers);
  else
    snprintf(out, TB__FINDING_LINE_SIZE,
             "its parent changes between '%s' and '%s', %" PRIu64 " times",
             tb__tf_cover_name(cover, edge->parent), tb__tf_cover_name(cover, edge->other_parent),
             edge->parent_changes);
  return add(judged, TB__RULE_TF_TWO_PUBLISHERS, NULL);
}

static tb_status_t add_late(judged_t *judged)
{
  const tb__tf_judge_t *judge = judged->judge;
  const tb__tf_edge_t *edge = judged->edge;
  uint64_t late = edge->late + edge->never;
  int64_t most_ns = edge->wait ? tb__spread_quantile(edge->wait, 0.99) : 0;
  if (late < LATE_AT_LEAST || most_ns <= judge->late_ns) return TB_OK;
  snprintf(judged->evidence, sizeof judged->evidence,
           "%" PRIu64 " messages waited for it, %" PRIu64 " of them in vain; up to %s (99 %%), the "
           "longest on %s",
           late, edge->never, tb__duration_text(most_ns).text,
           judge->topic(judge->user, edge->late_topic));
  return add(judged, TB__RULE_TF_LATE, node_of(judged, edge->publishers[0]));
}

static tb_status_t add_old(judged_t *judged)
{
  const tb__tf_edge_t *edge = judged->edge;
  if (!edge->old_epoch) return TB_OK;
  snprintf(judged->evidence, sizeof judged->evidence,
           "%" PRIu64 " stamps, the first at %s (stamp %s)", edge->old_epoch,
           tb__moment_text(edge->old_at_ns).text, tb__moment_text(edge->old_stamp_ns).text);
  return add(judged, TB__RULE_TF_OLD_EPOCH, node_of(judged, edge->old_publisher));
}

tb_status_t tb__tf_cover_judge(const tb__tf_judge_t *judge)
{
  const tb__tf_cover_t *cover = judge->cover;
  tb_status_t status = TB_OK;
  for (uint32_t i = 0; i < cover->name_count; i++) {
    judged_t judged = {.judge = judge, .edge = tb__tf_cover_edge(cover, i)};
    if (!judged.edge) continue;
    snprintf(judged.subject, sizeof judged.subject, "%s -> %s",
             tb__tf_cover_name(cover, judged.edge->parent), tb__tf_cover_name(cover, i));
    tb_status_t old = add_old(&judged);
    tb_status_t added =
        tb__tf_edge_is_shared(judged.edge) ? add_shared(&judged) : add_late(&judged);
    if (!status) status = old ? old : added;
  }
  return status;
}
