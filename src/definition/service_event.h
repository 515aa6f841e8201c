/* Recorded events of services (package/srv/Name_Event), and the requests in them as messages of
 * their own. */
#ifndef TB_DEFINITION_SERVICE_EVENT_H
#define TB_DEFINITION_SERVICE_EVENT_H

#include "definition/message.h"

/* service_msgs/ServiceEventInfo. */
typedef enum tb__service_event_type {
  TB__SERVICE_REQUEST_SENT,     /* seen by the client */
  TB__SERVICE_REQUEST_RECEIVED, /* by the service */
  TB__SERVICE_RESPONSE_SENT,
  TB__SERVICE_RESPONSE_RECEIVED,
} tb__service_event_type_t;

/* Reads events of one type. */
typedef struct tb__service_event tb__service_event_t;

/* The schema must outlive it. TB_ERR_UNSUPPORTED: it is not that of an event; TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__service_event_create(const tb__schema_t *schema,
                                                    tb__service_event_t **out,
                                                    tb_error_t *error) TB_WARN_UNUSED;
/* Accepts NULL. */
TB_PRIVATE_API void tb__service_event_destroy(tb__service_event_t *event);

/* *out_type: TB__SERVICE_REQUEST_SENT or another of them. *out: the request, serialized in the byte
 * order of the event, until the next call; NULL: the event holds none. TB_ERR_TRUNCATED,
 * TB_ERR_CORRUPT, TB_ERR_UNSUPPORTED: it is not of the schema; TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__service_event_read(tb__service_event_t *event, const void *cdr,
                                                  size_t size, int *out_type, const void **out,
                                                  size_t *out_size,
                                                  tb_error_t *error) TB_WARN_UNUSED;

#endif
