#!/usr/bin/python3
"""`timebase play --ros1` on a graph of Debian's ROS 1: rosbag's recorder, rospy and rostopic get what
was recorded, and its time.

usage: play_test.py - TIMEBASE [TEST...]"""

import fcntl
import os
import struct
import subprocess
import sys
import termios

import ros1_peers
from ros1_graph import LIMIT_S, wait_until
from ros1_peers import PeersTest, Subscriber, read, write_bag

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bag"))
import foreign_mcap  # noqa: E402

ROSPY = """
import rospy, sys
from std_msgs.msg import String
rospy.init_node("listener", disable_rosout=True)
print("sim", rospy.rostime.is_wallclock() is False, flush=True)
rospy.Subscriber(sys.argv[1], String, lambda m: print(m.data, repr(rospy.Time.now().to_sec()), flush=True))
rospy.spin()
"""


class PlayTest(PeersTest):
    def setUp(self):
        self.bag = self.path("in.bag")
        write_bag(self.bag)

    def play(self, *arguments, **options):
        return self.start(self.timebase, "play", "--ros1", self.bag, *arguments, **options)

    def publisher(self, topic):
        """The uri of the node that publishes it."""
        node = wait_until(lambda: self.state(0).get(topic), f"a publisher of {topic}")[0]
        return self.core.master.lookupNode("/test", node)[2]

    def listener(self, topic, sim_time="False"):
        child = self.start("/usr/bin/python3", "-c", ROSPY, topic)
        self.assertEqual(child.stdout.readline(), f"sim {sim_time}\n")
        wait_until(lambda: topic in self.state(1), "a listener")
        return child

    def played(self, child):
        out = child.communicate(timeout=LIMIT_S)[0]
        self.assertEqual(child.returncode, 0, out)
        return out

    def test_a_recorder_gets_what_was_recorded(self):
        recorders = self.record({"/talk": 200, "/nothing": 20, "/name": 2})
        self.assertIn("222 messages", self.played(self.play()))
        out, original = self.recorded(recorders), read(self.bag)
        self.assertEqual(sorted(out), sorted(original))
        for topic, played in out.items():
            self.assertEqual(played, original[topic], topic)

    def test_as_fast_as_possible_nothing_is_lost(self):
        write_bag(self.bag, 20000)
        listener = self.listener("/talk")
        self.played(self.play("--rate", "max", "--topics", "/talk"))
        for i in range(20000):
            self.assertEqual(int(listener.stdout.readline().split()[1]), i)

    def test_the_clock_is_never_behind_a_message(self):
        terminal, keys = os.openpty()
        self.addCleanup(os.close, terminal)
        self.addCleanup(os.close, keys)
        child = self.play("--clock", "--start-paused", stdin=keys, start_new_session=True,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        clock = Subscriber(self.publisher("/clock"), "/clock")
        talk = Subscriber(self.publisher("/talk"), "/talk")
        self.assertEqual((talk.header["type"], talk.header["latching"]), ("std_msgs/String", "0"))
        self.assertIn("string data\n", talk.header["message_definition"])
        milliseconds = lambda tick: 1000 * tick[0] + tick[1] // 1_000_000  # noqa: E731
        ticks, number = [milliseconds(struct.unpack("<II", clock.frame()))], -1  # paused, it repeats its time
        os.write(terminal, b" ")  # resumes
        while number < 199:
            number = int(talk.frame()[12:])
            ticks += [milliseconds(struct.unpack("<II", tick)) for tick in clock.frames()]
            self.assertGreaterEqual(ticks[-1], 1_000_000 + 5 * number)
        self.assertEqual(ticks, sorted(ticks))
        self.assertEqual(ticks[-1], 1_000_995)
        self.played(child)

    def test_rospy_follows_and_use_sim_time_is_put_back(self):
        child = self.play("--clock", "--start-paused")
        wait_until(lambda: self.core.master.getParam("/test", "/use_sim_time")[2] is True,
                   "use_sim_time")
        self.listener("/talk", "True")
        self.stop(child)
        self.assertEqual(self.core.master.getParam("/test", "/use_sim_time")[0], -1)
        self.assertNotIn("/talk", self.state(0))

    def test_remapped(self):
        listener = self.listener("/other")
        self.played(self.play("--clock", "--remap", "talk:=/other", "clock:=other_clock"))
        self.assertEqual(listener.stdout.readline().split()[1], "0")
        self.assertEqual(self.core.master.getParam("/test", "/use_sim_time")[0], -1)

    def test_rospy_gets_messages_at_their_time(self):
        self.core.set_sim_time(True)
        self.addCleanup(self.core.master.deleteParam, "/test", "/use_sim_time")
        listener = self.listener("/talk", "True")
        self.played(self.play("--clock"))
        for i in range(200):
            number, now = listener.stdout.readline().split()[1:]
            self.assertEqual(int(number), i)
        self.assertGreater(float(now), 1000)  # of the last: the clock has a connection of its own
        self.assertIs(self.core.master.getParam("/test", "/use_sim_time")[2], True)

    def test_a_late_joiner_gets_what_is_latched(self):
        self.play("--start-offset", "0.5", "--start-paused")
        wait_until(lambda: self.state(0).get("/name"), "a publisher of /name")
        shown = subprocess.run(["/usr/bin/rostopic", "echo", "-n", "1", "/name"],
                               env=self.core.environment, capture_output=True, text=True,
                               timeout=LIMIT_S).stdout
        self.assertIn('data: "/b"', shown)

    def test_rostopic_hz(self):
        self.play("--loop")
        child = self.start("/usr/bin/rostopic", "hz", "-w", "100", "/talk", stderr=subprocess.STDOUT)
        seen = []

        def is_fast():
            seen.append(child.stdout.readline())  # one a second
            return "average rate" in seen[-1] and float(seen[-1].split()[-1]) > 100
        wait_until(is_fast, lambda: seen)

    def test_a_file_of_mcap_without_md5sums(self):
        """As other programs write it. What contradicts itself is named, and the rest is played."""
        text = "string data\n"
        words = [(1_000_000_000 + i * 10_000_000, struct.pack("<I", 5) + b"hello") for i in range(3)]
        self.bag = self.path("in.mcap")
        foreign_mcap.write(self.bag, [("/talk", "std_msgs/String", "ros1", "ros1msg", text, {}, words),
                                      ("/none", "std_msgs/String", "ros1", "", "", {}, words),
                                      ("/torn", "std_msgs/String", "ros1", "ros1msg", "Missing data\n", {}, words),
                                      ("/cdr", "std_msgs/String", "cdr", "ros1msg", text, {}, words),
                                      ("/ros2", "std_msgs/String", "ros1", "ros2msg", text, {}, words)])
        listener = self.listener("/talk")
        child = self.play(stderr=subprocess.PIPE)
        out, errors = child.communicate(timeout=LIMIT_S)
        self.assertEqual(child.returncode, 0, errors)
        self.assertIn("3 messages", out)
        for topic, why in (("/none", "neither the md5sum nor the definition"), ("/torn", "none follows from its"),
                           ("/cdr", 'serialized as "cdr", but'), ("/ros2", 'serialized as "ros1", but')):
            self.assertRegex(errors, f"{topic} .*{why}")
        for _ in range(3):
            self.assertEqual(listener.stdout.readline().split()[0], "hello")

    def test_what_is_no_option_of_ros1(self):
        for arguments in (("--wait-for-acks",), ("--domain", "1"), ("--max-depth", "3"),
                          ("--remap", "/talk")):
            child = self.play(*arguments, stderr=subprocess.PIPE)
            error = child.communicate(timeout=LIMIT_S)[1]
            self.assertEqual(child.returncode, 2, error)
            self.assertIn(arguments[0], error)


if __name__ == "__main__":
    ros1_peers.main(2)
