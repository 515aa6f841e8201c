#!/usr/bin/env python3
"""The error of simulated time: what `wait`, `watch` and `audit` print, and what it really is in two
other processes.

usage: clock_error_test.py BIN_DIR CLOCK_ERROR_PEER [TEST...]

The server's time is known at each moment of steady time, and a follower's reads are compared with it. A
command measures for a second or two of the time that it runs: a tick that came later than any in that time, to
the follower or from the server, is no fault of its figures. Few reads may have waited for such a tick."""

import bisect
import itertools
import json
import os
import re
import subprocess
import sys
import time
import unittest

import command_test
from command_test import LIMIT_S, SECOND, CommandTest, Process

PEER = None
HZ = 100
MS = 1_000_000
LATE_SHARE = 0.02
FACTOR_OFF = 0.05


class ClockErrorTest(CommandTest):
    domains = itertools.cycle((85, 86, 87, 88))

    def peer(self, *arguments):
        return Process(self, [PEER, *arguments], self.environment, subprocess.PIPE)

    def lines(self, process, word):
        """Of a peer, which it ends: (steady, ROS)."""
        process.child.stdin.close()
        self.assertEqual(process.wait(), 0, process.errors)
        words = [line.split() for line in process.seen if line.startswith(word + " ")]
        return [(int(steady), int(ros)) for _, steady, ros in words]

    def printed(self, factor):
        """What the commands print while the follower reads: {command: {error, rate, factor}}."""
        manifest = os.path.join(self.folder, "manifest.yaml")
        with open(manifest, "w", encoding="utf-8") as file:
            file.write("timebase_manifest: 1\nmode: simulation\nmax_error: 10s\n")
        commands = {
            "watch": self.run_command("watch", "--json", "--duration", "2.5", "--manifest", manifest),
            "wait": self.run_command("wait", "--json", "--manifest", manifest),
            "audit": self.run_command("audit", "--json", manifest),
        }
        found, ends, begin = {}, {}, time.monotonic_ns()
        deadline = time.monotonic() + LIMIT_S
        while len(ends) < len(commands) and time.monotonic() < deadline:
            for name, command in commands.items():
                if command.child.poll() is not None:
                    ends.setdefault(name, time.monotonic_ns())
            time.sleep(0.02)
        for name, command in commands.items():
            status = command.wait()  # 1 of the audit: there is no node
            self.assertEqual(status, int(name == "audit"), (name, command.errors))
        found["watch"] = json.loads(commands["watch"].seen[-1])
        found["wait"] = json.loads("\n".join(commands["wait"].seen))
        found["audit"] = json.loads("\n".join(commands["audit"].seen))["clock"]
        for name, facts in found.items():
            facts["from"], facts["to"] = begin, ends[name]
            self.assertEqual(facts["max_error_ns"], 10 * SECOND, name)
            self.assertGreater(facts["error_ns"], 0.8 * factor * SECOND / HZ, (name, facts))
            self.assertGreater(facts["rtf_for_max_error"], factor, name)
            self.assertLess(facts["rate_for_max_error_hz"], HZ, name)
        return found

    def measure(self, factor):
        """What is printed, and of each read: when it was, its error, how long ago the tick was sent that it lacks (below 0:
        it is still to come), and by how much that tick moves time."""
        server = self.peer("serve", str(factor), str(HZ))
        follower = self.peer("read", "2000")
        follower.expect("ready")
        follower.write("go")
        printed = self.printed(factor)
        reads = self.lines(follower, "read")
        ticks = self.lines(server, "tick")
        values = [ros for _, ros in ticks]
        found = []
        for steady, ros in reads:
            index = bisect.bisect_right(values, ros) - 1
            if 0 <= index < len(ticks) - 1:
                then, value = ticks[index]
                lacking, later = ticks[index + 1]
                found.append((steady, value + factor * (steady - then) - ros, steady - lacking, later - value))
        return printed, found

    def check(self, factor):
        tried = []
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            printed, reads = self.measure(factor)
            self.assertGreater(len(reads), 500)
            errors = sorted(error for _, error, _, _ in reads)
            self.assertGreaterEqual(errors[0], -10_000)  # nobody is ahead of the server
            # What is measured is the error: half a tick in the mean.
            self.assertGreater(errors[len(errors) // 2], 0.3 * factor * SECOND / HZ)
            late = {}
            for name, facts in printed.items():
                limits = facts["error_latency_ns"], facts["error_step_ns"]
                concerned = [read for read in reads if facts["from"] <= read[0] <= facts["to"]]
                usual = [error for _, error, ago, step in concerned if ago <= limits[0] and step <= limits[1]]
                # The factor that a command measures is not exactly that of the server.
                self.assertLessEqual(max(usual), facts["error_ns"] + FACTOR_OFF * limits[0], (name, facts))
                late[name] = 1 - len(usual) / len(concerned)
            tried.append(late)
            if max(late.values()) < LATE_SHARE:
                return
        self.fail(f"factor {factor}: share of reads that waited longer than was printed: {tried}")

    def test_half_of_real_time(self):
        self.check(0.5)

    def test_real_time(self):
        self.check(1)

    def test_five_times_real_time(self):
        self.check(5)

    def test_what_meets_the_manifest(self):
        """The factor that is printed for an error gives it, within what two runs differ by."""
        self.peer("serve", "2", str(HZ)).expect("tick")
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            status, out, err = self.result("wait", "--json", "--max-error", "10ms", "--limit", "3s")
            self.assertEqual(status, 1, err)
            facts = json.loads(out)
            self.assertFalse(facts["ready"])
            if facts["reason"] != "inexact":  # on a busy machine: nothing came for long
                continue
            ratio = facts["rtf_for_max_error"] * facts["error_ns"] / (facts["rtf"] * 10 * MS)
            if abs(ratio - 1) < 0.2 and facts["rate_for_max_error_hz"] is not None:
                break
        else:
            self.fail(out)
        self.assertGreater(facts["rate_for_max_error_hz"], HZ)
        watch = self.run_command("watch", "--duration", "2.5", "--max-error", "10ms")
        self.assertEqual(watch.wait(), 1, watch.errors)
        self.assertTrue(any(re.search(r" error \d+\.\d ms$", line) for line in watch.seen[:-1]), watch.seen)
        self.assertRegex(
            watch.seen[-1],
            r"^its time is wrong by at most \d+\.\d ms \(allowed are 10\.0 ms: "
            r"(from \d+ Hz on at this factor, or )?up to a factor of \d\.\d+ at this rate\)$",
        )

    def test_manifests_that_cannot_be_used(self):
        path = os.path.join(self.folder, "manifest.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("timebase_manifest: 1\nmode: vehicle\n")
        for command in ("wait", "watch"):
            status, out, err = self.result(command, "--manifest", path)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("mode vehicle has no /clock", err)
            self.assertEqual(self.result(command, "--manifest", "/nonexistent")[0], 3)
        with open(path, "w", encoding="utf-8") as file:
            file.write("timebase_manifest: 1\nmode: x\n")
        for command in ("wait", "watch"):
            status, out, err = self.result(command, "--manifest", path)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(f"{path}:2:7: error: mode: 'x' is unknown", err)


if __name__ == "__main__":
    command_test.BIN_DIR, PEER = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
