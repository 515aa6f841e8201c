#include "dds/raw_writer.h"
#include "base/no_memory.h"

#include <dds/dds.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "dds/inner_writer.h"
#include "dds/library.h"
#include "dds/matched.h"
#include "dds/qos_map.h"
#include "dds/raw_topic.h"
#include "dds/raw_type.h"
#include "dds/stay_loaded.h"
#include "dds/unacked.h"
#include "dds/write_guard.h"
#include "held/parking.h"
#include "platform/futex.h"
#include "platform/mutex.h"

#define KEPT_LIMIT_NS (50 * TB_NS_PER_MS)
#define HEADERS_MAX   256 /* what a packet with a single sample has besides it */

struct tb__raw_writer {
  dds_entity_t handle;
  const struct ddsi_sertype *type;
  _Atomic uint32_t match_events;
  void (*hook)(void *user);
  void *hook_user;
  tb__resend_t resend;
  _Atomic(_Atomic uint32_t *) watched;
  tb__mutex_t mutex;
  tb__inline_qos_support_t inline_qos; /* under the mutex; state 0: not asked for */
  tb__mutex_t numbered_mutex;          /* held from a write until its number has been read */
};

static void on_matched(dds_entity_t handle, const dds_publication_matched_status_t status,
                       void *user)
{
  tb__raw_writer_t *writer = user;
  if (writer->resend != TB__RESEND_ALL && status.current_count_change > 0)
    tb__resend_limit(handle, writer->type);
  atomic_fetch_add(&writer->match_events, 1);
  tb__futex_wake_all(&writer->match_events);
  if (writer->hook) writer->hook(writer->hook_user);
  _Atomic uint32_t *watched = atomic_load(&writer->watched);
  if (!watched) return;
  atomic_fetch_add(watched, 1);
  tb__futex_wake_all(watched);
}

/* Cyclone DDS reads one setting of the process whenever a writer is created, so one that batches is
 * created alone. This is no lock: callbacks of DDS create writers, and lock what is locked here. */
#define ALONE UINT32_MAX
static _Atomic uint32_t creations; /* going on, or ALONE */
static _Thread_local bool batches, keeps_all;

void tb__raw_writers_batch(bool on)
{
  batches = on;
}

void tb__raw_writers_keep_all(bool on)
{
  keeps_all = on;
}

static void creation_begin(bool alone)
{
  for (;;) {
    uint32_t count = atomic_load(&creations);
    if (alone ? count > 0 : count == ALONE)
      tb__futex_wait_kernel(&creations, count, TB__NO_DEADLINE);
    else if (atomic_compare_exchange_strong(&creations, &count, alone ? ALONE : count + 1))
      return;
  }
}

static void creation_end(bool alone)
{
  if (alone)
    atomic_store(&creations, 0);
  else if (atomic_fetch_sub(&creations, 1) > 1)
    return;
  tb__futex_wake_kernel(&creations, INT_MAX);
}

static dds_entity_t writer_create(dds_entity_t participant, const tb__raw_topic_t *topic,
                                  const dds_listener_t *listener)
{
  bool alone = batches;
  creation_begin(alone);
  if (alone) dds_write_set_batch(true);
  dds_entity_t handle = dds_create_writer(participant, topic->topic, topic->qos, listener);
  if (alone) dds_write_set_batch(false);
  creation_end(alone);
  return handle;
}

void tb__raw_writer_flush(const tb__raw_writer_t *writer)
{
  if (!tb__is_forked()) dds_write_flush(writer->handle);
}

static dds_entity_t writer_open(tb__raw_writer_t *writer, dds_entity_t participant,
                                const tb__raw_topic_t *topic)
{
  dds_listener_t *listener = dds_create_listener(writer);
  if (!listener) return DDS_RETCODE_OUT_OF_RESOURCES;
  dds_lset_publication_matched(listener, on_matched);
  dds_entity_t handle = writer_create(participant, topic, listener);
  dds_delete_listener(listener);
  return handle;
}

static void writer_free(tb__raw_writer_t *writer)
{
  if (!writer) return;
  tb__mutex_fini(&writer->mutex);
  tb__mutex_fini(&writer->numbered_mutex);
  free(writer);
}

