#include "dds/raw_topic.h"

#include <string.h>

#include "dds/library.h"
#include "dds/qos_map.h"
#include "dds/raw_type.h"
#include "dds/room.h"

static dds_entity_t topic_open(dds_entity_t participant, const tb__endpoint_options_t *options,
                               const struct ddsi_sertype **out_type)
{
  struct ddsi_sertype *type = tb__raw_type_create(options->type, options->is_keyed);
  if (!type) return DDS_RETCODE_OUT_OF_RESOURCES;
  struct ddsi_sertype *registered = type;
  dds_entity_t topic =
      dds_create_topic_sertype(participant, options->topic, &registered, NULL, NULL, NULL);
  if (topic < 0)
    ddsi_sertype_unref(type);
  else
    *out_type = registered;
  return topic;
}

tb_status_t tb__raw_topic_init(tb__raw_topic_t *topic, dds_entity_t participant,
                               const tb__endpoint_options_t *options, tb_error_t *error)
{
  tb__raw_topic_t made = {0};
  tb_status_t status = tb__dds_room_for_endpoint(options->topic, error);
  if (!status) status = tb__qos_to_dds(options->qos, &made.qos, error);
  if (status) return status;
  if (options->user_data)
    dds_qset_userdata(made.qos, options->user_data, strlen(options->user_data));
  /* What the writer disposed of would have no key. */
  if (options->is_keyed) dds_qset_writer_data_lifecycle(made.qos, false);
  if (options->keeps_all) dds_qset_history(made.qos, DDS_HISTORY_KEEP_ALL, 0);
  if (options->write_limit_ns > 0)
    dds_qset_reliability(made.qos, DDS_RELIABILITY_RELIABLE, options->write_limit_ns);
  if (options->partition) dds_qset_partition(made.qos, 1, (const char *[]){options->partition});
  if (options->ignore_local) dds_qset_ignorelocal(made.qos, DDS_IGNORELOCAL_PARTICIPANT);
  if (options->ignore_process) dds_qset_ignorelocal(made.qos, DDS_IGNORELOCAL_PROCESS);
  made.topic = topic_open(participant, options, &made.type);
  if (made.topic < 0) {
    dds_delete_qos(made.qos);
    return tb__dds_error_set(error, made.topic, options->topic);
  }
  *topic = made;
  return TB_OK;
}

void tb__raw_topic_fini(tb__raw_topic_t *topic)
{
  dds_delete_qos(topic->qos);
  dds_delete(topic->topic);
}
