#include "bridge_queue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define SOME 100

/* The thread of the queue waits in its first message until the test lets it go. */
static struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool is_in, is_open;
  size_t sent, lost;
  size_t first_sent;
  bool is_in_order;
} gate;

static size_t number_of(const bridge_message_t *message)
{
  size_t number;
  memcpy(&number, message->bytes, sizeof number);
  return number;
}

static void send_one(const bridge_message_t *message)
{
  static size_t last;
  pthread_mutex_lock(&gate.mutex);
  gate.is_in = true;
  pthread_cond_broadcast(&gate.changed);
  while (!gate.is_open)
    pthread_cond_wait(&gate.changed, &gate.mutex);
  if (gate.sent == 1) gate.first_sent = number_of(message);
  if (gate.sent > 1 && number_of(message) != last + 1) gate.is_in_order = false;
  last = number_of(message);
  gate.sent++;
  pthread_cond_broadcast(&gate.changed);
  pthread_mutex_unlock(&gate.mutex);
}

static void lose_one(const bridge_message_t *message)
{
  (void)message;
  gate.lost++;
}

static void begin(bridge_queue_t *queue)
{
  gate = (struct gate){.is_in_order = true};
  pthread_mutex_init(&gate.mutex, NULL);
  pthread_cond_init(&gate.changed, NULL);
  assert_int_equal(bridge_queue_begin(queue, send_one, lose_one), 0);
}

static void put(bridge_queue_t *queue, size_t number, size_t size)
{
  uint8_t *bytes = calloc(1, size);
  assert_non_null(bytes);
  memcpy(bytes, &number, sizeof number);
  assert_true(bridge_queue_put(queue, NULL, NULL, bytes, size));
  free(bytes);
}

static void await_first(void)
{
  pthread_mutex_lock(&gate.mutex);
  while (!gate.is_in)
    pthread_cond_wait(&gate.changed, &gate.mutex);
  pthread_mutex_unlock(&gate.mutex);
}

static void open_and_await(size_t count)
{
  pthread_mutex_lock(&gate.mutex);
  gate.is_open = true;
  pthread_cond_broadcast(&gate.changed);
  while (gate.sent < count)
    pthread_cond_wait(&gate.changed, &gate.mutex);
  pthread_mutex_unlock(&gate.mutex);
}

static void test_the_oldest_are_lost(void **state)
{
  (void)state;
  bridge_queue_t queue;
  begin(&queue);
  put(&queue, 0, sizeof(size_t));
  await_first();
  for (size_t i = 1; i <= BRIDGE_QUEUE_MESSAGES + SOME; i++)
    put(&queue, i, sizeof i);
  assert_int_equal(gate.lost, SOME);
  open_and_await(BRIDGE_QUEUE_MESSAGES + 1);
  bridge_queue_end(&queue);
  assert_int_equal(gate.first_sent, SOME + 1);
  assert_true(gate.is_in_order);
}

static void test_bytes_are_bounded_but_for_one_message(void **state)
{
  (void)state;
  bridge_queue_t queue;
  begin(&queue);
  put(&queue, 0, sizeof(size_t));
  await_first();
  put(&queue, 1, BRIDGE_QUEUE_BYTES / 2);
  put(&queue, 2, BRIDGE_QUEUE_BYTES / 2);
  assert_int_equal(gate.lost, 0);
  put(&queue, 3, sizeof(size_t));
  assert_int_equal(gate.lost, 1);
  put(&queue, 4, BRIDGE_QUEUE_BYTES + 1);
  assert_int_equal(gate.lost, 3);
  assert_int_equal(queue.count, 1);
  open_and_await(2);
  bridge_queue_end(&queue);
  assert_int_equal(gate.first_sent, 4);
}

static void test_what_waits_is_freed_at_the_end(void **state)
{
  (void)state;
  bridge_queue_t queue, none = {0};
  begin(&queue);
  gate.is_open = true;
  for (size_t i = 0; i < SOME; i++)
    put(&queue, i, sizeof i);
  bridge_queue_end(&queue);
  bridge_queue_end(&queue);
  bridge_queue_end(&none);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_oldest_are_lost),
      cmocka_unit_test(test_bytes_are_bounded_but_for_one_message),
      cmocka_unit_test(test_what_waits_is_freed_at_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
