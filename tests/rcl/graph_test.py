#!/usr/bin/env python3
"""graph_test BIN_DIR GRAPH_NODE CLOCK_PROBE: nodes of ROS 2 on a shared time, on the stand-in for librcl, and what the commands that
look at a graph report of them."""
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))

import command_test  # noqa: E402
import in_parts  # noqa: E402
from command_test import SECOND, CommandTest, Process, bag_make  # noqa: E402

NODE = None


class GraphTest(CommandTest):
    domains = itertools.cycle((35, 164, 165))

    def start(self, words):
        process = Process(self, words, self.environment, subprocess.PIPE)
        self.addCleanup(lambda: process.child.stdin.closed or process.child.stdin.close())  # ends the node
        process.expect("ready")
        return process

    def finish(self, process):
        process.child.stdin.close()
        self.assertEqual(process.wait(), 0, process.errors)
        return int([line.split()[1] for line in process.seen if line.startswith("now ")][-1])

    def errors_of(self, process):
        return "".join(f"{line}\n" for line in process.errors if line)

    def shm_name(self):
        name = f"rcl-graph-{os.getpid()}"
        for prefix in ("timebase", "timebase-wake1"):
            path = f"/dev/shm/{prefix}.{name}"
            self.addCleanup(lambda path=path: os.path.exists(path) and os.unlink(path))
        return name

    def run_words(self, name, *words):
        return [f"{command_test.BIN_DIR}/timebase", "run", "--source", f"shm:{name}", *words]

    def audited(self, is_right):
        """The audit, once it is right: of its report, the time base of each node, and the nodes of each rule."""

        def is_audited(status, out, _):
            if status not in (0, 1):
                return False
            report = json.loads(out)
            bases = {node["name"]: (node["time_base"], node["by"], node["shared_time"]) for node in report["nodes"]}
            found = {finding["rule"]: [subject["name"] for subject in finding["subjects"]]
                     for finding in report["findings"]}
            return is_right(bases, found)

        return self.until_result(("audit", "--json"), is_audited)

    def listed(self, expected):
        """`timebase nodes --check`, once the nodes are on these times."""

        def is_listed(status, out, _):
            nodes = json.loads(out)["nodes"] if status == 0 else []
            return {node["name"]: node["shared_time"] for node in nodes} == expected

        self.until_result(("nodes", "--json"), is_listed)
        return self.result("nodes", "--check")

    def test_an_unchanged_node_is_seen_on_the_shared_time(self):
        name = self.shm_name()
        server = self.run_command("serve", "--node", "sim", "--shm", name, "--start", "1000")
        server.expect("time ")
        robot = self.start(self.run_words(name, "--check", "--require", "--node", "/robot", "--limit", "100s", "--",
                                          NODE, "robot"))
        status, out, err = self.listed({"/robot": name, "/sim": None})
        self.assertEqual(status, 0, err)
        self.assertIn(f"  follows shm:{name}, ", out)
        plain = self.start([NODE, "plain"])
        status, _, err = self.listed({"/plain": None, "/robot": name, "/sim": None})
        self.assertEqual(status, 1, err)
        self.assertIn("check failed: 1 node does not use simulated time, but others do\n", err)
        self.assertNotIn("no publisher", err)
        self.audited(lambda bases, found: bases.get("/plain") == ("wall", "answer", None)
                     and bases.get("/robot") == ("other", "shared memory", name)
                     and found.get("mixed-time-base") == ["/plain"] and "shared-time-stopped" not in found)
        self.assertRegex(self.result("audit")[1], r"; 3 nodes: .* on /clock, 1 on a shared time, \d on wall time, ")
        # The reports are printed when the command has ended.
        self.assertLess(abs(self.finish(robot) - 1000 * SECOND), 1_000_000 * SECOND)
        self.assertGreater(self.finish(plain), 1_000_000_000 * SECOND)  # system time
        lines = [line for line in robot.seen if not re.match("now |jump |ready$", line)]
        self.assertEqual(len(lines), 3, lines)
        self.assertRegex(lines[0], f"^process [0-9]+: {NODE} robot$")
        self.assertEqual(lines[1], f"  follows shm:{name}: 1 ROS clock, of rcl jazzy 9.2.11")
        self.assertRegex(lines[2], "^replaced in rcl: .*rcl_clock_get_now, ")

    def test_a_time_without_a_topic_or_a_publisher(self):
        name = self.shm_name()
        robot = self.start(self.run_words(name, "--", NODE, "robot"))
        robot.expect_error(f"note: shm:{name} has no publisher yet")
        plain = self.start([NODE, "plain"])

        def is_stopped(bases, found):
            return bases.get("/plain", ())[:1] == ("wall",) \
                and bases.get("/robot") == ("other", "shared memory", name) \
                and found.get("shared-time-stopped") == ["/robot"] and found.get("mixed-shared-time") == ["/plain"]

        self.audited(is_stopped)  # before the first publisher
        server = self.run_command("serve", "--no-topic", "--shm", name, "--start", "1000")
        server.expect("time ")
        self.audited(lambda bases, found: bases.get("/robot", ())[:1] == ("other",)
                     and found.get("mixed-shared-time") == ["/plain"] and "shared-time-stopped" not in found)
        status, _, err = self.listed({"/plain": None, "/robot": name})
        self.assertEqual(status, 1, err)
        self.assertIn("1 node does not use simulated time, but others do\n", err)
        server.child.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(), 0, server.errors)
        self.audited(is_stopped)  # and after the last one
        status, out, err = self.result("nodes", "--check")
        self.assertEqual(status, 1, err)
        self.assertIn(f"  ! shm:{name} has no publisher\n", out)
        self.assertIn("1 node follows a shared time that has no publisher\n", err)
        self.finish(robot)
        self.finish(plain)

    def test_why_a_required_node_has_not_taken_the_time(self):
        name = self.shm_name()
        server = self.run_command("serve", "--no-topic", "--shm", name, "--start", "1000")
        server.expect("time ")
        for words, reason in (
            (("--node", "/robbot", "--limit", "3s", "--", NODE, "robot"),
             "there is no node /robbot; did you mean /robot?"),
            (("--node", "/robot", "--limit", "3s", "--", "env", "-u", "LD_PRELOAD", NODE, "robot"),
             r"(?s)the process of node /robot has not taken .*_node \(process \d+\) has no LD_PRELOAD"),
            (("--node", "/robot", "--limit", "3s", "--", *self.run_words(f"{name}-2", "--", NODE, "robot")),
             f"the process of node /robot has not taken the time of shm:{name} within 3s: it follows shm:{name}-2"),
        ):
            robot = self.start(self.run_words(name, "--require", *words))
            self.assertEqual(robot.wait(), 1, robot.errors)
            self.assertRegex(self.errors_of(robot), reason)
        for prefix in ("timebase", "timebase-wake1"):
            path = f"/dev/shm/{prefix}.{name}-2"
            if os.path.exists(path):
                os.unlink(path)

    def followers(self, name):
        """An unchanged node under `run`, and programs of timebase on the page and on /clock."""
        on_page = self.start(self.run_words(name, "--", command_test.PROBE))
        on_topic = self.start([command_test.PROBE])
        return self.start(self.run_words(name, "--", NODE, "robot")), on_page, on_topic

    @staticmethod
    def jumps(follower):
        """The jumps that it has printed, as (from, to); forward from 2 s on."""
        out, last_ns = [], None
        for words in map(str.split, follower.seen):
            if words[0] == "jump":  # of an unchanged node
                out.append((int(words[1]), int(words[1]) + int(words[2])))
            elif words[:3] == ["two", "after", "started"]:
                out.append((0, int(words[4])))
            elif words[:3] == ["two", "after", "backward"]:
                out.append((int(words[3]), int(words[4])))
            elif words[0] == "tick" and last_ns is not None and int(words[1]) - last_ns >= 2 * SECOND:
                out.append((last_ns, int(words[1])))
            if words[0] == "tick":
                last_ns = int(words[1])
            elif out:
                last_ns = max(last_ns or 0, out[-1][1]) if words[:2] != ["two", "after"] else out[-1][1]
        return out

    def times(self, followers):
        times = []
        for follower in followers:
            follower.write("now")
            times.append(int(follower.expect(r"now (\d+)").group(1)))
        return times

    def reach(self, followers, time_ns, direction):
        """Until all have it, and the time does not move: it is the same for each."""
        deadline = time.monotonic() + command_test.LIMIT_S
        while True:
            times = self.times(followers)
            if len(set(times)) == 1 and (times[0] - time_ns) * direction >= 0:
                return times[0]
            self.assertLess(time.monotonic(), deadline, times)

    def control(self, *words):
        status, _, err = self.result("ctl", "/rosbag2_player", *words)
        self.assertEqual(status, 0, err)

    def test_a_seek_is_one_jump_for_each(self):
        name = self.shm_name()
        start = 1_600_000_000 * SECOND
        bag = bag_make(self.folder, start, SECOND // 10, 601)
        followers = self.followers(name)
        player = self.run_command("play", bag, "--shm", name, "--loop", "--start-paused")
        self.reach(followers, start, 1)
        for to_s in (40, 10, 58):  # while it is paused
            self.control("seek", f"{start // SECOND + to_s}")
            self.assertEqual(self.reach(followers, start + to_s * SECOND, 1 if to_s != 10 else -1),
                             start + to_s * SECOND)
        self.control("resume")
        for follower in followers:
            while len(self.jumps(follower)) < 5:  # over the end
                follower.expect("jump |two after backward")
        self.control("pause")
        self.control("seek", f"{start // SECOND + 30}")
        self.reach(followers, start + 30 * SECOND, 1)
        at = [start + second * SECOND for second in (0, 40, 10, 58)]
        for follower in followers:
            jumps = self.jumps(follower)
            self.assertEqual(jumps[:4], list(zip([0, *at], at)))
            self.assertEqual([to for _, to in jumps[4:]], [start, start + 30 * SECOND])
            # A follower of the topic that is behind gets only the newest tick.
            self.assertLessEqual(start + 59 * SECOND, jumps[4][0])
            self.assertLessEqual(jumps[4][0], start + 60 * SECOND)
            self.assertLess(jumps[5][0], start + 30 * SECOND)
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)

    def test_a_time_that_does_not_begin(self):
        name = self.shm_name()
        for source, reason in ((f"shm:{name}", "the time has no publisher"),
                               ("clock_topic", "no tick of /clock has come")):
            words = [f"{command_test.BIN_DIR}/timebase", "run", "--source", source, "--name", name, "--require",
                     "--limit", "2s", "--", NODE, "robot"]
            robot = self.start([word for word in words if source == "clock_topic" or word not in ("--name", name)])
            self.assertEqual(robot.wait(), 1, robot.errors)
            self.assertIn(f"timebase run: the time of shm:{name} has not begun within 2s: {reason}\n",
                          self.errors_of(robot))

    def test_processes_without_the_library(self):
        name = self.shm_name()
        for words in (("env", "-u", "LD_PRELOAD"), ("env", "-i")):
            robot = self.start(self.run_words(name, "--check", "--limit", "1s", "--", *words, NODE, "robot"))
            robot.expect_error("note: no process of env has taken the time")  # they were looked at until then
            self.finish(robot)
            self.assertIn("no process has loaded rcl", robot.seen)
            self.assertRegex(self.errors_of(robot), r"rcl_graph_node \(process \d+\) has no LD_PRELOAD")


if __name__ == "__main__":
    command_test.BIN_DIR, NODE, command_test.PROBE = sys.argv[1:4]
    in_parts.main([sys.argv[0], *sys.argv[4:]], 3, verbosity=2)
