/* `timebase bag info` and `cut` on files with many chunks: they may not depend on how long a
 * recording is. */
#include <fcntl.h>
#include <libdeflate.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "mcap/record.h"

#define PIECE      4096
#define ROUNDS     21
#define MIB_AS_KIB 1024.0
#define MS_PER_S   1e3
#define US_PER_MS  1e3
#define LATCHED                                                                                    \
  "- {history: 1, depth: 1, reliability: 1, durability: 1, deadline: {sec: 0, nsec: 0}, "          \
  "lifespan: {sec: 0, nsec: 0}, liveliness: 1, liveliness_lease_duration: {sec: 0, nsec: 0}, "     \
  "avoid_ros_namespace_conventions: false}\n"

extern char **environ;

typedef struct file {
  FILE *out;
  uint32_t crc; /* of the summary */
} file_t;

static void put(file_t *file, const uint8_t *bytes, const uint8_t *end)
{
  size_t size = (size_t)(end - bytes);
  file->crc = libdeflate_crc32(file->crc, bytes, size);
  fwrite(bytes, 1, size, file->out);
}

/* A record whose content was put at record + TB__MCAP_HEAD_SIZE. */
static void put_record(file_t *file, uint8_t opcode, uint8_t *record, const uint8_t *end)
{
  uint8_t *head = record;
  tb__mcap_put_head(&head, opcode, (uint64_t)(end - record) - TB__MCAP_HEAD_SIZE);
  put(file, record, end);
}

/* Contents of chunks are holes in the file, but for the head of the message in a readable one. */
typedef struct shape {
  uint64_t chunks;
  int64_t chunk_ns;
  unsigned channels, in_chunk; /* messages of each channel */
  uint64_t stored, size;       /* bytes of a chunk */
  const char *compression;     /* "": it can be read, and has one message of one channel */
  uint64_t latched_every; /* so many chunks another, latched channel has that message; 0: none */
} shape_t;

static const shape_t info_shape = {100000, 10000000, 20, 200, 16000, 4 * UINT64_C(16000),
                                   "zstd", 0};
static const shape_t cut_shape = {10000, 100000000, 1, 1, 1100000, 1100000, "", 1000};

static uint64_t chunk_length(const shape_t *shape)
{
  return TB__MCAP_HEAD_SIZE + TB__MCAP_CHUNK_SIZE + strlen(shape->compression) + shape->stored;
}

static uint64_t index_length(const shape_t *shape)
{
  return shape->channels * (15 + UINT64_C(16) * shape->in_chunk);
}

static bool is_latched(const shape_t *shape, uint64_t chunk)
{
  return shape->latched_every && chunk % shape->latched_every == 0;
}

static void put_definitions(file_t *file, const shape_t *shape)
{
  for (uint16_t id = 1; id <= shape->channels + (shape->latched_every > 0); id++) {
    uint8_t record[PIECE], *to = record + TB__MCAP_HEAD_SIZE;
    bool latched = id > shape->channels;
    char name[16];
    snprintf(name, sizeof name, "/topic_%u", (unsigned)id);
    tb__mcap_put_u16(&to, id);
    tb__mcap_put_u16(&to, 0); /* no schema */
    tb__mcap_put_text(&to, tb__mcap_text(name));
    tb__mcap_put_text(&to, tb__mcap_text("cdr"));
    tb__mcap_put_u32(&to, latched ? 8 + strlen("offered_qos_profiles" LATCHED) : 0);
    if (latched) tb__mcap_put_text(&to, tb__mcap_text("offered_qos_profiles"));
    if (latched) tb__mcap_put_text(&to, tb__mcap_text(LATCHED));
    put_record(file, TB__MCAP_CHANNEL, record, to);
  }
}

static void put_chunk(file_t *file, const shape_t *shape, uint64_t number, uint64_t at)
{
  uint8_t head[PIECE], *to = head;
  uint64_t start_ns = (number + 1) * (uint64_t)shape->chunk_ns;
  tb__mcap_put_head(&to, TB__MCAP_CHUNK, chunk_length(shape) - TB__MCAP_HEAD_SIZE);
  tb__mcap_put_u64(&to, start_ns);
  tb__mcap_put_u64(&to, start_ns + (uint64_t)shape->chunk_ns - 1);
  tb__mcap_put_u64(&to, shape->size);
  tb__mcap_put_u32(&to, 0);
  tb__mcap_put_text(&to, tb__mcap_text(shape->compression));
  tb__mcap_put_u64(&to, shape->stored);
  if (!*shape->compression) {
    tb__mcap_put_head(&to, TB__MCAP_MESSAGE, shape->size - TB__MCAP_HEAD_SIZE);
    tb__mcap_put_u16(&to, is_latched(shape, number) ? 2 : 1);
    tb__mcap_put_u32(&to, 0);
    tb__mcap_put_u64(&to, start_ns);
    tb__mcap_put_u64(&to, start_ns);
    tb__mcap_put_u32(&to, 256); /* little endian */
  }
  fseeko(file->out, (off_t)at, SEEK_SET);
  put(file, head, to);
}

