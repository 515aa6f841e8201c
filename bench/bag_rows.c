/* Recordings in MCAP, next to the bare work on the same bytes, on a file system in memory. */
#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/bag_reader.h>
#include <unistd.h>
#include <zstd.h>

#include "bench.h"
#include "mcap/mcap_format.h"
#include "mcap/record.h"
#include "storage/output.h"

#define MIB    (UINT64_C(1) << 20)
#define ROUNDS 7
#define SEEKS  200

typedef struct bytes {
  uint8_t *at;
  size_t size;
} bytes_t;

typedef struct recording {
  const char *path;
  size_t message_size, count;
  tb__bag_output_compression_t compression;
} recording_t;

static const recording_t raw = {"/dev/shm/timebase-bench-raw.mcap", 10240, 104858,
                                TB__BAG_OUTPUT_NONE};
static const recording_t packed = {"/dev/shm/timebase-bench-zstd.mcap", 10240, 26214,
                                   TB__BAG_OUTPUT_ZSTD};
static const recording_t written = {"/dev/shm/timebase-bench-write.mcap", 10240, 52429,
                                    TB__BAG_OUTPUT_NONE};
static const recording_t small = {"/dev/shm/timebase-bench-small.mcap", 100, 2000000,
                                  TB__BAG_OUTPUT_NONE};

static double seconds_since(int64_t start_ns)
{
  return (double)(bench_now_ns() - start_ns) / 1e9;
}

