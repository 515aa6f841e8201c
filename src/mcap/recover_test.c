/* Nothing that is intact may be lost, and nothing that is not may pass for it. */
#include "mcap/recover.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/bag_reader.h>

#include "bag/test_bag.h"
#include "bag/test_mcap.h"
#include "seed.h"
#include "test.h"

#define PER_CHUNK 8
#define CHUNKS    5
#define MESSAGES  (PER_CHUNK * CHUNKS)

static char *folder, *path, *copy;

typedef struct losses {
  int count;
  int harmless;
  tb_status_t last;
  tb__mcap_damage_t damage;
} losses_t;

static int setup(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  path = tb__test_path(folder, "a.mcap");
  copy = tb__test_path(folder, "b.mcap");
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  free(path);
  free(copy);
  tb__test_folder_remove(folder);
  return 0;
}

static void add(tb__test_mcap_t *mcap, unsigned number)
{
  uint8_t data[100] = {0, 1};
  uint32_t noise = number * 2654435761U; /* so that chunks stay large when compressed */
  for (int i = 8; i < 100; i++) {
    noise = noise * 1664525 + 1013904223;
    data[i] = (uint8_t)(noise >> 24);
  }
  memcpy(data + 4, &number, sizeof number);
  tb__test_mcap_message(mcap, 1, 1000 + number, data, sizeof data);
}

/* COMPRESSION < 0: without chunks. */
static void make(tb__test_mcap_t *mcap, int compression)
{
  tb__test_mcap_begin(mcap);
  tb__test_mcap_channel(mcap, 1, "/a", "std_msgs/msg/String");
  for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
    if (compression >= 0) tb__test_mcap_chunk_begin(mcap, (tb__mcap_compression_t)compression);
    for (unsigned i = 0; i < PER_CHUNK; i++)
      add(mcap, PER_CHUNK * chunk + i);
    if (compression >= 0) tb__test_mcap_chunk_end(mcap);
    if (chunk == 2) tb__test_mcap_attachment(mcap, "notes.txt", "some text");
  }
  tb__test_mcap_metadata(mcap, "rosbag2", "ROS_DISTRO", "jazzy");
  tb__test_mcap_end(mcap, true);
}

static void on_loss(void *user, const tb__mcap_damage_t *damage)
{
  losses_t *losses = user;
  losses->count++;
  losses->harmless += damage->harm == TB__MCAP_HARMLESS;
  losses->last = damage->status;
  losses->damage = *damage;
  assert_non_null(strstr(damage->text, path));
}

static tb__mcap_recovery_t recover(const void *bytes, size_t size, losses_t *losses)
{
  const tb__bag_output_options_t options = {.chunk_size = 4096, .compression = TB__BAG_OUTPUT_ZSTD};
  tb__mcap_recovery_t recovered = {0};
  tb_error_t error = TB_ERROR_INIT;
  *losses = (losses_t){0};
  tb__test_write(path, bytes, size);
  remove(copy);
  if (tb__mcap_recover(path, path, copy, &options, on_loss, losses, &recovered, &error))
    fail_msg("%s", error.text);
  assert_int_equal(recovered.damages, losses->count - losses->harmless);
  return recovered;
}

/* The copy is whole, in order, and has as many messages as were counted; returns the last number.
 */
static unsigned assert_copy(uint64_t messages)
{
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb__mcap_recovery_t checked = {0};
  unsigned number = 0;
  if (tb_bag_reader_open(copy, NULL, &reader, &error)) fail_msg("%s", error.text);
  for (uint64_t i = 0; i < messages; i++) {
    if (tb_bag_reader_next(reader, &message, &error)) fail_msg("%s", error.text);
    memcpy(&number, message.data + 4, sizeof number);
    assert_int_equal(message.log_time_ns, 1000 + number);
  }
  assert_int_equal(tb_bag_reader_next(reader, &message, &error), TB_ERR_END);
  tb_bag_reader_close(reader);
  assert_ok(tb__mcap_recover(copy, copy, NULL, NULL, NULL, NULL, &checked, &error));
  assert_int_equal(checked.damages, 0);
  assert_int_equal(checked.messages, messages);
  return number;
}

