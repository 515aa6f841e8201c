#!/usr/bin/python3
"""The ROS 1 source on a graph of Debian's ROS 1: roscore, rosbag play (roscpp) and rospy.

usage: ros1_test.py FOLLOWER [TEST...]"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xmlrpc.client

import ros1_graph
from ros1_graph import LIMIT_S, SECOND, free_port, wait_until

START_S = 1_700_000_000
BAG_S = 4
PUBLISHER = """
import rospy, sys
from rosgraph_msgs.msg import Clock
rospy.init_node(sys.argv[1], disable_rostime=True, disable_rosout=True)
publisher = rospy.Publisher("/clock", Clock, queue_size=1)
time_s = float(sys.argv[2])
i = 0
while not rospy.is_shutdown():
    i += 1
    publisher.publish(rospy.Time.from_sec(time_s + i * 0.01))
    rospy.rostime.wallsleep(0.01)
"""


def stat_of(pid):
    """(state, parent)"""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return fields[0], int(fields[1])


def children_of(parent):
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and stat_of(name)[1] == parent:
                found.append(int(name))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def is_running(pid):
    try:
        return stat_of(pid)[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Roscore:
    def __init__(self, folder):
        self.port = free_port()
        self.uri = f"http://127.0.0.1:{self.port}/"
        self.environment = {**os.environ, "ROS_MASTER_URI": self.uri, "ROS_IP": "127.0.0.1",
                            "ROS_HOME": folder, "ROS_LOG_DIR": f"{folder}/log"}
        self.environment.pop("ROS_HOSTNAME", None)
        self.master = xmlrpc.client.ServerProxy(self.uri)
        self.start()

    def start(self):
        self.child = subprocess.Popen(["/usr/bin/roscore", "-p", str(self.port)], env=self.environment,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
        wait_until(self.is_up, "a master")

    def is_up(self):
        """With all that its node has: it registers its services last."""
        try:
            return "/rosout/set_logger_level" in dict(self.master.getSystemState("/test")[2][2])
        except OSError:
            return False

    def kill(self):
        """Its three processes: in order it takes seconds. The first one would start the others again."""
        self.child.send_signal(signal.SIGSTOP)
        children = children_of(self.child.pid)
        self.child.kill()
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        self.child.wait()
        wait_until(lambda: not any(is_running(pid) for pid in children), "the end of its processes")

    def set_sim_time(self, value):
        self.master.setParam("/test", "/use_sim_time", value)

    def forget(self):
        """What a test has left on the master: nodes that were killed."""
        self.master.deleteParam("/test", "/use_sim_time")
        calls = (self.master.unregisterPublisher, self.master.unregisterSubscriber, self.master.unregisterService)
        for kind, lists in enumerate(self.master.getSystemState("/test")[2]):
            for name, nodes in lists:
                for node in set(nodes) - {"/rosout"}:
                    uri = (self.master.lookupService("/test", name) if kind == 2
                           else self.master.lookupNode("/test", node))
                    calls[kind](node, name, uri[2])

    def is_registered(self, name, topic="/clock"):
        """As a subscriber."""
        subscribers = dict(self.master.getSystemState("/test")[2][1])
        return any(name in one for one in subscribers.get(topic, []))


class GraphTest(ros1_graph.Ros1Test):
    """One roscore for all tests of a class, and programs that end with each."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.core = Roscore(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.core.kill()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def start(self, *words):
        """`errors()` of the child: what it has written to standard error so far."""
        errors = tempfile.TemporaryFile(dir=self.folder)
        self.addCleanup(errors.close)
        child = subprocess.Popen(words, env=self.core.environment, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=errors, text=True)
        child.errors = lambda: os.pread(errors.fileno(), 1 << 20, 0).decode()
        self.addCleanup(self.stop, child)
        return child

    stop = staticmethod(ros1_graph.stop)


