/* Reading ahead on a thread: order, bounds, seeks, and reads that do not return. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "play/play_fixture.h"

#define MANY 500

static struct gate {
  tb_status_t (*read)(tb__bag_file_t *file, tb__bag_row_t *row, tb_error_t *error);
  int64_t closed_at; /* row id; 0: none */
  sem_t opened;
  _Atomic int64_t reads;
} gate;

static tb_status_t gated_read(tb__bag_file_t *file, tb__bag_row_t *row, tb_error_t *error)
{
  if (row->id == gate.closed_at)
    while (sem_wait(&gate.opened) != 0)
      ;
  atomic_fetch_add(&gate.reads, 1);
  return gate.read(file, row, error);
}

static void gate_init(fixture_t *f, int64_t closed_at)
{
  gate.read = f->bag.storage.read_data;
  gate.closed_at = closed_at;
  atomic_store(&gate.reads, 0);
  assert_int_equal(sem_init(&gate.opened, 0, 0), 0);
  f->bag.storage.read_data = gated_read;
}

/* On the system's steady clock: threads cannot share the manual one. */
static void create(fixture_t *f)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb_player_create(f->reader, &f->transport, &f->options, &f->player, &error) != TB_OK)
    fail_msg("%s", error.text);
}

/* --- a read that does not return --- */

typedef struct wait_watch {
  fixture_t *f;
  int64_t last_ns;
  size_t messages, ticks_while_starved;
  bool opened; /* the gate */
} wait_watch_t;

static void wait_tick(void *user, int64_t steady_ns, int64_t time_ns, tb_jump_reason_t reason)
{
  wait_watch_t *watch = user;
  (void)steady_ns;
  (void)reason;
  assert_true(time_ns >= watch->last_ns);
  watch->last_ns = time_ns;
  if (watch->messages != 2 || watch->opened) return;
  assert_int_equal(time_ns, 1001 * MS); /* not ahead of what is ready */
  if (!fixture_status(watch->f).starved || ++watch->ticks_while_starved != 20) return;
  watch->opened = true;
  assert_int_equal(sem_post(&gate.opened), 0);
}

static void wait_message(void *user, int64_t steady_ns, const char *topic, const void *data,
                         size_t size)
{
  wait_watch_t *watch = user;
  (void)steady_ns;
  (void)topic;
  (void)data;
  (void)size;
  watch->messages++;
}

static void test_ticks_go_on_while_a_read_does_not_return(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {AT(1000), AT(1001), AT(1005), AT(1006)};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  wait_watch_t watch = {.f = &f};
  gate_init(&f, 3);
  f.options.read_ahead_messages = 10;
  f.options.clock_hz = 1000;
  f.fake.user = &watch;
  f.fake.on_tick = wait_tick;
  f.fake.on_message = wait_message;
  create(&f);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  assert_int_equal(f.fake.messages, COUNT(messages));
  assert_int_equal(watch.ticks_while_starved, 20);
  assert_int_equal(watch.last_ns, 1006 * MS);
  assert_false(fixture_status(&f).starved);
  sem_destroy(&gate.opened);
  fixture_fini(&f);
}

/* --- order and bounds --- */

static tb__fake_message_t many[MANY];
static uint8_t payloads[MANY][8];

static void make_many(void)
{
  for (size_t i = 0; i < MANY; i++) {
    payloads[i][1] = 1;
    memcpy(&payloads[i][4], &(uint32_t){(uint32_t)i}, 4);
    many[i] = (tb__fake_message_t){.topic = i % 2,
                                   .log_time_ns = (1000 + (int64_t)i) * MS,
                                   .data = payloads[i],
                                   .size = sizeof payloads[i]};
  }
}

typedef struct order_watch {
  fixture_t *f;
  uint32_t next;
  int64_t room; /* messages that may have been read and not sent */
  bool sought;
} order_watch_t;

static void order_message(void *user, int64_t steady_ns, const char *topic, const void *data,
                          size_t size)
{
  order_watch_t *watch = user;
  uint32_t index = 0;
  (void)steady_ns;
  (void)topic;
  assert_int_equal(size, sizeof payloads[0]);
  memcpy(&index, (const uint8_t *)data + 4, 4);
  assert_int_equal(index, watch->next);
  watch->next++;
  if (index % 16 == 0) fixture_check(watch->f);
  if (watch->room > 0) assert_in_range(atomic_load(&gate.reads) - index, 0, watch->room);
  if (watch->next != 300 || watch->sought) return;
  watch->sought = true;
  watch->next = 100;
  assert_ok(tb_player_seek(watch->f->player, 1100 * MS, NULL));
}

