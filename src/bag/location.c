#include "bag/location.h"
#include "base/no_memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bag/storages.h"
#include "base/log.h"
#include "platform/input_file.h"
#include "storage/clean.h"
#include "storage/storage.h"

#define METADATA_NAME "metadata.yaml"
#define PACKED        ".zstd"

#define ENTRIES_LOOKED_AT 1000 /* of a folder that is no bag, for a better message */
#define RECORDINGS_NAMED  5
#define NAMES_SIZE        400 /* of a list of that many names */

static tb_status_t path_error(tb_error_t *error, const char *path)
{
  int code = errno;
  bool missing = code == ENOENT || code == ENOTDIR;
  return tb_error_set_errno(error, missing ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, code, "%s", path);
}

static bool ends_with(const char *text, const char *end)
{
  size_t length = strlen(text);
  size_t end_length = strlen(end);
  return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static char *join(const char *directory, const char *name)
{
  char *path = NULL;
  const char *slash = ends_with(directory, "/") || strcmp(directory, "/") == 0 ? "" : "/";
  return asprintf(&path, "%s%s%s", directory, slash, name) < 0 ? NULL : path;
}

bool tb__bag_file_is_packed(const char *path)
{
  return ends_with(path, PACKED);
}

static const char *skip_zeros(const char *text)
{
  while (*text == '0' && isdigit((unsigned char)text[1]))
    text++;
  return text;
}

/* At digits in both. 0 if the numbers are equal, with the pointers after them. */
static int compare_numbers(const char **a, const char **b)
{
  const char *x = skip_zeros(*a);
  const char *y = skip_zeros(*b);
  size_t x_length = strspn(x, "0123456789");
  size_t y_length = strspn(y, "0123456789");
  *a = x + x_length;
  *b = y + y_length;
  if (x_length != y_length) return x_length < y_length ? -1 : 1;
  return strncmp(x, y, x_length);
}

int tb__natural_compare(const char *a, const char *b)
{
  const char *x = a;
  const char *y = b;
  while (*x && *y) {
    if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
      int order = compare_numbers(&x, &y);
      if (order) return order;
    } else if (*x != *y) {
      return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
    } else {
      x++;
      y++;
    }
  }
  if (*x || *y) return *x ? 1 : -1;
  return strcmp(a, b); /* a02 and a2 */
}

static int compare_paths(const void *a, const void *b)
{
  return tb__natural_compare(*(char *const *)a, *(char *const *)b);
}

/* Takes ownership of `path`, which may be NULL. */
static tb_status_t add_file(tb__bag_location_t *location, char *path, tb_error_t *error)
{
  char **files =
      path ? reallocarray(location->files, location->file_count + 1, sizeof *files) : NULL;
  if (!files) {
    free(path);
    return tb__no_memory(error);
  }
  location->files = files;
  files[location->file_count++] = path;
  return TB_OK;
}

tb_status_t tb__bag_check_regular(const char *path, tb_error_t *error)
{
  struct stat info;
  if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) return TB_OK;
  return tb_error_set(error, TB_ERR_INVALID, "%s: not a regular file", path);
}

/* Bytes that YAML does not allow, most likely in a note. False: the file has none. */
static bool parse_cleaned(const char *bytes, size_t size, tb__bag_metadata_t *out)
{
  bool changed = false;
  char *clean = tb__bag_clean(bytes, size, &changed);
  bool parsed = clean && changed && !tb__bag_metadata_parse(clean, strlen(clean), out, NULL);
  free(clean);
  return parsed;
}

static tb_status_t note_oddity(tb__bag_location_t *location, const char *path, tb_error_t *error)
{
  if (asprintf(&location->oddity,
               "%s: some bytes are not text; they are read as \\x and two digits", path) < 0) {
    location->oddity = NULL;
    return tb__no_memory(error);
  }
  return TB_OK;
}

static tb_status_t read_metadata(tb__bag_location_t *location, const char *path, tb_error_t *error)
{
  tb__bag_metadata_t *out = &location->metadata;
  char *bytes = NULL;
  size_t size = 0;
  tb_status_t status = tb__input_file_read(path, TB__BAG_YAML_MAX_SIZE, &bytes, &size, error);
  if (status) return status;
  tb_error_t detail = TB_ERROR_INIT;
  status = tb__bag_metadata_parse(bytes, size, out, &detail);
  bool is_odd = status == TB_ERR_CORRUPT && parse_cleaned(bytes, size, out);
  free(bytes);
  if (is_odd) return note_oddity(location, path, error);
  if (status)
    return tb_error_set(error, status, "%s: %s; without this file the bag is read as it is", path,
                        detail.text);
  return TB_OK;
}

