#include "dds/raw_type.h"

#include <dds/ddsi/q_misc.h>
#include <dds/ddsi/q_protocol.h>
#include <dds/ddsi/q_radmin.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loan.h"
#include "dds/inline_qos.h"
#include "platform/time.h"

typedef struct raw_sample {
  struct ddsi_serdata base;
  int64_t received_ns;        /* system time */
  int64_t received_steady_ns; /* the same moment */
  uint64_t sequence;
  _Atomic int64_t number; /* of a sample of this process, for `resend` */
  uint32_t size;          /* a multiple of 4 */
  bool has_related;       /* its tb__related_identity_t follows the bytes */
  bool has_inline_qos;    /* its tb__inline_qos_t follows the bytes, aligned */
  _Atomic uint8_t resend;
  void *lender; /* of the bytes; NULL: they are its own */
  void (*give_back)(void *lender);
  uint8_t *bytes;
  uint8_t own[];
} raw_sample_t;

#define LOAN_MIN 16384 /* a copy of less costs little */

#define HASH 0x72617773u /* any value: without a key all samples have one instance */

bool tb__cdr_is_valid(const void *cdr, size_t size)
{
  const uint8_t *bytes = cdr;
  return size >= TB__CDR_HEADER_SIZE && size <= TB__CDR_SIZE_MAX && bytes[0] == 0 && bytes[1] <= 1;
}

static const raw_sample_t *as_raw(const struct ddsi_serdata *sample)
{
  return (const raw_sample_t *)sample;
}

static raw_sample_t *header_alloc(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
                                  size_t size)
{
  raw_sample_t *sample = malloc(sizeof *sample + size);
  if (!sample) return NULL;
  ddsi_serdata_init(&sample->base, type, kind);
  sample->base.hash = HASH;
  sample->lender = NULL;
  sample->sequence = 0;
  sample->has_related = sample->has_inline_qos = false;
  atomic_init(&sample->number, 0);
  atomic_init(&sample->resend, TB__RESEND_ALL);
  sample->received_ns = tb__system_now_ns();
  sample->received_steady_ns = tb__steady_now_ns();
  return sample;
}

/* The bytes are undefined except for the padding; `extra` more follow that. */
static raw_sample_t *sample_alloc(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
                                  size_t size, size_t extra)
{
  uint32_t padded = ((uint32_t)size + 3u) & ~3u;
  raw_sample_t *sample = header_alloc(type, kind, padded + extra);
  if (!sample) return NULL;
  sample->bytes = sample->own;
  sample->size = padded;
  memset(sample->bytes + size, 0, padded - size);
  return sample;
}

/* The "key" of a type that has none: only an encapsulation header. */
static struct ddsi_serdata *key_create(const struct ddsi_sertype *type)
{
  static const uint8_t empty[TB__CDR_HEADER_SIZE] = {0, 1, 0, 0};
  raw_sample_t *sample = sample_alloc(type, SDK_KEY, sizeof empty, 0);
  if (!sample) return NULL;
  memcpy(sample->bytes, empty, sizeof empty);
  return &sample->base;
}

static struct ddsi_serdata *borrow(const struct ddsi_sertype *type, const tb__loan_t *loan)
{
  raw_sample_t *sample = header_alloc(type, SDK_DATA, 0);
  if (!sample) return NULL;
  loan->keep(loan->owner);
  sample->lender = loan->owner;
  sample->give_back = loan->give_back;
  sample->bytes = (uint8_t *)loan->data; /* only read */
  sample->size = (uint32_t)loan->padded;
  return &sample->base;
}

struct ddsi_serdata *tb__raw_sample_create(const struct ddsi_sertype *type, const void *cdr,
                                           size_t size)
{
  const tb__loan_t *loan = size < LOAN_MIN ? NULL : tb__loan_find(cdr, size);
  if (loan) return borrow(type, loan);
  raw_sample_t *sample = sample_alloc(type, SDK_DATA, size, 0);
  if (!sample) return NULL;
  memcpy(sample->bytes, cdr, size);
  return &sample->base;
}

