#include "observe_rows.h"

#include <string.h>

#include "contract/limits.h"

/* Between the last messages of two outputs, so that a slow topic's rate is steady too; none once it
 * has stalled. */
static double rate_of_locked(observe_stream_t *stream, const observe_view_t *view)
{
  const tb__stamps_t *stamps = &stream->is.stamps;
  tb__contract_limits_t limits = tb__contract_limits_default();
  int64_t silent_ns = view->steady_ns - stamps->last_arrival_ns;
  int64_t took_ns = stamps->last_arrival_ns - stream->shown_last_ns;
  if (view->is_summary) return tb__stamps_rate(stamps);
  if (stream->shown_arrivals == 0)
    stream->shown_hz = tb__stamps_rate(stamps);
  else if (stamps->arrivals > stream->shown_arrivals && took_ns > 0)
    stream->shown_hz = (double)(stamps->arrivals - stream->shown_arrivals) * 1e9 / (double)took_ns;
  double period_ns = stream->shown_hz > 0 ? 1e9 / stream->shown_hz : 0;
  stream->shown_arrivals = stamps->arrivals;
  stream->shown_last_ns = stamps->last_arrival_ns;
  return silent_ns > tb__contract_stall_ns(&limits, (int64_t)period_ns) ? 0 : stream->shown_hz;
}

void observe_each_row(observe_topic_t *topic, const observe_view_t *view, observe_row_fn_t show,
                      void *user)
{
  static observe_row_t row; /* large */
  pthread_mutex_lock(&topic->lock);
  observe_stream_t *stream = topic->streams; /* only this thread takes any away */
  pthread_mutex_unlock(&topic->lock);
  while (stream) {
    pthread_mutex_lock(&topic->lock);
    row = (observe_row_t){.topic = topic, .stream = stream, .node = stream->node, .is = stream->is};
    row.rate_hz = rate_of_locked(stream, view);
    memcpy(row.guid, stream->guid, sizeof row.guid);
    observe_stream_t *next = stream->next;
    pthread_mutex_unlock(&topic->lock);
    show(&row, user);
    stream = next;
  }
}

const observe_stamp_word_t observe_stamp_words[OBSERVE_STAMP_WORDS] = {
    {TB__STAMP_ZERO, "zero", "zero"},
    {TB__STAMP_INVALID, "invalid", "invalid"},
    {TB__STAMP_FUTURE, "future", "future"},
    {TB__STAMP_SYSTEM, "system time", "system_time"},
    {TB__STAMP_FAR, "far off", "far_off"},
    {TB__STAMP_STALE_EPOCH, "before the jump", "stale_epoch"},
    {TB__STAMP_OLD, "old", "old"},
};

const char *observe_definition_text(const observe_topic_t *topic)
{
  if (!topic->entry) return "definition unknown";
  const tb__known_definition_t *known = tb__definition_entry_known(topic->entry);
  if (tb__definition_entry_state(topic->entry) == TB__DEFINITION_IS_AWAITED) return "asking a node";
  return known ? tb__definition_origin_text(known->origin) : "definition unknown";
}

static const tb__known_definition_t *known_of(const observe_topic_t *topic)
{
  return topic->entry ? tb__definition_entry_known(topic->entry) : NULL;
}

bool observe_is_defined(const observe_topic_t *topic)
{
  return known_of(topic);
}

bool observe_has_header(const observe_topic_t *topic)
{
  const tb__known_definition_t *known = known_of(topic);
  return known && known->head.stamp;
}

bool observe_is_unknown(const observe_topic_t *topic)
{
  return !topic->entry || tb__definition_entry_state(topic->entry) == TB__DEFINITION_IS_UNKNOWN;
}
