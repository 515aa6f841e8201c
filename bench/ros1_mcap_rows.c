/* A bag of ROS 1 to MCAP, message by message, next to reading that bag alone. The bag is on a file
 * system in memory; what is made of it goes to files as users have them, and is not synced. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <timebase/reencoder.h>
#include <unistd.h>

#include "bench.h"
#include "ros1_view.h"

#define MIB        (UINT64_C(1) << 20)
#define ROUNDS     15
#define COUNT      100000 /* of each type */
#define TYPES      3
#define TRANSFORMS 3

static const char bag_path[] = "/dev/shm/timebase-bench-ros1-mcap.bag";
static const char mcap_folder[] = "/tmp/timebase-bench-ros1-mcap";

/* Types are found built in, so the definitions of ROS 1 are derived from them. */
static const struct {
  const char *topic, *type;
} types[TYPES] = {{"/imu", "sensor_msgs/Imu"},
                  {"/pose", "geometry_msgs/PoseStamped"},
                  {"/tf", "tf2_msgs/TFMessage"}};

typedef struct payload {
  uint8_t bytes[1024];
  size_t size;
} payload_t;

static void put(payload_t *payload, const void *bytes, size_t size)
{
  memcpy(payload->bytes + payload->size, bytes, size);
  payload->size += size;
}

static void put_number(payload_t *payload, uint32_t number)
{
  put(payload, &number, sizeof number);
}

static void put_text(payload_t *payload, const char *text)
{
  put_number(payload, (uint32_t)strlen(text));
  put(payload, text, strlen(text));
}

static void put_header(payload_t *payload, const char *frame)
{
  put_number(payload, 7);
  put_number(payload, 1700000000);
  put_number(payload, 123456789);
  put_text(payload, frame);
}

static void put_doubles(payload_t *payload, int count)
{
  for (int i = 0; i < count; i++) {
    double number = 0.25 * i;
    put(payload, &number, sizeof number);
  }
}

static void make_payloads(payload_t payloads[TYPES])
{
  memset(payloads, 0, TYPES * sizeof *payloads);
  put_header(&payloads[0], "imu_link");
  put_doubles(&payloads[0], 4 + 3 + 3 + 3 * 9);
  put_header(&payloads[1], "map");
  put_doubles(&payloads[1], 7);
  put_number(&payloads[2], TRANSFORMS);
  for (int i = 0; i < TRANSFORMS; i++) {
    put_header(&payloads[2], "base_link");
    put_text(&payloads[2], "wheel_link");
    put_doubles(&payloads[2], 7);
  }
}

static tb_reencoder_t *find(int type)
{
  const tb_reencoder_type_t from = {types[type].type, NULL, NULL, NULL};
  tb_reencoder_t *reencoder = NULL;
  return tb_reencoder_find(&from, NULL, 0, &reencoder, NULL) ? NULL : reencoder;
}

static bool add_topic(tb_bag_writer_t *writer, int type, bool is_ros1,
                      const tb_reencoder_t *reencoder, size_t *out)
{
  const tb_reencoder_type_t *described =
      is_ros1 ? tb_reencoder_ros1(reencoder) : tb_reencoder_ros2(reencoder);
  const tb_bag_writer_topic_t topic = {.name = types[type].topic,
                                       .type = described->name,
                                       .serialization_format = is_ros1 ? "ros1" : "cdr",
                                       .type_hash = is_ros1 ? tb_reencoder_md5sum(reencoder) : NULL,
                                       .definition = described->definition,
                                       .definition_encoding = described->encoding};
  return !tb_bag_writer_add_topic(writer, &topic, out, NULL);
}

static bool write_bag(tb_reencoder_t *const reencoders[TYPES], uint64_t *out_size)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_t *writer = NULL;
  payload_t payloads[TYPES];
  size_t topics[TYPES];
  make_payloads(payloads);
  options.storage_id = "rosbag1";
  unlink(bag_path);
  if (tb_bag_writer_create(bag_path, &options, &writer, NULL)) return false;
  bool done = true;
  for (int i = 0; i < TYPES && done; i++)
    done = add_topic(writer, i, true, reencoders[i], &topics[i]);
  for (int64_t i = 0; i < (int64_t)COUNT * TYPES && done; i++) {
    const payload_t *payload = &payloads[i % TYPES];
    *out_size += payload->size;
    done = !tb_bag_writer_write(writer, topics[i % TYPES], (i + 1) * 1000, -1, payload->bytes,
                                payload->size, NULL);
  }
  return !tb_bag_writer_close(writer, NULL) && done;
}

