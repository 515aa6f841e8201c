#include "platform/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* So that a FIFO or device in place of the file does not block. */
#define FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

static tb_status_t fail_errno(tb_error_t *error, const char *path, const char *what)
{
  return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s: %s", path, what);
}

static bool is_same_file(int fd, const struct stat *other)
{
  struct stat status;
  return !fstat(fd, &status) && status.st_ino == other->st_ino && status.st_dev == other->st_dev;
}

/* A file that was there: who owns it or may write to it decides what is in it. The superuser may do
 * so anyway. With a `mode` for others a reader accepts any owner, and a writer where they may
 * write. */
static tb_status_t check_owner(int fd, const char *path, bool writable, uint32_t mode,
                               tb_error_t *error)
{
  struct stat status;
  uint32_t others = S_IWGRP | S_IWOTH, accepted = writable ? others : others | S_IRGRP | S_IROTH;
  if (fstat(fd, &status)) return fail_errno(error, path, "cannot read its owner");
  if (!S_ISREG(status.st_mode)) return TB_OK; /* reported with its size */
  bool is_trusted = status.st_uid == geteuid() || (status.st_uid == 0 && !writable);
  if (!is_trusted && !(mode & accepted))
    return tb_error_set(
        error, TB_ERR_SYSTEM,
        "%s: it belongs to user %u, who could change its content, and this "
        "process runs as user %u; remove it, choose another name, or give a mode for others",
        path, (unsigned)status.st_uid, (unsigned)geteuid());
  if (!(status.st_mode & others & ~mode)) return TB_OK;
  return tb_error_set(
      error, TB_ERR_SYSTEM,
      "%s: other users may write to it (owner %u, mode 0%o), which the requested mode "
      "0%o does not allow; remove it, choose another name, or give that mode",
      path, (unsigned)status.st_uid, (unsigned)status.st_mode & 0777, mode);
}

/* An existing file may be readable only; a missing one is created. */
static tb_status_t file_open(int *out_fd, const char *path, bool writable, uint32_t mode,
                             tb_error_t *error)
{
  int access = writable ? O_RDWR : O_RDONLY;
  int fd = open(path, access | FLAGS);
  bool is_new = fd < 0 && errno == ENOENT;
  if (is_new) {
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | FLAGS, (mode_t)mode);
    if (fd >= 0 && fchmod(fd, (mode_t)mode)) { /* regardless of the umask */
      tb_status_t status = fail_errno(error, path, "cannot set its permissions");
      close(fd);
      return status;
    }
    if (fd < 0 && errno == EEXIST) {
      is_new = false;
      fd = open(path, access | FLAGS);
    }
  }
  if (fd < 0)
    return fail_errno(error, path,
                      writable ? "cannot open or create it for writing"
                               : "cannot open or create it");
  *out_fd = fd;
  return is_new ? TB_OK : check_owner(fd, path, writable, mode, error);
}

/* The first process sets the size; later ones find it. */
static tb_status_t file_size(int fd, const char *path, size_t size, tb_error_t *error)
{
  struct stat status;
  if (fstat(fd, &status)) return fail_errno(error, path, "cannot read its size");
  if (!S_ISREG(status.st_mode))
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "%s: it is not a regular file; remove it or choose another name", path);
  if ((size_t)status.st_size == size) return TB_OK;
  if (status.st_size != 0)
    return tb_error_set(
        error, TB_ERR_CORRUPT,
        "%s: it has %lld bytes instead of %zu, so it is something else; remove it or "
        "choose another name",
        path, (long long)status.st_size, size);
  int writable = open(path, O_RDWR | FLAGS);
  if (writable < 0)
    return fail_errno(error, path, "it is empty, and cannot be opened to set its size");
  /* no space is reported here, not by a SIGBUS */
  errno = is_same_file(writable, &status) ? posix_fallocate(writable, 0, (off_t)size) : EAGAIN;
  tb_status_t result = errno ? fail_errno(error, path, "cannot set its size") : TB_OK;
  close(writable);
  return result;
}

tb_status_t tb__shared_file_open(tb__shared_file_t *file, const char *path, size_t size,
                                 bool writable, uint32_t mode, tb_error_t *error)
{
  *file = (tb__shared_file_t)TB__SHARED_FILE_NONE;
  tb_status_t status = file_open(&file->fd, path, writable, mode, error);
  if (!status) status = file_size(file->fd, path, size, error);
  if (status) goto fail;
  status = tb__guarded_map_create(file->fd, size, writable, &file->guard);
  if (status) {
    if (status == TB_ERR_SYSTEM) fail_errno(error, path, "cannot map it");
    if (status == TB_ERR_NO_MEMORY) tb_error_set(error, status, "%s: out of memory", path);
    goto fail;
  }
  file->map = tb__guarded_map_memory(file->guard);
  return TB_OK;

fail:
  tb__shared_file_close(file);
  return status;
}

static tb_status_t map_new(tb__shared_file_t *file, const char *path, size_t size, uint32_t mode,
                           tb_error_t *error)
{
  if (fchmod(file->fd, (mode_t)mode)) return fail_errno(error, path, "cannot set its permissions");
  errno = posix_fallocate(file->fd, 0, (off_t)size);
  if (errno) return fail_errno(error, path, "cannot set its size");
  tb_status_t status = tb__guarded_map_create(file->fd, size, true, &file->guard);
  if (status == TB_ERR_SYSTEM) fail_errno(error, path, "cannot map it");
  if (status == TB_ERR_NO_MEMORY) tb_error_set(error, status, "%s: out of memory", path);
  return status;
}

