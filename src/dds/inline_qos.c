#include "dds/inline_qos.h"

#include <dds/ddsi/q_misc.h>
#include <dds/ddsi/q_protocol.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/list.h"
#include "platform/mutex.h"

#define BUCKETS          4096u /* about as many samples as DDS keeps for readers that are gone */
#define SENTINEL_SIZE    4u
#define TO_QOS_BASE      (offsetof(Data_DataFrag_common_t, octetsToInlineQos) + sizeof(uint16_t))
#define NATIVE_FLAG      (DDSRT_ENDIAN == DDSRT_LITTLE_ENDIAN ? SMFLAG_ENDIANNESS : 0)
#define IS_SECURITY(id)  ((id) >= SMID_SEC_BODY && (id) <= SMID_SRTPS_POSTFIX)
#define IS_DATA(id)      ((id) == SMID_DATA || (id) == SMID_DATA_FRAG)
#define MAY_BE_EMPTY(id) ((id) == SMID_PAD || (id) == SMID_INFO_TS)

_Static_assert(sizeof(Header_t) == 20, "RTPS header");
_Static_assert(sizeof(SubmessageHeader_t) == 4, "submessage header");
_Static_assert(sizeof(Data_DataFrag_common_t) == 24 && sizeof(DataFrag_t) == 36, "DATA, DATA_FRAG");
_Static_assert(offsetof(DataFrag_t, fragmentStartingNum) == 24, "DATA_FRAG");
_Static_assert(DATA_FLAG_INLINE_QOS == 2 && DATAFRAG_FLAG_INLINE_QOS == 2, "flags of both");

/* Samples by the address of their bytes. A leaf of the order of locks: nothing is called under it.
 */
static tb__mutex_t mutex = TB__MUTEX_INIT;
static tb__inline_qos_t *buckets[BUCKETS] TB_GUARDED_BY(mutex);
static _Atomic size_t used;

static size_t bucket_of(const void *payload)
{
  uintptr_t address = (uintptr_t)payload;
  return (address >> 4 ^ address >> 12) % BUCKETS;
}

void tb__inline_qos_add(tb__inline_qos_t *qos, const void *payload, const void *parameters,
                        size_t size)
{
  TB__ASSERT(size <= TB__INLINE_QOS_MAX && size % 4 == 0);
  qos->payload = payload;
  qos->size = (uint32_t)size;
  memcpy(qos->parameters, parameters, size);
  tb__mutex_lock(&mutex);
  TB__LIST_PUSH(buckets[bucket_of(payload)], qos);
  tb__mutex_unlock(&mutex);
  atomic_fetch_add(&used, 1);
}

void tb__inline_qos_remove(tb__inline_qos_t *qos)
{
  tb__mutex_lock(&mutex);
  TB__LIST_REMOVE(buckets[bucket_of(qos->payload)], qos);
  tb__mutex_unlock(&mutex);
  atomic_fetch_sub(&used, 1);
}

bool tb__inline_qos_is_used(void)
{
  return atomic_load_explicit(&used, memory_order_relaxed) != 0;
}

/* The parameters with their sentinel; 0: that sample has none. */
typedef struct insertion {
  uint32_t size;
  uint8_t bytes[TB__INLINE_QOS_MAX + SENTINEL_SIZE];
} insertion_t;

static bool insertion_find(const void *payload, insertion_t *out)
{
  static const uint16_t sentinel[2] = {PID_SENTINEL, 0};
  out->size = 0;
  tb__mutex_lock(&mutex);
  const tb__inline_qos_t *qos = buckets[bucket_of(payload)];
  while (qos && qos->payload != payload)
    qos = qos->next;
  if (qos) {
    memcpy(out->bytes, qos->parameters, qos->size);
    memcpy(out->bytes + qos->size, sentinel, SENTINEL_SIZE);
    out->size = qos->size + SENTINEL_SIZE;
  }
  tb__mutex_unlock(&mutex);
  return out->size > 0;
}