static bool stays_inside(const char *path)
{
  if (*path == '/' || *path == '\0') return false;
  for (const char *part = path; part; part = strchr(part, '/')) {
    part += *part == '/';
    if (strcmp(part, "..") == 0 || strncmp(part, "../", 3) == 0) return false;
  }
  return true;
}

/* A recorder that was killed may have left a file uncompressed, or listed it so. NULL: no memory.
 */
static char *packed_or_not(const char *path)
{
  size_t length = strlen(path);
  char *other = NULL;
  if (tb__bag_file_is_packed(path)) return strndup(path, length - strlen(PACKED));
  return asprintf(&other, "%s" PACKED, path) < 0 ? NULL : other;
}

/* False with TB_OK: it is not there. Anything else is not known. */
static tb_status_t is_there(const char *path, bool *out, tb_error_t *error)
{
  *out = access(path, F_OK) == 0;
  return *out || errno == ENOENT || errno == ENOTDIR ? TB_OK : path_error(error, path);
}

/* The file below this name, or its compressed twin. *out is NULL if there is none. */
static tb_status_t find_file(const tb__bag_location_t *location, const char *name, char **out,
                             tb_error_t *error)
{
  bool found;
  char *path = join(location->path, name);
  char *other = path ? packed_or_not(path) : NULL;
  tb_status_t status = other ? is_there(path, &found, error) : tb__no_memory(error);
  if (!status && !found) {
    char *plain = path;
    path = other;
    other = plain;
    status = is_there(path, &found, error);
  }
  if (!status && found) {
    *out = path;
    path = NULL;
  }
  free(path);
  free(other);
  return status;
}

/* Until version 3 paths begin with the bag's own folder. */
static tb_status_t add_listed_file(tb__bag_location_t *location, const char *relative,
                                   tb_error_t *error)
{
  if (!stays_inside(relative))
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "%s/" METADATA_NAME ": file \"%.200s\" is not inside the bag",
                        location->path, relative);
  char *path = NULL;
  const char *slash = strchr(relative, '/');
  tb_status_t status = find_file(location, relative, &path, error);
  if (!status && !path && slash && slash[1]) status = find_file(location, slash + 1, &path, error);
  if (status) return status;
  if (!path)
    return tb_error_set_errno(error, TB_ERR_NOT_FOUND, ENOENT, "%s/%s, named by " METADATA_NAME,
                              location->path, relative);
  return add_file(location, path, error);
}

static tb_status_t note_damage(tb__bag_location_t *location, const tb_error_t *error)
{
  tb__log(TB_LOG_WARN, "%s", error->text);
  if (!location->damage) location->damage = strdup(error->text);
  return location->damage ? TB_OK : TB_ERR_NO_MEMORY;
}

static tb_status_t check_count(const tb__bag_location_t *location, uint64_t count,
                               tb_error_t *error)
{
  if (count <= location->max_files) return TB_OK;
  return tb_error_set(error, TB_ERR_LIMIT,
                      "%s: %llu files, more than the limit of %llu (--max-files)", location->path,
                      (unsigned long long)count, (unsigned long long)location->max_files);
}

static uint64_t count_listed(const tb__bag_metadata_t *metadata)
{
  uint64_t count = 0;
  for (const tb__yaml_node_t *node = metadata->paths ? metadata->paths->first : NULL; node;
       node = node->next)
    count++;
  return count;
}

typedef struct identity {
  dev_t device;
  ino_t inode;
  size_t place;
} identity_t;

