/* Reading bags in sqlite3 next to the bare library. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#include "bench.h"

#define MESSAGES     30000
#define MESSAGE_SIZE 1024
#define ROUNDS       31

typedef struct subject {
  char folder[64], bag[80], file[96];
} subject_t;

static uint64_t touched; /* so that nothing is optimized away */

static void touch(const void *data, size_t size)
{
  const uint8_t *bytes = data;
  uint64_t sum = 0;
  for (size_t i = 0; i < size; i++)
    sum += bytes[i];
  touched += sum;
}

static bool make_bag(subject_t *subject)
{
  tb_bag_writer_t *writer = NULL;
  const tb_bag_writer_topic_t topics[] = {{.name = "/a", .type = "t"}, {.name = "/b", .type = "t"}};
  uint8_t data[MESSAGE_SIZE] = {0, 1};
  size_t index;
  snprintf(subject->folder, sizeof subject->folder, "/tmp/timebase-bench-XXXXXX");
  if (!mkdtemp(subject->folder)) return false;
  snprintf(subject->bag, sizeof subject->bag, "%s/bag", subject->folder);
  snprintf(subject->file, sizeof subject->file, "%s/bag_0.db3", subject->bag);
  bool good = !tb_bag_writer_create(subject->bag, NULL, &writer, NULL) &&
              !tb_bag_writer_add_topic(writer, &topics[0], &index, NULL) &&
              !tb_bag_writer_add_topic(writer, &topics[1], &index, NULL);
  for (int i = 0; i < MESSAGES && good; i++) {
    memset(data + 4, i, sizeof data - 4);
    good = !tb_bag_writer_write(writer, (size_t)(i % 2), INT64_C(1000000) * i, 0, data, sizeof data,
                                NULL);
  }
  return !tb_bag_writer_close(writer, NULL) && good;
}

static void remove_bag(const subject_t *subject)
{
  char metadata[96];
  snprintf(metadata, sizeof metadata, "%s/metadata.yaml", subject->bag);
  unlink(metadata);
  unlink(subject->file);
  rmdir(subject->bag);
  rmdir(subject->folder);
}

/* How many messages. */
static int read_with_ours(const subject_t *subject)
{
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  int count = 0;
  if (tb_bag_reader_open(subject->bag, NULL, &reader, NULL)) return 0;
  for (; !tb_bag_reader_next(reader, &message, NULL); count++)
    touch(message.data, message.size);
  tb_bag_reader_close(reader);
  return count;
}

int bench_select_all(const char *file, bench_row_fn take)
{
  sqlite3 *database = NULL;
  sqlite3_stmt *rows = NULL;
  int count = 0;
  if (sqlite3_open_v2(file, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
      sqlite3_prepare_v2(database,
                         "SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp", -1,
                         &rows, NULL) == SQLITE_OK)
    for (; sqlite3_step(rows) == SQLITE_ROW; count++)
      take(sqlite3_column_int64(rows, 0), sqlite3_column_int64(rows, 1),
           sqlite3_column_blob(rows, 2), (size_t)sqlite3_column_bytes(rows, 2));
  sqlite3_finalize(rows);
  sqlite3_close(database);
  return count;
}

static void touch_row(int64_t topic, int64_t time_ns, const void *data, size_t size)
{
  touched += (uint64_t)topic + (uint64_t)time_ns;
  touch(data, size);
}

static int read_bare(const subject_t *subject)
{
  return bench_select_all(subject->file, touch_row);
}

static bool time_of(int (*read)(const subject_t *), const subject_t *subject, double *out)
{
  int64_t start_ns = bench_now_ns();
  if (read(subject) != MESSAGES) return false;
  *out = (double)(bench_now_ns() - start_ns) / MESSAGES;
  return true;
}

static bool sqlite_read(const row_t *row, result_t *out)
{
  subject_t subject;
  double ours[ROUNDS], bare[ROUNDS];
  bool good = make_bag(&subject);
  for (int i = 0; i < ROUNDS && good; i++)
    good = time_of(read_bare, &subject, &bare[i]) && time_of(read_with_ours, &subject, &ours[i]);
  remove_bag(&subject);
  if (!good || touched == 0) return bench_fail(row, "a bag cannot be written or read");
  *out = (result_t){bench_median(ours, ROUNDS), bench_median(bare, ROUNDS)};
  return true;
}

const row_t sqlite_rows[] = {
    /* At least 0.85 of its speed. */
    {"sqlite_read", "ns", "SELECT of a 1 KiB message", 1 / 0.85, sqlite_read, 0},
};
const int sqlite_row_count = sizeof sqlite_rows / sizeof *sqlite_rows;
