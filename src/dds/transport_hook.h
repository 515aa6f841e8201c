/* Lets tb__packet_insert look at what Cyclone DDS sends, by replacing the function with which its
 * connections send. Cyclone has no interface for that. */
#ifndef TB_DDS_TRANSPORT_HOOK_H
#define TB_DDS_TRANSPORT_HOOK_H

#include <stdint.h>
#include <timebase/error.h>

struct ddsi_sertype;

typedef enum tb__inline_qos_state {
  TB__INLINE_QOS_ON = 1,
  TB__INLINE_QOS_OFF_RELEASE,   /* built for a Cyclone DDS with which it was not tried */
  TB__INLINE_QOS_OFF_SECURITY,  /* DDS Security: packets may be encrypted or signed */
  TB__INLINE_QOS_OFF_TRANSPORT, /* not UDP */
  TB__INLINE_QOS_OFF_MEMORY,    /* out of memory */
  TB__INLINE_QOS_OFF_CLOSED,    /* the writer is gone */
} tb__inline_qos_state_t;

typedef struct tb__inline_qos_support {
  tb__inline_qos_state_t state;
  uint32_t payload_max; /* how many bytes of a sample Cyclone puts into one submessage */
} tb__inline_qos_support_t;

/* [any thread, but none of DDS, and with no lock held] Installs it on the connections of the
 * writer's domain, if it is not there. From then on the library stays loaded: threads of Cyclone
 * may be in it. */
tb__inline_qos_support_t tb__transport_hook_install(int32_t writer,
                                                    const struct ddsi_sertype *type);

/* After the domain has been deleted. */
void tb__transport_hook_domain_deleted(uint32_t domain_id);

/* For a state that is not on: TB_ERR_UNSUPPORTED, TB_ERR_NO_MEMORY, TB_ERR_CLOSED. The text is
 * `what`, and why that is not possible. */
tb_status_t tb__inline_qos_refusal(tb__inline_qos_state_t state, const char *what,
                                   tb_error_t *error);

#endif