static int compare_identities(const void *a, const void *b)
{
  const identity_t *x = a, *y = b;
  if (x->device != y->device) return x->device < y->device ? -1 : 1;
  if (x->inode != y->inode) return x->inode < y->inode ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

/* Sorted, so that the same file comes in a row; what cannot be examined is left out: opening it
 * reports why. */
static size_t identify(const tb__bag_location_t *location, identity_t *out)
{
  size_t count = 0;
  for (size_t i = 0; i < location->file_count; i++) {
    struct stat info;
    if (stat(location->files[i], &info) == 0)
      out[count++] = (identity_t){info.st_dev, info.st_ino, i};
  }
  qsort(out, count, sizeof *out, compare_identities);
  return count;
}

static void drop_file(tb__bag_location_t *location, size_t place)
{
  free(location->files[place]);
  location->files[place] = NULL;
}

static void close_gaps(tb__bag_location_t *location)
{
  size_t count = location->file_count;
  location->file_count = 0;
  for (size_t i = 0; i < count; i++)
    if (location->files[i]) location->files[location->file_count++] = location->files[i];
}

/* A file that is named several times, under whatever names, is read once, at its first place. */
static tb_status_t drop_repeated(tb__bag_location_t *location, tb_error_t *error)
{
  size_t repeated = 0, example = 0;
  identity_t *all = calloc(location->file_count + 1, sizeof *all);
  if (!all) return tb__no_memory(error);
  size_t count = identify(location, all);
  for (size_t i = 1; i < count; i++) {
    if (all[i].device != all[i - 1].device || all[i].inode != all[i - 1].inode) continue;
    if (repeated++ == 0) example = all[i - 1].place;
    drop_file(location, all[i].place);
  }
  free(all);
  if (repeated == 0) return TB_OK;
  tb_error_t detail = TB_ERROR_INIT;
  tb_error_set(&detail, TB_ERR_CORRUPT,
               "%s/" METADATA_NAME
               ": it lists %zu file%s more than once, such as %s; each is read once",
               location->path, repeated, repeated == 1 ? "" : "s", location->files[example]);
  close_gaps(location);
  return note_damage(location, &detail) ? tb__no_memory(error) : TB_OK;
}

static tb_status_t list_from_metadata(tb__bag_location_t *location, bool tolerant,
                                      tb_error_t *error)
{
  const tb__bag_metadata_t *metadata = &location->metadata;
  tb_error_t detail = TB_ERROR_INIT;
  if (tb__bag_metadata_compression(metadata, &location->compression, &detail))
    return tb_error_set(error, detail.status, "%s: %s", location->path, detail.text);
  const tb__yaml_node_t *node = metadata->paths ? metadata->paths->first : NULL;
  if (!node)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s/" METADATA_NAME ": it lists no files",
                        location->path);
  tb_status_t status = check_count(location, count_listed(metadata), error);
  if (status) return status;
  for (; node && !status; node = node->next) {
    status = add_listed_file(location, node->text, &detail);
    if (status && tolerant && status != TB_ERR_NO_MEMORY) status = note_damage(location, &detail);
  }
  if (!status && location->file_count == 0)
    status =
        tb_error_set(&detail, TB_ERR_NOT_FOUND,
                     "%s: none of the files that " METADATA_NAME " lists exists", location->path);
  if (!status) status = drop_repeated(location, &detail);
  if (status && error) *error = detail;
  return status;
}

/* Both "x.db3" and "x.db3.zstd": the compression was interrupted, or the removal after it. */
static bool has_plain_twin(const tb__bag_location_t *location, const char *path)
{
  size_t length = strlen(path) - strlen(PACKED);
  for (size_t i = 0; i < location->file_count; i++)
    if (strlen(location->files[i]) == length && strncmp(location->files[i], path, length) == 0)
      return true;
  return false;
}

/* In natural order the plain one comes first. */
static void drop_twins(tb__bag_location_t *location)
{
  size_t count = location->file_count;
  location->file_count = 0;
  for (size_t i = 0; i < count; i++) {
    char *path = location->files[i];
    if (tb__bag_file_is_packed(path) && has_plain_twin(location, path))
      free(path);
    else
      location->files[location->file_count++] = path;
  }
}

/* Whether a folder in the folder is a recording, by what its files are called. */
static bool is_recording(const char *folder, const char *name)
{
  char *path = join(folder, name);
  DIR *directory = path && name[0] != '.' ? opendir(path) : NULL;
  bool is_it = false;
  free(path);
  if (!directory) return false;
  struct dirent *entry;
  for (int seen = 0; !is_it && seen < ENTRIES_LOOKED_AT && (entry = readdir(directory)); seen++)
    is_it = strcmp(entry->d_name, METADATA_NAME) == 0 || tb__bag_storage_of_file(entry->d_name);
  closedir(directory);
  return is_it;
}

typedef struct names {
  char **at;
  size_t count;
} names_t;

/* In natural order, of the folder's first entries. Without memory: none. */
static names_t find_recordings(const char *path)
{
  names_t names = {.at = calloc(ENTRIES_LOOKED_AT, sizeof *names.at)};
  DIR *directory = names.at ? opendir(path) : NULL;
  struct dirent *entry;
  for (int seen = 0; directory && seen < ENTRIES_LOOKED_AT && (entry = readdir(directory));
       seen++) {
    if (!is_recording(path, entry->d_name)) continue;
    names.at[names.count] = strdup(entry->d_name);
    names.count += names.at[names.count] != NULL;
  }
  if (directory) closedir(directory);
  if (names.count) qsort(names.at, names.count, sizeof *names.at, compare_paths);
  return names;
}