class RosTest(ros1_graph.Ros1Test):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.bag = f"{cls.folder}/test.bag"
        cls.write_bag(cls.bag)
        cls.core = Roscore(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.core.kill()
        shutil.rmtree(cls.folder, ignore_errors=True)

    @staticmethod
    def write_bag(path):
        import rosbag
        import rospy
        from std_msgs.msg import String
        with rosbag.Bag(path, "w") as bag:
            for i in range(BAG_S * 10 + 1):
                bag.write("/text", String(data=str(i)), rospy.Time.from_sec(START_S + i / 10))

    def setUp(self):
        self.core.set_sim_time(True)

    def follow(self, *arguments):
        return self.follower(*arguments, uri=self.core.uri)

    def start(self, *arguments):
        child = subprocess.Popen(arguments, env=self.core.environment, stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, bufsize=0)
        self.addCleanup(self.end, child)
        return child

    end = staticmethod(ros1_graph.stop)

    def play(self, *arguments):
        return self.start("/usr/lib/rosbag/play", "--clock", "__name:=player", *arguments, self.bag)

    def publish(self, name, time_s):
        return self.start("/usr/bin/python3", "-c", PUBLISHER, name, str(time_s))

    def until_after(self, follower, time_s):
        return follower.until(lambda now: now["time_ns"] > time_s * SECOND, f"time after {time_s} s")

    # ---- use_sim_time ----

    def test_X6_not_set_means_system_time(self):
        self.core.master.deleteParam("/test", "/use_sim_time")
        follower = self.follow()
        self.assertEqual(follower.read_decided()["mode"], 2)
        before = time.time_ns()
        now = follower.read()
        self.assertEqual((now["mode"], now["state"]), (2, "running"))
        self.assertTrue(before - SECOND // 10 < now["time_ns"] < time.time_ns() + SECOND // 10, (before, now))

    def test_X6_rosparam_set_1_is_warned_of(self):
        subprocess.run(["/usr/bin/rosparam", "set", "/use_sim_time", "1"], env=self.core.environment,
                       check=True, timeout=LIMIT_S)
        follower = self.follow()
        self.assertEqual(follower.read_decided()["mode"], 2)
        follower.until_logged("/use_sim_time is true, but not a boolean")

    # ---- rosbag play ----

    def test_X6_rosbag_play_pause_and_end(self):
        follower = self.follow()
        now = follower.read_decided()
        self.assertEqual((now["time_ns"], now["mode"], now["state"]), (0, 1, "no publisher"))
        player = self.play("-r", "0.5")  # so that a busy machine pauses it before its end
        now = self.until_after(follower, START_S)
        self.assertLess(now["time_ns"], (START_S + BAG_S) * SECOND)
        player.stdin.write(b" ")  # pauses and resumes
        paused = follower.until_state("paused")
        ticks = paused["ticks"]
        later = follower.until(lambda now: now["ticks"] > ticks + 20, "ticks")
        self.assertEqual((later["time_ns"], later["state"]), (paused["time_ns"], "paused"))
        player.stdin.write(b" ")
        self.until_after(follower, paused["time_ns"] / SECOND)
        player.wait(LIMIT_S)
        now = follower.until_state("lost")
        self.assertLessEqual(now["time_ns"], (START_S + BAG_S) * SECOND)
        self.assertGreater(now["time_ns"], (START_S + BAG_S - 1) * SECOND)
        self.assertEqual((now["jumps_backward"], now["invalid"], now["faults"]), (0, 0, 0))

    def test_X6_rosbag_play_rate_and_loop(self):
        follower = self.follow()
        self.play("-r", "3", "-l")
        self.until_after(follower, START_S)
        began = time.monotonic()
        rates = []

        def has_rate():
            """Over a part of one round, unless the machine holds it up."""
            before, at = follower.read(), time.monotonic()
            after = follower.until(lambda now: now["time_ns"] > before["time_ns"] + SECOND
                                   or now["jumps_backward"] > before["jumps_backward"], "time that advances")
            rates.append((after["time_ns"] - before["time_ns"]) / SECOND / (time.monotonic() - at))
            return 2 < rates[-1] < 4
        wait_until(has_rate, lambda: f"a rate of 3: {rates}")
        now = follower.until(lambda now: now["jumps_backward"] >= 1 and
                             now["time_ns"] < (START_S + BAG_S / 2) * SECOND, "the next round")
        # One a round; that it begins takes time too.
        self.assertLessEqual(now["jumps_backward"], 1 + (time.monotonic() - began) * 3 / BAG_S)

    # ---- publishers ----

    def test_X6_a_publisher_of_rospy_is_killed_and_started_again(self):
        follower = self.follow()
        first = self.publish("sim", START_S)
        self.until_after(follower, START_S)
        self.end(first, signal.SIGKILL)
        lost = follower.until_state("lost")
        self.publish("sim", START_S + 100)
        now = self.until_after(follower, START_S + 100)
        self.assertGreaterEqual(now["epoch"], lost["epoch"])
        self.assertEqual(now["faults"], 0)

    def test_X8_two_publishers(self):
        follower = self.follow()
        self.publish("sim_a", START_S)
        self.until_after(follower, START_S)
        self.publish("sim_b", START_S + 1000)
        follower.until(lambda now: now["faults"] == 1, "a fault")
        follower.until_logged("two nodes publish time at once")
        self.assertIn("/sim_a (", follower.log)
        self.assertIn("/sim_b (", follower.log)

    # ---- the graph ----

    def test_tools_of_ros_see_the_node(self):
        follower = self.follow("", "/timebase_test")
        follower.read()
        wait_until(lambda: self.core.is_registered("/timebase_test"), "the registration")
        ping = subprocess.run(["/usr/bin/rosnode", "ping", "-c", "1", "/timebase_test"],
                              env=self.core.environment, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertIn("xmlrpc reply from", ping.stdout)
        self.publish("sim", START_S)
        self.until_after(follower, START_S)
        info = subprocess.run(["/usr/bin/rosnode", "info", "/timebase_test"], env=self.core.environment,
                              capture_output=True, text=True, timeout=LIMIT_S).stdout
        self.assertIn("/clock [rosgraph_msgs/Clock]", info)
        self.assertIn("to: /sim", info)
        follower.end()
        self.assertFalse(self.core.is_registered("/timebase_test"))

    def twins(self):
        """Two nodes of one name, the first of which was displaced. A registration that it renewed at that
        very moment may have displaced the second one instead: then anew."""
        for _ in range(5):
            first = self.follow("", "/twin")
            self.until_after(first, START_S)
            second = self.follow("", "/twin")
            now = self.until_after(second, START_S)
            taken = "has taken the name /twin"
            wait_until(lambda: taken in first.log + second.log, lambda: f"{taken}: {first.log}, {second.log}")
            if taken not in second.log:
                return first, second, now
            first.end()
            second.end()
        self.fail("the second one was displaced each time")

    def test_two_nodes_of_one_name(self):
        self.publish("sim", START_S)
        first, second, now = self.twins()
        # Neither the master nor the first one ends the second one, and both follow.
        self.until_after(second, now["time_ns"] / SECOND + 1)
        self.assertGreater(first.read()["time_ns"], now["time_ns"])
        self.assertEqual(second.log, "")
        first.end()
        self.assertTrue(self.core.is_registered("/twin"))

    def test_X6_the_master_is_killed_and_started_again(self):
        follower = self.follow("", "/survivor")
        self.publish("sim", START_S)
        self.until_after(follower, START_S)
        self.core.kill()
        now = follower.read()
        follower.until_logged("does not answer")
        self.until_after(follower, now["time_ns"] / SECOND + 0.5)  # the connection lasts
        self.core.start()
        wait_until(lambda: self.core.is_registered("/survivor"), "the registration")
        follower.until_logged("answers again")
        self.publish("sim_later", START_S + 1000)
        self.until_after(follower, START_S + 1000)


if __name__ == "__main__":
    if not os.path.exists("/usr/bin/roscore"):
        print("ros1_test: no /usr/bin/roscore: skipped")
        sys.exit(77)
    ros1_graph.main(3)
