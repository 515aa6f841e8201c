#include "bag_staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tb_status_t no_memory(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
}

static tb_status_t failed(const char *path, tb_error_t *error)
{
  return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", path);
}

static tb_status_t exists(const char *path, tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_INVALID, "%s already exists; choose another name", path);
}

/* What comes before the last part, which *out_name is; without slashes after it. To be freed. */
static char *split(const char *output, char **out_name)
{
  size_t end = strlen(output);
  while (end > 1 && output[end - 1] == '/')
    end--;
  size_t begin = end;
  while (begin > 0 && output[begin - 1] != '/')
    begin--;
  *out_name = strndup(output + begin, end - begin);
  return begin == 0 ? strdup(".") : strndup(output, begin);
}

static tb_status_t make_folders(const char *path, tb_error_t *error)
{
  char *part = strdup(path);
  if (!part) return no_memory(error);
  tb_status_t status = TB_OK;
  for (char *at = part + 1; *part && !status; at++) {
    char end = *at;
    if (end != '/' && end != '\0') continue;
    *at = '\0';
    if (mkdir(part, 0777) != 0 && errno != EEXIST) status = failed(part, error);
    *at = end;
    if (!end) break;
  }
  free(part);
  return status;
}

tb_status_t bag_staging_check(const char *output, const char *extension, tb_error_t *error)
{
  struct stat there;
  char *extended = NULL;
  if (lstat(output, &there) == 0) return exists(output, error);
  if (!extension) return TB_OK;
  if (asprintf(&extended, "%s%s", output, extension) < 0) return no_memory(error);
  tb_status_t status = lstat(extended, &there) == 0 ? exists(extended, error) : TB_OK;
  free(extended);
  return status;
}

/* Of a folder of which the first parts are there. Parts that are not, "." and "..", are as they are
 * written: mkdir fails at ".." of those. */
static char *real_path(const char *path)
{
  char *real = realpath(path, NULL), *name = NULL, *out = NULL;
  if (real) return real;
  char *above = split(path, &name);
  if (above && name && strcmp(above, path) != 0) real = real_path(above);
  if (real && (!*name || !strcmp(name, ".")))
    out = strdup(real);
  else if (real && asprintf(&out, "%s/%s", strcmp(real, "/") != 0 ? real : "", name) < 0)
    out = NULL;
  free(real);
  free(above);
  free(name);
  return out;
}

char *bag_staging_place(const char *output, const char *extension)
{
  char *name = NULL, *above = split(output, &name), *place = NULL;
  char *folder = above ? real_path(above) : NULL;
  size_t length = name ? strlen(name) : 0, end = extension ? strlen(extension) : 0;
  bool has_it = length > end && strcmp(name + length - end, extension ? extension : "") == 0;
  if (folder && name &&
      asprintf(&place, "%s/%s%s", folder, name, has_it || !extension ? "" : extension) < 0)
    place = NULL;
  free(folder);
  free(above);
  free(name);
  return place;
}

tb_status_t bag_staging_begin(bag_staging_t *staging, const char *output, const char *extension,
                              tb_error_t *error)
{
  char *name = NULL, *folder = NULL, *path = NULL, *above = split(output, &name);
  tb_status_t status =
      above && name ? bag_staging_check(output, extension, error) : no_memory(error);
  if (!status && (!*name || !strcmp(name, ".") || !strcmp(name, "..")))
    status = tb_error_set(error, TB_ERR_INVALID, "\"%s\" is no name for a recording", output);
  if (!status) status = make_folders(above, error);
  if (!status && asprintf(&folder, "%s/.%.200s.XXXXXX", above, name) < 0) status = no_memory(error);
  if (!status && !mkdtemp(folder)) status = failed(above, error);
  if (!status && asprintf(&path, "%s/%s", folder, name) < 0) {
    rmdir(folder);
    status = no_memory(error);
  }
  free(above);
  free(name);
  if (status) {
    free(folder);
    return status;
  }
  *staging = (bag_staging_t){folder, path, false};
  return TB_OK;
}