static tb__inline_qos_t *inline_qos_of(raw_sample_t *sample)
{
  uintptr_t end = (uintptr_t)(sample->bytes + sample->size), unit = _Alignof(tb__inline_qos_t);
  return (tb__inline_qos_t *)((end + unit - 1) / unit * unit);
}

struct ddsi_serdata *tb__raw_sample_create_with(const struct ddsi_sertype *type, const void *cdr,
                                                size_t size, const void *inline_qos,
                                                size_t inline_qos_size)
{
  size_t extra = _Alignof(tb__inline_qos_t) - 1 + sizeof(tb__inline_qos_t);
  raw_sample_t *sample = sample_alloc(type, SDK_DATA, size, extra);
  if (!sample) return NULL;
  memcpy(sample->bytes, cdr, size);
  tb__inline_qos_add(inline_qos_of(sample), sample->bytes, inline_qos, inline_qos_size);
  sample->has_inline_qos = true;
  return &sample->base;
}

bool tb__raw_sample_has_inline_qos(const struct ddsi_serdata *sample)
{
  return as_raw(sample)->has_inline_qos;
}

void tb__raw_sample_limit(struct ddsi_serdata *sample, tb__resend_t resend, int64_t number)
{
  raw_sample_t *raw = (raw_sample_t *)sample;
  atomic_store(&raw->number, number);
  atomic_store(&raw->resend, (uint8_t)resend);
}

bool tb__raw_sample_is_due(const struct ddsi_serdata *sample, int64_t acknowledged)
{
  const raw_sample_t *raw = as_raw(sample);
  return tb__resend_is_due((tb__resend_t)atomic_load(&raw->resend), atomic_load(&raw->number),
                           acknowledged);
}

const void *tb__raw_sample_bytes(const struct ddsi_serdata *sample, size_t *out_size)
{
  *out_size = as_raw(sample)->size;
  return as_raw(sample)->bytes;
}

int64_t tb__raw_sample_received_ns(const struct ddsi_serdata *sample)
{
  return as_raw(sample)->received_ns;
}

int64_t tb__raw_sample_received_steady_ns(const struct ddsi_serdata *sample)
{
  return as_raw(sample)->received_steady_ns;
}

uint64_t tb__raw_sample_sequence(const struct ddsi_serdata *sample)
{
  return as_raw(sample)->sequence;
}

bool tb__raw_sample_origin(const struct ddsi_serdata *sample, tb__sample_origin_t *out)
{
  const raw_sample_t *raw = as_raw(sample);
  if (raw->sequence == 0) return false;
  *out = (tb__sample_origin_t){.sequence = (int64_t)raw->sequence, .has_related = raw->has_related};
  if (raw->has_related) memcpy(&out->related, raw->bytes + raw->size, sizeof out->related);
  return true;
}

/* The list lies between the header of the submessage and the payload. Cyclone has checked that, and
 * that it has an end. */
static bool related_of(const struct nn_rdata *fragment, const Data_DataFrag_common_t *data,
                       tb__related_identity_t *out)
{
  size_t begin = NN_RDATA_SUBMSG_OFF(fragment) +
                 offsetof(Data_DataFrag_common_t, octetsToInlineQos) +
                 sizeof data->octetsToInlineQos + data->octetsToInlineQos;
  size_t end = NN_RDATA_PAYLOAD_OFF(fragment);
  if (!(data->smhdr.flags & DATA_FLAG_INLINE_QOS) || begin > end) return false;
  bool big_endian = !(data->smhdr.flags & SMFLAG_ENDIANNESS);
  return tb__related_identity_read(NN_RMSG_PAYLOADOFF(fragment->rmsg, begin), end - begin,
                                   big_endian, out);
}

/* From the submessage of the first fragment, whose header Cyclone has checked and converted to our
 * byte order. */
