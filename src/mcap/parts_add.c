/* Another record in a file that has ended: a whole new file takes its place. */
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <timebase/mcap_file.h>
#include <unistd.h>

#include "base/allocator.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "mcap/crc.h"
#include "mcap/record.h"
#include "storage/write_at.h"

#define DATA_END_SIZE (TB__MCAP_HEAD_SIZE + 4)
#define END_SIZE      (TB__MCAP_HEAD_SIZE + TB__MCAP_FOOTER_SIZE + TB__MCAP_MAGIC_SIZE)
#define SUMMARY_MAX   (UINT64_C(256) << 20)
#define TEXT_MAX      ((size_t)1 << 20)
#define HEAD_REST     64 /* what an attachment has in front of its data besides two texts */
#define GROUPS_MAX    16
#define PIECE         ((size_t)1 << 18)
#define CLONE_PIECE   ((size_t)1 << 26) /* so that it is seen how far this is */
#define NEW_NAMES_MAX 100

typedef struct bytes {
  uint8_t *at;
  size_t size, room;
} bytes_t;

/* What is added, in front of the data that it may have. */
typedef struct addition {
  uint8_t opcode;              /* of the record */
  uint8_t index_opcode;        /* of its entry in the summary */
  size_t counter;              /* in the content of the statistics */
  bytes_t head;                /* of the record, from its opcode on */
  const tb__bag_input_t *data; /* NULL: none; its size follows the head, and a checksum */
  bytes_t entry;               /* content of the entry, after offset and length */
} addition_t;

typedef struct group {
  uint8_t opcode;
  uint64_t start, length;
} group_t;

typedef struct edit {
  tb__bag_input_t *input;
  const addition_t *add;
  uint64_t data_end, summary_start, offsets_start; /* of the file as it is */
  uint64_t length;                                 /* of the new record */
  int fd;                                          /* the new file */
  uint64_t position;
  uint32_t crc; /* of the record */
  bytes_t summary;
  group_t groups[GROUPS_MAX];
  size_t group_count;
} edit_t;

/* NULL: out of memory. */
static uint8_t *grow(bytes_t *bytes, size_t size)
{
  if (bytes->size + size > bytes->room || !bytes->at) {
    size_t room = 2 * (bytes->size + size) + 64;
    uint8_t *grown = realloc(bytes->at, room);
    if (!grown) return NULL;
    bytes->at = grown;
    bytes->room = room;
  }
  uint8_t *out = bytes->at + bytes->size;
  bytes->size += size;
  return out;
}

static tb_status_t damaged(const edit_t *edit, uint64_t at, const char *what, tb_error_t *error)
{
  return tb__bag_input_error(edit->input, TB_ERR_CORRUPT, at, error, "%s", what);
}

/* --- the file as it is --- */

