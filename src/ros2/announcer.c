#include "ros2/announcer.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "wire/type_hash.h"

#define TOPIC "ros_discovery_info"
#define TYPE  "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"

void tb__announcer_init(tb__announcer_t *announcer, tb__participant_t *participant, bool humble)
{
  *announcer = (tb__announcer_t){.participant = participant, .humble = humble};
  tb__mutex_init(&announcer->mutex);
}

void tb__announcer_fini(tb__announcer_t *announcer)
{
  tb__raw_writer_destroy(announcer->writer);
  tb__mutex_fini(&announcer->mutex);
}

static tb_status_t writer_open(tb__announcer_t *announcer, tb_error_t *error)
    TB_REQUIRES(announcer->mutex)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  char user_data[TB__USER_DATA_SIZE] = "";
  if (announcer->writer) return TB_OK;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.depth = 1;
  if (!announcer->humble)
    tb__type_hash_user_data("rmw_dds_common/msg/ParticipantEntitiesInfo", user_data);
  tb__endpoint_options_t options = {
      .topic = TOPIC, .type = TYPE, .qos = &qos, .user_data = user_data};
  return tb__raw_writer_create(announcer->participant, &options, &announcer->writer, error);
}

static size_t node_count(const tb__announcer_t *announcer) TB_REQUIRES(announcer->mutex)
{
  size_t count = 0;
  for (const tb__announced_node_t *node = announcer->nodes; node; node = node->next)
    count++;
  return count;
}

static tb_status_t publish(tb__announcer_t *announcer, tb_error_t *error)
    TB_REQUIRES(announcer->mutex)
{
  tb__participant_entities_info_t info = {0};
  uint8_t *cdr = NULL;
  size_t size;
  size_t count = node_count(announcer), i = 0;
  tb__node_entities_info_t *nodes = calloc(count + 1, sizeof *nodes);
  tb_status_t status = nodes ? TB_OK : TB_ERR_NO_MEMORY;
  if (status) goto done;
  for (const tb__announced_node_t *node = announcer->nodes; node; node = node->next)
    nodes[i++] = (tb__node_entities_info_t){
        .node_namespace = node->name_space,
        .node_name = node->name,
        .reader_gid_seq = {node->readers.items, node->readers.count},
        .writer_gid_seq = {node->writers.items, node->writers.count},
    };
  tb__guid_t guid = tb__participant_guid(announcer->participant);
  tb__guid_copy(&guid, info.gid.data);
  info.node_entities_info_seq.items = nodes;
  info.node_entities_info_seq.count = count;
  status = tb__cdr_encode(announcer->humble ? &tb__participant_entities_info_humble_type
                                            : &tb__participant_entities_info_type,
                          &info, false, &cdr, &size);
done:
  status = !status ? tb__raw_writer_write(announcer->writer, cdr, size, error)
                   : tb_error_set(error, status, TOPIC ": %s", tb_status_message(status));
  free(cdr);
  free(nodes);
  return status;
}

/* After a removal, which cannot fail: the next change corrects the announcement. The log hook may
 * use nodes, so no lock is held. */
static void log_failure(tb_status_t status, const tb_error_t *error)
{
  if (!status) return;
  tb__log(TB_LOG_WARN,
          "%s; until the next change, nodes or endpoints that are gone remain visible on the graph",
          error->text);
}

void tb__announced_node_init(tb__announced_node_t *node, tb__announcer_t *announcer,
                             const char *name, const char *name_space)
{
  *node = (tb__announced_node_t){.announcer = announcer, .name = name, .name_space = name_space};
}

static void node_unlink(tb__announcer_t *announcer, tb__announced_node_t *node)
    TB_REQUIRES(announcer->mutex)
{
  TB__CHAIN_REMOVE(announcer->nodes, node);
  node->is_announced = false;
}

tb_status_t tb__announced_node_report(tb__announced_node_t *node, tb_error_t *error)
{
  tb__announcer_t *announcer = node->announcer;
  tb__mutex_lock(&announcer->mutex);
  tb_status_t status = writer_open(announcer, error);
  if (!status) {
    TB__CHAIN_APPEND(announcer->nodes, node);
    node->is_announced = true;
    status = publish(announcer, error);
    if (status) node_unlink(announcer, node);
  }
  tb__mutex_unlock(&announcer->mutex);
  return status;
}

void tb__announced_node_withdraw(tb__announced_node_t *node)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = TB_OK;
  tb__announcer_t *announcer = node->announcer;
  if (tb__is_forked() || !announcer) return;
  tb__mutex_lock(&announcer->mutex);
  if (node->is_announced) {
    node_unlink(announcer, node);
    status = publish(announcer, &error);
  }
  tb__mutex_unlock(&announcer->mutex);
  log_failure(status, &error);
}

void tb__announced_node_fini(tb__announced_node_t *node)
{
  free(node->readers.items);
  free(node->writers.items);
}

static bool list_add(tb__gid_list_t *list, const tb__guid_t *guid)
{
  if (list->count == list->size) {
    size_t size = list->size ? 2 * list->size : 8;
    tb__gid_t *items = realloc(list->items, size * sizeof *items);
    if (!items) return false;
    list->items = items;
    list->size = size;
  }
  list->items[list->count] = (tb__gid_t){{0}};
  tb__guid_copy(guid, list->items[list->count++].data);
  return true;
}

static void list_remove(tb__gid_list_t *list, const tb__guid_t *guid)
{
  size_t i = 0;
  while (i < list->count && !tb__guid_is(guid, list->items[i].data))
    i++;
  if (i == list->count) return;
  list->count--;
  memmove(&list->items[i], &list->items[i + 1], (list->count - i) * sizeof *list->items);
}

static bool endpoints_list(const tb__announced_t *endpoints)
{
  tb__announced_node_t *node = endpoints->node;
  if (endpoints->has_reader && !list_add(&node->readers, &endpoints->reader)) return false;
  return !endpoints->has_writer || list_add(&node->writers, &endpoints->writer);
}

static void endpoints_unlist(const tb__announced_t *endpoints)
{
  tb__announced_node_t *node = endpoints->node;
  if (endpoints->has_reader) list_remove(&node->readers, &endpoints->reader);
  if (endpoints->has_writer) list_remove(&node->writers, &endpoints->writer);
}

tb_status_t tb__announced_add(tb__announced_t *endpoints, tb__announced_node_t *node,
                              const tb__guid_t *reader, const tb__guid_t *writer, tb_error_t *error)
{
  tb__announcer_t *announcer = node->announcer;
  tb__announced_t added = {.node = node, .has_reader = reader, .has_writer = writer};
  tb_status_t status = TB_OK;
  if (reader) added.reader = *reader;
  if (writer) added.writer = *writer;
  tb__mutex_lock(&announcer->mutex);
  if (!endpoints_list(&added))
    status = tb_error_set(error, TB_ERR_NO_MEMORY, TOPIC ": out of memory");
  else if (node->is_announced)
    status = publish(announcer, error);
  if (status) endpoints_unlist(&added);
  tb__mutex_unlock(&announcer->mutex);
  if (!status) *endpoints = added;
  return status;
}

void tb__announced_remove(tb__announced_t *endpoints)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = TB_OK;
  if (!endpoints->node || tb__is_forked()) return;
  tb__announcer_t *announcer = endpoints->node->announcer;
  tb__mutex_lock(&announcer->mutex);
  endpoints_unlist(endpoints);
  if (endpoints->node->is_announced) status = publish(announcer, &error);
  tb__mutex_unlock(&announcer->mutex);
  *endpoints = (tb__announced_t){0};
  log_failure(status, &error);
}
