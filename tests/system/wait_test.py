#!/usr/bin/env python3
"""`timebase wait` on clocks that are ready or not, and the lifecycle nodes that it activates.

usage: wait_test.py BIN_DIR AUDIT_PEER [TEST...]"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time

import command_test
import in_parts
from command_test import LIMIT_S, CommandTest, Process

PEER = None
MS = 1_000_000


class WaitTest(CommandTest):
    domains = itertools.cycle((60, 61, 62))

    def peer(self, *lines, program=None):
        process = Process(self, [program or PEER], self.environment, subprocess.PIPE)
        process.expect("ready")
        self.ask(process, *lines)
        return process

    def ask(self, process, *lines):
        for line in lines:
            process.write(line)
            process.expect("ok")

    def sim(self):
        return self.peer("node sim", "clock 1000 10 10")

    def wait_json(self, *arguments, limit="100s"):
        status, out, err = self.result("wait", "--json", "--limit", limit, *arguments)
        if "two publishers tick" not in err:
            self.assertEqual(err, "")
        return status, json.loads(out)

    def until_reason(self, reason, *arguments):
        """The report of the first run with that reason; discovery and the machine may be slow."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            status, report = self.wait_json(*arguments, limit="4s")
            if report["reason"] == reason:
                self.assertEqual((status, report["ready"]), (1, False))
                return report
            self.assertLess(time.monotonic(), deadline, report)

    def until_refused(self, pattern, *arguments):
        self.until_result(
            ("wait", "--limit", "4s", *arguments),
            lambda status, _, err: status == 1 and re.search(pattern, err),
        )


class ClockTest(WaitTest):
    def test_a_paused_clock_is_ready_and_reported(self):
        server = self.run_command("serve", "--start", "1000", "--paused")
        server.expect("time 1000")
        # On a busy machine its ticks may pause before they repeat: then it is ready, and not yet paused.
        _, out, _ = self.until_result(
            ("wait", "--json", "--limit", "100s"), lambda status, out, _: status == 0 and json.loads(out)["paused"]
        )
        self.assertEqual(json.loads(out)["reason"], "ready")
        self.until_result(
            ("wait", "--limit", "100s"), lambda status, out, _: (status, out) == (0, "paused: time 1000.000000000\n")
        )
        server.child.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)

    def test_two_publishers(self):
        self.sim()
        other = self.peer("node player", "clock 5000 10 10")
        self.until_reason("two-publishers")
        report = self.until_reason("two-publishers", "--running")
        self.assertEqual(report["publishers"], 2)
        self.until_refused(
            r"the clock is not ready \(two-publishers\): 2 publishers of /clock tick by turns: "
            r"(/sim and /player|/player and /sim); stop all but one\n$",
            "--running",
        )
        self.ask(other, "stop")  # it stays, and is silent
        status, report = self.wait_json("--running")
        self.assertEqual((status, report["reason"]), (0, "ready"))
        status, report = self.wait_json()
        self.assertEqual((status, report["reason"]), (0, "ready"))

    def test_two_publishers_of_nearly_the_same_time(self):
        self.sim()
        self.peer("node player", "clock 1000 10 10")
        self.until_reason("two-publishers")

    def test_two_streams_of_one_publisher(self):
        self.peer("node sim", "clock2 1000 1500 5")
        report = self.until_reason("two-streams", "--running")
        self.assertAlmostEqual(report["apart_ns"] / 1e9, 1500, delta=60)
        self.until_refused(
            r"not ready \(two-streams\): one publisher of /clock sends two times that are 1\d\d\d\.\d{3} s apart",
            "--running",
        )

    def test_max_error(self):
        self.peer("node sim", "clock 1000 100 100")
        status, report = self.wait_json("--max-error", "1h")
        self.assertEqual((status, report["reason"], report["max_error_ns"]), (0, "ready", 3600 * 10**9))
        self.assertGreater(report["error_ns"], 100 * MS)  # one tick, and the latency
        report = self.until_reason("inexact", "--max-error", "50ms")
        self.assertGreater(report["error_ns"], 100 * MS)
        self.assertGreater(report["rtf_for_max_error"], 0)
        self.assertLess(report["rtf_for_max_error"], 0.6)
        if report["rate_for_max_error_hz"] is not None:
            self.assertGreaterEqual(report["rate_for_max_error_hz"], 18 * min(1, report["rtf"]))
        status, out, _ = self.result("wait", "--limit", "100s", "--max-error", "1h")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^ready: time 1\d+\.\d{9}  .* Hz  rtf .*  its time is wrong by at most [1-9]\d\d+\.\d ms \(allowed are .*\)\n$")
        self.until_refused(
            r"not ready \(inexact\): its time is wrong by up to .* ms \(factor .* x latency .* ms \+ one tick of .* ms\); "
            r"allowed are 0\.0 ms\. Enough is .*a factor of 0\.000 at this rate\n$",
            "--max-error",
            "1ns",
        )

    def test_usage(self):
        for arguments in (
            ("--max-error", "0"),
            ("--max-error", "-1ms"),
            ("--max-error", "much"),
            ("camera",),
            ("--activate", ""),
            ("--activate", "/bad//name"),
            ("--activate", "/" + "a" * 300),
            ("--activate", *("/a",) * 65),
        ):
            status, out, err = self.result("wait", "--limit", "100ms", *arguments)
            self.assertEqual((status, out), (2, ""), (arguments, err))
        server = self.run_command("serve", "--no-topic", "--shm", f"timebase-wait-test-{os.getpid()}")
        server.expect("time ")
        self.environment["TIMEBASE_SOURCE"] = f"shm:timebase-wait-test-{os.getpid()}"
        for option, value in (("--max-error", "1s"), ("--activate", "/a")):
            status, _, err = self.result("wait", option, value)
            self.assertEqual(status, 2)
            self.assertIn(f"{option} needs /clock, but TIMEBASE_SOURCE names another source", err)
        self.assertEqual(self.result("wait", "--limit", "100s")[0], 0)
        server.child.send_signal(signal.SIGTERM)
        server.wait()


