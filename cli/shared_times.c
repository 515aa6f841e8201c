#include "shared_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/shm_source.h>
#include <unistd.h>

#define PAGE_PREFIX "/dev/shm/timebase."

void shared_times_read(shared_times_t *out)
{
  *out = (shared_times_t){0};
  if (tb_shm_readers_create(NULL, NULL, &out->readers, NULL)) out->readers = NULL;
  out->mappings = calloc(1, sizeof *out->mappings);
  if (gethostname(out->host_name, sizeof out->host_name - 1)) out->host_name[0] = '\0';
}

void shared_times_release(shared_times_t *times)
{
  shared_mapping_t *next;
  for (shared_mapping_t *at = times->mappings ? *times->mappings : NULL; at; at = next) {
    next = at->next;
    free(at);
  }
  free(times->mappings);
  tb_shm_readers_destroy(times->readers);
}

/* Of a line of /proc/PID/maps: a page is shared and not written by those who follow it. */
static bool take_page_name(char *line, char *out, size_t size)
{
  char *path = strstr(line, PAGE_PREFIX);
  line[strcspn(line, "\n")] = '\0';
  if (!path || !strstr(line, " r--s ") || strchr(path, ' ')) return false; /* " (deleted)" */
  snprintf(out, size, "%s", path + strlen(PAGE_PREFIX));
  return true;
}

static void read_mapping(shared_mapping_t *mapping)
{
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%llu/maps", (unsigned long long)mapping->process);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file))
    if (take_page_name(line, mapping->name, sizeof mapping->name)) break;
  if (file) fclose(file);
}

/* NULL: it reads none, or that is not known. */
static const char *page_of(const shared_times_t *times, uint64_t process)
{
  shared_mapping_t *at = times->mappings ? *times->mappings : NULL;
  while (at && at->process != process)
    at = at->next;
  if (!at && times->mappings && (at = calloc(1, sizeof *at))) {
    at->process = process;
    at->next = *times->mappings;
    *times->mappings = at;
    read_mapping(at);
  }
  return at && at->name[0] ? at->name : NULL;
}

bool shared_time_has_publisher(const char *name)
{
  tb_source_t *source;
  tb_shm_status_t status = {0};
  if (tb_shm_source_create(name, NULL, &source, NULL)) return true;
  bool is_known = tb_shm_source_status(source, &status) == TB_OK;
  tb_source_destroy(source);
  return !is_known || status.has_publisher;
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
  const char *page = is_here ? page_of(times, participant->process_id) : NULL;
  if (page) {
    if (out_name) *out_name = page;
    return SHARED_TIME_FOLLOWED;
  }
  if (!is_known) return count ? SHARED_TIME_UNKNOWN : SHARED_TIME_NONE;
  return foreign && !is_here ? SHARED_TIME_UNKNOWN : SHARED_TIME_NONE;
}
