#include "dds/first_sample.h"

#include <dds/ddsi/ddsi_domaingv.h>
#include <dds/ddsi/ddsi_entity.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_hbcontrol.h>
#include <dds/ddsi/q_thread.h>
#include <stdlib.h>
#include <string.h>

#include <dds/ddsi/ddsi_builtin_topic_if.h> /* which need those above */
#include <dds/ddsi/ddsi_endpoint.h>
#include <dds/ddsi/ddsi_entity_index.h>
#include <dds/ddsi/ddsi_proxy_endpoint.h>

#include "dds/inner_writer.h"
#include "dds/stay_loaded.h"
#include "platform/mutex.h"

#include <dds/ddsi/q_bswap.h> /* which needs inner_writer.h */

#define BATCH_SIZE 16

typedef void (*write_endpoint_t)(const struct ddsi_entity_common *entity, ddsrt_wctime_t time,
                                 bool is_alive, void *arg);

/* A writer of Fast DDS of requests or replies, which Cyclone knows. */
typedef struct known_writer {
  tb__guid_t guid;
  uint32_t domain_id;
  uint32_t topic; /* a hash: one more that is marked does no harm */
} known_writer_t;

/* What was in our function's place in a domain: Cyclone's, or that of another copy of this library.
 */
typedef struct place {
  struct place *next;
  uint32_t domain_id;
  ddsi_guid_prefix_t domain; /* which of the domains that have had this id */
  write_endpoint_t original;
} place_t;

/* Taken by threads of DDS that hold locks of it: nothing of DDS is called under it. */
static tb__mutex_t mutex = TB__MUTEX_INIT;
static place_t *places TB_GUARDED_BY(mutex);
static known_writer_t *writers TB_GUARDED_BY(mutex);
static size_t writer_count TB_GUARDED_BY(mutex), writer_room TB_GUARDED_BY(mutex);

static tb__mutex_t install_mutex = TB__MUTEX_INIT;

static uint32_t topic_hash(const char *topic)
{
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (; *topic; topic++)
    hash = (hash ^ (uint8_t)*topic) * 16777619u;
  return hash;
}

static bool is_of_services(const char *topic)
{
  return strncmp(topic, "rq/", 3) == 0 || strncmp(topic, "rr/", 3) == 0;
}

static bool is_wanted(const tb__guid_t *guid, const char *topic, dds_reliability_kind_t reliability,
                      dds_durability_kind_t durability)
{
  return tb__guid_is_of_fast_dds(guid) && is_of_services(topic) &&
         reliability == DDS_RELIABILITY_RELIABLE && durability == DDS_DURABILITY_VOLATILE;
}

static tb__guid_t guid_of(const ddsi_guid_t *inner)
{
  ddsi_guid_t guid = nn_hton_guid(*inner);
  tb__guid_t bytes;
  memcpy(bytes.bytes, &guid, sizeof bytes.bytes);
  return bytes;
}

static void writer_add(const known_writer_t *writer)
{
  tb__mutex_lock(&mutex);
  if (writer_count == writer_room) {
    size_t room = writer_room ? 2 * writer_room : 16;
    known_writer_t *grown = realloc(writers, room * sizeof *grown);
    if (grown) {
      writers = grown;
      writer_room = room;
    }
  }
  if (writer_count < writer_room) writers[writer_count++] = *writer;
  tb__mutex_unlock(&mutex);
}

/* It may be there twice: see writers_list. */
static void writer_remove(const known_writer_t *writer)
{
  tb__mutex_lock(&mutex);
  for (size_t i = writer_count; i-- > 0;)
    if (writers[i].domain_id == writer->domain_id &&
        tb__guid_equal(&writers[i].guid, &writer->guid))
      writers[i] = writers[--writer_count];
  tb__mutex_unlock(&mutex);
}

static place_t *place_find_locked(uint32_t domain_id) TB_REQUIRES(mutex)
{
  place_t *place = places;
  while (place && place->domain_id != domain_id)
    place = place->next;
  return place;
}

static write_endpoint_t original_of(uint32_t domain_id)
{
  tb__mutex_lock(&mutex);
  const place_t *place = place_find_locked(domain_id);
  write_endpoint_t original = place ? place->original : NULL;
  tb__mutex_unlock(&mutex);
  return original;
}

