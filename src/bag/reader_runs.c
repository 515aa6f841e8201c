/* The runs of a bag: between them time was set back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/reader.h"
#include "bag/run_note.h"
#include "base/log.h"
#include "base/no_memory.h"

bool tb__bag_is_run_note(const char *key)
{
  return strncmp(key, TB__RUN_KEY_PREFIX, strlen(TB__RUN_KEY_PREFIX)) == 0;
}

/* 0: there is no such note, or none that makes sense. */
static size_t first_file_of(const tb__bag_metadata_t *metadata, size_t run)
{
  char key[sizeof TB__RUN_KEY_PREFIX + 20], *end;
  snprintf(key, sizeof key, TB__RUN_KEY_PREFIX "%zu", run);
  const tb__yaml_node_t *node = metadata->custom ? tb__yaml_find(metadata->custom, key) : NULL;
  const char *text = node ? tb__yaml_text(node) : NULL;
  size_t length = strlen(TB__RUN_VALUE);
  if (!text || strncmp(text, TB__RUN_VALUE, length) != 0) return 0;
  unsigned long long file = strtoull(text + length, &end, 10);
  return *end || end == text + length ? 0 : (size_t)file;
}

/* Of a damaged bag some may be lost, and numbers of files mean nothing any more. */
static bool has_all_files(const tb__bag_location_t *location)
{
  size_t count = 0;
  const tb__yaml_node_t *paths = location->metadata.paths;
  for (const tb__yaml_node_t *path = paths ? paths->first : NULL; path; path = path->next)
    count++;
  return count == location->file_count;
}

/* How many runs the bag's own metadata lists; their first files go to `runs`, unless NULL. */
static size_t count_runs(const tb__bag_part_t *part, tb_bag_run_t *runs)
{
  const tb__bag_location_t *location = &part->location;
  size_t count = 1, last = 0;
  if (!location->has_metadata || !has_all_files(location)) return count;
  for (;;) {
    size_t file = first_file_of(&location->metadata, count + 1);
    if (file <= last || file >= location->file_count) return count;
    if (runs) runs[count].first_file = file;
    last = file;
    count++;
  }
}

static bool has_file_runs(const tb_bag_reader_t *reader)
{
  return reader->source_count == 1 && reader->parts[0].storage->find_runs;
}

static tb_status_t no_such_run(const tb_bag_reader_t *reader, tb_error_t *error)
{
  size_t count = reader->info.run_count;
  return tb_error_set(error, TB_ERR_RANGE, "%s: no run %zu: there %s %zu",
                      reader->parts[0].location.path, reader->options.run,
                      count == 1 ? "is" : "are", count);
}

tb_status_t tb__bag_reader_find_runs(tb_bag_reader_t *reader, tb_error_t *error)
{
  const tb__bag_part_t *part = &reader->parts[0];
  size_t count = reader->part_count == 1 ? count_runs(part, NULL) : 1;
  reader->runs = calloc(count, sizeof *reader->runs);
  if (!reader->runs) return tb__no_memory(error);
  if (count > 1) count_runs(part, reader->runs);
  for (size_t i = 0; i < count; i++) {
    size_t end = i + 1 < count ? reader->runs[i + 1].first_file : reader->source_count;
    reader->runs[i].file_count = end - reader->runs[i].first_file;
  }
  reader->info.runs = reader->runs;
  reader->info.run_count = count;
  size_t chosen = reader->options.run;
  reader->last_row = INT64_MAX;
  reader->first_row = INT64_MIN;
  if (has_file_runs(reader)) return TB_OK;
  if (chosen > count) return no_such_run(reader, error);
  for (size_t i = 0; chosen > 0 && i < reader->source_count; i++)
    reader->sources[i].is_left_out =
        i - reader->runs[chosen - 1].first_file >= reader->runs[chosen - 1].file_count;
  return TB_OK;
}

/* --- inside of a file --- */

