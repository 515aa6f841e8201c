#!/usr/bin/env python3
"""`timebase audit`: whether tf2 would have answered, which edge and publisher of /tf was late, who shares one.

usage: audit_tf_test.py BIN_DIR EXAMPLE_NODE ODD_NODE AUDIT_PEER [TEST...]"""

import itertools
import json
import sys

import audit_test
import command_test
import in_parts
from audit_test import AuditTest, all_findings


class TransformTest(AuditTest):
    domains = itertools.cycle((113, 114, 115))

    def graph(self, *lines):
        """A laser on a base, in simulated time."""
        self.sim()
        return self.peer(
            "node laser -p use_sim_time:=true",
            "header /scan 50 node 0 laser",
            "node urdf -p use_sim_time:=true",
            "static base laser",
            *lines,
        )

    @staticmethod
    def topic(report, name="/scan"):
        return next((t for t in report["transforms"]["topics"] if t["name"] == name), None)

    @staticmethod
    def edge(report, child):
        return next((e for e in report["transforms"]["edges"] if e["child"] == child), None)

    def followed(self, least=5, edges=2, name="/scan"):
        """Whether so many messages were answered, at once or later, in a report."""

        def is_right(report):
            topic = self.topic(report, name)
            return (
                topic is not None
                and topic["at_once"] + topic["later"] >= least
                and len(report["transforms"]["edges"]) == edges
            )

        return is_right

    def test_answered(self):
        """Odometry 20 ms after the scans, and an arm half a second after: they wait, and that is usual."""
        self.graph(
            "static world map",
            "node ekf -p use_sim_time:=true",
            "tf odom base 20",
            "tf base arm 20 -500",
            "node others -p use_sim_time:=true",
            "header /grip 50 node 0 arm",
            "header /plan 50 node 0 map",
        )
        topics = ("/scan", "/grip", "/plan")
        report = self.until(lambda report: all(self.followed(3, 4, name)(report) for name in topics))
        self.assertEqual(report["findings"], [])
        edge = self.edge(report, "base")
        self.assertEqual((edge["parent"], edge["static"], edge["publisher"]), ("odom", False, "/ekf"))
        edge = self.edge(report, "laser")
        self.assertEqual((edge["parent"], edge["static"], edge["publisher"]), ("base", True, "/urdf"))
        scan, grip, plan = (self.topic(report, name) for name in topics)
        self.assertEqual((scan["never"], grip["never"], plan["never"], plan["later"]), (0, 0, 0, 0))
        self.assertEqual((grip["at_once"], grip["last_child"]), (0, "arm"))
        self.assertGreater(grip["wait"]["p50_ns"], 400_000_000)

    def reader(self, *lines):
        """What the reader of /tf_static asks for."""
        peer = self.peer("node urdf", *lines)
        self.run_command("audit", "--watch", "--json")
        peer.write("hash /tf_static")
        return peer.expect("hash (.*)").group(1)

    def test_a_reader_of_static_transforms(self):
        self.assertRegex(self.reader("static base laser"), "^RIHS01_e369d0f05a23.* transient_local$")

    def test_a_reader_asks_for_no_more_than_all_offer(self):
        """Nodes of ROS log a warning about one that does."""
        lines = ("static base laser", "static base camera volatile")
        self.assertRegex(self.reader(*lines), "^RIHS01_e369d0f05a23.* volatile$")

    def test_a_late_edge_and_its_publisher(self):
        self.graph("node ekf -p use_sim_time:=true", "tf odom base 20 -1400")
        report = self.until_found("tf-late")
        (finding,) = report["findings"]
        self.assertEqual(
            (finding["severity"], finding["cause"], finding["title"]),
            ("warn", "/ekf", "the transform odom -> base of /ekf comes later than the messages that need it"),
        )
        (line,) = self.evidence(report, "tf-late", "odom -> base")
        self.assertRegex(line, r"^\d+ messages waited for it, \d+ of them in vain; up to 1\.\d+ s .*, the longest on /scan$")

    def test_robots_in_namespaces(self):
        """The same frames of two robots, which have different parents: one is late."""
        self.sim()
        self.peer("node laser -p use_sim_time:=true", *(f"header /{robot}/scan 50 node 0 base" for robot in ("r1", "r2")))
        self.peer("node ekf1 -p use_sim_time:=true -r /tf:=/r1/tf", "tf odom base 20")
        self.peer("node ekf2 -p use_sim_time:=true -r /tf:=/r2/tf", "tf world base 20 -1400")
        report = self.until_found("tf-late")
        (finding,) = report["findings"]
        self.assertEqual((finding["cause"], [s["name"] for s in finding["subjects"]]), ("/ekf2", ["[/r2] world -> [/r2] base"]))
        self.assertIsNotNone(self.edge(report, "[/r1] base"))

    def test_an_edge_that_has_stopped(self):
        """Found while scans still wait for it."""
        self.graph("node other -p use_sim_time:=true", "tf map odom 20")
        ekf = self.peer("node ekf -p use_sim_time:=true", "tf odom base 20")
        self.until(self.followed(edges=3))
        watch = self.run_command("audit", "--watch", "--json", "--duration", "3")
        watch.expect("{")
        self.ask(ekf, "stop")
        report = {"findings": []}
        while "tf-late" not in [finding["rule"] for finding in report["findings"]]:
            report = json.loads(watch.expect("{").string)
        (finding,) = [f for f in report["findings"] if f["rule"] == "tf-late"]
        self.assertEqual((finding["subjects"][0]["name"], finding["cause"]), ("odom -> base", "/ekf"))

    def test_a_paused_clock_makes_nothing_late(self):
        """Scans of the last tick wait for an edge that comes with the next one."""
        sim = self.sim()
        self.peer("node laser -p use_sim_time:=true", "header /scan 50 node 0 base")
        self.peer("node ekf -p use_sim_time:=true", "tf odom base 20 -20")
        self.until(self.followed(edges=1))
        self.ask(sim, "pause")
        report = self.until(lambda report: report["clock"]["ticks"] > 50 and self.topic(report) is not None)
        self.assertEqual(report["findings"], [])

    def test_edges_with_several_publishers(self):
        """Two nodes by turns, with one parent and with two, and a static transform beside others."""
        edges = ("tf odom base 20", "tf base laser 20")
        self.graph("node ekf -p use_sim_time:=true", *edges, "tf map arm 20")
        self.peer("node fake -p use_sim_time:=true", "tf odom base 20", "tf odom arm 20")
        report = self.until(
            lambda report: len(report["by_rule"].get("tf-two-publishers", {}).get("subjects", [])) == 3
        )
        (finding,) = report["findings"]
        subjects = {subject["name"]: subject["evidence"][0] for subject in finding["subjects"]}
        arm = next(name for name in subjects if name.endswith(" -> arm"))
        self.assertEqual(set(subjects), {"odom -> base", "base -> laser", arm})
        turns = r"^/(ekf and /fake|fake and /ekf) send it by turns, \d+ times"
        self.assertRegex(subjects["odom -> base"], turns + "$")
        self.assertRegex(subjects[arm], turns + ", with the parents '(map|odom)' and '(odom|map)'$")
        self.assertEqual(
            subjects["base -> laser"], "/urdf sends it as a static transform, and /ekf with time"
        )

    def test_publishers_of_different_edges(self):
        """Several in one node and in several, a static one, and one that takes over."""
        self.graph("node ekf -p use_sim_time:=true", "tf odom base 20", "static laser lens")
        first = self.peer("node slam -p use_sim_time:=true", "tf map odom 50 100")
        self.until(self.followed(edges=4))
        watch = self.run_command("audit", "--watch", "--json", "--duration", "2")
        watch.expect("{")
        first.end()
        self.peer("node slam -p use_sim_time:=true", "tf map odom 50 100")
        report = self.until(
            lambda report: self.followed(edges=4)(report) and self.edge(report, "odom")["publisher"] == "/slam"
        )
        self.assertEqual(report["findings"], [])
        for line in watch.seen:
            if line and line.startswith("{"):
                rules = [finding["rule"] for finding in all_findings(json.loads(line))]
                self.assertNotIn("tf-two-publishers", rules)

    def test_an_edge_of_the_time_before_a_jump(self):
        sim = self.sim()
        self.peer(
            "node laser -p use_sim_time:=true", "header /scan 50 node 0 base",
            "node ekf -p use_sim_time:=true", "tf odom base 20",
        )
        self.until(self.followed(edges=1))
        watch = self.run_command("audit", "--watch", "--json", "--duration", "2")
        watch.expect("{")
        self.ask(sim, "jump -500")
        report = {"findings": []}
        while not report["findings"]:
            report = json.loads(watch.expect("{").string)
        self.assertNotIn("tf-old-epoch", [finding["rule"] for finding in all_findings(report)])
        self.peer("node old -p use_sim_time:=true", "tf base arm 20 499900")
        causes = []
        while "/old" not in causes:  # a round may have begun before it came
            report = json.loads(watch.expect("{").string)
            old = [f for f in all_findings(report) if f["rule"] == "tf-old-epoch"]
            self.assertEqual([s["name"] for f in old for s in f["subjects"]], ["base -> arm"] * len(old))
            causes = [f["cause"] for f in old]
        self.assertNotIn("tf-late", [finding["rule"] for finding in all_findings(report)])

    def test_many_topics(self):
        """Not all are sampled, and it takes no longer."""
        self.sim()
        for peer in ("a", "b"):
            self.peer(f"node {peer} -p use_sim_time:=true", *(f"header /{peer}{i} 20 node" for i in range(60)))
        report = self.until(lambda report: report["topics"] == 120 and report["topics_sampled"] == 64)
        self.assertEqual((report["findings"], len(report["transforms"]["topics"])), ([], 64))


if __name__ == "__main__":
    command_test.BIN_DIR, audit_test.NODE, audit_test.ODD, audit_test.PEER = sys.argv[1:5]
    in_parts.main([sys.argv[0], *sys.argv[5:]], 3)
