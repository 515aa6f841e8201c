#!/usr/bin/python3
"""`timebase record --ros1` on a graph of Debian's ROS 1: rosbag reads what rosbag played and rospy sent.

usage: record_test.py - TIMEBASE [TEST...]"""

import glob
import os
import re
import signal
import struct
import subprocess
import sys
import xmlrpc.client

import ros1_peers
from ros1_graph import LIMIT_S, Master, wait_until
from ros1_peers import PeersTest, Subscriber, read, write_bag

TALKER = """
import rospy, sys
from std_msgs.msg import String
rospy.init_node(sys.argv[1], disable_rosout=True)
publisher = rospy.Publisher(sys.argv[2], String, queue_size=10, latch=True)
publisher.publish(sys.argv[1])
rospy.spin()
"""


class OddMaster(Master):
    """Lists topics in forms that no master uses."""

    answers = [[1, "", 5], [1, "", "text"], [1, "", {"a": []}], [0, "no", 0], ["1"],
               [1, "", [["/a"], [1, 2], "x", [], ["no name", "std_msgs/String"], ["/b", {}]]],
               [1, "", [["/good", "std_msgs/String"], ["/good", "std_msgs/String"]]]]

    def __init__(self):
        self.asked = 0
        super().__init__()

    def do_getPublishedTopics(self, caller, subgraph):
        self.asked += 1
        return self.answers[min(self.asked, len(self.answers)) - 1]


