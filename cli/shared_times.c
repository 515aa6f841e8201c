#include "shared_times.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/shm_source.h>
#include <unistd.h>

#define PAGE_PREFIX "/dev/shm/timebase."

void shared_times_read(shared_times_t *out)
{
  *out = (shared_times_t){0};
  if (tb_shm_readers_create(NULL, NULL, &out->readers, NULL)) out->readers = NULL;
  out->mappings = calloc(1, sizeof *out->mappings);
  out->names = calloc(1, sizeof *out->names);
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
  for (shared_node_names_t *at = times->names ? times->names->first : NULL, *after; at;
       at = after) {
    after = at->next;
    free(at->names);
    free(at);
  }
  free(times->names);
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

/* --- the names of nodes that processes show --- */

#define NODE_NAMES      "/memfd:timebase-nodes"
#define NODE_NAMES_SIZE (1u << 20)

/* "\n/talker\n/listener\n"; NULL: the descriptor is another file. */
static char *read_names(int folder, const char *descriptor)
{
  char target[64];
  ssize_t length = readlinkat(folder, descriptor, target, sizeof target - 1);
  if (length < (ssize_t)strlen(NODE_NAMES) || strncmp(target, NODE_NAMES, strlen(NODE_NAMES)) != 0)
    return NULL;
  int file = openat(folder, descriptor, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  char *names = NULL;
  if (file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
      info.st_size <= NODE_NAMES_SIZE)
    names = calloc(1, (size_t)info.st_size + 2);
  if (names) {
    names[0] = '\n';
    if (pread(file, names + 1, (size_t)info.st_size, 0) < 0) names[1] = '\0';
  }
  if (file >= 0) close(file);
  return names;
}

static void read_process(shared_names_t *out, const char *process)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%.20s/fd", process);
  DIR *folder = opendir(path); /* not of another user's process */
  char *names = NULL;
  for (struct dirent *entry; folder && !names && (entry = readdir(folder));)
    names = read_names(dirfd(folder), entry->d_name);
  if (folder) closedir(folder);
  shared_node_names_t *found = names ? malloc(sizeof *found) : NULL;
  if (!found) {
    free(names);
    return;
  }
  *found = (shared_node_names_t){out->first, strtoull(process, NULL, 10), names};
  out->first = found;
}

static const shared_node_names_t *all_names(const shared_times_t *times)
{
  if (!times->names) return NULL;
  DIR *folder = times->names->are_read ? NULL : opendir("/proc");
  times->names->are_read = true;
  for (struct dirent *entry; folder && (entry = readdir(folder));)
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
      read_process(times->names, entry->d_name);
  if (folder) closedir(folder);
  return times->names->first;
}

static bool has_node_of(const shared_node_names_t *process,
                        const tb_ros2_graph_snapshot_t *snapshot, const uint8_t guid[16])
{
  char line[512];
  for (size_t i = 0; i < snapshot->node_count; i++) {
    const tb_ros2_graph_node_t *node = &snapshot->nodes[i];
    if (memcmp(node->participant_guid, guid, sizeof node->participant_guid) != 0) continue;
    snprintf(line, sizeof line, "\n%s\n", node->full_name);
    if (strstr(process->names, line)) return true;
  }
  return false;
}

/* The process of this machine that shows a node of the participant; 0: none does, or several. */
static uint64_t process_by_names(const shared_times_t *times,
                                 const tb_ros2_graph_snapshot_t *snapshot, const uint8_t guid[16])
{
  uint64_t found = 0;
  for (const shared_node_names_t *at = all_names(times); at; at = at->next) {
    if (!has_node_of(at, snapshot, guid)) continue;
    if (found) return 0;
    found = at->process;
  }
  return found;
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
  uint64_t process = participant && participant->host_name ? participant->process_id : 0;
  bool is_here = process && strcmp(participant->host_name, times->host_name) == 0;
  if (participant && !process) {
    process = process_by_names(times, snapshot, participant_guid);
    is_here = process != 0;
  }
  bool is_known = process != 0;
  size_t count = times->readers ? times->readers->count : 0;
  size_t foreign = 0;
  if (out_name) *out_name = NULL;
  for (size_t i = 0; i < count; i++) {
    const tb_shm_reader_t *reader = &times->readers->readers[i];
    foreign += !reader->in_process_namespace;
    if (!is_here || !reader->in_process_namespace || reader->process_id != process) continue;
    if (out_name) *out_name = reader->name;
    return SHARED_TIME_FOLLOWED;
  }
  const char *page = is_here ? page_of(times, process) : NULL;
  if (page) {
    if (out_name) *out_name = page;
    return SHARED_TIME_FOLLOWED;
  }
  if (!is_known) return count ? SHARED_TIME_UNKNOWN : SHARED_TIME_NONE;
  return foreign && !is_here ? SHARED_TIME_UNKNOWN : SHARED_TIME_NONE;
}
