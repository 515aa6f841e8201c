#include "dds/raw_reader.h"
#include "base/no_memory.h"

#include <dds/dds.h>
#include <stdlib.h>
#include <string.h>

#include "base/callback_depth.h"
#include "base/fork.h"
#include "dds/discovered.h"
#include "dds/first_sample.h"
#include "dds/interfaces.h"
#include "dds/library.h"
#include "dds/matched.h"
#include "dds/qos_map.h"
#include "dds/raw_topic.h"
#include "dds/raw_type.h"
#include "held/parking.h"
#include "platform/guarded_map.h"

#define BATCH_SIZE     8
#define WRITERS_CACHED 8

typedef struct writer_entry {
  dds_instance_handle_t instance; /* 0: free */
  tb__guid_t guid;
} writer_entry_t;

struct tb__raw_reader {
  dds_entity_t handle;
  const struct ddsi_sertype *type;
  tb__raw_reader_callback_t callback;
  void *user;
  _Atomic bool closed;
  _Atomic uint32_t match_events;
  void (*hook)(void *user);
  void *hook_user;
  tb__writers_status_t status; /* used by the listener, which DDS calls one at a time */
  tb__writers_callback_t on_writers;
  void *on_writers_user;
  writer_entry_t
      writers[WRITERS_CACHED]; /* used by the listener, or by the one user thread that takes */
  unsigned next_writer;
};

/* Callbacks that run on this thread: where one publishes, others run nested in it. */
typedef struct frame {
  const tb__raw_reader_t *reader;
  const struct frame *outer;
} frame_t;

static _Thread_local const frame_t *innermost;

static writer_entry_t *writer_query(tb__raw_reader_t *reader, dds_entity_t handle,
                                    dds_instance_handle_t instance)
{
  writer_entry_t *entry = &reader->writers[reader->next_writer++ % WRITERS_CACHED];
  memset(entry, 0, sizeof *entry);
  dds_builtintopic_endpoint_t *endpoint = dds_get_matched_publication_data(handle, instance);
  if (!endpoint) return entry;
  entry->instance = instance;
  entry->guid = tb__guid_of(endpoint->key.v);
  dds_builtintopic_free_endpoint(endpoint);
  return entry;
}

static const writer_entry_t *writer_find(tb__raw_reader_t *reader, dds_entity_t handle,
                                         dds_instance_handle_t instance)
{
  for (unsigned i = 0; i < WRITERS_CACHED; i++) {
    if (reader->writers[i].instance == instance) return &reader->writers[i];
  }
  return writer_query(reader, handle, instance);
}

static void sample_fill(tb__raw_reader_t *reader, dds_entity_t handle, struct ddsi_serdata *raw,
                        const dds_sample_info_t *info, tb_ros2_sample_t *out)
{
  out->cdr = tb__raw_sample_bytes(raw, &out->size);
  out->source_timestamp_ns = info->source_timestamp;
  out->receive_timestamp_ns = tb__raw_sample_received_ns(raw);
  out->receive_steady_ns = tb__raw_sample_received_steady_ns(raw);
  out->sequence = tb__raw_sample_sequence(raw);
  tb__guid_copy(&writer_find(reader, handle, info->publication_handle)->guid, out->writer_guid);
  out->owner = raw;
}

static void sample_deliver(tb__raw_reader_t *reader, dds_entity_t handle, struct ddsi_serdata *raw,
                           const dds_sample_info_t *info)
{
  if (!info->valid_data || atomic_load(&reader->closed)) return;
  tb_ros2_sample_t sample;
  sample_fill(reader, handle, raw, info, &sample);
  reader->callback(&sample, reader->user);
}

/* Samples may arrive before create has stored the handle. */
static void on_data(dds_entity_t handle, void *user)
{
  tb__raw_reader_t *reader = user;
  const frame_t frame = {reader, innermost};
  innermost = &frame;
  struct ddsi_serdata *batch[BATCH_SIZE];
  dds_sample_info_t info[BATCH_SIZE];
  dds_return_t count;
  tb__guarded_map_enter_thread(); /* the callback may read a clock on shared memory */
  tb__callback_begin();
  do {
    count = dds_takecdr(handle, batch, BATCH_SIZE, info, DDS_ANY_STATE);
    for (dds_return_t i = 0; i < count; i++) {
      sample_deliver(reader, handle, batch[i], &info[i]);
      ddsi_serdata_unref(batch[i]);
    }
  } while (count == BATCH_SIZE);
  tb__callback_end();
  innermost = frame.outer;
}

