/* Bytes as one file of a recording, of either format: the results of checking, reading, reading
 * only times, and recovering must agree, and everything that is read can be written. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_check.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#include "fuzz.h"

#define PATH_SIZE 100
/* Far above what a small input holds. */
#define MAX_CALLS 100000000

typedef struct outcome {
  tb_status_t opened;
  uint64_t messages, failures; /* except a missing end */
  bool is_damaged;
} outcome_t;

static void demand(bool holds, const char *what)
{
  if (holds) return;
  fprintf(stderr, "bag_agree_fuzz: %s\n", what);
  abort();
}

static void add_topics(const tb_bag_info_t *info, tb_bag_writer_t *writer)
{
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    tb_bag_writer_topic_t same = {.name = topic->name,
                                  .type = topic->type,
                                  .serialization_format = topic->serialization_format,
                                  .offers = topic->offers,
                                  .type_hash = topic->type_hash,
                                  .definition = topic->definition,
                                  .definition_encoding = topic->definition_encoding};
    size_t index = 0;
    demand(!tb_bag_writer_add_topic(writer, &same, &index, NULL) && index == i,
           "a topic that cannot be written");
  }
}

static void copy(tb_bag_reader_t *reader, tb_bag_writer_t *writer, outcome_t *out)
{
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  size_t unclosed = info->unclosed_count;
  if (writer) add_topics(info, writer);
  for (int calls = 0;; calls++) {
    tb_bag_message_t message;
    tb_status_t status = tb_bag_reader_next(reader, &message, NULL);
    demand(calls < MAX_CALLS, "reading does not end");
    if (status == TB_ERR_END) return;
    if (status == TB_ERR_TRUNCATED && unclosed > 0) {
      unclosed--;
    } else if (status) {
      out->failures++;
    } else {
      out->messages++;
      demand(!writer ||
                 !tb_bag_writer_write(writer, message.topic, message.log_time_ns,
                                      message.publish_time_ns, message.data, message.size, NULL),
             "a message that cannot be written");
    }
  }
}

static void remove_copy(const char *folder)
{
  static const char *const names[] = {"copy_0.mcap", "metadata.yaml", "metadata.yaml.new"};
  char path[2 * PATH_SIZE];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
}

/* With `folder`, everything that is read is written there. */
static outcome_t read_all(const char *path, const char *folder, tb_bag_damage_t damage,
                          tb_bag_content_t content)
{
  outcome_t outcome = {0};
  tb_bag_reader_t *reader = NULL;
  tb_bag_writer_t *writer = NULL;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_writer_options_t written = TB_BAG_WRITER_OPTIONS_INIT;
  options.damage = damage;
  options.content = content;
  written.storage_id = "mcap";
  outcome.opened = tb_bag_reader_open(path, &options, &reader, NULL);
  if (outcome.opened) return outcome;
  written.ros_distro = tb_bag_reader_info(reader)->ros_distro;
  outcome.is_damaged = tb_bag_reader_info(reader)->damage;
  if (folder) demand(!tb_bag_writer_create(folder, &written, &writer, NULL), "no copy can be made");
  copy(reader, writer, &outcome);
  demand(!tb_bag_writer_close(writer, NULL), "the copy cannot be closed");
  tb_bag_reader_close(reader);
  if (!folder) return outcome;
  tb_bag_check_result_t result = {0};
  demand(!tb_bag_check(folder, NULL, NULL, &result, NULL), "the copy cannot be checked");
  demand(result.finding_count == 0, "the copy is not whole");
  demand(result.message_count == outcome.messages, "the copy has other messages");
  remove_copy(folder);
  return outcome;
}

static void compare(const char *path, bool has_payloads_apart)
{
  char folder[PATH_SIZE];
  snprintf(folder, sizeof folder, "%.80s.d", path);
  char copies[PATH_SIZE + 8];
  snprintf(copies, sizeof copies, "%s/copy", folder);
  tb_bag_check_result_t checked = {0};
  tb_status_t status = tb_bag_check(path, NULL, NULL, &checked, NULL);
  outcome_t read = read_all(path, copies, TB_BAG_DAMAGE_REFUSE, TB_BAG_CONTENT_ANY);
  outcome_t timed = read_all(path, NULL, TB_BAG_DAMAGE_REFUSE, TB_BAG_CONTENT_TIMES);
  outcome_t recovered = read_all(path, copies, TB_BAG_DAMAGE_SALVAGE, TB_BAG_CONTENT_ANY);
  rmdir(folder);
  bool is_whole = !status && checked.finding_count == 0;
  bool is_read = !read.opened && read.failures == 0;
  demand(timed.opened == read.opened, "opened for one purpose only");
  demand(!is_whole || is_read, "whole, but not read");
  demand(!is_whole || (!recovered.opened && recovered.failures == 0 && !recovered.is_damaged),
         "whole, but something is lost");
  if (!status && !read.opened)
    demand(checked.message_count == read.messages, "the check reads other messages");
  /* Rows of a damaged database depend on the query. */
  if (!read.opened && !(has_payloads_apart && checked.finding_count > 0))
    demand(timed.messages == read.messages, "the times are of other messages");
  if (!read.opened && !recovered.opened)
    demand(recovered.messages >= read.messages, "less is recovered than read");
  demand(!is_read || (!recovered.opened && recovered.messages == read.messages),
         "all is read, but more is recovered");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  bool is_sqlite = size >= 6 && memcmp(data, "SQLite", 6) == 0;
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "/dev/shm/timebase-fuzz-XXXXXX%s", is_sqlite ? ".db3" : ".mcap");
  int fd = mkstemps(path, is_sqlite ? 4 : 5);
  if (fd < 0) abort();
  bool written = write(fd, data, size) == (ssize_t)size;
  close(fd);
  if (written) compare(path, is_sqlite);
  unlink(path);
  return 0;
}