static void test_whole_files(void **state)
{
  (void)state;
  for (int compression = -1; compression < 3; compression++) {
    tb__test_mcap_t mcap = {0};
    losses_t losses;
    make(&mcap, compression);
    tb__mcap_recovery_t recovered = recover(mcap.file.bytes, mcap.file.size, &losses);
    tb__test_mcap_fini(&mcap);
    assert_int_equal(losses.count, 0);
    assert_int_equal(recovered.messages, MESSAGES);
    assert_int_equal(recovered.attachments, 1);
    assert_int_equal(recovered.metadata, 1);
    assert_copy(MESSAGES);
  }
}

/* Cut anywhere: all messages that are whole come back, also those of the chunk that was cut. */
static void test_cut_at_every_byte(void **state)
{
  (void)state;
  for (int compression = -1; compression < 3; compression++) {
    tb__test_mcap_t mcap = {0};
    losses_t losses;
    uint64_t last = 0;
    make(&mcap, compression);
    for (size_t size = TB__MCAP_MAGIC_SIZE; size < mcap.file.size; size += 13) {
      tb__mcap_recovery_t recovered = recover(mcap.file.bytes, size, &losses);
      if (losses.count != 1 || losses.last != TB_ERR_TRUNCATED || recovered.messages < last)
        fail_msg("compression %d, cut at %zu: %d losses, %s: %s; %llu messages", compression, size,
                 losses.count, tb_status_name(losses.last), losses.damage.text,
                 (unsigned long long)recovered.messages);
      if (recovered.messages > 0)
        assert_int_equal(assert_copy(recovered.messages), recovered.messages - 1);
      /* Raw bytes are worth a message each 131; compressed ones come in blocks. */
      if (compression <= 0 && recovered.messages < MESSAGES)
        assert_true(recovered.messages + 4 >= size / 175);
      last = recovered.messages;
    }
    assert_int_equal(last, MESSAGES);
    tb__test_mcap_fini(&mcap);
  }
}

static void test_flipped_bits(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  for (int compression = 0; compression < 3; compression++) {
    tb__test_mcap_t mcap = {0};
    losses_t losses;
    make(&mcap, compression);
    for (int i = 0; i < 200; i++) {
      size_t at = (size_t)(test_random(&random) % mcap.file.size);
      uint8_t flip = (uint8_t)(1 << test_random(&random) % 8);
      if (at < 500) continue; /* the one definition of the channel */
      mcap.file.bytes[at] ^= flip;
      tb__mcap_recovery_t recovered = recover(mcap.file.bytes, mcap.file.size, &losses);
      mcap.file.bytes[at] ^= flip;
      if (losses.count == 0 || recovered.messages < MESSAGES - 2 * PER_CHUNK)
        fail_msg("byte %zu ^ %02x: %d losses, %llu messages", at, flip, losses.count,
                 (unsigned long long)recovered.messages);
    }
    tb__test_mcap_fini(&mcap);
  }
}

/* A chunk's opcode that reads as the footer's, and an index's as that of the end of the data. */
static void test_flipped_opcodes_end_nothing(void **state)
{
  (void)state;
  for (int compression = 0; compression < 3; compression++) {
    tb__test_mcap_t mcap = {0};
    losses_t losses;
    make(&mcap, compression);
    for (size_t at = 500; at < mcap.file.size; at++) {
      uint8_t was = mcap.file.bytes[at];
      if (was != TB__MCAP_CHUNK && was != TB__MCAP_MESSAGE_INDEX) continue;
      mcap.file.bytes[at] = was == TB__MCAP_CHUNK ? TB__MCAP_FOOTER : TB__MCAP_DATA_END;
      tb__mcap_recovery_t recovered = recover(mcap.file.bytes, mcap.file.size, &losses);
      mcap.file.bytes[at] = was;
      if (losses.count == 0 || recovered.messages < MESSAGES - 2 * PER_CHUNK)
        fail_msg("byte %zu: %d losses, %llu messages", at, losses.count,
                 (unsigned long long)recovered.messages);
    }
    tb__test_mcap_fini(&mcap);
  }
}