static tb_status_t read_end(edit_t *edit, tb_error_t *error)
{
  uint8_t bytes[END_SIZE], magic[TB__MCAP_MAGIC_SIZE], data_end[DATA_END_SIZE];
  const tb__bag_input_t *input = edit->input;
  tb__mcap_footer_t footer;
  if (input->size < sizeof magic + sizeof bytes)
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "%s: not a file of MCAP", input->path);
  uint64_t at = input->size - sizeof bytes;
  tb_status_t status = tb__bag_input_read(input, 0, magic, sizeof magic, error);
  if (!status) status = tb__bag_input_read(input, at, bytes, sizeof bytes, error);
  if (status) return status;
  if (memcmp(magic, TB__MCAP_MAGIC, sizeof magic) != 0)
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "%s: not a file of MCAP", input->path);
  if (memcmp(bytes + sizeof bytes - sizeof magic, TB__MCAP_MAGIC, sizeof magic) != 0)
    return tb__bag_input_error(input, TB_ERR_TRUNCATED, input->size, error,
                               "the file has no end: cut off, or not closed");
  if (bytes[0] != TB__MCAP_FOOTER ||
      !tb__mcap_parse_footer(bytes + TB__MCAP_HEAD_SIZE, TB__MCAP_FOOTER_SIZE, &footer))
    return damaged(edit, at, "the footer is damaged", error);
  if (footer.summary_start == 0)
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "%s: has no summary", input->path);
  if (footer.summary_start > at || footer.summary_start < sizeof magic + sizeof data_end ||
      (footer.offsets_start && footer.offsets_start > at))
    return damaged(edit, at, "the footer is damaged", error);
  edit->summary_start = footer.summary_start;
  edit->offsets_start = footer.offsets_start;
  edit->data_end = footer.summary_start - sizeof data_end;
  status = tb__bag_input_read(input, edit->data_end, data_end, sizeof data_end, error);
  if (status) return status;
  tb__mcap_cursor_t head = tb__mcap_cursor(data_end + 1, 8);
  if (data_end[0] != TB__MCAP_DATA_END || tb__mcap_take_u64(&head) != 4)
    return damaged(edit, edit->data_end, "the end of the data is not in front of the summary",
                   error);
  uint32_t crc = 0;
  if (footer.crc == 0) return TB_OK;
  status = tb__mcap_input_crc(input, edit->summary_start,
                              at + TB__MCAP_HEAD_SIZE + TB__MCAP_FOOTER_SIZE - 4, &crc, error);
  if (!status && crc != footer.crc)
    status = damaged(edit, edit->summary_start, "the checksum of the summary is wrong", error);
  return status;
}

/* --- the new summary --- */

static uint64_t new_summary_start(const edit_t *edit)
{
  return edit->summary_start + edit->length;
}

static tb_status_t note_group(edit_t *edit, uint8_t opcode, size_t length, tb_error_t *error)
{
  group_t *last = edit->group_count > 0 ? &edit->groups[edit->group_count - 1] : NULL;
  if (last && last->opcode == opcode) {
    last->length += length;
    return TB_OK;
  }
  if (edit->group_count == GROUPS_MAX)
    return damaged(edit, edit->summary_start, "the summary is in no order", error);
  uint64_t start = new_summary_start(edit) + edit->summary.size - length;
  edit->groups[edit->group_count++] = (group_t){opcode, start, length};
  return TB_OK;
}

static tb_status_t put_entry(edit_t *edit, tb_error_t *error)
{
  const addition_t *add = edit->add;
  size_t length = 16 + add->entry.size;
  uint8_t *out = grow(&edit->summary, TB__MCAP_HEAD_SIZE + length);
  if (!out) return tb__no_memory(error);
  tb__mcap_put_head(&out, add->index_opcode, length);
  tb__mcap_put_u64(&out, edit->data_end);
  tb__mcap_put_u64(&out, edit->length);
  memcpy(out, add->entry.at, add->entry.size);
  return note_group(edit, add->index_opcode, TB__MCAP_HEAD_SIZE + length, error);
}

/* Counts the new record too. */
static bool change_statistics(uint8_t *content, size_t size, size_t counter)
{
  tb__mcap_statistics_t statistics;
  if (!tb__mcap_parse_statistics(content, size, &statistics)) return false;
  uint32_t count;
  memcpy(&count, content + counter, sizeof count);
  count = htole32(le32toh(count) + 1);
  memcpy(content + counter, &count, sizeof count);
  return true;
}