/* What is noted for the domain; where there is nothing, or it is of one that the program or another
 * copy of this library has deleted, `there` is. NULL: out of memory. */
static write_endpoint_t original_note(const struct ddsi_domaingv *domain, write_endpoint_t there)
{
  const ddsi_guid_prefix_t *prefix = &domain->ppguid_base.prefix;
  tb__mutex_lock(&mutex);
  place_t *place = place_find_locked(domain->config.domainId);
  bool is_old = place && memcmp(&place->domain, prefix, sizeof *prefix) != 0;
  if (!place && (place = malloc(sizeof *place))) {
    *place = (place_t){places, domain->config.domainId, *prefix, there};
    places = place;
  } else if (is_old) {
    place->domain = *prefix;
    place->original = there;
  }
  write_endpoint_t original = place ? place->original : NULL;
  tb__mutex_unlock(&mutex);
  return original;
}

static void place_remove(uint32_t domain_id)
{
  tb__mutex_lock(&mutex);
  place_t **link = &places;
  while (*link && (*link)->domain_id != domain_id)
    link = &(*link)->next;
  place_t *place = *link;
  if (place) *link = place->next;
  tb__mutex_unlock(&mutex);
  free(place);
}

void tb__first_sample_domain_deleted(uint32_t domain_id)
{
  place_remove(domain_id);
  tb__mutex_lock(&mutex);
  for (size_t i = writer_count; i-- > 0;)
    if (writers[i].domain_id == domain_id) writers[i] = writers[--writer_count];
  if (writer_count == 0) {
    free(writers);
    writers = NULL;
    writer_room = 0;
  }
  tb__mutex_unlock(&mutex);
}

/* Cyclone calls this for each entity of a domain, more than once where its QoS changes. For a
 * remote writer it holds the writer's lock, and connects no reader to a new one before this has
 * returned.
 */
static void on_endpoint(const struct ddsi_entity_common *entity, ddsrt_wctime_t time, bool is_alive,
                        void *arg)
{
  write_endpoint_t original = original_of(entity->gv->config.domainId);
  if (entity->kind == DDSI_EK_PROXY_WRITER) {
    struct ddsi_proxy_writer *found = (struct ddsi_proxy_writer *)(uintptr_t)entity;
    const dds_qos_t *qos = found->c.xqos;
    known_writer_t writer = {.guid = guid_of(&entity->guid),
                             .domain_id = entity->gv->config.domainId,
                             .topic = topic_hash(qos->topic_name)};
    bool counts =
        is_wanted(&writer.guid, qos->topic_name, qos->reliability.kind, qos->durability.kind);
    if (counts && !is_alive) writer_remove(&writer);
    if (counts && is_alive && found->local_matching_inprogress) {
      found->have_seen_heartbeat = 1;
      writer_add(&writer);
    }
  }
  if (original) original(entity, time, is_alive, arg);
}

/* Those that were known before the function was in its place. */
static dds_return_t writers_list(dds_entity_t participant, uint32_t domain_id)
{
  void *batch[BATCH_SIZE];
  dds_sample_info_t info[BATCH_SIZE];
  dds_return_t count;
  dds_entity_t reader =
      dds_create_reader(participant, DDS_BUILTIN_TOPIC_DCPSPUBLICATION, NULL, NULL);
  if (reader < 0) return reader;
  do {
    batch[0] = NULL; /* DDS provides the memory */
    count = dds_take(reader, batch, info, BATCH_SIZE, BATCH_SIZE);
    for (dds_return_t i = 0; i < count; i++) {
      const dds_builtintopic_endpoint_t *found = batch[i];
      dds_reliability_kind_t reliability;
      dds_durability_kind_t durability;
      if (info[i].valid_data && dds_qget_reliability(found->qos, &reliability, NULL) &&
          dds_qget_durability(found->qos, &durability)) {
        known_writer_t writer = {tb__guid_of(found->key.v), domain_id,
                                 topic_hash(found->topic_name)};
        if (is_wanted(&writer.guid, found->topic_name, reliability, durability))
          writer_add(&writer);
      }
    }
    if (count > 0) dds_return_loan(reader, batch, count);
  } while (count == BATCH_SIZE);
  dds_delete(reader);
  return count < 0 ? count : DDS_RETCODE_OK;
}

