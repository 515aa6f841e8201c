#!/usr/bin/python3
"""Time and messages of timebase on a graph of Debian's ROS 1: `timebase serve --ros1` with rospy,
rostopic and rosnode; a reader of any type; parameters.

usage: serve_test.py READER TIMEBASE [TEST...]"""

import json
import os
import subprocess
import sys
import time

import ros1_graph
from ros1_graph import LIMIT_S, wait_until
from ros1_test import GraphTest

ROSPY = """
import rospy, sys, time
rospy.init_node("follower", disable_rosout=True)
print("sim", rospy.rostime.is_wallclock() is False, flush=True)
for line in sys.stdin:
    print(repr(rospy.Time.now().to_sec()), flush=True)
"""
TALKER = """
import rospy
from std_msgs.msg import String
rospy.init_node("talker", disable_rosout=True, disable_rostime=True)
publisher = rospy.Publisher("/text", String, queue_size=1, latch=True)
publisher.publish("A" * 10)
rospy.spin()
"""


class ServeTest(GraphTest):
    def serve(self, *arguments):
        child = self.start(TIMEBASE, "serve", "--ros1", "--no-topic", *arguments)
        wait_until(lambda: self.core.master.getParam("/test", "/use_sim_time")[2] is True,
                   "use_sim_time")
        wait_until(lambda: "/clock" in dict(self.core.master.getSystemState("/test")[2][0]),
                   "a publisher of /clock")
        return child

    def follower(self):
        child = self.start("/usr/bin/python3", "-c", ROSPY)
        self.assertEqual(child.stdout.readline(), "sim True\n")
        return child

    @staticmethod
    def now(child):
        child.stdin.write("\n")
        child.stdin.flush()
        return float(child.stdout.readline())

    def test_rospy_follows(self):
        server = self.serve("--start", "1000", "--rate", "5")
        child = self.follower()
        first = wait_until(lambda: self.now(child), "a time")
        self.assertGreaterEqual(first, 1000)
        wait_until(lambda: self.now(child) > first + 10, "time that advances")
        self.stop(server)
        self.assertEqual(server.returncode, 0)
        self.assertEqual(self.core.master.getParam("/test", "/use_sim_time")[0], -1)
        self.assertNotIn("/clock_server", self.core.master.getSystemState("/test")[2][0])

    def test_a_paused_server_repeats_its_time(self):
        self.serve("--start", "500", "--paused")
        child = self.follower()
        wait_until(lambda: self.now(child) == 500, "the time it is paused at")
        child = self.follower()  # a late joiner
        wait_until(lambda: self.now(child) == 500, "the time for a late joiner")

    def test_two_servers_are_warned_of_each_other(self):
        first = self.serve("--node", "first", "--namespace", "/sim")
        second = self.serve("--node", "second")
        for server, other in ((first, "/second"), (second, "/sim/first")):
            text = f"timebase serve: warning: /clock of ROS 1 is also published by {other}: time will jump"
            wait_until(lambda: text in server.errors(), lambda: f"{text}: {server.errors()}")
        self.stop(second)
        third = self.serve("--topic", "/elsewhere", "--node", "third")
        wait_until(lambda: "/elsewhere" in dict(self.core.master.getSystemState("/test")[2][0]), "/elsewhere")
        self.stop(third)
        self.assertEqual((first.errors().count("also published"), third.errors()), (1, ""))

    def test_a_second_server_of_one_name_ends_the_first(self):
        first = self.serve()
        second = self.serve()
        self.assertEqual(first.wait(LIMIT_S), 3, first.errors())
        self.assertRegex(first.errors(), r"timebase serve: /clock of ROS 1: another node has taken the name "
                                         r"/clock_server; give each node a name of its own")
        # The first one has set it, and takes it back; the second one looks each second.
        wait_until(lambda: self.core.master.getParam("/test", "/use_sim_time")[2] is True, "use_sim_time")
        child = self.follower()
        wait_until(lambda: self.now(child), "a time")
        self.stop(second)
        self.assertEqual((second.returncode, second.errors()), (0, ""))
        self.assertEqual(self.core.master.getParam("/test", "/use_sim_time")[0], -1)

    def test_tools(self):
        self.serve("--start", "1000")
        environment = self.core.environment
        shown = subprocess.run(["/usr/bin/rostopic", "echo", "-n", "1", "/clock"], env=environment,
                               capture_output=True, text=True, timeout=LIMIT_S).stdout
        self.assertIn("secs: 1", shown)
        shown = subprocess.run(["/usr/bin/rosnode", "info", "/clock_server"], env=environment,
                               capture_output=True, text=True, timeout=LIMIT_S).stdout
        self.assertIn("* /clock [rosgraph_msgs/Clock]", shown)

    def test_a_reader_of_any_type(self):
        self.start("/usr/bin/python3", "-c", TALKER)
        reader = self.start(self.program, "/text")
        sample = json.loads(reader.stdout.readline())
        self.assertEqual((sample["size"], sample["first"], sample["publisher"], sample["type"],
                          sample["latched"]), (14, 10, "/talker", "std_msgs/String", 1))
        self.assertEqual(sample["md5sum"], "992ce8a1687cec8c8bd883ec73ca41d1")
        self.assertGreater(sample["definition"], 5)

    def test_parameters(self):
        reader = self.start(self.program, "/nothing")

        def do(command):
            reader.stdin.write(command + "\n")
            reader.stdin.flush()
            return reader.stdout.readline().strip()

        master = self.core.master
        for kind, text, value, shown in (("bool", "1", True, "true"), ("int", "-7", -7, "-7"),
                                         ("double", "0.1", 0.1, "0.10000000000000001"),
                                         ("double", "1e-9", 1e-9, "1.0000000000000001e-09"),
                                         ("string", "a<b&c", "a<b&c", '"a<b&c"')):
            self.assertEqual(do(f"set /p {kind} {text}"), "= TB_OK")
            read = master.getParam("/test", "/p")[2]
            self.assertEqual((read, type(read)), (value, type(value)))
            self.assertEqual(do("get /p"), f"= {shown}")
        master.setParam("/test", "/p", [1, 2])
        self.assertEqual(do("get /p"), "= other")
        self.assertEqual(do("delete /p"), "= TB_OK")
        for command in ("get /p", "delete /p"):
            self.assertEqual(do(command), "= TB_ERR_NOT_FOUND")
        self.assertEqual(do("get p"), "= TB_ERR_INVALID")


if __name__ == "__main__":
    if not os.access("/usr/bin/roscore", os.X_OK):
        print("no ROS 1: apt-get install ros-core python3-rospy python3-std-msgs")
        sys.exit(77)
    TIMEBASE = os.path.abspath(sys.argv.pop(2))
    ros1_graph.main()
