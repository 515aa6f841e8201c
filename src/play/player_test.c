/* What a player refuses, and what it leaves out. */
#include "play/play_fixture.h"

static const tb__fake_message_t three[] = {AT(1000), ON(2, 1001), AT(1040)};

static void assert_refused(fixture_t *f, tb_status_t expected, const char *text)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_player_t *player = NULL;
  assert_status(tb_player_create(f->reader, &f->transport, &f->options, &player, &error), expected);
  assert_null(player);
  assert_int_equal(error.status, expected);
  if (!strstr(error.text, text)) fail_msg("'%s' does not say '%s'", error.text, text);
}

static void test_bad_options_are_refused(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  f.options.rate = 0;
  assert_refused(&f, TB_ERR_RANGE, "rate 0");
  f.options.rate = 1;
  f.options.clock_hz = -4;
  assert_refused(&f, TB_ERR_RANGE, "-4 Hz");
  f.options.clock_hz = 0;
  f.options.start_offset.ns = -1;
  assert_refused(&f, TB_ERR_RANGE, "negative");
  f.options.start_offset.ns = 41 * MS;
  assert_refused(&f, TB_ERR_RANGE,
                 "start offset 0.041000000 s is beyond the end of the recording, at most "
                 "0.040000000 s");
  f.options.start_offset.ns = INT64_MAX;
  assert_refused(&f, TB_ERR_RANGE, "beyond the end");
  f.options.start_offset.ns = 0;
  f.options.clock_hz = 1;
  f.transport.clock.tick = NULL;
  assert_refused(&f, TB_ERR_INVALID, "no clock");
  tb_player_destroy(NULL);
  fixture_fini(&f);
}

static void of_a_later_release(void) {}

static void test_functions_of_a_later_release_are_refused(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  tb_play_transport_ops_t ops = *f.transport.ops;
  f.transport.ops = &ops;
  for (size_t i = 0; i < COUNT(ops.reserved); i++) {
    ops.reserved[i] = of_a_later_release;
    assert_refused(&f, TB_ERR_UNSUPPORTED, "tb_play_transport_ops_t");
    ops.reserved[i] = NULL;
  }
  fixture_create(&f);
  fixture_fini(&f);
}

static void test_nothing_to_play_is_refused(void **state)
{
  (void)state;
  static const tb__fake_message_t clock_only[] = {ON(2, 5)};
  static const tb__fake_message_t corrupt[] = {{.log_time_ns = 5, .fault = TB_ERR_CORRUPT}};
  static const tb__fake_topic_t foreign[] = {{"/a", "std_msgs/String", NULL, "ros1"}};
  fixture_t f;
  fixture_init(&f, clock_only, COUNT(clock_only));
  f.options.clock_hz = 1;
  assert_refused(&f, TB_ERR_NOT_FOUND, "no message to play");
  fixture_fini(&f);
  fixture_init(&f, clock_only, 0);
  assert_refused(&f, TB_ERR_NOT_FOUND, "no message to play");
  fixture_fini(&f);
  fixture_init(&f, corrupt, COUNT(corrupt));
  assert_refused(&f, TB_ERR_CORRUPT, "no message can be played: data is corrupt");
  fixture_fini(&f);
  fixture_init(&f, three, 1);
  tb_bag_reader_close(f.reader);
  f.bag.topics = foreign;
  f.bag.topic_count = COUNT(foreign);
  assert_ok(tb__fake_bag_open(&f.bag, NULL, &f.reader, NULL));
  assert_refused(&f, TB_ERR_UNSUPPORTED, "no message can be played: not supported");
  fixture_fini(&f);
}

static bool takes_ros1_but_b(void *self, const tb_bag_topic_t *topic)
{
  (void)self;
  return strcmp(topic->serialization_format, "ros1") == 0 && strcmp(topic->name, "/b") != 0;
}