static void play_many(size_t messages, size_t bytes, order_watch_t watch)
{
  fixture_t f;
  make_many();
  fixture_init(&f, many, MANY);
  gate_init(&f, 0);
  watch.f = &f;
  f.options.rate = TB_PLAYER_FASTEST;
  f.options.read_ahead_messages = messages;
  f.options.read_ahead_bytes = bytes;
  f.fake.user = &watch;
  f.fake.on_message = order_message;
  create(&f);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  assert_int_equal(watch.next, MANY);
  sem_destroy(&gate.opened);
  fixture_fini(&f);
}

static void test_the_queue_is_bounded(void **state)
{
  (void)state;
  /* + 2 that are in hand on either side, + 1 that was read when the player was created */
  play_many(1, SIZE_MAX, (order_watch_t){.room = 1 + 3, .sought = true});
  play_many(7, SIZE_MAX, (order_watch_t){.room = 7 + 3, .sought = true});
  play_many(1000, 40, (order_watch_t){.room = 5 + 3, .sought = true});
  play_many(1000, 0, (order_watch_t){.room = 1 + 3, .sought = true});
}

static void test_a_seek_drops_what_was_read(void **state)
{
  (void)state;
  play_many(1, SIZE_MAX, (order_watch_t){.room = 0});
  play_many(50, SIZE_MAX, (order_watch_t){.room = 0});
  play_many(1000, SIZE_MAX, (order_watch_t){.room = 0});
}

/* --- what lies in blocks --- */

#define SIZED 200

typedef struct sized_watch {
  fixture_t *f;
  size_t next;
  bool sought;
  tb__loan_t kept[2 * SIZED]; /* also when the player and its reader have gone */
  size_t kept_count;
} sized_watch_t;

static tb__fake_message_t sized[SIZED];

/* Around the size of a block, which is 65536 with what is noted beside each message. */
static size_t size_of_message(size_t index)
{
  static const size_t sizes[] = {4, 5, 1000, 63, 64, 65, 30000, 8, 65537, 200000};
  return index < 160 ? sizes[index % COUNT(sizes)] : 65536 - (index - 160) * 8;
}

static void make_sized(uint8_t *bytes)
{
  for (size_t i = 0; i < SIZED; i++) {
    sized[i] = (tb__fake_message_t){
        .log_time_ns = (1000 + (int64_t)i) * MS, .data = bytes, .size = size_of_message(i)};
    for (size_t k = 0; k < sized[i].size; k++)
      bytes[k] = k < 4 ? k == 1 : (uint8_t)(i * 31 + k * 7 + k / 256);
    bytes += sized[i].size;
  }
}

static void sized_message(void *user, int64_t steady_ns, const char *topic, const void *data,
                          size_t size)
{
  sized_watch_t *watch = user;
  (void)steady_ns;
  (void)topic;
  assert_int_equal(size, sized[watch->next].size);
  assert_memory_equal(data, sized[watch->next].data, size);
  const tb__loan_t *loan = tb__loan_find(data, size);
  assert_true(size < 65536 ? !loan || size > 65000 : !!loan);
  assert_null(tb__loan_find(data, size - 1));
  if (loan) {
    loan->keep(loan->owner);
    watch->kept[watch->kept_count++] = *loan;
  }
  watch->next++;
  if (watch->next != 120 || watch->sought) return;
  watch->sought = true;
  watch->next = 60;
  assert_ok(tb_player_seek(watch->f->player, 1060 * MS, NULL));
}

static void give_back(sized_watch_t *watch)
{
  static const uint8_t zeros[3];
  assert_true(watch->kept_count >= 4 * SIZED / 20);
  for (size_t i = 0; i < watch->kept_count; i++) {
    const tb__loan_t *loan = &watch->kept[i];
    const uint8_t *data = loan->data;
    size_t index = 0;
    while (sized[index].size != loan->size || memcmp(sized[index].data, data, loan->size) != 0)
      assert_true(++index < SIZED);
    assert_int_equal(loan->padded, (loan->size + 3) / 4 * 4);
    assert_memory_equal(data + loan->size, zeros, loan->padded - loan->size);
    loan->give_back(loan->owner);
  }
}

static void test_messages_of_all_sizes(void **state)
{
  (void)state;
  static const size_t queues[] = {1, 3, 1000};
  size_t total = 0;
  for (size_t i = 0; i < SIZED; i++)
    total += size_of_message(i);
  uint8_t *bytes = malloc(total);
  assert_non_null(bytes);
  make_sized(bytes);
  for (size_t i = 0; i < COUNT(queues); i++) {
    fixture_t f;
    fixture_init(&f, sized, SIZED);
    sized_watch_t watch = {.f = &f};
    f.options.rate = TB_PLAYER_FASTEST;
    f.options.read_ahead_messages = queues[i];
    f.fake.user = &watch;
    f.fake.on_message = sized_message;
    create(&f);
    assert_ok(tb_player_run(f.player, NULL, NULL));
    assert_int_equal(watch.next, SIZED);
    fixture_fini(&f);
    give_back(&watch);
  }
  free(bytes);
}

