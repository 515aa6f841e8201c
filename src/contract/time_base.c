#include "contract/time_base.h"

#include <stddef.h>
#include <string.h>

static tb__base_verdict_t verdict_of(bool is_true, const tb__base_facts_t *facts,
                                     tb__base_evidence_t by)
{
  tb__base_t base = !is_true                  ? TB__BASE_WALL
                    : facts->has_other_source ? TB__BASE_OTHER
                                              : TB__BASE_CLOCK;
  return (tb__base_verdict_t){base, by};
}

static tb__base_verdict_t judge_stamps(const tb__base_facts_t *facts)
{
  bool is_of_clock = facts->stamps_of_clock >= TB__BASE_STAMPS_MIN && !facts->stamps_of_wall;
  bool is_of_wall = facts->stamps_of_wall >= TB__BASE_STAMPS_MIN && !facts->stamps_of_clock;
  if (is_of_clock) return (tb__base_verdict_t){TB__BASE_CLOCK, TB__BASE_BY_STAMPS};
  if (is_of_wall) return (tb__base_verdict_t){TB__BASE_WALL, TB__BASE_BY_STAMPS};
  return (tb__base_verdict_t){TB__BASE_UNKNOWN, TB__BASE_BY_NOTHING};
}

static tb__base_verdict_t judge_by_graph(const tb__base_facts_t *facts)
{
  bool has_event = facts->event != TB__IS_NOT_KNOWN;
  if (has_event && facts->answer != TB__IS_NOT_KNOWN && facts->is_event_newer)
    return verdict_of(facts->event == TB__IS_TRUE, facts, TB__BASE_BY_EVENT);
  if (facts->answer != TB__IS_NOT_KNOWN)
    return verdict_of(facts->answer == TB__IS_TRUE, facts, TB__BASE_BY_ANSWER);
  if (facts->follows_clock && !facts->is_recorder)
    return (tb__base_verdict_t){TB__BASE_CLOCK, TB__BASE_BY_SUBSCRIPTION};
  if (has_event) return verdict_of(facts->event == TB__IS_TRUE, facts, TB__BASE_BY_EVENT);
  if (facts->is_rcl && !facts->follows_clock && !facts->has_unseen)
    return (tb__base_verdict_t){TB__BASE_WALL, TB__BASE_BY_NO_SUBSCRIPTION};
  return judge_stamps(facts);
}

/* What is shared comes before use_sim_time, whose node keeps reporting its own value. */
tb__base_verdict_t tb__base_judge(const tb__base_facts_t *facts)
{
  if (facts->is_on_shared_time)
    return (tb__base_verdict_t){TB__BASE_OTHER, TB__BASE_BY_SHARED_MEMORY};
  tb__base_verdict_t verdict = judge_by_graph(facts);
  if (verdict.base != TB__BASE_WALL || !facts->may_be_on_shared_time) return verdict;
  return (tb__base_verdict_t){TB__BASE_UNKNOWN, TB__BASE_BY_SHARED_MEMORY};
}

const char *tb__base_name(tb__base_t base)
{
  static const char *const names[] = {"unknown", "wall", "clock", "other"};
  return names[(unsigned)base <= TB__BASE_OTHER ? base : 0];
}

const char *tb__base_evidence_name(tb__base_evidence_t by)
{
  static const char *const names[] = {
      "none", "answer", "subscription", "event", "no subscription", "stamps", "shared memory"};
  return names[(unsigned)by <= TB__BASE_BY_SHARED_MEMORY ? by : 0];
}

const char *tb__base_evidence_text(tb__base_verdict_t verdict)
{
  bool is_wall = verdict.base == TB__BASE_WALL;
  switch (verdict.by) {
  case TB__BASE_BY_ANSWER:
    return is_wall ? "its parameter use_sim_time is false" : "its parameter use_sim_time is true";
  case TB__BASE_BY_SUBSCRIPTION:
    return "it does not answer, and it subscribes to /clock as use_sim_time does";
  case TB__BASE_BY_EVENT:
    return is_wall ? "/parameter_events: use_sim_time became false"
                   : "/parameter_events: use_sim_time became true";
  case TB__BASE_BY_NO_SUBSCRIPTION:
    return "it does not answer, and it has no subscription of /clock, which use_sim_time would "
           "make";
  case TB__BASE_BY_STAMPS:
    return is_wall ? "it does not answer, and its stamps are of system time"
                   : "it does not answer, and its stamps are of the time of /clock";
  case TB__BASE_BY_SHARED_MEMORY:
    return verdict.base == TB__BASE_OTHER ? "its process follows a time in shared memory"
                                          : "processes follow a time in shared memory here, and "
                                            "which one it is in is not known";
  case TB__BASE_BY_NOTHING:
    break;
  }
  return "it does not answer, and neither its endpoints nor its stamps show it";
}

bool tb__base_is_tool(const char *full_name)
{
  static const char *const prefixes[] = {"_", "launch_ros_", "transform_listener_impl_"};
  const char *slash = strrchr(full_name, '/');
  const char *name = slash ? slash + 1 : full_name;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return true;
  return false;
}
