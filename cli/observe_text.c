#include "observe_text.h"

#include <string.h>

#include "text.h"

#define MS 1e6

observe_clock_state_t observe_clock_state(const tb__ticks_t *ticks, int64_t steady_ns)
{
  const tb__tick_stream_t *all = &ticks->all;
  int64_t limit_ns = tb__tick_stream_stall_limit(all, &ticks->limits);
  if (all->first_ns == 0) return OBSERVE_CLOCK_SILENT;
  if (steady_ns - all->last_arrival_ns <= limit_ns) return OBSERVE_CLOCK_RUNS;
  return steady_ns - all->heard_ns <= limit_ns ? OBSERVE_CLOCK_PAUSED : OBSERVE_CLOCK_SILENT;
}

const char *observe_clock_state_text(observe_clock_state_t state)
{
  static const char *const texts[] = {"running", "paused", "silent"};
  return texts[state];
}

void observe_print_clock(FILE *out, observe_t *observe, bool is_summary)
{
  observe_clock_t *clock = &observe->clock;
  static tb__ticks_t ticks; /* large */
  pthread_mutex_lock(&clock->lock);
  bool is_expected = clock->is_expected;
  int64_t now_ns = observe_steady_now(observe);
  ticks = clock->ticks;
  pthread_mutex_unlock(&clock->lock);
  const tb__tick_stream_t *all = &ticks.all;
  if (!is_expected) {
    text_to(out, "ROS time is system time: no publisher of /clock\n");
    return;
  }
  if (all->first_ns == 0) {
    text_to(out, "ROS time is not known: /clock has a publisher and no tick was received\n");
    return;
  }
  uint32_t publishers = tb__ticks_simultaneous(&ticks);
  text_to(out, "/clock: %.3f s, factor %.2f, %.1f Hz", (double)all->last_ns / 1e9,
          is_summary ? tb__tick_stream_factor(all) : clock->factor_now,
          is_summary ? tb__tick_stream_rate(all) : clock->rate_now);
  observe_clock_state_t state = observe_clock_state(&ticks, now_ns);
  if (state != OBSERVE_CLOCK_RUNS)
    text_to(out, state == OBSERVE_CLOCK_PAUSED ? ", paused for %.1f s" : ", no tick for %.1f s",
            (double)(now_ns - all->last_arrival_ns) / 1e9);
  if (publishers > 1) text_to(out, ", %u publishers at once", publishers);
  if (publishers <= 1 && tb__tick_stream_is_double(all)) text_to(out, ", two streams at once");
  if (all->kinds[TB__TICK_BACKWARD])
    text_to(out, ", %llu jumps back", (unsigned long long)all->kinds[TB__TICK_BACKWARD]);
  if (all->kinds[TB__TICK_SKIP])
    text_to(out, ", %llu jumps forward", (unsigned long long)all->kinds[TB__TICK_SKIP]);
  if (all->epoch.number) text_to(out, ", epoch %u", all->epoch.number);
  if (all->stalls) text_to(out, ", %llu stalls", (unsigned long long)all->stalls);
  if (all->kinds[TB__TICK_ZERO])
    text_to(out, ", %llu zero ticks", (unsigned long long)all->kinds[TB__TICK_ZERO]);
  if (all->kinds[TB__TICK_INVALID])
    text_to(out, ", %llu invalid ticks", (unsigned long long)all->kinds[TB__TICK_INVALID]);
  if (all->kinds[TB__TICK_REORDERED])
    text_to(out, ", %llu out of order", (unsigned long long)all->kinds[TB__TICK_REORDERED]);
  text_to(out, "\n");
}

static void print_word(FILE *out, bool *has_words, const char *word, uint64_t count)
{
  if (count == 0) return;
  text_to(out, "%s%s %llu", *has_words ? ", " : "", word, (unsigned long long)count);
  *has_words = true;
}

void observe_print_words(FILE *out, const observe_row_t *row)
{
  const tb__stamps_t *stamps = &row->is.stamps;
  bool has_words = false;
  print_word(out, &has_words, "gaps", row->is.gaps);
  if (observe_is_unknown(row->topic)) {
    text_to(out, "%sdefinition unknown: %.1f kB/s", has_words ? ", " : "",
            row->rate_hz * (double)row->is.bytes /
                (double)(stamps->arrivals ? stamps->arrivals : 1) / 1e3);
    return;
  }
  if (!observe_has_header(row->topic)) {
    if (tb__definition_entry_known(row->topic->entry))
      text_to(out, "%sno header", has_words ? ", " : "");
    return;
  }
  for (size_t i = 0; i < OBSERVE_STAMP_WORDS; i++)
    print_word(out, &has_words, observe_stamp_words[i].text,
               stamps->kinds[observe_stamp_words[i].kind]);
  print_word(out, &has_words, "backward", stamps->backward);
  print_word(out, &has_words, "equal", stamps->equal);
}

/* Why nothing can be matched. */
static void print_end(FILE *out, const observe_t *observe, const char *name)
{
  const observe_topic_t *topic = observe->topics;
  while (topic && strcmp(topic->name, name) != 0)
    topic = topic->next;
  if (!topic)
    text_to(out, "; %s is not observed: it has no publisher so far", name);
  else if (observe_is_unknown(topic))
    text_to(out, "; the definition of %s is unknown: its stamps are not read", name);
  else if (tb__definition_entry_known(topic->entry) && !observe_has_header(topic))
    text_to(out, "; the type of %s has no header", name);
}

void observe_print_path(FILE *out, const observe_t *observe, observe_path_t *shared)
{
  static tb__path_t path; /* large */
  pthread_mutex_lock(&shared->lock);
  path = shared->is;
  pthread_mutex_unlock(&shared->lock);
  text_to(out, "%s to %s%s: %s", shared->from, shared->to, shared->is_candidate ? " (found)" : "",
          tb__path_state_text(path.state));
  if (path.state == TB__PATH_BACKLOG && path.factor > 0) {
    text_to(out, " at %.1f: outputs advance at %.1f", path.factor, path.progress);
    if (path.held_factor > 0) text_to(out, "; highest factor that held: %.1f", path.held_factor);
  }
  if (path.state == TB__PATH_DROPS)
    text_to(out, " at %.1f: %.0f %% of them have an output, and %.0f %% at %.1f", path.factor,
            100 * path.share, 100 * path.held_share, path.held_share_factor);
  text_to(out, "; %llu of %llu inputs matched", (unsigned long long)path.matched,
          (unsigned long long)path.inputs);
  print_end(out, observe, shared->from);
  print_end(out, observe, shared->to);
  if (path.matched)
    text_to(out, "; latency %.1f ms, p99 %.1f ms in steady time",
            (double)tb__spread_quantile(&path.steady, 0.5) / MS,
            (double)tb__spread_quantile(&path.steady, 0.99) / MS);
  if (path.ros.moments.count)
    text_to(out, "; %.1f ms, p99 %.1f ms in ROS time",
            (double)tb__spread_quantile(&path.ros, 0.5) / MS,
            (double)tb__spread_quantile(&path.ros, 0.99) / MS);
  if (path.budget_ns) text_to(out, "; budget %.1f ms", (double)path.budget_ns / MS);
  text_to(out, "\n");
}
