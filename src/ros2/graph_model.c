#include "ros2/graph_model.h"

#include <stdlib.h>
#include <string.h>

#include "dds/vendor.h"
#include "ros2/service_pair.h"
#include "wire/demangle.h"

#define GUID_PREFIX         12
#define UNKNOWN_MAX         64 /* participants that have announced nodes before DDS reported them */
#define TYPE_HASH_LENGTH    71 /* "RIHS01_" and 64 digits */
#define DISCOVERY_INFO_NAME "ros_discovery_info"

static void participant_fini(tb__graph_participant_t *participant)
{
  free(participant->enclave);
  free(participant->addresses);
  free(participant->info);
}

void tb__graph_model_fini(tb__graph_model_t *model)
{
  for (size_t i = 0; i < model->participant_count; i++)
    participant_fini(&model->participants[i]);
  for (size_t i = 0; i < model->endpoint_count; i++)
    free(model->endpoints[i]);
  free(model->participants);
  free(model->endpoints);
}

/* The index of the participant, or where to insert it. */
static size_t participant_place(const tb__graph_model_t *model, const tb__guid_t *guid,
                                bool *out_found)
{
  size_t low = 0, high = model->participant_count;
  *out_found = false;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = tb__guid_compare(&model->participants[middle].guid, guid);
    if (order == 0) {
      *out_found = true;
      return middle;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static size_t endpoint_place(const tb__graph_model_t *model, const tb__guid_t *guid,
                             bool *out_found)
{
  size_t low = 0, high = model->endpoint_count;
  *out_found = false;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = memcmp(model->endpoints[middle]->shown.guid, guid->bytes, sizeof guid->bytes);
    if (order == 0) {
      *out_found = true;
      return middle;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const tb__graph_participant_t *tb__graph_model_find(const tb__graph_model_t *model,
                                                    const tb__guid_t *guid)
{
  bool found;
  size_t at = participant_place(model, guid, &found);
  return found && model->participants[at].is_known ? &model->participants[at] : NULL;
}

size_t tb__graph_model_endpoint_find(const tb__graph_model_t *model, const tb__guid_t *guid)
{
  bool found;
  size_t at = endpoint_place(model, guid, &found);
  return found ? at : model->endpoint_count;
}

static void participant_remove(tb__graph_model_t *model, size_t at)
{
  tb__graph_participant_t *participant = &model->participants[at];
  if (!participant->is_known) model->unknown_count--;
  participant_fini(participant);
  model->participant_count--;
  memmove(participant, participant + 1, (model->participant_count - at) * sizeof *participant);
}

/* Participants that DDS never reported are removed to make room. */
static void limit_unknown(tb__graph_model_t *model)
{
  for (size_t i = 0; model->unknown_count >= UNKNOWN_MAX && i < model->participant_count; i++) {
    if (!model->participants[i].is_known) participant_remove(model, i);
  }
}

/* The participant with the GUID, a new unknown one if there is none. NULL: out of memory. */
static tb__graph_participant_t *participant_take(tb__graph_model_t *model, const tb__guid_t *guid)
{
  bool found;
  size_t at = participant_place(model, guid, &found);
  if (found) return &model->participants[at];
  limit_unknown(model);
  at = participant_place(model, guid, &found);
  tb__graph_participant_t *grown =
      realloc(model->participants, (model->participant_count + 1) * sizeof *grown);
  if (!grown) return NULL;
  model->participants = grown;
  memmove(grown + at + 1, grown + at, (model->participant_count - at) * sizeof *grown);
  grown[at] = (tb__graph_participant_t){.guid = *guid};
  model->participant_count++;
  model->unknown_count++;
  return &grown[at];
}

tb_status_t tb__graph_model_participant(tb__graph_model_t *model,
                                        const tb__seen_participant_t *seen)
{
  bool found;
  if (seen->is_gone) {
    size_t at = participant_place(model, &seen->guid, &found);
    if (found) participant_remove(model, at);
    return TB_OK;
  }
  char value[TB__SEEN_USER_DATA_SIZE], *enclave = NULL;
  bool is_ros = tb__user_data_value(seen->user_data, "enclave", value, sizeof value);
  char *addresses = strdup(seen->addresses);
  if (is_ros) enclave = strdup(value);
  tb__graph_participant_t *participant = NULL;
  if (addresses && (enclave || !is_ros)) participant = participant_take(model, &seen->guid);
  if (!participant) {
    free(addresses);
    free(enclave);
    return TB_ERR_NO_MEMORY;
  }
  free(participant->enclave);
  free(participant->addresses);
  participant->enclave = enclave;
  participant->addresses = addresses;
  participant->is_ros = is_ros;
  memcpy(participant->host_name, seen->host_name, sizeof participant->host_name);
  participant->process_id = seen->process_id;
  if (!participant->is_known) model->unknown_count--;
  participant->is_known = true;
  return TB_OK;
}

static char *text_add(char **at, const char *text, size_t size)
{
  char *start = *at;
  memcpy(start, text, size);
  *at += size;
  return start;
}

static tb__graph_endpoint_t *endpoint_make(const tb__seen_endpoint_t *seen)
{
  char name[TB__DDS_NAME_SIZE], type[TB__DDS_NAME_SIZE], hash[TYPE_HASH_LENGTH + 1];
  tb_ros2_endpoint_kind_t kind = tb__topic_name_demangle(seen->topic, name);
  const char *shown_name = kind == TB_ROS2_ENDPOINT_DDS ? seen->topic : name;
  const char *shown_type = tb__type_name_demangle(seen->type, kind, type) ? type : seen->type;
  bool has_hash = tb__user_data_value(seen->user_data, "typehash", hash, sizeof hash) &&
                  strlen(hash) == TYPE_HASH_LENGTH && strncmp(hash, "RIHS01_", 7) == 0 &&
                  strspn(hash + 7, "0123456789abcdef") == TYPE_HASH_LENGTH - 7;
  size_t name_size = strlen(shown_name) + 1, type_size = strlen(shown_type) + 1;
  tb__graph_endpoint_t *endpoint =
      calloc(1, sizeof *endpoint + name_size + type_size + sizeof hash);
  if (!endpoint) return NULL;
  char *at = endpoint->text;
  endpoint->shown = (tb_ros2_graph_endpoint_t){
      .kind = kind,
      .is_publisher = seen->is_writer,
      .name = text_add(&at, shown_name, name_size),
      .type = text_add(&at, shown_type, type_size),
      .type_hash = has_hash ? text_add(&at, hash, sizeof hash) : NULL,
      .qos = seen->qos,
      .dds_qos = seen->dds_qos,
      .node = -1,
  };
  endpoint->shown.qos.avoid_ros_namespace_conventions = kind == TB_ROS2_ENDPOINT_DDS;
  endpoint->shown.qos.has_key = tb__guid_is_keyed(seen->guid.bytes);
  tb__guid_copy(&seen->guid, endpoint->shown.guid);
  tb__guid_copy(&seen->participant_guid, endpoint->shown.participant_guid);
  return endpoint;
}

static bool is_info_writer(const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->is_publisher && endpoint->kind == TB_ROS2_ENDPOINT_DDS &&
         strcmp(endpoint->name, DISCOVERY_INFO_NAME) == 0;
}

/* Whether a participant that DDS has reported or that has announced nodes still has the writer of
 * announcements, as far as is known. */
static void set_withdrawn(tb__graph_model_t *model, const tb_ros2_graph_endpoint_t *endpoint,
                          bool is_withdrawn)
{
  bool found;
  if (!is_info_writer(endpoint)) return;
  tb__guid_t guid = tb__guid_of(endpoint->participant_guid);
  size_t at = participant_place(model, &guid, &found);
  if (found) model->participants[at].is_withdrawn = is_withdrawn;
}

/* A participant whose announcing endpoint is gone has no nodes any more. */
static void info_forget(tb__graph_model_t *model, const tb__guid_t *writer)
{
  for (size_t i = 0; i < model->participant_count; i++) {
    tb__graph_participant_t *participant = &model->participants[i];
    if (!participant->info || !tb__guid_equal(&participant->info_writer, writer)) continue;
    free(participant->info);
    participant->info = NULL;
  }
}

static void endpoint_remove(tb__graph_model_t *model, const tb__guid_t *guid)
{
  bool found;
  size_t at = endpoint_place(model, guid, &found);
  if (!found) return;
  tb__graph_endpoint_t **place = &model->endpoints[at];
  if (strcmp((*place)->shown.name, DISCOVERY_INFO_NAME) == 0) info_forget(model, guid);
  set_withdrawn(model, &(*place)->shown, true);
  free(*place);
  model->endpoint_count--;
  memmove(place, place + 1, (model->endpoint_count - at) * sizeof(*place));
}

tb_status_t tb__graph_model_endpoint(tb__graph_model_t *model, const tb__seen_endpoint_t *seen)
{
  if (seen->is_gone) {
    endpoint_remove(model, &seen->guid);
    return TB_OK;
  }
  bool found;
  size_t at = endpoint_place(model, &seen->guid, &found);
  tb__graph_endpoint_t *endpoint = endpoint_make(seen);
  if (!endpoint) return TB_ERR_NO_MEMORY;
  set_withdrawn(model, &endpoint->shown, false);
  if (found) {
    free(model->endpoints[at]);
    model->endpoints[at] = endpoint;
    return TB_OK;
  }
  tb__graph_endpoint_t **grown =
      realloc(model->endpoints, (model->endpoint_count + 1) * sizeof(*grown));
  if (!grown) {
    free(endpoint);
    return TB_ERR_NO_MEMORY;
  }
  model->endpoints = grown;
  memmove(grown + at + 1, grown + at, (model->endpoint_count - at) * sizeof(*grown));
  grown[at] = endpoint;
  model->endpoint_count++;
  return TB_OK;
}

static bool has_ros_names(const tb__participant_entities_info_t *info)
{
  char normal[TB__DDS_NAME_SIZE];
  for (size_t i = 0; i < info->node_entities_info_seq.count; i++) {
    const tb__node_entities_info_t *node = &info->node_entities_info_seq.items[i];
    if (tb__node_name_check(node->node_name, NULL) != TB_OK ||
        tb__namespace_normalize(node->node_namespace, normal, NULL) != TB_OK ||
        strcmp(normal, node->node_namespace) != 0)
      return false;
  }
  return true;
}

/* The participant that has this endpoint. */
static tb__guid_t owner_of(const tb__guid_t *endpoint)
{
  static const uint8_t participant_entity[TB__GUID_SIZE - GUID_PREFIX] = {0, 0, 1, 0xc1};
  tb__guid_t owner = *endpoint;
  memcpy(owner.bytes + GUID_PREFIX, participant_entity, sizeof participant_entity);
  return owner;
}

/* A participant that announces what is ignored is not waited for any longer. */
static void info_refuse(tb__graph_model_t *model, const tb__guid_t *writer, uint64_t *counter)
{
  bool found;
  tb__guid_t owner = owner_of(writer);
  size_t at = participant_place(model, &owner, &found);
  ++*counter;
  if (found) model->participants[at].is_unreadable = true;
}

tb_status_t tb__graph_model_info(tb__graph_model_t *model, const tb__guid_t *writer,
                                 const void *cdr, size_t size)
{
  static const tb__guid_t zeros;
  tb__participant_entities_info_t *info;
  bool is_humble;
  if (tb__guid_equal(writer, &zeros)) return TB_OK;
  tb_status_t status = tb__participant_entities_info_decode(cdr, size, &info, &is_humble);
  if (status == TB_ERR_NO_MEMORY) return status;
  if (status) {
    info_refuse(model, writer, &model->malformed);
    return TB_OK;
  }
  tb__guid_t guid = owner_of(writer);
  bool is_own = tb__guid_is(&guid, info->gid.data);
  bool is_valid = has_ros_names(info);
  if (!is_own || !is_valid)
    info_refuse(model, writer, is_own ? &model->malformed : &model->foreign);
  tb__graph_participant_t *participant = is_own && is_valid ? participant_take(model, &guid) : NULL;
  if (!participant) {
    free(info);
    return is_own && is_valid ? TB_ERR_NO_MEMORY : TB_OK;
  }
  free(participant->info);
  participant->info = info;
  participant->is_unreadable = false;
  participant->is_humble = is_humble;
  participant->info_writer = *writer;
  return TB_OK;
}

/* GUIDs of one participant differ only in their last bytes, so its endpoints follow one another. */
static bool has_info_writer(const tb__graph_model_t *model, const tb__guid_t *participant)
{
  bool found;
  tb__guid_t first = *participant;
  memset(first.bytes + GUID_PREFIX, 0, TB__GUID_SIZE - GUID_PREFIX);
  for (size_t i = endpoint_place(model, &first, &found); i < model->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &model->endpoints[i]->shown;
    if (memcmp(endpoint->guid, participant->bytes, GUID_PREFIX) != 0) return false;
    if (is_info_writer(endpoint)) return true;
  }
  return false;
}

/* A participant without a node never makes the writer of an announcement. Among participants of
 * Cyclone DDS the endpoints arrive at once; those of others are discovered late. */
tb_ros2_participant_state_t tb__graph_participant_state(const tb__graph_model_t *model,
                                                        const tb__graph_participant_t *participant)
{
  if (!participant->is_ros || participant->is_withdrawn) return TB_ROS2_PARTICIPANT_NO_NODES;
  if (participant->info) return TB_ROS2_PARTICIPANT_ANNOUNCED;
  if (participant->is_unreadable) return TB_ROS2_PARTICIPANT_UNREADABLE;
  bool may_have_writer = !participant->is_discovered && !tb__vendor_is_own(participant->guid.bytes);
  bool will_announce = may_have_writer || has_info_writer(model, &participant->guid);
  return will_announce ? TB_ROS2_PARTICIPANT_AWAITED : TB_ROS2_PARTICIPANT_NO_NODES;
}

bool tb__graph_model_next_undiscovered(const tb__graph_model_t *model, size_t *at,
                                       tb__guid_t *out_guid)
{
  while (*at < model->participant_count) {
    const tb__graph_participant_t *participant = &model->participants[(*at)++];
    if (!participant->is_known || participant->is_discovered ||
        tb__graph_participant_state(model, participant) != TB_ROS2_PARTICIPANT_AWAITED ||
        has_info_writer(model, &participant->guid))
      continue;
    *out_guid = participant->guid;
    return true;
  }
  return false;
}

void tb__graph_model_discovered(tb__graph_model_t *model, const tb__guid_t *guid)
{
  bool found;
  size_t at = participant_place(model, guid, &found);
  if (found) model->participants[at].is_discovered = true;
}

size_t tb__graph_participant_nodes(const tb__graph_participant_t *participant,
                                   const tb__node_entities_info_t **out)
{
  if (!participant->is_known || !participant->is_ros || !participant->info) return 0;
  *out = participant->info->node_entities_info_seq.items;
  return participant->info->node_entities_info_seq.count;
}

static bool is_named(const tb__node_entities_info_t *node, const char *full_name)
{
  size_t length = strcmp(node->node_namespace, "/") == 0 ? 0 : strlen(node->node_namespace);
  return strncmp(full_name, node->node_namespace, length) == 0 && full_name[length] == '/' &&
         strcmp(full_name + length + 1, node->node_name) == 0;
}

bool tb__graph_model_has_node(const tb__graph_model_t *model, const char *full_name)
{
  for (size_t i = 0; i < model->participant_count; i++) {
    const tb__node_entities_info_t *nodes = NULL;
    size_t count = tb__graph_participant_nodes(&model->participants[i], &nodes);
    for (size_t n = 0; n < count; n++) {
      if (is_named(&nodes[n], full_name)) return true;
    }
  }
  return false;
}
