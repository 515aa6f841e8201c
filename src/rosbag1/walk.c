#include "rosbag1/walk.h"

#define NS_PER_S UINT64_C(1000000000)

bool tb__rosbag1_find_message(tb__rosbag1_version_t version, const uint8_t *at, size_t size,
                              tb__rosbag1_found_t *out)
{
  uint32_t seconds, nanoseconds;
  if (version == TB__ROSBAG1_V200) {
    if (!tb__rosbag1_parse_message(at, size, &out->connection, &out->time_ns, &out->record))
      return false;
  } else {
    if (!tb__rosbag1_parse_whole(at, size, &out->record) || out->record.op != TB__ROSBAG1_MESSAGE ||
        !tb__rosbag1_field_u32(out->record.fields, "sec", &seconds) ||
        !tb__rosbag1_field_u32(out->record.fields, "nsec", &nanoseconds))
      return false;
    out->time_ns = seconds * NS_PER_S + nanoseconds;
    out->connection = 0;
  }
  out->data = at + out->record.head_size;
  out->size = out->record.head_size + out->record.data_size;
  return true;
}

static bool find_other(const uint8_t *at, size_t size, tb__rosbag1_found_t *out)
{
  if (!tb__rosbag1_parse_whole(at, size, &out->record)) return false;
  if (out->record.op == TB__ROSBAG1_MESSAGE) return false;
  out->data = at + out->record.head_size;
  out->size = out->record.head_size + out->record.data_size;
  return true;
}

static bool is_cut_record(const uint8_t *at, size_t size)
{
  tb__rosbag1_record_t record;
  size_t need;
  return tb__rosbag1_parse(at, size, &record, &need) != TB__ROSBAG1_BAD;
}

bool tb__rosbag1_walk_next(tb__rosbag1_walk_t *walk, tb__rosbag1_found_t *out)
{
  while (walk->at < walk->size) {
    const uint8_t *at = walk->bytes + walk->at;
    size_t left = walk->size - walk->at;
    if (tb__rosbag1_find_message(walk->version, at, left, out) || find_other(at, left, out)) {
      out->offset = walk->at;
      walk->at += out->size;
      return true;
    }
    size_t next = tb__rosbag1_resync(walk->bytes, walk->at + 1, walk->size, false);
    if (next == walk->size && is_cut_record(at, left)) {
      walk->is_cut = true;
      return false;
    }
    if (walk->lost_bytes == 0) walk->damaged_at = walk->at;
    walk->lost_bytes += next - walk->at;
    walk->at = next;
  }
  return false;
}