static void put_chunk_index(file_t *file, const shape_t *shape, uint64_t number, uint64_t at)
{
  uint8_t record[PIECE], *to = record + TB__MCAP_HEAD_SIZE;
  uint64_t start_ns = (number + 1) * (uint64_t)shape->chunk_ns, indexes = index_length(shape);
  tb__mcap_put_u64(&to, start_ns);
  tb__mcap_put_u64(&to, start_ns + (uint64_t)shape->chunk_ns - 1);
  tb__mcap_put_u64(&to, at);
  tb__mcap_put_u64(&to, chunk_length(shape));
  tb__mcap_put_u32(&to, shape->channels * 10);
  for (uint16_t id = 1; id <= shape->channels; id++) {
    tb__mcap_put_u16(&to, (uint16_t)(id + is_latched(shape, number)));
    tb__mcap_put_u64(&to, at + chunk_length(shape) + (id - 1u) * (indexes / shape->channels));
  }
  tb__mcap_put_u64(&to, indexes);
  tb__mcap_put_text(&to, tb__mcap_text(shape->compression));
  tb__mcap_put_u64(&to, shape->stored);
  tb__mcap_put_u64(&to, shape->size);
  put_record(file, TB__MCAP_CHUNK_INDEX, record, to);
}

static void put_statistics(file_t *file, const shape_t *shape)
{
  uint8_t record[PIECE], *to = record + TB__MCAP_HEAD_SIZE;
  uint64_t of_channel = shape->chunks * shape->in_chunk;
  uint64_t latched = shape->latched_every ? shape->chunks / shape->latched_every : 0;
  uint32_t channels = shape->channels + (latched > 0);
  tb__mcap_put_u64(&to, of_channel * shape->channels);
  tb__mcap_put_u16(&to, 0);
  tb__mcap_put_u32(&to, channels);
  tb__mcap_put_u32(&to, 0);
  tb__mcap_put_u32(&to, 0);
  tb__mcap_put_u32(&to, (uint32_t)shape->chunks);
  tb__mcap_put_u64(&to, (uint64_t)shape->chunk_ns);
  tb__mcap_put_u64(&to, (shape->chunks + 1) * (uint64_t)shape->chunk_ns);
  tb__mcap_put_u32(&to, channels * 10);
  for (uint16_t id = 1; id <= channels; id++) {
    tb__mcap_put_u16(&to, id);
    tb__mcap_put_u64(&to, id > shape->channels ? latched : of_channel - latched);
  }
  put_record(file, TB__MCAP_STATISTICS, record, to);
}

static void put_footer(file_t *file, uint64_t summary)
{
  uint8_t footer[PIECE], *to = footer;
  tb__mcap_put_head(&to, TB__MCAP_FOOTER, TB__MCAP_FOOTER_SIZE);
  tb__mcap_put_u64(&to, summary);
  tb__mcap_put_u64(&to, 0);
  put(file, footer, to);
  to = footer;
  tb__mcap_put_u32(&to, file->crc);
  tb__mcap_put_magic(&to);
  put(file, footer, to);
}