class RecordTest(PeersTest):
    def recorder(self, *arguments, topics=()):
        """Records, and is subscribed to the topics."""
        child = self.start(self.timebase, "record", "--ros1", "-o", self.path("out.bag"), *arguments, *topics)
        self.assertIn("recording to", child.stdout.readline())
        wait_until(lambda: all(self.state(1).get(topic) for topic in topics), "a recorder")
        return child

    def recorded(self, child):
        """What the recorder says at its end."""
        child.send_signal(signal.SIGINT)
        out = child.communicate(timeout=LIMIT_S)[0]
        self.assertEqual(child.returncode, 0, out)
        return out.splitlines()[-1]

    def talker(self, name, topic):
        return self.start("/usr/bin/python3", "-c", TALKER, name, topic)

    def until_recorded(self, child, count):
        wait_until(lambda: f"recorded {count} messages" in child.stdout.readline(), "messages")

    def until_closed(self, child):
        """Until the recorder has read all that those who have ended had sent."""
        def is_closed():
            for nodes in self.state(1).values():
                for node in nodes:
                    slave = xmlrpc.client.ServerProxy(self.core.master.lookupNode("/test", node)[2])
                    if slave.getPid("/test")[2] == child.pid:
                        return not slave.getBusInfo("/test")[2]
            return False
        wait_until(is_closed, "the end of its connections")

    def rosbag_play(self, bag):
        """With room for all messages, and until it is stopped: it does not wait until they are sent."""
        return self.start("/usr/lib/rosbag/play", "-q", "--wait-for-subscribers", "-k", "--queue=1000", bag)

    def same(self, path, topics):
        out, original = read(path), read(self.path("in.bag"))
        self.assertEqual(sorted(out), sorted(topics))
        for topic in topics:
            self.assertEqual(out[topic], original[topic], topic)

    def test_what_rosbag_plays(self):
        write_bag(self.path("in.bag"))
        topics = ("/name", "/nothing", "/talk")
        child = self.recorder("--chunk-compression", "bz2", topics=topics)
        self.rosbag_play(self.path("in.bag"))
        self.until_recorded(child, 222)
        self.assertIn("222 messages", self.recorded(child))
        self.same(self.path("out.bag"), topics)
        subprocess.run(["/usr/bin/rosbag", "info", self.path("out.bag")], check=True,
                       env=self.core.environment, stdout=subprocess.DEVNULL)

    def test_what_timebase_plays_in_split_files(self):
        write_bag(self.path("in.bag"), 2000)
        child = self.recorder("--max-bag-size", "20000", "--chunk-compression", "lz4", topics=("/talk",))
        played = subprocess.run([self.timebase, "play", "--ros1", self.path("in.bag"), "-r", "10",
                                 "--topics", "/talk"], env=self.core.environment,
                                capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(played.returncode, 0, played)
        self.until_recorded(child, 2000)
        self.assertIn("2000 messages", self.recorded(child))
        files = sorted(glob.glob(self.path("out_*.bag")))
        self.assertGreater(len(files), 1)
        messages = [message for path in files for message in read(path)["/talk"][3]]
        self.assertEqual(messages, read(self.path("in.bag"))["/talk"][3])

    def test_all_topics_as_they_appear(self):
        child = self.recorder("--all", "--exclude-topics", "/rosout", "/rosout_agg",
                              "-x", "secret")
        self.until_recorded(child, 0)
        talkers = [self.talker("first", "/a")]
        self.until_recorded(child, 1)
        talkers += [self.talker("second", "/a"), self.talker("third", "/secret/a")]
        self.until_recorded(child, 2)
        talkers.append(self.talker("fourth", "/b"))
        self.until_recorded(child, 3)
        self.recorded(child)
        for talker in talkers:
            self.stop(talker)
        import rosbag
        with rosbag.Bag(self.path("out.bag")) as bag:
            connections = sorted((one.topic, one.header["callerid"].decode(),
                                  one.header["latching"].decode())
                                 for one in bag._get_connections())
            duration = bag.get_end_time() - bag.get_start_time()
        self.assertEqual(connections, [("/a", "/first", "1"), ("/a", "/second", "1"),
                                       ("/b", "/fourth", "1")])
        self.late_joiner_gets_both(f"{duration - 0.001:.3f}")

    def late_joiner_gets_both(self, offset):
        """Of the topic that two nodes have latched."""
        self.start(self.timebase, "play", "--ros1", self.path("out.bag"), "--start-paused",
                   "--start-offset", offset)
        node = wait_until(lambda: self.state(0).get("/a"), "a publisher of /a")[0]
        subscriber = Subscriber(self.core.master.lookupNode("/test", node)[2], "/a")
        self.addCleanup(subscriber.close)
        self.assertEqual(sorted(subscriber.frame()[4:] for _ in range(2)), [b"first", b"second"])

    def test_ros_time_and_a_jump_back(self):
        write_bag(self.path("in.bag"), start=5000)
        child = self.recorder("--use-sim-time", topics=("/talk",))
        wait_until(lambda: self.state(1).get("/clock"), "a recorder of /clock")
        player = self.start(self.timebase, "play", "--ros1", self.path("in.bag"), "--clock", "--loop")
        wait_until(lambda: re.search(r"recorded ([5-9]..|\d{4,}) ", child.stdout.readline()), "500 messages")
        self.stop(player)
        self.assertIn("jump", self.recorded(child))
        recorded = read(self.path("out.bag"))
        self.assertTrue(any(b"kind=backward" in jump for jump in recorded["/timebase/jumps"][3]))
        shown = subprocess.run([self.timebase, "bag", "info", self.path("out.bag")], check=True,
                               capture_output=True, text=True).stdout
        self.assertRegex(shown, r"run 1:.*\n  start: +5000\.\d* s.*\n  end: +5000\.9\d* s.*\n"
                                r"run 2:.*\n  start: +5000\.0")

    def test_a_bag_with_a_jump_is_played_in_runs(self):
        import rosbag
        import rospy
        from std_msgs.msg import String
        with rosbag.Bag(self.path("in.bag"), "w") as bag:  # 10 to 12 s, then 11 to 13 s
            for i in range(400):
                ms = 10_000 + 10 * i - (1000 if i >= 200 else 0)
                at = rospy.Time(ms // 1000, ms % 1000 * 1_000_000)
                bag.write("/talk", String(data=str(i)), at)
        child = self.recorder(topics=("/talk", "/clock"))
        played = subprocess.run([self.timebase, "play", "--ros1", self.path("in.bag"), "-r", "5", "--clock"],
                                env=self.core.environment, capture_output=True, text=True,
                                timeout=LIMIT_S)
        self.assertEqual(played.returncode, 0, played)
        self.assertIn("run 2 of 2", played.stderr)
        self.until_closed(child)
        self.recorded(child)
        out = read(self.path("out.bag"))
        self.assertEqual([int(message[4:]) for message in out["/talk"][3]], list(range(400)))
        ticks = [struct.unpack("<II", tick) for tick in out["/clock"][3]]
        back = [(before, after) for before, after in zip(ticks, ticks[1:]) if after < before]
        self.assertEqual(back, [((11, 990_000_000), (11, 0))])

    def test_a_master_that_lists_nonsense(self):
        master = OddMaster()
        self.addCleanup(master.close)
        environment = {**self.core.environment, "ROS_MASTER_URI": master.uri}
        child = self.start(self.timebase, "record", "--ros1", "--all", "-o", self.path("out.bag"),
                           env=environment)
        wait_until(lambda: [one for one in master.calls if one[0] == "registerSubscriber"], "a subscriber")
        self.assertGreaterEqual(master.asked, len(master.answers))
        self.assertIn("0 messages of 0 topics", self.recorded(child))
        topics = {call[1][1] for call in master.calls if call[0] == "registerSubscriber"}
        self.assertEqual(topics, {"/good"})

    def test_a_node_that_returns_with_another_type(self):
        """Its messages are recorded on: as another connection, with that definition."""
        import genpy.dynamic
        child = self.recorder(topics=("/odd",))
        kinds = [("odd/Kind", genpy.dynamic.generate_dynamic("odd/Kind", text)["odd/Kind"]._md5sum, text)
                 for text in ("int32 a\n", "uint32 a\n", "int32 a\n")]
        for count, (kind, md5sum, definition) in enumerate(kinds, 1):
            publisher = self.publisher(callerid="/robot", topic="/odd", type=kind, md5sum=md5sum,
                                       message_definition=definition)
            self.core.master.registerPublisher("/robot", "/odd", kind, publisher.uri)
            publisher.connected()
            publisher.send(struct.pack("<II", 4, count))
            self.until_recorded(child, count)
            self.core.master.unregisterPublisher("/robot", "/odd", publisher.uri)
            publisher.close_connections()
        self.assertIn("3 messages", self.recorded(child))
        import rosbag
        with rosbag.Bag(self.path("out.bag")) as bag:
            messages = [(raw[0], raw[2], raw[1]) for _, raw, _ in bag.read_messages(raw=True)]
            definitions = {one.md5sum: one.msg_def for one in bag._get_connections()}
        self.assertEqual(messages, [(kind, md5sum, struct.pack("<I", count))
                                    for count, (kind, md5sum, _) in enumerate(kinds, 1)])
        self.assertEqual(definitions, {md5sum: definition for _, md5sum, definition in kinds})

    def test_what_is_no_option_of_ros1(self):
        for arguments in (("-s", "mcap"), ("--domain", "1"), ("--compression-mode", "file"),
                          ("--node-name", "a b")):
            child = self.start(self.timebase, "record", "--ros1", "-a", "-o", self.path("no.bag"),
                               *arguments, stderr=subprocess.PIPE)
            self.assertNotEqual(child.communicate(timeout=LIMIT_S)[1], "")
            self.assertEqual(child.returncode, 2, arguments)
        self.assertFalse(os.path.exists(self.path("no.bag")))


if __name__ == "__main__":
    ros1_peers.main(2)