static const char *name_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The first names of all, without their folders. */
static void list_names(char *const *paths, size_t count, char out[NAMES_SIZE])
{
  size_t length = 0;
  *out = 0;
  for (size_t i = 0; i < count && i < RECORDINGS_NAMED; i++)
    length += (size_t)snprintf(out + length, NAMES_SIZE - length, "%s%.60s", i ? ", " : "",
                               name_of(paths[i]));
  if (count > RECORDINGS_NAMED) snprintf(out + length, NAMES_SIZE - length, ", ...");
}

/* People keep recordings in one folder, and name that. */
static tb_status_t not_a_bag(const tb__bag_location_t *location, tb_error_t *error)
{
  char text[NAMES_SIZE];
  names_t names = find_recordings(location->path);
  size_t found = names.count;
  list_names(names.at, found, text);
  while (names.count > 0)
    free(names.at[--names.count]);
  free(names.at);
  if (found)
    return tb_error_set(error, TB_ERR_NOT_FOUND,
                        "%s: not a bag but a folder with %zu of them: %s; name one", location->path,
                        found, text);
  return tb_error_set(error, TB_ERR_NOT_FOUND,
                      "%s: no " METADATA_NAME " and no files of a bag (%s): not a bag",
                      location->path, tb__bag_storage_names());
}

/* ---- files that may not belong together ---- */

static size_t drop_end(const char *name, size_t length, const char *end)
{
  size_t end_length = strlen(end);
  bool has_it = length > end_length && memcmp(name + length - end_length, end, end_length) == 0;
  return has_it ? length - end_length : length;
}

/* Of a file's name without the number at its end, and what separates that. */
static size_t series_length(const char *name)
{
  size_t length = drop_end(name, strlen(name), PACKED);
  length = drop_end(name, length, ".active");
  while (length > 0 && name[length - 1] != '.')
    length--;
  size_t end = length > 0 ? --length : 0;
  while (length > 0 && isdigit((unsigned char)name[length - 1]))
    length--;
  if (length > 0 && length < end && strchr("_-", name[length - 1])) length--;
  return length;
}

/* Bags of ROS 1 that were split have a time before the number too. */
static bool is_split_with_times(const char *a, size_t a_length, const char *b, size_t b_length)
{
  bool is_ros1 = strstr(a + a_length, ".bag") && strstr(b + b_length, ".bag");
  bool is_same = is_ros1 && a_length == b_length && a[a_length] == '_' && b[b_length] == '_';
  for (size_t i = 0; is_same && i < a_length; i++)
    is_same = a[i] == b[i] || (isdigit((unsigned char)a[i]) && isdigit((unsigned char)b[i]));
  return is_same;
}

static bool is_same_series(const char *a, const char *b)
{
  size_t a_length = series_length(a), b_length = series_length(b);
  bool is_same = a_length == b_length && memcmp(a, b, a_length) == 0;
  return is_same || is_split_with_times(a, a_length, b, b_length);
}

/* A recorder numbers the files of a recording. */
static tb_status_t note_others(tb__bag_location_t *location, tb_error_t *error)
{
  size_t same = 1;
  while (same < location->file_count &&
         is_same_series(name_of(location->files[0]), name_of(location->files[same])))
    same++;
  if (same >= location->file_count) return TB_OK;
  char names[NAMES_SIZE];
  list_names(location->files, location->file_count, names);
  if (asprintf(&location->notice,
               "%s: its %zu files are read as one recording, though their names differ: %s; name "
               "one to read it alone",
               location->path, location->file_count, names) >= 0)
    return TB_OK;
  location->notice = NULL;
  return tb__no_memory(error);
}

static tb_status_t list_directory(tb__bag_location_t *location, tb_error_t *error)
{
  DIR *directory = opendir(location->path);
  if (!directory) return path_error(error, location->path);
  tb_status_t status = TB_OK;
  struct dirent *entry;
  while (!status && (entry = readdir(directory)))
    if (entry->d_name[0] != '.' && tb__bag_storage_of_file(entry->d_name))
      status = add_file(location, join(location->path, entry->d_name), error);
  closedir(directory);
  if (!status) status = check_count(location, location->file_count, error);
  if (status) return status;
  if (location->file_count == 0) return not_a_bag(location, error);
  qsort(location->files, location->file_count, sizeof *location->files, compare_paths);
  drop_twins(location);
  return note_others(location, error);
}

