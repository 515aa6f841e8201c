/* The Cyclone topic and QoS for endpoint options. */
#ifndef TB_DDS_RAW_TOPIC_H
#define TB_DDS_RAW_TOPIC_H

#include <dds/dds.h>

#include "dds/endpoint.h"

typedef struct tb__raw_topic {
  dds_entity_t topic;
  dds_qos_t *qos;
  const struct ddsi_sertype *type; /* lives as long as an endpoint of the topic */
} tb__raw_topic_t;

TB_WARN_UNUSED tb_status_t tb__raw_topic_init(tb__raw_topic_t *topic, dds_entity_t participant,
                                              const tb__endpoint_options_t *options,
                                              tb_error_t *error);

/* Endpoints keep references to what they need. */
void tb__raw_topic_fini(tb__raw_topic_t *topic);

#endif
