/* The six parameter services of a node, from the bytes of a request to those of the response. */
#ifndef TB_ROS2_PARAMETER_REQUESTS_H
#define TB_ROS2_PARAMETER_REQUESTS_H

#include "params/parameter_store.h"

#define TB__PARAMETER_SERVICE_COUNT 6

/* The limit of an answer: a short request may ask for the same long values many times. */
#define TB__PARAMETER_RESPONSE_MAX ((size_t)64 << 20)

typedef struct tb__parameter_service {
  const char *name; /* "get_parameters": it is NODE/get_parameters */
  const char *type; /* "rcl_interfaces/srv/GetParameters" */
  const tb__cdr_type_t *request;
  /* Answers the decoded request. */
  tb_status_t (*answer)(tb__parameter_store_t *store, const void *request, uint8_t **out_cdr,
                        size_t *out_size);
} tb__parameter_service_t;

extern const tb__parameter_service_t tb__parameter_services[TB__PARAMETER_SERVICE_COUNT];

/* The response in new memory: free(*out_cdr). A refusal of the store is part of a response; an
 * error here means that there is no response to send. Errors as tb__cdr_decode: the request is
 * invalid, and nothing was changed. TB_ERR_LIMIT: the response would be too long. TB_ERR_NO_MEMORY:
 * after set_parameters some may have been set. TB_ERR_FORKED. */
TB_WARN_UNUSED tb_status_t tb__parameter_request_handle(const tb__parameter_service_t *service,
                                                        tb__parameter_store_t *store,
                                                        const void *cdr, size_t size,
                                                        uint8_t **out_cdr, size_t *out_size,
                                                        tb_error_t *error);

#endif
