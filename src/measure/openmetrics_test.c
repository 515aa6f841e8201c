/* Statistics as OpenMetrics text. */
#include <dirent.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/statistics.h>
#include <timebase/testing.h>
#include <unistd.h>

#include "on_manual_source.h"

#define MS INT64_C(1000000)

static tb_statistics_t *statistics;
static char text[1 << 22];

static int make(void **state)
{
  setup(state);
  const fixture_t *f = *state;
  assert_ok(tb_testing_hold_os_time());
  const tb_statistics_options_t options = {.node = "/ns/\"n\\", .clock = f->clock};
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_ok(tb_statistics_create(&options, &statistics));
  return 0;
}

static int unmake(void **state)
{
  tb_statistics_destroy(statistics);
  assert_ok(tb_testing_release_os_time());
  return teardown(state);
}

static void write_text(void)
{
  size_t size = 0, again = 0;
  assert_ok(tb_statistics_snapshot(statistics));
  assert_status(tb_statistics_openmetrics(statistics, 0, NULL, &size), TB_ERR_LIMIT);
  assert_status(tb_statistics_openmetrics(statistics, size - 1, text, &again), TB_ERR_LIMIT);
  assert_int_equal(again, size);
  assert_true(size < sizeof text);
  memset(text, 'x', sizeof text);
  assert_ok(tb_statistics_openmetrics(statistics, size, text, &again));
  assert_int_equal(text[size], 'x'); /* no NUL */
  text[size] = '\0';
}

static void assert_has(const char *line)
{
  char whole[512];
  snprintf(whole, sizeof whole, "\n%s\n", line);
  if (!strstr(text, whole)) fail_msg("no line: %s\nin\n%s", line, text);
}

#define NODE "node=\"/ns/\\\"n\\\\\""

/* What any parser checks: each sample belongs to the family before it, which comes once. */
static void assert_is_openmetrics(void)
{
  char family[128] = "", line[1024];
  static char seen[1 << 16];
  seen[0] = '\0';
  for (const char *at = text, *end; *at; at = end + 1) {
    end = strchr(at, '\n');
    assert_non_null(end); /* the last line ends too */
    snprintf(line, sizeof line, "%.*s", (int)(end - at), at);
    if (!strncmp(line, "# TYPE ", 7)) {
      char quoted[140];
      assert_int_equal(sscanf(line, "# TYPE %127s", family), 1);
      snprintf(quoted, sizeof quoted, " %s ", family);
      assert_null(strstr(seen, quoted));
      strcat(seen, quoted);
    } else if (!strncmp(line, "# UNIT ", 7)) {
      const char *unit = strrchr(line, ' ') + 1;
      assert_string_equal(family + strlen(family) - strlen(unit), unit); /* it is the suffix */
    } else if (line[0] != '#') {
      assert_int_equal(strncmp(line, family, strlen(family)), 0);
      assert_non_null(strchr("_{", line[strlen(family)]));
    }
  }
  const char *eof = strstr(text, "# EOF\n");
  assert_non_null(eof);
  assert_string_equal(eof, "# EOF\n");
}

static void get(tb_topic_statistics_t *topic, int64_t age_ns, uint64_t sequence)
{
  const tb_topic_message_t message = {.stamp_ns = 100 * S - age_ns,
                                      .receive_timestamp_ns = INT64_MAX - S,
                                      .source_timestamp_ns = INT64_MAX - S + age_ns,
                                      .sequence = sequence,
                                      .writer_guid = {1, 0xab},
                                      .has_stamp = true};
  tb_topic_statistics_begin(topic, &message);
}

