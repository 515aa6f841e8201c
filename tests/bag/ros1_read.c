/* ros1_read BAG: what the library reads of a recording, for a script to compare: a line for each
 * topic (index, name, type, hash, offers in one word), then for each message its topic, time and
 * size with the bytes after it. Of a damaged one what can be read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <timebase/bag_reader.h>

int main(int argument_count, char **arguments)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_message_t message;
  tb_status_t status;
  if (argument_count != 2) return 2;
  options.content = TB_BAG_CONTENT_ANY;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  if (tb_bag_reader_open(arguments[1], &options, &reader, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    printf("topic %zu %s %s %s %s %" PRIu64 "\n", i, topic->name, topic->type, topic->type_hash,
           topic->qos.durability == TB_QOS_TRANSIENT_LOCAL ? "latched" : "volatile",
           topic->message_count);
  }
  while ((status = tb_bag_reader_next(reader, &message, &error)) != TB_ERR_END) {
    if (status) continue;
    printf("message %zu %" PRId64 " %zu\n", message.topic, message.log_time_ns, message.size);
    fwrite(message.data, 1, message.size, stdout);
    printf("\n");
  }
  tb_bag_reader_close(reader);
  return ferror(stdout) ? 1 : 0;
}
