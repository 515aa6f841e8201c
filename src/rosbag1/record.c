#include "rosbag1/record.h"

#include <endian.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

uint32_t tb__rosbag1_u32(const uint8_t *at)
{
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return le32toh(value);
}

uint64_t tb__rosbag1_u64(const uint8_t *at)
{
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return le64toh(value);
}

uint64_t tb__rosbag1_time(const uint8_t *at)
{
  return tb__rosbag1_u32(at) * NS_PER_S + tb__rosbag1_u32(at + 4);
}

bool tb__rosbag1_text_equals(tb__rosbag1_text_t text, const char *other)
{
  return text.at && text.size == strlen(other) && memcmp(text.at, other, text.size) == 0;
}

bool tb__rosbag1_next_field(tb__rosbag1_fields_t *fields, tb__rosbag1_text_t *name,
                            tb__rosbag1_text_t *value)
{
  if (fields->left < 4) return false;
  size_t size = tb__rosbag1_u32(fields->at);
  const char *at = (const char *)fields->at + 4;
  if (size > fields->left - 4) return false;
  const char *equals = memchr(at, '=', size);
  if (!equals) return false;
  *name = (tb__rosbag1_text_t){at, (size_t)(equals - at)};
  *value = (tb__rosbag1_text_t){equals + 1, size - name->size - 1};
  fields->at += 4 + size;
  fields->left -= 4 + size;
  return true;
}

tb__rosbag1_text_t tb__rosbag1_field(tb__rosbag1_fields_t fields, const char *wanted)
{
  tb__rosbag1_text_t name, value;
  while (tb__rosbag1_next_field(&fields, &name, &value))
    if (tb__rosbag1_text_equals(name, wanted)) return value;
  return (tb__rosbag1_text_t){NULL, 0};
}

bool tb__rosbag1_field_u32(tb__rosbag1_fields_t fields, const char *name, uint32_t *out)
{
  tb__rosbag1_text_t value = tb__rosbag1_field(fields, name);
  if (value.size != 4) return false;
  *out = tb__rosbag1_u32((const uint8_t *)value.at);
  return true;
}

bool tb__rosbag1_field_u64(tb__rosbag1_fields_t fields, const char *name, uint64_t *out)
{
  tb__rosbag1_text_t value = tb__rosbag1_field(fields, name);
  if (value.size != 8) return false;
  *out = tb__rosbag1_u64((const uint8_t *)value.at);
  return true;
}

bool tb__rosbag1_field_time(tb__rosbag1_fields_t fields, const char *name, uint64_t *out_ns)
{
  tb__rosbag1_text_t value = tb__rosbag1_field(fields, name);
  if (value.size != 8) return false;
  *out_ns = tb__rosbag1_time((const uint8_t *)value.at);
  return true;
}

/* All bytes are fields, and one of them is the op. */
static bool check_fields(tb__rosbag1_fields_t fields, uint8_t *op)
{
  tb__rosbag1_text_t name, value;
  *op = 0;
  while (tb__rosbag1_next_field(&fields, &name, &value))
    if (value.size == 1 && tb__rosbag1_text_equals(name, "op")) *op = (uint8_t)value.at[0];
  return fields.left == 0 && *op != 0;
}

tb__rosbag1_parsed_t tb__rosbag1_parse(const uint8_t *at, size_t size, tb__rosbag1_record_t *out,
                                       size_t *need)
{
  *need = 4;
  if (size < 4) return TB__ROSBAG1_MORE;
  size_t header = tb__rosbag1_u32(at);
  if (header > TB__ROSBAG1_MAX_HEADER) return TB__ROSBAG1_BAD;
  *need = header + 8;
  if (size < header + 8) return TB__ROSBAG1_MORE;
  out->fields = (tb__rosbag1_fields_t){at + 4, header};
  if (!check_fields(out->fields, &out->op)) return TB__ROSBAG1_BAD;
  out->head_size = header + 8;
  out->data_size = tb__rosbag1_u32(at + 4 + header);
  return TB__ROSBAG1_PARSED;
}

bool tb__rosbag1_parse_whole(const uint8_t *at, size_t size, tb__rosbag1_record_t *out)
{
  size_t need;
  return tb__rosbag1_parse(at, size, out, &need) == TB__ROSBAG1_PARSED &&
         out->data_size <= size - out->head_size;
}

/* The header that every recorder writes: conn, op and time, sorted by name. */
#define PLAIN_HEADER 38
#define PLAIN_HEAD   (PLAIN_HEADER + 8)