tb_status_t tb__raw_writer_create(tb__participant_t *participant,
                                  const tb__endpoint_options_t *options, tb__raw_writer_t **out,
                                  tb_error_t *error)
{
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "%s: %s", options->topic,
                        tb_status_message(TB_ERR_FORKED));
  tb__raw_topic_t topic;
  tb__endpoint_options_t own = *options;
  dds_entity_t parent = tb__participant_handle(participant);
  own.keeps_all |= keeps_all && options->qos->reliability == TB_QOS_RELIABLE;
  if (own.keeps_all) own.write_limit_ns = KEPT_LIMIT_NS;
  tb_status_t status = tb__raw_topic_init(&topic, parent, &own, error);
  if (status) return status;
  tb__raw_writer_t *writer = calloc(1, sizeof *writer);
  if (!writer) {
    status = tb__no_memory_for(error, options->topic);
    goto fail;
  }
  tb__mutex_init(&writer->mutex);
  tb__mutex_init(&writer->numbered_mutex);
  writer->type = topic.type;
  writer->resend = options->resend;
  if (writer->resend != TB__RESEND_ALL || options->refuses_fast_dds) tb__stay_loaded();
  writer->hook = options->on_matched;
  writer->hook_user = options->on_matched_user;
  writer->handle = writer_open(writer, parent, &topic);
  if (writer->handle < 0) {
    status = tb__dds_error_set(error, writer->handle, options->topic);
    goto fail;
  }
  status = options->refuses_fast_dds ? tb__write_guard_set(writer->handle, writer->type) : TB_OK;
  if (status) {
    tb_error_set(error, status, "%s: %s", options->topic, tb_status_message(status));
    goto fail;
  }
  /* Readers that are known already were matched before there was a handle to ask with. */
  if (writer->resend != TB__RESEND_ALL) tb__resend_limit(writer->handle, writer->type);
  tb__raw_topic_fini(&topic);
  *out = writer;
  return TB_OK;
fail:
  tb__raw_topic_fini(&topic);
  if (writer && writer->handle > 0) dds_delete(writer->handle);
  writer_free(writer);
  return status;
}

void tb__raw_writer_destroy(tb__raw_writer_t *writer)
{
  if (!writer) return;
  if (!tb__is_forked()) dds_delete(writer->handle);
  writer_free(writer);
}

/* Codes with which Cyclone refuses a handle, before it takes over the sample. */
static bool refused_handle(dds_return_t code)
{
  return code == DDS_RETCODE_BAD_PARAMETER || code == DDS_RETCODE_ALREADY_DELETED ||
         code == DDS_RETCODE_ILLEGAL_OPERATION || code == DDS_RETCODE_PRECONDITION_NOT_MET;
}

static tb_status_t write_check(const void *cdr, size_t size, tb_error_t *error)
{
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "publish: %s", tb_status_message(TB_ERR_FORKED));
  if (!tb__cdr_is_valid(cdr, size))
    return tb_error_set(error, TB_ERR_INVALID,
                        "a message of %zu bytes is not CDR: it must begin with the encapsulation "
                        "00 00 (big endian) or 00 01 (little endian) and two option bytes",
                        size);
  return TB_OK;
}

/* Takes over `sample`; NULL: out of memory. */
static tb_status_t sample_write(tb__raw_writer_t *writer, struct ddsi_serdata *sample, size_t size,
                                tb_error_t *error)
{
  if (!sample)
    return tb_error_set(error, TB_ERR_NO_MEMORY, "a message of %zu bytes: out of memory", size);
  dds_return_t code = dds_writecdr(writer->handle, sample);
  if (code == DDS_RETCODE_OK) return TB_OK;
  if (tb__write_guard_has_refused())
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "publish: a reader of Fast DDS is matched");
  if (!refused_handle(code)) return tb__dds_error_set(error, code, "publish");
  ddsi_serdata_unref(sample);
  return tb_error_set(error, TB_ERR_CLOSED, "publish: the context was destroyed");
}