static tb__sample_origin_t origin_of(const struct nn_rdata *fragment)
{
  tb__sample_origin_t origin = {.sequence = 0};
  if (!fragment || fragment->submsg_zoff == 0) return origin;
  const uint8_t *at = NN_RMSG_PAYLOADOFF(fragment->rmsg, NN_RDATA_SUBMSG_OFF(fragment));
  Data_DataFrag_common_t data;
  memcpy(&data, at, sizeof data);
  origin.sequence = (int64_t)fromSN(data.writerSN);
  origin.has_related = related_of(fragment, &data, &origin.related);
  return origin;
}

static raw_sample_t *received_alloc(const struct ddsi_sertype *type, size_t size,
                                    const tb__sample_origin_t *origin)
{
  size_t extra = origin->has_related ? sizeof origin->related : 0;
  raw_sample_t *sample = sample_alloc(type, SDK_DATA, size, extra);
  if (!sample) return NULL;
  sample->sequence = (uint64_t)origin->sequence;
  sample->has_related = origin->has_related;
  if (extra) memcpy(sample->bytes + sample->size, &origin->related, extra);
  return sample;
}

static struct ddsi_serdata *keep_if_valid(raw_sample_t *sample, size_t filled, size_t size)
{
  if (filled == size && tb__cdr_is_valid(sample->bytes, size)) return &sample->base;
  free(sample);
  return NULL;
}

/* Fragments may overlap; a hole, or one that reaches past `size`, makes the sample garbage. */
static struct ddsi_serdata *from_ser(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
                                     const struct nn_rdata *fragment, size_t size)
{
  if (kind != SDK_DATA) return key_create(type);
  if (size > TB__CDR_SIZE_MAX) return NULL;
  const tb__sample_origin_t origin = origin_of(fragment);
  raw_sample_t *sample = received_alloc(type, size, &origin);
  if (!sample) return NULL;
  size_t filled = 0;
  for (; fragment; fragment = fragment->nextfrag) {
    if (fragment->maxp1 <= filled) continue;
    if (fragment->min > filled || fragment->maxp1 > size) break;
    const uint8_t *payload = NN_RMSG_PAYLOADOFF(fragment->rmsg, NN_RDATA_PAYLOAD_OFF(fragment));
    memcpy(sample->bytes + filled, payload + (filled - fragment->min), fragment->maxp1 - filled);
    filled = fragment->maxp1;
  }
  return keep_if_valid(sample, fragment ? 0 : filled, size);
}

static struct ddsi_serdata *from_ser_iov(const struct ddsi_sertype *type,
                                         enum ddsi_serdata_kind kind, ddsrt_msg_iovlen_t count,
                                         const ddsrt_iovec_t *parts, size_t size)
{
  if (kind != SDK_DATA) return key_create(type);
  if (size > TB__CDR_SIZE_MAX) return NULL;
  raw_sample_t *sample = sample_alloc(type, kind, size, 0);
  if (!sample) return NULL;
  size_t filled = 0;
  for (ddsrt_msg_iovlen_t i = 0; i < count && filled < size; i++) {
    size_t length = parts[i].iov_len < size - filled ? parts[i].iov_len : size - filled;
    if (length > 0) memcpy(sample->bytes + filled, parts[i].iov_base, length);
    filled += length;
  }
  return keep_if_valid(sample, filled, size);
}

static struct ddsi_serdata *from_keyhash(const struct ddsi_sertype *type,
                                         const struct ddsi_keyhash *keyhash)
{
  (void)keyhash;
  return key_create(type);
}

static struct ddsi_serdata *from_sample(const struct ddsi_sertype *type,
                                        enum ddsi_serdata_kind kind, const void *sample)
{
  (void)sample;
  return kind == SDK_DATA ? NULL : key_create(type);
}

static uint32_t get_size(const struct ddsi_serdata *sample)
{
  return as_raw(sample)->size;
}

