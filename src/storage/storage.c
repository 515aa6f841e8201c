#include "storage/storage.h"

#include <stdlib.h>

void tb__bag_file_info_fini(tb__bag_file_info_t *info)
{
  for (size_t i = 0; i < info->topic_count; i++) {
    tb__bag_file_topic_t *topic = &info->topics[i];
    free(topic->name);
    free(topic->type);
    free(topic->serialization_format);
    free(topic->offers);
    free(topic->type_hash);
    free(topic->definition);
    free(topic->definition_encoding);
  }
  free(info->topics);
  free(info->metadata);
  free(info->ros_distro);
  free(info->library);
  free(info->damage);
  free(info->oddity);
  free(info->losses);
  *info = (tb__bag_file_info_t){0};
}

void tb__bag_file_runs_free(tb__bag_file_run_t *runs, size_t count)
{
  for (size_t i = 0; i < count && runs; i++)
    free(runs[i].topic_counts);
  free(runs);
}