static void on_matched(dds_entity_t handle, const dds_subscription_matched_status_t status,
                       void *user)
{
  (void)handle;
  tb__raw_reader_t *reader = user;
  atomic_fetch_add(&reader->match_events, 1);
  tb__futex_wake_all(&reader->match_events);
  if (reader->hook) reader->hook(reader->hook_user);
  reader->status.matched = status.current_count;
  if (reader->on_writers) reader->on_writers(&reader->status, reader->on_writers_user);
}

static void on_incompatible(dds_entity_t handle,
                            const dds_requested_incompatible_qos_status_t status, void *user)
{
  (void)handle;
  tb__raw_reader_t *reader = user;
  reader->status.incompatible = status.total_count;
  reader->status.policy = tb__qos_policy_name(status.last_policy_id);
  if (reader->on_writers) reader->on_writers(&reader->status, reader->on_writers_user);
}

static dds_entity_t reader_open(tb__raw_reader_t *reader, dds_entity_t participant,
                                const tb__raw_topic_t *topic)
{
  dds_listener_t *listener = dds_create_listener(reader);
  if (!listener) return DDS_RETCODE_OUT_OF_RESOURCES;
  dds_lset_subscription_matched(listener, on_matched);
  if (reader->on_writers) dds_lset_requested_incompatible_qos(listener, on_incompatible);
  if (reader->callback) dds_lset_data_available(listener, on_data);
  dds_entity_t handle = dds_create_reader(participant, topic->topic, topic->qos, listener);
  dds_delete_listener(listener);
  return handle;
}

tb_status_t tb__raw_reader_create(tb__participant_t *participant,
                                  const tb__endpoint_options_t *options,
                                  tb__raw_reader_callback_t callback, void *user,
                                  tb__raw_reader_t **out, tb_error_t *error)
{
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "%s: %s", options->topic,
                        tb_status_message(TB_ERR_FORKED));
  tb__raw_topic_t topic;
  dds_entity_t parent = tb__participant_handle(participant);
  tb__endpoint_options_t without_limit =
      *options; /* the limit is for writers, but would be announced */
  without_limit.write_limit_ns = 0;
  tb_status_t status = tb__raw_topic_init(&topic, parent, &without_limit, error);
  if (status) return status;
  tb__raw_reader_t *reader = calloc(1, sizeof *reader);
  if (!reader) {
    status = tb__no_memory_for(error, options->topic);
    goto fail;
  }
  reader->type = topic.type;
  reader->callback = callback;
  reader->user = user;
  reader->hook = options->on_matched;
  reader->hook_user = options->on_matched_user;
  reader->on_writers = options->on_writers;
  reader->on_writers_user = options->on_writers_user;
  bool owns_domain = tb__participant_owns_domain(participant);
  dds_entity_t handle = tb__first_sample_expect(parent, topic.type, options->topic, owns_domain);
  if (handle >= 0) handle = reader_open(reader, parent, &topic);
  if (handle < 0) {
    status = tb__dds_error_set(error, handle, options->topic);
    goto fail;
  }
  reader->handle = handle;
  dds_return_t code = tb__first_sample_connected(handle, topic.type, options->topic);
  if (code < 0) {
    dds_delete(handle);
    status = tb__dds_error_set(error, code, options->topic);
    goto fail;
  }
  tb__raw_topic_fini(&topic);
  *out = reader;
  return TB_OK;
fail:
  tb__raw_topic_fini(&topic);
  free(reader);
  return status;
}

bool tb__raw_reader_close(tb__raw_reader_t *reader)
{
  if (atomic_exchange(&reader->closed, true)) return false;
  atomic_fetch_add(&reader->match_events, 1);
  tb__futex_wake_all(&reader->match_events);
  return true;
}

