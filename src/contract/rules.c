#include "contract/rules.h"

#include <stddef.h>
#include <string.h>

#define LAUNCH_SIM_TIME "Node(..., parameters=[{'use_sim_time': True}])"

static const tb__rule_t rules[TB__RULE_COUNT] = {
    [TB__RULE_SIM_TIME_TYPE] =
        {
            .id = "sim-time-type",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} is true of another type than boolean",
            .many = "{count} parameters are true of another type than boolean: {list}",
            .consequence = "It splits a graph of ROS 1: nodes of rospy that start now follow "
                           "/clock, nodes of roscpp and timebase stay on wall time.",
            .remedy_ros = "rosparam set {subject} true",
            .remedy_timebase = "timebase param set {subject} true --ros1",
            .remedy_launch = "<param name=\"{subject}\" type=\"bool\" value=\"true\"/>",
        },
    [TB__RULE_SIM_TIME_UNSET] =
        {
            .id = "sim-time-unset",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} is not true in a graph of ROS 1 with /clock",
            .many = "{count} parameters are not true in graphs of ROS 1 with /clock: {list}",
            .consequence = "Nodes that start now stay on wall time, whatever is on /clock: their "
                           "stamps and timers do not fit what is simulated or played.",
            .remedy_ros = "rosparam set {subject} true",
            .remedy_timebase = "timebase param set {subject} true --ros1",
            .remedy_launch = "<param name=\"{subject}\" type=\"bool\" value=\"true\"/>",
        },
    [TB__RULE_CLOCK_MISSING] =
        {
            .id = "clock-missing",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} is true and nothing ticks on /clock",
            .many = "{count} parameters are true and nothing ticks on /clock: {list}",
            .consequence = "Nodes of ROS 1 that start now wait for a first tick: their time is 0, "
                           "sleeps and timers do not end.",
            .remedy_ros = "rosparam delete {subject}",
            .remedy_timebase = "timebase serve --ros1",
            .remedy_launch = "<node pkg=\"rosbag\" type=\"play\" name=\"player\" "
                             "args=\"--clock $(arg bag)\"/>  <!-- or a simulator -->",
        },
    [TB__RULE_MIXED_TIME_BASE] =
        {
            .id = "mixed-time-base",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} is on wall time in a graph with /clock",
            .many = "{count} nodes are on wall time in a graph with /clock: {list}",
            .consequence = "Stamps and timers of such a node do not fit those of the others: tf2, "
                           "message filters and synchronizers drop or never match its messages.",
            .remedy_ros = "ros2 param set {subject} use_sim_time true",
            .remedy_timebase = "timebase sim-time on {subjects}",
            .remedy_launch = LAUNCH_SIM_TIME,
        },
    [TB__RULE_MIXED_SHARED_TIME] =
        {
            .id = "mixed-shared-time",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} is on wall time in a graph with a time in shared memory",
            .many =
                "{count} nodes are on wall time in a graph with a time in shared memory: {list}",
            .consequence = "Stamps and timers of such a node do not fit those of the others: tf2, "
                           "message filters and synchronizers drop or never match its messages.",
            .remedy_ros = "ros2 param set {subject} use_sim_time true  # and publish /clock too",
            .remedy_timebase = "timebase run --source shm:{detail} -- COMMAND",
            .remedy_launch = "SetEnvironmentVariable('TIMEBASE_SOURCE', 'shm:{detail}')  # and "
                             "LD_PRELOAD, as timebase run --print-env has them",
        },
    [TB__RULE_SHARED_TIME_STOPPED] =
        {
            .id = "shared-time-stopped",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} follows a time in shared memory that has no publisher",
            .many = "{count} nodes follow a time in shared memory that has no publisher: {list}",
            .consequence = "ROS time there is 0 or has stopped: timers do not fire, sleeps do not "
                           "end, and stamps are all the same.",
            .remedy_ros = "env -u TIMEBASE_SOURCE -u LD_PRELOAD ros2 run ...  # to start it on its "
                          "own time",
            .remedy_timebase = "timebase serve --shm {detail}",
            .remedy_launch = "ExecuteProcess(cmd=['timebase', 'serve', '--shm', '{detail}'])",
        },
    [TB__RULE_TIME_BASE_DECLARED] =
        {
            .id = "time-base-declared",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} is not on the time base that the manifest declares",
            .many = "{count} nodes are not on the time base that the manifest declares: {list}",
            .consequence = "What was tested with the declared time base does not hold: its stamps "
                           "and timers are of another time.",
            .remedy_ros = "ros2 param set {subject} use_sim_time {detail}",
            .remedy_timebase = "timebase param set {subject} use_sim_time {detail}",
            .remedy_launch = "Node(..., parameters=[{'use_sim_time': ...}])  # {detail}",
        },
    [TB__RULE_NODE_MISSING] =
        {
            .id = "node-missing",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject} is declared in the manifest and is not on the graph",
            .many = "{count} nodes are declared in the manifest and are not on the graph: {list}",
            .consequence = "What was tested with it runs without it: what it publishes, watches or "
                           "stops is missing.",
            .remedy_ros = "ros2 node list",
            .remedy_timebase = "timebase nodes",
            .remedy_launch = "Node(...)  # {subject}; or take it out of the manifest",
        },
    [TB__RULE_CLOCK_DECLARED] =
        {
            .id = "clock-declared",
            .severity = TB__SEVERITY_ERROR,
            .one = "{subject} is not published as the manifest declares",
            .many = "{count} clock topics are not published as the manifest declares: {list}",
            .consequence =
                "The time of all nodes comes from elsewhere than was tested, or does not "
                "reach those that rely on its QoS.",
            .remedy_ros = "ros2 topic info --verbose {subject}",
            .remedy_timebase = "timebase nodes",
            .remedy_launch =
                "ExecuteProcess(cmd=['ros2', 'bag', 'play', bag, '--clock'])  # or the "
                "simulator; as in the manifest",
        },
    [TB__RULE_CLOCK_TWO_PUBLISHERS] =
        {
            .id = "clock-two-publishers",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} has {detail} publishers",
            .many = "{count} clock topics have several publishers: {list}",
            .consequence = "Nodes take ticks of all of them: their time jumps forward and backward "
                           "with each tick.",
            .remedy_ros = "ros2 topic info --verbose {subject}",
            .remedy_timebase = "timebase nodes",
            .remedy_launch = "ExecuteProcess(cmd=['ros2', 'bag', 'play', bag])  # one of the "
                             "simulator and a player with --clock",
        },
    [TB__RULE_CLOCK_TWO_STREAMS] =
        {
            .id = "clock-two-streams",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject}{of} carries two streams of time from one publisher",
            .many = "{count} clock topics carry two streams of time from one publisher: {list}",
            .consequence = "Nodes jump between the two times with each tick; tf2 buffers and "
                           "filters are cleared each time.",
            .remedy_ros = "ros2 topic echo {subject}",
            .remedy_timebase = "timebase watch",
            .remedy_launch = "ExecuteProcess(cmd=['ros2', 'bag', 'play', bag, '--clock', '100', "
                             "'--exclude-topics', '{subject}'])  # where a recorded /clock is "
                             "played beside the player's own, which a remap would move too",
        },
    [TB__RULE_CLOCK_QOS] =
        {
            .id = "clock-qos",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} receives no /clock: QoS does not match",
            .many = "{count} nodes receive no /clock, because QoS does not match: {list}",
            .consequence = "The ROS time of such a node stays 0 or stops: its timers do not fire, "
                           "and it stamps with 0.",
            .remedy_ros = "ros2 topic info --verbose /clock",
            .remedy_timebase = "timebase nodes",
            .remedy_launch = "Node(..., parameters=[{'qos_overrides./clock.subscription."
                             "reliability': 'best_effort', 'qos_overrides./clock.subscription."
                             "durability': 'volatile'}])",
        },
    [TB__RULE_NO_CLOCK_RECEIVED] =
        {
            .id = "no-clock-received",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject} waits for /clock and receives none",
            .many = "{count} nodes wait for /clock and receive none: {list}",
            .consequence = "The ROS time of such a node stays 0 or stops: its timers do not fire, "
                           "and it stamps with 0.",
            .remedy_ros = "ros2 param set {subject} use_sim_time false",
            .remedy_timebase = "timebase sim-time off {subjects}",
            .remedy_launch = "Node(..., parameters=[{'use_sim_time': False}])  # or launch what "
                             "publishes /clock: ros2 bag play --clock",
        },
    [TB__RULE_CLOCK_STALL] =
        {
            .id = "clock-stall",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject}{of} has stopped and is not reported as paused",
            .many = "{count} clock topics have stopped and are not reported as paused: {list}",
            .consequence = "Timers and sleeps on ROS time do not end; watchdogs on ROS time never "
                           "expire.",
            .remedy_ros = "ros2 topic hz {subject}",
            .remedy_timebase = "timebase watch",
            .remedy_launch = "Node(..., respawn=True)  # of what publishes {subject}",
        },
    [TB__RULE_CLOCK_BACKWARDS] =
        {
            .id = "clock-backwards",
            .severity = TB__SEVERITY_WARN,
            .is_cause = true,
            .one = "{subject}{of} jumped backward",
            .many = "{count} clock topics jumped backward: {list}",
            .consequence = "Nodes that do not reset at a jump keep transforms, filters and caches "
                           "of the time that was left.",
            .remedy_ros = "ros2 topic echo {subject}",
            .remedy_timebase = "timebase watch",
            .remedy_launch = "ExecuteProcess(cmd=['timebase', 'play', bag])  # without --loop",
        },
    [TB__RULE_CLOCK_ZERO] =
        {
            .id = "clock-zero",
            .severity = TB__SEVERITY_WARN,
            .is_cause = true,
            .one = "{subject}{of} ticks with the time 0",
            .many = "{count} clock topics tick with the time 0: {list}",
            .consequence = "0 means \"no time yet\": nodes wait, or stamp with 0.",
            .remedy_ros = "ros2 topic echo --once {subject}",
            .remedy_timebase = "timebase watch",
            .remedy_launch = "ExecuteProcess(cmd=['timebase', 'serve', '--start', 'now'])",
        },
    [TB__RULE_CLOCK_INVALID] =
        {
            .id = "clock-invalid",
            .severity = TB__SEVERITY_ERROR,
            .is_cause = true,
            .one = "{subject}{of} has ticks that are no valid time",
            .many = "{count} clock topics have ticks that are no valid time: {list}",
            .consequence = "rclcpp ends nodes with an exception at a time below 0, and adds 1e9 ns "
                           "or more to the seconds: time jumps. timebase drops such ticks.",
            .remedy_ros = "ros2 topic echo --once {subject}",
            .remedy_timebase = "timebase topic echo {subject} -n 1",
            .remedy_launch = "msg.clock = rclpy.time.Time(nanoseconds=ns).to_msg()  # in the "
                             "publisher: both fields from one number, and not beyond 2038",
        },
    [TB__RULE_CLOCK_GAP] =
        {
            .id = "clock-gap",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} has gaps",
            .many = "{count} clock topics have gaps: {list}",
            .consequence = "Timers are late by the gap and then run in a burst.",
            .remedy_ros = "ros2 topic hz {subject}",
            .remedy_timebase = "timebase watch",
            .remedy_launch = "ExecuteProcess(cmd=['ros2', 'bag', 'play', '--clock', '100', bag])",
        },
    [TB__RULE_CLOCK_RATE] =
        {
            .id = "clock-rate",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} does not tick as expected",
            .many = "{count} clock topics do not tick as expected: {list}",
            .consequence = "Simulated time is as coarse as its ticks: timers and stamps are wrong "
                           "by up to one period.",
            .remedy_ros = "ros2 bag play --clock {detail} BAG",
            .remedy_timebase = "timebase play --clock {detail} BAG",
            .remedy_launch =
                "ExecuteProcess(cmd=['ros2', 'bag', 'play', '--clock', '{detail}', bag])",
        },
    [TB__RULE_CLOCK_ERROR] =
        {
            .id = "clock-error",
            .severity = TB__SEVERITY_ERROR,
            .one = "the time of {subject}{of} is less exact than the manifest demands",
            .many = "the times of {count} clock topics are less exact than the manifest demands: "
                    "{list}",
            .consequence = "Nodes read a time that is older than it may be: stamps and timers are "
                           "late by it.",
            .remedy_ros = "ros2 bag play --clock 1000 BAG",
            .remedy_timebase = "timebase play --clock 1000 BAG",
            .remedy_launch = "ExecuteProcess(cmd=['ros2', 'bag', 'play', '--clock', '1000', bag])",
        },
    [TB__RULE_SYSTEM_STEP] =
        {
            .id = "system-step",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject} step: the system clock was set while this was recorded",
            .many = "{count} kinds of times step: {list}",
            .consequence = "Durations across the step are wrong by it; a player waits for as long, "
                           "or mixes what was before and after it.",
            .remedy_ros = "chronyc waitsync 30 0.01 && ros2 bag record --all",
            .remedy_timebase = "timebase bag cut BAG --start {detail} -o after",
            .remedy_launch = "ExecuteProcess(cmd=['chronyc', 'waitsync', '30', '0.01'])  # before "
                             "the nodes and the recorder",
        },
    [TB__RULE_LOG_TIME_RANGE] =
        {
            .id = "log-time-range",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject} are those of a clock that was not set",
            .many = "{count} kinds of times are those of a clock that was not set: {list}",
            .consequence = "Players begin long before the first message or wait for the last one, "
                           "and their /clock has times that nodes take for none.",
            .remedy_ros = "timedatectl status",
            .remedy_timebase = "timebase bag cut BAG --start 1s -o right",
            .remedy_launch = "ExecuteProcess(cmd=['chronyc', 'waitsync', '30', '0.01'])  # before "
                             "the recorder",
        },
    [TB__RULE_RECORDING_SILENT] =
        {
            .id = "recording-silent",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject} were silent at the same time",
            .many = "{count} groups of topics were silent at the same time: {list}",
            .consequence = "What happened meanwhile is not in the recording: a replay shows a gap "
                           "that the robot did not have.",
            .remedy_ros = "ros2 bag record --all --max-cache-size 500000000",
            .remedy_timebase = "timebase record --all",
            .remedy_launch = "ExecuteProcess(cmd=['systemd-inhibit', 'ros2', 'bag', 'record', "
                             "'--all'])  # on a disk that keeps up, and not over the network",
        },
    [TB__RULE_HOST_OFFSET] =
        {
            .id = "host-offset",
            .severity = TB__SEVERITY_WARN,
            .is_cause = true,
            .one = "the system clock of the host of {subject} is off",
            .many = "the system clocks of the hosts of {count} nodes are off: {list}",
            .consequence = "Stamps on wall time of different hosts cannot be compared: messages "
                           "look older, or newer than now, by the offset.",
            .remedy_ros = "chronyc tracking",
            .remedy_timebase = "timebase audit --watch",
            .remedy_launch = "ExecuteProcess(cmd=['chronyc', 'waitsync', '30', '0.01'])  # before "
                             "the nodes of that host",
        },
    [TB__RULE_ACTIVE_BEFORE_CLOCK] =
        {
            .id = "active-before-clock",
            .severity = TB__SEVERITY_WARN,
            .is_cause = true,
            .one = "{subject} is active while /clock has not begun",
            .many = "{count} lifecycle nodes are active while /clock has not begun: {list}",
            .consequence = "What they publish until the first tick is stamped with 0.",
            .remedy_ros = "ros2 lifecycle set {subject} deactivate",
            .remedy_timebase = "timebase wait --activate {subject}",
            .remedy_launch = "ExecuteProcess(cmd=['timebase', 'wait', '--activate', '{subject}'])",
        },
    [TB__RULE_STAMP_ZERO] =
        {
            .id = "stamp-zero",
            .severity = TB__SEVERITY_ERROR,
            .one = "{subject}{of} has messages with the stamp 0",
            .many = "{count} topics{of} have messages with the stamp 0: {list}",
            .consequence = "tf2 takes 0 for \"the latest\"; filters and synchronizers drop the "
                           "message or never match it.",
            .remedy_ros = "ros2 topic echo --field header.stamp {subject}",
            .remedy_timebase = "timebase observe {subjects}",
            .remedy_launch = "msg.header.stamp = node.get_clock().now().to_msg()  # in the "
                             "publisher, after the first tick of /clock",
        },
    [TB__RULE_STAMP_INVALID] =
        {
            .id = "stamp-invalid",
            .severity = TB__SEVERITY_ERROR,
            .one = "{subject}{of} has stamps that are no valid time",
            .many = "{count} topics{of} have stamps that are no valid time: {list}",
            .consequence = "rclcpp throws at a stamp below 0, and adds 1e9 ns or more to the "
                           "seconds, up to 3.3 s: tf2 and filters see stamps of the future, which "
                           "leap.",
            .remedy_ros = "ros2 topic echo --field header.stamp {subject}",
            .remedy_timebase = "timebase topic echo --field header.stamp {subject}",
            .remedy_launch = "msg.header.stamp = rclpy.time.Time(nanoseconds=ns).to_msg()  # in "
                             "the publisher: both fields from one number",
        },
    [TB__RULE_STAMP_OTHER_DOMAIN] =
        {
            .id = "stamp-other-domain",
            .severity = TB__SEVERITY_ERROR,
            .one = "{subject}{of} has stamps of another time base",
            .many = "{count} topics{of} have stamps of another time base: {list}",
            .consequence = "tf2, message filters and synchronizers never match its messages with "
                           "those of the graph.",
            .remedy_ros = "ros2 topic echo --field header.stamp {subject}",
            .remedy_timebase = "timebase nodes",
            .remedy_launch = LAUNCH_SIM_TIME "  # of what publishes {subject}",
        },
    [TB__RULE_STAMP_DECLARED] =
        {
            .id = "stamp-declared",
            .severity = TB__SEVERITY_ERROR,
            .one = "{subject}{of} has stamps of another time than the manifest declares",
            .many = "{count} topics{of} have stamps of another time than the manifest declares: "
                    "{list}",
            .consequence = "What uses its stamps as declared takes one time for the other.",
            .remedy_ros = "ros2 topic echo --field header.stamp {subject}",
            .remedy_timebase = "timebase nodes",
            .remedy_launch = "Node(..., parameters=[{'use_sim_time': ...}])  # of what publishes "
                             "{subject}; or put the manifest right",
        },
    [TB__RULE_STAMP_OFFSET] =
        {
            .id = "stamp-offset",
            .severity = TB__SEVERITY_ERROR,
            .one = "{subject}{of} has stamps that are always as far off",
            .many = "{count} topics{of} have stamps that are always as far off: {list}",
            .consequence = "tf2, message filters and synchronizers never match its messages with "
                           "those of the graph.",
            .remedy_ros = "ros2 topic delay {subject}",
            .remedy_timebase = "timebase topic delay {subject}",
            .remedy_launch = "{detail}",
        },
    [TB__RULE_STAMP_FUTURE] =
        {
            .id = "stamp-future",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} has stamps in the future",
            .many = "{count} topics{of} have stamps in the future: {list}",
            .consequence = "tf2 lookups at such a stamp fail or wait: \"extrapolation into the "
                           "future\".",
            .remedy_ros = "ros2 topic delay {subject}",
            .remedy_timebase = "timebase observe {subjects}",
            .remedy_launch = LAUNCH_SIM_TIME "  # the same on all nodes; one time source for all "
                                             "hosts (chrony)",
        },
    [TB__RULE_STAMP_OLD] =
        {
            .id = "stamp-old",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} has old stamps",
            .many = "{count} topics{of} have old stamps: {list}",
            .consequence = "tf2 buffers hold 10 s: later lookups at such a stamp fail, and fusion "
                           "uses what is no longer so.",
            .remedy_ros = "ros2 topic delay {subject}",
            .remedy_timebase = "timebase observe {subjects}",
            .remedy_launch = LAUNCH_SIM_TIME "  # the same on all nodes",
        },
    [TB__RULE_STAMP_BACKWARD] =
        {
            .id = "stamp-backward",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} has stamps that go backward",
            .many = "{count} topics{of} have stamps that go backward: {list}",
            .consequence = "Filters, integrators and synchronizers drop such messages or compute "
                           "negative steps; tf2 reports TF_OLD_DATA.",
            .remedy_ros = "ros2 topic echo --field header.stamp {subject}",
            .remedy_timebase = "timebase observe {subjects}",
            .remedy_launch = "Node(..., remappings=[('{subject}', '{subject}_2')])  # where two "
                             "publishers share it",
        },
    [TB__RULE_STAMP_REPEATED] =
        {
            .id = "stamp-repeated",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} repeats stamps",
            .many = "{count} topics{of} repeat stamps: {list}",
            .consequence = "Filters and estimators divide by a step of 0 or drop the message, tf2 "
                           "ignores a transform whose stamp it has.",
            .remedy_ros = "ros2 topic echo --field header.stamp {subject}",
            .remedy_timebase = "timebase observe {subjects}",
            .remedy_launch =
                "msg.header.stamp = acquisition_time  # in the publisher, a new one for "
                "each message",
        },
    [TB__RULE_STAMP_WHOLE_SECONDS] =
        {
            .id = "stamp-whole-seconds",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} has stamps of whole seconds",
            .many = "{count} topics{of} have stamps of whole seconds: {list}",
            .consequence = "Its stamps are wrong by up to a second: what is fused or looked up by "
                           "them is of another moment.",
            .remedy_ros = "ros2 topic echo --field header.stamp {subject}",
            .remedy_timebase = "timebase topic echo --field header.stamp {subject}",
            .remedy_launch = "msg.header.stamp = rclpy.time.Time(nanoseconds=ns).to_msg()  # in "
                             "the publisher: ns not cut to seconds",
        },
    [TB__RULE_STALE_EPOCH] =
        {
            .id = "stale-epoch",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} has messages of the time before a jump",
            .many = "{count} topics{of} have messages of the time before a jump: {list}",
            .consequence = "Filters and tf2 buffers that were reset at the jump take them for "
                           "messages of the future.",
            .remedy_ros = "ros2 topic echo --field header.stamp {subject}",
            .remedy_timebase = "timebase observe {subjects}",
            .remedy_launch = "node.get_clock().create_jump_callback(threshold, post_callback="
                             "reset)  # in the publisher: drop what waits at a jump",
        },
    [TB__RULE_RECEIPT_STAMPED] =
        {
            .id = "receipt-stamped",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} looks stamped on receipt instead of at acquisition",
            .many = "{count} topics{of} look stamped on receipt instead of at acquisition: {list}",
            .consequence = "The delay of the sensor and its driver is missing from the stamps: "
                           "fusion is wrong by it, and by its jitter.",
            .remedy_ros = "ros2 topic delay {subject}",
            .remedy_timebase = "timebase observe {subjects}",
            .remedy_launch = "msg.header.stamp = acquisition_time  # in the driver, not now()",
        },
    [TB__RULE_TOPIC_RATE] =
        {
            .id = "topic-rate",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} does not come at the declared rate",
            .many = "{count} topics{of} do not come at the declared rate: {list}",
            .consequence = "What depends on it is starved, or flooded: estimators and controllers "
                           "are tuned for its rate.",
            .remedy_ros = "ros2 topic hz {subject}",
            .remedy_timebase = "timebase observe {subjects}",
            .remedy_launch = "Node(..., parameters=[{'publish_rate': 10.0}])  # of what publishes "
                             "{subject}; parameters differ",
        },
    [TB__RULE_TOPIC_DECLARED] =
        {
            .id = "topic-declared",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject}{of} is not published as the manifest declares",
            .many = "{count} topics{of} are not published as the manifest declares: {list}",
            .consequence =
                "What depends on it receives nothing: a topic without a publisher, or of "
                "another type, is never matched.",
            .remedy_ros = "ros2 topic info --verbose {subject}",
            .remedy_timebase = "timebase observe {subjects}",
            .remedy_launch = "Node(..., remappings=[('...', '{subject}')])  # of what publishes it",
        },
    [TB__RULE_TOPIC_TWO_TYPES] =
        {
            .id = "topic-two-types",
            .severity = TB__SEVERITY_ERROR,
            .one = "{subject} has two types",
            .many = "{count} topics have two types: {list}",
            .consequence =
                "Publishers and subscribers of different types never match: some receive "
                "nothing, without a message.",
            .remedy_ros = "ros2 topic info --verbose {subject}",
            .remedy_timebase = "timebase topic list",
            .remedy_launch = "Node(..., remappings=[('{subject}', '{subject}_2')])  # on one side",
        },
    [TB__RULE_TF_TWO_PUBLISHERS] =
        {
            .id = "tf-two-publishers",
            .severity = TB__SEVERITY_WARN,
            .one = "the transform {subject} has several publishers",
            .many = "{count} transforms have several publishers: {list}",
            .consequence = "Lookups mix the two, and the later one is dropped as TF_OLD_DATA where "
                           "its stamps are older.",
            .remedy_ros = "ros2 run tf2_tools view_frames",
            .remedy_timebase = "timebase nodes",
            .remedy_launch = "Node(..., parameters=[{'publish_tf': False}])  # on all but one",
        },
    [TB__RULE_TF_LATE] =
        {
            .id = "tf-late",
            .severity = TB__SEVERITY_WARN,
            .one = "the transform {subject}{of} comes later than the messages that need it",
            .many = "{count} transforms{of} come later than the messages that need them: {list}",
            .consequence = "tf2 cannot answer at receipt: lookups without a timeout fail, and "
                           "message filters hold messages back or drop them.",
            .remedy_ros = "ros2 run tf2_ros tf2_monitor",
            .remedy_timebase = "timebase observe /tf",
            .remedy_launch = "buffer.lookup_transform(target, source, stamp, timeout)  # longer "
                             "than the transform is late",
        },
    [TB__RULE_TF_OLD_EPOCH] =
        {
            .id = "tf-old-epoch",
            .severity = TB__SEVERITY_WARN,
            .one = "the transform {subject}{of} is of the time before a jump",
            .many = "{count} transforms{of} are of the time before a jump: {list}",
            .consequence = "tf2 buffers drop newer transforms as TF_OLD_DATA until they are "
                           "cleared.",
            .remedy_ros = "ros2 run tf2_ros tf2_monitor",
            .remedy_timebase = "timebase observe /tf",
            .remedy_launch = "buffer.clear()  # in a jump callback of the node's clock",
        },
    [TB__RULE_MISSING_EVIDENCE] =
        {
            .id = "missing-evidence",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject} is missing",
            .many = "{count} topics are missing: {list}",
            .consequence = "Without it, faults of time cannot be found after an incident.",
            .remedy_ros = "ros2 bag record --all",
            .remedy_timebase = "timebase record --all",
            .remedy_launch = "ExecuteProcess(cmd=['ros2', 'bag', 'record', '/clock', '/tf', "
                             "'/tf_static', '/diagnostics', ...])",
        },
    [TB__RULE_MESSAGES_LOST] =
        {
            .id = "messages-lost",
            .severity = TB__SEVERITY_WARN,
            .one = "messages of {subject} were lost while they were recorded",
            .many = "messages of {count} topics were lost while they were recorded: {list}",
            .consequence = "What is missing looks like what was never sent: gaps and rates are "
                           "the recorder's.",
            .remedy_ros = "ros2 bag record --max-cache-size 1073741824 {subjects}",
            .remedy_timebase = "timebase record --max-cache-size 1073741824 {subjects}",
            .remedy_launch = "ExecuteProcess(cmd=['ros2', 'bag', 'record', '--max-cache-size', "
                             "'1073741824', ...])",
        },
    [TB__RULE_RECORDING_PAUSED] =
        {
            .id = "recording-paused",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject} was paused between its messages",
            .many = "{count} recordings were paused between their messages: {list}",
            .consequence = "Nothing is known of that time: gaps there are no fault of the graph.",
            .remedy_ros = "ros2 bag record --all",
            .remedy_timebase = "timebase record --all",
            .remedy_launch = "ExecuteProcess(cmd=['ros2', 'bag', 'record', '--all'])",
        },
    [TB__RULE_RECORDER_UNSYNCHRONIZED] =
        {
            .id = "recorder-unsynchronized",
            .severity = TB__SEVERITY_NOTE,
            .one = "the clock of {subject}, which recorded, was not synchronized",
            .many = "the clocks of {count} hosts, which recorded, were not synchronized: {list}",
            .consequence = "Log times cannot be compared with the time of other hosts, or of a "
                           "watch.",
            .remedy_ros = "chronyc waitsync",
            .remedy_timebase = "timebase audit",
            .remedy_launch = "ExecuteProcess(cmd=['chronyc', 'waitsync', '60', '0.01'])",
        },
    [TB__RULE_LOG_EVIDENCE] =
        {
            .id = "log-evidence",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject} logs problems with time",
            .many = "{count} nodes log problems with time: {list}",
            .consequence = "It drops messages or works with the wrong transforms.",
            .remedy_ros = "ros2 topic echo /rosout",
            .remedy_timebase = "timebase audit --watch",
            .remedy_launch = "SetEnvironmentVariable('RCUTILS_CONSOLE_OUTPUT_FORMAT', "
                             "'[{time}] [{name}] {message}')",
        },
    [TB__RULE_NODE_UNANNOUNCED] =
        {
            .id = "node-unannounced",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject} has not announced its nodes",
            .many = "{count} processes have not announced their nodes: {list}",
            .consequence = "What it publishes cannot be judged by node, and its parameters cannot "
                           "be read or set.",
            .remedy_ros = "ros2 daemon stop; ros2 node list",
            .remedy_timebase = "timebase nodes --wait 10",
            .remedy_launch = "SetEnvironmentVariable('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET')  "
                             "# the same for all processes",
        },
    [TB__RULE_NODE_UNREACHABLE] =
        {
            .id = "node-unreachable",
            .severity = TB__SEVERITY_WARN,
            .one = "{subject} is registered with the ROS 1 master and does not answer",
            .many = "{count} nodes are registered with the ROS 1 master and do not answer: {list}",
            .consequence = "Subscribers go on trying to connect to it, and lists of nodes and "
                           "publishers have it as if it were there.",
            .remedy_ros = "rosnode cleanup",
            .remedy_timebase = "timebase nodes --ros1",
            .remedy_launch = "<node ... respawn=\"true\"/>  <!-- of {subject} -->",
        },
    [TB__RULE_NODE_NAME_SHARED] =
        {
            .id = "node-name-shared",
            .severity = TB__SEVERITY_WARN,
            .one = "several nodes are named {subject}",
            .many = "{count} names are shared by several nodes: {list}",
            .consequence = "Parameters are set on one of them, and it is not known on which.",
            .remedy_ros = "ros2 node list",
            .remedy_timebase = "timebase nodes",
            .remedy_launch = "Node(..., name='another_name')",
        },
    [TB__RULE_TIME_BASE_UNKNOWN] =
        {
            .id = "time-base-unknown",
            .severity = TB__SEVERITY_NOTE,
            .one = "the time base of {subject} is unknown",
            .many = "the time base of {count} nodes is unknown: {list}",
            .consequence = "It cannot be judged whether it fits the graph.",
            .remedy_ros = "ros2 param get {subject} use_sim_time",
            .remedy_timebase = "timebase nodes --limit 10",
            .remedy_launch = LAUNCH_SIM_TIME,
        },
    [TB__RULE_DEFINITION_UNKNOWN] =
        {
            .id = "definition-unknown",
            .severity = TB__SEVERITY_NOTE,
            .one = "the definition of the type of {subject} is unknown",
            .many = "the definitions of the types of {count} topics are unknown: {list}",
            .consequence = "Its stamps cannot be read; its size and its rate are judged.",
            .remedy_ros = "source install/setup.bash",
            .remedy_timebase = "timebase observe --definitions DIR {subjects}",
            .remedy_launch = "SetEnvironmentVariable('AMENT_PREFIX_PATH', install_prefix)",
        },
    [TB__RULE_REPLAY_MISSING] =
        {
            .id = "replay-missing",
            .severity = TB__SEVERITY_ERROR,
            .one = "messages of {subject} are missing in the replay",
            .many = "messages of {count} topics are missing in the replay: {list}",
            .consequence = "What was tested did not receive what was recorded.",
            .remedy_ros = "ros2 bag play --read-ahead-queue-size 10000 BAG",
            .remedy_timebase = "timebase play -r 0.5 BAG",
            .remedy_launch = "ExecuteProcess(cmd=['ros2', 'bag', 'play', '--qos-profile-overrides-"
                             "path', 'reliable.yaml', bag])  # and the same for the recorder",
        },
    [TB__RULE_REPLAY_EXTRA] =
        {
            .id = "replay-extra",
            .severity = TB__SEVERITY_ERROR,
            .one = "{subject} has messages that were not played",
            .many = "{count} topics have messages that were not played: {list}",
            .consequence = "Somebody else published there: what was tested received both.",
            .remedy_ros = "ros2 topic info --verbose {subject}",
            .remedy_timebase = "timebase topic list",
            .remedy_launch = "Node(..., remappings=[('{subject}', '{subject}_2')])  # of what "
                             "publishes it beside the player",
        },
    [TB__RULE_REPLAY_REORDERED] =
        {
            .id = "replay-reordered",
            .severity = TB__SEVERITY_ERROR,
            .one = "messages of {subject} came out of order in the replay",
            .many = "messages of {count} topics came out of order in the replay: {list}",
            .consequence = "What was tested received them in another order than was recorded.",
            .remedy_ros = "ros2 bag play -r 0.5 BAG",
            .remedy_timebase = "timebase play -r 0.5 BAG",
            .remedy_launch = "ExecuteProcess(cmd=['ros2', 'bag', 'play', bag])  # one player alone",
        },
};

const tb__rule_t *tb__rule(tb__rule_id_t id)
{
  return &rules[(unsigned)id < TB__RULE_COUNT ? id : 0];
}
