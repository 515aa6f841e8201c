#!/usr/bin/python3
"""`timebase bridge` between a graph of Debian's ROS 1 and one of ROS 2: /clock both ways, loops, masters and publishers
that are started again.

usage: bridge_test.py ROSCPP_FOLLOWER TIMEBASE [TEST...]"""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "system"))

import command_test
import ros1_graph
import ros1_test
from command_test import LOOPBACK, Process, bag_make
from ros1_graph import LIMIT_S, SECOND, wait_until
from ros1_test import Roscore
from terminal import Terminal

START_S = 1_700_000_000
DOMAIN = 96  # to 99, one for each test in turn
ROSPY_FOLLOWER = os.path.join(HERE, "rospy_follower.py")
SIMULATOR = """
import genpy.dynamic, rospy, sys
Clock = genpy.dynamic.generate_dynamic(sys.argv[2], "time clock\\n")[sys.argv[2]]
rospy.init_node(sys.argv[1], disable_rostime=True, disable_rosout=True)
publisher = rospy.Publisher("/clock", Clock, queue_size=1)
rate = rospy.Rate(100)
for line in sys.stdin:
    publisher.publish(Clock(rospy.Time(0, 0) + rospy.Duration.from_sec(float(line))))
"""

PUBLISHER = """
import rospy
from geometry_msgs.msg import PoseStamped, TransformStamped
from sensor_msgs.msg import Imu, Range
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage
rospy.init_node("robot", disable_rosout=True, disable_rostime=True)

def transform(child):
    one = TransformStamped(child_frame_id=child)
    one.header = Header(7, rospy.Time(12, 345), "map")
    one.transform.rotation.w = 1
    one.transform.translation.x = 1.5
    return one

header = Header(3, rospy.Time(1700000000, 999999999), "b\u00e4se")
imu = Imu(header=header)
imu.orientation.x, imu.angular_velocity.z, imu.linear_acceleration.y = 0.25, -1e300, 9.81
imu.orientation_covariance = [float(i) for i in range(9)]
pose = PoseStamped(header=header)
pose.pose.position.x, pose.pose.orientation.w = -1.25, 1
messages = {"/header": header, "/imu": imu, "/pose": pose, "/tf": TFMessage([transform("a"), transform("b")]),
            "/range": Range(header=header), "/secret": header}
static = [rospy.Publisher("/tf_static", TFMessage, queue_size=1, latch=True)]
static[0].publish(TFMessage([transform("lidar")]))
publishers = {name: rospy.Publisher(name, type(message), queue_size=10) for name, message in messages.items()}
while not rospy.is_shutdown():
    for name, publisher in publishers.items():
        publisher.publish(messages[name])
    rospy.rostime.wallsleep(0.1)
"""
ONE_HEADER = """
import rospy
from std_msgs.msg import Header
rospy.init_node("header", disable_rosout=True, disable_rostime=True)
publisher = rospy.Publisher("/header", Header, queue_size=1, latch=True)
publisher.publish(Header(0, rospy.Time(5), "a"))
rospy.spin()
"""
STATIC = """
import rospy, sys
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage
rospy.init_node("static_" + sys.argv[1], disable_rosout=True, disable_rostime=True)
publisher = rospy.Publisher("/tf_static", TFMessage, queue_size=1, latch=True)
for child in sys.argv[1:]:
    publisher.publish(TFMessage([TransformStamped(child_frame_id=child)]))
rospy.spin()
"""
MIXED = """
import rospy, sys
from sensor_msgs.msg import Range
from std_msgs.msg import String
rospy.init_node(sys.argv[1], disable_rosout=True, disable_rostime=True)
publisher = rospy.Publisher("/mixed", Range if sys.argv[1] == "bad" else String, queue_size=10)
while not rospy.is_shutdown():
    publisher.publish(Range() if sys.argv[1] == "bad" else String("hello"))
    rospy.rostime.wallsleep(0.05)
"""
RECEIVER = """
import json, os, rospy, sys
import geometry_msgs.msg, sensor_msgs.msg, std_msgs.msg, tf2_msgs.msg
rospy.init_node("receiver", disable_rosout=True, disable_rostime=True)
types = {"/header": std_msgs.msg.Header, "/imu": sensor_msgs.msg.Imu, "/pose": geometry_msgs.msg.PoseStamped,
         "/tf": tf2_msgs.msg.TFMessage, "/tf_static": tf2_msgs.msg.TFMessage}
for name in sys.argv[1:]:
    rospy.Subscriber(name, types[name], lambda message, name=name: os.write(1, (json.dumps([name, str(message)]) + "\\n").encode()))
sys.stdin.read()
"""


