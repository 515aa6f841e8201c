#!/usr/bin/env python3
"""graph_test BIN_DIR GRAPH_NODE: nodes of ROS 2 on a shared time, on the stand-in for librcl, and what the commands that
look at a graph report of them."""
import itertools
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))

import command_test  # noqa: E402
from command_test import SECOND, CommandTest, Process  # noqa: E402

NODE = None


class GraphTest(CommandTest):
    domains = itertools.cycle((35,))

    def start(self, words):
        process = Process(self, words, self.environment, subprocess.PIPE)
        process.expect("ready")
        return process

    def finish(self, process):
        process.child.stdin.close()
        self.assertEqual(process.wait(), 0, process.errors)
        return int(next(line.split()[1] for line in process.seen if line.startswith("now ")))

    def test_an_unchanged_node_is_seen_on_the_shared_time(self):
        name = f"rcl-graph-{os.getpid()}"
        for prefix in ("timebase", "timebase-wake1"):
            path = f"/dev/shm/{prefix}.{name}"
            self.addCleanup(lambda path=path: os.path.exists(path) and os.unlink(path))
        self.run_command("serve", "--node", "sim", "--shm", name, "--start", "1000").expect("time ")
        run = ["run", "--source", f"shm:{name}", "--check", "--require", "--node", "/robot", "--limit", "100s", "--"]
        robot = self.start([f"{command_test.BIN_DIR}/timebase", *run, NODE, "robot"])
        plain = self.start([NODE, "plain"])

        def is_listed(status, out, _):
            nodes = json.loads(out)["nodes"] if status == 0 else []
            return {node["name"]: node["shared_time"] for node in nodes} == {"/plain": None, "/robot": name, "/sim": None}

        self.until_result(("nodes", "--json"), is_listed)
        self.assertIn(f"  follows shm:{name}, ", self.result("nodes")[1])

        def is_audited(status, out, _):
            report = json.loads(out) if status in (0, 1) else {"nodes": (), "findings": ()}
            bases = {node["name"]: (node["time_base"], node["by"]) for node in report["nodes"]}
            on_wall = [subject["name"] for finding in report["findings"] if finding["rule"] == "mixed-time-base"
                       for subject in finding["subjects"]]
            return bases.get("/plain") == ("wall", "answer") and on_wall == ["/plain"] \
                and bases.get("/robot") == ("other", "shared memory")

        self.until_result(("audit", "--json"), is_audited)
        # `timebase run` looks for the node until it is there, and prints reports when the command has ended.
        self.assertLess(abs(self.finish(robot) - 1000 * SECOND), 1_000_000 * SECOND)
        self.assertGreater(self.finish(plain), 1_000_000_000 * SECOND)  # system time
        reports = [json.loads(line) for line in robot.seen if line.startswith("{")]
        self.assertEqual([report["event"] for report in reports], ["first_clock", "exit"])
        for report in reports:
            self.assertEqual((report["rcl"], report["rcl_version"]), ("jazzy", "9.2.11"))
            self.assertEqual(report["source"], f"shm:{name}")
            self.assertIn("rcl_clock_get_now", report["functions"])
        self.assertEqual([report["ros_clocks"] for report in reports], [1, 0])


if __name__ == "__main__":
    command_test.BIN_DIR, NODE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
