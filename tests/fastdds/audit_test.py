#!/usr/bin/env python3
"""`timebase audit` on nodes of Fast DDS: their time bases, their stamps, /clock both ways.

usage: audit_test.py BIN_DIR FASTDDS_PEER [TEST...]"""

import itertools
import json
import os
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "system"))

import command_test  # noqa: E402
from command_test import LIMIT_S, CommandTest, Process, header_of  # noqa: E402

PEER = None


class AuditTest(CommandTest):
    domains = itertools.cycle((56, 57, 58, 59))

    def peer(self, *nodes, options=(), ahead_ms=0):
        """Its system clock is ahead."""
        words = [PEER, *options, str(self.domain), "lo", *nodes]
        environment = dict(self.environment, TIMEBASE_TEST_CLOCK_MS=str(ahead_ms))
        peer = Process(self, words, environment, subprocess.PIPE)
        peer.expect("ready$")
        return peer

    def setUp(self):
        super().setUp()
        self.one_question = threading.Lock()  # or an answer may be read by the thread of another question

    def ask(self, peer, line, answer="ok$"):
        with self.one_question:
            peer.write(line)
            return peer.expect(answer)

    def serve(self):
        server = self.run_command("serve", "--start", "1000")
        server.expect("time ")

    def send_for_long(self, peer, topic):
        """Messages on wall time, until the test ends."""
        is_over = threading.Event()

        def send():
            while not is_over.wait(0.02):
                try:
                    self.ask(peer, f"send {topic} 1 {header_of(time.time_ns()).hex()}", "sent 1$")
                except (OSError, ValueError, AssertionError):
                    return

        thread = threading.Thread(target=send)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(is_over.set)

    def until(self, is_right):
        deadline = time.monotonic() + LIMIT_S
        while True:
            status, out, err = self.result("audit", "--json")
            self.assertIn(status, (0, 1), err)
            report = json.loads(out)
            report["bases"] = {node["name"]: (node["time_base"], node["by"]) for node in report["nodes"]}
            report["by_rule"] = {finding["rule"]: finding for finding in report["findings"]}
            if is_right(report):
                return report
            self.assertLess(time.monotonic(), deadline, out)

    def test_one_node_on_wall_time(self):
        self.serve()
        peer = self.peer("/ekf")
        cameras = self.peer("/camera")
        self.assertEqual(self.result("sim-time", "on", "/camera")[0], 0)
        self.ask(peer, "pub /odom std_msgs/msg/Header best_effort")
        self.send_for_long(peer, "/odom")
        report = self.until(
            lambda report: len(report["nodes"]) == 3
            and report["topics_sampled"] == 1
            and "mixed-time-base" in report["by_rule"]
        )
        (finding,) = report["findings"]
        self.assertEqual(
            (finding["title"], finding["severity"]),
            ("/ekf is on wall time in a graph with /clock", "error"),
        )
        self.assertEqual([caused["rule"] for caused in finding["caused"]], ["stamp-other-domain"])
        self.assertEqual(report["bases"]["/ekf"], ("wall", "answer"))
        self.assertEqual(report["bases"]["/camera"], ("clock", "answer"))
        self.ask(cameras, "mute on")
        report = self.until(lambda report: report["bases"].get("/camera", ("", "answer"))[1] != "answer")
        self.assertEqual(report["bases"]["/camera"], ("clock", "subscription"))

    def test_silent_nodes(self):
        self.serve()
        peer = self.peer("/ekf")
        self.ask(peer, "mute on")
        self.ask(peer, "pub /odom std_msgs/msg/Header best_effort")
        self.send_for_long(peer, "/odom")
        report = self.until(lambda report: report["bases"].get("/ekf") == ("wall", "no subscription"))
        self.assertEqual(report["by_rule"]["mixed-time-base"]["severity"], "error")

    def test_a_process_that_has_not_announced_its_nodes(self):
        self.peer("/ekf", options=("--unannounced",))
        report = self.until(lambda report: "node-unannounced" in report["by_rule"])
        (subject,) = report["by_rule"]["node-unannounced"]["subjects"]
        self.assertRegex(subject["name"], r"^Fast DDS at udp/127\.0\.0\.1:")

    def by(self, report, node):
        return next((host["by"] for host in report["hosts"] if node in host["nodes"]), None)

    def test_a_host_whose_clock_is_off(self):
        """By 50 ms, and by 2 ms, which is no finding; while they answer, and then by their messages."""
        far = self.peer("/far", ahead_ms=50)
        near = self.peer("/near", ahead_ms=2)
        for peer, topic in ((far, "/far_odom"), (near, "/near_odom")):
            self.ask(peer, f"pub {topic} std_msgs/msg/Header best_effort")
            self.send_for_long(peer, topic)
        for expected, pattern in (
            ("requests", r"^its system clock is \d+\.\d ms ahead of this host's, give or take .* \(best of 8 requests\)$"),
            ("one-way minimum", r"^its system clock is at least \d+\.\d ms ahead of this host's \(one-way minimum of "),
        ):
            report = self.until(lambda report: {self.by(report, node) for node in ("/far", "/near")} == {expected})
            (finding,) = report["findings"]
            self.assertEqual((finding["rule"], finding["severity"]), ("host-offset", "warn"))
            (subject,) = finding["subjects"]
            self.assertEqual(subject["name"], "/far")
            self.assertRegex(subject["evidence"][0], pattern)
            self.ask(far, "mute on")
            self.ask(near, "mute on")

    def test_a_clock_of_fast_dds(self):
        peer = self.peer("/sim", "/ekf")
        self.ask(peer, "clock best_effort")
        self.ask(peer, "ticks 5000000000000 10000000 10")
        report = self.until(
            lambda report: report["clock"]["ticks"] > 50 and "mixed-time-base" in report["by_rule"]
        )
        lines = report["by_rule"]["mixed-time-base"]["subjects"][0]["evidence"]
        self.assertIn("/clock is published by /sim; 0 nodes follow it", lines)
        self.assertEqual(self.result("sim-time", "on", "/ekf")[0], 0)
        report = self.until(lambda report: report["bases"].get("/ekf") == ("clock", "answer"))
        self.assertNotIn("mixed-time-base", report["by_rule"])


if __name__ == "__main__":
    command_test.BIN_DIR, PEER = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
