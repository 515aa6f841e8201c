/* What nodes and tools need to know of a `/clock` source beside its time. */
#ifndef TB_ROS2_CLOCK_SOURCE_H
#define TB_ROS2_CLOCK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/source.h>

/* All of these are for sources made by tb_ros2_clock_source_create; others have no reader, no
 * publishers, and nothing to watch. Thread-safe, but for the watching. */

/* DDS GUID of its reader, in network order; false while it is not subscribed. */
bool tb__clock_source_reader_guid(tb_source_t *source, uint8_t out[16]);

/* From now on `changed` is called with each change of the publishers that are matched or refused
 * for their QoS: on a thread of DDS, with nothing of ours held. It must not call DDS, block or
 * destroy the source; tb__clock_source_publishers may be called. To be set before the source
 * starts, that is, before it is given to a clock or made the default. */
void tb__clock_source_watch(tb_source_t *source, void (*changed)(void *user), void *user);

/* How many publishers are matched now, and how often there has been one where there was none: who
 * looks late may have missed that they were gone (NULL: not asked for). */
uint32_t tb__clock_source_publishers(tb_source_t *source, uint32_t *out_appearances);

#endif