class ActivateTest(WaitTest):
    def lifecycle(self, name, state, mode):
        return self.peer(f"node {name}", f"state {state}", f"change {mode}")

    def activate(self, *nodes):
        return self.result("wait", "--limit", "100s", "--activate", *nodes)

    def test_nodes_are_configured_and_activated_in_order(self):
        self.sim()
        camera = self.lifecycle("camera", 1, "accept")
        slow = self.lifecycle("slow", 1, "slow")
        inactive = self.lifecycle("inactive", 2, "accept")
        status, out, err = self.activate("/camera", "slow", "/inactive")
        self.assertEqual(status, 0, err)
        self.assert_no_errors(err)
        self.assertRegex(out, r"^ready: time .*\n/camera: activated\n/slow: activated\n/inactive: activated\n$")
        for node, count in ((camera, 2), (slow, 2), (inactive, 1)):
            if count == 2:
                node.expect("transition 1$")
            node.expect("transition 3$")
        status, report = self.wait_json("--activate", "/camera")
        self.assertEqual(status, 0)
        self.assertEqual(
            report["nodes"],
            [{"node": "/camera", "outcome": "was-active", "state": "active", "problem": None}],
        )
        self.assertEqual(self.activate("/camera")[1].splitlines()[1:], ["/camera: was active already, perhaps before the first tick"])

    def test_nothing_is_activated_before_the_clock_is_ready(self):
        camera = self.lifecycle("camera", 1, "accept")
        status, report = self.wait_json("--activate", "/camera", limit="500ms")
        self.assertEqual((status, report["nodes"][0]["outcome"]), (1, "not-asked"))
        wait = self.run_command("wait", "--limit", "100s", "--activate", "/camera")
        wait.expect_error("no publisher of /clock")
        self.assertNotIn("transition 1", camera.seen)
        self.sim()
        wait.expect("/camera: activated")
        self.assertEqual(wait.wait(), 0)
        camera.expect("transition 1$")

    def test_nodes_that_do_not_become_active(self):
        self.sim()
        self.lifecycle("refuser", 1, "refuse")
        self.lifecycle("liar", 2, "lie")
        self.lifecycle("finalized", 4, "accept")
        self.peer("node changing", "state 13")
        for name, limit, text in (
            ("/refuser", "100s", r"/refuser is not active \(state: unconfigured\): configure: it refuses or fails; read its log"),
            ("/liar", "100s", r"/liar is not active \(state: inactive\): activate: it reports success, and is in another state"),
            ("/finalized", "100s", r"/finalized is not active \(state: finalized\): it cannot be activated from this state"),
            ("/changing", "6s", r"/changing is not active \(state: activating\): (it does not leave this state|get_state: gave no)"),
            ("/absent", "4s", r"/absent is not active \(state: unknown\): get_state: is not there, or is no lifecycle node"),
        ):
            status, out, err = self.result("wait", "--limit", limit, "--activate", name)
            self.assertEqual(status, 1, out + err)
            self.assertRegex(err, f"(?m)^timebase wait: {text}")
        status, report = self.wait_json("--activate", "/liar", "/refuser")
        self.assertEqual((status, report["ready"], report["reason"]), (1, False, "not-active"))
        self.assertEqual([node["outcome"] for node in report["nodes"]], ["failed", "not-asked"])
        self.assertEqual(report["nodes"][0]["state"], "inactive")


if __name__ == "__main__":
    command_test.BIN_DIR, PEER = sys.argv[1:3]
    in_parts.main(sys.argv[:1] + sys.argv[3:], 3, verbosity=2)
