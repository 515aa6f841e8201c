/* The file format is that of https://www.sqlite.org/fileformat2.html. Pages are read from front to
 * back. The first byte of a page tells a leaf of a table from all others that are in use: pages of
 * overflow begin with the number of a page, which is below 2^24 in files that are not huge. */
#include "sqlite/leaves.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/no_memory.h"

#define LEAF        0x0d
#define INNER       0x05
#define LEAF_HEAD   8
#define INNER_HEAD  12
#define MAX_PAGE    65536
#define MAX_VARINT  9
#define MIN_COLUMNS 4 /* id, topic_id, timestamp, data */
#define BLOB        12

/* A leaf page, or one above. */
typedef struct node {
  uint32_t page;
  int64_t first, last; /* ids */
} node_t;

typedef struct rebuild {
  const char *name;
  int from, to;
  uint32_t page_size, usable; /* bytes */
  uint32_t page_count;
  uint8_t *is_free; /* by page */
  node_t *nodes;
  size_t count, capacity;
  uint8_t page[MAX_PAGE];
} rebuild_t;

static uint32_t big_endian(const uint8_t *at, unsigned bytes)
{
  uint32_t value = 0;
  for (unsigned i = 0; i < bytes; i++)
    value = value << 8 | at[i];
  return value;
}

static void put_big_endian(uint8_t *at, unsigned bytes, uint32_t value)
{
  for (unsigned i = bytes; i-- > 0; value >>= 8)
    at[i] = (uint8_t)value;
}

/* Behind it; NULL: it ends after `end`. */
static const uint8_t *take_varint(const uint8_t *at, const uint8_t *end, uint64_t *out)
{
  *out = 0;
  for (unsigned i = 0; at < end && i < MAX_VARINT; i++, at++) {
    if (i + 1 == MAX_VARINT) {
      *out = *out << 8 | *at;
      return at + 1;
    }
    *out = *out << 7 | (*at & 0x7f);
    if (*at < 0x80) return at + 1;
  }
  return NULL;
}

/* Returns how many bytes. */
static size_t put_varint(uint8_t out[MAX_VARINT], int64_t signed_value)
{
  uint64_t value = (uint64_t)signed_value;
  uint8_t reversed[MAX_VARINT];
  size_t count = 0;
  if (value >> 56) { /* the last of nine bytes has eight bits */
    out[8] = (uint8_t)value;
    value >>= 8;
    for (size_t i = 8; i-- > 0; value >>= 7)
      out[i] = (uint8_t)(value | 0x80);
    return MAX_VARINT;
  }
  do {
    reversed[count++] = value & 0x7f;
    value >>= 7;
  } while (value);
  for (size_t i = 0; i < count; i++)
    out[i] = (uint8_t)(reversed[count - 1 - i] | (i + 1 < count ? 0x80 : 0));
  return count;
}

/* ---- leaf pages ---- */

static bool is_integer(uint64_t type)
{
  return (type >= 1 && type <= 6) || type == 8 || type == 9;
}

static uint64_t size_of(uint64_t type)
{
  static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < BLOB ? sizes[type] : (type - BLOB) / 2;
}

/* NULL for the id, which the cell has; two integers; a blob; and columns that this does not know.
 */
static bool is_message(const uint8_t *record, const uint8_t *end, uint64_t payload)
{
  uint64_t head, type, body = 0;
  const uint8_t *at = take_varint(record, end, &head);
  if (!at || head > (uint64_t)(end - record)) return false;
  const uint8_t *head_end = record + head;
  size_t column = 0;
  for (; at < head_end; column++) {
    at = take_varint(at, head_end, &type);
    if (!at || type > payload * 2 + BLOB + 1) return false;
    if (column == 0 && type != 0) return false;
    if ((column == 1 || column == 2) && !is_integer(type)) return false;
    if (column == 3 && (type < BLOB || type % 2)) return false;
    body += size_of(type);
  }
  return at == head_end && column >= MIN_COLUMNS && head + body == payload;
}

