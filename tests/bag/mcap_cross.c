/* Our side of mcap_cross_check:
 *   write FOLDER   files of each compression, each NAME.mcap beside NAME.list
 *   read FILE      the list of what is in it, which is also checked from front to back
 * A line of a list: topic, log time, publish time, size and FNV-1a of the payload, in order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_reader.h>

#include "mcap/mcap_format.h"
#include "mcap/recover.h"
#include "storage/output.h"

#define MESSAGES 1000

static int fail(const char *what)
{
  fprintf(stderr, "mcap_cross: %s\n", what);
  return 1;
}

static uint32_t hash(const uint8_t *data, size_t size)
{
  uint32_t value = 0x811c9dc5;
  for (size_t i = 0; i < size; i++)
    value = (value ^ data[i]) * 0x01000193;
  return value;
}

static void put_line(FILE *to, const char *topic, int64_t log_time_ns, int64_t publish_time_ns,
                     const uint8_t *data, size_t size)
{
  fprintf(to, "%s %" PRId64 " %" PRId64 " %zu %08" PRIx32 "\n", topic, log_time_ns, publish_time_ns,
          size, hash(data, size));
}

static void on_loss(void *user, const tb__mcap_damage_t *loss)
{
  *(int *)user = fail(loss->text);
}

static int read_file(const char *path)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb__mcap_recovery_t checked;
  int result = 0;
  if (tb__mcap_recover(path, path, NULL, NULL, on_loss, &result, &checked, &error))
    return fail(error.text);
  if (checked.attachments != 1 || checked.metadata != 1) return fail("an attachment is missing");
  if (tb_bag_reader_open(path, NULL, &reader, &error)) return fail(error.text);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  if (strcmp(info->ros_distro, "jazzy") != 0 || info->message_count != checked.messages)
    result = fail("its summary is not what was written");
  tb_status_t status;
  while (!(status = tb_bag_reader_next(reader, &message, &error)))
    put_line(stdout, info->topics[message.topic].name, message.log_time_ns, message.publish_time_ns,
             message.data, message.size);
  tb_bag_reader_close(reader);
  return status == TB_ERR_END ? result : fail(error.text);
}

/* In the order of time, as the readers give them; in the file, every second pair is swapped. */
static size_t place_of(size_t i)
{
  return i % 4 < 2 ? i ^ 1 : i;
}

static size_t make_payload(size_t i, uint8_t *data)
{
  size_t size = 8 + i * 37 % 500;
  memset(data, (int)(i % 7), size);
  memcpy(data, "\0\1\0\0", 4);
  memcpy(data + 4, &(uint16_t){(uint16_t)i}, 2);
  return size;
}

static int write_file(const char *folder, const char *name,
                      tb__bag_output_compression_t compression)
{
  char path[4096];
  uint8_t data[1000];
  uint32_t ids[3] = {0};
  static const char *const topics[] = {"/topic_0", "/topic_1", "/topic_2"};
  const tb__bag_output_options_t options = {
      .chunk_size = 20000, .compression = compression, .ros_distro = "jazzy"};
  tb__bag_output_t *output = NULL;
  tb_error_t error = TB_ERROR_INIT;
  snprintf(path, sizeof path, "%s/%s.list", folder, name);
  FILE *list = fopen(path, "w");
  if (!list) return fail(path);
  snprintf(path, sizeof path, "%s/%s.mcap", folder, name);
  if (tb__mcap_output.create(&tb__mcap_output, path, &options, &output, &error))
    return fail(error.text);
  tb_status_t status = TB_OK;
  for (int i = 0; i < 3 && !status; i++) {
    const tb__bag_output_topic_t topic = {topics[i],
                                          "std_msgs/msg/String",
                                          "cdr",
                                          "- depth: 1\n",
                                          i ? "RIHS01_00" : "",
                                          "string data\n",
                                          "ros2msg",
                                          ""};
    status = output->format->add_topic(output, &topic, &ids[i], &error);
  }
  for (size_t i = 0; i < MESSAGES && !status; i++) {
    int64_t time_ns = INT64_C(1700000000000000000) + 1000 * (int64_t)i;
    put_line(list, topics[i % 3], time_ns, time_ns - 5, data, make_payload(i, data));
    size_t place = place_of(i);
    time_ns = INT64_C(1700000000000000000) + 1000 * (int64_t)place;
    size_t size = make_payload(place, data);
    status =
        output->format->write(output, ids[place % 3], time_ns, time_ns - 5, data, size, &error);
  }
  tb_status_t closed = output->format->close(output, &(tb__bag_output_metadata_t){.text = ""},
                                             status ? NULL : &error);
  return fclose(list) || status || closed ? fail(error.text) : 0;
}

int main(int argc, char **argv)
{
  if (argc == 3 && strcmp(argv[1], "read") == 0) return read_file(argv[2]);
  if (argc != 3 || strcmp(argv[1], "write") != 0)
    return fail("usage: mcap_cross write FOLDER | read FILE");
  return write_file(argv[2], "plain", TB__BAG_OUTPUT_NONE) ||
         write_file(argv[2], "zstd", TB__BAG_OUTPUT_ZSTD) ||
         write_file(argv[2], "lz4", TB__BAG_OUTPUT_LZ4);
}
