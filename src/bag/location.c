#include "bag/location.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define METADATA_NAME "metadata.yaml"

static tb_status_t no_memory(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
}

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

tb_status_t tb__bag_compressed_error(tb_error_t *error, const char *path, const char *mode,
                                     const char *format)
{
  return tb_error_set(
      error, TB_ERR_UNSUPPORTED,
      "%s: compressed (mode %.20s, format %.20s); write it uncompressed first, with "
      "`ros2 bag convert`%s",
      path, mode, format,
      strcasecmp(mode, "FILE") == 0 ? " or `zstd -d` and metadata.yaml edited" : "");
}

static const char *skip_zeros(const char *text)
{
  while (*text == '0' && isdigit((unsigned char)text[1]))
    text++;
  return text;
}

/* At digits in both. 0 if the numbers are equal, with the pointers behind them. */
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
    return no_memory(error);
  }
  location->files = files;
  files[location->file_count++] = path;
  return TB_OK;
}

static tb_status_t read_whole(FILE *file, const char *path, char **out, size_t *size,
                              tb_error_t *error)
{
  size_t capacity = 0;
  size_t used = 0;
  char *bytes = NULL;
  tb_status_t status = TB_OK;
  do {
    if (used == capacity) {
      capacity = capacity ? 2 * capacity : 16384;
      char *grown = capacity > 2 * TB__YAML_MAX_SIZE ? NULL : realloc(bytes, capacity);
      if (!grown) {
        status = capacity > 2 * TB__YAML_MAX_SIZE
                     ? tb_error_set(error, TB_ERR_LIMIT, "%s: larger than %zu bytes", path,
                                    TB__YAML_MAX_SIZE)
                     : no_memory(error);
        break;
      }
      bytes = grown;
    }
    used += fread(bytes + used, 1, capacity - used, file);
  } while (!feof(file) && !ferror(file));
  if (!status && ferror(file)) status = path_error(error, path);
  if (status) {
    free(bytes);
    return status;
  }
  *out = bytes;
  *size = used;
  return TB_OK;
}

static tb_status_t read_metadata(const char *path, tb__bag_metadata_t *out, tb_error_t *error)
{
  FILE *file = fopen(path, "rbe");
  if (!file) return path_error(error, path);
  char *bytes = NULL;
  size_t size = 0;
  tb_status_t status = read_whole(file, path, &bytes, &size, error);
  fclose(file);
  if (status) return status;
  tb_error_t detail = TB_ERROR_INIT;
  status = tb__bag_metadata_parse(bytes, size, out, &detail);
  free(bytes);
  if (status)
    return tb_error_set(error, status, "%s: %s; without this file the bag is read as it stands",
                        path, detail.text);
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

/* Until version 3 paths begin with the bag's own folder. */
static tb_status_t add_listed_file(tb__bag_location_t *location, const char *relative,
                                   tb_error_t *error)
{
  if (!stays_inside(relative))
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "%s/" METADATA_NAME ": file \"%.200s\" is not inside of the bag",
                        location->path, relative);
  char *path = join(location->path, relative);
  const char *slash = strchr(relative, '/');
  if (path && slash && slash[1] && access(path, F_OK) != 0) {
    char *without_prefix = join(location->path, slash + 1);
    bool use = !without_prefix || access(without_prefix, F_OK) == 0;
    free(use ? path : without_prefix);
    if (use) path = without_prefix;
  }
  if (path && access(path, F_OK) != 0) {
    tb_error_set_errno(error, TB_ERR_NOT_FOUND, errno, "%s, named by " METADATA_NAME, path);
    free(path);
    return TB_ERR_NOT_FOUND;
  }
  return add_file(location, path, error);
}

static tb_status_t list_from_metadata(tb__bag_location_t *location, tb_error_t *error)
{
  const tb__bag_metadata_t *metadata = &location->metadata;
  if (tb__bag_metadata_is_compressed(metadata))
    return tb__bag_compressed_error(error, location->path, metadata->compression_mode,
                                    metadata->compression_format);
  const tb__yaml_node_t *node = metadata->paths ? metadata->paths->first : NULL;
  if (!node)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s/" METADATA_NAME ": it names no files",
                        location->path);
  tb_status_t status = TB_OK;
  for (; node && !status; node = node->next)
    status = add_listed_file(location, node->text, error);
  return status;
}

/* Files whose names end so; *compressed: there are such that are compressed. */
static tb_status_t list_files(tb__bag_location_t *location, const char *end, bool *compressed,
                              tb_error_t *error)
{
  DIR *directory = opendir(location->path);
  if (!directory) return path_error(error, location->path);
  tb_status_t status = TB_OK;
  struct dirent *entry;
  while (!status && (entry = readdir(directory))) {
    if (ends_with(entry->d_name, end))
      status = add_file(location, join(location->path, entry->d_name), error);
    else if (ends_with(entry->d_name, ".db3.zstd") || ends_with(entry->d_name, ".mcap.zstd"))
      *compressed = true;
  }
  closedir(directory);
  return status;
}

static tb_status_t list_directory(tb__bag_location_t *location, tb_error_t *error)
{
  bool compressed = false;
  tb_status_t status = list_files(location, ".db3", &compressed, error);
  if (!status && location->file_count == 0)
    status = list_files(location, ".mcap", &compressed, error);
  if (status) return status;
  if (location->file_count == 0 && compressed)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "%s: only compressed files (*.zstd; decompress them first with `zstd -d`)",
                        location->path);
  if (location->file_count == 0)
    return tb_error_set(error, TB_ERR_NOT_FOUND,
                        "%s: no " METADATA_NAME " and no *.db3 or *.mcap files: not a bag",
                        location->path);
  qsort(location->files, location->file_count, sizeof *location->files, compare_paths);
  return TB_OK;
}

static tb_status_t locate_directory(tb__bag_location_t *location, tb_error_t *error)
{
  char *path = join(location->path, METADATA_NAME);
  if (!path) return no_memory(error);
  tb_status_t status;
  if (access(path, F_OK) == 0) {
    status = read_metadata(path, &location->metadata, error);
    location->has_metadata = !status;
    if (!status) status = list_from_metadata(location, error);
  } else {
    status = list_directory(location, error);
  }
  free(path);
  return status;
}

static tb_status_t locate_file(tb__bag_location_t *location, tb_error_t *error)
{
  const char *path = location->path;
  if (ends_with(path, ".zstd")) return tb__bag_compressed_error(error, path, "FILE", "zstd");
  char *copy = strdup(path);
  return add_file(location, copy, error);
}

tb_status_t tb__bag_locate(const char *path, tb__bag_location_t *out, tb_error_t *error)
{
  struct stat info;
  if (stat(path, &info) != 0) return path_error(error, path);
  tb__bag_location_t location = {.path = strdup(path)};
  tb_status_t status;
  if (!location.path)
    status = no_memory(error);
  else if (S_ISDIR(info.st_mode))
    status = locate_directory(&location, error);
  else if (S_ISREG(info.st_mode))
    status = locate_file(&location, error);
  else
    status = tb_error_set(error, TB_ERR_INVALID, "%s: neither a folder nor a file", path);
  if (status)
    tb__bag_location_fini(&location);
  else
    *out = location;
  return status;
}

void tb__bag_location_fini(tb__bag_location_t *location)
{
  for (size_t i = 0; i < location->file_count; i++)
    free(location->files[i]);
  free(location->files);
  free(location->path);
  tb__bag_metadata_fini(&location->metadata);
  *location = (tb__bag_location_t){0};
}