/* Bytes of a cell's payload in the page itself. */
static uint64_t local_size(const rebuild_t *rebuild, uint64_t payload)
{
  uint64_t usable = rebuild->usable, most = usable - 35, least = (usable - 12) * 32 / 255 - 23;
  if (payload <= most) return payload;
  uint64_t size = least + (payload - least) % (usable - 4);
  return size <= most ? size : least;
}

static bool take_cell(const rebuild_t *rebuild, uint32_t offset, int64_t *out_id)
{
  const uint8_t *end = rebuild->page + rebuild->usable;
  uint64_t payload, id;
  const uint8_t *at = take_varint(rebuild->page + offset, end, &payload);
  if (at) at = take_varint(at, end, &id);
  if (!at || payload > INT32_MAX) return false;
  uint64_t local = local_size(rebuild, payload);
  uint64_t needed = local < payload ? local + 4 : local;
  if (needed > (uint64_t)(end - at)) return false;
  *out_id = (int64_t)id;
  return is_message(at, at + local, payload);
}

/* How many rows, with the first and the last id; 0: it is no whole leaf page of messages. */
static uint32_t take_leaf(const rebuild_t *rebuild, node_t *out)
{
  const uint8_t *page = rebuild->page;
  uint32_t count = big_endian(page + 3, 2), cells_end = LEAF_HEAD + 2 * count;
  if (page[0] != LEAF || count == 0 || cells_end > rebuild->usable) return 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t offset = big_endian(page + LEAF_HEAD + 2 * i, 2);
    int64_t id;
    if (offset < cells_end || offset >= rebuild->usable || !take_cell(rebuild, offset, &id))
      return 0;
    if (i == 0) out->first = id;
    if (i > 0 && id <= out->last) return 0;
    out->last = id;
  }
  return count;
}

static tb_status_t add_node(rebuild_t *rebuild, const node_t *node, tb_error_t *error)
{
  if (rebuild->count == rebuild->capacity) {
    size_t capacity = rebuild->capacity ? 2 * rebuild->capacity : 256;
    node_t *nodes = reallocarray(rebuild->nodes, capacity, sizeof *nodes);
    if (!nodes) return tb__no_memory(error);
    rebuild->nodes = nodes;
    rebuild->capacity = capacity;
  }
  rebuild->nodes[rebuild->count++] = *node;
  return TB_OK;
}

/* ---- the file ---- */

static off_t place_of(const rebuild_t *rebuild, uint32_t page)
{
  return (off_t)(page - 1) * rebuild->page_size;
}

/* A page that the file does not have whole is empty. */
static tb_status_t read_page(rebuild_t *rebuild, uint32_t page, tb_error_t *error)
{
  ssize_t size = pread(rebuild->from, rebuild->page, rebuild->page_size, place_of(rebuild, page));
  if (size < 0) return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", rebuild->name);
  memset(rebuild->page + size, 0, rebuild->page_size - (size_t)size);
  return TB_OK;
}

static tb_status_t write_page(const rebuild_t *rebuild, uint32_t page, tb_error_t *error)
{
  ssize_t size = pwrite(rebuild->to, rebuild->page, rebuild->page_size, place_of(rebuild, page));
  if (size == (ssize_t)rebuild->page_size) return TB_OK;
  return tb_error_set_errno(error, TB_ERR_SYSTEM, size < 0 ? errno : ENOSPC,
                            "%s: a copy for reading cannot be written", rebuild->name);
}

static tb_status_t read_sizes(rebuild_t *rebuild, tb_error_t *error)
{
  struct stat info;
  rebuild->page_size = 512;
  if (fstat(rebuild->from, &info) != 0)
    return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", rebuild->name);
  tb_status_t status = read_page(rebuild, 1, error);
  if (status) return status;
  uint32_t size = big_endian(rebuild->page + 16, 2), reserved = rebuild->page[20];
  if (size == 1) size = MAX_PAGE;
  if (size < 512 || (size & (size - 1)) || reserved > 32)
    return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: its pages have no size", rebuild->name);
  rebuild->page_size = size;
  rebuild->usable = size - reserved;
  uint64_t pages = ((uint64_t)info.st_size + size - 1) / size;
  if (pages > INT32_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "%s: too many pages", rebuild->name);
  rebuild->page_count = (uint32_t)pages;
  return TB_OK;
}