tb_status_t tb__raw_writer_write(tb__raw_writer_t *writer, const void *cdr, size_t size,
                                 tb_error_t *error)
{
  tb_status_t status = write_check(cdr, size, error);
  if (status) return status;
  struct ddsi_serdata *sample = tb__raw_sample_create(writer->type, cdr, size);
  if (sample) tb__raw_sample_limit(sample, writer->resend, 0);
  return sample_write(writer, sample, size, error);
}

/* Threads that install it at once do so twice, which changes nothing: no lock is held meanwhile. */
static tb__inline_qos_support_t inline_qos_prepare(tb__raw_writer_t *writer)
{
  tb__mutex_lock(&writer->mutex);
  tb__inline_qos_support_t support = writer->inline_qos;
  tb__mutex_unlock(&writer->mutex);
  if (support.state == TB__INLINE_QOS_ON || tb__is_forked()) return support;
  support = tb__transport_hook_install(writer->handle, writer->type);
  tb__mutex_lock(&writer->mutex);
  if (writer->inline_qos.state != TB__INLINE_QOS_ON) writer->inline_qos = support;
  support = writer->inline_qos;
  tb__mutex_unlock(&writer->mutex);
  return support;
}

tb__inline_qos_state_t tb__raw_writer_inline_qos(tb__raw_writer_t *writer)
{
  return inline_qos_prepare(writer).state;
}

/* The last sequence number that DDS has given to a sample of the writer. */
static tb_status_t sequence_read(const tb__raw_writer_t *writer, int64_t *out, tb_error_t *error)
{
  tb__inner_writer_t inner;
  if (!tb__inner_writer_enter(writer->handle, writer->type, &inner))
    return tb_error_set(error, TB_ERR_CLOSED, "publish: the context was destroyed");
  ddsrt_mutex_lock(&inner.writer->e.lock);
  *out = (int64_t)inner.writer->seq;
  ddsrt_mutex_unlock(&inner.writer->e.lock);
  tb__inner_writer_leave(&inner);
  return TB_OK;
}

static tb_status_t fit_check(const tb__inline_qos_support_t *support, size_t size,
                             tb_error_t *error)
{
  size_t part = size < support->payload_max ? size : support->payload_max;
  if (part + HEADERS_MAX + TB__INLINE_QOS_MAX <= TB__PACKET_SIZE_MAX) return TB_OK;
  return tb_error_set(error, TB_ERR_LIMIT,
                      "a message of %zu bytes does not fit into packets of up to %u bytes: use a "
                      "smaller General/MaxMessageSize and General/FragmentSize in CYCLONEDDS_URI",
                      size, TB__PACKET_SIZE_MAX);
}

static tb_status_t inline_qos_check(tb__raw_writer_t *writer, size_t size, tb_error_t *error)
{
  tb__inline_qos_support_t support = inline_qos_prepare(writer);
  if (support.state != TB__INLINE_QOS_ON)
    return tb__inline_qos_refusal(support.state, "publish with inline QoS", error);
  return fit_check(&support, size, error);
}

/* Takes over `sample`. It may be sent again before its number has been read, so it has the one that
 * is expected until then. */
static tb_status_t numbered_write(tb__raw_writer_t *writer, struct ddsi_serdata *sample,
                                  size_t size, int64_t *sequence, tb_error_t *error)
{
  int64_t number = 0;
  struct ddsi_serdata *kept = ddsi_serdata_ref(sample);
  tb__mutex_lock(&writer->numbered_mutex);
  tb__raw_sample_limit(sample, writer->resend, *sequence);
  tb_status_t status = sample_write(writer, sample, size, error);
  if (!status) status = sequence_read(writer, &number, error);
  if (!status && number != *sequence) tb__raw_sample_limit(kept, writer->resend, number);
  tb__mutex_unlock(&writer->numbered_mutex);
  ddsi_serdata_unref(kept);
  if (!status) *sequence = number;
  return status;
}