class Follower(Process):
    """A node of ROS 1 on simulated time."""

    def read(self):
        self.write("")
        return json.loads(self.expect("{").string)

    def until(self, condition, what):
        last = {}

        def look():
            last.update(self.read())
            return condition(last) and dict(last)
        return wait_until(look, lambda: f"{what}: {last} {self.errors}")


class BridgeTest(ros1_graph.Ros1Test):
    domains = itertools.cycle(range(DOMAIN, DOMAIN + 4))

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.bag = f"{cls.folder}/test.bag"
        ros1_test.RosTest.write_bag(cls.bag)
        cls.core = Roscore(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.core.kill()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.domain = next(self.domains)
        self.environment = {**self.core.environment, "CYCLONEDDS_URI": LOOPBACK,
                            "ROS_DOMAIN_ID": str(self.domain)}
        command_test.CommandTest.domain_lock(self, self.domain)
        self.core.forget()

    # ---- processes ----

    def timebase(self, *arguments):
        return Process(self, [TIMEBASE, *arguments], self.environment, stdin=subprocess.PIPE)

    def bridge(self, *arguments):
        """One that carries or waits, with JSON."""
        return self.timebase("bridge", "--clock", "--json", *arguments)

    def until_carrying(self, bridge, side):
        begun = json.loads(bridge.expect(r'\{.*"begin"').string)
        self.assertEqual(begun["from"], side)
        return begun["node"]

    def refused(self, *arguments):
        """What a bridge prints that is refused."""
        bridge = self.timebase("bridge", "--clock", "--duration", str(LIMIT_S), *arguments)
        self.assertEqual(bridge.wait(), 1, bridge.errors)
        return "\n".join(line for line in bridge.errors if line)

    def play(self, *arguments):
        """rosbag play, with the service /player/pause_playback."""
        return Process(self, ["/usr/lib/rosbag/play", "--clock", "__name:=player", *arguments, self.bag],
                       self.environment)

    def simulator(self, name, kind="rosgraph_msgs/Clock"):
        return Process(self, ["/usr/bin/python3", "-c", SIMULATOR, name, kind], self.environment, stdin=subprocess.PIPE)

    def pause(self, data):
        subprocess.run(["/usr/bin/rosservice", "call", "/player/pause_playback", str(data).lower()],
                       env=self.environment, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT_S)

    def followers(self):
        """Nodes of rospy and roscpp."""
        children = [Follower(self, words, self.environment, stdin=subprocess.PIPE)
                    for words in ([self.program], ["/usr/bin/python3", ROSPY_FOLLOWER])]
        for child in children:
            self.assertEqual(json.loads(child.expect("{").string), {"sim": True})
        return children

    def sim_time(self):
        return self.core.master.getParam("/test", "/use_sim_time")

    def until_sim_time(self):
        wait_until(lambda: self.sim_time()[2] is True, "/use_sim_time")

    # ---- ROS 1 to ROS 2 ----

    def test_rosbag_play_drives_nodes_of_ros2(self):
        watches = [self.timebase("watch", "--json") for _ in range(2)]
        bridge = self.bridge()
        bridge.expect_error("waiting for a publisher of /clock")
        silent = self.simulator("silent")
        self.until_carrying(bridge, "ros1")
        for watch in watches:  # before the first tick
            watch.expect_report(lambda reports: reports[-1]["matched"] == 1)
        silent.child.stdin.close()
        silent.child.wait(LIMIT_S)
        player = self.play("-l", "-r", "2")
        for watch in watches:
            watch.expect_report(lambda reports: reports[-1]["time_ns"] > START_S * SECOND and
                                1.9 < reports[-1]["rtf"] < 2.1)
        self.pause(True)
        stopped = []
        for watch in watches:
            reports = watch.expect_report(lambda reports: reports[-1]["state"] == "paused" and reports[-1]["ticks"] > 50)
            stopped.append(reports[-1]["time_ns"])
        self.assertEqual(stopped[0], stopped[1])
        self.pause(False)
        bridge.expect_report(lambda reports: reports[-1]["jumps_backward"] >= 2)
        player.child.send_signal(signal.SIGINT)
        player.wait()
        carried = bridge.summary()
        self.assertEqual((carried["dropped"], carried["summary"]), (0, True))  # rosbag may stall and catch up
        self.assertGreater(carried["repeated"], 50)
        self.assertLess(carried["largest_backward_ns"], -SECOND)
        self.assertTrue(0 < carried["latency_median_ns"] <= carried["latency_p99_ns"], carried)
        for watch in watches:
            watch.expect_report(lambda reports: reports[-1]["time_ns"] == carried["time_ns"])
            seen = watch.summary()
            self.assertEqual((seen["jumps_backward"], seen["time_ns"]), (carried["jumps_backward"], carried["time_ns"]))
            self.assertLessEqual(seen["ticks"], carried["ticks"])
            self.assertGreater(seen["ticks"], 0.5 * carried["ticks"])  # the newest alone, on a busy machine
        self.assertEqual(self.sim_time()[0], -1)

    def test_each_tick_is_carried_once_and_what_cannot_be_is_counted(self):
        bridge = self.bridge("--from", "ros1")
        self.until_carrying(bridge, "ros1")
        watch = self.timebase("watch", "--json")
        simulator = self.simulator("simulator", "roslib/Clock")  # its name in old graphs
        bridge.expect_report(lambda reports: reports[-1]["publishers"] == 1)
        watch.expect_report(lambda reports: reports[-1]["matched"] == 1)
        times = [5, 5, 6.5, 5.5, 0, 3_000_000_000, 7]
        carried = [5, 5, 6.5, 5.5, 7]
        for number, time_s in enumerate(times):
            simulator.write(str(time_s))
            bridge.expect_report(lambda reports: reports[-1]["ticks"] + reports[-1]["dropped"] == number + 1)
        watch.expect_report(lambda reports: reports[-1]["time_ns"] == 7 * SECOND)
        done = bridge.summary()
        self.assertEqual([done[key] for key in ("ticks", "repeated", "jumps_backward", "zero", "beyond", "dropped")],
                         [len(carried), 1, 1, 1, 1, 2])
        self.assertEqual(done["largest_backward_ns"], -SECOND)
        seen = watch.summary()
        self.assertEqual((seen["ticks"], seen["jumps_backward"]), (len(carried), 1))
        self.assertTrue(any("a tick was not carried" in line for line in bridge.errors if line))

    # ---- ROS 2 to ROS 1 ----

    def test_timebase_play_and_serve_drive_nodes_of_ros1(self):
        bridge = self.bridge()
        recording = bag_make(tempfile.mkdtemp(dir=self.folder), 1000 * SECOND, SECOND // 10, 21)
        player = self.timebase("play", recording, "--clock", "-l", "--disable-keyboard-controls")
        node = self.until_carrying(bridge, "ros2")
        self.until_sim_time()
        children = self.followers()
        for child in children:
            first = child.until(lambda now: now["jumps_backward"] >= 1 and now["now_ns"] > 1000.5 * SECOND, "a second round")
            self.assertLess(first["now_ns"], 1003 * SECOND)
        player.child.send_signal(signal.SIGINT)
        player.wait()
        server = self.timebase("serve", "--start", "2000", "--rate", "5", "--hz", "200")
        rates = []
        for child in children:
            child.until(lambda now: now["now_ns"] > 2001 * SECOND, "the server's time")

            def is_right(child=child):
                began, first = time.monotonic(), child.read()
                later = child.until(lambda now: now["now_ns"] > first["now_ns"] + 5 * SECOND, "time that advances")
                rates.append((later["now_ns"] - first["now_ns"]) / SECOND / (time.monotonic() - began))
                return 4 < rates[-1] < 6
            wait_until(is_right, lambda: f"a rate of 5: {rates}")
        server.child.send_signal(signal.SIGINT)
        server.wait()
        self.timebase("serve", "--start", "500", "--paused")
        for child in children:
            begun = child.until(lambda now: now["now_ns"] == 500 * SECOND, "the time it is paused at")
            child.until(lambda now: now["repeated"] > begun["repeated"] + 20, "ticks that repeat it")
        carried = bridge.summary()
        self.assertEqual(carried["dropped"], 0)
        for child in children:
            self.assertEqual(child.read()["now_ns"], 500 * SECOND)
        self.assertEqual(self.sim_time()[0], -1)
        self.assertNotIn(node, str(self.core.master.getSystemState("/test")[2]))

    # ---- which side, and loops ----

    def test_publishers_on_both_sides_are_refused_and_named(self):
        self.timebase("serve", "--node", "other_sim")
        self.simulator("one_sim")
        wait_until(lambda: "/one_sim" in str(self.core.master.getSystemState("/test")[2][0]), "a simulator")
        self.assertRegex(self.refused(), "has publishers on both sides: /one_sim on ROS 1, /other_sim on ROS 2; "
                                         "choose one with --from ros1 or --from ros2")
        bridge = self.bridge("--from", "ros2")
        self.until_carrying(bridge, "ros2")
        bridge.expect_error("/clock of ROS 1 is also published by /one_sim: time will jump")

    def test_loops_are_refused(self):
        simulator = self.simulator("simulator")
        bridge = self.bridge()
        node = self.until_carrying(bridge, "ros1")
        for arguments in (), ("--from", "ros1"):
            self.assertRegex(self.refused(*arguments), f"{node} carries /clock from ROS 1 to ROS 2 already: each tick "
                                                       "would arrive twice")
        self.assertRegex(self.refused("--from", "ros2"),
                         f"{node} carries /clock from ROS 1 to ROS 2 already: carrying it back would be a loop")
        simulator.write("10")
        carried = bridge.summary()
        self.assertEqual(carried["dropped"], 0)
        self.assertEqual(self.core.master.hasParam("/test", f"{node}/timebase_bridge")[2], False)
        simulator.child.stdin.close()
        simulator.wait()
        self.timebase("serve")
        back = self.bridge()
        node = self.until_carrying(back, "ros2")
        self.assertRegex(self.refused("--from", "ros1"),
                         f"{node} carries /clock from ROS 2 to ROS 1 already: carrying it back would be a loop")

    def test_a_second_one_of_the_same_name_is_refused(self):
        bridge = self.bridge("--from", "ros1", "--node", "twin")
        self.until_carrying(bridge, "ros1")
        wait_until(lambda: "/twin" in str(self.core.master.getSystemState("/test")[2][1]), "its registration")
        for side in "ros1", "ros2":
            self.assertRegex(self.refused("--from", side, "--node", "twin"), "a node of ROS 1 is named /twin already")
        simulator = self.simulator("simulator")
        bridge.expect_report(lambda reports: reports[-1].get("publishers") == 1)
        simulator.write("10")
        bridge.expect_report(lambda reports: reports[-1].get("ticks") == 1)

    def test_of_two_that_begin_at_once_one_ends(self):
        bridges = [self.bridge("--from", side, "--node", f"bridge_{side}") for side in ("ros1", "ros2")]
        wait_until(lambda: any(bridge.child.poll() is not None for bridge in bridges), "the end of one")
        left = [bridge for bridge in bridges if bridge.child.poll() is None]
        self.assertEqual(len(left), 1)
        ended = next(bridge for bridge in bridges if bridge.child.poll() is not None)
        self.assertEqual(ended.wait(), 1)
        self.assertTrue(any("would be a loop" in line for line in ended.errors if line), ended.errors)
        if left[0] is bridges[0]:
            simulator = self.simulator("late_sim")
            left[0].expect_report(lambda reports: reports[-1].get("publishers") == 1)
            simulator.write("20")
        else:
            self.timebase("serve", "--start", "20", "--paused")
        left[0].expect_report(lambda reports: reports[-1].get("time_ns") == 20 * SECOND)

    # ---- the command ----

    def test_wrong_usage(self):
        for arguments, message in (
                ((), "nothing to carry: give --clock, --topics or both"),
                (("--clock", "--from", "ros3"), "ros3"),
                (("--topics", "--from", "ros1"), "--from: only with --clock"),
                (("--clock", "--exclude", "/a"), "--exclude: only with topics that are chosen"),
                (("--regex", "(", "--clock"), "--regex '\\('"),
                (("--topics", "--exclude=/a", "--exclude", "/b"), "--exclude: given twice"),
                (("--clock", "--node", "9"), "9"),
                (("--clock", "more"), "unexpected argument 'more'")):
            bridge = self.timebase("bridge", *arguments)
            self.assertEqual(bridge.wait(), 2, bridge.errors)
            self.assertRegex(bridge.errors[0], message)

    def test_it_waits_for_a_master_and_ends_by_a_signal(self):
        self.environment["ROS_MASTER_URI"] = "http://127.0.0.1:1/"
        bridge = self.bridge()
        bridge.expect_error("does not answer.*waiting for it")
        for number in signal.SIGINT, signal.SIGTERM:
            bridge.child.send_signal(number)
            self.assertEqual(bridge.wait(), 0, bridge.errors)
            bridge = self.bridge()
            bridge.expect_error("waiting for it")

    # ---- restarts ----

    def test_a_master_that_is_started_again(self):
        core = Roscore(self.folder)
        self.addCleanup(core.kill)
        self.environment["ROS_MASTER_URI"] = core.uri
        self.timebase("serve", "--start", "100")
        bridge = self.bridge()
        node = self.until_carrying(bridge, "ros2")
        wait_until(lambda: core.master.getParam("/test", "/use_sim_time")[2] is True, "/use_sim_time")
        core.kill()
        core.start()
        wait_until(lambda: core.master.getParam("/test", "/use_sim_time")[2] is True, "/use_sim_time again")
        wait_until(lambda: node in dict(core.master.getSystemState("/test")[2][0]).get("/clock", []), "the publisher")
        wait_until(lambda: core.master.hasParam("/test", f"{node}/timebase_bridge")[2], "the mark")
        child = self.followers()[0]
        child.until(lambda now: now["ticks"] > 20, "ticks")
        self.assertIsNone(bridge.child.poll())

    def test_publishers_that_are_started_again(self):
        bridge = self.bridge("--from", "ros1")
        self.until_carrying(bridge, "ros1")
        watch = self.timebase("watch", "--json")
        for round_number in (1, 2):
            simulator = self.simulator(f"simulator_{round_number}")
            bridge.expect_report(lambda reports: reports[-1]["publishers"] == 1)
            simulator.write(str(10 * round_number))
            watch.expect_report(lambda reports: reports[-1]["time_ns"] == 10 * round_number * SECOND)
            simulator.child.kill()
            bridge.expect_report(lambda reports: reports[-1]["publishers"] == 0)
        self.assertEqual(bridge.summary()["ticks"], 2)

    # ---- topics ----

    def receive(self, names, environment):
        """The first message of each, without the numbers of headers."""
        receiver = Process(self, ["/usr/bin/python3", "-c", RECEIVER, *names], environment, stdin=subprocess.PIPE)
        found = {}
        while len(found) < len(names):
            name, text = json.loads(receiver.expect(r"\[").string)
            found.setdefault(name, re.sub(r"seq: \d+", "seq", text))
        receiver.child.stdin.close()
        self.assertEqual(receiver.wait(), 0)
        return found

    def make_other_range(self):
        """A type that the two generations do not share."""
        path = os.path.join(self.folder, "share/sensor_msgs/msg/Range.msg")
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="ascii") as file:
            file.write("std_msgs/Header header\nuint8 radiation_type\nfloat32 field_of_view\nfloat32 min_range\n"
                       "float32 max_range\nfloat32 range\nfloat32 variance\n")
        self.environment["AMENT_PREFIX_PATH"] = self.folder

    def test_topics_there_and_back(self):
        """From one master to ROS 2, and from there to another master."""
        far = Roscore(self.folder)
        self.addCleanup(far.kill)
        there = {**self.environment, "ROS_MASTER_URI": far.uri}
        self.make_other_range()
        robot = Process(self, ["/usr/bin/python3", "-c", PUBLISHER], self.environment)
        out = self.timebase("bridge", "--topics", "--exclude=/secret", "--json")
        names = ["/header", "/imu", "/pose", "/tf", "/tf_static"]
        sent = self.receive(names, self.environment)
        back = Process(self, [TIMEBASE, "bridge", "--json", "--to-ros1", "/*", "--exclude", "/range"], there)
        self.assertEqual(self.receive(names, there), sent)
        self.assertEqual(self.receive(["/tf_static"], there), {"/tf_static": sent["/tf_static"]})
        self.assertIn("b\\xE4se", sent["/imu"])
        for bridge in out, back:
            bridge.child.send_signal(signal.SIGINT)
            self.assertEqual(bridge.wait(), 0, bridge.errors)
        told = [line for line in out.errors if line and "/range" in line]
        self.assertEqual(len(told), 1, told)
        self.assertRegex(told[0], "/range from ROS 1: the messages of /robot .sensor_msgs/Range. are not carried: .*variance")
        rows = {}
        for line in out.seen:
            row = json.loads(line)
            if "topic" in row:
                rows[row["topic"], row["from"]] = row
        self.assertEqual({topic for topic, side in rows if side == "ros1"}, {*names, "/range"})
        for name in names:
            row = rows[name, "ros1"]
            self.assertTrue(row["carried"] and row["messages"] > 0, row)
            self.assertEqual((row["lost"], row["failed"]), (0, 0), row)
        self.assertEqual((rows["/range", "ros1"]["carried"], rows["/range", "ros1"]["messages"]), (False, 0))
        self.assertIsNone(robot.child.poll())

    def test_publishers_of_one_topic_that_differ(self):
        """One of a type without a counterpart is refused alone, and one that offers less is carried too."""
        self.make_other_range()
        words = ["/usr/bin/python3", "-c", MIXED]
        Process(self, [*words, "bad"], self.environment)
        bridge = self.timebase("bridge", "--topics", "/mixed", "/stamped", "--json")
        bridge.expect_error("/mixed from ROS 1: the messages of /bad .sensor_msgs/Range. are not carried: ")
        bridge.expect_report(lambda reports: reports[-1].get("topics") == 0)
        Process(self, [*words, "good"], self.environment)
        bridge.expect_report(lambda reports: reports[-1].get("topics") == 1 and reports[-1]["messages"] > 5)

        recording = bag_make(tempfile.mkdtemp(dir=self.folder), 1000 * SECOND, SECOND // 10, 20)
        profile = os.path.join(self.folder, "weak.yaml")
        with open(profile, "w", encoding="ascii") as file:
            file.write("/stamped: {reliability: best_effort, durability: volatile, history: keep_last, depth: 10}\n")
        with open(profile.replace("weak", "strong"), "w", encoding="ascii") as file:
            file.write("/stamped: {reliability: reliable, durability: transient_local, history: keep_last, depth: 10}\n")
        play = ["play", recording, "--disable-keyboard-controls", "-l", "--qos-profile-overrides-path"]
        self.timebase(*play, profile.replace("weak", "strong"), "--start-paused")
        bridge.expect_report(lambda reports: reports[-1].get("topics") == 2)
        self.timebase(*play, profile)
        bridge.expect_error("/stamped from ROS 2: a publisher offers less than others: .* best effort from now on")
        receiver = Process(self, ["/usr/bin/python3", "-c", RECEIVER.replace("/header", "/stamped"), "/stamped"],
                           self.environment, stdin=subprocess.PIPE)
        receiver.expect(r"\[")
        bridge.child.send_signal(signal.SIGINT)
        self.assertEqual(bridge.wait(), 0, bridge.errors)
        rows = {row["topic"]: row for row in map(json.loads, bridge.seen) if "topic" in row}
        self.assertTrue(rows["/mixed"]["carried"] and rows["/mixed"]["failed"] > 0, rows)
        self.assertEqual(sum("offers less" in line for line in bridge.errors if line), 1)

    def test_what_each_latched_publisher_sent_last_comes_late(self):
        """Through ROS 2 to another master, where each is a node of its own."""
        far = Roscore(self.folder)
        self.addCleanup(far.kill)
        there = {**self.environment, "ROS_MASTER_URI": far.uri}
        words = ["/usr/bin/python3", "-c", STATIC]
        for frames in ("old_arm", "arm"), ("head",), ("leg",):
            Process(self, [*words, *frames], self.environment)
        out = self.timebase("bridge", "--to-ros2", "/tf_static", "--json")
        out.expect_report(lambda reports: reports[-1].get("messages") == 3)
        back = Process(self, [TIMEBASE, "bridge", "--json", "--to-ros1", "/tf_static"], there)
        back.expect_report(lambda reports: reports[-1].get("messages") == 3)
        for _ in range(2):
            receiver = Process(self, ["/usr/bin/python3", "-c", RECEIVER, "/tf_static"], there, stdin=subprocess.PIPE)
            frames = {re.search(r'child_frame_id: "(\w+)"', json.loads(receiver.expect(r"\[").string)[1]).group(1)
                      for _ in range(3)}
            self.assertEqual(frames, {"arm", "head", "leg"})
        self.assertEqual(len(dict(far.master.getSystemState("/test")[2][0])["/tf_static"]), 3)
        for bridge in back, out:
            bridge.child.send_signal(signal.SIGINT)
            self.assertEqual(bridge.wait(), 0, bridge.errors)
        self.assertNotIn("/tf_static", dict(far.master.getSystemState("/test")[2][0]))

    def test_topics_are_not_carried_twice_nor_back(self):
        Process(self, ["/usr/bin/python3", "-c", PUBLISHER], self.environment)
        first = self.timebase("bridge", "--topics", "/imu", "--json")
        node = json.loads(first.expect(r'\{.*"begin"').string)["node"]
        first.expect_report(lambda reports: reports[-1]["messages"] > 5)
        for direction in "--to-ros1", "--to-ros2":
            second = self.timebase("bridge", direction, "/imu", "--json")
            second.expect_error(f"/imu from ROS . is not carried: {node} carries it between the two graphs already")
            second.child.send_signal(signal.SIGINT)
            second.wait()
        both = self.timebase("bridge", "--topics", "/pose", "--json")
        both.expect(r'\{.*"begin"')
        both.expect_report(lambda reports: reports[-1]["messages"] > 5)
        self.assertEqual(both.summary(), {"summary": True})
        rows = [json.loads(line) for line in both.seen if '"topic"' in line]
        self.assertEqual([(row["topic"], row["from"]) for row in rows], [("/pose", "ros1")])
        first.child.send_signal(signal.SIGINT)
        first.wait()
        rows = [json.loads(line) for line in first.seen if '"topic"' in line]
        self.assertEqual([(row["topic"], row["from"], row["failed"]) for row in rows], [("/imu", "ros1", 0)])

    def test_a_topic_that_both_sides_publish_is_carried_both_ways(self):
        """And nothing of it comes back."""
        count = 30
        Process(self, ["/usr/bin/python3", "-c", ONE_HEADER], self.environment)
        bridge = self.timebase("bridge", "--topics", "/header", "--json")
        bridge.expect_report(lambda reports: reports[-1].get("messages") == 1)
        recording = bag_make(tempfile.mkdtemp(dir=self.folder), 1000 * SECOND, SECOND // 10, count)
        player = self.timebase("play", recording, "--disable-keyboard-controls", "--remap", "/stamped:=/header",
                               "--start-paused")
        bridge.expect_report(lambda reports: reports[-1].get("topics") == 2)
        resume = self.timebase("ctl", "/rosbag2_player", "resume", "--wait", str(LIMIT_S), "--limit", str(LIMIT_S))
        self.assertEqual(resume.wait(), 0, resume.errors)
        self.assertEqual(player.wait(), 0, player.errors)
        bridge.expect_report(lambda reports: reports[-1].get("messages", 0) > count)
        bridge.child.send_signal(signal.SIGINT)
        self.assertEqual(bridge.wait(), 0, bridge.errors)
        rows = {row["from"]: row for row in map(json.loads, bridge.seen) if "topic" in row}
        self.assertEqual([rows[side]["messages"] for side in ("ros1", "ros2")], [1, count])
        self.assertEqual(rows["ros1"]["failed"] + rows["ros2"]["failed"], 0)

    # ---- one timeline for both ----

    def test_serve_drives_both_graphs(self):
        """From one timeline: both are within a tick of each other, and end at the same time."""
        tick_ns = SECOND // 10
        server = Terminal(self, [TIMEBASE, "serve", "--ros1", "--start", "100", "--hz", "10", "--until", "104", "--paused"],
                          self.environment)
        server.expect(b"paused")
        self.until_sim_time()
        watch = self.timebase("watch", "--json")
        children = self.followers()
        for child in children:
            child.until(lambda now: now["now_ns"] == 100 * SECOND, "the start")
        watch.expect_report(lambda reports: reports[-1]["time_ns"] == 100 * SECOND)
        server.write(b" ")

        def is_near():
            reports = watch.expect_report(lambda reports: reports[-1]["ticks"] > 0)
            return all(abs(child.read()["now_ns"] - reports[-1]["time_ns"]) <= tick_ns for child in children)
        wait_until(is_near, "times within a tick")
        server.expect(b"ended at 104")
        self.assertEqual(server.child.wait(LIMIT_S), 0)
        for child in children:
            child.until(lambda now: now["now_ns"] == 104 * SECOND, "the end")
        watch.expect_report(lambda reports: reports[-1]["time_ns"] == 104 * SECOND)
        self.assertEqual(watch.summary()["time_ns"], 104 * SECOND)


if __name__ == "__main__":
    if not os.access("/usr/bin/roscore", os.X_OK):
        print("no ROS 1: apt-get install ros-core python3-rospy python3-rosbag libroscpp-dev")
        sys.exit(77)
    TIMEBASE = os.path.abspath(sys.argv.pop(2))
    ros1_graph.main(4)