tb_status_t tb__shared_file_create(tb__shared_file_t *file, const char *path, size_t size,
                                   uint32_t mode, tb_error_t *error)
{
  *file = (tb__shared_file_t)TB__SHARED_FILE_NONE;
  unlink(path); /* what could not be removed is found by O_EXCL */
  file->fd = open(path, O_RDWR | O_CREAT | O_EXCL | FLAGS, (mode_t)mode);
  if (file->fd < 0 && (errno == EEXIST || errno == EACCES || errno == EPERM || errno == EROFS))
    return tb_error_set(error, TB_ERR_BUSY, "%s: this user may not make or replace it", path);
  if (file->fd < 0) return fail_errno(error, path, "cannot create it");
  tb_status_t status = map_new(file, path, size, mode, error);
  if (!status) {
    file->map = tb__guarded_map_memory(file->guard);
    return TB_OK;
  }
  tb__shared_file_close(file);
  unlink(path);
  return status;
}

tb_status_t tb__shared_file_open_existing(tb__shared_file_t *file, const char *path, size_t size,
                                          bool writable)
{
  struct stat status;
  *file = (tb__shared_file_t)TB__SHARED_FILE_NONE;
  file->fd = open(path, (writable ? O_RDWR : O_RDONLY) | FLAGS);
  if (file->fd < 0) return TB_ERR_SYSTEM;
  tb_status_t result = fstat(file->fd, &status) ? TB_ERR_SYSTEM : TB_OK;
  if (!result && (!S_ISREG(status.st_mode) || status.st_size != (off_t)size))
    result = TB_ERR_CORRUPT;
  if (!result) result = tb__guarded_map_create(file->fd, size, writable, &file->guard);
  if (!result)
    file->map = tb__guarded_map_memory(file->guard);
  else
    tb__shared_file_close(file);
  return result;
}

bool tb__shared_file_reopen(tb__shared_file_t *file, const char *path)
{
  struct stat there;
  int fd = open(path, O_RDWR | FLAGS);
  if (fd < 0) return false;
  bool is_same = !fstat(fd, &there) && is_same_file(file->fd, &there);
  int unused = is_same ? file->fd : fd;
  if (is_same) file->fd = fd;
  close(unused);
  return is_same;
}

bool tb__shared_file_is_at(const char *path, uint64_t inode)
{
  struct stat there;
  return lstat(path, &there) ? errno != ENOENT : (uint64_t)there.st_ino == inode;
}

bool tb__shared_file_extend(const tb__shared_file_t *file, size_t size)
{
  return !posix_fallocate(file->fd, 0, (off_t)size) &&
         tb__guarded_map_restore(file->guard, file->fd);
}

uint64_t tb__shared_file_inode(const tb__shared_file_t *file)
{
  struct stat status;
  return fstat(file->fd, &status) ? 0 : (uint64_t)status.st_ino;
}

void tb__shared_file_close_fd(tb__shared_file_t *file)
{
  if (file->fd >= 0) close(file->fd);
  file->fd = -1;
}

void tb__shared_file_unmap(tb__shared_file_t *file)
{
  tb__guarded_map_destroy(file->guard);
  file->map = file->guard = NULL;
}

bool tb__shared_file_is_cut(const tb__shared_file_t *file)
{
  return tb__guarded_map_is_cut(file->guard);
}

void tb__shared_file_close(tb__shared_file_t *file)
{
  tb__shared_file_close_fd(file);
  tb__shared_file_unmap(file);
}

/* `length` 0: the whole file. */
static tb_status_t lock_range(int fd, uint32_t start, uint32_t length)
{
  struct flock lock = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)start, .l_len = (off_t)length};
  if (!fcntl(fd, F_OFD_SETLK, &lock)) return TB_OK;
  return errno == EAGAIN || errno == EACCES ? TB_ERR_BUSY : TB_ERR_SYSTEM;
}

static bool range_is_locked(int fd, uint32_t start, uint32_t length)
{
  struct flock lock = {
      .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = (off_t)start, .l_len = (off_t)length};
  return fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type != F_UNLCK;
}

tb_status_t tb__shared_file_lock(const tb__shared_file_t *file)
{
  return lock_range(file->fd, 0, 0);
}

bool tb__shared_file_is_locked(const tb__shared_file_t *file)
{
  return range_is_locked(file->fd, 0, 0);
}

tb_status_t tb__shared_file_lock_byte(const tb__shared_file_t *file, uint32_t byte)
{
  return lock_range(file->fd, byte, 1);
}

void tb__shared_file_unlock_byte(const tb__shared_file_t *file, uint32_t byte)
{
  struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
  (void)!fcntl(file->fd, F_OFD_SETLK, &lock);
}

bool tb__shared_file_byte_is_locked(const tb__shared_file_t *file, uint32_t byte)
{
  return range_is_locked(file->fd, byte, 1);
}

static uint64_t inode_of(const char *path)
{
  struct stat status;
  return stat(path, &status) ? 0 : (uint64_t)status.st_ino;
}

uint64_t tb__time_namespace(void)
{
  return inode_of("/proc/self/ns/time");
}

uint64_t tb__process_namespace(void)
{
  return inode_of("/proc/self/ns/pid");
}
