/* Bytes as one bag of ROS 1: read, searched, salvaged and checked. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/bag_check.h>
#include <timebase/bag_reader.h>
#include <unistd.h>

#include "fuzz.h"

/* Far above what a small input holds, a compressed chunk of the smallest messages included. */
#define MAX_CALLS 100000000

static uint64_t read_all(tb_bag_reader_t *reader)
{
  volatile uint8_t sum = 0;
  uint64_t count = 0;
  int64_t last_ns = 0;
  for (int calls = 0; calls < MAX_CALLS; calls++) {
    tb_bag_message_t message;
    tb_error_t error = TB_ERROR_INIT;
    tb_status_t status = tb_bag_reader_next(reader, &message, &error);
    if (status == TB_ERR_END) return count;
    if (status) continue;
    if (message.log_time_ns < last_ns || message.topic >= tb_bag_reader_info(reader)->topic_count)
      abort();
    last_ns = message.log_time_ns;
    count++;
    for (size_t i = 0; i < message.size; i += 64)
      sum = (uint8_t)(sum + message.data[i]);
  }
  abort(); /* reading does not end */
}

static uint64_t read_file(const char *path, tb_bag_damage_t damage)
{
  tb_bag_reader_t *reader = NULL;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.content = TB_BAG_CONTENT_ANY;
  options.counts = TB_BAG_COUNTS_EXACT;
  options.damage = damage;
  options.limits.chunk_size = UINT64_C(16) << 20;
  if (tb_bag_reader_open(path, &options, &reader, NULL)) return 0;
  uint64_t count = read_all(reader);
  tb_bag_reader_seek(reader, tb_bag_reader_info(reader)->end_ns);
  read_all(reader);
  tb_bag_reader_close(reader);
  return count;
}

static void on_finding(const char *text, void *user)
{
  (void)text;
  (void)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char path[] = "/dev/shm/timebase-fuzz-XXXXXX.bag";
  tb_bag_check_result_t result;
  int fd = mkstemps(path, 4);
  if (fd < 0) abort();
  bool written = write(fd, data, size) == (ssize_t)size;
  close(fd);
  if (written) {
    uint64_t usual = read_file(path, TB_BAG_DAMAGE_REFUSE);
    uint64_t salvaged = read_file(path, TB_BAG_DAMAGE_SALVAGE);
    bool is_whole =
        !tb_bag_check(path, on_finding, NULL, &result, NULL) && result.finding_count == 0;
    if (is_whole && salvaged != usual) abort(); /* whole, but there is more or less in it */
  }
  unlink(path);
  return 0;
}
