#include "ros2/graph_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dds/vendor.h"

typedef struct found_node {
  const tb__graph_participant_t *participant;
  const tb__node_entities_info_t *node;
  size_t first_claim, claim_count;
  size_t unseen_count; /* announced endpoints that do not exist here */
} found_node_t;

typedef struct found_endpoint {
  const tb_ros2_graph_endpoint_t *shown;
  size_t place; /* index in the model */
  int32_t node; /* the first that lists it */
} found_endpoint_t;

/* What is shown, ordered, before it is copied. */
typedef struct found {
  const tb__graph_participant_t **participants;
  size_t participant_count;
  found_node_t *nodes;
  size_t node_count;
  found_endpoint_t *endpoints;
  size_t endpoint_count;
  uint32_t *positions; /* in `endpoints`, of the model's endpoints by their index there */
  uint32_t *claims;    /* of each node in turn: positions, rising */
  size_t claim_count;
} found_t;

#define NOT_SHOWN UINT32_MAX

static const char *prefix_of(const tb__node_entities_info_t *node)
{
  return strcmp(node->node_namespace, "/") == 0 ? "" : node->node_namespace;
}

/* Compares the full names: a shorter namespace is followed by '/' and the name. */
static int full_name_compare(const tb__node_entities_info_t *a, const tb__node_entities_info_t *b)
{
  const char *parts_a[] = {prefix_of(a), "/", a->node_name};
  const char *parts_b[] = {prefix_of(b), "/", b->node_name};
  const char *at_a = parts_a[0], *at_b = parts_b[0];
  int i = 0, k = 0;
  for (;;) {
    while (*at_a == '\0' && i < 2)
      at_a = parts_a[++i];
    while (*at_b == '\0' && k < 2)
      at_b = parts_b[++k];
    if (*at_a != *at_b) return (unsigned char)*at_a < (unsigned char)*at_b ? -1 : 1;
    if (*at_a == '\0') return 0;
    at_a++;
    at_b++;
  }
}

static int node_compare(const void *a, const void *b)
{
  const found_node_t *left = a, *right = b;
  int order = full_name_compare(left->node, right->node);
  if (order == 0) order = tb__guid_compare(&left->participant->guid, &right->participant->guid);
  if (order == 0) order = (left->node > right->node) - (left->node < right->node);
  return order;
}

static int endpoint_compare(const void *a, const void *b)
{
  const tb_ros2_graph_endpoint_t *left = ((const found_endpoint_t *)a)->shown;
  const tb_ros2_graph_endpoint_t *right = ((const found_endpoint_t *)b)->shown;
  int order = (left->kind > right->kind) - (left->kind < right->kind);
  if (order == 0) order = strcmp(left->name, right->name);
  if (order == 0) order = right->is_publisher - left->is_publisher;
  if (order == 0) order = strcmp(left->type, right->type);
  return order ? order : memcmp(left->guid, right->guid, sizeof left->guid);
}

/* Those that DDS has reported; the model has them in their order. */
static void participants_find(const tb__graph_model_t *model, found_t *found)
{
  for (size_t i = 0; i < model->participant_count; i++)
    if (model->participants[i].is_known)
      found->participants[found->participant_count++] = &model->participants[i];
}

static void nodes_find(const tb__graph_model_t *model, found_t *found)
{
  for (size_t i = 0; i < model->participant_count; i++) {
    const tb__graph_participant_t *participant = &model->participants[i];
    const tb__node_entities_info_t *nodes = NULL;
    size_t count = tb__graph_participant_nodes(participant, &nodes);
    for (size_t n = 0; n < count; n++)
      found->nodes[found->node_count++] =
          (found_node_t){.participant = participant, .node = &nodes[n]};
  }
  if (found->node_count > 1)
    qsort(found->nodes, found->node_count, sizeof *found->nodes, node_compare);
}