static tb_status_t put_summary(edit_t *edit, uint8_t *bytes, size_t size, tb_error_t *error)
{
  const addition_t *add = edit->add;
  bool has_statistics = false, has_entry = false;
  tb_status_t status = TB_OK;
  uint8_t before = 0;
  for (size_t at = 0; !status && at < size;) {
    tb__mcap_cursor_t head = tb__mcap_cursor(bytes + at, size - at);
    const uint8_t *opcode = tb__mcap_take(&head, 1);
    uint64_t length = tb__mcap_take_u64(&head);
    if (head.failed || length > head.left)
      return damaged(edit, edit->summary_start + at, "the summary is damaged", error);
    size_t whole = TB__MCAP_HEAD_SIZE + (size_t)length;
    if (*opcode == TB__MCAP_STATISTICS)
      has_statistics =
          change_statistics(bytes + at + TB__MCAP_HEAD_SIZE, (size_t)length, add->counter);
    if (before == add->index_opcode && *opcode != before && !has_entry) {
      status = put_entry(edit, error);
      has_entry = true;
    }
    uint8_t *out = *opcode == TB__MCAP_SUMMARY_OFFSET ? NULL : grow(&edit->summary, whole);
    if (!status && !out && *opcode != TB__MCAP_SUMMARY_OFFSET) status = tb__no_memory(error);
    if (!status && out) {
      memcpy(out, bytes + at, whole);
      status = note_group(edit, *opcode, whole, error);
    }
    before = *opcode;
    at += whole;
  }
  if (!status && !has_statistics)
    return damaged(edit, edit->summary_start, "the summary has no statistics", error);
  return !status && !has_entry ? put_entry(edit, error) : status;
}

static tb_status_t put_offsets(edit_t *edit, tb_error_t *error)
{
  for (size_t i = 0; edit->offsets_start && i < edit->group_count; i++) {
    uint8_t *out = grow(&edit->summary, TB__MCAP_HEAD_SIZE + 17);
    if (!out) return tb__no_memory(error);
    tb__mcap_put_head(&out, TB__MCAP_SUMMARY_OFFSET, 17);
    tb__mcap_put_u8(&out, edit->groups[i].opcode);
    tb__mcap_put_u64(&out, edit->groups[i].start);
    tb__mcap_put_u64(&out, edit->groups[i].length);
  }
  return TB_OK;
}

static tb_status_t put_footer(edit_t *edit, uint64_t offsets, tb_error_t *error)
{
  uint8_t *out = grow(&edit->summary, END_SIZE);
  if (!out) return tb__no_memory(error);
  tb__mcap_put_head(&out, TB__MCAP_FOOTER, TB__MCAP_FOOTER_SIZE);
  tb__mcap_put_u64(&out, new_summary_start(edit));
  tb__mcap_put_u64(&out, edit->offsets_start ? offsets : 0);
  uint32_t crc = libdeflate_crc32(0, edit->summary.at, (size_t)(out - edit->summary.at));
  tb__mcap_put_u32(&out, crc);
  tb__mcap_put_magic(&out);
  return TB_OK;
}

static tb_status_t make_summary(edit_t *edit, tb_error_t *error)
{
  uint64_t size = edit->input->size - END_SIZE - edit->summary_start;
  if (size > SUMMARY_MAX)
    return damaged(edit, edit->summary_start, "the summary is too large", error);
  uint8_t *bytes = malloc((size_t)size + 1);
  if (!bytes) return tb__no_memory(error);
  tb_status_t status =
      tb__bag_input_read(edit->input, edit->summary_start, bytes, (size_t)size, error);
  if (!status) status = put_summary(edit, bytes, (size_t)size, error);
  free(bytes);
  uint64_t offsets = new_summary_start(edit) + edit->summary.size;
  if (!status) status = put_offsets(edit, error);
  return status ? status : put_footer(edit, offsets, error);
}

/* --- the new file --- */

static tb_status_t failed(const edit_t *edit, tb_error_t *error)
{
  return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s: a new file", edit->input->path);
}

static tb_status_t write_all(edit_t *edit, const uint8_t *bytes, size_t size, tb_error_t *error)
{
  errno = tb__write_at(edit->fd, edit->position, bytes, size);
  if (errno) return failed(edit, error);
  edit->position += size;
  return TB_OK;
}

