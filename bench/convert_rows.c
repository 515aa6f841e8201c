/* `timebase bag convert` next to the bare work on the same bytes, on a file system in memory. */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <timebase/bag_writer.h>
#include <unistd.h>
#include <zstd.h>

#include "bench.h"
#include "mcap/mcap_format.h"
#include "mcap/record.h"

#define MIB    (1 << 20)
#define ROUNDS 15
#define SLOTS  4 /* chunks that may wait to be compressed */

extern char **environ;

typedef struct subject {
  const char *storage, *extension;
  size_t message_size;
  int count;
  char folder[64], source[80], file[112], output[80];
} subject_t;

static double mib_of(const subject_t *subject)
{
  return (double)subject->message_size * subject->count / MIB;
}

/* Records of which a third changes, as those of a sensor. */
static void fill(uint8_t *bytes, size_t size, uint32_t *state)
{
  memset(bytes, 0, size);
  for (size_t at = 4; at + 32 <= size; at += 32) {
    memcpy(bytes + at, "value of sensor 00=", 19);
    for (size_t i = 20; i < 32; i++) {
      *state = *state * 1664525 + 1013904223;
      bytes[at + i] = (uint8_t)((*state >> 16) % (i < 28 ? 64 : 256));
    }
  }
  bytes[1] = 1; /* little endian */
}

static bool subject_make(subject_t *subject)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  const tb_bag_writer_topic_t topic = {.name = "/bench", .type = "std_msgs/msg/String"};
  tb_bag_writer_t *writer = NULL;
  uint32_t state = 1;
  size_t index;
  snprintf(subject->folder, sizeof subject->folder, "/dev/shm/timebase-bench-XXXXXX");
  if (!mkdtemp(subject->folder)) return false;
  snprintf(subject->source, sizeof subject->source, "%s/bag", subject->folder);
  snprintf(subject->file, sizeof subject->file, "%s/bag_0.%s", subject->source, subject->extension);
  snprintf(subject->output, sizeof subject->output, "%s/out", subject->folder);
  options.storage_id = subject->storage;
  options.chunk_compression =
      strcmp(subject->storage, "mcap") ? TB_BAG_CHUNKS_PLAIN : TB_BAG_CHUNKS_ZSTD;
  uint8_t *message = malloc(subject->message_size);
  bool good = message && !tb_bag_writer_create(subject->source, &options, &writer, NULL) &&
              !tb_bag_writer_add_topic(writer, &topic, &index, NULL);
  for (int i = 0; i < subject->count && good; i++) {
    fill(message, subject->message_size, &state);
    good = !tb_bag_writer_write(writer, index, INT64_C(1000000) * (i + 1), 0, message,
                                subject->message_size, NULL);
  }
  free(message);
  return !tb_bag_writer_close(writer, NULL) && good;
}

static void folder_remove(const char *folder, const char *file)
{
  char path[128];
  snprintf(path, sizeof path, "%s/metadata.yaml", folder);
  unlink(path);
  snprintf(path, sizeof path, "%s/%s", folder, file);
  unlink(path);
  rmdir(folder);
}

static void subject_remove(const subject_t *subject)
{
  folder_remove(subject->source, strrchr(subject->file, '/') + 1);
  folder_remove(subject->output, "out_0.mcap");
  rmdir(subject->folder);
}

/* ---- ours: the command as users run it ---- */

static bool convert(const subject_t *subject)
{
  const char *arguments[] = {
      TB_BENCH_COMMAND, "bag", "convert", subject->source, "-o", subject->output, "-s",
      "mcap",           NULL};
  posix_spawn_file_actions_t actions;
  pid_t child = 0;
  int status = 0;
  folder_remove(subject->output, "out_0.mcap");
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  bool good = posix_spawn(&child, arguments[0], &actions, NULL, (char **)arguments, environ) == 0 &&
              waitpid(child, &status, 0) == child && status == 0;
  posix_spawn_file_actions_destroy(&actions);
  return good;
}

static bool compare(const subject_t *subject, bool (*bare)(const subject_t *subject), result_t *out)
{
  double rates[2][ROUNDS];
  if (!convert(subject) || !bare(subject)) return false; /* to warm up */
  for (int i = 0; i < 2 * ROUNDS; i++) {
    int64_t start_ns = bench_now_ns();
    if (!(i % 2 ? bare : convert)(subject)) return false;
    rates[i % 2][i / 2] = mib_of(subject) / ((double)(bench_now_ns() - start_ns) / 1e9);
  }
  *out = (result_t){bench_median(rates[0], ROUNDS), bench_median(rates[1], ROUNDS)};
  return true;
}

/* ---- two threads with libzstd ---- */

typedef struct slot {
  uint8_t *bytes; /* room for a chunk */
  size_t size;    /* 0: the end */
} slot_t;

typedef struct line {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  slot_t slots[SLOTS];
  size_t put, taken;
  bool good; /* of the thread that compresses */
} line_t;

