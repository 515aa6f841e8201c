#!/usr/bin/env python3
"""Graphs whose time is right, on a busy machine: `audit`, `observe` and `check` find nothing.

usage: healthy_test.py BIN_DIR EXAMPLE_NODE AUDIT_PEER FASTDDS_PEER [TEST...]

TIMEBASE_HEALTHY_S is how long each graph is looked at, in seconds (default 5). FASTDDS_PEER may be ''."""

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import command_test
from command_test import LIMIT_S, CommandTest, Process, header_of

NODE = PEER = FASTDDS = None
SECONDS = float(os.environ.get("TIMEBASE_HEALTHY_S", "5"))
BUSY = 8


class HealthyTest(CommandTest):
    domains = itertools.cycle((110, 111, 112))

    def busy(self):
        for _ in range(BUSY):
            words = ["nice", "-n", "5", sys.executable, "-c", "while True: pass"]
            Process(self, words, self.environment)

    def peer(self, *lines):
        process = Process(self, [PEER], self.environment, subprocess.PIPE)
        process.expect("ready")
        for line in lines:
            process.write(line)
            process.expect("ok")
        return process

    def fastdds(self):
        """A node of Fast DDS on /clock, with a topic that has its stamps."""
        if not FASTDDS:
            return
        peer = Process(self, [FASTDDS, str(self.domain), "lo", "/fast"], self.environment, subprocess.PIPE)
        peer.expect("ready$")
        deadline = time.monotonic() + LIMIT_S
        while self.result("sim-time", "on", "/fast")[0]:
            self.assertLess(time.monotonic(), deadline)
        peer.write("pub /fast_odom std_msgs/msg/Header best_effort")
        peer.expect("ok$")
        is_over = threading.Event()

        def send():
            while not is_over.wait(0.05):
                try:
                    peer.write("now /fast")
                    now = peer.expect("now (.*)").group(1)
                    if now != "unset":
                        peer.write(f"send /fast_odom 1 {header_of(int(now)).hex()}")
                        peer.expect("sent 1$")
                except (OSError, ValueError, AssertionError):
                    return

        thread = threading.Thread(target=send)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(is_over.set)

    def nodes(self):
        """Composed nodes; one of them has a publisher that is inactive."""
        self.peer(
            "node lidar -p use_sim_time:=true",
            "header /scan 50 node 0 laser",
            "static base laser",
            "node base -p use_sim_time:=true",
            "header /imu 10 node",
            "header /aged 100 node -200",
            "tf odom base 20",
            "node map -p use_sim_time:=true",
            "latched /map",
            "tf map odom 50",
            "node arm -p use_sim_time:=true",
            "string /arm_text",
            "typed /arm_wrench 100000000 std_msgs/msg/Header RIHS01_" + 64 * "0",
            "state 2",
        )
        words = [NODE, "--ros-args", "-r", "__node:=camera", "-p", "use_sim_time:=true"]
        Process(self, words, self.environment).expect("node: /camera runs")
        self.fastdds()

    def end(self, process):
        process.child.send_signal(signal.SIGINT)
        self.assertIn(process.wait(), (0, 1), process.errors)
        return process.seen

    @staticmethod
    def is_wrong(publisher):
        wrong = ("zero", "future", "system_time", "far_off", "stale_epoch", "old", "backward")
        return any(publisher["stamps"][kind] for kind in wrong)

    def look(self, least_nodes):
        """All commands at once, as long as is asked for."""
        watch = self.run_command("audit", "--watch", "--json")
        observe = self.run_command("observe", "--json")
        late = self.peer("node late -p use_sim_time:=true", "latched /late")
        deadline = time.monotonic() + SECONDS
        runs = 0
        found = []
        while time.monotonic() < deadline or not runs:
            self.assertLess(time.monotonic(), deadline + LIMIT_S)
            status, out, err = self.result("audit", "--json")
            report = json.loads(out)
            found += report["findings"]
            self.assertIn(status, (0, 1), err)
            runs += len(report["nodes"]) >= least_nodes
        late.end()
        for line in self.end(watch):
            found += json.loads(line)["findings"]
        summary = json.loads(self.end(observe)[-1])
        for topic in summary["topics"]:
            found += [f"observe: {topic}" for publisher in topic["publishers"] if self.is_wrong(publisher)]
        return found

    def check_recording(self, path):
        status, out, err = self.result("check", path, "--json")
        self.assertIn(status, (0, 1), err)
        return json.loads(out)["findings"]

    def test_a_simulation_at_half_speed_and_its_replay(self):
        self.busy()
        server = self.run_command("serve", "--start", "1000", "--rate", "0.5")
        server.expect("time ")
        self.nodes()
        path = os.path.join(self.folder, "recording")
        recorder = self.run_command("record", "--all", "--use-sim-time", "-o", path)
        found = self.look(9)
        self.end(recorder)
        self.assertEqual(found + self.check_recording(path), [])

    def test_a_replay(self):
        source = command_test.bag_make(self.folder, 10**18, 10**8, 100000)
        self.busy()
        player = self.run_command("play", source, "--clock", "100")
        self.nodes()
        path = os.path.join(self.folder, "recording")
        recorder = self.run_command("record", "--all", "--use-sim-time", "-o", path)
        found = self.look(9)
        self.end(recorder)
        self.end(player)
        self.assertEqual(found + self.check_recording(path), [])


if __name__ == "__main__":
    command_test.BIN_DIR, NODE, PEER, FASTDDS = sys.argv[1:5]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
