/* The internals of a context, for objects created from it. */
#ifndef TB_ROS2_CONTEXT_H
#define TB_ROS2_CONTEXT_H

#include <timebase/ros2_context.h>

#include "dds/participant.h"
#include "ros2/announcer.h"
#include "ros2/arguments.h"
#include "ros2/dispatch.h"
#include "ros2/shared_sources.h"

tb__participant_t *tb__ros2_context_participant(const tb_ros2_context_t *context);

/* The thread on which user code of services and clients runs. */
tb__dispatch_t *tb__ros2_context_dispatch(tb_ros2_context_t *context);

/* Nodes use the wire form of humble. */
bool tb__ros2_context_is_humble(const tb_ros2_context_t *context);

tb__announcer_t *tb__ros2_context_announcer(tb_ros2_context_t *context);
tb__shared_sources_t *tb__ros2_context_sources(tb_ros2_context_t *context);

const tb__arguments_t *tb__ros2_context_arguments(const tb_ros2_context_t *context);

/* An object that was destroyed in its own callback on a thread of DDS, where it cannot be freed. */
typedef struct tb__retired {
  struct tb__retired *next;
  void (*finish)(struct tb__retired *retired);
} tb__retired_t;

/* Calls `finish` on the thread of the context or, if there is none, when the context is destroyed.
 */
void tb__ros2_context_retire(tb_ros2_context_t *context, tb__retired_t *retired);

/* Counts from 1, for the ids of services and clients. */
uint32_t tb__ros2_context_next_service_id(tb_ros2_context_t *context);

#endif
