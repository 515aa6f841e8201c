#include "bag/storages.h"

#include <string.h>

#include "mcap/mcap_format.h"
#include "rosbag1/rosbag1_format.h"
#include "sqlite/sqlite_format.h"

static const tb__bag_storage_t *const storages[] = {&tb__sqlite_storage, &tb__mcap_storage,
                                                    &tb__rosbag1_storage};

#define STORAGE_COUNT (sizeof storages / sizeof *storages)

const tb__bag_storage_t *tb__bag_storage_find(const char *id)
{
  for (size_t i = 0; i < STORAGE_COUNT; i++)
    if (strcmp(storages[i]->id, id) == 0) return storages[i];
  return NULL;
}

static bool ends_in(const char *text, size_t length, const char *end)
{
  size_t end_length = strlen(end);
  return length > end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

const tb__bag_storage_t *tb__bag_storage_of_file(const char *path)
{
  size_t length = strlen(path);
  if (ends_in(path, length, ".zstd")) length -= strlen(".zstd");
  if (ends_in(path, length, ".bag.active")) length -= strlen(".active"); /* never closed */
  for (size_t i = 0; i < STORAGE_COUNT; i++)
    if (ends_in(path, length, storages[i]->extension)) return storages[i];
  return NULL;
}

const char *tb__bag_storage_names(void)
{
  return "sqlite3, mcap, rosbag1";
}