static bool is_plain(const uint8_t *at)
{
  static const uint8_t begin[] = {PLAIN_HEADER, 0, 0, 0, 9, 0, 0, 0, 'c', 'o', 'n', 'n', '='};
  static const uint8_t middle[] = {4, 0, 0,   0,   'o', 'p', '=', TB__ROSBAG1_MESSAGE, 13, 0,
                                   0, 0, 't', 'i', 'm', 'e', '='};
  return memcmp(at, begin, sizeof begin) == 0 &&
         memcmp(at + sizeof begin + 4, middle, sizeof middle) == 0;
}

bool tb__rosbag1_parse_message(const uint8_t *at, size_t size, uint32_t *connection,
                               uint64_t *time_ns, tb__rosbag1_record_t *out)
{
  if (size >= PLAIN_HEAD && is_plain(at)) {
    *connection = tb__rosbag1_u32(at + 13);
    *time_ns = tb__rosbag1_time(at + 34);
    out->op = TB__ROSBAG1_MESSAGE;
    out->fields = (tb__rosbag1_fields_t){at + 4, PLAIN_HEADER};
    out->head_size = PLAIN_HEAD;
    out->data_size = tb__rosbag1_u32(at + PLAIN_HEAD - 4);
    return out->data_size <= size - PLAIN_HEAD;
  }
  return tb__rosbag1_parse_whole(at, size, out) && out->op == TB__ROSBAG1_MESSAGE &&
         tb__rosbag1_field_u32(out->fields, "conn", connection) &&
         tb__rosbag1_field_time(out->fields, "time", time_ns);
}

/* ---- after damage ---- */

/* Of what can be found: so that bytes made to look like records cost no more than a multiple. */
#define LOOK_BACK        64 /* from the op to the beginning of its record */
#define MAX_FOUND_HEADER 1024

/* It has a field that a record of this kind cannot be without. */
static bool is_plausible(const tb__rosbag1_record_t *record)
{
  static const char *const fields[] = {[TB__ROSBAG1_DEFINITION] = "type",
                                       [TB__ROSBAG1_FILE_HEADER] = "index_pos",
                                       [TB__ROSBAG1_INDEX] = "ver",
                                       [TB__ROSBAG1_CHUNK] = "compression",
                                       [TB__ROSBAG1_CHUNK_INFO] = "chunk_pos",
                                       [TB__ROSBAG1_CONNECTION] = "conn"};
  if (record->op > TB__ROSBAG1_CONNECTION) return false;
  if (record->op != TB__ROSBAG1_MESSAGE)
    return tb__rosbag1_field(record->fields, fields[record->op]).at;
  return tb__rosbag1_field(record->fields, "time").at ||
         tb__rosbag1_field(record->fields, "sec").at;
}

static bool is_record(const uint8_t *bytes, size_t at, size_t size, bool may_be_cut)
{
  tb__rosbag1_record_t record;
  size_t need;
  if (tb__rosbag1_parse(bytes + at, size - at, &record, &need) != TB__ROSBAG1_PARSED) return false;
  if (!is_plausible(&record)) return false;
  return may_be_cut || record.data_size <= size - at - record.head_size;
}

/* The record that this op field is in; `op_at` if there is none. */
static size_t find_begin(const uint8_t *bytes, size_t from, size_t op_at, size_t size,
                         bool may_be_cut)
{
  size_t last = op_at - from < LOOK_BACK ? from : op_at - LOOK_BACK;
  for (size_t at = op_at - 4 + 1; at-- > last;) {
    uint32_t header = tb__rosbag1_u32(bytes + at);
    if (header < op_at + 8 - (at + 4) || header > MAX_FOUND_HEADER) continue;
    if (is_record(bytes, at, size, may_be_cut)) return at;
  }
  return op_at;
}

size_t tb__rosbag1_resync(const uint8_t *bytes, size_t from, size_t size, bool may_be_cut)
{
  static const uint8_t op[] = {4, 0, 0, 0, 'o', 'p', '='};
  for (size_t at = from + 4; at < size && size - at >= sizeof op + 1;) {
    const uint8_t *found = memmem(bytes + at, size - at - 1, op, sizeof op);
    if (!found) break;
    size_t place = (size_t)(found - bytes);
    size_t begin = find_begin(bytes, from, place, size, may_be_cut);
    if (begin != place) return begin;
    at = place + 1;
  }
  return size;
}
