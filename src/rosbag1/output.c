/* Bags of ROS 1 that are written: one file each, without a folder and metadata of its own. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "rosbag1/file_writer.h"
#include "rosbag1/rosbag1_format.h"

#define NS_PER_S    INT64_C(1000000000)
#define EARLIEST_NS 1 /* rosbag of C++ leaves out messages at 0 */

typedef struct rosbag1_output {
  tb__bag_output_t base;
  tb__rosbag1_writer_t *writer;
} rosbag1_output_t;

static tb__rosbag1_writer_t *writer_of(const tb__bag_output_t *output)
{
  return ((const rosbag1_output_t *)output)->writer;
}

static tb_status_t rosbag1_create(const tb__bag_output_format_t *format, const char *path,
                                  const tb__bag_output_options_t *options, tb__bag_output_t **out,
                                  tb_error_t *error)
{
  rosbag1_output_t *output = calloc(1, sizeof *output);
  if (!output) return tb__no_memory(error);
  output->base.format = format;
  tb_status_t status = tb__rosbag1_writer_create(path, options, &output->writer, error);
  if (status)
    free(output);
  else
    *out = &output->base;
  return status;
}

static tb_status_t rosbag1_add_topic(tb__bag_output_t *base, const tb__bag_output_topic_t *topic,
                                     uint32_t *out_id, tb_error_t *error)
{
  return tb__rosbag1_writer_connect(writer_of(base), topic, out_id, error);
}

static tb_status_t rosbag1_write(tb__bag_output_t *base, uint32_t topic, int64_t log_time_ns,
                                 int64_t publish_time_ns, const void *data, size_t size,
                                 tb_error_t *error)
{
  (void)publish_time_ns; /* there is no place for it */
  tb__rosbag1_writer_t *writer = writer_of(base);
  if (log_time_ns < 0 || log_time_ns / NS_PER_S > UINT32_MAX)
    return tb_error_set(error, TB_ERR_INVALID,
                        "%s: a message at %lld ns: bags of ROS 1 have times of 1970 to 2106",
                        writer->path, (long long)log_time_ns);
  uint64_t time_ns = log_time_ns < EARLIEST_NS ? EARLIEST_NS : (uint64_t)log_time_ns;
  tb_status_t status = tb__rosbag1_writer_message(writer, topic, time_ns, data, size, error);
  base->whole_count = writer->whole_count;
  return status;
}

static tb_status_t rosbag1_flush(tb__bag_output_t *base, bool sync, tb_error_t *error)
{
  tb_status_t status = tb__rosbag1_writer_flush(writer_of(base), sync, error);
  base->whole_count = writer_of(base)->whole_count;
  return status;
}

static uint64_t rosbag1_size(const tb__bag_output_t *base)
{
  return tb__rosbag1_writer_size(writer_of(base));
}

static tb_status_t rosbag1_check(tb__bag_output_t *base, tb_error_t *error)
{
  return tb__rosbag1_writer_check(writer_of(base), error);
}

static tb_status_t rosbag1_close(tb__bag_output_t *base, const tb__bag_output_metadata_t *metadata,
                                 tb_error_t *error)
{
  (void)metadata;
  tb_status_t status = tb__rosbag1_writer_close(writer_of(base), error);
  free(base);
  return status;
}

const tb__bag_output_format_t tb__rosbag1_output = {
    .id = "rosbag1",
    .extension = ".bag",
    .is_file = true,
    .has_publishers = true,
    .create = rosbag1_create,
    .add_topic = rosbag1_add_topic,
    .write = rosbag1_write,
    .flush = rosbag1_flush,
    .size = rosbag1_size,
    .check = rosbag1_check,
    .close = rosbag1_close,
};
