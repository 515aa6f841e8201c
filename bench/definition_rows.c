/* Reading messages by their definition. */
#include <stdlib.h>
#include <string.h>
#include <timebase/message_definition.h>

#include "bench.h"

#define MESSAGES 16
#define SIZE     ((size_t)1 << 20)
#define READS    INT64_C(100000)

typedef struct subject {
  tb_message_definition_t *definition;
  uint8_t *messages[MESSAGES];
} subject_t;

static void read_by_definition(void *context, int64_t times)
{
  const subject_t *subject = context;
  for (int64_t i = 0; i < times; i++) {
    int64_t stamp_ns = 0;
    (void)!tb_message_definition_header_stamp(subject->definition, subject->messages[i % MESSAGES],
                                              SIZE, &stamp_ns);
    __asm__ volatile("" : : "r"(stamp_ns) : "memory");
  }
}

static void read_known_place(void *context, int64_t times)
{
  const subject_t *subject = context;
  for (int64_t i = 0; i < times; i++) {
    uint32_t stamp[2];
    memcpy(stamp, subject->messages[i % MESSAGES] + 4, sizeof stamp);
    int64_t stamp_ns = (int64_t)(int32_t)stamp[0] * 1000000000 + stamp[1];
    __asm__ volatile("" : : "r"(stamp_ns) : "memory");
  }
}

/* PointCloud2: little-endian, frame "lidar", one field, the points. */
static uint8_t *make_cloud(void)
{
  static const uint8_t head[] = {0,   1,   0,   0, 7, 0, 0, 0, 9, 0, 0, 0, 6, 0, 0, 0, 'l', 'i',
                                 'd', 'a', 'r', 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,   0};
  uint8_t *cloud = calloc(1, SIZE);
  uint32_t points = (uint32_t)SIZE - sizeof head - 20;
  if (!cloud) return NULL;
  memcpy(cloud, head, sizeof head);
  memcpy(cloud + sizeof head + 12, &points, sizeof points); /* after is_bigendian and the steps */
  return cloud;
}

static bool decode_stamp(const row_t *row, result_t *out)
{
  subject_t subject = {.definition = NULL};
  bool is_made = tb_message_definition_find("sensor_msgs/msg/PointCloud2", NULL, 0,
                                            &subject.definition, NULL) == TB_OK;
  for (int i = 0; i < MESSAGES; i++) {
    subject.messages[i] = make_cloud();
    is_made = is_made && subject.messages[i];
  }
  is_made = is_made && tb_message_definition_check(subject.definition, subject.messages[0], SIZE,
                                                   NULL) == TB_OK;
  if (is_made) {
    result_t both = bench_compare(read_by_definition, read_known_place, &subject, READS);
    *out = (result_t){.value = both.value - both.against, .against = row->limit};
  }
  for (int i = 0; i < MESSAGES; i++)
    free(subject.messages[i]);
  tb_message_definition_destroy(subject.definition);
  return is_made || bench_fail(row, "no messages");
}

const row_t definition_rows[] = {
    {"decode_stamp", "ns", "limit", 1, decode_stamp, 100},
};
const int definition_row_count = sizeof definition_rows / sizeof *definition_rows;
