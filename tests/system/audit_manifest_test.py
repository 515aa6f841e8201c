#!/usr/bin/env python3
"""`timebase audit MANIFEST`: what a manifest declares against the graph; `timebase manifest verify --graph`
reports the same differences.

usage: audit_manifest_test.py BIN_DIR EXAMPLE_NODE ODD_NODE AUDIT_PEER [TEST...]"""

import itertools
import json
import os
import sys

import audit_test
import command_test
import in_parts
from audit_test import START_S, AuditTest, all_findings

HEADER = ("timebase_manifest: 1", "mode: simulation", "evidence: [/clock]")


class DeclaredTest(AuditTest):
    domains = itertools.cycle((80, 81, 82, 83, 84))

    def manifest(self, *lines, header=HEADER):
        path = os.path.join(self.folder, "manifest.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join((*header, *lines)) + "\n")
        return path

    def subjects(self, report, rule):
        return {
            subject["name"]: (subject["severity"], subject["evidence"])
            for finding in all_findings(report)
            if finding["rule"] == rule
            for subject in finding["subjects"]
        }

    def differences(self, path):
        status, out, err = self.result("manifest", "verify", path, "--graph", "--json")
        self.assertIn(status, (0, 1), err)
        return status, {(item["name"], item["text"]) for item in json.loads(out)["differences"]}

    def test_the_clock(self):
        self.peer("node other", f"clock {START_S} 10 10 rel")
        path = self.manifest(
            "clock: {publisher: /gazebo, rate: 50, factor: 2, qos: {reliability: best_effort, depth: 5}}",
        )
        report = self.until(
            lambda report: {"clock-declared", "clock-rate"} <= set(report["by_rule"])
            and report["clock"]["ticks"] >= 50,
            path,
        )
        severity, lines = self.subjects(report, "clock-declared")["/clock"]
        self.assertEqual(severity, "error")
        self.assertEqual(
            lines[:2], ["its publisher is /other, declared is /gazebo", "/other offers reliable, declared is best effort"]
        )
        severity, lines = self.subjects(report, "clock-rate")["/clock"]
        self.assertRegex(" ".join(lines), r"^it ticks at .* Hz, declared are 50\.0 Hz its factor is .*, declared are 2\.000")
        self.assertEqual(set(report["by_rule"]), {"clock-declared", "clock-rate"})
        status, found = self.differences(path)
        self.assertEqual((status, {name for name, _ in found}), (1, {"/clock"}))
        self.assertLessEqual(set(self.subjects(report, "clock-declared")["/clock"][1]), {text for _, text in found})

    def test_a_clock_as_declared(self):
        self.peer("node sim", f"clock {START_S} 100 100")  # 10 Hz, which a busy machine can hold
        path = self.manifest(
            "clock: {publisher: /sim, rate: 10, factor: 1, qos: {reliability: best_effort, durability: volatile}}",
            "max_error: 5s",
        )
        report = self.until(lambda report: report["clock"]["ticks"] >= 10 and not report["findings"], path)
        self.assertEqual((report["declared"], report["clock"]["max_error_ns"]), ([], 5 * 10**9))
        self.assertGreater(report["clock"]["rtf_for_max_error"], 1)
        self.assertLess(report["clock"]["rate_for_max_error_hz"], 10)

    def test_no_clock(self):
        self.node("camera")
        path = self.manifest("clock: {publisher: /gazebo}")
        report = self.until(lambda report: len(report["nodes"]) == 1, path)
        self.assertEqual(
            self.subjects(report, "clock-declared"), {"/clock": ("error", ["nothing publishes it; declared is /gazebo"])}
        )

    def test_nodes(self):
        """Missing ones, the time of those that are declared with it and without, and what cannot be
        observed."""
        self.sim()
        self.node("camera", "use_sim_time:=true")
        self.node("ekf")
        path = self.manifest(
            "nodes:",
            "  /sim: {role: simulator}",
            "  /camera: {use_sim_time: false, timers: ros, hardware_timeouts: steady, headers: ros}",
            "  /ekf: ",
            "  /estop: {timing_critical: true, role: safety}",
            "  /logger: ",
            "  /lidar*: ",
        )
        rules = ("node-missing", "time-base-declared", "mixed-time-base")
        report = self.until(
            lambda report: set(rules) <= set(report["by_rule"]) and len(report["nodes"]) == 3, path
        )
        self.assertEqual(
            self.subjects(report, "node-missing"),
            {
                "/estop": ("error", ["it is not on the graph; its role is safety", "the manifest declares the node timing-critical"]),
                "/logger": ("warn", ["it is not on the graph"]),
            },
        )
        self.assertEqual(list(self.subjects(report, "time-base-declared")), ["/camera"])
        self.assertEqual(list(self.subjects(report, "mixed-time-base")), ["/ekf"])
        self.assertEqual(
            [(item["name"], item["text"]) for item in report["declared"]],
            [
                ("/camera", "headers are declared to be ros; no stamp of them was sampled"),
                ("/camera", "timers are declared to be ros, which cannot be observed"),
                ("/camera", "hardware_timeouts are declared to be steady, which cannot be observed"),
            ],
        )
        self.assertEqual([item["name"] for item in report["notes"]], ["/lidar*"])
        status, found = self.differences(path)
        self.assertEqual((status, {name for name, _ in found}), (1, {"/camera", "/ekf", "/estop", "/logger"}))

    def test_hardware_timeouts_are_steady(self):
        path = self.manifest("nodes: {/driver: {hardware_timeouts: ros}}")
        status, out, err = self.result("audit", path)
        self.assertEqual((status, out), (2, ""))
        self.assertIn("hardware timeouts must be steady", err)

    def test_timing_critical_nodes(self):
        """A warning about what such a node publishes is an error, and an unknown time is a warning."""
        self.sim("node driver -p use_sim_time:=true", "header /scan 20 plus 300", "bare mute", "string /text")
        path = self.manifest("nodes: {/driver: {timing_critical: true}, /mute: {timing_critical: true}}")
        report = self.until(
            lambda report: {"stamp-future", "time-base-unknown"} <= set(report["by_rule"]), path
        )
        severity, lines = self.subjects(report, "stamp-future")["/scan"]
        self.assertEqual((severity, lines[-1]), ("error", "the manifest declares the node timing-critical"))
        self.assertEqual(self.subjects(report, "time-base-unknown")["/mute"][0], "warn")
        path = self.manifest("nodes: {/driver: , /mute: }")
        report = self.until(
            lambda report: {"stamp-future", "time-base-unknown"} <= set(report["by_rule"]), path
        )
        self.assertEqual(self.subjects(report, "stamp-future")["/scan"][0], "warn")
        self.assertEqual(self.subjects(report, "time-base-unknown")["/mute"][0], "note")

    def test_bases(self):
        self.sim(
            "node camera -p use_sim_time:=true", "header /image 20 wall",
            "node radar -p use_sim_time:=true", "header /track 20 ros",
            "node lamp -p use_sim_time:=true", "header /light 20 ros", "header /dark 20 zero",
        )  # fmt: skip
        path = self.manifest(
            "nodes:", "  /camera: {headers: system}", "  /radar: {headers: system}", "  /lamp: {headers: none}"
        )
        report = self.until(
            lambda report: len(self.subjects(report, "stamp-declared")) == 2 and report["topics_sampled"] == 4, path
        )
        self.assertEqual(set(report["by_rule"]), {"stamp-declared"})
        found = self.subjects(report, "stamp-declared")
        self.assertRegex(found["/track"][1][0], r"^(\d+) of \d+ stamps are of /clock; the manifest declares headers: system$")
        self.assertRegex(found["/light"][1][0], r"^\d+ stamps; the manifest declares headers: none$")
        path = self.manifest("nodes: {/camera: {headers: ros}}")
        report = self.until(lambda report: "stamp-other-domain" in report["by_rule"], path)
        _, found = self.differences(path)
        self.assertEqual(found, {("/image", "its stamps are of system time, declared is ros")})

    def test_topics(self):
        """Types, rates (of topics with and without a header), budgets, and what is not there."""
        self.sim(
            "node driver -p use_sim_time:=true", "header /slow 100 ros", "header /right 20 ros",
            "header /aged 20 plus -400", "garbage /raw 50 std_msgs/msg/Int32", "string /silent",
        )  # fmt: skip
        path = self.manifest(
            "topics:", "  /slow: {rate: 50, type: std_msgs/msg/Header}", "  /right: {rate: 50, budget: 5s, thresholds: {rate_warn: 45%}}",
            "  /aged: {budget: 200ms}", "  /raw: {rate: 100}", "  /silent: {rate: 20, type: std_msgs/msg/Empty}",
            "  /gone: ", "  /none/*: ",
            "paths: [{from: /lost, to: /right, budget: 1s}]",
            header=("timebase_manifest: 1", "mode: simulation", "evidence: [/clock, /diagnostics]"),
        )  # fmt: skip
        rules = ("topic-declared", "topic-rate", "stamp-old", "missing-evidence")
        report = self.until(
            lambda report: set(rules) <= set(report["by_rule"])
            and set(self.subjects(report, "topic-rate")) == {"/slow", "/raw", "/silent"},
            path,
        )
        rates = self.subjects(report, "topic-rate")
        self.assertRegex(rates["/slow"][1][0], r"Hz, declared are 50 Hz$")
        self.assertRegex(rates["/raw"][1][0], r"Hz, declared are 100 Hz$")
        self.assertRegex(rates["/silent"][1][0], r"^no message in \d\.\d s, declared are 20 Hz$")
        self.assertEqual({name: severity for name, (severity, _) in rates.items()},
                         {"/slow": "error", "/raw": "error", "/silent": "error"})
        self.assertEqual(
            self.subjects(report, "topic-declared"),
            {
                "/silent": ("error", ["its type is std_msgs/msg/String, declared is std_msgs/msg/Empty"]),
                "/gone": ("warn", ["nothing publishes it"]),
                "/lost": ("warn", ["nothing publishes it"]),
            },
        )
        self.assertRegex(self.subjects(report, "stamp-old")["/aged"][1][0], r"^ages are up to .*, the budget is 200 ms$")
        self.assertEqual(self.subjects(report, "missing-evidence"), {"/diagnostics": ("warn", ["nothing publishes it"])})
        status, found = self.differences(path)
        names = {name for name, _ in found}
        self.assertEqual((status, names), (1, {"/slow", "/raw", "/silent", "/gone", "/lost", "/aged", "/diagnostics"}))

    def test_rules_that_are_off_are_shown(self):
        self.sim("node driver -p use_sim_time:=true", "header /scan 20 zero")
        path = self.manifest(
            "nodes: {/gone: }",
            "rules_off: {node-missing: in repair, stamp-zero: {reason: known, subjects: [/sc*]}, tf-late: {reason: why, subjects: [/x]}}",
        )
        report = self.until(lambda report: [off["count"] for off in report["switched_off"]] == [1, 1, 0], path)
        self.assertEqual((report["findings"], report["status"]), ([], 0))
        self.assertEqual(
            [(off["rule"], off["reason"], off["all"]) for off in report["switched_off"]],
            [("node-missing", "in repair", True), ("stamp-zero", "known", False), ("tf-late", "why", False)],
        )
        self.assertIn(("/gone", "it is not on the graph; node-missing is switched off: in repair"),
                      [(note["name"], note["text"]) for note in report["notes"]])
        self.assertEqual(self.differences(path), (0, set()))
        out = self.result("audit", path)[1]
        self.assertIn("off node-missing: in repair (1 not reported)\n", out)
        self.assertRegex(out, r"off stamp-zero for some: known \([01] not reported\)\n")


if __name__ == "__main__":
    command_test.BIN_DIR, audit_test.NODE, audit_test.ODD, audit_test.PEER = sys.argv[1:5]
    in_parts.main([sys.argv[0], *sys.argv[5:]], 4)