static void endpoints_find(const tb__graph_model_t *model, found_t *found)
{
  for (size_t i = 0; i < model->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *shown = &model->endpoints[i]->shown;
    found->positions[i] = NOT_SHOWN;
    tb__guid_t participant = tb__guid_of(shown->participant_guid);
    if (tb__graph_model_find(model, &participant))
      found->endpoints[found->endpoint_count++] = (found_endpoint_t){shown, i, -1};
  }
  if (found->endpoint_count > 1)
    qsort(found->endpoints, found->endpoint_count, sizeof *found->endpoints, endpoint_compare);
  for (size_t i = 0; i < found->endpoint_count; i++)
    found->positions[found->endpoints[i].place] = (uint32_t)i;
}

/* Adds the listed endpoints that exist and belong to the participant. Returns how many do not
 * exist. */
static size_t claims_add(const tb__graph_model_t *model, found_t *found,
                         const tb__graph_participant_t *participant, const tb__gids_t *gids,
                         bool is_publisher)
{
  size_t unseen = 0;
  for (size_t i = 0; i < gids->count; i++) {
    tb__guid_t guid = tb__guid_of(gids->items[i].data);
    size_t at = tb__graph_model_endpoint_find(model, &guid);
    unseen += at == model->endpoint_count;
    if (at == model->endpoint_count || found->positions[at] == NOT_SHOWN) continue;
    const tb_ros2_graph_endpoint_t *shown = &model->endpoints[at]->shown;
    if (shown->is_publisher == is_publisher &&
        tb__guid_is(&participant->guid, shown->participant_guid))
      found->claims[found->claim_count++] = found->positions[at];
  }
  return unseen;
}

static int position_compare(const void *a, const void *b)
{
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

/* Sorts, removes duplicates, and returns how many are left. */
static size_t sort_unique(uint32_t *positions, size_t count)
{
  size_t kept = 0;
  if (count > 1) qsort(positions, count, sizeof *positions, position_compare);
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || positions[kept - 1] != positions[i]) positions[kept++] = positions[i];
  }
  return kept;
}

/* Nodes of one participant may share an endpoint, as ours do with the subscription of /clock. */
static void claims_find(const tb__graph_model_t *model, found_t *found)
{
  for (size_t i = 0; i < found->node_count; i++) {
    found_node_t *node = &found->nodes[i];
    node->first_claim = found->claim_count;
    node->unseen_count =
        claims_add(model, found, node->participant, &node->node->writer_gid_seq, true) +
        claims_add(model, found, node->participant, &node->node->reader_gid_seq, false);
    uint32_t *claims = found->claims + node->first_claim;
    node->claim_count = sort_unique(claims, found->claim_count - node->first_claim);
    found->claim_count = node->first_claim + node->claim_count;
    for (size_t n = 0; n < node->claim_count; n++) {
      found_endpoint_t *endpoint = &found->endpoints[claims[n]];
      if (endpoint->node < 0) endpoint->node = (int32_t)i;
    }
  }
}

static void found_fini(found_t *found)
{
  free(found->participants);
  free(found->nodes);
  free(found->endpoints);
  free(found->positions);
  free(found->claims);
}

static tb_status_t found_init(found_t *found, const tb__graph_model_t *model)
{
  size_t node_count = 0, gid_count = 0;
  for (size_t i = 0; i < model->participant_count; i++) {
    const tb__node_entities_info_t *nodes = NULL;
    size_t count = tb__graph_participant_nodes(&model->participants[i], &nodes);
    for (size_t n = 0; n < count; n++)
      gid_count += nodes[n].reader_gid_seq.count + nodes[n].writer_gid_seq.count;
    node_count += count;
  }
  *found = (found_t){
      .participants = calloc(model->participant_count + 1, sizeof(*found->participants)),
      .nodes = calloc(node_count + 1, sizeof *found->nodes),
      .endpoints = calloc(model->endpoint_count + 1, sizeof *found->endpoints),
      .positions = calloc(model->endpoint_count + 1, sizeof *found->positions),
      .claims = calloc(gid_count + 1, sizeof *found->claims),
  };
  if (!found->participants || !found->nodes || !found->endpoints || !found->positions ||
      !found->claims) {
    found_fini(found);
    return TB_ERR_NO_MEMORY;
  }
  participants_find(model, found);
  nodes_find(model, found);
  endpoints_find(model, found);
  claims_find(model, found);
  return TB_OK;
}