/* --- a reader that reads ahead itself --- */

#define LATCHED_QOS "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"
#define STEPS       600
#define STATE_EACH  50

static const tb__fake_topic_t with_state[] = {{"/a", "std_msgs/msg/String", NULL, NULL},
                                              {"/state", "std_msgs/msg/String", LATCHED_QOS, NULL}};
static tb__fake_message_t steps[STEPS];

/* Each state is larger than what is handed over at once, so that reading is ahead of them. */
static void make_states(uint8_t *bytes, size_t size)
{
  for (size_t i = 0; i < STEPS; i++) {
    uint8_t *at = bytes + i / STATE_EACH * size;
    bool is_state = i % STATE_EACH == 0;
    at[1] = 1;
    at[4] = (uint8_t)(i / STATE_EACH);
    steps[i] = (tb__fake_message_t){.topic = is_state,
                                    .log_time_ns = (1 + (int64_t)i) * MS,
                                    .data = at,
                                    .size = is_state ? size : 3000};
  }
}

static void first_state(void *user, int64_t steady_ns, const char *topic, const void *data,
                        size_t size)
{
  int *state = user;
  (void)steady_ns, (void)size;
  if (*state < 0 && strcmp(topic, "/state") == 0) *state = ((const uint8_t *)data)[4];
}

static void test_a_reader_that_reads_ahead(void **state)
{
  (void)state;
  const size_t size = 100000;
  uint8_t *bytes = calloc(STEPS / STATE_EACH, size);
  assert_non_null(bytes);
  make_states(bytes, size);
  for (int round = 0; round < 5; round++) {
    fixture_t f;
    int restored = -1;
    fixture_init(&f, steps, STEPS);
    tb_bag_reader_close(f.reader);
    f.bag.topics = with_state;
    f.bag.topic_count = COUNT(with_state);
    const tb_bag_reader_options_t options = {.read_ahead_size = 300000};
    assert_ok(tb__fake_bag_open(&f.bag, &options, &f.reader, NULL));
    f.options.start_offset.ns = 420 * MS;
    f.options.rate = TB_PLAYER_FASTEST;
    f.fake.user = &restored;
    f.fake.on_message = first_state;
    create(&f);
    assert_ok(tb_player_run(f.player, NULL, NULL));
    assert_int_equal(restored, 420 / STATE_EACH);
    fixture_fini(&f);
  }
  free(bytes);
}

static void stop_in_loop(void *user, int64_t steady_ns, const char *topic, const void *data,
                         size_t size)
{
  fixture_t *f = user;
  (void)steady_ns;
  (void)topic;
  (void)data;
  (void)size;
  if (f->fake.messages == 3 * MANY + 10) tb_player_stop(f->player);
}

static void test_rounds(void **state)
{
  (void)state;
  fixture_t f;
  make_many();
  fixture_init(&f, many, MANY);
  f.options.rate = TB_PLAYER_FASTEST;
  f.options.read_ahead_messages = 20;
  f.options.loop = true;
  f.fake.user = &f;
  f.fake.on_message = stop_in_loop;
  create(&f);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  assert_int_equal(fixture_status(&f).loops, 3);
  assert_int_equal(fixture_status(&f).messages, 3 * MANY + 10);
  fixture_fini(&f);
}

static void test_bad_rows_are_counted_once(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {
      {.log_time_ns = 1, .fault = TB_ERR_CORRUPT}, AT(1), {.log_time_ns = -1}, AT(2)};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  f.options.read_ahead_messages = 20;
  create(&f);
  assert_int_equal(fixture_status(&f).bad_rows, 2);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  assert_int_equal(fixture_status(&f).messages, 2);
  assert_int_equal(fixture_status(&f).bad_rows, 2);
  fixture_fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ticks_go_on_while_a_read_does_not_return),
      cmocka_unit_test(test_the_queue_is_bounded),
      cmocka_unit_test(test_a_seek_drops_what_was_read),
      cmocka_unit_test(test_messages_of_all_sizes),
      cmocka_unit_test(test_a_reader_that_reads_ahead),
      cmocka_unit_test(test_rounds),
      cmocka_unit_test(test_bad_rows_are_counted_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