/* Not again where another copy of this library has put its function before ours since. */
static dds_return_t install_locked(dds_entity_t participant, struct ddsi_domaingv *domain)
    TB_REQUIRES(install_mutex)
{
  struct ddsi_builtin_topic_interface *interface = domain->builtin_topic_interface;
  uint32_t domain_id = domain->config.domainId;
  write_endpoint_t there =
      __atomic_load_n(&interface->builtintopic_write_endpoint, __ATOMIC_ACQUIRE);
  if (there == on_endpoint) return DDS_RETCODE_OK;
  write_endpoint_t original = original_note(domain, there);
  if (!original) return DDS_RETCODE_OUT_OF_RESOURCES;
  if (original != there) return DDS_RETCODE_OK;
  __atomic_store_n(&interface->builtintopic_write_endpoint, on_endpoint, __ATOMIC_RELEASE);
  dds_return_t listed = writers_list(participant, domain_id);
  if (listed < 0) /* the next attempt begins again */
    __atomic_store_n(&interface->builtintopic_write_endpoint, there, __ATOMIC_RELEASE);
  return listed;
}

/* The writers of the topic, in new memory. */
static dds_return_t writers_select(uint32_t domain_id, const char *topic, tb__guid_t **out,
                                   size_t *out_count)
{
  size_t count = 0;
  uint32_t hash = topic_hash(topic);
  tb__mutex_lock(&mutex);
  bool is_empty = writer_count == 0;
  tb__guid_t *selected = is_empty ? NULL : malloc(writer_count * sizeof *selected);
  for (size_t i = 0; i < writer_count && selected; i++)
    if (writers[i].domain_id == domain_id && writers[i].topic == hash)
      selected[count++] = writers[i].guid;
  tb__mutex_unlock(&mutex);
  *out = selected;
  *out_count = count;
  return selected || is_empty ? DDS_RETCODE_OK : DDS_RETCODE_OUT_OF_RESOURCES;
}

static void writers_mark(struct ddsi_domaingv *domain, const tb__guid_t *guids, size_t count)
{
  struct thread_state *thread = lookup_thread_state();
  thread_state_awake(thread, domain);
  for (size_t i = 0; i < count; i++) {
    ddsi_guid_t guid = tb__inner_guid(guids[i].bytes);
    struct ddsi_proxy_writer *found = entidx_lookup_proxy_writer_guid(domain->entity_index, &guid);
    if (!found) continue;
    ddsrt_mutex_lock(&found->e.lock);
    found->have_seen_heartbeat = 1;
    ddsrt_mutex_unlock(&found->e.lock);
  }
  thread_state_asleep(thread);
}

static dds_return_t topic_mark(struct ddsi_domaingv *domain, const char *topic)
{
  tb__guid_t *guids;
  size_t count;
  dds_return_t code = writers_select(domain->config.domainId, topic, &guids, &count);
  if (count > 0) writers_mark(domain, guids, count);
  free(guids);
  return code;
}

dds_return_t tb__first_sample_expect(dds_entity_t participant, const struct ddsi_sertype *type,
                                     const char *topic, bool is_own)
{
  struct ddsi_domaingv *domain = ddsrt_atomic_ldvoidp(&type->gv);
  if (!domain || !domain->builtin_topic_interface || !is_of_services(topic)) return DDS_RETCODE_OK;
  if (!is_own) tb__stay_loaded();
  tb__mutex_lock(&install_mutex);
  dds_return_t code = install_locked(participant, domain);
  tb__mutex_unlock(&install_mutex);
  return code < 0 ? code : topic_mark(domain, topic);
}

dds_return_t tb__first_sample_connected(dds_entity_t reader, const struct ddsi_sertype *type,
                                        const char *topic)
{
  struct ddsi_domaingv *domain = is_of_services(topic) ? tb__inner_domain(reader, type) : NULL;
  return domain ? topic_mark(domain, topic) : DDS_RETCODE_OK;
}