/* A part in which something was inserted. */
typedef struct tb__packet_copy {
  struct tb__packet_copy *next;
  uint8_t bytes[];
} packet_copy_t;

/* Where in a message the next submessage begins. */
typedef struct cursor {
  const struct iovec *parts;
  size_t count;
  size_t part, offset;
  size_t left; /* bytes from here to the end */
} cursor_t;

static const uint8_t *cursor_at(const cursor_t *cursor)
{
  return (const uint8_t *)cursor->parts[cursor->part].iov_base + cursor->offset;
}

/* How many of the bytes from here on are in the same part. */
static size_t cursor_room(const cursor_t *cursor)
{
  return cursor->parts[cursor->part].iov_len - cursor->offset;
}

/* False: that is the end. */
static bool cursor_advance(cursor_t *cursor, size_t size)
{
  if (size >= cursor->left) return false;
  cursor->left -= size;
  while (size >= cursor_room(cursor)) {
    size -= cursor_room(cursor);
    cursor->part++;
    cursor->offset = 0;
  }
  cursor->offset += size;
  return true;
}

/* The size of the submessage with its header; 0: it cannot be read. */
static size_t submessage_size(const cursor_t *cursor, SubmessageHeader_t *out)
{
  if (cursor_room(cursor) < sizeof *out) return 0;
  memcpy(out, cursor_at(cursor), sizeof *out);
  if ((out->flags & SMFLAG_ENDIANNESS) != NATIVE_FLAG || IS_SECURITY(out->submessageId)) return 0;
  size_t size = sizeof *out + out->octetsToNextHeader;
  if (out->octetsToNextHeader == 0 && !MAY_BE_EMPTY(out->submessageId)) size = cursor->left;
  return size <= cursor->left ? size : 0;
}

/* Where parameters are inserted in the part of the submessage that begins at the cursor, and what
 * follows the inline QoS. */
typedef struct data_header {
  size_t insert_at; /* from the start of the submessage; a sentinel that is there comes after it */
  size_t end;       /* of header and inline QoS */
  size_t first;     /* of the payload's bytes among those of the sample */
} data_header_t;

/* Past the parameters that are there. False: they have no end. */
static bool parameters_skip(const uint8_t *header, size_t room, data_header_t *data)
{
  nn_parameter_t parameter;
  while (room - data->insert_at >= sizeof parameter) {
    memcpy(&parameter, header + data->insert_at, sizeof parameter);
    if (parameter.parameterid == PID_SENTINEL) {
      data->end = data->insert_at + sizeof parameter;
      return true;
    }
    if (parameter.length > room - data->insert_at - sizeof parameter) return false;
    data->insert_at += sizeof parameter + parameter.length;
  }
  return false;
}

static bool data_header_read(const cursor_t *cursor, data_header_t *out)
{
  const uint8_t *at = cursor_at(cursor);
  size_t room = cursor_room(cursor);
  DataFrag_t header;
  memset(&header, 0, sizeof header);
  if (room < sizeof header.x) return false;
  memcpy(&header, at, room < sizeof header ? sizeof header.x : sizeof header);
  out->first = 0;
  if (header.x.smhdr.submessageId == SMID_DATA_FRAG) {
    if (room < sizeof header || header.fragmentStartingNum == 0) return false;
    out->first = (size_t)(header.fragmentStartingNum - 1) * header.fragmentSize;
  }
  out->insert_at = out->end = TO_QOS_BASE + header.x.octetsToInlineQos;
  if (out->end > room) return false;
  return !(header.x.smhdr.flags & DATA_FLAG_INLINE_QOS) || parameters_skip(at, room, out);
}

/* The bytes of the sample are the next part. */
static bool insertion_for(const cursor_t *cursor, data_header_t *data, insertion_t *out)
{
  out->size = 0;
  if (!data_header_read(cursor, data)) return false;
  if (data->end != cursor_room(cursor) || cursor->part + 1 >= cursor->count) return false;
  uintptr_t payload = (uintptr_t)cursor->parts[cursor->part + 1].iov_base;
  if (data->first > payload) return false;
  return insertion_find((const void *)(payload - data->first), out);
}

