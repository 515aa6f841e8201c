/* What to do about findings of a ROS 1 graph. */
#include <stddef.h>

#include "contract/rules.h"

#define LAUNCH_SIM_TIME "<param name=\"/use_sim_time\" type=\"bool\" value=\"true\"/>"
#define LAUNCH_PLAY                                                                                \
  "<node pkg=\"rosbag\" type=\"play\" name=\"player\" args=\"--clock $(arg bag)\"/>"

/* Rules that only ROS 1 has are not here: their own texts are of ROS 1. */
static const tb__remedies_t rules[TB__RULE_COUNT] = {
    [TB__RULE_MIXED_TIME_BASE] =
        {
            .remedy_ros = "rosnode kill {subjects}",
            .remedy_timebase = "timebase param get /use_sim_time --ros1",
            .remedy_launch = LAUNCH_SIM_TIME "  <!-- before its <node>; then start it again -->",
        },
    [TB__RULE_CLOCK_TWO_PUBLISHERS] =
        {
            .remedy_ros = "rosnode kill NODE",
            .remedy_timebase = "timebase nodes --ros1",
            .remedy_launch = "<node pkg=\"rosbag\" type=\"play\" name=\"player\" args=\"$(arg "
                             "bag)\"/>  <!-- without --clock beside a simulator -->",
        },
    [TB__RULE_CLOCK_TWO_STREAMS] =
        {
            .remedy_ros = "rostopic echo {subject}",
            .remedy_timebase = "timebase watch --ros1",
            /* A remap would be that of the player's own /clock too. */
            .remedy_launch = LAUNCH_PLAY "  <!-- of a bag without a recorded one: rosbag filter IN "
                                         "OUT 'topic != \"{subject}\"' -->",
        },
    [TB__RULE_NO_CLOCK_RECEIVED] =
        {
            .remedy_ros = "rosnode info {subject}",
            .remedy_timebase = "timebase serve --ros1",
            .remedy_launch = LAUNCH_PLAY "  <!-- or a simulator -->",
        },
    [TB__RULE_CLOCK_STALL] =
        {
            .remedy_ros = "rostopic hz {subject}",
            .remedy_timebase = "timebase watch --ros1",
            .remedy_launch = "<node ... respawn=\"true\"/>  <!-- of what publishes {subject} -->",
        },
    [TB__RULE_CLOCK_BACKWARDS] =
        {
            .remedy_ros = "rostopic echo {subject}",
            .remedy_timebase = "timebase watch --ros1",
            .remedy_launch = LAUNCH_PLAY "  <!-- without --loop -->",
        },
    [TB__RULE_CLOCK_ZERO] =
        {
            .remedy_ros = "rostopic echo -n 1 {subject}",
            .remedy_timebase = "timebase watch --ros1",
            .remedy_launch = LAUNCH_PLAY "  <!-- its first tick is not 0 -->",
        },
    [TB__RULE_CLOCK_INVALID] =
        {
            .remedy_ros = "rostopic echo -n 1 {subject}",
            .remedy_timebase = "timebase topic echo {subject} -n 1 --ros1",
            .remedy_launch = "msg.clock = rospy.Time(0, ns)  # in the publisher: it carries whole "
                             "seconds",
        },
    [TB__RULE_STAMP_INVALID] =
        {
            .remedy_ros = "rostopic echo {subject}/header/stamp",
            .remedy_timebase = "timebase topic echo --field header.stamp {subject} --ros1",
            .remedy_launch = "msg.header.stamp = rospy.Time(0, ns)  # in the publisher: it carries "
                             "whole seconds",
        },
    [TB__RULE_STAMP_ZERO] =
        {
            .remedy_ros = "rostopic echo {subject}/header/stamp",
            .remedy_timebase = "timebase topic echo {subject} --ros1",
            .remedy_launch = "msg.header.stamp = rospy.Time.now()  # in the publisher, after the "
                             "first tick of /clock",
        },
    [TB__RULE_STAMP_OTHER_DOMAIN] =
        {
            .remedy_ros = "rostopic echo {subject}/header/stamp",
            .remedy_timebase = "timebase nodes --ros1",
            .remedy_launch = LAUNCH_SIM_TIME "  <!-- before the <node> that publishes {subject} "
                                             "-->",
        },
    [TB__RULE_SYSTEM_STEP] =
        {
            .remedy_ros = "chronyc waitsync 30 0.01 && rosbag record --all",
            .remedy_timebase = "timebase bag cut BAG --start {detail} -o after",
            .remedy_launch =
                "<node ... launch-prefix=\"sh -c 'chronyc waitsync 30 0.01; $0 $@'\"/> "
                " <!-- of the recorder -->",
        },
    [TB__RULE_RECORDING_SILENT] =
        {
            .remedy_ros = "rosbag record --all --buffsize=1024",
            .remedy_timebase = "timebase record --all --ros1",
            .remedy_launch = "<node pkg=\"rosbag\" type=\"record\" name=\"record\" args=\"--all "
                             "--buffsize=1024\" launch-prefix=\"systemd-inhibit\"/>",
        },
    [TB__RULE_LOG_TIME_RANGE] =
        {
            .remedy_ros = "timedatectl status",
            .remedy_timebase = "timebase bag cut BAG --start 1s -o right",
            .remedy_launch =
                "<node ... launch-prefix=\"sh -c 'chronyc waitsync 30 0.01; $0 $@'\"/> "
                " <!-- of the recorder -->",
        },
    [TB__RULE_STAMP_OFFSET] =
        {
            .remedy_ros = "rostopic delay {subject}",
            .remedy_timebase = "timebase topic delay {subject} --ros1",
            .remedy_launch = "chronyc waitsync 30 0.01  # on the host that stamps; a driver takes "
                             "off the leap seconds of TAI or GPS time, and works in UTC",
        },
    [TB__RULE_STAMP_REPEATED] =
        {
            .remedy_ros = "rostopic echo {subject}/header/stamp",
            .remedy_timebase = "timebase topic echo {subject} --ros1",
            .remedy_launch =
                "msg.header.stamp = acquisition_time  # in the publisher, a new one for "
                "each message",
        },
    [TB__RULE_STAMP_WHOLE_SECONDS] =
        {
            .remedy_ros = "rostopic echo {subject}/header/stamp",
            .remedy_timebase = "timebase topic echo {subject} --ros1",
            .remedy_launch = "msg.header.stamp = rospy.Time.from_sec(seconds)  # in the publisher: "
                             "a float, not an int",
        },
    [TB__RULE_STAMP_FUTURE] =
        {
            .remedy_ros = "rostopic delay {subject}",
            .remedy_timebase = "timebase topic delay {subject} --ros1",
            .remedy_launch = LAUNCH_SIM_TIME "  <!-- before all nodes; one time source for all "
                                             "hosts (chrony) -->",
        },
    [TB__RULE_STAMP_OLD] =
        {
            .remedy_ros = "rostopic delay {subject}",
            .remedy_timebase = "timebase topic delay {subject} --ros1",
            .remedy_launch = LAUNCH_SIM_TIME "  <!-- before all nodes -->",
        },
    [TB__RULE_STAMP_BACKWARD] =
        {
            .remedy_ros = "rostopic echo {subject}/header/stamp",
            .remedy_timebase = "timebase topic echo {subject} --ros1",
            .remedy_launch = "<remap from=\"{subject}\" to=\"{subject}_2\"/>  <!-- where two "
                             "publishers share it -->",
        },
    [TB__RULE_TOPIC_TWO_TYPES] =
        {
            .remedy_ros = "rostopic info {subject}",
            .remedy_timebase = "timebase topic list --ros1",
            .remedy_launch = "<remap from=\"{subject}\" to=\"{subject}_2\"/>  <!-- on one side -->",
        },
    [TB__RULE_CLOCK_GAP] =
        {
            .remedy_ros = "rostopic hz {subject}",
            .remedy_timebase = "timebase watch --ros1",
            .remedy_launch = LAUNCH_PLAY "  <!-- with --hz=100 -->",
        },
    [TB__RULE_CLOCK_RATE] =
        {
            .remedy_ros = "rosbag play --clock --hz={detail} BAG",
            .remedy_timebase = "timebase play --ros1 --clock {detail} BAG",
            .remedy_launch = LAUNCH_PLAY "  <!-- with --hz={detail} -->",
        },
    [TB__RULE_HOST_OFFSET] =
        {
            .remedy_ros = "chronyc tracking",
            .remedy_timebase = "timebase audit --ros1",
            .remedy_launch =
                "<machine ... env-loader=\"env.sh\"/>  <!-- which runs chronyc waitsync "
                "30 0.01 before the nodes of that host -->",
        },
    [TB__RULE_RECEIPT_STAMPED] =
        {
            .remedy_ros = "rostopic delay {subject}",
            .remedy_timebase = "timebase topic delay {subject} --ros1",
            .remedy_launch = "msg.header.stamp = acquisition_time  # in the driver, not "
                             "rospy.Time.now()",
        },
    [TB__RULE_TOPIC_RATE] =
        {
            .remedy_ros = "rostopic hz {subject}",
            .remedy_timebase = "timebase topic hz {subject} --ros1",
            .remedy_launch =
                "<param name=\"publish_rate\" value=\"10.0\"/>  <!-- of what publishes "
                "{subject}; parameters differ -->",
        },
    [TB__RULE_TF_TWO_PUBLISHERS] =
        {
            .remedy_ros = "rosrun tf view_frames",
            .remedy_timebase = "timebase nodes --ros1",
            .remedy_launch =
                "<param name=\"publish_tf\" value=\"false\"/>  <!-- on all but one -->",
        },
    [TB__RULE_TF_LATE] =
        {
            .remedy_ros = "rosrun tf tf_monitor",
            .remedy_timebase = "timebase topic delay /tf --ros1",
            .remedy_launch = "buffer.lookup_transform(target, source, stamp, timeout)  # longer "
                             "than the transform is late",
        },
    [TB__RULE_TF_OLD_EPOCH] =
        {
            .remedy_ros = "rosrun tf tf_monitor",
            .remedy_timebase = "timebase topic delay /tf --ros1",
            .remedy_launch = "if rospy.Time.now() < last: buffer.clear()  # in each node with a "
                             "buffer",
        },
    [TB__RULE_MESSAGES_LOST] =
        {
            .remedy_ros = "rosbag record --buffsize=1024 {subjects}",
            .remedy_timebase = "timebase record --ros1 --max-cache-size 1073741824 {subjects}",
            .remedy_launch = "<node pkg=\"rosbag\" type=\"record\" name=\"record\" "
                             "args=\"--buffsize=1024 {subjects}\"/>",
        },
    [TB__RULE_RECORDING_PAUSED] =
        {
            .remedy_ros = "rosbag record --all",
            .remedy_timebase = "timebase record --all --ros1",
            .remedy_launch =
                "<node pkg=\"rosbag\" type=\"record\" name=\"record\" args=\"--all\"/>",
        },
    [TB__RULE_RECORDER_UNSYNCHRONIZED] =
        {
            .remedy_ros = "chronyc tracking",
            .remedy_timebase = "timebase record --all --ros1",
            .remedy_launch =
                "<node ... launch-prefix=\"sh -c 'chronyc waitsync 30 0.01; $0 $@'\"/> "
                " <!-- of the recorder -->",
        },
    [TB__RULE_MISSING_EVIDENCE] =
        {
            .remedy_ros = "rosbag record --all",
            .remedy_timebase = "timebase record --all --ros1",
            .remedy_launch = "<node pkg=\"rosbag\" type=\"record\" name=\"record\" args=\"/clock "
                             "/tf /tf_static /diagnostics ...\"/>",
        },
    [TB__RULE_LOG_EVIDENCE] =
        {
            .remedy_ros = "rostopic echo /rosout",
            .remedy_timebase = "timebase topic echo /rosout --ros1",
            .remedy_launch = "<env name=\"ROSCONSOLE_FORMAT\" value=\"[${time}] [${node}] "
                             "${message}\"/>",
        },
    [TB__RULE_STALE_EPOCH] =
        {
            .remedy_ros = "rostopic echo {subject}/header/stamp",
            .remedy_timebase = "timebase topic delay {subject} --ros1",
            .remedy_launch = "if rospy.Time.now() < last: reset()  # in the publisher: drop what "
                             "waits at a jump",
        },
    [TB__RULE_DEFINITION_UNKNOWN] =
        {
            .remedy_ros = "rostopic type {subject}",
            .remedy_timebase = "timebase topic echo {subject} --ros1",
            .remedy_launch = "<node ... />  <!-- of what publishes {subject}: it sends its "
                             "definition when a subscriber connects -->",
        },
    [TB__RULE_TIME_BASE_UNKNOWN] =
        {
            .remedy_ros = "rosnode info {subject}",
            .remedy_timebase = "timebase nodes --ros1",
            .remedy_launch = LAUNCH_SIM_TIME,
        },
};

const tb__remedies_t *tb__rule_ros1(tb__rule_id_t id)
{
  return (unsigned)id < TB__RULE_COUNT && rules[id].remedy_ros ? &rules[id] : NULL;
}
