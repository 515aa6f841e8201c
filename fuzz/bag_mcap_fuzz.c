/* Bytes as one MCAP file: read, searched, checked, and recovered into a copy that must be valid. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/bag_reader.h>
#include <unistd.h>

#include "fuzz.h"
#include "mcap/recover.h"

/* Far above what a small input holds, a compressed chunk of the smallest messages included. */
#define MAX_CALLS 100000000

static void read_all(tb_bag_reader_t *reader)
{
  volatile uint8_t sum = 0;
  int64_t last_ns = 0;
  for (int calls = 0; calls < MAX_CALLS; calls++) {
    tb_bag_message_t message;
    tb_error_t error = TB_ERROR_INIT;
    tb_status_t status = tb_bag_reader_next(reader, &message, &error);
    if (status == TB_ERR_END) return;
    if (status) continue;
    if (message.size < 4 || message.log_time_ns < last_ns ||
        message.topic >= tb_bag_reader_info(reader)->topic_count)
      abort();
    last_ns = message.log_time_ns;
    sum = (uint8_t)(sum + message.data[0] + message.data[message.size - 1]);
  }
  abort(); /* reading does not end */
}

static void read_file(const char *path)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, NULL, &reader, &error)) return;
  read_all(reader);
  tb_bag_reader_seek(reader, tb_bag_reader_info(reader)->end_ns);
  read_all(reader);
  tb_bag_reader_close(reader);
}

static void recover_file(const char *path)
{
  char copy[64];
  const tb__bag_output_options_t options = {.compression = TB__BAG_OUTPUT_LZ4};
  tb__mcap_recovery_t recovered, checked;
  snprintf(copy, sizeof copy, "%s.copy", path);
  if (!tb__mcap_recover(path, path, copy, &options, NULL, NULL, &recovered, NULL)) {
    if (tb__mcap_recover(copy, copy, NULL, NULL, NULL, NULL, &checked, NULL) ||
        checked.damages > 0 || checked.messages != recovered.messages)
      abort();
  }
  unlink(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char path[] = "/dev/shm/timebase-fuzz-XXXXXX.mcap";
  int fd = mkstemps(path, 5);
  if (fd < 0) abort();
  bool written = write(fd, data, size) == (ssize_t)size;
  close(fd);
  if (written) read_file(path);
  if (written) recover_file(path);
  unlink(path);
  return 0;
}