static void test_ages_and_counts_are_those_that_were_recorded(void **state)
{
  (void)state;
  tb_topic_statistics_t *topic;
  tb_timer_statistics_t *timer;
  assert_ok(tb_topic_statistics_create(
      statistics, &(tb_topic_statistics_options_t){.topic = "/image"}, &topic));
  assert_ok(tb_timer_statistics_create(statistics, "control", &timer));
  get(topic, 0, 1);
  get(topic, 3 * MS, 2);
  get(topic, 30 * MS, 5);
  get(topic, -20 * MS, 6);
  tb_timer_statistics_note_steady(timer, (tb_steady_time_t){0}, (tb_steady_time_t){2 * MS}, 4);
  write_text();
  assert_is_openmetrics();
  assert_has("timebase_node_info{" NODE "} 1");
  assert_has("# UNIT timebase_message_age_seconds seconds");
#define IMAGE "{" NODE ",topic=\"/image\""
  assert_has("timebase_message_age_seconds_bucket" IMAGE ",le=\"0.0001\"} 1");
  assert_has("timebase_message_age_seconds_bucket" IMAGE ",le=\"0.005\"} 2");
  assert_has("timebase_message_age_seconds_bucket" IMAGE ",le=\"+Inf\"} 3");
  assert_has("timebase_message_age_seconds_count" IMAGE "} 3");
  assert_has("timebase_message_age_seconds_sum" IMAGE "} 0.033000");
  assert_has("timebase_message_ahead_seconds_bucket" IMAGE ",le=\"0.01\"} 0");
  assert_has("timebase_message_ahead_seconds_bucket" IMAGE ",le=\"0.025\"} 1");
  assert_has("timebase_message_ahead_seconds_count" IMAGE "} 1");
  assert_has("timebase_message_ahead_seconds_sum" IMAGE "} 0.020000");
  assert_has("timebase_source_to_receive_seconds_bucket" IMAGE ",le=\"-0.01\"} 1");
  assert_has("timebase_source_to_receive_seconds_bucket" IMAGE ",le=\"-0.001\"} 2");
  assert_null(strstr(text, "timebase_source_to_receive_seconds_sum"));
  assert_null(strstr(text, "timebase_source_to_receive_seconds_count"));
  assert_has("timebase_messages_total" IMAGE "} 4");
  assert_has("timebase_messages_future_total" IMAGE "} 1");
  assert_has("timebase_messages_lost_total" IMAGE
             ",publisher=\"01ab0000000000000000000000000000\"} 2");
  assert_has("timebase_timer_lateness_seconds_bucket{" NODE ",timer=\"control\",le=\"0.005\"} 1");
  assert_has("timebase_missed_periods_total{" NODE ",timer=\"control\"} 4");
}

static void test_the_clock_is_in_it(void **state)
{
  const fixture_t *f = *state;
  assert_ok(tb_statistics_snapshot(statistics));
  for (int i = 0; i < 10; i++) {
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){100 * MS}));
    assert_ok(tb_manual_source_advance(f->source, (tb_duration_t){25 * MS}));
  }
  write_text();
  assert_is_openmetrics();
  assert_has("timebase_clock_rate_hertz{" NODE "} 10.000000");
  assert_has("timebase_real_time_factor{" NODE "} 0.250000");
  assert_ok(tb_manual_source_set(f->source, S));
  assert_ok(tb_manual_source_jump(f->source, 50 * S, TB_JUMP_REASON_SEEK));
  write_text();
  assert_has("timebase_real_time_factor{" NODE "} NaN");
  assert_has("timebase_time_jumps_total{" NODE ",direction=\"backward\"} 1");
  assert_has("timebase_time_jumps_total{" NODE ",direction=\"forward\"} 1");
  assert_has("timebase_time_jumps_unhandled{" NODE "} 0.000000");
}

/* 64 topics have series of their own, the rest one. */
static void test_series_are_capped(void **state)
{
  (void)state;
  for (int i = 0; i < 70; i++) {
    char name[32];
    tb_topic_statistics_t *topic;
    tb_timer_statistics_t *timer;
    snprintf(name, sizeof name, "/t%02d", i);
    assert_ok(tb_topic_statistics_create(statistics,
                                         &(tb_topic_statistics_options_t){.topic = name}, &topic));
    assert_ok(tb_timer_statistics_create(statistics, name, &timer));
    get(topic, MS, 1);
    get(topic, MS, 3);
    tb_timer_statistics_note_steady(timer, (tb_steady_time_t){0}, (tb_steady_time_t){0}, 1);
  }
  write_text();
  assert_is_openmetrics();
  assert_has("timebase_messages_total{" NODE ",topic=\"/t63\"} 2");
  assert_has("timebase_messages_total{" NODE ",topic=\"_other\"} 12");
  assert_has("timebase_message_age_seconds_count{" NODE ",topic=\"_other\"} 12");
  assert_has("timebase_messages_lost_total{" NODE ",topic=\"_other\",publisher=\"_other\"} 6");
  assert_has("timebase_missed_periods_total{" NODE ",timer=\"_other\"} 6");
  assert_null(strstr(text, "/t64"));
}