/* File systems that can share the blocks. The rest is left to the caller. */
static void clone_data(edit_t *edit)
{
  while (edit->position < edit->data_end) {
    off_t from = (off_t)edit->position, to = from;
    uint64_t left = edit->data_end - edit->position;
    size_t size = left < CLONE_PIECE ? (size_t)left : CLONE_PIECE;
    ssize_t count = copy_file_range(edit->input->fd, &from, edit->fd, &to, size, 0);
    if (count <= 0) return;
    edit->position += (uint64_t)count;
  }
}

static tb_status_t copy_from(edit_t *edit, const tb__bag_input_t *from, uint64_t at, uint64_t end,
                             uint32_t *crc, tb_error_t *error)
{
  uint8_t *piece = malloc(PIECE);
  if (!piece) return tb__no_memory(error);
  tb_status_t status = TB_OK;
  while (!status && at < end) {
    size_t count = end - at < PIECE ? (size_t)(end - at) : PIECE;
    status = tb__bag_input_read(from, at, piece, count, error);
    if (!status && crc) *crc = libdeflate_crc32(*crc, piece, count);
    if (!status) status = write_all(edit, piece, count, error);
    at += count;
  }
  free(piece);
  return status;
}

static tb_status_t write_record(edit_t *edit, tb_error_t *error)
{
  const addition_t *add = edit->add;
  uint8_t sum[4], *out = sum;
  edit->crc = libdeflate_crc32(0, add->head.at, add->head.size);
  tb_status_t status = write_all(edit, add->head.at, add->head.size, error);
  if (status || !add->data) return status;
  uint32_t crc =
      libdeflate_crc32(0, add->head.at + TB__MCAP_HEAD_SIZE, add->head.size - TB__MCAP_HEAD_SIZE);
  uint32_t data_crc = 0;
  status = copy_from(edit, add->data, 0, add->data->size, &data_crc, error);
  if (status) return status;
  crc = tb__mcap_crc_join(crc, data_crc, add->data->size);
  tb__mcap_put_u32(&out, crc);
  edit->crc = tb__mcap_crc_join(edit->crc, data_crc, add->data->size);
  edit->crc = libdeflate_crc32(edit->crc, sum, sizeof sum);
  return write_all(edit, sum, sizeof sum, error);
}

/* A sum of 0 is none. */
static tb_status_t write_data_end(edit_t *edit, tb_error_t *error)
{
  uint8_t bytes[DATA_END_SIZE], *out = bytes;
  tb_status_t status = tb__bag_input_read(edit->input, edit->data_end, bytes, sizeof bytes, error);
  if (status) return status;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes + TB__MCAP_HEAD_SIZE, 4);
  uint32_t crc = tb__mcap_take_u32(&cursor);
  if (crc != 0) crc = tb__mcap_crc_join(crc, edit->crc, edit->length);
  tb__mcap_put_head(&out, TB__MCAP_DATA_END, 4);
  tb__mcap_put_u32(&out, crc);
  return write_all(edit, bytes, sizeof bytes, error);
}

static tb_status_t write_file(edit_t *edit, tb_error_t *error)
{
  struct stat is;
  clone_data(edit);
  tb_status_t status = copy_from(edit, edit->input, edit->position, edit->data_end, NULL, error);
  if (!status) status = write_record(edit, error);
  if (!status) status = write_data_end(edit, error);
  if (!status) status = write_all(edit, edit->summary.at, edit->summary.size, error);
  if (!status && fstat(edit->input->fd, &is) != 0) status = failed(edit, error);
  if (!status && (is.st_uid != geteuid() || is.st_gid != getegid()) &&
      fchown(edit->fd, is.st_uid, is.st_gid) != 0) {
    /* only a privileged process may: then it is of whoever adds */
  }
  if (!status && fchmod(edit->fd, is.st_mode & 07777) != 0) status = failed(edit, error);
  if (!status && (uint64_t)is.st_size != edit->input->size)
    status = tb_error_set(error, TB_ERR_BUSY, "%s: is being written", edit->input->path);
  if (!status && fsync(edit->fd) != 0) status = failed(edit, error);
  return status;
}

