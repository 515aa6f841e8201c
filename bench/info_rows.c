/* `timebase bag info` on a file with many chunks: it may not depend on how long a recording is. */
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

#define CHUNKS        100000
#define CHANNELS      20
#define IN_CHUNK      200   /* messages of each channel */
#define STORED        16000 /* bytes of a chunk, which are a hole in the file */
#define PIECE         4096
#define ROUNDS        21
#define CHUNK_LENGTH  (TB__MCAP_HEAD_SIZE + TB__MCAP_CHUNK_SIZE + 4 + STORED)
#define INDEX_LENGTH  (CHANNELS * (15 + 16 * IN_CHUNK))
#define CHUNK_NS      INT64_C(10000000)
#define MIB_AS_KIB    1024.0
#define MS_PER_S      1e3
#define US_PER_MS     1e3
#define SUMMARY_COUNT (IN_CHUNK * (uint64_t)CHANNELS * CHUNKS)

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

static void put_definitions(file_t *file)
{
  for (uint16_t id = 1; id <= CHANNELS; id++) {
    uint8_t record[PIECE], *to = record + TB__MCAP_HEAD_SIZE;
    char name[16];
    snprintf(name, sizeof name, "/topic_%u", (unsigned)id);
    tb__mcap_put_u16(&to, id);
    tb__mcap_put_u16(&to, 0); /* no schema */
    tb__mcap_put_text(&to, tb__mcap_text(name));
    tb__mcap_put_text(&to, tb__mcap_text("cdr"));
    tb__mcap_put_u32(&to, 0);
    put_record(file, TB__MCAP_CHANNEL, record, to);
  }
}

/* Only its head is not a hole. */
static void put_chunk(file_t *file, uint64_t at, uint64_t start_ns)
{
  uint8_t head[PIECE], *to = head;
  tb__mcap_put_head(&to, TB__MCAP_CHUNK, CHUNK_LENGTH - TB__MCAP_HEAD_SIZE);
  tb__mcap_put_u64(&to, start_ns);
  tb__mcap_put_u64(&to, start_ns + CHUNK_NS);
  tb__mcap_put_u64(&to, 4 * STORED);
  tb__mcap_put_u32(&to, 0);
  tb__mcap_put_text(&to, tb__mcap_text("zstd"));
  tb__mcap_put_u64(&to, STORED);
  fseeko(file->out, (off_t)at, SEEK_SET);
  put(file, head, to);
}

static void put_chunk_index(file_t *file, uint64_t at, uint64_t start_ns)
{
  uint8_t record[PIECE], *to = record + TB__MCAP_HEAD_SIZE;
  tb__mcap_put_u64(&to, start_ns);
  tb__mcap_put_u64(&to, start_ns + CHUNK_NS);
  tb__mcap_put_u64(&to, at);
  tb__mcap_put_u64(&to, CHUNK_LENGTH);
  tb__mcap_put_u32(&to, CHANNELS * 10);
  for (uint16_t id = 1; id <= CHANNELS; id++) {
    tb__mcap_put_u16(&to, id);
    tb__mcap_put_u64(&to, at + CHUNK_LENGTH + (id - 1u) * (INDEX_LENGTH / CHANNELS));
  }
  tb__mcap_put_u64(&to, INDEX_LENGTH);
  tb__mcap_put_text(&to, tb__mcap_text("zstd"));
  tb__mcap_put_u64(&to, STORED);
  tb__mcap_put_u64(&to, 4 * STORED);
  put_record(file, TB__MCAP_CHUNK_INDEX, record, to);
}

