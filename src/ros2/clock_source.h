/* What nodes and tools need of a `/clock` source besides its time. */
#ifndef TB_ROS2_CLOCK_SOURCE_H
#define TB_ROS2_CLOCK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/source.h>

#include "dds/guid.h"

/* These are for sources created by tb_ros2_clock_source_create; others have no reader, no
 * publishers, and nothing to watch. Thread-safe, except tb__clock_source_watch. */

/* The GUID of its reader. False while it is not subscribed. */
bool tb__clock_source_reader_guid(tb_source_t *source, tb__guid_t *out);

/* Sets a function that is called when publishers are matched, unmatched or refused for their QoS:
 * on a thread of DDS, with none of our locks held. It must not call DDS, block or destroy the
 * source, and may call tb__clock_source_publishers. To be set before the source starts, that is,
 * before it is given to a clock or made the default. */
void tb__clock_source_watch(tb_source_t *source, void (*changed)(void *user), void *user);

/* How many publishers are matched now. *out_appearances (may be NULL): how often the first one has
 * appeared, by which a caller detects that all were gone in between. */
uint32_t tb__clock_source_publishers(tb_source_t *source, uint32_t *out_appearances);

#endif