/* Free pages may hold what was once a leaf. The list ends where it makes no sense. */
static tb_status_t read_free_pages(rebuild_t *rebuild, tb_error_t *error)
{
  rebuild->is_free = calloc(rebuild->page_count + 1u, 1);
  if (!rebuild->is_free) return tb__no_memory(error);
  tb_status_t status = read_page(rebuild, 1, error);
  uint32_t trunk = big_endian(rebuild->page + 32, 4);
  while (!status && trunk > 1 && trunk <= rebuild->page_count && !rebuild->is_free[trunk]) {
    rebuild->is_free[trunk] = 1;
    status = read_page(rebuild, trunk, error);
    uint32_t count = big_endian(rebuild->page + 4, 4);
    if (count > rebuild->usable / 4 - 2) break;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t page = big_endian(rebuild->page + 8 + 4 * i, 4);
      if (page <= rebuild->page_count) rebuild->is_free[page] = 1;
    }
    trunk = big_endian(rebuild->page, 4);
  }
  return status;
}

static tb_status_t copy_pages(rebuild_t *rebuild, tb__sqlite_leaves_t *out, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  for (uint32_t page = 1; !status && page <= rebuild->page_count; page++) {
    node_t leaf = {.page = page};
    status = read_page(rebuild, page, error);
    uint32_t rows = page > 1 && !rebuild->is_free[page] ? take_leaf(rebuild, &leaf) : 0;
    if (!status && rows > 0) status = add_node(rebuild, &leaf, error);
    if (!status) status = write_page(rebuild, page, error);
    out->rows += rows;
  }
  return status;
}

/* ---- inner pages ---- */

static int compare(const void *a, const void *b)
{
  int64_t x = ((const node_t *)a)->first, y = ((const node_t *)b)->first;
  return (x > y) - (x < y);
}

/* By id; of pages that contradict each other the first one. */
static void sort_leaves(rebuild_t *rebuild)
{
  size_t kept = 0;
  if (rebuild->count) qsort(rebuild->nodes, rebuild->count, sizeof *rebuild->nodes, compare);
  for (size_t i = 0; i < rebuild->count; i++)
    if (kept == 0 || rebuild->nodes[i].first > rebuild->nodes[kept - 1].last)
      rebuild->nodes[kept++] = rebuild->nodes[i];
  rebuild->count = kept;
}

/* A page over nodes[from] and those that follow it; returns the one past the last. */
static size_t fill_inner(rebuild_t *rebuild, size_t from)
{
  uint32_t count = 0, content = rebuild->usable;
  size_t i = from;
  memset(rebuild->page, 0, rebuild->page_size);
  for (; i + 1 < rebuild->count; i++) { /* the last is the right-most pointer */
    uint8_t key[MAX_VARINT];
    size_t size = put_varint(key, rebuild->nodes[i].last);
    if (content < INNER_HEAD + 2 * (count + 1) + 4 + size) break;
    content -= (uint32_t)(4 + size);
    put_big_endian(rebuild->page + content, 4, rebuild->nodes[i].page);
    memcpy(rebuild->page + content + 4, key, size);
    put_big_endian(rebuild->page + INNER_HEAD + 2 * count, 2, content);
    count++;
  }
  if (i + 2 == rebuild->count) { /* a page above a single one is refused: the next gets two */
    count--;
    i--;
  }
  rebuild->page[0] = INNER;
  put_big_endian(rebuild->page + 3, 2, count);
  put_big_endian(rebuild->page + 5, 2, content);
  put_big_endian(rebuild->page + 8, 4, rebuild->nodes[i].page);
  return i + 1;
}

