/* Cyclone's own writer of a DDS writer, for what its API does not have. */
#ifndef TB_DDS_INNER_WRITER_H
#define TB_DDS_INNER_WRITER_H

#include <dds/dds.h>
#include <dds/ddsi/ddsi_domaingv.h>
#include <dds/ddsi/ddsi_entity.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_hbcontrol.h>
#include <dds/ddsi/q_thread.h>
#include <stdbool.h>

#include <dds/ddsi/ddsi_endpoint.h> /* which needs those above */

typedef struct tb__inner_writer {
  struct thread_state *thread;
  struct ddsi_domaingv *domain;
  struct ddsi_writer *writer;
} tb__inner_writer_t;

/* A GUID in the form of Cyclone's own functions. */
ddsi_guid_t tb__inner_guid(const void *bytes);
bool tb__inner_guid_is_of_fast_dds(const ddsi_guid_t *guid);

/* The domain of an endpoint of ours; NULL: the endpoint is gone. `type` is a type that was
 * registered for its topic, which is not looked at then: it has gone with the domain. */
struct ddsi_domaingv *tb__inner_domain(dds_entity_t endpoint, const struct ddsi_sertype *type);

/* `type` is a type that was registered for the writer's topic. Until tb__inner_writer_leave the
 * writer and its domain stay. False: it has gone; there is nothing to leave. */
bool tb__inner_writer_enter(dds_entity_t writer, const struct ddsi_sertype *type,
                            tb__inner_writer_t *out);
void tb__inner_writer_leave(const tb__inner_writer_t *inner);

#endif