static void put_statistics(file_t *file)
{
  uint8_t record[PIECE], *to = record + TB__MCAP_HEAD_SIZE;
  tb__mcap_put_u64(&to, SUMMARY_COUNT);
  tb__mcap_put_u16(&to, 0);
  tb__mcap_put_u32(&to, CHANNELS);
  tb__mcap_put_u32(&to, 0);
  tb__mcap_put_u32(&to, 0);
  tb__mcap_put_u32(&to, CHUNKS);
  tb__mcap_put_u64(&to, CHUNK_NS);
  tb__mcap_put_u64(&to, CHUNKS * (uint64_t)CHUNK_NS + CHUNK_NS);
  tb__mcap_put_u32(&to, CHANNELS * 10);
  for (uint16_t id = 1; id <= CHANNELS; id++) {
    tb__mcap_put_u16(&to, id);
    tb__mcap_put_u64(&to, SUMMARY_COUNT / CHANNELS);
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

static bool make_file(const char *path)
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
  uint64_t first = (uint64_t)ftello(file.out), step = CHUNK_LENGTH + INDEX_LENGTH;
  put_chunk(&file, first, CHUNK_NS);
  uint64_t end = first + CHUNKS * step;
  put_chunk(&file, end - step, CHUNKS * (uint64_t)CHUNK_NS);
  fseeko(file.out, (off_t)end, SEEK_SET);
  to = bytes + TB__MCAP_HEAD_SIZE;
  tb__mcap_put_u32(&to, 0);
  put_record(&file, TB__MCAP_DATA_END, bytes, to);
  uint64_t summary = (uint64_t)ftello(file.out);
  file.crc = 0;
  put_definitions(&file);
  for (uint64_t i = 0; i < CHUNKS; i++)
    put_chunk_index(&file, first + i * step, (uint64_t)CHUNK_NS * (i + 1));
  put_statistics(&file);
  put_footer(&file, summary);
  bool good = !ferror(file.out);
  return fclose(file.out) == 0 && good;
}

static double ms_of(struct timeval time)
{
  return (double)time.tv_sec * MS_PER_S + (double)time.tv_usec / US_PER_MS;
}

/* Processor time in ms, which other processes do not change as they do the time that passes, and
 * the most memory in MiB. False: it failed, or did not use the summary. */
static bool run_info(const char *path, const char *printed, double *out_ms, double *out_mib)
{
  const char *arguments[] = {TB_BENCH_COMMAND, "bag", "info", path, NULL};
  posix_spawn_file_actions_t actions;
  struct rusage usage;
  pid_t child = 0;
  int status = 0;
  char text[PIECE] = "";
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, printed, O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  bool good = posix_spawn(&child, arguments[0], &actions, NULL, (char **)arguments, environ) == 0 &&
              wait4(child, &status, 0, &usage) == child && status == 0;
  *out_ms = good ? ms_of(usage.ru_utime) + ms_of(usage.ru_stime) : 0;
  *out_mib = good ? (double)usage.ru_maxrss / MIB_AS_KIB : 0;
  posix_spawn_file_actions_destroy(&actions);
  FILE *file = good ? fopen(printed, "r") : NULL;
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[size] = 0;
  return good && strstr(text, "counts from the summary");
}

static bool measure(const row_t *row, double times[ROUNDS], double memory[ROUNDS])
{
  char folder[] = "/tmp/timebase-bench-XXXXXX", path[64], printed[64];
  if (!mkdtemp(folder)) return bench_fail(row, "no folder can be made");
  snprintf(path, sizeof path, "%s/long.mcap", folder);
  snprintf(printed, sizeof printed, "%s/printed", folder);
  bool good = make_file(path);
  for (int i = 0; i < ROUNDS && good; i++)
    good = run_info(path, printed, &times[i], &memory[i]);
  unlink(path);
  unlink(printed);
  rmdir(folder);
  return good || bench_fail(row, "bag info failed, or did not use the summary");
}

static bool info_time(const row_t *row, result_t *out)
{
  double times[ROUNDS], memory[ROUNDS];
  if (!measure(row, times, memory)) return false;
  *out = (result_t){bench_median(times, ROUNDS), row->limit};
  return true;
}

static bool info_memory(const row_t *row, result_t *out)
{
  double times[ROUNDS], memory[ROUNDS];
  if (!measure(row, times, memory)) return false;
  *out = (result_t){bench_median(memory, ROUNDS), row->limit};
  return true;
}

const row_t info_rows[] = {
    {"info_100k_chunks", "ms", "limit", 1, info_time, 50},
    {"info_100k_chunks_memory", "MiB", "limit", 1, info_memory, 32},
};
const int info_row_count = sizeof info_rows / sizeof *info_rows;