static void forget_files(tb__bag_location_t *location)
{
  for (size_t i = 0; i < location->file_count; i++)
    free(location->files[i]);
  location->file_count = 0;
}

/* Without metadata.yaml, or instead of one that cannot be used. */
static tb_status_t list_without(tb__bag_location_t *location, const tb_error_t *reason,
                                tb_error_t *error)
{
  tb__bag_metadata_fini(&location->metadata);
  location->has_metadata = false;
  forget_files(location);
  if (note_damage(location, reason)) return tb__no_memory(error);
  return list_directory(location, error);
}

static tb_status_t locate_directory(tb__bag_location_t *location, bool tolerant, tb_error_t *error)
{
  char *path = join(location->path, METADATA_NAME);
  if (!path) return tb__no_memory(error);
  tb_status_t status;
  if (access(path, F_OK) == 0) {
    tb_error_t detail = TB_ERROR_INIT;
    status = read_metadata(location, path, &detail);
    location->has_metadata = !status;
    if (!status) status = list_from_metadata(location, tolerant, &detail);
    bool is_ceiling = status == TB_ERR_LIMIT && location->has_metadata;
    if (status && status != TB_ERR_NO_MEMORY && tolerant && !is_ceiling)
      status = list_without(location, &detail, &detail);
    if (status && error) *error = detail;
  } else {
    status = list_directory(location, error);
  }
  free(path);
  return status;
}

static bool is_metadata(const char *path)
{
  return ends_with(path, "/" METADATA_NAME) || strcmp(path, METADATA_NAME) == 0;
}

/* For the path of a metadata.yaml, the folder that it describes. */
static char *location_path(const char *path, bool is_file)
{
  if (!is_file || !is_metadata(path)) return strdup(path);
  size_t length = strlen(path) - strlen(METADATA_NAME);
  if (length > 1) length--;
  return length ? strndup(path, length) : strdup(".");
}

static tb_status_t locate(const char *path, bool tolerant, uint64_t max_files,
                          tb__bag_location_t *out, tb_error_t *error)
{
  struct stat info;
  if (stat(path, &info) != 0) return path_error(error, path);
  bool is_file = S_ISREG(info.st_mode);
  tb__bag_location_t location = {.path = location_path(path, is_file), .max_files = max_files};
  tb_status_t status;
  if (!location.path)
    status = tb__no_memory(error);
  else if (S_ISDIR(info.st_mode) || (is_file && is_metadata(path)))
    status = locate_directory(&location, tolerant, error);
  else if (is_file)
    status = add_file(&location, strdup(path), error);
  else
    status = tb_error_set(error, TB_ERR_INVALID, "%s: neither a folder nor a file", path);
  if (status)
    tb__bag_location_fini(&location);
  else
    *out = location;
  return status;
}

tb_status_t tb__bag_locate(const char *path, uint64_t max_files, tb__bag_location_t *out,
                           tb_error_t *error)
{
  return locate(path, false, max_files, out, error);
}

tb_status_t tb__bag_locate_damaged(const char *path, uint64_t max_files, tb__bag_location_t *out,
                                   tb_error_t *error)
{
  return locate(path, true, max_files, out, error);
}

tb_status_t tb__bag_locate_files(const char *path, uint64_t max_files, tb__bag_location_t *out,
                                 tb_error_t *error)
{
  struct stat info;
  if (stat(path, &info) != 0) return path_error(error, path);
  tb__bag_location_t location = {.path = location_path(path, S_ISREG(info.st_mode)),
                                 .max_files = max_files};
  char *metadata = location.path ? join(location.path, METADATA_NAME) : NULL;
  tb_status_t status = metadata ? list_directory(&location, error) : tb__no_memory(error);
  if (!status && read_metadata(&location, metadata, NULL) == TB_ERR_NO_MEMORY)
    status = tb__no_memory(error);
  free(metadata);
  if (status)
    tb__bag_location_fini(&location);
  else
    *out = location;
  return status;
}

void tb__bag_location_fini(tb__bag_location_t *location)
{
  forget_files(location);
  free(location->files);
  free(location->path);
  free(location->damage);
  free(location->oddity);
  free(location->notice);
  tb__bag_metadata_fini(&location->metadata);
  *location = (tb__bag_location_t){0};
}