static size_t text_size(const found_t *found)
{
  size_t size = TB__SEEN_ADDRESSES_SIZE; /* our own */
  for (size_t i = 0; i < found->node_count; i++) {
    const tb__node_entities_info_t *node = found->nodes[i].node;
    size += 2 * (strlen(node->node_name) + strlen(node->node_namespace)) + 4;
    size += strlen(found->nodes[i].participant->enclave) + 1 + TB__VENDOR_NAME_SIZE;
  }
  for (size_t i = 0; i < found->participant_count; i++) {
    const tb__graph_participant_t *participant = found->participants[i];
    size += TB__VENDOR_NAME_SIZE + strlen(participant->addresses) + 1;
    size += participant->enclave ? strlen(participant->enclave) + 1 : 0;
    size += strlen(participant->host_name) + 1;
  }
  for (size_t i = 0; i < found->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *shown = found->endpoints[i].shown;
    size += strlen(shown->name) + strlen(shown->type) + 2;
    size += shown->type_hash ? strlen(shown->type_hash) + 1 : 0;
  }
  return size;
}

static const char *text_copy(char **at, const char *text)
{
  size_t size = strlen(text) + 1;
  char *copy = memcpy(*at, text, size);
  *at += size;
  return copy;
}

static const char *middleware_copy(char **at, const tb__guid_t *guid)
{
  char name[TB__VENDOR_NAME_SIZE];
  tb__vendor_name(guid->bytes, name);
  return text_copy(at, name);
}

static void participant_fill(const tb__graph_model_t *model,
                             const tb__graph_participant_t *participant, const tb__guid_t *own,
                             char **at, tb_ros2_graph_participant_t *out)
{
  tb__guid_copy(&participant->guid, out->guid);
  out->middleware = middleware_copy(at, &participant->guid);
  out->enclave = participant->enclave ? text_copy(at, participant->enclave) : NULL;
  out->is_own = tb__guid_equal(&participant->guid, own);
  out->addresses = text_copy(at, out->is_own ? model->interfaces : participant->addresses);
  out->host_name = participant->host_name[0] ? text_copy(at, participant->host_name) : NULL;
  out->process_id = participant->process_id;
  out->state = tb__graph_participant_state(model, participant);
  if (out->is_own && out->state == TB_ROS2_PARTICIPANT_AWAITED)
    out->state = TB_ROS2_PARTICIPANT_NO_NODES; /* its announcement is on its way through DDS */
}

static void node_fill(const found_node_t *found, const tb__guid_t *own, char **at,
                      tb_ros2_graph_node_t *out)
{
  const tb__node_entities_info_t *node = found->node;
  out->name = text_copy(at, node->node_name);
  out->name_space = text_copy(at, node->node_namespace);
  out->full_name = *at;
  size_t size = strlen(prefix_of(node)) + strlen(node->node_name) + 2;
  snprintf(*at, size, "%s/%s", prefix_of(node), node->node_name);
  *at += size;
  out->enclave = text_copy(at, found->participant->enclave);
  out->distro = found->participant->is_humble ? TB_ROS2_DISTRO_HUMBLE : TB_ROS2_DISTRO_JAZZY;
  out->is_own = tb__guid_equal(&found->participant->guid, own);
  out->middleware = middleware_copy(at, &found->participant->guid);
  tb__guid_copy(&found->participant->guid, out->participant_guid);
  out->unseen_count = found->unseen_count;
}

static void endpoint_fill(const found_endpoint_t *found, char **at, tb_ros2_graph_endpoint_t *out)
{
  *out = *found->shown;
  out->name = text_copy(at, found->shown->name);
  out->type = text_copy(at, found->shown->type);
  if (found->shown->type_hash) out->type_hash = text_copy(at, found->shown->type_hash);
  out->node = found->node;
}