/* A file without a name, so that none is left when the process is killed, gets a hidden one and
 * then, at once, that of the file. */
static tb_status_t replace(edit_t *edit, const char *folder, const char *path, tb_error_t *error)
{
  char from[64], name[4096];
  int number = 0, linked;
  snprintf(from, sizeof from, "/proc/self/fd/%d", edit->fd);
  do
    if (snprintf(name, sizeof name, "%s/.timebase-%ld-%d", folder, (long)getpid(), number) >=
        (int)sizeof name) {
      errno = ENAMETOOLONG;
      return failed(edit, error);
    }
  while ((linked = linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW)) != 0 &&
         errno == EEXIST && ++number < NEW_NAMES_MAX);
  if (linked != 0) return failed(edit, error);
  if (rename(name, path) != 0) {
    tb_status_t status = failed(edit, error);
    unlink(name);
    return status;
  }
  return TB_OK;
}

/* The folder is opened first, so that a lack of descriptors changes nothing. */
static tb_status_t replace_safely(edit_t *edit, const char *folder, const char *path,
                                  tb_error_t *error)
{
  int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return failed(edit, error);
  tb_status_t status = replace(edit, folder, path, error);
  if (!status && fsync(directory) != 0)
    status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno,
                                "%s: it is changed, but may be as before after a loss of power",
                                edit->input->path);
  close(directory);
  return status;
}

/* Others that add to it wait until this is closed; then it is another file that has the name. */
static tb_status_t open_alone(const char *real, const char *path, tb__bag_input_t *input,
                              tb_error_t *error)
{
  struct stat named, opened;
  for (;;) {
    tb_status_t status = tb__bag_input_open(real, path, input, error);
    if (status) return status;
    while (flock(input->fd, LOCK_EX) != 0 && errno == EINTR)
      ; /* some file systems have no locks */
    bool is_known = fstat(input->fd, &opened) == 0 && stat(real, &named) == 0;
    if (!is_known) status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", path);
    if (is_known && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev) return TB_OK;
    tb__bag_input_close(input);
    *input = (tb__bag_input_t){.fd = -1};
    if (status) return status;
  }
}

/* The files of a symbolic link are where it leads. */
static tb_status_t add_to(const char *path, const addition_t *add, tb_error_t *error)
{
  tb__bag_input_t input = {.fd = -1};
  edit_t edit = {.input = &input, .add = add, .fd = -1};
  edit.length = add->head.size + (add->data ? add->data->size + 4 : 0);
  char *real = realpath(path, NULL);
  if (!real)
    return tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno,
                              "%s", path);
  char *folder = strdup(real);
  tb_status_t status = folder ? open_alone(real, path, &input, error) : tb__no_memory(error);
  if (!status) status = read_end(&edit, error);
  if (!status) status = make_summary(&edit, error);
  if (!status) {
    edit.fd = open(dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (edit.fd < 0) status = failed(&edit, error);
  }
  if (!status) status = write_file(&edit, error);
  if (!status) status = replace_safely(&edit, folder, real, error);
  if (edit.fd >= 0) close(edit.fd);
  tb__bag_input_close(&input);
  free(edit.summary.at);
  free(folder);
  tb__libc_free(real);
  return status;
}

/* --- what is added --- */

static bool put_text(bytes_t *bytes, const char *text)
{
  uint8_t *out = grow(bytes, 4 + strlen(text));
  if (out) tb__mcap_put_text(&out, tb__mcap_text(text));
  return out;
}

static bool put_u64(bytes_t *bytes, uint64_t value)
{
  uint8_t *out = grow(bytes, 8);
  if (out) tb__mcap_put_u64(&out, value);
  return out;
}

