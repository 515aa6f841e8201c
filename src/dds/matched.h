/* The endpoints that an endpoint is matched with, as queried from DDS. */
#ifndef TB_DDS_MATCHED_H
#define TB_DDS_MATCHED_H

#include <dds/dds.h>

#include "dds/endpoint.h"

typedef dds_return_t (*tb__matched_handles_t)(dds_entity_t endpoint, dds_instance_handle_t *out,
                                              size_t room);
typedef dds_builtintopic_endpoint_t *(*tb__matched_data_t)(dds_entity_t endpoint,
                                                           dds_instance_handle_t instance);

/* With dds_get_matched_subscriptions and its _data for a writer, _publications for a reader. */
TB_WARN_UNUSED tb_status_t tb__matched_list(dds_entity_t endpoint, tb__matched_handles_t handles,
                                            tb__matched_data_t data, tb__matched_t **out,
                                            size_t *out_count);

#endif