static uint32_t next_random(uint32_t *state)
{
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

/* Payloads like those of a sensor: records of which a third changes and the rest repeats, about a
 * third of the size when compressed. */
static bytes_t make_payload(void)
{
  bytes_t bytes = {malloc(64 * MIB), 64 * MIB};
  uint32_t state = 1;
  for (size_t i = 0; bytes.at && i < bytes.size; i += 32) {
    uint8_t record[32] = "\x01\x02value of sensor 00000000=";
    for (int k = 20; k < 32; k++)
      record[k] = (uint8_t)(next_random(&state) % (k < 28 ? 64 : 256));
    record[17] = (uint8_t)('0' + next_random(&state) % 10);
    memcpy(bytes.at + i, record, sizeof record);
  }
  return bytes;
}

static bool write_recording(const recording_t *recording, const bytes_t *payload)
{
  const tb__bag_output_options_t options = {.compression = recording->compression, .level = 1};
  const tb__bag_output_topic_t topic = {"/bench", "std_msgs/msg/String", "cdr", "", "", "", "", ""};
  tb__bag_output_t *output = NULL;
  uint32_t id = 0;
  unlink(recording->path);
  if (tb__mcap_output.create(&tb__mcap_output, recording->path, &options, &output, NULL))
    return false;
  bool done = !output->format->add_topic(output, &topic, &id, NULL);
  size_t at = 0;
  for (size_t i = 0; i < recording->count && done; i++) {
    done = !output->format->write(output, id, (int64_t)i * 1000, (int64_t)i * 1000,
                                  payload->at + at, recording->message_size, NULL);
    at += recording->message_size;
    if (at + recording->message_size > payload->size) at = 0;
  }
  return !output->format->close(output, NULL, NULL) && done;
}

/* No payload begins with the magic of zstd, which the reader would refuse. */
static bool read_recording(const recording_t *recording)
{
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  size_t count = 0;
  if (tb_bag_reader_open(recording->path, NULL, &reader, NULL)) return false;
  tb_status_t status;
  while (!(status = tb_bag_reader_next(reader, &message, NULL)))
    count++;
  tb_bag_reader_close(reader);
  return status == TB_ERR_END && count == recording->count;
}

static double size_in_mib(const recording_t *recording)
{
  struct stat info;
  return stat(recording->path, &info) ? 0 : (double)info.st_size / (double)MIB;
}

static bool read_bare(const recording_t *recording)
{
  int fd = open(recording->path, O_RDONLY | O_CLOEXEC);
  void *buffer = malloc(MIB);
  ssize_t count = -1;
  while (fd >= 0 && buffer && (count = read(fd, buffer, MIB)) > 0)
    ;
  free(buffer);
  if (fd >= 0) close(fd);
  return count == 0;
}

static bytes_t load(const recording_t *recording)
{
  int fd = open(recording->path, O_RDONLY | O_CLOEXEC);
  struct stat info = {0};
  bytes_t bytes = {0};
  if (fd >= 0 && fstat(fd, &info) == 0) bytes.at = malloc((size_t)info.st_size);
  while (bytes.at && bytes.size < (size_t)info.st_size) {
    ssize_t count = read(fd, bytes.at + bytes.size, (size_t)info.st_size - bytes.size);
    if (count <= 0) break;
    bytes.size += (size_t)count;
  }
  if (fd >= 0) close(fd);
  return bytes;
}

/* Runs both sides in turns and computes the medians of their rates; one run does `amount`. */
typedef struct pair {
  const recording_t *recording;
  const bytes_t *bytes;
  bool (*ours)(const struct pair *pair);
  bool (*bare)(const struct pair *pair);
} pair_t;

static bool compare(const pair_t *pair, double amount, result_t *out)
{
  double ours[ROUNDS], bare[ROUNDS];
  for (int i = -1; i < ROUNDS; i++) { /* once to warm up */
    int64_t start_ns = bench_now_ns();
    if (!pair->ours(pair)) return false;
    double taken = seconds_since(start_ns);
    if (i >= 0) ours[i] = amount / taken;
    start_ns = bench_now_ns();
    if (pair->bare && !pair->bare(pair)) return false;
    taken = seconds_since(start_ns);
    if (i >= 0) bare[i] = amount / taken;
  }
  out->value = bench_median(ours, ROUNDS);
  out->against = bench_median(bare, ROUNDS);
  return true;
}

static bool pair_read(const pair_t *pair)
{
  return read_recording(pair->recording);
}

static bool pair_read_bare(const pair_t *pair)
{
  return read_bare(pair->recording);
}

static bool pair_write(const pair_t *pair)
{
  return write_recording(pair->recording, pair->bytes);
}

static bool make(const recording_t *recording)
{
  bytes_t payload = make_payload();
  bool done = payload.at && write_recording(recording, &payload);
  free(payload.at);
  return done;
}

static bool finish(const row_t *row, const recording_t *recording, bool done)
{
  unlink(recording->path);
  return done || bench_fail(row, "a recording could not be written to /dev/shm, or read");
}

static bool read_raw(const row_t *row, result_t *out)
{
  const pair_t pair = {&raw, NULL, pair_read, pair_read_bare};
  return finish(row, &raw, make(&raw) && compare(&pair, size_in_mib(&raw), out));
}

/* Each chunk of the file that is in memory. */
static bool decompress(const pair_t *pair)
{
  ZSTD_DCtx *context = ZSTD_createDCtx();
  uint8_t *out = malloc(16 * MIB);
  tb__mcap_cursor_t cursor = tb__mcap_cursor(pair->bytes->at, pair->bytes->size);
  tb__mcap_take(&cursor, TB__MCAP_MAGIC_SIZE);
  bool done = context && out;
  while (done && cursor.left > TB__MCAP_MAGIC_SIZE) {
    const uint8_t *opcode = tb__mcap_take(&cursor, 1);
    uint64_t length = tb__mcap_take_u64(&cursor);
    const uint8_t *content = tb__mcap_take(&cursor, length);
    tb__mcap_chunk_t chunk;
    if (!content || *opcode != TB__MCAP_CHUNK) continue;
    done = tb__mcap_parse_chunk(content, (size_t)length, length, &chunk) &&
           ZSTD_decompressDCtx(context, out, 16 * MIB, content + chunk.head_size,
                               (size_t)chunk.stored_size) == chunk.size &&
           libdeflate_crc32(0, out, (size_t)chunk.size) == chunk.crc;
  }
  free(out);
  ZSTD_freeDCtx(context);
  return done;
}

static bool read_zstd(const row_t *row, result_t *out)
{
  bytes_t file = {0};
  double amount = (double)(packed.count * packed.message_size) / (double)MIB;
  bool done = make(&packed);
  if (done) file = load(&packed);
  const pair_t pair = {&packed, &file, pair_read, decompress};
  done = done && file.at && compare(&pair, amount, out);
  free(file.at);
  return finish(row, &packed, done);
}

/* The same amount of the same bytes, as they are. */
static bool write_bare(const pair_t *pair)
{
  unlink(pair->recording->path);
  int fd = open(pair->recording->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  size_t left = pair->recording->count * pair->recording->message_size, at = 0;
  bool done = fd >= 0;
  while (done && left > 0) {
    size_t size = left < MIB ? left : MIB;
    done = write(fd, pair->bytes->at + at, size) == (ssize_t)size;
    left -= size;
    at = (at + size) % pair->bytes->size;
  }
  return close(fd) == 0 && done;
}

static bool write_raw(const row_t *row, result_t *out)
{
  bytes_t payload = make_payload();
  const pair_t pair = {&written, &payload, pair_write, write_bare};
  double amount = (double)(written.count * written.message_size) / (double)MIB;
  bool done = payload.at && compare(&pair, amount, out);
  free(payload.at);
  return finish(row, &written, done);
}

static bool small_read(const row_t *row, result_t *out)
{
  const pair_t pair = {&small, NULL, pair_read, NULL};
  return finish(row, &small, make(&small) && compare(&pair, (double)small.count / 1e6, out));
}

static bool small_write(const row_t *row, result_t *out)
{
  bytes_t payload = make_payload();
  const pair_t pair = {&small, &payload, pair_write, NULL};
  bool done = payload.at && compare(&pair, (double)small.count / 1e6, out);
  free(payload.at);
  return finish(row, &small, done);
}

/* Opening, seeking and the first message there; the slowest but one in a hundred. */
static bool seek_indexed(const row_t *row, result_t *out)
{
  double taken_ms[SEEKS];
  uint64_t state = 1;
  bool done = make(&raw);
  for (int i = 0; i < SEEKS && done; i++) {
    tb_bag_reader_t *reader = NULL;
    tb_bag_message_t message;
    state = state * UINT64_C(6364136223846793005) + 1;
    int64_t target_ns = (int64_t)(state >> 33) % ((int64_t)raw.count * 1000 - 1000);
    int64_t start_ns = bench_now_ns();
    done = !tb_bag_reader_open(raw.path, NULL, &reader, NULL) &&
           !tb_bag_reader_seek(reader, target_ns) && !tb_bag_reader_next(reader, &message, NULL) &&
           message.log_time_ns >= target_ns && message.log_time_ns < target_ns + 1000;
    taken_ms[i] = seconds_since(start_ns) * 1e3;
    tb_bag_reader_close(reader);
  }
  if (done) bench_median(taken_ms, SEEKS); /* sorts */
  if (done) out->value = taken_ms[SEEKS - 1 - SEEKS / 100];
  return finish(row, &raw, done);
}

const row_t bag_rows[] = {
    {"mcap_read_raw", "MiB/s", "read(2), 1 MiB a call", 0.5, read_raw, 0},
    {"mcap_read_zstd", "MiB/s", "libzstd and crc32", 0.9, read_zstd, 0},
    {"mcap_write_raw", "MiB/s", "write(2), 1 MiB a call", 0.7, write_raw, 0},
    {"mcap_small_read", "M/s", "limit", 1, small_read, 3},
    {"mcap_small_write", "M/s", "limit", 1, small_write, 2},
    {"seek_indexed", "ms", "limit", 1, seek_indexed, 20},
};
const int bag_row_count = sizeof bag_rows / sizeof *bag_rows;
