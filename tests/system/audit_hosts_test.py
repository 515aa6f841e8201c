#!/usr/bin/env python3
"""`timebase audit`: processes whose host's system clock is off. They ask for the time as if it were.

usage: audit_hosts_test.py BIN_DIR EXAMPLE_NODE ODD_NODE AUDIT_PEER [TEST...]"""

import itertools
import json
import os
import sys
import unittest

import audit_test
import command_test
from audit_test import AuditTest

MS = 10**6


class HostsTest(AuditTest):
    domains = itertools.cycle((116, 117, 118))

    def shifted(self, ms, *lines):
        """A peer whose system clock is ahead."""
        self.environment["TIMEBASE_TEST_CLOCK_MS"] = str(ms)
        try:
            return self.peer(*lines)
        finally:
            del self.environment["TIMEBASE_TEST_CLOCK_MS"]

    @staticmethod
    def host(report, node):
        return next((host for host in report["hosts"] if node in host["nodes"]), {"by": None})

    def compared(self, by, *nodes):
        return lambda report: all(self.host(report, node)["by"] == by for node in nodes)

    def test_a_clock_that_is_ahead(self):
        """What it stamps is found too, below it."""
        self.shifted(50, "node far", "header /far 20 wall", "node further")
        self.peer("node near", "header /near 20 wall")
        report = self.until(
            lambda report: self.compared("requests", "/far", "/near")(report)
            and "stamp-future" in report["by_rule"]
        )
        (finding,) = report["findings"]
        self.assertEqual((finding["rule"], finding["severity"]), ("host-offset", "warn"))
        self.assertEqual([subject["name"] for subject in finding["subjects"]], ["/far", "/further"])
        lines = self.evidence(report, "host-offset", "/far")
        self.assertRegex(
            lines[0],
            r"^its system clock is (4[5-9]|5\d)\.\d ms ahead of this host's, "
            r"give or take \d.* (ms|us) \(best of 8 requests\)$",
        )
        self.assertEqual(set(finding["remedy"]), {"ros2", "timebase", "launch"})
        self.assertEqual([caused["rule"] for caused in finding["caused"]], ["stamp-future"])
        host = self.host(report, "/far")
        self.assertLess(abs(host["offset_ns"] - 50 * MS), host["bound_ns"] + MS)
        self.assertEqual(host["requests"], 8)
        host = self.host(report, "/near")
        self.assertLess(abs(host["offset_ns"]), host["bound_ns"] + MS)
        self.assertEqual(set(report["system_clock"]), {"synchronized", "max_error_ns"})

    def test_a_clock_that_is_behind(self):
        self.shifted(-50, "node far")
        report = self.until_found("host-offset")
        self.assertRegex(self.evidence(report, "host-offset", "/far")[0], r"^its system clock is (4|5)\d\.\d ms behind ")

    def test_messages_of_nodes_that_do_not_answer(self):
        self.shifted(50, "bare ahead", "header /ahead 20 wall")
        self.shifted(-50, "bare behind", "header /behind 20 wall")
        report = self.until(self.compared("one-way minimum", "/ahead", "/behind"))
        subjects = {s["name"]: s["evidence"][0] for s in report["by_rule"]["host-offset"]["subjects"]}
        self.assertEqual(set(subjects), {"/ahead", "/behind"})
        end = r"this host's \(one-way minimum of \d+ messages: includes transport latency\)$"
        self.assertRegex(subjects["/ahead"], r"^its system clock is at least \d+\.\d ms ahead of " + end)
        self.assertRegex(subjects["/behind"], r"^its system clock is at most \d+\.\d ms behind " + end)

    def test_near_misses(self):
        """2 ms, and what a manifest allows."""
        self.shifted(2, "node near", "header /near 20 wall")
        self.shifted(2, "bare quiet", "header /quiet 20 wall")
        report = self.until(
            lambda report: self.compared("requests", "/near")(report)
            and self.compared("one-way minimum", "/quiet")(report)
        )
        self.assertEqual(report["findings"], [])
        host = self.host(report, "/near")
        self.assertLess(abs(host["offset_ns"] - 2 * MS), host["bound_ns"] + MS)
        self.shifted(50, "node far")
        path = os.path.join(self.folder, "manifest.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("timebase_manifest: 1\nmode: vehicle\nthresholds: {host_offset: 100ms}\n")
        report = self.until(self.compared("requests", "/far"), path)
        self.assertEqual(report["findings"], [])

    def test_observe_has_it_beside_the_latency(self):
        """Of publishers whose nodes answer."""
        self.shifted(50, "node far", "header /far 20 wall")
        self.peer("bare quiet", "header /quiet 20 wall")
        observer = self.run_command("observe", "--json")
        rows = {}
        while not rows.get("/far", {}).get("host_offset_ms") or "/quiet" not in rows:
            report = json.loads(observer.expect("{").string)
            rows = {row["node"]: row for topic in report["topics"] for row in topic["publishers"]}
        offset = rows["/far"]["host_offset_ms"]
        self.assertLess(abs(offset["offset"] - 50), offset["bound"] + 1)
        self.assertLess(rows["/far"]["source_to_receive_ms"]["min"], 0)
        self.assertIsNone(rows["/quiet"]["host_offset_ms"])


if __name__ == "__main__":
    command_test.BIN_DIR, audit_test.NODE, audit_test.ODD, audit_test.PEER = sys.argv[1:5]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
