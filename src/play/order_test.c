/* Messages in the order of sending, and the callbacks around each message. */
#include "play/play_fixture.h"
#include "play/player.h"

#define SENT(ms, index, sent_ms)                                                                   \
  {                                                                                                \
    .topic = (index), .log_time_ns = (ms)*MS, .publish_time_ns = (sent_ms)*MS                      \
  }

/* /b is received 25 ms late; the last one says nothing. */
static const tb__fake_message_t late[] = {SENT(1000, 0, 1000), SENT(1010, 0, 1010),
                                          SENT(1030, 0, 1030), SENT(1040, 1, 1015),
                                          SENT(1050, 0, 1050), ON(1, 1055)};

static void play(const tb__fake_message_t *messages, size_t count, tb_player_order_t order,
                 int64_t offset_ms, const char *expected)
{
  fixture_t f;
  fixture_init(&f, messages, count);
  f.options.order = order;
  f.options.start_offset.ns = offset_ms * MS;
  assert_plays(&f, expected);
  fixture_fini(&f);
}

static void test_messages_go_out_as_they_were_sent(void **state)
{
  (void)state;
  play(late, COUNT(late), TB_PLAYER_ORDER_RECEIVED, 0,
       "settle @0 /a @10 /a @30 /a @40 /b @50 /a @55 /b flush");
  play(late, COUNT(late), TB_PLAYER_ORDER_SENT, 0,
       "settle @0 /a @10 /a @15 /b @30 /a @50 /a @55 /b flush");
}

/* What belongs before what has gone out goes out at once: time does not go back. */
static void test_one_that_is_read_too_late_goes_out_at_once(void **state)
{
  (void)state;
  static const int64_t expected_ms[] = {1000, 1010, 1030, 1030, 1050, 1055};
  atomic_bool stopping = false;
  fixture_t f;
  tb__feed_t feed;
  tb__feed_message_t message;
  fixture_init(&f, late, COUNT(late));
  assert_ok(tb__feed_init(&feed, f.reader, &f.transport, false, &stopping));
  tb__order_init(&feed.order, 1, SIZE_MAX);
  tb__feed_seek(&feed, INT64_MIN, INT64_MAX, false);
  for (size_t i = 0; i < COUNT(expected_ms); i++) {
    assert_true(tb__feed_next(&feed, &message));
    assert_int_equal(message.time_ns, expected_ms[i] * MS);
    assert_int_equal(message.bag.log_time_ns, late[i].log_time_ns); /* nothing is put in order */
  }
  assert_false(tb__feed_next(&feed, &message));
  tb__feed_fini(&feed);
  fixture_fini(&f);
}

/* What was sent before the target is left out, though it was received after it. */
static void test_a_jump_leaves_out_what_was_sent_before(void **state)
{
  (void)state;
  play(late, COUNT(late), TB_PLAYER_ORDER_SENT, 20, "settle @10 /a @30 /a @35 /b flush");
  play(late, COUNT(late), TB_PLAYER_ORDER_RECEIVED, 20, "settle @10 /a @20 /b @30 /a @35 /b flush");
}

static void act_previous_refused(void *user)
{
  fixture_t *f = user;
  tb_player_pause(f->player);
  assert_status(tb_player_play_previous(f->player), TB_ERR_UNSUPPORTED);
  tb_player_resume(f->player);
}

static void test_steps_back_are_refused_in_the_order_of_sending(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{12 * MS, act_previous_refused}};
  fixture_t f;
  fixture_init(&f, late, COUNT(late));
  fixture_act(&f, acts, COUNT(acts));
  f.options.order = TB_PLAYER_ORDER_SENT;
  assert_plays(&f, "settle @0 /a @10 /a @15 /b @30 /a @50 /a @55 /b flush");
  fixture_fini(&f);
  fixture_init(&f, late, COUNT(late));
  f.options.order = (tb_player_order_t)7;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(
      tb__player_create(f.reader, &f.transport, &f.options, &f.pacer.base, &f.player, &error),
      TB_ERR_INVALID);
  assert_string_equal(error.text, "unknown order 7 of messages");
  fixture_fini(&f);
}

static char calls[256];

static void note(const char *mark, const tb_bag_message_t *message, const fixture_t *f)
{
  size_t length = strlen(calls);
  snprintf(calls + length, sizeof calls - length, "%s%lld/%d ", mark,
           (long long)(message->log_time_ns / MS), (int)f->fake.messages);
}

static void note_before(const tb_bag_message_t *message, void *user)
{
  note("<", message, user);
}

static void note_after(const tb_bag_message_t *message, void *user)
{
  note(">", message, user);
}

/* With how many had gone out. */
static void test_callbacks_come_before_and_after_each_message(void **state)
{
  (void)state;
  static const tb__fake_message_t two[] = {AT(1000), ON(1, 1010)};
  fixture_t f;
  fixture_init(&f, two, COUNT(two));
  f.options.before_message = note_before;
  f.options.after_message = note_after;
  f.options.message_user = &f;
  calls[0] = '\0';
  assert_plays(&f, "settle @0 /a @10 /b flush");
  assert_string_equal(calls, "<1000/0 >1000/1 <1010/1 >1010/2 ");
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages_go_out_as_they_were_sent),
      cmocka_unit_test(test_one_that_is_read_too_late_goes_out_at_once),
      cmocka_unit_test(test_a_jump_leaves_out_what_was_sent_before),
      cmocka_unit_test(test_steps_back_are_refused_in_the_order_of_sending),
      cmocka_unit_test(test_callbacks_come_before_and_after_each_message),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
