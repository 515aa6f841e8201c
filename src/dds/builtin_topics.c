#include "dds/builtin_topics.h"
#include "base/no_memory.h"

#include <dds/dds.h>
#include <dds/ddsi/q_protocol.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "dds/library.h"
#include "dds/qos_map.h"
#include "dds/vendor.h"
#include "platform/mutex.h"

#define BATCH_SIZE   8
#define READER_COUNT 3 /* participants first: endpoints belong to them */

struct tb__builtin_topics {
  dds_entity_t readers[READER_COUNT];
  tb__builtin_callbacks_t callbacks;
  tb__mutex_t mutex; /* samples are reported in the order in which they are taken */
};

static void user_data_copy(const dds_qos_t *qos, char out[TB__SEEN_USER_DATA_SIZE])
{
  void *text = NULL;
  size_t size = 0;
  out[0] = '\0';
  if (!qos || !dds_qget_userdata(qos, &text, &size) || !text) return;
  if (size > TB__SEEN_USER_DATA_SIZE - 1) size = TB__SEEN_USER_DATA_SIZE - 1;
  memcpy(out, text, size);
  out[size] = '\0';
  dds_free(text);
}

static void property_copy(const dds_qos_t *qos, const char *name, char *out, size_t size)
{
  char *text = NULL;
  out[0] = '\0';
  if (!qos || !dds_qget_prop(qos, name, &text)) return;
  if (text) snprintf(out, size, "%s", text);
  dds_free(text);
}

/* What Cyclone DDS announces of a process. A number that is none is not known. */
static void process_copy(const dds_qos_t *qos, tb__seen_participant_t *out)
{
  char number[24], *end;
  property_copy(qos, DDS_BUILTIN_TOPIC_PARTICIPANT_PROPERTY_HOSTNAME, out->host_name,
                sizeof out->host_name);
  property_copy(qos, DDS_BUILTIN_TOPIC_PARTICIPANT_PROPERTY_PID, number, sizeof number);
  unsigned long long process_id = strtoull(number, &end, 10);
  if (*number >= '0' && *number <= '9' && !*end) out->process_id = process_id;
}

static void report_participant(const tb__builtin_topics_t *topics,
                               const dds_builtintopic_participant_t *found, bool is_gone)
{
  tb__seen_participant_t seen = {.is_gone = is_gone};
  seen.guid = tb__guid_of(found->key.v);
  if (!is_gone) {
    user_data_copy(found->qos, seen.user_data);
    /* "udp/192.168.0.7:7410@2,udp/...": Cyclone adds the number of its own interface */
    property_copy(found->qos, DDS_BUILTIN_TOPIC_PARTICIPANT_PROPERTY_NETWORKADDRESSES,
                  seen.addresses, sizeof seen.addresses);
    process_copy(found->qos, &seen);
  }
  topics->callbacks.participant(&seen, topics->callbacks.user);
}

static void report_endpoint(const tb__builtin_topics_t *topics,
                            const dds_builtintopic_endpoint_t *found, bool is_gone, bool is_writer)
{
  tb__seen_endpoint_t seen = {.is_gone = is_gone, .is_writer = is_writer};
  seen.guid = tb__guid_of(found->key.v);
  if (!is_gone) {
    if (!found->topic_name || !found->type_name || !found->qos) return;
    seen.participant_guid = tb__guid_of(found->participant_key.v);
    seen.topic = found->topic_name;
    seen.type = found->type_name;
    user_data_copy(found->qos, seen.user_data);
    tb__qos_of_dds(found->qos, &seen.qos, &seen.dds_qos);
    tb__vendor_mark_unknown(seen.guid.bytes, &seen.qos);
  }
  topics->callbacks.endpoint(&seen, topics->callbacks.user);
}

/* Only the key is valid for an entity that is gone. */
static void drain(tb__builtin_topics_t *topics, dds_entity_t reader, int which)
{
  void *batch[BATCH_SIZE];
  dds_sample_info_t info[BATCH_SIZE];
  dds_return_t count;
  tb__mutex_lock(&topics->mutex);
  do {
    batch[0] = NULL; /* DDS provides the memory */
    count = dds_take(reader, batch, info, BATCH_SIZE, BATCH_SIZE);
    for (dds_return_t i = 0; i < count; i++) {
      bool is_gone = info[i].instance_state != DDS_IST_ALIVE;
      if (!is_gone && !info[i].valid_data) continue;
      if (which == 0)
        report_participant(topics, batch[i], is_gone);
      else
        report_endpoint(topics, batch[i], is_gone, which == 1);
    }
    if (count > 0) dds_return_loan(reader, batch, count);
  } while (count == BATCH_SIZE);
  tb__mutex_unlock(&topics->mutex);
}

static void on_participants(dds_entity_t reader, void *user)
{
  drain(user, reader, 0);
}

static void on_publications(dds_entity_t reader, void *user)
{
  drain(user, reader, 1);
}

static void on_subscriptions(dds_entity_t reader, void *user)
{
  drain(user, reader, 2);
}

static dds_entity_t reader_open(tb__builtin_topics_t *topics, dds_entity_t participant, int which)
{
  static const struct {
    dds_entity_t topic;
    dds_on_data_available_fn on_data;
  } kinds[READER_COUNT] = {
      {DDS_BUILTIN_TOPIC_DCPSPARTICIPANT, on_participants},
      {DDS_BUILTIN_TOPIC_DCPSPUBLICATION, on_publications},
      {DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION, on_subscriptions},
  };
  dds_listener_t *listener = dds_create_listener(topics);
  if (!listener) return DDS_RETCODE_OUT_OF_RESOURCES;
  dds_lset_data_available(listener, kinds[which].on_data);
  dds_entity_t reader = dds_create_reader(participant, kinds[which].topic, NULL, listener);
  dds_delete_listener(listener);
  return reader;
}

tb_status_t tb__builtin_topics_create(tb__participant_t *participant,
                                      const tb__builtin_callbacks_t *callbacks,
                                      tb__builtin_topics_t **out, tb_error_t *error)
{
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "graph: %s", tb_status_message(TB_ERR_FORKED));
  tb__builtin_topics_t *topics = calloc(1, sizeof *topics);
  if (!topics) return tb__no_memory_for(error, "graph");
  topics->callbacks = *callbacks;
  tb__mutex_init(&topics->mutex);
  for (int i = 0; i < READER_COUNT; i++) {
    dds_entity_t reader = reader_open(topics, tb__participant_handle(participant), i);
    if (reader < 0) {
      tb__builtin_topics_destroy(topics);
      return tb__dds_error_set(error, reader, "graph: a builtin topic of DDS");
    }
    topics->readers[i] = reader;
    drain(topics, reader, i); /* samples that came before the handle was known */
  }
  *out = topics;
  return TB_OK;
}

void tb__builtin_topics_destroy(tb__builtin_topics_t *topics)
{
  if (!topics) return;
  for (int i = 0; i < READER_COUNT && !tb__is_forked(); i++) {
    if (topics->readers[i] > 0) dds_delete(topics->readers[i]);
  }
  tb__mutex_fini(&topics->mutex);
  free(topics);
}