static void put_length(bytes_t *head, uint8_t opcode, uint64_t after)
{
  uint8_t *out = head->at;
  tb__mcap_put_head(&out, opcode, head->size - TB__MCAP_HEAD_SIZE + after);
}

static tb_status_t add_and_free(const char *path, addition_t *add, bool is_made, tb_error_t *error)
{
  tb_status_t status = is_made ? add_to(path, add, error) : tb__no_memory(error);
  free(add->head.at);
  free(add->entry.at);
  return status;
}

tb_status_t tb_mcap_file_add_attachment(const char *path, const char *data_path, const char *name,
                                        const char *media_type, int64_t log_time_ns,
                                        int64_t create_time_ns, tb_error_t *error)
{
  if (!path || !data_path || !name) return tb__null_argument(error, __func__);
  if (log_time_ns < 0 || create_time_ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "attachment: a time before 1970");
  const char *type = media_type ? media_type : "";
  if (strlen(name) + strlen(type) > TEXT_MAX - HEAD_REST) /* as much as is read of it */
    return tb_error_set(error, TB_ERR_INVALID, "attachment: a name that is too long");
  tb__bag_input_t data = {.fd = -1};
  addition_t add = {.opcode = TB__MCAP_ATTACHMENT,
                    .index_opcode = TB__MCAP_ATTACHMENT_INDEX,
                    .counter = 14,
                    .data = &data};
  tb_status_t status = tb__bag_input_open(data_path, data_path, &data, error);
  if (!status) {
    uint64_t log = (uint64_t)log_time_ns, create = (uint64_t)create_time_ns;
    bool is_made =
        grow(&add.head, TB__MCAP_HEAD_SIZE) && put_u64(&add.head, log) &&
        put_u64(&add.head, create) && put_text(&add.head, name) && put_text(&add.head, type) &&
        put_u64(&add.head, data.size) && put_u64(&add.entry, log) && put_u64(&add.entry, create) &&
        put_u64(&add.entry, data.size) && put_text(&add.entry, name) && put_text(&add.entry, type);
    if (is_made) put_length(&add.head, add.opcode, data.size + 4);
    status = add_and_free(path, &add, is_made, error);
  }
  tb__bag_input_close(&data);
  return status;
}

tb_status_t tb_mcap_file_add_metadata(const char *path, const char *name, const char *const *keys,
                                      const char *const *values, size_t count, tb_error_t *error)
{
  if (!path || !name || (count > 0 && (!keys || !values)))
    return tb__null_argument(error, __func__);
  if (strcmp(name, TB__MCAP_ROSBAG2) == 0 || strcmp(name, TB__MCAP_NOTES) == 0)
    return tb_error_set(error, TB_ERR_INVALID, "metadata of the name %s describes the file itself",
                        name);
  size_t size = 0;
  for (size_t i = 0; i < count && size <= TEXT_MAX; i++) {
    if (!keys[i] || !values[i]) return tb__null_argument(error, __func__);
    size += 8 + strlen(keys[i]) + strlen(values[i]);
  }
  if (size > TEXT_MAX || strlen(name) > TEXT_MAX)
    return tb_error_set(error, TB_ERR_INVALID, "metadata: texts that are too long");
  addition_t add = {
      .opcode = TB__MCAP_METADATA, .index_opcode = TB__MCAP_METADATA_INDEX, .counter = 18};
  bool is_made = grow(&add.head, TB__MCAP_HEAD_SIZE) && put_text(&add.head, name);
  uint8_t *out = is_made ? grow(&add.head, 4) : NULL;
  if (out) tb__mcap_put_u32(&out, (uint32_t)size);
  is_made = out && put_text(&add.entry, name);
  for (size_t i = 0; is_made && i < count; i++)
    is_made = put_text(&add.head, keys[i]) && put_text(&add.head, values[i]);
  if (is_made) put_length(&add.head, add.opcode, 0);
  return add_and_free(path, &add, is_made, error);
}