static void to_ser(const struct ddsi_serdata *sample, size_t offset, size_t size, void *out)
{
  size_t there = offset < as_raw(sample)->size ? as_raw(sample)->size - offset : 0;
  size_t copied = size < there ? size : there;
  if (copied > 0) memcpy(out, as_raw(sample)->bytes + offset, copied);
  memset((uint8_t *)out + copied, 0, size - copied);
}

static struct ddsi_serdata *to_ser_ref(const struct ddsi_serdata *sample, size_t offset,
                                       size_t size, ddsrt_iovec_t *out)
{
  struct ddsi_serdata *reference = ddsi_serdata_ref(sample);
  raw_sample_t *raw = (raw_sample_t *)reference;
  size_t begin = offset < raw->size ? offset : raw->size;
  out->iov_base = raw->bytes + begin;
  out->iov_len = size < raw->size - begin ? size : raw->size - begin;
  return reference;
}

static void to_ser_unref(struct ddsi_serdata *sample, const ddsrt_iovec_t *reference)
{
  (void)reference;
  ddsi_serdata_unref(sample);
}

static bool to_sample(const struct ddsi_serdata *raw, void *sample, void **buffer, void *limit)
{
  (void)raw;
  (void)sample;
  (void)buffer;
  (void)limit;
  return false;
}

/* Cyclone does not handle a failed allocation of this key. It is one for all samples, created
 * before any of them, and this file holds a reference. */
static raw_sample_t untyped_key = {
    .base = {.ops = &tb__raw_sample_ops,
             .hash = HASH,
             .refc = DDSRT_ATOMIC_UINT32_INIT(1),
             .kind = SDK_KEY,
             .timestamp.v = INT64_MIN,
             .twrite.v = INT64_MIN},
    .size = TB__CDR_HEADER_SIZE,
    .bytes = untyped_key.own,
    .own = {0, 1, 0, 0},
};

static struct ddsi_serdata *to_untyped(const struct ddsi_serdata *sample)
{
  (void)sample;
  return ddsi_serdata_ref(&untyped_key.base);
}

static bool untyped_to_sample(const struct ddsi_sertype *type, const struct ddsi_serdata *key,
                              void *sample, void **buffer, void *limit)
{
  (void)type;
  (void)key;
  (void)sample;
  (void)buffer;
  (void)limit;
  return true;
}

static bool keys_equal(const struct ddsi_serdata *a, const struct ddsi_serdata *b)
{
  (void)a;
  (void)b;
  return true;
}

static void sample_free(struct ddsi_serdata *sample)
{
  raw_sample_t *raw = (raw_sample_t *)sample;
  if (raw->has_inline_qos) tb__inline_qos_remove(inline_qos_of(raw));
  if (raw->lender) raw->give_back(raw->lender);
  free(raw);
}

static size_t print(const struct ddsi_sertype *type, const struct ddsi_serdata *sample, char *out,
                    size_t size)
{
  (void)type;
  int length = snprintf(out, size, ":cdr:{%u bytes}", as_raw(sample)->size);
  return length < 0 ? 0 : (size_t)length;
}

static void get_keyhash(const struct ddsi_serdata *sample, struct ddsi_keyhash *out, bool force_md5)
{
  (void)sample;
  (void)force_md5;
  memset(out, 0, sizeof *out);
}

const struct ddsi_serdata_ops tb__raw_sample_ops = {
    .eqkey = keys_equal,
    .get_size = get_size,
    .from_ser = from_ser,
    .from_ser_iov = from_ser_iov,
    .from_keyhash = from_keyhash,
    .from_sample = from_sample,
    .to_ser = to_ser,
    .to_ser_ref = to_ser_ref,
    .to_ser_unref = to_ser_unref,
    .to_sample = to_sample,
    .to_untyped = to_untyped,
    .untyped_to_sample = untyped_to_sample,
    .free = sample_free,
    .print = print,
    .get_keyhash = get_keyhash,
};
