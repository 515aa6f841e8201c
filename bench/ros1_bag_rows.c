/* Bags of ROS 1, next to rosbag of C++ and to the bare work on the same bytes, on a file system in
 * memory. */
#include <fcntl.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#include "bench.h"
#include "ros1_view.h"
#include "rosbag1/record.h"

#define MIB    (UINT64_C(1) << 20)
#define ROUNDS 7
#define SMALL  320 /* about that of sensor_msgs/Imu */
#define LARGE  10240
#define BYTES  128000000

typedef struct bag {
  const char *path;
  tb_bag_chunk_compression_t compression;
  uint32_t message_size;
} bag_t;

static const bag_t plain = {"/dev/shm/timebase-bench-ros1-none.bag", TB_BAG_CHUNKS_PLAIN, SMALL};
static const bag_t large = {"/dev/shm/timebase-bench-ros1-10k.bag", TB_BAG_CHUNKS_PLAIN, LARGE};
static const bag_t packed = {"/dev/shm/timebase-bench-ros1-lz4.bag", TB_BAG_CHUNKS_LZ4, SMALL};

static int64_t count_of(const bag_t *bag)
{
  return BYTES / bag->message_size;
}

/* Half of it repeats. */
static void fill(uint8_t *payload, uint32_t size, uint32_t *state)
{
  uint32_t length = size - 4;
  memcpy(payload, &length, sizeof length);
  for (size_t i = 4; i < size; i++) {
    if (i % 16 < 8) *state = *state * 1664525 + 1013904223;
    payload[i] = i % 16 < 8 ? (uint8_t)(*state >> 24) : (uint8_t)i;
  }
}

static bool write_bag(const bag_t *bag)
{
  static uint8_t payload[LARGE];
  const tb_bag_writer_topic_t topic = {.name = "/bench",
                                       .type = "std_msgs/String",
                                       .serialization_format = "ros1",
                                       .type_hash = "992ce8a1687cec8c8bd883ec73ca41d1",
                                       .definition = "string data\n",
                                       .definition_encoding = "ros1msg"};
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_t *writer = NULL;
  size_t id = 0;
  uint32_t state = 1;
  options.storage_id = "rosbag1";
  options.chunk_compression = bag->compression;
  unlink(bag->path);
  if (tb_bag_writer_create(bag->path, &options, &writer, NULL)) return false;
  bool done = !tb_bag_writer_add_topic(writer, &topic, &id, NULL);
  for (int64_t i = 0; i < count_of(bag) && done; i++) {
    fill(payload, bag->message_size, &state);
    done = !tb_bag_writer_write(writer, id, (i + 1) * 1000, -1, payload, bag->message_size, NULL);
  }
  return !tb_bag_writer_close(writer, NULL) && done;
}

static volatile uint64_t sink;

static bool read_ours(const bag_t *bag)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_status_t status;
  int64_t count = 0;
  options.content = TB_BAG_CONTENT_ANY;
  if (tb_bag_reader_open(bag->path, &options, &reader, NULL)) return false;
  while (!(status = tb_bag_reader_next(reader, &message, NULL))) {
    sink += bench_touch(message.data, message.size);
    count++;
  }
  tb_bag_reader_close(reader);
  return status == TB_ERR_END && count == count_of(bag);
}

/* The chunk of a record in `bytes`; false: it could not be decompressed. */
static bool expand(LZ4F_dctx *context, const uint8_t *in, size_t size, uint8_t *out, size_t room)
{
  size_t done = room, used = size;
  return LZ4F_decompress(context, out, &done, in, &used, NULL) == 0 && used == size &&
         (sink += bench_touch(out, done), true);
}

/* Chunk by chunk, as ours. */
static bool read_bare(const bag_t *bag)
{
  int fd = open(bag->path, O_RDONLY | O_CLOEXEC);
  uint8_t head[4096], *stored = malloc(2 * MIB), *out = malloc(2 * MIB);
  LZ4F_dctx *context = NULL;
  off_t at = TB__ROSBAG1_VERSION_LINE;
  ssize_t count = 0;
  bool whole = fd >= 0 && stored && out &&
               !LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION));
  while (whole && (count = pread(fd, head, sizeof head, at)) > 0) {
    tb__rosbag1_record_t record;
    size_t need;
    whole = tb__rosbag1_parse(head, (size_t)count, &record, &need) == TB__ROSBAG1_PARSED;
    if (!whole) break;
    if (record.op == TB__ROSBAG1_CHUNK)
      whole = record.data_size <= 2 * MIB &&
              pread(fd, stored, record.data_size, at + (off_t)record.head_size) ==
                  (ssize_t)record.data_size &&
              expand(context, stored, record.data_size, out, 2 * MIB);
    at += (off_t)(record.head_size + record.data_size);
  }
  LZ4F_freeDecompressionContext(context);
  free(stored);
  free(out);
  if (fd >= 0) close(fd);
  return whole && count == 0;
}

static int compare(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static bool measure(const bag_t *bag, bool (*ours)(const bag_t *), bool (*bare)(const bag_t *),
                    result_t *out)
{
  double rates[2][ROUNDS];
  bool done = write_bag(bag) && ours(bag) && bare(bag);
  for (int i = 0; i < 2 * ROUNDS && done; i++) {
    int64_t start_ns = bench_now_ns();
    done = (i % 2 ? bare : ours)(bag);
    rates[i % 2][i / 2] = BYTES / (double)MIB / ((double)(bench_now_ns() - start_ns) / 1e9);
  }
  unlink(bag->path);
  if (!done) {
    fprintf(stderr, "%s: could not be written and read\n", bag->path);
    return false;
  }
  qsort(rates[0], ROUNDS, sizeof **rates, compare);
  qsort(rates[1], ROUNDS, sizeof **rates, compare);
  *out = (result_t){rates[0][ROUNDS / 2], rates[1][ROUNDS / 2]};
  return true;
}

static bool read_view(const bag_t *bag)
{
  uint64_t sum = 0;
  bool whole = bench_ros1_view(bag->path, &sum) == count_of(bag);
  sink += sum;
  return whole;
}

static bool run_none(const row_t *row, result_t *out)
{
  (void)row;
  return measure(&plain, read_ours, read_view, out);
}

/* Both are bound by the kernel's copy out of the page cache: bare reading takes nine tenths of our
 * time, and mapping the file, which a file that shrinks would turn into a crash, is no twice of it.
 */
static bool run_none_10k(const row_t *row, result_t *out)
{
  (void)row;
  return measure(&large, read_ours, read_view, out);
}

static bool run_lz4(const row_t *row, result_t *out)
{
  (void)row;
  return measure(&packed, read_ours, read_bare, out);
}

const row_t ros1_bag_rows[] = {
    {"ros1_bag_read_none", "MiB/s", "rosbag::View", 2.0, run_none, 0},
    {"ros1_bag_read_none_10k", "MiB/s", "rosbag::View", 1.2, run_none_10k, 0},
    {"ros1_bag_read_lz4", "MiB/s", "read, LZ4F_decompress", 0.9, run_lz4, 0},
};
const int ros1_bag_row_count = sizeof ros1_bag_rows / sizeof *ros1_bag_rows;