/* Room for all of it, in the order of alignment. */
typedef struct block {
  tb_ros2_graph_snapshot_t *snapshot;
  tb_ros2_graph_participant_t *participants;
  tb_ros2_graph_node_t *nodes;
  tb_ros2_graph_endpoint_t *endpoints;
  uint32_t *indexes;
  char *text;
} block_t;

static bool block_make(const found_t *found, block_t *out)
{
  size_t participants = found->participant_count * sizeof *out->participants;
  size_t nodes = found->node_count * sizeof *out->nodes;
  size_t endpoints = found->endpoint_count * sizeof *out->endpoints;
  size_t indexes = found->claim_count * sizeof *out->indexes;
  size_t lists = participants + nodes + endpoints + indexes;
  char *at = calloc(1, sizeof *out->snapshot + lists + text_size(found));
  if (!at) return false;
  out->snapshot = (tb_ros2_graph_snapshot_t *)(void *)at;
  at += sizeof *out->snapshot;
  out->participants = (tb_ros2_graph_participant_t *)(void *)at;
  at += participants;
  out->nodes = (tb_ros2_graph_node_t *)(void *)at;
  at += nodes;
  out->endpoints = (tb_ros2_graph_endpoint_t *)(void *)at;
  at += endpoints;
  out->indexes = (uint32_t *)(void *)at;
  out->text = at + indexes;
  return true;
}

static void block_fill(const tb__graph_model_t *model, const found_t *found, const tb__guid_t *own,
                       block_t *block)
{
  char *at = block->text;
  for (size_t i = 0; i < found->participant_count; i++)
    participant_fill(model, found->participants[i], own, &at, &block->participants[i]);
  for (size_t i = 0; i < found->node_count; i++) {
    node_fill(&found->nodes[i], own, &at, &block->nodes[i]);
    block->nodes[i].endpoints = block->indexes + found->nodes[i].first_claim;
    block->nodes[i].endpoint_count = found->nodes[i].claim_count;
    if (i == 0 || strcmp(block->nodes[i].full_name, block->nodes[i - 1].full_name) != 0) continue;
    block->nodes[i - 1].is_duplicate = block->nodes[i].is_duplicate = true;
  }
  for (size_t i = 0; i < found->endpoint_count; i++)
    endpoint_fill(&found->endpoints[i], &at, &block->endpoints[i]);
  if (found->claim_count > 0)
    memcpy(block->indexes, found->claims, found->claim_count * sizeof *block->indexes);
}

static size_t awaited_count(const block_t *block, size_t count)
{
  size_t awaited = 0;
  for (size_t i = 0; i < count; i++) {
    const tb_ros2_graph_participant_t *participant = &block->participants[i];
    awaited += participant->state == TB_ROS2_PARTICIPANT_AWAITED;
  }
  return awaited;
}

tb_status_t tb__graph_snapshot_build(const tb__graph_model_t *model, const tb__guid_t *own,
                                     uint32_t change, tb_ros2_graph_snapshot_t **out)
{
  found_t found;
  block_t block;
  tb_status_t status = found_init(&found, model);
  if (status) return status;
  if (block_make(&found, &block)) {
    block_fill(model, &found, own, &block);
    *block.snapshot = (tb_ros2_graph_snapshot_t){
        .change = change,
        .nodes = block.nodes,
        .node_count = found.node_count,
        .endpoints = block.endpoints,
        .endpoint_count = found.endpoint_count,
        .malformed = model->malformed,
        .foreign = model->foreign,
        .participants = block.participants,
        .participant_count = found.participant_count,
        .awaited_count = awaited_count(&block, found.participant_count),
    };
    *out = block.snapshot;
  } else {
    status = TB_ERR_NO_MEMORY;
  }
  found_fini(&found);
  return status;
}