/* One level of the tree; the highest one is the root. */
static tb_status_t write_level(rebuild_t *rebuild, uint32_t root, tb_error_t *error)
{
  size_t above = 0;
  tb_status_t status = TB_OK;
  for (size_t from = 0, next; !status && from < rebuild->count; from = next) {
    next = fill_inner(rebuild, from);
    bool is_root = from == 0 && next == rebuild->count;
    node_t node = {.page = is_root ? root : ++rebuild->page_count,
                   .first = rebuild->nodes[from].first,
                   .last = rebuild->nodes[next - 1].last};
    status = write_page(rebuild, node.page, error);
    rebuild->nodes[above++] = node;
  }
  rebuild->count = above;
  return status;
}

/* How many pages there are; with the number of the change that this was written by. */
static tb_status_t write_head(rebuild_t *rebuild, tb_error_t *error)
{
  tb_status_t status = read_page(rebuild, 1, error);
  put_big_endian(rebuild->page + 28, 4, rebuild->page_count);
  memcpy(rebuild->page + 92, rebuild->page + 24, 4);
  rebuild->page[18] = rebuild->page[19] = 1; /* no write-ahead log */
  return status ? status : write_page(rebuild, 1, error);
}

/* It is written over: not where it is a page of something else, or the only one of its table. */
static tb_status_t check_root(rebuild_t *rebuild, uint32_t root, tb_error_t *error)
{
  static const uint8_t others[] = {LEAF, 0x02, 0x0a}; /* pages of indexes */
  if (root < 2 || root > rebuild->page_count)
    return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: its table has no first page", rebuild->name);
  tb_status_t status = read_page(rebuild, root, error);
  if (!status && memchr(others, rebuild->page[0], sizeof others))
    return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: its table has no inner pages", rebuild->name);
  return status;
}

static tb_status_t run(rebuild_t *rebuild, uint32_t root, const tb_bag_limits_t *limits,
                       tb__sqlite_leaves_t *out, tb_error_t *error)
{
  tb_status_t status = read_sizes(rebuild, error);
  if (status) return status;
  if ((uint64_t)rebuild->page_count * rebuild->page_size > limits->unpacked_size)
    return tb_error_set(error, TB_ERR_LIMIT,
                        "%s: %llu bytes to recover, more than the limit of %llu "
                        "(--max-unpacked-size)",
                        rebuild->name, (unsigned long long)rebuild->page_count * rebuild->page_size,
                        (unsigned long long)limits->unpacked_size);
  status = read_free_pages(rebuild, error);
  if (!status) status = check_root(rebuild, root, error);
  if (!status) status = copy_pages(rebuild, out, error);
  if (status) return status;
  sort_leaves(rebuild);
  out->pages = rebuild->count;
  if (rebuild->count == 0)
    return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: no page of messages", rebuild->name);
  if (rebuild->count == 1) {
    status = read_page(rebuild, rebuild->nodes[0].page, error);
    if (!status) status = write_page(rebuild, root, error);
  }
  while (!status && rebuild->count > 1)
    status = write_level(rebuild, root, error);
  return status ? status : write_head(rebuild, error);
}

tb_status_t tb__sqlite_rebuild(const char *from, const char *name, uint32_t root,
                               const tb_bag_limits_t *limits, int fd, tb__sqlite_leaves_t *out,
                               tb_error_t *error)
{
  rebuild_t *rebuild = calloc(1, sizeof *rebuild);
  *out = (tb__sqlite_leaves_t){0};
  if (!rebuild) return tb__no_memory(error);
  rebuild->name = name;
  rebuild->to = fd;
  rebuild->from = open(from, O_RDONLY | O_CLOEXEC);
  tb_status_t status = rebuild->from < 0
                           ? tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", name)
                           : run(rebuild, root, limits, out, error);
  if (rebuild->from >= 0) close(rebuild->from);
  free(rebuild->is_free);
  free(rebuild->nodes);
  free(rebuild);
  return status;
}
