#include "topic_stats.h"

#include <stdio.h>

#include "json.h"
#include "text.h"

#define MS(ns)      ((double)(ns) / (double)TB_NS_PER_MS)
#define SECONDS(ns) ((double)(ns) / (double)TB_NS_PER_S)

const char *topic_stamp_problem(topic_stamp_t stamp)
{
  static const char *const names[TOPIC_STAMP_COUNT] = {NULL,      NULL,     "zero",
                                                       "invalid", "future", "backward"};
  return names[stamp];
}

void topic_stats_add(topic_stats_t *stats, const topic_message_t *message, int64_t previous_ns,
                     topic_stamp_t stamp, int64_t delay_ns)
{
  if (!stats->messages) {
    stats->first_ns = message->steady_ns;
    stats->first_now_ns = message->now_ns;
  }
  stats->messages++;
  stats->bytes += message->size;
  stats->last_ns = message->steady_ns;
  stats->last_now_ns = message->now_ns;
  stats->stamps[stamp]++;
  tb__moments_add(&stats->size, (int64_t)message->size);
  if (previous_ns) tb__moments_add(&stats->interval, message->steady_ns - previous_ns);
  bool has_age = stamp != TOPIC_STAMP_NONE && stamp != TOPIC_STAMP_ZERO &&
                 stamp != TOPIC_STAMP_INVALID && message->now_ns;
  if (has_age) tb__moments_add(&stats->delay, delay_ns);
}

/* By the mean interval; 0: not known. */
static double rate_hz(const topic_stats_t *stats)
{
  return stats->interval.count && stats->interval.mean_ns > 0 ? 1e9 / stats->interval.mean_ns : 0;
}

/* The same in the time that nodes have. */
static double ros_rate_hz(const topic_stats_t *stats)
{
  double seconds = SECONDS(stats->last_now_ns - stats->first_now_ns);
  bool is_known = stats->messages > 1 && stats->first_now_ns && seconds > 0;
  return is_known ? (double)(stats->messages - 1) / seconds : 0;
}

static void print_stamps(const topic_stats_t *stats)
{
  for (int i = TOPIC_STAMP_ZERO; i < TOPIC_STAMP_COUNT; i++)
    if (stats->stamps[i])
      text_out("  %s %llu", topic_stamp_problem((topic_stamp_t)i),
               (unsigned long long)stats->stamps[i]);
}

static void print_hz(const topic_stats_t *stats)
{
  double rate = rate_hz(stats), ros = ros_rate_hz(stats);
  bool differs = ros > 0 && (ros > 1.05 * rate || ros < 0.95 * rate);
  text_out("rate %.2f Hz", rate);
  if (differs && rate > 0) text_out(" (%.2f Hz in ROS time)", ros);
  text_out("  interval %.1f to %.1f ms, deviation %.1f ms", MS(stats->interval.min_ns),
           MS(stats->interval.max_ns), 1e-6 * tb__moments_deviation(&stats->interval));
}

static void print_bw(const topic_stats_t *stats, double seconds)
{
  double rate = seconds > 0 ? (double)stats->bytes / seconds : 0;
  const char *unit = rate >= 1e6 ? "MB/s" : rate >= 1e3 ? "kB/s" : "B/s";
  text_out("%.2f %s  size %lld to %lld bytes, mean %.0f",
           rate / (rate >= 1e6   ? 1e6
                   : rate >= 1e3 ? 1e3
                                 : 1),
           unit, (long long)stats->size.min_ns, (long long)stats->size.max_ns, stats->size.mean_ns);
}

static void print_delay(const topic_stats_t *stats)
{
  if (stats->delay.count)
    text_out("delay %.1f ms  %.1f to %.1f ms, deviation %.1f ms", 1e-6 * stats->delay.mean_ns,
             MS(stats->delay.min_ns), MS(stats->delay.max_ns),
             1e-6 * tb__moments_deviation(&stats->delay));
  else if (stats->stamps[TOPIC_STAMP_NONE] == stats->messages)
    text_out("no stamps: the type has no header");
  else
    text_out("no delay");
  print_stamps(stats);
}

void topic_stats_print(const topic_stats_t *stats, topic_verb_t verb, double seconds,
                       bool is_summary)
{
  if (is_summary) text_out("total: ");
  if (!stats->messages)
    text_out("no message");
  else if (verb == TOPIC_HZ)
    print_hz(stats);
  else if (verb == TOPIC_BW)
    print_bw(stats, seconds);
  else
    print_delay(stats);
  if (stats->messages) text_out("  messages %llu", (unsigned long long)stats->messages);
  text_out("\n");
}

static void put_moments(json_t *object, const char *name, const char *unit,
                        const tb__moments_t *moments)
{
  static const char *const parts[] = {"min", "max", "mean", "deviation"};
  const double values[] = {(double)moments->min_ns, (double)moments->max_ns, moments->mean_ns,
                           tb__moments_deviation(moments)};
  char key[64];
  for (int i = 0; i < 4; i++) {
    snprintf(key, sizeof key, "%s_%s%s", name, parts[i], unit);
    json_put(object, key, moments->count ? json_real(values[i]) : json_null());
  }
}

json_t *topic_stats_json(const topic_stats_t *stats, double seconds, uint64_t dropped)
{
  json_t *out = json_object();
  double rate = rate_hz(stats), ros = ros_rate_hz(stats);
  json_put(out, "messages", json_integer((json_int_t)stats->messages));
  json_put(out, "dropped", json_integer((json_int_t)dropped));
  json_put(out, "elapsed_s", json_real(seconds));
  json_put(out, "rate_hz", rate > 0 ? json_real(rate) : json_null());
  json_put(out, "ros_rate_hz", ros > 0 ? json_real(ros) : json_null());
  put_moments(out, "interval", "_ns", &stats->interval);
  json_put(out, "bytes", json_integer((json_int_t)stats->bytes));
  put_moments(out, "size", "", &stats->size);
  put_moments(out, "delay", "_ns", &stats->delay);
  json_put(out, "stamps",
           json_integer((json_int_t)(stats->messages - stats->stamps[TOPIC_STAMP_NONE])));
  for (int i = TOPIC_STAMP_ZERO; i < TOPIC_STAMP_COUNT; i++)
    json_put(out, topic_stamp_problem((topic_stamp_t)i),
             json_integer((json_int_t)stats->stamps[i]));
  return out;
}
