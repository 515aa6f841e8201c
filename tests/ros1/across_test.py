#!/usr/bin/python3
"""`timebase play` of a bag of ROS 1 on a graph of ROS 2, and of a recording of ROS 2 on a graph of
ROS 1, where Debian's rosbag records it.

usage: across_test.py - TIMEBASE [TEST...]"""

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys

import ros1_peers
from ros1_graph import LIMIT_S, wait_until
from ros1_peers import PeersTest, read

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
from command_test import LOOPBACK  # noqa: E402

DOMAIN = 48
COUNT = 100


def write_bag(path):
    """Topics with a counterpart in ROS 2, one of a type of its own, and /rosout, whose is laid out otherwise."""
    import genpy.dynamic
    import rosbag
    import rospy
    from geometry_msgs.msg import PoseStamped
    from rosgraph_msgs.msg import Clock, Log
    from std_msgs.msg import Empty, String
    own = genpy.dynamic.generate_dynamic("own_msgs/Thing", "uint8 value\n")["own_msgs/Thing"]
    latched = {"callerid": "/a", "latching": "1", "md5sum": String._md5sum, "topic": "/name",
               "type": String._type, "message_definition": String._full_text}
    with rosbag.Bag(path, "w") as bag:
        bag.write("/name", String(data="robot"), rospy.Time(1000), connection_header=latched)
        bag.write("/empty", Empty(), rospy.Time(1000))
        bag.write("/rosout", Log(msg="hello"), rospy.Time(1000))
        bag.write("/thing", own(7), rospy.Time(1000))
        for i in range(COUNT):
            at = rospy.Time(1000, 10_000_000 * i)
            pose = PoseStamped()
            pose.header.seq = i
            pose.header.stamp = at
            pose.header.frame_id = "map"
            pose.pose.position.x = i
            bag.write("/clock", Clock(at), at)
            bag.write("/pose", pose, at)
            bag.write("/talk", String(data=f"message {i}"), at)


class AcrossTest(PeersTest):
    def setUp(self):
        self.core.environment = {**self.core.environment, "CYCLONEDDS_URI": LOOPBACK,
                                 "ROS_DOMAIN_ID": str(DOMAIN)}
        # another checkout that runs this test waits
        lock = open(f"/tmp/timebase-test-domain-{DOMAIN}.lock", "a", encoding="ascii")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)

    def run_timebase(self, *arguments):
        done = subprocess.run([self.timebase, *arguments], env=self.core.environment, text=True,
                              capture_output=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done)
        return done

    def test_there_and_back(self):
        bag, recorded = self.path("in.bag"), self.path("ros2")
        write_bag(bag)
        topics = ["/clock", "/empty", "/name", "/pose", "/rosout", "/talk", "/thing"]
        recorder = self.start(self.timebase, "record", "-o", recorded, "--topics", *topics)
        self.assertIn("recording", recorder.stdout.readline())
        player = self.start(self.timebase, "play", bag, "--start-paused", stderr=subprocess.PIPE)

        def are_followed():
            found = json.loads(self.run_timebase("topic", "list", "--json").stdout)
            return {one["topic"] for one in found if one["subscribers"]} >= set(topics)
        wait_until(are_followed, "the recorder's subscriptions")
        self.run_timebase("ctl", "/rosbag2_player", "resume", "--wait", "50s", "--limit", "50s")
        errors = player.communicate(timeout=LIMIT_S)[1]
        self.assertEqual(player.returncode, 0, errors)
        self.assertNotIn("/rosout", errors)
        wait_until(lambda: f"recorded {3 * COUNT + 4} messages" in recorder.stdout.readline(), "all")
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=LIMIT_S)
        shown = self.run_timebase("bag", "info", recorded).stdout
        for line in (r"/clock +rosgraph_msgs/msg/Clock +100 ", r"/name +std_msgs/msg/String +1 ", r"/empty +std_msgs/msg/Empty +1 ",
                     r"/pose +geometry_msgs/msg/PoseStamped +100 ", r"/thing +own_msgs/msg/Thing +1 "):
            self.assertRegex(shown, line)

        recorders = self.record({"/name": 1, "/pose": COUNT, "/talk": COUNT, "/clock": COUNT, "/empty": 1})
        played = self.run_timebase("play", recorded, "--ros1", "--exclude-topics", "/thing").stdout
        self.assertIn(f"{3 * COUNT + 3} messages", played)
        out, original = self.recorded(recorders), read(bag)
        for topic in ("/name", "/talk", "/clock", "/empty"):
            self.assertEqual(out[topic], original[topic], topic)
        for i, (pose, before) in enumerate(zip(out["/pose"][3], original["/pose"][3])):
            self.assertEqual(pose, before)
            self.assertEqual(struct.unpack_from("<I", pose)[0], i)
        self.assertEqual(len(out["/pose"][3]), COUNT)


if __name__ == "__main__":
    ros1_peers.main()