static void remove_mcap(void)
{
  char path[sizeof mcap_folder + 64];
  snprintf(path, sizeof path, "%s/metadata.yaml", mcap_folder);
  unlink(path);
  snprintf(path, sizeof path, "%s/timebase-bench-ros1-mcap_0.mcap", mcap_folder);
  unlink(path);
  rmdir(mcap_folder);
}

static volatile uint64_t sink;

/* With a writer to MCAP, or none. */
static bool read_bag(tb_reencoder_t *const reencoders[TYPES], tb_bag_writer_t *writer,
                     const size_t topics[TYPES])
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_status_t status;
  size_t count = 0;
  options.content = TB_BAG_CONTENT_ANY;
  if (writer) options.read_ahead_size = 8 * MIB; /* as the command has it */
  if (tb_bag_reader_open(bag_path, &options, &reader, NULL)) return false;
  while (!(status = tb_bag_reader_next(reader, &message, NULL))) {
    const void *bytes = NULL;
    size_t size = 0;
    count++;
    if (!writer)
      sink += bench_touch(message.data, message.size);
    else if (tb_reencoder_run(reencoders[message.topic], message.data, message.size, &bytes, &size,
                              NULL) ||
             tb_bag_writer_write(writer, topics[message.topic], message.log_time_ns,
                                 message.publish_time_ns, bytes, size, NULL))
      break;
  }
  tb_bag_reader_close(reader);
  return status == TB_ERR_END && count == (size_t)COUNT * TYPES;
}

static bool convert(tb_reencoder_t *const reencoders[TYPES])
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_t *writer = NULL;
  size_t topics[TYPES];
  bool done = true;
  options.storage_id = "mcap";
  if (tb_bag_writer_create(mcap_folder, &options, &writer, NULL)) return false;
  for (int i = 0; i < TYPES && done; i++)
    done = add_topic(writer, i, false, reencoders[i], &topics[i]);
  done = done && read_bag(reencoders, writer, topics);
  return !tb_bag_writer_close(writer, NULL) && done;
}

static bool measure(tb_reencoder_t *const reencoders[TYPES], result_t *out)
{
  double rates[2][ROUNDS];
  uint64_t size = 0;
  bool done = write_bag(reencoders, &size) && read_bag(reencoders, NULL, NULL);
  for (int i = 0; i < 2 * ROUNDS && done; i++) {
    remove_mcap();
    int64_t start_ns = bench_now_ns();
    done = i % 2 ? read_bag(reencoders, NULL, NULL) : convert(reencoders);
    rates[i % 2][i / 2] = (double)size / (double)MIB / ((double)(bench_now_ns() - start_ns) / 1e9);
  }
  remove_mcap();
  unlink(bag_path);
  if (done) *out = (result_t){bench_median(rates[0], ROUNDS), bench_median(rates[1], ROUNDS)};
  return done;
}

static bool run_to_mcap(const row_t *row, result_t *out)
{
  tb_reencoder_t *reencoders[TYPES] = {NULL};
  bool done = true;
  for (int i = 0; i < TYPES; i++) {
    reencoders[i] = find(i);
    done = done && reencoders[i];
  }
  done = done && measure(reencoders, out);
  for (int i = 0; i < TYPES; i++)
    tb_reencoder_destroy(reencoders[i]);
  return done ? true
              : bench_fail(row, "a bag in /dev/shm could not be written and converted to /tmp");
}

const row_t ros1_mcap_rows[] = {
    {"ros1_to_mcap", "MiB/s", "reading the bag", 0.4, run_to_mcap, 0},
};
const int ros1_mcap_row_count = sizeof ros1_mcap_rows / sizeof *ros1_mcap_rows;
