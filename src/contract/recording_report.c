/* What a recording gives to a report when it is finished. */
#include <stdio.h>

#include "contract/durations.h"
#include "contract/recording.h"

static void add_facts(const tb__recording_t *recording)
{
  tb__report_t *report = recording->report;
  const tb__provenance_t *provenance = &recording->provenance;
  char text[512];
  snprintf(text, sizeof text, "%llu, of %u topic%s", (unsigned long long)recording->messages,
           recording->topic_count, recording->topic_count == 1 ? "" : "s");
  tb__report_fact(report, "Messages", text);
  tb__report_fact(report, "Duration",
                  tb__duration_text(recording->end_ns - recording->start_ns).text);
  if (provenance->is_declared)
    snprintf(text, sizeof text, "%s (declared: %s)", tb__log_time_text(provenance->log_time),
             provenance->why);
  else
    snprintf(text, sizeof text, "%s (inferred, %d %%: %s)", tb__log_time_text(provenance->log_time),
             (int)(100 * provenance->confidence + 0.5), provenance->why);
  tb__report_fact(report, "Log times", text);
  if (recording->run_count > 0) {
    snprintf(text, sizeof text, "%u", recording->run_count + 1);
    tb__report_fact(report, "Runs", text);
  }
}

void tb__recording_report(const tb__recording_t *recording)
{
  if (!recording->report) return;
  add_facts(recording);
  if (recording->provenance.log_time == TB__LOG_TIME_ROS)
    tb__report_no_factor(
        recording->report,
        "Log times are ROS time: they show neither the factor nor the rate of /clock.");
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    const tb__recorded_topic_t *topic = &recording->topics[i];
    for (const tb__recorded_stream_t *stream = topic->first; stream; stream = stream->next)
      tb__report_topic_stamps(topic->pictures, &stream->stamps);
  }
}
