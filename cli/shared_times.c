#include "shared_times.h"

#include <string.h>
#include <unistd.h>

void shared_times_read(shared_times_t *out)
{
  *out = (shared_times_t){0};
  if (tb_shm_readers_create(NULL, NULL, &out->readers, NULL)) out->readers = NULL;
  if (gethostname(out->host_name, sizeof out->host_name - 1)) out->host_name[0] = '\0';
}

void shared_times_release(shared_times_t *times)
{
  tb_shm_readers_destroy(times->readers);
}

/* The number of a process that is in another process namespace is one of another process here. */
shared_time_t shared_times_of(const shared_times_t *times, const tb_ros2_graph_snapshot_t *snapshot,
                              const uint8_t participant_guid[16], const char **out_name)
{
  const tb_ros2_graph_participant_t *participant =
      tb_ros2_graph_find_participant(snapshot, participant_guid);
  bool is_known = participant && participant->process_id && participant->host_name;
  bool is_here = is_known && strcmp(participant->host_name, times->host_name) == 0;
  size_t count = times->readers ? times->readers->count : 0;
  size_t foreign = 0;
  if (out_name) *out_name = NULL;
  for (size_t i = 0; i < count; i++) {
    const tb_shm_reader_t *reader = &times->readers->readers[i];
    foreign += !reader->in_process_namespace;
    if (!is_here || !reader->in_process_namespace || reader->process_id != participant->process_id)
      continue;
    if (out_name) *out_name = reader->name;
    return SHARED_TIME_FOLLOWED;
  }
  if (!is_known) return count ? SHARED_TIME_UNKNOWN : SHARED_TIME_NONE;
  return foreign && !is_here ? SHARED_TIME_UNKNOWN : SHARED_TIME_NONE;
}
