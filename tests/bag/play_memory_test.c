/* The memory of a player does not grow with the bag: 2 GiB of messages,
 * which are all zeros and small in their files, go to a transport that is slower than reading. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <timebase/bag_writer.h>
#include <timebase/player.h>
#include <unistd.h>

#include "test.h"

#define MESSAGES     2200
#define MESSAGE_SIZE ((size_t)1 << 20)
#define LOOKS        8 /* at each byte: it takes longer than to unpack it */
/* The queue holds 64 MiB; the rest is what is unpacked, the program and its libraries. */
#define LIMIT_KIB (128 * 1024)

/* ---- the process that plays ---- */

typedef struct sums {
  uint64_t bytes, sum;
} sums_t;

static tb_status_t add_topic(void *self, const tb_bag_topic_t *topic, void **out_handle,
                             tb_error_t *error)
{
  (void)topic;
  (void)error;
  *out_handle = self;
  return TB_OK;
}

static tb_status_t publish(void *self, void *handle, const void *data, size_t size,
                           tb_error_t *error)
{
  sums_t *sums = self;
  const volatile uint64_t *words = data;
  (void)handle;
  (void)error;
  for (int look = 0; look < LOOKS; look++)
    for (size_t i = 0; i < size / sizeof *words; i++)
      sums->sum += words[i];
  sums->bytes += size;
  return TB_OK;
}

static int play(const char *bag)
{
  static const tb_play_transport_ops_t ops = {.add_topic = add_topic, .publish = publish};
  sums_t sums = {0};
  const tb_play_transport_t transport = {&ops, &sums, {NULL, NULL}};
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_player_t *player = NULL;
  options.rate = TB_PLAYER_FASTEST;
  bool good = !tb_bag_reader_open(bag, NULL, &reader, NULL) &&
              !tb_player_create(reader, &transport, &options, &player, NULL) &&
              !tb_player_run(player, NULL, NULL);
  tb_player_destroy(player);
  tb_bag_reader_close(reader);
  return good && sums.bytes == MESSAGES * MESSAGE_SIZE ? 0 : 1;
}

/* ---- the test ---- */

static void make_bag(const char *path, const tb_bag_writer_options_t *options)
{
  const tb_bag_writer_topic_t topic = {.name = "/zeros", .type = "std_msgs/msg/ByteMultiArray"};
  tb_bag_writer_t *writer;
  size_t index;
  uint8_t *message = calloc(1, MESSAGE_SIZE);
  assert_non_null(message);
  message[1] = 1;
  assert_ok(tb_bag_writer_create(path, options, &writer, NULL));
  assert_ok(tb_bag_writer_add_topic(writer, &topic, &index, NULL));
  for (int i = 0; i < MESSAGES; i++)
    assert_ok(tb_bag_writer_write(writer, index, i, i, message, MESSAGE_SIZE, NULL));
  assert_ok(tb_bag_writer_close(writer, NULL));
  free(message);
}

static void remove_folder(const char *folder)
{
  char command[PATH_MAX + 16];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  assert_int_equal(system(command), 0);
}

/* The most memory that the process had, in KiB. */
static long play_in_process(const char *bag)
{
  int status;
  struct rusage usage;
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl("/proc/self/exe", "play_memory_test", bag, (char *)NULL);
    _exit(127);
  }
  assert_int_equal(wait4(pid, &status, 0, &usage), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  return usage.ru_maxrss;
}

static void expect_little_memory(const tb_bag_writer_options_t *options)
{
  char folder[] = "/tmp/timebase-memory-XXXXXX", bag[64];
  assert_non_null(mkdtemp(folder));
  snprintf(bag, sizeof bag, "%s/bag", folder);
  make_bag(bag, options);
  long most_kib = play_in_process(bag);
  remove_folder(folder);
  print_message("%s: %ld MiB\n", options->storage_id, most_kib / 1024);
  assert_in_range(most_kib, 1, LIMIT_KIB);
}

static void test_chunks_of_mcap(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.storage_id = "mcap";
  options.chunk_compression = TB_BAG_CHUNKS_ZSTD;
  options.compression_level = 1;
  expect_little_memory(&options);
}

static void test_messages_of_sqlite3(void **state)
{
  (void)state;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.compression_mode = TB_BAG_COMPRESS_MESSAGES;
  options.compression_level = 1;
  expect_little_memory(&options);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chunks_of_mcap),
      cmocka_unit_test(test_messages_of_sqlite3),
  };
  if (argc == 2) return play(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