static size_t files_in(const char *folder)
{
  size_t count = 0;
  DIR *entries = opendir(folder);
  assert_non_null(entries);
  for (const struct dirent *entry; (entry = readdir(entries));)
    count += entry->d_name[0] != '.';
  closedir(entries);
  return count;
}

static void test_a_file_is_replaced_as_a_whole(void **state)
{
  (void)state;
  char folder[] = "/tmp/openmetrics.XXXXXX", path[64], elsewhere[64];
  tb_error_t error = TB_ERROR_INIT;
  struct stat before, after;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/node.prom", folder);
  snprintf(elsewhere, sizeof elsewhere, "%s/no/node.prom", folder);
  assert_ok(tb_statistics_save_openmetrics(statistics, path, &error));
  assert_int_equal(stat(path, &before), 0);
  FILE *reader = fopen(path, "r");
  assert_non_null(reader);
  assert_ok(tb_statistics_save_openmetrics(statistics, path, &error));
  assert_int_equal(stat(path, &after), 0);
  assert_true(before.st_ino != after.st_ino); /* who reads the old one goes on with it */
  assert_int_equal(fread(text, 1, sizeof text, reader), before.st_size);
  fclose(reader);
  write_text();
  assert_int_equal(after.st_size, strlen(text));
  assert_int_equal(files_in(folder), 1);
  assert_status(tb_statistics_save_openmetrics(statistics, elsewhere, &error), TB_ERR_SYSTEM);
  assert_non_null(strstr(error.text, elsewhere));
  assert_status(tb_statistics_save_openmetrics(statistics, folder, &error), TB_ERR_SYSTEM);
  assert_int_equal(files_in(folder), 1); /* nothing is left */
  unlink(path);
  rmdir(folder);
}

#define MADE(test) cmocka_unit_test_setup_teardown(test, make, unmake)

/* Publishers beyond the first 16 share a series. */
static void test_losses_of_many_publishers_and_the_publishers_of_the_clock(void **state)
{
  (void)state;
  tb_topic_statistics_t *topic;
  tb_timer_statistics_t *timer;
  const tb_topic_statistics_options_t options = {.topic = "/image"};
  assert_ok(tb_topic_statistics_create(statistics, &options, &topic));
  write_text();
  assert_null(strstr(text, "timebase_clock_publishers"));
  assert_null(strstr(text, "publisher=\"_other\""));
  for (uint64_t sequence = 1; sequence < 6; sequence += 2)
    for (uint8_t writer = 1; writer <= 20; writer++) {
      const tb_topic_message_t message = {.sequence = sequence, .writer_guid = {writer}};
      tb_topic_statistics_begin(topic, &message);
    }
  tb_statistics_set_clock_publishers(statistics, 2);
  assert_ok(tb_timer_statistics_create(statistics, "a", &timer));
  assert_ok(tb_timer_statistics_create(statistics, "b", &timer));
  assert_ok(tb_timer_statistics_set_period(timer, (tb_duration_t){100 * MS}));
  tb_timer_statistics_note_steady(timer, (tb_steady_time_t){S}, (tb_steady_time_t){S + 350 * MS},
                                  3);
  write_text();
  assert_is_openmetrics();
  assert_has("timebase_messages_lost_total{" NODE
             ",topic=\"/image\",publisher=\"10000000000000000000000000000000\"} 2");
  assert_has("timebase_messages_lost_total{" NODE ",topic=\"/image\",publisher=\"_other\"} 8");
  assert_null(strstr(text, "publisher=\"11000000"));
  assert_has("timebase_clock_publishers{" NODE "} 2.000000");
  assert_has("timebase_timer_lateness_seconds_count{" NODE ",timer=\"b\"} 1");
  assert_has("timebase_timer_lateness_corrected_seconds_count{" NODE ",timer=\"b\"} 4");
  assert_has("timebase_timer_lateness_corrected_seconds_sum{" NODE ",timer=\"b\"} 0.800000");
  assert_null(strstr(text, "corrected_seconds_count{" NODE ",timer=\"a\""));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      MADE(test_ages_and_counts_are_those_that_were_recorded),
      MADE(test_the_clock_is_in_it),
      MADE(test_series_are_capped),
      MADE(test_a_file_is_replaced_as_a_whole),
      MADE(test_losses_of_many_publishers_and_the_publishers_of_the_clock),
  };
  for (int i = 0; i < 2; i++) { /* numbers have a point in each locale */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) return failed;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) break;
  }
  return 0;
}
