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
  if (begin == 0) return strdup(".");
  while (begin > 1 && output[begin - 1] == '/')
    begin--;
  return strndup(output, begin);
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

/* The name itself: with a slash after it, a link would be followed. */
tb_status_t bag_staging_check(const char *output, const char *extension, tb_error_t *error)
{
  struct stat there;
  char *bare = NULL, *extended = NULL;
  size_t length = strlen(output);
  while (length > 1 && output[length - 1] == '/')
    length--;
  tb_status_t status = TB_OK;
  if (asprintf(&bare, "%.*s", (int)length, output) < 0) return no_memory(error);
  if (lstat(bare, &there) == 0) status = exists(bare, error);
  if (!status && extension && asprintf(&extended, "%s%s", bare, extension) < 0)
    status = no_memory(error);
  else if (!status && extension && lstat(extended, &there) == 0)
    status = exists(extended, error);
  free(bare);
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

/* The path of a folder that is open, through /proc: whatever comes in the place of one of its names
 * meanwhile. Its own path where there is no /proc. */
static char *path_of(int folder, const char *path)
{
  char *out = NULL;
  if (access("/proc/self/fd", X_OK) != 0) return strdup(path);
  return asprintf(&out, "/proc/self/fd/%d", folder) < 0 ? NULL : out;
}

/* Empty, and of the owner and for the writers of a file that is made in it. That is compared, as
 * some file systems have owners and modes of their own. */
static bool is_ours(int folder)
{
  static const char probe[] = ".probe";
  struct stat its, new;
  int fd = openat(folder, probe, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  bool is_ours = fstat(folder, &its) == 0 && fstat(fd, &new) == 0 && its.st_uid == new.st_uid &&
                 ((its.st_mode & ~new.st_mode) & (S_IWGRP | S_IWOTH)) == 0;
  close(fd);
  unlinkat(folder, probe, 0);
  int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = again < 0 ? NULL : fdopendir(again);
  if (!entries) {
    if (again >= 0) close(again);
    return false;
  }
  for (struct dirent *entry; (entry = readdir(entries));)
    is_ours = is_ours && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."));
  closedir(entries);
  return is_ours;
}

/* Who may write to the folder above may put another in the place of the hidden one at any time. */
static tb_status_t open_hidden(bag_staging_t *staging, const char *above, const char *name,
                               tb_error_t *error)
{
  char *folder = path_of(staging->above, above), *hidden = NULL;
  tb_status_t status = TB_OK;
  if (!folder || asprintf(&hidden, "%s/.%.200s.XXXXXX", folder, name) < 0)
    status = no_memory(error);
  else if (!mkdtemp(hidden))
    status = failed(above, error);
  free(folder);
  const char *its_name = status ? "" : strrchr(hidden, '/') + 1;
  if (!status && asprintf(&staging->folder, "%s/%s", above, its_name) < 0) {
    unlinkat(staging->above, its_name, AT_REMOVEDIR);
    staging->folder = NULL;
    status = no_memory(error);
  }
  if (!status) {
    staging->inside =
        openat(staging->above, its_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (staging->inside < 0) {
      status = failed(staging->folder, error);
      unlinkat(staging->above, its_name, AT_REMOVEDIR);
    } else if (!is_ours(staging->inside)) {
      staging->is_kept = true;
      status = tb_error_set(error, TB_ERR_SYSTEM,
                            "%s was replaced as soon as it was made; choose a place where others "
                            "cannot write",
                            staging->folder);
    }
  }
  free(hidden);
  return status;
}

tb_status_t bag_staging_begin(bag_staging_t *staging, const char *output, const char *extension,
                              tb_error_t *error)
{
  char *name = NULL, *above = split(output, &name);
  *staging = (bag_staging_t){.above = -1, .inside = -1, .is_begun = true};
  tb_status_t status =
      above && name ? bag_staging_check(output, extension, error) : no_memory(error);
  if (!status && (!*name || !strcmp(name, ".") || !strcmp(name, "..")))
    status = tb_error_set(error, TB_ERR_INVALID, "\"%s\" is no name for a recording", output);
  if (!status) status = make_folders(above, error);
  if (!status && (staging->above = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
    status = failed(above, error);
  if (!status) status = open_hidden(staging, above, name, error);
  if (!status && (!(staging->place = path_of(staging->inside, staging->folder)) ||
                  !(staging->name = strdup(name)) ||
                  asprintf(&staging->path, "%s/%s", staging->place, name) < 0)) {
    staging->path = NULL;
    status = no_memory(error);
  }
  free(above);
  free(name);
  if (status) bag_staging_end(staging);
  return status;
}

static bool is_there(const bag_staging_t *staging, const char *name)
{
  struct stat there;
  return fstatat(staging->above, name, &there, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether the place is free, or with `moves` moves the entry of the folder `from` there. File
 * systems that cannot refuse to replace (EINVAL) get a look before. False with errno set. */
static bool place(const bag_staging_t *staging, int from, const char *name, const char *new_name,
                  bool moves)
{
  if (moves && renameat2(from, name, staging->above, new_name, RENAME_NOREPLACE) == 0) return true;
  if (moves && errno != EINVAL && errno != ENOSYS) return false;
  bool is_free = !is_there(staging, new_name);
  if (!is_free) errno = EEXIST;
  return is_free && (!moves || renameat(from, name, staging->above, new_name) == 0);
}

/* The folder of that name in the hidden one, or that itself ("."). NULL: none. */
static DIR *open_entries(const bag_staging_t *staging, const char *name)
{
  int fd = openat(staging->inside, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *entries = fd < 0 ? NULL : fdopendir(fd);
  if (fd >= 0 && !entries) close(fd);
  return entries;
}

/* The entries beside the output: with its name (if not NULL), or with names of their own. */
static tb_status_t place_all(const bag_staging_t *staging, const char *its_name, bool moves,
                             tb_error_t *error)
{
  tb_status_t status = TB_OK;
  size_t count = 0;
  char *shown = NULL;
  DIR *entries = open_entries(staging, its_name ? its_name : ".");
  if (!entries) return failed(staging->folder, error);
  for (struct dirent *entry; !status && (entry = readdir(entries));) {
    const char *name = entry->d_name;
    if (!strcmp(name, ".") || !strcmp(name, "..") ||
        (its_name && strcmp(name, "metadata.yaml") == 0))
      continue;
    count++;
    const char *new_name = its_name ? its_name : name;
    if (place(staging, dirfd(entries), name, new_name, moves)) continue;
    int number = errno;
    if (asprintf(&shown, "%.*s%s", (int)(strrchr(staging->folder, '/') + 1 - staging->folder),
                 staging->folder, new_name) < 0)
      shown = NULL;
    errno = number;
    status = !shown             ? no_memory(error)
             : number == EEXIST ? exists(shown, error)
                                : failed(shown, error);
    free(shown);
  }
  closedir(entries);
  if (!status && count == 0)
    status = tb_error_set(error, TB_ERR_SYSTEM, "%s: what was written is gone", staging->folder);
  return status;
}

tb_status_t bag_staging_publish(bag_staging_t *staging, bool is_single_file, tb_error_t *error)
{
  struct stat written;
  bool is_folder = fstatat(staging->inside, staging->name, &written, AT_SYMLINK_NOFOLLOW) == 0 &&
                   S_ISDIR(written.st_mode);
  const char *its_name = is_single_file && is_folder ? staging->name : NULL;
  tb_status_t status = place_all(staging, its_name, false, error);
  if (!status) status = place_all(staging, its_name, true, error);
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

static void remove_entries(const bag_staging_t *staging, const char *name)
{
  DIR *entries = open_entries(staging, name);
  for (struct dirent *entry; entries && (entry = readdir(entries));)
    unlinkat(dirfd(entries), entry->d_name, 0);
  if (entries) closedir(entries);
}

/* Not what has come in its place meanwhile. */
static void remove_folder(const bag_staging_t *staging)
{
  struct stat its, there;
  const char *name = strrchr(staging->folder, '/') + 1;
  if (fstat(staging->inside, &its) == 0 &&
      fstatat(staging->above, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      its.st_dev == there.st_dev && its.st_ino == there.st_ino)
    unlinkat(staging->above, name, AT_REMOVEDIR);
}

void bag_staging_end(bag_staging_t *staging)
{
  if (!staging->is_begun) return;
  if (staging->inside >= 0 && staging->folder && !staging->is_kept) {
    if (staging->name) {
      remove_entries(staging, staging->name);
      unlinkat(staging->inside, staging->name, AT_REMOVEDIR);
    }
    remove_entries(staging, ".");
    remove_folder(staging);
  }
  if (staging->inside >= 0) close(staging->inside);
  if (staging->above >= 0) close(staging->above);
  free(staging->folder);
  free(staging->place);
  free(staging->name);
  free(staging->path);
  *staging = (bag_staging_t){0};
}
