#include "ros2/parked_replies.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static tb__parked_reply_t *reply_of(uint8_t participant, int64_t sequence, size_t size,
                                    int64_t due_ns)
{
  tb_ros2_request_id_t id = {.sequence = sequence, .writer_guid = {1, 0x0f, participant}};
  id.writer_guid[15] = (uint8_t)sequence;
  void *cdr = calloc(1, size + 1);
  tb__parked_reply_t *reply = tb__parked_reply_create(&id, cdr, size, due_ns);
  assert_non_null(reply);
  free(cdr);
  return reply;
}

/* Returns the sequence number of the only one that was pushed out; 0: none was. */
static int64_t put(tb__parked_replies_t *replies, tb__parked_reply_t *reply)
{
  tb__parked_reply_t *pushed_out = tb__parked_replies_put(replies, reply);
  int64_t sequence = pushed_out ? pushed_out->id.sequence : 0;
  assert_true(tb__parked_replies_free(pushed_out) <= 1);
  return sequence;
}

static void test_they_keep_their_order(void **state)
{
  (void)state;
  tb__parked_replies_t replies = {0};
  assert_true(tb__parked_replies_next_due(&replies) == INT64_MAX);
  for (int64_t i = 1; i <= 3; i++)
    assert_int_equal(put(&replies, reply_of((uint8_t)i, i, 4, 100 - i)), 0);
  assert_int_equal(replies.bytes, 12);
  assert_int_equal(tb__parked_replies_next_due(&replies), 97);
  tb__parked_reply_t *second = replies.first->next;
  assert_int_equal(second->client.bytes[2], 2);
  tb__parked_replies_take(&replies, second);
  assert_int_equal(tb__parked_replies_free(second), 1);
  assert_int_equal(replies.count, 2);
  assert_int_equal(replies.bytes, 8);
  assert_int_equal(replies.first->id.sequence, 1);
  assert_int_equal(replies.first->next->id.sequence, 3);
  assert_int_equal(tb__parked_replies_free(replies.first), 2);
}

static void test_one_participant_pushes_out_its_own(void **state)
{
  (void)state;
  tb__parked_replies_t replies = {0};
  assert_int_equal(put(&replies, reply_of(1, 1, 4, 0)), 0);
  for (int64_t i = 2; i < 2 + TB__PARKED_MAX_OF_ONE; i++)
    assert_int_equal(put(&replies, reply_of(2, i, 4, 0)), 0);
  for (int64_t i = 0; i < 100; i++)
    assert_int_equal(put(&replies, reply_of(2, 50 + i, 4, 0)),
                     i < TB__PARKED_MAX_OF_ONE ? 2 + i : 50 + i - TB__PARKED_MAX_OF_ONE);
  assert_int_equal(replies.first->id.sequence, 1);
  assert_int_equal(replies.count, 1 + TB__PARKED_MAX_OF_ONE);
  tb__parked_replies_free(replies.first);
}

static void test_many_participants_push_out_the_oldest(void **state)
{
  (void)state;
  tb__parked_replies_t replies = {0};
  for (int64_t i = 1; i <= 200; i++)
    assert_int_equal(put(&replies, reply_of((uint8_t)i, i, 4, 0)),
                     i <= TB__PARKED_MAX ? 0 : i - TB__PARKED_MAX);
  assert_int_equal(replies.count, TB__PARKED_MAX);
  tb__parked_replies_free(replies.first);
}

static void test_their_bytes_are_bounded(void **state)
{
  (void)state;
  tb__parked_replies_t replies = {0};
  assert_int_equal(put(&replies, reply_of(1, 1, TB__PARKED_BYTES_MAX - 8, 0)), 0);
  assert_int_equal(put(&replies, reply_of(2, 2, 8, 0)), 0);
  assert_int_equal(put(&replies, reply_of(3, 3, 4, 0)), 1);
  tb__parked_reply_t *pushed_out =
      tb__parked_replies_put(&replies, reply_of(4, 4, TB__PARKED_BYTES_MAX + 4, 0));
  assert_int_equal(tb__parked_replies_free(pushed_out), 2);
  assert_int_equal(replies.count, 1); /* a single one may have any size */
  assert_int_equal(put(&replies, reply_of(5, 5, 4, 0)), 4);
  tb__parked_replies_free(replies.first);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_they_keep_their_order),
      cmocka_unit_test(test_one_participant_pushes_out_its_own),
      cmocka_unit_test(test_many_participants_push_out_the_oldest),
      cmocka_unit_test(test_their_bytes_are_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