static slot_t *line_wait(line_t *line, bool to_put)
{
  pthread_mutex_lock(&line->mutex);
  while (to_put ? line->put - line->taken == SLOTS : line->put == line->taken)
    pthread_cond_wait(&line->changed, &line->mutex);
  slot_t *slot = &line->slots[(to_put ? line->put : line->taken) % SLOTS];
  pthread_mutex_unlock(&line->mutex);
  return slot;
}

static void line_pass(line_t *line, bool has_put)
{
  pthread_mutex_lock(&line->mutex);
  if (has_put)
    line->put++;
  else
    line->taken++;
  pthread_cond_signal(&line->changed);
  pthread_mutex_unlock(&line->mutex);
}

/* With the level that the command has. */
static void *compress_all(void *user)
{
  line_t *line = user;
  ZSTD_CCtx *context = ZSTD_createCCtx();
  size_t bound = ZSTD_compressBound(16 * MIB), size;
  void *out = malloc(bound);
  line->good = context && out;
  while ((size = line_wait(line, false)->size)) {
    const slot_t *slot = &line->slots[line->taken % SLOTS];
    line->good =
        line->good && !ZSTD_isError(ZSTD_compressCCtx(context, out, bound, slot->bytes, size, 0));
    line_pass(line, false);
  }
  free(out);
  ZSTD_freeCCtx(context);
  return NULL;
}

static bool decompress_all(line_t *line, const uint8_t *bytes, size_t size)
{
  ZSTD_DCtx *context = ZSTD_createDCtx();
  tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes, size);
  bool good = context;
  size_t chunks = 0;
  tb__mcap_take(&cursor, TB__MCAP_MAGIC_SIZE);
  while (good && cursor.left > TB__MCAP_MAGIC_SIZE) {
    const uint8_t *opcode = tb__mcap_take(&cursor, 1);
    uint64_t length = tb__mcap_take_u64(&cursor);
    const uint8_t *content = tb__mcap_take(&cursor, length);
    tb__mcap_chunk_t chunk;
    if (!content || *opcode != TB__MCAP_CHUNK) continue;
    slot_t *slot = line_wait(line, true);
    good = tb__mcap_parse_chunk(content, (size_t)length, length, &chunk) &&
           ZSTD_decompressDCtx(context, slot->bytes, 16 * MIB, content + chunk.head_size,
                               (size_t)chunk.stored_size) == chunk.size;
    slot->size = (size_t)chunk.size;
    if (good) line_pass(line, true);
    chunks++;
  }
  line_wait(line, true)->size = 0;
  line_pass(line, true);
  ZSTD_freeDCtx(context);
  return good && chunks > 0;
}

static uint8_t *load(const char *path, size_t *out_size)
{
  struct stat info;
  FILE *file = fopen(path, "rb");
  uint8_t *bytes = file && fstat(fileno(file), &info) == 0 ? malloc((size_t)info.st_size) : NULL;
  *out_size = bytes ? fread(bytes, 1, (size_t)info.st_size, file) : 0;
  if (file) fclose(file);
  return bytes;
}

static bool recompress(const subject_t *subject)
{
  line_t line = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  pthread_t thread;
  size_t size;
  uint8_t *bytes = load(subject->file, &size);
  bool good = bytes;
  for (int i = 0; i < SLOTS; i++) {
    line.slots[i].bytes = malloc(16 * MIB);
    good = good && line.slots[i].bytes;
  }
  if (good && pthread_create(&thread, NULL, compress_all, &line) == 0) {
    good = decompress_all(&line, bytes, size);
    pthread_join(thread, NULL);
    good = good && line.good;
  }
  for (int i = 0; i < SLOTS; i++)
    free(line.slots[i].bytes);
  free(bytes);
  return good;
}

static bool convert_zstd(const row_t *row, result_t *out)
{
  subject_t subject = {
      .storage = "mcap", .extension = "mcap", .message_size = 10240, .count = 9830};
  bool good = subject_make(&subject) && compare(&subject, recompress, out);
  subject_remove(&subject);
  return good || bench_fail(row, "a recording could not be written to /dev/shm, or converted");
}

/* ---- the bare SELECT ---- */

static volatile uint64_t touched;

static void touch_all(int64_t topic, int64_t time_ns, const void *data, size_t size)
{
  const uint8_t *bytes = data;
  uint64_t sum = (uint64_t)topic + (uint64_t)time_ns;
  for (size_t i = 0; i < size; i++)
    sum += bytes[i];
  touched += sum;
}

static bool select_all(const subject_t *subject)
{
  return bench_select_all(subject->file, touch_all) == subject->count;
}

static bool sqlite_to_mcap(const row_t *row, result_t *out)
{
  subject_t subject = {
      .storage = "sqlite3", .extension = "db3", .message_size = 1024, .count = 100000};
  bool good = subject_make(&subject) && compare(&subject, select_all, out);
  subject_remove(&subject);
  return good || bench_fail(row, "a recording could not be written to /dev/shm, or converted");
}

const row_t convert_rows[] = {
    {"convert_zstd", "MiB/s", "libzstd in two threads", 0.85, convert_zstd, 0},
    {"sqlite_to_mcap", "MiB/s", "SELECT in time order", 0.6, sqlite_to_mcap, 0},
};
const int convert_row_count = sizeof convert_rows / sizeof *convert_rows;
