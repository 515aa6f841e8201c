#include "bag_parts.h"

#include <inttypes.h>
#include <string.h>

#include "bag.h"
#include "json.h"
#include "text.h"

typedef struct listing {
  tb_mcap_part_kind_t kind;
  bool is_json, is_out_of_memory;
  const char *file;
} listing_t;

const char *bag_parts_name(tb_mcap_part_kind_t kind)
{
  return kind == TB_MCAP_PART_CHUNK        ? "chunks"
         : kind == TB_MCAP_PART_ATTACHMENT ? "attachments"
                                           : "metadata records";
}

int bag_parts_open(bag_parts_t *parts, const command_t *command, const char *path, const char *what)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_error_t error = TB_ERROR_INIT;
  *parts = (bag_parts_t){.command = command};
  options.counts = TB_BAG_COUNTS_SUMMARY;
  if (tb_bag_reader_open_many(&path, 1, &options, &parts->reader, &error))
    return bag_refused(command, &path, 1, &error);
  parts->info = tb_bag_reader_info(parts->reader);
  if (strcmp(parts->info->storage_id, "mcap") != 0) {
    text_err("timebase %s: %s: a recording of %s; only the %s of mcap are known here\n",
             command->name, path, parts->info->storage_id, what);
    return EXIT_USAGE;
  }
  if (parts->info->compression == TB_BAG_COMPRESSION_FILES) {
    text_err("timebase %s: %s: its files are compressed as a whole; 'timebase bag decompress' "
             "makes one whose files are not\n",
             command->name, path);
    return EXIT_USAGE;
  }
  return EXIT_OK;
}

void bag_parts_close(bag_parts_t *parts)
{
  tb_bag_reader_close(parts->reader);
  parts->reader = NULL;
}

json_t *bag_parts_pairs(const tb_mcap_part_t *part)
{
  json_t *pairs = json_object();
  for (uint32_t i = 0; i < part->pair_count; i++) {
    json_t *key = text_json(part->keys[i]); /* which may not be UTF-8 */
    json_put(pairs, key ? json_string_value(key) : "", text_json(part->values[i]));
    json_decref(key);
  }
  return pairs;
}

static bool print_json(const listing_t *listing, const tb_mcap_part_t *part)
{
  json_t *out = json_object();
  json_put(out, "file", text_json(listing->file));
  json_put(out, "offset", json_integer((json_int_t)part->offset));
  if (part->kind == TB_MCAP_PART_CHUNK) {
    json_put(out, "start_ns", json_integer(part->start_ns));
    json_put(out, "end_ns", json_integer(part->end_ns));
    json_put(out, "compression", json_string(part->compression));
    json_put(out, "stored_size", json_integer((json_int_t)part->stored_size));
    json_put(out, "size", json_integer((json_int_t)part->size));
    json_put(out, "message_count",
             part->message_count > 0 ? json_integer((json_int_t)part->message_count) : json_null());
  } else if (part->kind == TB_MCAP_PART_ATTACHMENT) {
    json_put(out, "name", text_json(part->name));
    json_put(out, "media_type", text_json(part->media_type));
    json_put(out, "size", json_integer((json_int_t)part->size));
    json_put(out, "log_time_ns", json_integer(part->log_time_ns));
    json_put(out, "create_time_ns", json_integer(part->create_time_ns));
  } else {
    json_put(out, "name", text_json(part->name));
    json_put(out, "metadata", bag_parts_pairs(part));
  }
  return json_print(out, JSON_COMPACT);
}

/* Without an index after it, the number of messages is not known. */
static void print_chunk(const tb_mcap_part_t *part)
{
  const int64_t second = INT64_C(1000000000);
  text_out("%" PRIu64 ": %" PRId64 ".%09" PRId64 " to %" PRId64 ".%09" PRId64 ", %s, %" PRIu64
           " of %" PRIu64 " bytes, ",
           part->offset, part->start_ns / second, part->start_ns % second, part->end_ns / second,
           part->end_ns % second, part->compression, part->stored_size, part->size);
  if (part->message_count > 0)
    text_out("%" PRIu64 " message%s\n", part->message_count, bag_plural(part->message_count));
  else
    text_out("no message index\n");
}

static void print_text(const tb_mcap_part_t *part)
{
  const int64_t second = INT64_C(1000000000);
  if (part->kind == TB_MCAP_PART_CHUNK)
    print_chunk(part);
  else if (part->kind == TB_MCAP_PART_ATTACHMENT)
    text_out("%" PRIu64 ": %s (%s), %" PRIu64 " byte%s, %" PRId64 ".%09" PRId64 "\n", part->offset,
             part->name, *part->media_type ? part->media_type : "no media type", part->size,
             bag_plural(part->size), part->log_time_ns / second, part->log_time_ns % second);
  else
    text_out("%" PRIu64 ": %s\n", part->offset, part->name);
  for (uint32_t i = 0; i < part->pair_count; i++)
    text_out("  %s: %s\n", part->keys[i], part->values[i]);
}

static bool show(const tb_mcap_part_t *part, void *user)
{
  listing_t *listing = user;
  if (part->kind != listing->kind) return true;
  if (!listing->is_json)
    print_text(part);
  else if (!print_json(listing, part))
    listing->is_out_of_memory = true;
  return !listing->is_out_of_memory && (!ferror(stdout) || command_flush());
}

static int list_one(const command_t *command, const char *path, listing_t *listing)
{
  bag_parts_t parts;
  int result = bag_parts_open(&parts, command, path, bag_parts_name(listing->kind));
  for (size_t i = 0; !result && i < parts.info->file_count; i++) {
    tb_error_t error = TB_ERROR_INIT;
    listing->file = parts.info->files[i];
    tb_status_t status = tb_mcap_file_list(listing->file, show, listing, &error);
    if (!status && listing->is_out_of_memory) status = TB_ERR_NO_MEMORY;
    if (status) result = command_failed(command, status, &error);
  }
  bag_parts_close(&parts);
  return result;
}

int bag_parts_list(const command_t *command, const char *const *paths, size_t count,
                   tb_mcap_part_kind_t kind, bool is_json)
{
  listing_t listing = {.kind = kind, .is_json = is_json};
  int result = EXIT_OK;
  command_show_log(command);
  if (count == 0) return command_usage_error(command, "missing BAG");
  for (size_t i = 0; !result && i < count; i++)
    result = list_one(command, paths[i], &listing);
  return result;
}