/* File systems that cannot refuse to replace (EINVAL) get a look before. */
static tb_status_t move(const char *from, const char *to, tb_error_t *error)
{
  struct stat there;
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return TB_OK;
  if (errno == EINVAL || errno == ENOSYS) {
    if (lstat(to, &there) == 0) return exists(to, error);
    if (rename(from, to) == 0) return TB_OK;
  }
  return errno == EEXIST ? exists(to, error) : failed(to, error);
}

/* Whether the place is free, or with `moves` moves the entry there. */
static tb_status_t place(const char *from, const char *to, bool moves, tb_error_t *error)
{
  struct stat there;
  if (moves) return move(from, to, error);
  return lstat(to, &there) == 0 ? exists(to, error) : TB_OK;
}

/* The entries of `folder` to `to`: named so, or with names of their own in that folder. */
static tb_status_t place_all(const char *folder, const char *to, bool is_name, bool moves,
                             tb_error_t *error)
{
  tb_status_t status = TB_OK;
  size_t count = 0;
  DIR *entries = opendir(folder);
  if (!entries) return failed(folder, error);
  for (struct dirent *entry; !status && (entry = readdir(entries));) {
    char *from = NULL, *its_place = NULL;
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
        (is_name && strcmp(entry->d_name, "metadata.yaml") == 0))
      continue;
    count++;
    if (asprintf(&from, "%s/%s", folder, entry->d_name) < 0 ||
        (is_name ? (its_place = strdup(to)) == NULL
                 : asprintf(&its_place, "%s/%s", to, entry->d_name) < 0))
      status = no_memory(error);
    else
      status = place(from, its_place, moves, error);
    free(from);
    free(its_place);
  }
  closedir(entries);
  if (!status && count == 0)
    status = tb_error_set(error, TB_ERR_SYSTEM, "%s: what was written is gone", folder);
  return status;
}

static tb_status_t publish(const bag_staging_t *staging, const char *output, const char *above,
                           bool is_single_file, tb_error_t *error)
{
  struct stat written;
  bool is_folder = stat(staging->path, &written) == 0 && S_ISDIR(written.st_mode);
  bool is_name = is_single_file && is_folder;
  const char *folder = is_name ? staging->path : staging->folder, *to = is_name ? output : above;
  tb_status_t status = place_all(folder, to, is_name, false, error);
  return status ? status : place_all(folder, to, is_name, true, error);
}

tb_status_t bag_staging_publish(bag_staging_t *staging, const char *output, bool is_single_file,
                                tb_error_t *error)
{
  char *name = NULL, *above = split(output, &name);
  tb_status_t status =
      above && name ? publish(staging, output, above, is_single_file, error) : no_memory(error);
  free(above);
  free(name);
  if (!status) return TB_OK;
  tb_error_t why = *error;
  staging->is_kept = true;
  return tb_error_set(error, status, "%s; what was written is in %s", why.text, staging->folder);
}

void bag_staging_name_output(const bag_staging_t *staging, const char *output, tb_error_t *error)
{
  char text[TB_ERROR_TEXT_SIZE];
  const char *at = staging->path ? strstr(error->text, staging->path) : NULL;
  if (!at) return;
  snprintf(text, sizeof text, "%.*s%s%s", (int)(at - error->text), error->text, output,
           at + strlen(staging->path));
  memcpy(error->text, text, sizeof text);
}

static void remove_entries(const char *folder)
{
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));)
    unlinkat(dirfd(entries), entry->d_name, 0);
  if (entries) closedir(entries);
}

void bag_staging_end(bag_staging_t *staging)
{
  if (!staging->folder) return;
  if (!staging->is_kept) {
    remove_entries(staging->path);
    rmdir(staging->path);
    remove_entries(staging->folder);
    rmdir(staging->folder);
  }
  free(staging->folder);
  free(staging->path);
  *staging = (bag_staging_t){0};
}
