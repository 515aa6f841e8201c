/* Bytes as one database file, through a temporary one. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/bag_reader.h>
#include <unistd.h>

#include "fuzz.h"

/* A damaged index can make any number of rows; far above what a small input holds. */
#define MAX_CALLS 100000

static void read_all(tb_bag_reader_t *reader)
{
  volatile uint8_t sum = 0;
  for (int calls = 0; calls < MAX_CALLS; calls++) {
    tb_bag_message_t message;
    tb_error_t error = TB_ERROR_INIT;
    tb_status_t status = tb_bag_reader_next(reader, &message, &error);
    if (status == TB_ERR_END) return;
    if (status) continue;
    if (message.size < 4 || message.log_time_ns < 0 ||
        message.topic >= tb_bag_reader_info(reader)->topic_count)
      abort();
    for (size_t i = 0; i < message.size; i++)
      sum = (uint8_t)(sum + message.data[i]);
  }
  abort(); /* reading does not end */
}

static void read_file(const char *path)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.counts = TB_BAG_COUNTS_EXACT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, &options, &reader, &error)) return;
  read_all(reader);
  tb_bag_reader_seek(reader, tb_bag_reader_info(reader)->end_ns);
  read_all(reader);
  tb_bag_reader_close(reader);
}

/* SQLite resolves links, so the path of a memfd in /proc does not work. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char path[] = "/dev/shm/timebase-fuzz-XXXXXX";
  int fd = mkstemp(path);
  if (fd < 0) abort();
  bool written = write(fd, data, size) == (ssize_t)size;
  close(fd);
  if (written) read_file(path);
  unlink(path);
  return 0;
}