static bool parts_begin(const cursor_t *cursor, tb__packet_t *packet)
{
  if (packet->parts) return true;
  packet->parts = malloc(cursor->count * sizeof *packet->parts);
  if (!packet->parts) return false;
  memcpy(packet->parts, cursor->parts, cursor->count * sizeof *packet->parts);
  packet->count = cursor->count;
  return true;
}

/* A sentinel that is there is replaced by that of the insertion. */
static bool insert(const cursor_t *cursor, const data_header_t *data, const insertion_t *insertion,
                   tb__packet_t *packet)
{
  const struct iovec *part = &cursor->parts[cursor->part];
  size_t kept = cursor->offset + data->insert_at;
  packet_copy_t *copy = malloc(sizeof *copy + kept + insertion->size);
  if (!copy || !parts_begin(cursor, packet)) {
    free(copy);
    return false;
  }
  memcpy(copy->bytes, part->iov_base, kept);
  memcpy(copy->bytes + kept, insertion->bytes, insertion->size);
  SubmessageHeader_t header;
  uint8_t *header_at = copy->bytes + cursor->offset;
  memcpy(&header, header_at, sizeof header);
  header.flags |= DATA_FLAG_INLINE_QOS;
  if (header.octetsToNextHeader != 0)
    header.octetsToNextHeader =
        (uint16_t)(header.octetsToNextHeader + insertion->size - (data->end - data->insert_at));
  memcpy(header_at, &header, sizeof header);
  packet->parts[cursor->part] =
      (struct iovec){.iov_base = copy->bytes, .iov_len = kept + insertion->size};
  copy->next = packet->copies;
  packet->copies = copy;
  return true;
}

/* The packet ends before the submessage at the cursor. */
static tb__packet_result_t cut(const cursor_t *cursor, size_t size, tb__packet_t *packet)
{
  if (size <= sizeof(Header_t) || !parts_begin(cursor, packet)) return TB__PACKET_LOST;
  packet->count = cursor->part + (cursor->offset > 0);
  if (cursor->offset > 0) packet->parts[cursor->part].iov_len = cursor->offset;
  return TB__PACKET_CHANGED;
}

static tb__packet_result_t insert_all(cursor_t *cursor, tb__packet_t *packet)
{
  size_t sent = sizeof(Header_t); /* of what goes out, up to the cursor */
  bool more = cursor_advance(cursor, sizeof(Header_t));
  while (more) {
    SubmessageHeader_t header;
    data_header_t data;
    insertion_t insertion = {.size = 0};
    size_t size = submessage_size(cursor, &header), added = 0;
    if (size == 0) break;
    if (IS_DATA(header.submessageId) && insertion_for(cursor, &data, &insertion))
      added = insertion.size - (data.end - data.insert_at);
    if (packet->parts || added > 0) {
      if (sent + size + added > TB__PACKET_SIZE_MAX) return cut(cursor, sent, packet);
      if (added > 0 && !insert(cursor, &data, &insertion, packet)) return TB__PACKET_LOST;
    }
    sent += size + added;
    more = cursor_advance(cursor, size);
  }
  return packet->parts ? TB__PACKET_CHANGED : TB__PACKET_UNCHANGED;
}

tb__packet_result_t tb__packet_insert(const struct iovec *parts, size_t count, tb__packet_t *out)
{
  cursor_t cursor = {.parts = parts, .count = count};
  for (size_t i = 0; i < count; i++)
    cursor.left += parts[i].iov_len;
  *out = (tb__packet_t){0};
  tb__packet_result_t result = insert_all(&cursor, out);
  if (result != TB__PACKET_CHANGED) tb__packet_free(out);
  return result;
}

void tb__packet_free(tb__packet_t *packet)
{
  for (packet_copy_t *copy = packet->copies, *next; copy; copy = next) {
    next = copy->next;
    free(copy);
  }
  free(packet->parts);
  *packet = (tb__packet_t){0};
}
