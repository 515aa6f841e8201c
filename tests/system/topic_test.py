#!/usr/bin/env python3
"""`timebase topic` on a ROS 2 graph: lists, messages, rate, size, delay, and stamps that are wrong. Those of a
ROS 1 graph: tests/ros1/see_test.py.

usage: topic_test.py BIN_DIR OBSERVE_PEER [TEST...]"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import unittest

import command_test
import observing
from command_test import SECOND, TRIES
from observing import ObservingTest


class TopicTest(ObservingTest):
    domains = itertools.cycle((222, 223))

    def topic(self, *arguments):
        return self.run_command("topic", *arguments)

    def pub(self, *arguments, **options):
        """Its last messages are best effort to `echo`, which drops those that come after the publisher has gone."""
        return self.run_command("topic", "pub", "--keep-alive", "1000", *arguments, **options)

    def end_pub(self, pub):
        pub.child.send_signal(signal.SIGINT)
        self.assertEqual(pub.wait(), 0, pub.errors)

    def lines(self, process, status=0):
        self.assertEqual(process.wait(), status, process.errors)
        return [json.loads(line) for line in process.seen if line]

    def test_list(self):
        self.peer("open /good", "open /own my_msgs/msg/Own")
        good = {"topic": "/good", "type": "std_msgs/msg/Header", "publishers": 1, "subscribers": 0}
        self.until_result(("topic", "list", "--json"), lambda status, out, _: status == 0 and good in json.loads(out))
        self.until_result(("topic", "list"), lambda status, out, _: re.search(r"(?m)^/own +my_msgs/msg/Own +1 +0$", out))

    def test_echo(self):
        peer = self.peer("open /good")
        echo = self.topic("echo", "/good", "-n", "2")
        self.tell(peer, "wait /good", f"send /good 2 start 0 {100 * SECOND}")
        self.assertEqual(echo.wait(), 0, echo.errors)
        self.assertEqual(echo.seen[0], "stamp:")
        self.assertRegex(echo.seen[1], r"^  sec: \d+$")
        self.assertRegex(echo.seen[2], r"^  nanosec: \d+$")
        self.assertTrue(echo.seen[3].startswith("frame_id:"))
        self.assertEqual(echo.seen[4], "---")
        self.assertEqual(echo.seen[5], "# the stamp is future")  # which is far ahead
        self.assertEqual(echo.seen.count("---"), 2)

    def test_topics_with_a_key(self):
        """Only endpoints of one kind match."""
        peer = self.peer("open /keyed std_msgs/msg/Header keyed")
        for verb in ("echo", "hz"):
            topic = self.topic(verb, "/keyed", "--json", "-n", "2")
            self.tell(peer, "wait /keyed", "send /keyed 2 now 0 0")
            self.assertEqual(topic.wait(), 0, topic.errors)
            self.tell(peer, "alone /keyed")

    def test_latched_messages_come(self):
        self.peer("open /latched std_msgs/msg/Header latched", "send /latched 1 zero 0 0")
        message, = self.lines(self.topic("echo", "--json", "/latched", "-n", "1"))
        self.assertEqual((message["latched"], message["stamp_problem"], message["publisher"]), (True, "zero", "/peer"))
        self.assertEqual(message["message"]["stamp"], {"sec": 0, "nanosec": 0})

    def test_a_type_without_a_definition(self):
        peer = self.peer("open /own my_msgs/msg/Own")
        echo = self.topic("echo", "/own", "-n", "1")
        self.tell(peer, "wait /own", "send /own 1 now 0 0")
        self.assertEqual(echo.wait(), 0, echo.errors)
        self.assertRegex(echo.seen[0], r"^# \d+ bytes that are not of the definition$")
        echo.expect_error("the definition of my_msgs/msg/Own is unknown")
        peer.end()

    def test_pub(self):
        """What is published is what was written, with defaults, and times of each message."""
        echo = self.topic("echo", "--json", "/pose", "-n", "2")
        pub = self.pub("-t", "3", "-r", "50", "-p", "2", "/pose", "geometry_msgs/PoseStamped",
                       "{header: auto, pose: {position: {x: 1.5}}}")
        messages = [line["message"] for line in self.lines(echo)]
        pub.expect("publishing #2:$")
        self.end_pub(pub)
        self.assertEqual([line for line in pub.seen if "publishing" in line], ["publishing #2:"])
        stamps = [one["header"]["stamp"]["sec"] * SECOND + one["header"]["stamp"]["nanosec"] for one in messages]
        self.assertEqual(stamps, sorted(set(stamps)))
        status, out, errors = self.result("topic", "pub", "-1", "-w", "0", "/empty", "std_msgs/msg/Empty")
        self.assertEqual((status, out.splitlines()[0]), (0, "publishing #1:"), errors)
        self.assertEqual(messages[0]["pose"], {"position": {"x": 1.5, "y": 0.0, "z": 0.0},
                                               "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}})

    def test_echo_of_fields(self):
        """As columns, as an object, or alone; a type that lacks one is refused."""
        pub = self.pub("-r", "20", "-p", "0", "/pose", "geometry_msgs/PoseStamped",
                       "{header: {frame_id: 'a, b'}, pose: {position: {x: 1.5, y: -2}}}")
        fields = "--field", "pose.position", "--field", "header.frame_id"
        for words, header, line in (
            (("--csv",), "header.stamp.sec,header.stamp.nanosec,header.frame_id,pose.position.x,pose.position.y,"
             "pose.position.z,pose.orientation.x,pose.orientation.y,pose.orientation.z,pose.orientation.w",
             '0,0,"a, b",1.5,-2,0,0,0,0,1'),
            (("--csv", *fields), "pose.position,header.frame_id", '"{""x"": 1.5, ""y"": -2.0, ""z"": 0.0}","a, b"'),
        ):
            status, out, errors = self.result("topic", "echo", "/pose", "-n", "2", *words)
            self.assertEqual(status, 0, errors)
            names, *lines = out.splitlines()
            self.assertEqual(names, "received_ns," + header)
            self.assertEqual([re.sub(r"^\d{19},", "", one) for one in lines], [line] * 2)
        status, out, errors = self.result("topic", "echo", "/pose", "-n", "1", "--json", *fields)
        self.assertEqual((status, json.loads(out)["fields"]),
                         (0, {"pose.position": {"x": 1.5, "y": -2.0, "z": 0.0}, "header.frame_id": "a, b"}), errors)
        status, out, errors = self.result("topic", "echo", "/pose", "-n", "1", "--field", "pose.position.y")
        self.assertEqual((status, out), (0, "# the stamp is 0\n-2.0\n---\n"), errors)
        invalid = self.pub("-r", "20", "-p", "0", "/leap", "std_msgs/msg/Header", "{stamp: {sec: 5, nanosec: 1500000000}}")
        status, out, errors = self.result("topic", "echo", "/leap", "-n", "1", "--field", "stamp.nanosec")
        self.assertEqual((status, out), (0, "# the stamp is no valid time: below 0, or with 1e9 ns or more\n1500000000\n---\n"), errors)
        self.end_pub(invalid)
        status, out, errors = self.result("topic", "echo", "/pose", "--field", "pose.size")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("/pose: field path 'pose.size': geometry_msgs/msg/Pose has no field", errors)
        status, out, errors = self.result("topic", "hz", "/pose", "--csv")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("--csv and --field are of 'topic echo'", errors)
        self.end_pub(pub)

    def test_pub_of_standard_input(self):
        echo = self.topic("echo", "--json", "/in", "-n", "1")
        pub = self.pub("-1", "--stdin", "/in", "std_msgs/msg/String", stdin=subprocess.PIPE)
        pub.write("data:\n  in two lines")
        pub.child.stdin.close()
        pub.child.stdin = None
        message, = self.lines(echo)
        self.end_pub(pub)
        self.assertEqual(message["message"], {"data": "in two lines"})

    def test_pub_of_a_file(self):
        """Messages as echo prints them, one after the other; all are looked at first."""
        path = os.path.join(self.folder, "messages.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("# /file\ndata: one\n---\n\n---\ndata: '--- two'\n---\n{}\n---\n")
        for times in (), ("-t", "2"):
            echo = self.topic("echo", "--json", "/file", "-n", "2" if times else "3")
            pub = self.pub("-r", "100", "-w", "1", *times, "--yaml-file", path, "/file", "std_msgs/msg/String")
            self.assertEqual([line["message"]["data"] for line in self.lines(echo)],
                             ["one", "--- two"] if times else ["one", "--- two", ""])
            self.end_pub(pub)
        with open(path, "a", encoding="utf-8") as file:
            file.write("dat: x\n")
        status, out, errors = self.result("topic", "pub", "--yaml-file", path, "/file", "std_msgs/msg/String")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("YAML: message 4: line 1, column 1: std_msgs/msg/String has no field 'dat'", errors)
        empty, pipe = os.path.join(self.folder, "empty.yaml"), os.path.join(self.folder, "pipe")
        with open(empty, "wb"):
            os.mkfifo(pipe)
        for words, status, message in (
            (("--stdin", "--yaml-file", path), 2, "YAML, --stdin and --yaml-file exclude each other"),
            (("data: 1", "--stdin"), 2, "exclude each other"),
            (("--yaml-file", path + "x"), 3, "messages.yamlx: No such file"),
            (("--yaml-file", "/dev/null"), 2, "--yaml-file /dev/null: not a regular file"),
            (("--yaml-file", empty), 2, "empty.yaml: has no messages"),
            (("--yaml-file", pipe), 2, "pipe: not a regular file; write it to one first"),
        ):
            result, _, errors = self.result("topic", "pub", "/a", "std_msgs/msg/String", *words)
            self.assertEqual(result, status, errors)
            self.assertIn(message, errors)

    def test_pub_of_a_latched_topic_in_simulated_time(self):
        self.run_command("serve", "--start", "100", "--rate", "1")
        pub = self.topic("pub", "-w", "0", "-r", "0.01", "--use-sim-time", "--qos-durability", "transient_local",
                         "--qos-depth", "1", "-n", "writer", "/latched", "std_msgs/msg/Header",
                         "{stamp: now, frame_id: map}")
        message, = self.lines(self.topic("echo", "--json", "/latched", "-n", "1"))
        self.assertTrue(message["latched"])
        self.assertGreaterEqual(message["message"]["stamp"]["sec"], 100)
        self.assertLess(message["message"]["stamp"]["sec"], 100_000)
        pub.child.send_signal(signal.SIGINT)
        self.assertEqual(pub.wait(), 0, pub.errors)

    def test_pub_refuses(self):
        for words, status, message in (
            (("/a", "std_msgs/msg/String", "{dat: 1}"), 2, "line 1, column 2: std_msgs/msg/String has no field 'dat'"),
            (("/a", "std_msgs/msg/Int8", "data: 200"), 2, "'200' is no int8"),
            (("/a",), 2, "missing TYPE"),
            (("/a", "String"), 2, "String: not a type"),
            (("-1", "-t", "2", "/a", "std_msgs/msg/Int8"), 2, "exclude each other"),
            (("/a", "std_msgs/msg/Int8", "--qos-reliability", "some"), 2, "--qos-reliability some: unknown"),
            (("-1", "--max-wait-time-secs", "0.1", "/a", "std_msgs/msg/Int8"), 1, "0 of 1 subscriptions of /a"),
        ):
            result, _, errors = self.result("topic", "pub", *words)
            self.assertEqual(result, status, errors)
            self.assertIn(message, errors)
        result, _, errors = self.result("topic", "--ros1", "pub", "/a", "std_msgs/Int8", "data: 1")
        self.assertEqual(result, 2, errors)
        self.assertIn("write 'topic pub' first", errors)
        result, _, errors = self.result("topic", "ehco", "/a")
        self.assertEqual(result, 2, errors)
        self.assertIn("unknown action 'ehco'; did you mean 'echo'?\n", errors)

    def test_rate_size_and_delay(self):
        peer = self.peer("open /good")
        rates = []
        while not rates or rates[-1] >= 60 and len(rates) < TRIES:  # the machine may be busy at the first one
            hz = self.topic("hz", "/good", "--json", "-n", "20")
            self.tell(peer, "wait /good", f"send /good 20 now {-SECOND // 5} 0 20")
            total = self.lines(hz)[-1]
            self.assertEqual((total["messages"], total["summary"]), (20, True))
            self.assertGreater(total["interval_max_ns"], SECOND // 100)
            rates.append(total["rate_hz"])
            self.tell(peer, "alone /good")
        self.assertLess(rates[-1], 60, rates)
        delay = self.topic("delay", "/good", "--json", "-n", "4")
        self.tell(peer, "wait /good", f"send /good 4 now {-SECOND // 5} 0")
        total = self.lines(delay)[-1]
        self.assertGreaterEqual(total["delay_min_ns"], SECOND // 5)
        self.assertEqual([total[key] for key in ("stamps", "zero", "future")], [4, 0, 0])
        self.tell(peer, "alone /good")
        bw = self.topic("bw", "/good", "--json", "-n", "4")
        self.tell(peer, "wait /good", "send /good 4 now 0 0")
        total = self.lines(bw)[-1]
        self.assertEqual(total["bytes"], 4 * total["size_min"])

    def test_stamps_that_are_wrong_are_counted(self):
        peer = self.peer("open /bad")
        delay = self.topic("delay", "/bad", "--json", "-n", "12")
        self.tell(peer, "wait /bad", "send /bad 3 zero 0 0", f"send /bad 3 now {100 * SECOND} 0", f"send /bad 1 now {-SECOND} 0",
                  f"send /bad 2 now {-SECOND} 0", f"send /bad 3 zero {-5 * SECOND} 0")
        total = self.lines(delay)[-1]
        self.assertEqual([total[key] for key in ("zero", "invalid", "future", "backward")], [3, 3, 3, 1])
        self.assertGreater(total["delay_min_ns"], -101 * SECOND)  # none of what has no age

    def test_stamps_are_compared_with_clock_where_it_ticks(self):
        peer = self.peer("open /good")
        delay = self.topic("delay", "/good", "--json", "-n", "3")
        self.tell(peer, "clock", "wait /good", f"tick {1000 * SECOND}", f"tick {1001 * SECOND}")
        self.tell(peer, "send /good 3 tick 0 0")
        total = self.lines(delay)[-1]
        self.assertEqual([total[key] for key in ("stamps", "zero", "future")], [3, 0, 0])
        self.assertLess(abs(total["delay_mean_ns"]), 2 * SECOND)

    def test_a_silent_publisher_is_told_of_after_some_seconds(self):
        """Not at once: it may just have been matched. Each second has a line before that."""
        self.peer("open /good")
        hz = self.topic("hz", "/good", "--json")
        hz.expect_error("/good has 1 publisher, and no message was received")
        hz.child.send_signal(signal.SIGINT)
        self.assertGreaterEqual(len(self.lines(hz)), 4)  # the last is of all
        text = "timebase topic: /good has 1 publisher, and no message was received\n"
        self.until_result(("topic", "echo", "/good", "--duration", "1s"), lambda status, _, err: (status, err) == (1, text))

    def test_no_topic(self):
        self.peer("open /good")
        text = "no publisher of /goot on the graph; did you mean /good?"
        self.until_result(("topic", "hz", "/goot", "--duration", "1s"), lambda status, _, err: status == 1 and text in err)
        for words in (("foo",), ("echo",), ("list", "/a"), ("hz", "/a", "--ros1", "--domain", "3"), ()):
            self.assertEqual(self.result("topic", *words)[0], 2, words)


if __name__ == "__main__":
    command_test.BIN_DIR, observing.PEER = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
