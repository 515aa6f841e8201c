#include "bridge_direction.h"

#include <stdlib.h>
#include <string.h>

#include "bridge_clock.h"
#include "text.h"

#define CONFLICT_NS (15 * TB_NS_PER_S) /* a killed node of ROS 2 is seen for 10 s */

void bridge_direction_begin(bridge_direction_t *direction, const bridge_ends_t *ends,
                            bridge_side_t given)
{
  *direction = (bridge_direction_t){.ends = ends, .given = given, .from = BRIDGE_UNDECIDED};
}

static const char *name_of(const bridge_direction_t *direction)
{
  return direction->ends->command->name;
}

/* --- other bridges --- */

/* A bridge other than this one, and the side from which it carries. */
static const char *find_bridge(const bridge_view_t *view, bridge_side_t *out_from)
{
  for (int side = BRIDGE_ROS1; side <= BRIDGE_ROS2; side++) {
    const char *node = bridge_view_bridge(view, (bridge_side_t)side, BRIDGE_CLOCK_TOPIC);
    *out_from = (bridge_side_t)side;
    if (node) return node;
  }
  return NULL;
}

static void print_bridge(const bridge_direction_t *direction, bridge_side_t from, const char *node,
                         bridge_side_t other_from)
{
  bool is_back = from != BRIDGE_UNDECIDED && from != other_from;
  text_err("timebase %s: %s carries " BRIDGE_CLOCK_TOPIC " from %s to %s already: %s; stop one of "
           "the two (one that was killed is seen for up to 10 s)\n",
           name_of(direction), node, bridge_side_name(other_from),
           bridge_side_name(bridge_other_side(other_from)),
           is_back ? "carrying it back would be a loop" : "each tick would arrive twice");
}

/* --- deciding --- */

static void print_wait(bridge_direction_t *direction)
{
  if (direction->has_reported_wait) return;
  direction->has_reported_wait = true;
  text_err("timebase %s: waiting for a publisher of " BRIDGE_CLOCK_TOPIC " on ROS 1 or ROS 2\n",
           name_of(direction));
}

static void print_both(const bridge_direction_t *direction, const bridge_view_t *view)
{
  char *first = bridge_view_names(view, BRIDGE_ROS1, BRIDGE_CLOCK_TOPIC);
  char *second = bridge_view_names(view, BRIDGE_ROS2, BRIDGE_CLOCK_TOPIC);
  text_err("timebase %s: " BRIDGE_CLOCK_TOPIC " has publishers on both sides: %s on ROS 1, %s on "
           "ROS 2; choose one with --from ros1 or --from ros2, and stop the other\n",
           name_of(direction), first ? first : "?", second ? second : "?");
  free(first);
  free(second);
}

/* Time would jump between what is carried and what they publish. */
static void warn_of_others(bridge_direction_t *direction, const bridge_view_t *view)
{
  bridge_side_t to = bridge_other_side(direction->from);
  bool has_others = bridge_view_publishers(view, to, BRIDGE_CLOCK_TOPIC, NULL, 0) > 0;
  if (has_others && !direction->has_reported_other) {
    char *names = bridge_view_names(view, to, BRIDGE_CLOCK_TOPIC);
    command_begin_warning(direction->ends->command);
    text_err(BRIDGE_CLOCK_TOPIC " of %s is also published by %s: time will jump between the two; "
                                "stop one of them\n",
             bridge_side_name(to), names ? names : "?");
    free(names);
  }
  direction->has_reported_other = has_others;
}

static bridge_verdict_t decide(bridge_direction_t *direction, const bridge_view_t *view)
{
  bridge_side_t other_from;
  const char *node = find_bridge(view, &other_from);
  if (node) {
    print_bridge(direction, direction->given, node, other_from);
    return BRIDGE_REFUSED;
  }
  bool is_on_ros1 = bridge_view_publishers(view, BRIDGE_ROS1, BRIDGE_CLOCK_TOPIC, NULL, 0) > 0;
  bool is_on_ros2 = bridge_view_publishers(view, BRIDGE_ROS2, BRIDGE_CLOCK_TOPIC, NULL, 0) > 0;
  direction->from = direction->given;
  if (direction->given != BRIDGE_UNDECIDED) return BRIDGE_GO;
  if (is_on_ros1 && is_on_ros2) {
    print_both(direction, view);
    return BRIDGE_REFUSED;
  }
  if (is_on_ros1 || is_on_ros2)
    direction->from = is_on_ros1 ? BRIDGE_ROS1 : BRIDGE_ROS2;
  else
    print_wait(direction);
  return direction->from == BRIDGE_UNDECIDED ? BRIDGE_WAIT : BRIDGE_GO;
}

bridge_verdict_t bridge_direction_decide(bridge_direction_t *direction, const bridge_view_t *view)
{
  bridge_verdict_t verdict = decide(direction, view);
  if (verdict == BRIDGE_GO) warn_of_others(direction, view);
  return verdict;
}

/* --- while it is carried --- */

/* Of two that began at the same moment one ends, and the other goes on when it has gone. */
static bridge_verdict_t yield_to(bridge_direction_t *direction, const bridge_view_t *view,
                                 const char *node, bridge_side_t other_from)
{
  int64_t now_ns = bridge_now_ns(direction->ends);
  if (!direction->conflict_ns) direction->conflict_ns = now_ns;
  bool is_ours_to_end = strcmp(view->own, node) > 0;
  if (!is_ours_to_end && now_ns - direction->conflict_ns < CONFLICT_NS) return BRIDGE_WAIT;
  print_bridge(direction, direction->from, node, other_from);
  return BRIDGE_REFUSED;
}

bridge_verdict_t bridge_direction_check(bridge_direction_t *direction, const bridge_view_t *view)
{
  bridge_side_t other_from;
  const char *node = find_bridge(view, &other_from);
  if (node) return yield_to(direction, view, node, other_from);
  direction->conflict_ns = 0;
  warn_of_others(direction, view);
  return BRIDGE_GO;
}