static tb_status_t choose_file_run(tb_bag_reader_t *reader, const tb__bag_source_t *source,
                                   const tb__bag_file_run_t *runs, size_t count, tb_error_t *error)
{
  size_t chosen = reader->options.run;
  if (chosen == 0) return TB_OK;
  const tb__bag_file_run_t *run = &runs[chosen - 1];
  reader->first_row = chosen == 1 ? INT64_MIN : run->first_id;
  reader->last_row = chosen < count ? runs[chosen].first_id - 1 : INT64_MAX;
  reader->run_counts = calloc(source->link_count + 1, sizeof *reader->run_counts);
  if (!reader->run_counts) return tb__no_memory(error);
  for (size_t i = 0; i < source->link_count; i++)
    reader->run_counts[source->links[i].topic] += run->topic_counts[i];
  reader->info.message_count = run->message_count;
  reader->info.start_ns = run->start_ns;
  reader->info.end_ns = run->end_ns;
  return TB_OK;
}

static tb_status_t take_file_runs(tb_bag_reader_t *reader, const tb__bag_source_t *source,
                                  const tb__bag_file_run_t *runs, size_t count, tb_error_t *error)
{
  tb_bag_run_t *all = calloc(count, sizeof *all);
  if (!all) return tb__no_memory(error);
  for (size_t i = 0; i < count; i++)
    all[i] = (tb_bag_run_t){.file_count = 1,
                            .start_ns = runs[i].start_ns,
                            .end_ns = runs[i].end_ns,
                            .first_row = runs[i].first_id};
  free(reader->runs);
  reader->runs = all;
  reader->info.runs = all;
  reader->info.run_count = count;
  return choose_file_run(reader, source, runs, count, error);
}

tb_status_t tb__bag_reader_find_file_runs(tb_bag_reader_t *reader, tb__bag_source_t *source,
                                          tb_error_t *error)
{
  tb__bag_file_run_t *runs = NULL;
  size_t count = 0;
  if (!has_file_runs(reader)) return TB_OK;
  tb_status_t status = source->part->storage->find_runs(source->file, &runs, &count, error);
  if (!status && reader->options.run > (count ? count : 1)) {
    if (count) reader->info.run_count = count;
    status = no_such_run(reader, error);
  } else if (!status && count > 1) {
    status = take_file_runs(reader, source, runs, count, error);
  }
  tb__bag_file_runs_free(runs, count);
  return status;
}

/* --- when all files are known --- */

static void time_run(const tb_bag_reader_t *reader, tb_bag_run_t *run)
{
  bool has_times = false;
  for (size_t i = run->first_file; i < run->first_file + run->file_count; i++) {
    const tb__bag_source_t *source = &reader->sources[i];
    if (!source->has_rows || source->end_ns == INT64_MAX) continue;
    if (!has_times || source->start_ns < run->start_ns) run->start_ns = source->start_ns;
    if (!has_times || source->end_ns > run->end_ns) run->end_ns = source->end_ns;
    has_times = true;
  }
}

void tb__bag_reader_time_runs(tb_bag_reader_t *reader)
{
  bool is_in_file = has_file_runs(reader) && reader->info.run_count > 1;
  for (size_t i = 0; i < reader->info.run_count && !is_in_file; i++)
    time_run(reader, &reader->runs[i]);
  for (size_t i = 0; i < reader->table.count && reader->run_counts; i++)
    reader->table.topics[i].message_count = reader->run_counts[i];
  for (size_t i = 0; i < reader->source_count; i++)
    if (reader->sources[i].is_left_out) reader->sources[i].has_rows = false;
  if (reader->options.run > 0) return;
  for (size_t i = 0; i < reader->part_count; i++)
    if (is_in_file || count_runs(&reader->parts[i], NULL) > 1)
      tb__log(
          TB_LOG_WARN,
          "%s: time was set back while it was recorded: messages from before and after that are "
          "merged by time",
          reader->parts[i].location.path);
}