static void test_the_transport_chooses_what_it_takes(void **state)
{
  (void)state;
  static const tb__fake_topic_t topics[] = {{"/a", "std_msgs/String", NULL, "ros1"},
                                            {"/b", "std_msgs/String", NULL, "ros1"},
                                            {"/c", "std_msgs/msg/String", NULL, NULL}};
  static const tb__fake_message_t messages[] = {ON(1, 900), AT(1000), ON(2, 1010), AT(1030)};
  const tb_bag_reader_options_t any = {.content = TB_BAG_CONTENT_ANY};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  tb_bag_reader_close(f.reader);
  f.bag.topics = topics;
  f.bag.topic_count = COUNT(topics);
  assert_ok(tb__fake_bag_open(&f.bag, &any, &f.reader, NULL));
  tb_play_transport_ops_t ops = *f.transport.ops;
  ops.takes = takes_ros1_but_b;
  f.transport.ops = &ops;
  assert_plays(&f, "settle @100 /a @130 /a flush");
  assert_int_equal(f.fake.topics, 1);
  fixture_fini(&f);
}

static void test_a_topic_that_the_transport_refuses_is_named(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  f.fake.fault_topic = "/b";
  f.fake.fault = TB_ERR_UNSUPPORTED;
  assert_refused(&f, TB_ERR_UNSUPPORTED, "topic /b: fault");
  fixture_fini(&f);
}

static void test_a_recorded_clock_gives_way_to_ours(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  assert_plays(&f, "settle @0 /a @1 /clock @40 /a flush");
  assert_int_equal(f.fake.topics, 3);
  fixture_fini(&f);
  fixture_init(&f, three, COUNT(three));
  f.options.clock_hz = 1;
  assert_plays(&f, "settle @0 c1000 /a @40 c1040 /a flush");
  assert_int_equal(f.fake.topics, 2);
  fixture_fini(&f);
}

static void test_only_topics_of_the_filter_are_made(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {ON(1, 900), AT(1000), ON(1, 1100)};
  static const char *const names[] = {"/a"};
  const tb_bag_reader_options_t filter = {.topics = names, .topic_count = 1};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  tb_bag_reader_close(f.reader);
  assert_ok(tb__fake_bag_open(&f.bag, &filter, &f.reader, NULL));
  f.options.clock_hz = 1;
  fixture_create(&f);
  assert_int_equal(fixture_status(&f).start_ns, 900 * MS);
  assert_plays(&f, "settle @0 c900 @100 c1000 /a flush");
  assert_int_equal(f.fake.topics, 1);
  assert_int_equal(fixture_status(&f).end_ns, 1000 * MS);
  fixture_fini(&f);
}

static void test_a_reader_at_another_position_is_rewound(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, three, COUNT(three));
  tb_bag_message_t message;
  assert_ok(tb_bag_reader_next(f.reader, &message, NULL));
  assert_ok(tb_bag_reader_next(f.reader, &message, NULL));
  assert_plays(&f, "settle @0 /a @1 /clock @40 /a flush");
  fixture_fini(&f);
}

static void act_look_ahead(void *user)
{
  tb_player_status_t status = fixture_status(user);
  assert_int_equal(status.next_ns, 1070 * MS);
  assert_int_equal(status.next_topic, 1);
  assert_int_equal(status.next_file, 0);
}

static void test_what_comes_next_is_known(void **state)
{
  (void)state;
  static const tb__fake_message_t two[] = {AT(1000), ON(1, 1070)};
  static const tb__manual_act_t acts[] = {{5 * MS, act_look_ahead}};
  fixture_t f;
  fixture_init(&f, two, COUNT(two));
  fixture_act(&f, acts, COUNT(acts));
  fixture_create(&f);
  assert_int_equal(fixture_status(&f).next_ns, 1000 * MS);
  assert_plays(&f, "settle @0 /a @70 /b flush");
  assert_int_equal(fixture_status(&f).next_ns, 0);
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_comes_next_is_known),
      cmocka_unit_test(test_bad_options_are_refused),
      cmocka_unit_test(test_functions_of_a_later_release_are_refused),
      cmocka_unit_test(test_nothing_to_play_is_refused),
      cmocka_unit_test(test_the_transport_chooses_what_it_takes),
      cmocka_unit_test(test_a_topic_that_the_transport_refuses_is_named),
      cmocka_unit_test(test_a_recorded_clock_gives_way_to_ours),
      cmocka_unit_test(test_only_topics_of_the_filter_are_made),
      cmocka_unit_test(test_a_reader_at_another_position_is_rewound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