tb_status_t tb__raw_writer_write_with(tb__raw_writer_t *writer, const void *cdr, size_t size,
                                      const void *inline_qos, size_t inline_qos_size,
                                      int64_t *sequence, tb_error_t *error)
{
  tb_status_t status = write_check(cdr, size, error);
  if (!status && inline_qos_size > 0) status = inline_qos_check(writer, size, error);
  if (status) return status;
  struct ddsi_serdata *sample =
      inline_qos_size > 0
          ? tb__raw_sample_create_with(writer->type, cdr, size, inline_qos, inline_qos_size)
          : tb__raw_sample_create(writer->type, cdr, size);
  if (sample && sequence) return numbered_write(writer, sample, size, sequence, error);
  if (sample) tb__raw_sample_limit(sample, writer->resend, 0);
  return sample_write(writer, sample, size, error);
}

uint32_t tb__raw_writer_matched(const tb__raw_writer_t *writer)
{
  dds_publication_matched_status_t status;
  if (tb__is_forked() || dds_get_publication_matched_status(writer->handle, &status) < 0) return 0;
  return status.current_count;
}

_Atomic uint32_t *tb__raw_writer_match_word(tb__raw_writer_t *writer)
{
  return &writer->match_events;
}

void tb__raw_writer_watch_matched(tb__raw_writer_t *writer, _Atomic uint32_t *events)
{
  atomic_store(&writer->watched, events);
}

tb_status_t tb__raw_writer_wait_for_acks(tb__raw_writer_t *writer, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  if (status) return status;
  if (tb__is_forked()) return TB_ERR_FORKED;
  int64_t limit_ns = deadline.clock == TB__DEADLINE_NONE ? DDS_INFINITY : limit.ns;
  dds_return_t code =
      dds_wait_for_acks(writer->handle, tb__deadline_has_passed(deadline) ? 0 : limit_ns);
  if (code == DDS_RETCODE_OK) return TB_OK;
  return refused_handle(code) ? TB_ERR_CLOSED : tb__dds_error_set(NULL, code, "");
}

uint32_t tb__raw_writer_incompatible(const tb__raw_writer_t *writer, const char **out_policy)
{
  dds_offered_incompatible_qos_status_t status;
  if (tb__is_forked() || dds_get_offered_incompatible_qos_status(writer->handle, &status) < 0)
    return 0;
  if (out_policy) *out_policy = tb__qos_policy_name(status.last_policy_id);
  return status.total_count;
}

tb__guid_t tb__raw_writer_guid(const tb__raw_writer_t *writer)
{
  return tb__dds_guid(writer->handle);
}

tb__peers_t tb__raw_writer_peers(const tb__raw_writer_t *writer)
{
  return (tb__peers_t){writer->handle, writer->type};
}

uint64_t tb__raw_writer_instance(const tb__raw_writer_t *writer)
{
  dds_instance_handle_t instance = 0;
  dds_get_instance_handle(writer->handle, &instance);
  return instance;
}

uint32_t tb__raw_writer_match_events(const tb__raw_writer_t *writer)
{
  return atomic_load(&writer->match_events);
}

tb_status_t tb__raw_writer_matched_list(const tb__raw_writer_t *writer, tb__matched_t **out,
                                        size_t *out_count)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  return tb__matched_list(writer->handle, dds_get_matched_subscriptions,
                          dds_get_matched_subscription_data, out, out_count);
}

tb_status_t tb__raw_writer_unacked(const tb__raw_writer_t *writer, tb__matched_t **out,
                                   size_t *out_count)
{
  tb_status_t status = tb__raw_writer_matched_list(writer, out, out_count);
  if (!status) *out_count = tb__unacked_select(writer->handle, writer->type, *out, *out_count);
  return status;
}

size_t tb__raw_writer_unacked_bytes(const tb__raw_writer_t *writer, size_t *out_high)
{
  *out_high = SIZE_MAX;
  return tb__is_forked() ? 0 : tb__unacked_bytes(writer->handle, writer->type, out_high);
}

size_t tb__raw_writer_unkept(const tb__raw_writer_t *writer, tb__matched_t **out, size_t *out_count)
{
  if (tb__raw_writer_matched_list(writer, out, out_count) != TB_OK) return 0;
  return tb__unkept_select(writer->handle, writer->type, *out, out_count);
}
