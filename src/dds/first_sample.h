/* Readers of services that get the first sample of a writer of Fast DDS. */
#ifndef TB_DDS_FIRST_SAMPLE_H
#define TB_DDS_FIRST_SAMPLE_H

#include <dds/dds.h>

#include "dds/guid.h"

struct ddsi_sertype;

/* For a reader that keeps no history Cyclone DDS takes the first heartbeat of a writer as the end
 * of what was before the reader. Fast DDS sends one with each fragment of a sample, and each 3 s
 * while a sample is not acknowledged. So a first sample is lost if it has fragments, or if it comes
 * before the reader is connected, or never, and a heartbeat is the next that comes.
 *
 * To be called before a reader is created: then the reader gets what writers of Fast DDS have sent
 * from their first sample on. What a writer no longer has, or what is not for the reader, the
 * writer declares so. It concerns the reliable, volatile writers of requests and replies ("rq/",
 * "rr/"), those that are known and those that come; for other topics it does nothing.
 *
 * `type` is a type that was registered for the topic. `is_own`: nothing uses the domain after
 * tb__first_sample_domain_deleted; else the library stays loaded. Several copies of this library
 * may do this in one process. Returns less than 0 if memory is short. Not from a callback of DDS.
 */
dds_return_t tb__first_sample_expect(dds_entity_t participant, const struct ddsi_sertype *type,
                                     const char *topic, bool is_own);

/* To be called after `reader` was created. Cyclone DDS removes the readers that were deleted before
 * on a thread of its own; with the last one of a writer it forgets that the writer's heartbeats are
 * not the first. That may be between the call above and here, but not later. Returns less than 0 if
 * memory is short. */
dds_return_t tb__first_sample_connected(dds_entity_t reader, const struct ddsi_sertype *type,
                                        const char *topic);

/* After the domain has been deleted. */
void tb__first_sample_domain_deleted(uint32_t domain_id);

#endif
