/* Bytes as one MCAP file: read, searched, checked, its parts listed and added to, and recovered
 * into a copy that must be valid. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/bag_reader.h>
#include <timebase/mcap_file.h>
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

typedef struct parts {
  const char *path;
  uint64_t end; /* of the part before */
  uint64_t file_size, count, sum;
} parts_t;

static tb_status_t add_bytes(const void *data, size_t size, void *user, tb_error_t *error)
{
  (void)error;
  parts_t *parts = user;
  parts->sum += size + (size ? ((const uint8_t *)data)[size - 1] & 0U : 0U);
  return TB_OK;
}

static bool look_at(const tb_mcap_part_t *part, void *user)
{
  parts_t *parts = user;
  if (part->offset < parts->end || part->length > parts->file_size ||
      part->offset > parts->file_size - part->length)
    abort();
  parts->end = part->offset + part->length;
  parts->count++;
  for (uint32_t i = 0; i < part->pair_count; i++)
    parts->sum += strlen(part->keys[i]) + strlen(part->values[i]);
  if (part->kind != TB_MCAP_PART_ATTACHMENT) return true;
  parts->sum = 0;
  tb_status_t status =
      tb_mcap_file_read_attachment(parts->path, part->offset, add_bytes, parts, NULL);
  if (strlen(part->name) > parts->file_size || (!status && parts->sum != part->size)) abort();
  return true;
}

static tb_status_t list_parts(const char *path, parts_t *parts)
{
  struct stat info;
  if (stat(path, &info)) abort();
  *parts = (parts_t){.path = path, .file_size = (uint64_t)info.st_size};
  return tb_mcap_file_list(path, look_at, parts, NULL);
}

static void add_parts(const char *path)
{
  static const char *const keys[] = {"key"}, *const values[] = {"value"};
  parts_t before, after;
  tb_status_t listed = list_parts(path, &before);
  tb_status_t with_file = tb_mcap_file_add_attachment(path, path, "itself", "", 1, 1, NULL);
  tb_status_t with_pairs = tb_mcap_file_add_metadata(path, "pairs", keys, values, 1, NULL);
  tb_status_t status = list_parts(path, &after);
  if (status != listed) abort();
  if (!status && after.count != before.count + !with_file + !with_pairs) abort();
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
  if (written) add_parts(path);
  unlink(path);
  return 0;
}