bool tb__raw_reader_is_closed(const tb__raw_reader_t *reader)
{
  return atomic_load(&reader->closed);
}

bool tb__raw_reader_runs_here(const tb__raw_reader_t *reader)
{
  const frame_t *frame = innermost;
  while (frame && frame->reader != reader)
    frame = frame->outer;
  return frame;
}

void tb__raw_reader_destroy(tb__raw_reader_t *reader)
{
  if (!reader) return;
  if (!tb__is_forked()) dds_delete(reader->handle);
  free(reader);
}

tb_status_t tb__raw_reader_take(tb__raw_reader_t *reader, tb_ros2_sample_t *out)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (atomic_load(&reader->closed)) return TB_ERR_CLOSED;
  for (;;) {
    struct ddsi_serdata *raw;
    dds_sample_info_t info;
    dds_return_t count = dds_takecdr(reader->handle, &raw, 1, &info, DDS_ANY_STATE);
    if (count == 0) return TB_ERR_NOT_FOUND;
    if (count < 0) return TB_ERR_CLOSED;
    if (info.valid_data) {
      sample_fill(reader, reader->handle, raw, &info, out);
      return TB_OK;
    }
    ddsi_serdata_unref(raw);
  }
}

void tb__raw_reader_release(tb_ros2_sample_t *sample)
{
  if (!sample || !sample->owner) return;
  ddsi_serdata_unref(sample->owner);
  sample->cdr = sample->owner = NULL; /* not the whole struct: the program's may be smaller */
  sample->size = 0;
}

bool tb__raw_reader_origin(const tb_ros2_sample_t *sample, tb__sample_origin_t *out)
{
  return sample->owner && tb__raw_sample_origin(sample->owner, out);
}

bool tb__raw_reader_has_inline_qos(const tb_ros2_sample_t *sample)
{
  return sample->owner && tb__raw_sample_has_inline_qos(sample->owner);
}

uint32_t tb__raw_reader_matched(const tb__raw_reader_t *reader)
{
  dds_subscription_matched_status_t status;
  if (tb__is_forked() || dds_get_subscription_matched_status(reader->handle, &status) < 0) return 0;
  return status.current_count;
}

_Atomic uint32_t *tb__raw_reader_match_word(tb__raw_reader_t *reader)
{
  return &reader->match_events;
}

uint32_t tb__raw_reader_incompatible(const tb__raw_reader_t *reader, const char **out_policy)
{
  dds_requested_incompatible_qos_status_t status;
  if (tb__is_forked() || dds_get_requested_incompatible_qos_status(reader->handle, &status) < 0)
    return 0;
  if (out_policy) *out_policy = tb__qos_policy_name(status.last_policy_id);
  return status.total_count;
}

tb__guid_t tb__raw_reader_guid(const tb__raw_reader_t *reader)
{
  return tb__dds_guid(reader->handle);
}

tb__peers_t tb__raw_reader_peers(const tb__raw_reader_t *reader)
{
  return (tb__peers_t){reader->handle, reader->type};
}

uint32_t tb__raw_reader_match_events(const tb__raw_reader_t *reader)
{
  return atomic_load(&reader->match_events);
}

bool tb__raw_reader_has_all_writers_of(const tb__raw_reader_t *reader,
                                       const tb__guid_t *participant)
{
  dds_guid_t name;
  if (innermost || tb__is_forked()) return false;
  if (dds_get_guid(reader->handle, &name) < 0) return false; /* then the type may be gone, too */
  return tb__dds_has_all_writers_of(reader->type, participant);
}

tb_status_t tb__raw_reader_matched_list(const tb__raw_reader_t *reader, tb__matched_t **out,
                                        size_t *out_count)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  return tb__matched_list(reader->handle, dds_get_matched_publications,
                          dds_get_matched_publication_data, out, out_count);
}

void tb__raw_reader_interfaces(const tb__raw_reader_t *reader, char *out, size_t size)
{
  tb__dds_interfaces(reader->handle, reader->type, out, size);
}
