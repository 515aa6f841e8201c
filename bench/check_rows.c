/* What `timebase check` does with a recording, next to `timebase bag check` of the same files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_check.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#include "bench.h"
#include "contract/recording.h"
#include "contract/test_recording.h"

#define PATH   "/dev/shm/timebase-bench-check"
#define FILE_0 PATH "/timebase-bench-check_0.mcap"
#define ROUNDS 5
#define TOPICS 20
#define BEGIN  (INT64_C(1700000000) * TB__TEST_S)

typedef struct recording {
  const char *type;
  size_t data_size, count;
} recording_t;

/* 1 GiB, and many small messages. */
static const recording_t big = {"sensor_msgs/msg/PointCloud2", 10240, 104858};
static const recording_t small = {"geometry_msgs/msg/PointStamped", 0, 2000000};

static size_t make_message(const recording_t *recording, int64_t stamp_ns, uint8_t *out)
{
  tb__test_cdr_t cdr;
  if (recording->data_size == 0) {
    tb__test_cdr_point(&cdr, stamp_ns, "laser");
    memcpy(out, cdr.bytes, cdr.size);
    return cdr.size;
  }
  tb__test_cdr_header(&cdr, stamp_ns, "laser");
  tb__test_cdr_zeros(&cdr, 4, 3); /* height, width, no fields */
  tb__test_cdr_zeros(&cdr, 1, 1);
  tb__test_cdr_zeros(&cdr, 4, 2);
  tb__test_cdr_u32(&cdr, (uint32_t)recording->data_size);
  memcpy(out, cdr.bytes, cdr.size);
  memset(out + cdr.size, 7, recording->data_size + 1);
  return cdr.size + recording->data_size + 1;
}

static tb_status_t fill(const recording_t *recording, tb_bag_writer_t *writer)
{
  uint8_t *message = malloc(recording->data_size + sizeof(tb__test_cdr_t));
  size_t topics[TOPICS];
  tb_status_t status = message ? TB_OK : TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < TOPICS && !status; i++) {
    char name[32];
    snprintf(name, sizeof name, "/topic_%zu", i);
    tb_bag_writer_topic_t topic = {.name = name, .type = recording->type};
    status = tb_bag_writer_add_topic(writer, &topic, &topics[i], NULL);
  }
  for (size_t i = 0; i < recording->count && !status; i++) {
    int64_t now_ns = BEGIN + (int64_t)i * TB__TEST_MS;
    size_t size = make_message(recording, now_ns - 5 * TB__TEST_MS, message);
    status = tb_bag_writer_write(writer, topics[i % TOPICS], now_ns, now_ns - TB__TEST_MS, message,
                                 size, NULL);
  }
  free(message);
  return status;
}

static bool make(const recording_t *recording)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_t *writer = NULL;
  options.storage_id = "mcap";
  if (tb_bag_writer_create(PATH, &options, &writer, NULL)) return false;
  tb_status_t status = fill(recording, writer);
  tb_status_t closed = tb_bag_writer_close(writer, NULL);
  return !status && !closed;
}

static void remove_all(void)
{
  unlink(FILE_0);
  unlink(PATH "/metadata.yaml");
  rmdir(PATH);
}

static tb_status_t take_all(tb_bag_reader_t *reader, tb__recording_t *checked)
{
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  tb_bag_message_t message;
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < info->topic_count && !status; i++) {
    uint32_t number;
    tb__recorded_topic_input_t input = {
        .name = info->topics[i].name, .type = info->topics[i].type, .is_cdr = true};
    status = tb__recording_add_topic(checked, &input, &number);
  }
  while (!status && !(status = tb_bag_reader_next(reader, &message, NULL))) {
    tb__recorded_message_t taken = {.topic = (uint32_t)message.topic,
                                    .log_ns = message.log_time_ns,
                                    .publish_ns = message.publish_time_ns,
                                    .data = message.data,
                                    .size = message.size};
    status = tb__recording_take(checked, &taken);
  }
  return status == TB_ERR_END ? TB_OK : status;
}

/* Finds nothing wrong, and all stamps. */
static bool check_time(const recording_t *recording)
{
  tb__recording_t *checked = malloc(sizeof *checked);
  tb__findings_t *findings = tb__findings_create();
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  uint64_t good = 0;
  bool done = checked && findings && !tb__recording_init(checked, NULL, NULL);
  if (done) {
    options.content = TB_BAG_CONTENT_ANY;
    done = !tb_bag_reader_open(PATH, &options, &reader, NULL) && !take_all(reader, checked);
    tb__recording_finish(checked);
    done = done && !tb__recording_judge(checked, findings) && !tb__findings_finish(findings) &&
           tb__findings_count(findings) == 0;
    for (uint32_t i = 0; done && i < checked->topic_count; i++)
      good += checked->topics[i].first->stamps.kinds[TB__STAMP_GOOD];
    tb_bag_reader_close(reader);
    tb__recording_fini(checked);
  }
  tb__findings_destroy(findings);
  free(checked);
  return done && good == recording->count;
}

static bool check_file(void)
{
  tb_bag_check_result_t result;
  return !tb_bag_check(PATH, NULL, NULL, &result, NULL) && result.finding_count == 0;
}

static bool compare(const row_t *row, const recording_t *recording, result_t *out)
{
  double ours[ROUNDS], others[ROUNDS];
  remove_all();
  bool done = make(recording);
  for (int i = -1; i < ROUNDS && done; i++) { /* once to warm up */
    int64_t start_ns = bench_now_ns();
    done = check_time(recording);
    int64_t half_ns = bench_now_ns();
    done = done && check_file();
    if (i < 0) continue;
    ours[i] = (double)(half_ns - start_ns) / 1e9;
    others[i] = (double)(bench_now_ns() - half_ns) / 1e9;
  }
  remove_all();
  if (!done) return bench_fail(row, "a recording could not be written to /dev/shm, or checked");
  out->value = bench_median(ours, ROUNDS);
  out->against = bench_median(others, ROUNDS);
  return true;
}

static bool check_big(const row_t *row, result_t *out)
{
  return compare(row, &big, out);
}

static bool check_small(const row_t *row, result_t *out)
{
  return compare(row, &small, out);
}

const row_t check_rows[] = {
    {"check_speed", "s", "bag check of the same file", 2, check_big, 0},
    {"check_small", "s", "bag check of the same file", 2, check_small, 0},
};
const int check_row_count = sizeof check_rows / sizeof *check_rows;