static bool make_file(const char *path, const shape_t *shape)
{
  file_t file = {.out = fopen(path, "wb")};
  uint8_t bytes[PIECE], *to = bytes;
  if (!file.out) return false;
  tb__mcap_put_magic(&to);
  put(&file, bytes, to);
  to = bytes + TB__MCAP_HEAD_SIZE;
  tb__mcap_put_text(&to, tb__mcap_text("ros2"));
  tb__mcap_put_text(&to, tb__mcap_text("bench"));
  put_record(&file, TB__MCAP_HEADER, bytes, to);
  uint64_t first = (uint64_t)ftello(file.out), step = chunk_length(shape) + index_length(shape);
  for (uint64_t i = 0; i < shape->chunks; i++) /* of what is not read only the first and the last */
    if (!*shape->compression || i == 0 || i + 1 == shape->chunks)
      put_chunk(&file, shape, i, first + i * step);
  uint64_t end = first + shape->chunks * step;
  fseeko(file.out, (off_t)end, SEEK_SET);
  to = bytes + TB__MCAP_HEAD_SIZE;
  tb__mcap_put_u32(&to, 0);
  put_record(&file, TB__MCAP_DATA_END, bytes, to);
  uint64_t summary = (uint64_t)ftello(file.out);
  file.crc = 0;
  put_definitions(&file, shape);
  for (uint64_t i = 0; i < shape->chunks; i++)
    put_chunk_index(&file, shape, i, first + i * step);
  put_statistics(&file, shape);
  put_footer(&file, summary);
  bool good = !ferror(file.out);
  return fclose(file.out) == 0 && good;
}

static double ms_of(struct timeval time)
{
  return (double)time.tv_sec * MS_PER_S + (double)time.tv_usec / US_PER_MS;
}

/* Processor time in ms, which other processes do not change as they do the time that passes, and
 * the most memory in MiB. False: it failed, or did not print `expected`. */
static bool run_command(const char *const *arguments, const char *printed, const char *expected,
                        double *out_ms, double *out_mib)
{
  posix_spawn_file_actions_t actions;
  struct rusage usage;
  pid_t child = 0;
  int status = 0;
  char text[PIECE] = "";
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, printed, O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  bool good = posix_spawn(&child, arguments[0], &actions, NULL, (char **)arguments, environ) == 0 &&
              wait4(child, &status, 0, &usage) == child && status == 0;
  *out_ms = good ? ms_of(usage.ru_utime) + ms_of(usage.ru_stime) : 0;
  *out_mib = good ? (double)usage.ru_maxrss / MIB_AS_KIB : 0;
  posix_spawn_file_actions_destroy(&actions);
  FILE *file = good ? fopen(printed, "r") : NULL;
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[size] = 0;
  return good && strstr(text, expected);
}

static bool measure(const row_t *row, const shape_t *shape, double times[ROUNDS],
                    double memory[ROUNDS])
{
  char folder[] = "/tmp/timebase-bench-XXXXXX", path[64], printed[64], cut[64];
  if (!mkdtemp(folder)) return bench_fail(row, "no folder can be made");
  snprintf(path, sizeof path, "%s/long.mcap", folder);
  snprintf(printed, sizeof printed, "%s/printed", folder);
  snprintf(cut, sizeof cut, "%s/cut.mcap", folder);
  const char *info[] = {TB_BENCH_COMMAND, "bag", "info", path, NULL};
  const char *part[] = {TB_BENCH_COMMAND, "bag", "cut", path, "--start",       "+205s",
                        "--duration",     "2s",  "-o",  cut,  "--single-file", NULL};
  bool is_info = shape == &info_shape;
  bool good = make_file(path, shape);
  for (int i = 0; i < ROUNDS && good; i++) {
    good = run_command(is_info ? info : part, printed,
                       is_info ? "counts from the summary" : ": 21 messages (1 latched", &times[i],
                       &memory[i]);
    unlink(cut);
  }
  unlink(path);
  unlink(printed);
  rmdir(folder);
  return good || bench_fail(row, "bag info or cut failed, or did not use the summary");
}

static bool info_time(const row_t *row, result_t *out)
{
  double times[ROUNDS], memory[ROUNDS];
  if (!measure(row, &info_shape, times, memory)) return false;
  *out = (result_t){bench_median(times, ROUNDS), row->limit};
  return true;
}

static bool info_memory(const row_t *row, result_t *out)
{
  double times[ROUNDS], memory[ROUNDS];
  if (!measure(row, &info_shape, times, memory)) return false;
  *out = (result_t){bench_median(memory, ROUNDS), row->limit};
  return true;
}

static bool cut_time(const row_t *row, result_t *out)
{
  double times[ROUNDS], memory[ROUNDS];
  if (!measure(row, &cut_shape, times, memory)) return false;
  *out = (result_t){bench_median(times, ROUNDS), row->limit};
  return true;
}

const row_t info_rows[] = {
    {"info_100k_chunks", "ms", "limit", 1, info_time, 50},
    {"info_100k_chunks_memory", "MiB", "limit", 1, info_memory, 32},
    {"cut_range", "ms", "limit", 1, cut_time, 100}, /* 2 s of 1000 s, of 11 GB */
};
const int info_row_count = sizeof info_rows / sizeof *info_rows;