static void test_what_is_reported_of_a_chunk(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  losses_t losses;
  make(&mcap, TB__MCAP_NONE);
  uint8_t *chunk = mcap.file.bytes + 500;
  while (chunk[0] != TB__MCAP_CHUNK || chunk[7] || chunk[8] || chunk[6])
    chunk++;
  chunk[TB__MCAP_HEAD_SIZE + 16] ^= 4; /* its size */
  tb__mcap_recovery_t recovered = recover(mcap.file.bytes, mcap.file.size, &losses);
  assert_int_equal(losses.count, 1);
  assert_int_equal(losses.last, TB_ERR_CORRUPT);
  assert_int_equal(losses.damage.offset, chunk - mcap.file.bytes);
  assert_true(losses.damage.has_times);
  assert_int_equal((losses.damage.start_ns - 1000) % PER_CHUNK, 0);
  assert_int_equal(losses.damage.end_ns, losses.damage.start_ns + PER_CHUNK - 1);
  assert_int_equal(losses.damage.message_count, PER_CHUNK);
  assert_int_equal(recovered.lost_messages, PER_CHUNK);
  assert_int_equal(recovered.messages, MESSAGES - PER_CHUNK);
  assert_copy(recovered.messages);
  tb__test_mcap_fini(&mcap);
}

/* Most messages of such a chunk are as they were. */
static void test_a_chunk_with_a_wrong_crc_is_kept_and_reported(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  losses_t losses;
  make(&mcap, TB__MCAP_NONE);
  uint8_t *chunk = mcap.file.bytes + 500;
  while (chunk[0] != TB__MCAP_CHUNK || chunk[7] || chunk[8] || chunk[6])
    chunk++;
  chunk[500] ^= 4; /* in the data of a message */
  tb__mcap_recovery_t recovered = recover(mcap.file.bytes, mcap.file.size, &losses);
  assert_int_equal(losses.count, 1);
  assert_int_equal(losses.damage.harm, TB__MCAP_DOUBTFUL);
  assert_int_equal(losses.damage.offset, chunk - mcap.file.bytes);
  assert_true(losses.damage.has_times);
  assert_int_equal(recovered.doubtful_messages, PER_CHUNK);
  assert_int_equal(recovered.lost_messages, 0);
  assert_int_equal(recovered.messages, MESSAGES);
  assert_copy(MESSAGES);
  tb__test_mcap_fini(&mcap);
}

static void test_a_hole(void **state)
{
  (void)state;
  for (int compression = -1; compression < 3; compression++) {
    tb__test_mcap_t mcap = {0};
    losses_t losses;
    make(&mcap, compression);
    memset(mcap.file.bytes + mcap.file.size / 3, 0, 600);
    tb__mcap_recovery_t recovered = recover(mcap.file.bytes, mcap.file.size, &losses);
    assert_true(losses.count >= 1);
    assert_true(recovered.messages >= MESSAGES - 2 * PER_CHUNK && recovered.messages < MESSAGES);
    assert_copy(recovered.messages);
    tb__test_mcap_fini(&mcap);
  }
}

/* As rosbag2 has it: channels stand in the first chunk that needs them, and again in the summary.
 */
static void test_definitions_lost_with_a_chunk_are_in_the_summary(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  tb__test_mcap_begin(&mcap);
  size_t first = mcap.file.size;
  for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
    tb__test_mcap_chunk_begin(&mcap, TB__MCAP_NONE);
    if (chunk == 0) tb__test_mcap_channel(&mcap, 1, "/a", "std_msgs/msg/String");
    for (unsigned i = 0; i < PER_CHUNK; i++)
      add(&mcap, PER_CHUNK * chunk + i);
    tb__test_mcap_chunk_end(&mcap);
  }
  tb__test_mcap_end(&mcap, true);
  mcap.file.bytes[first + TB__MCAP_HEAD_SIZE + 16] ^= 1; /* the chunk's size */
  losses_t losses;
  tb__mcap_recovery_t recovered = recover(mcap.file.bytes, mcap.file.size, &losses);
  assert_int_equal(recovered.messages, MESSAGES - PER_CHUNK);
  assert_int_equal(assert_copy(recovered.messages), MESSAGES - 1);
  assert_int_equal(losses.count, 2);
  assert_non_null(strstr(losses.damage.text, "channel 1 is defined only in the summary"));
  tb__test_mcap_fini(&mcap);
}

int main(void)
{
  setenv("TMPDIR", "/dev/shm", 0); /* thousands of files, each written from scratch */
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_whole_files),
      TEST(test_cut_at_every_byte),
      TEST(test_flipped_bits),
      TEST(test_flipped_opcodes_end_nothing),
      TEST(test_what_is_reported_of_a_chunk),
      TEST(test_a_chunk_with_a_wrong_crc_is_kept_and_reported),
      TEST(test_a_hole),
      TEST(test_definitions_lost_with_a_chunk_are_in_the_summary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
