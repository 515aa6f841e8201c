#include "dds/matched.h"

#include <stdlib.h>
#include <string.h>

static bool has_partition(const dds_qos_t *qos)
{
  uint32_t count = 0;
  return dds_qget_partition(qos, &count, NULL) && count > 0;
}

/* False: it has gone meanwhile. */
static bool matched_fill(dds_entity_t endpoint, dds_instance_handle_t instance,
                         tb__matched_data_t data, tb__matched_t *out)
{
  dds_builtintopic_endpoint_t *found = data(endpoint, instance);
  if (!found) return false;
  memset(out, 0, sizeof *out);
  out->instance = instance;
  out->guid = tb__guid_of(found->key.v);
  out->in_partition = found->qos && has_partition(found->qos);
  void *text = NULL;
  size_t size = 0;
  if (found->qos && dds_qget_userdata(found->qos, &text, &size) && text) {
    memcpy(out->user_data, text, size < sizeof out->user_data ? size : sizeof out->user_data - 1);
    dds_free(text);
  }
  dds_builtintopic_free_endpoint(found);
  return true;
}

/* All handles, in new memory. */
static dds_return_t handles_read(dds_entity_t endpoint, tb__matched_handles_t handles,
                                 dds_instance_handle_t **out)
{
  dds_return_t count, room = 16;
  dds_instance_handle_t *list = NULL;
  do {
    free(list);
    list = malloc((size_t)room * sizeof *list);
    if (!list) return DDS_RETCODE_OUT_OF_RESOURCES;
    count = handles(endpoint, list, (size_t)room);
    if (count <= room) break;
    room = count + 16;
  } while (true);
  if (count <= 0) {
    free(list);
    return count;
  }
  *out = list;
  return count;
}

tb_status_t tb__matched_list(dds_entity_t endpoint, tb__matched_handles_t handles,
                             tb__matched_data_t data, tb__matched_t **out, size_t *out_count)
{
  dds_instance_handle_t *instances = NULL;
  dds_return_t count = handles_read(endpoint, handles, &instances);
  if (count == DDS_RETCODE_OUT_OF_RESOURCES) return TB_ERR_NO_MEMORY;
  if (count < 0) return TB_ERR_CLOSED;
  tb__matched_t *list = count > 0 ? malloc((size_t)count * sizeof *list) : NULL;
  if (count > 0 && !list) {
    free(instances);
    return TB_ERR_NO_MEMORY;
  }
  size_t kept = 0;
  for (dds_return_t i = 0; i < count; i++)
    kept += matched_fill(endpoint, instances[i], data, &list[kept]);
  free(instances);
  *out = list;
  *out_count = kept;
  return TB_OK;
}
