#!/usr/bin/env python3
"""`timebase audit` on graphs whose time is wrong in one way, and on some that are right.

usage: audit_test.py BIN_DIR EXAMPLE_NODE ODD_NODE AUDIT_PEER [TEST...]

What a command sees depends on how quick discovery and the machine are: it is run again until it reports
what it should, within a generous limit. That something is not reported is judged in a run that saw all
that there is."""

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

NODE = ODD = PEER = None
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/contract.md")
START_S = 1000


def all_findings(report):
    """Findings with those that are folded below them."""
    found = list(report["findings"])
    for finding in found:
        found.extend(finding["caused"])
    return found


class AuditTest(CommandTest):
    domains = itertools.cycle((50, 51, 52, 53, 54, 55))

    def node(self, name, *arguments):
        words = [NODE, "--ros-args", "-r", f"__node:={name}"]
        for argument in arguments:
            words += ["-p", argument]
        process = Process(self, words, self.environment)
        process.expect(rf"node: /{name} runs")
        return process

    def odd(self, *arguments):
        process = Process(self, [ODD, *arguments], self.environment, subprocess.PIPE)
        process.expect("ready")
        return process

    def peer(self, *lines):
        process = Process(self, [PEER], self.environment, subprocess.PIPE)
        process.expect("ready")
        self.ask(process, *lines)
        return process

    def ask(self, process, *lines):
        for line in lines:
            process.write(line)
            process.expect("ok")

    def sim(self, *lines):
        """A simulator: /clock at 100 Hz."""
        return self.peer("node sim", f"clock {START_S} 10 10", *lines)

    def audit(self, *arguments):
        status, out, err = self.result("audit", "--json", *arguments)
        self.assertIn(status, (0, 1), err)
        return status, json.loads(out)

    def until(self, is_right, *arguments):
        """The report of the first run that is right."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            status, report = self.audit(*arguments)
            report["status"] = status
            report["by_rule"] = {finding["rule"]: finding for finding in all_findings(report)}
            if is_right(report):
                return report
            if time.monotonic() > deadline:
                self.fail(json.dumps(report, indent=1))

    def until_found(self, *rules):
        return self.until(lambda report: set(rules) <= set(report["by_rule"]))

    def until_complete(self, nodes, topics=0, ticks=50):
        """A run that saw as many nodes, sampled topics and ticks."""
        return self.until(
            lambda report: len(report["nodes"]) == nodes
            and report["topics_sampled"] == topics
            and report["clock"]["ticks"] >= ticks
        )

    def bases(self, report):
        return {node["name"]: (node["time_base"], node["by"]) for node in report["nodes"]}

    def evidence(self, report, rule, name):
        return next(s["evidence"] for s in report["by_rule"][rule]["subjects"] if s["name"] == name)


class NodesTest(AuditTest):
    def test_one_node_on_wall_time(self):
        self.sim()
        self.node("camera", "use_sim_time:=true")
        self.peer("node ekf", "header /odom 20 wall", "header /map 20 wall")
        report = self.until(
            lambda report: {"mixed-time-base", "stamp-other-domain"} <= set(report["by_rule"])
            and report["topics_sampled"] == 2
            and len(report["nodes"]) == 3
        )
        self.assertEqual(report["status"], 1)
        (finding,) = report["findings"]
        self.assertEqual(
            (finding["rule"], finding["severity"], finding["title"]),
            ("mixed-time-base", "error", "/ekf is on wall time in a graph with /clock"),
        )
        self.assertEqual(
            finding["remedy"],
            {
                "ros2": "ros2 param set /ekf use_sim_time true",
                "timebase": "timebase sim-time on /ekf",
                "launch": "Node(..., parameters=[{'use_sim_time': True}])",
            },
        )
        (topics,) = finding["caused"]
        self.assertEqual((topics["rule"], topics["cause"]), ("stamp-other-domain", "/ekf"))
        self.assertEqual([subject["name"] for subject in topics["subjects"]], ["/map", "/odom"])
        self.assertEqual(
            self.bases(report),
            {"/camera": ("clock", "answer"), "/ekf": ("wall", "answer"), "/sim": ("wall", "answer")},
        )

    def test_the_same_as_text(self):
        self.sim()
        self.node("camera", "use_sim_time:=true")
        self.peer("node ekf", "header /odom 20 wall")
        deadline = time.monotonic() + LIMIT_S
        while True:
            status, out, err = self.result("audit")
            if "stamp-other-domain" in out and "3 nodes" in out:
                break
            self.assertLess(time.monotonic(), deadline, out + err)
        self.assertEqual((status, err), (1, ""))
        self.assertRegex(
            out,
            r"^error mixed-time-base: /ekf is on wall time in a graph with /clock\n"
            r"    its parameter use_sim_time is false\n"
            r"    /clock is published by /sim; 1 node follows it\n"
            r"    Stamps and timers .*\n"
            r"    ros2:     ros2 param set /ekf use_sim_time true\n"
            r"    timebase: timebase sim-time on /ekf\n"
            r"    launch:   Node\(\.\.\., parameters=\[\{'use_sim_time': True\}\]\)\n"
            r"    which causes:\n"
            r"      error stamp-other-domain: /odom of /ekf has stamps of another time base\n"
            r"          \d+ of \d+ stamps are of system time \([\d.]+ s at 1\d+\.\d+ s of /clock\)\n"
            r"\n"
            r"2 errors; 3 nodes: 1 on /clock, 2 on wall time, 0 unknown; 1 topic sampled; "
            r"/clock at [\d.]+ Hz, factor \d\.\d+, its time is wrong by at most \d+\.\d ms\n"
            r"system clock: (not )?synchronized, error at most \d+\.\d ms; 3 processes compared, "
            r"the furthest is \d+\.\d ms (ahead|behind) \(\+- \d+\.\d ms\)\n$",
        )

    def test_a_right_graph(self):
        """A simulator, nodes on its time, one without stamps, a tool of ros2 launch."""
        self.sim()
        self.node("camera", "use_sim_time:=true")
        self.peer("node ekf -p use_sim_time:=true", "string /text", "garbage /events 50 rosbag2_interfaces/msg/ReadSplitEvent")
        self.node("launch_ros_4711")
        report = self.until_complete(4)
        self.assertEqual((report["findings"], report["status"], report["topics"]), ([], 0, 1))

    def test_silent_nodes_are_judged(self):
        self.sim()
        self.odd("silent", "mute")
        self.peer("bare micro", "string /text")
        self.odd("bare", "plain")
        self.peer("bare driver", "header /scan 20 wall")
        report = self.until(
            lambda report: len(report["nodes"]) == 5
            and self.bases(report).get("/driver") == ("wall", "stamps")
        )
        bases = self.bases(report)
        self.assertEqual(bases["/mute"], ("wall", "no subscription"))
        self.assertEqual(bases["/plain"], ("wall", "no subscription"))  # it has /parameter_events
        self.assertEqual(bases["/micro"], ("unknown", "none"))
        unknown = report["by_rule"]["time-base-unknown"]
        self.assertEqual((unknown["severity"], unknown["subjects"][0]["name"]), ("note", "/micro"))
        subjects = {s["name"]: s["severity"] for s in report["by_rule"]["mixed-time-base"]["subjects"]}
        self.assertEqual(subjects, {"/driver": "error", "/mute": "warn", "/plain": "warn"})

    def test_no_clock_no_finding(self):
        """A vehicle: all on wall time, and /clock has no publisher."""
        self.node("camera")
        self.peer("node ekf", "header /odom 20 wall")
        report = self.until_complete(2, 1, 0)
        self.assertEqual((report["findings"], report["status"]), ([], 0))

    def test_an_empty_graph(self):
        """As with a wrong domain: a check that looked at nothing has not passed."""
        status, out, err = self.result("audit")
        self.assertEqual(status, 1)
        self.assertRegex(out, "^no findings; 0 nodes: ")
        self.assertIn(f"no nodes in domain {self.domain}; check ROS_DOMAIN_ID", err)

    def test_two_types_on_one_topic(self):
        for type_name in ("std_msgs/msg/Header", "std_msgs/msg/Empty"):
            self.run_command("topic", "pub", "-r", "5", "/odd", type_name)
        report = self.until_found("topic-two-types")
        lines = self.evidence(report, "topic-two-types", "/odd")
        self.assertEqual([line.split(": ")[1] for line in sorted(lines)], ["std_msgs/msg/Empty", "std_msgs/msg/Header"])
        self.assertTrue(all(line.startswith("published by /") for line in lines), lines)

    def test_names_that_are_shared(self):
        self.node("camera")
        self.node("camera")
        report = self.until_found("node-name-shared")
        self.assertEqual(report["status"], 0)
        self.assertEqual(self.audit("--fail-on", "warn")[0], 1)


class ClockTest(AuditTest):
    def test_no_publisher(self):
        self.node("camera", "use_sim_time:=true")
        report = self.until_found("no-clock-received")
        self.assertEqual(
            self.evidence(report, "no-clock-received", "/camera"),
            ["it subscribes to /clock, which has no publisher"],
        )
        self.assertEqual(report["status"], 1)

    def test_qos_that_does_not_match(self):
        self.sim()
        self.node("picky", "use_sim_time:=true", "qos_overrides./clock.subscription.reliability:=reliable")
        report = self.until_found("clock-qos")
        self.assertEqual(
            self.evidence(report, "clock-qos", "/picky"),
            ["reliability: /sim offers best effort, it requests reliable"],
        )
        self.assertNotIn("no-clock-received", report["by_rule"])

    def test_two_publishers_and_one_that_is_silent(self):
        self.sim()
        other = self.peer("node player", "clock 5000 10 10")
        report = self.until_found("clock-two-publishers")
        self.assertEqual(report["by_rule"]["clock-two-publishers"]["title"], "/clock has 2 publishers")
        lines = self.evidence(report, "clock-two-publishers", "/clock")
        self.assertRegex(" ".join(sorted(lines)), r"^/player ticks at .* 5\d+\..* s /sim ticks at .* 1\d+\.")
        self.assertNotIn("clock-two-streams", report["by_rule"])
        self.assertNotIn("clock-backwards", report["by_rule"])
        self.ask(other, "stop")
        report = self.until(lambda report: report["clock"]["ticks"] >= 50 and "clock-two-publishers" not in report["by_rule"])
        self.assertEqual((report["findings"], report["clock"]["publishers"]), ([], 2))

    def test_two_streams_of_one_publisher(self):
        self.peer("node sim", "clock2 1000 1500 5")
        report = self.until_found("clock-two-streams")
        finding = report["by_rule"]["clock-two-streams"]
        self.assertEqual(finding["cause"], "/sim")
        self.assertRegex(finding["subjects"][0]["evidence"][0], r"^/sim jumps back and forth .* 1[45]\d\d\.\d+ s apart$")
        self.assertNotIn("clock-backwards", report["by_rule"])

    def test_a_clock_that_stops_and_one_that_is_paused(self):
        sim = self.sim()
        self.ask(sim, "stop")
        report = self.until_found("clock-stall")
        self.assertEqual(report["by_rule"]["clock-stall"]["cause"], "/sim")
        sim.end()
        server = self.run_command("serve", "--start", "1000", "--paused")
        self.until(lambda report: report["clock"]["time_ns"] == 1000 * 10**9 and not report["findings"])
        server.child.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)

    def test_a_server_that_reports_whether_it_is_paused(self):
        sim = self.sim("simulation 2")
        self.ask(sim, "stop")
        report = self.until(lambda report: report["clock"]["publishers"] == 1 and not report["clock"]["ticks"])
        self.assertEqual(report["findings"], [])
        sim.end()
        sim = self.sim("simulation 1")
        self.ask(sim, "stop")
        self.until_found("clock-stall")

    def test_a_clock_of_zero(self):
        self.peer("node sim", "clock 0 0 10")
        report = self.until_found("clock-zero")
        self.assertNotIn("clock-stall", report["by_rule"])

    def test_a_clock_below_zero(self):
        self.peer("node sim", "clock -5000 0 10")
        report = self.until_found("clock-invalid")
        self.assertEqual([rule for rule in ("clock-stall", "clock-zero") if rule in report["by_rule"]], [])
        self.assertRegex(self.evidence(report, "clock-invalid", "/clock")[0], r"^(\d+) of \1 ticks are no valid time, first ")

    def test_coarse_steps(self):
        """At 100 Hz already: a higher rate, or a lower factor."""
        self.peer("node sim", "clock 1000 400 10")
        report = self.until_found("clock-rate")
        lines = self.evidence(report, "clock-rate", "/clock")
        steps = re.match(r"its steps are of 0\.400 s, at (\d+\.\d) Hz and a factor of \d+\.\d+$", lines[0])
        self.assertTrue(steps, lines)
        rate = float(steps.group(1))  # of a busy machine: not always 100 Hz
        needed = int(re.match(r"enough at this factor: (\d+) Hz$", lines[1]).group(1))
        self.assertTrue(3.9 * rate <= needed <= 4.1 * rate + 10, lines)
        self.assertRegex(lines[2], r"^enough at this rate: a factor of \d+\.\d+$")
        remedy = report["by_rule"]["clock-rate"]["remedy"]
        self.assertEqual(remedy["timebase"], f"timebase play --clock {needed} BAG")
        self.assertEqual(remedy["ros2"], f"ros2 bag play --clock {needed} BAG")
        self.assertIn(f"'--clock', '{needed}'", remedy["launch"])

    def test_active_before_the_first_tick(self):
        peer = self.peer("node sim", "clock 0 0 10", "node arm -p use_sim_time:=true", "state 3")
        report = self.until_found("active-before-clock")
        self.assertEqual([s["name"] for s in report["by_rule"]["active-before-clock"]["subjects"]], ["/arm"])
        peer.end()
        self.peer("node sim", "clock 0 0 10", "node arm -p use_sim_time:=true", "state 2")
        report = self.until(lambda report: len(report["nodes"]) == 2 and "clock-zero" in report["by_rule"])
        self.assertNotIn("active-before-clock", report["by_rule"])


class StampsTest(AuditTest):
    """Each kind beside a right topic of the same node."""

    def check(self, header, rule, pattern, severity):
        self.sim(
            "node driver -p use_sim_time:=true", "header /good 20 ros", f"header /bad 20 {header}"
        )

        def is_right(report):  # a message that the machine delays has another age
            found = [
                (finding["rule"], finding["severity"], finding["cause"], subject["name"])
                for finding in report["findings"]
                for subject in finding["subjects"]
            ]
            return (
                report["topics_sampled"] == 2
                and found == [(rule, severity, "/driver", "/bad")]
                and re.search(pattern, report["findings"][0]["subjects"][0]["evidence"][0])
            )

        self.until(is_right)

    def test_zero(self):
        self.check("zero", "stamp-zero", r"^(\d+) of \1 stamps are 0$", "error")

    def test_no_valid_time(self):
        self.check("plus -2000000", "stamp-invalid", r"^(\d+) of \1 stamps are no valid time, first (sec -|nanosec )\d+$", "error")

    def test_future(self):
        self.check("plus 300", "stamp-future", r"^(\d+) of \1 stamps are in the future, by up to 0\.[23]\d+ s$", "warn")

    def test_far_in_the_future(self):
        self.check("plus 1500", "stamp-future", r"by up to 1\.[345]\d+ s$", "error")

    def test_old(self):
        self.check("plus -7000", "stamp-old", r"^\d+ of \d+ stamps are old, by up to (6\.9|7)\d*", "warn")

    def test_backward(self):
        self.check("back 400", "stamp-backward", r"^\d+ of \d+ stamps are before the one before, by up to 0\.[34]", "warn")

    def test_of_wall_time(self):
        self.check("wall", "stamp-other-domain", r"stamps are of system time", "error")

    def test_of_the_time_before_a_jump_in_an_earlier_round(self):
        sim = self.sim("node driver -p use_sim_time:=true")
        watch = self.run_command("audit", "--watch", "--json", "--duration", "2")
        watch.expect("{")
        self.ask(sim, "jump -500")
        while not json.loads(watch.expect("{").string)["findings"]:
            pass
        self.ask(sim, "header /late 20 plus 499900")
        report = {"findings": []}
        while "stale-epoch" not in [finding["rule"] for finding in all_findings(report)]:
            report = json.loads(watch.expect("{").string)
            self.assertNotIn("stamp-future", [finding["rule"] for finding in all_findings(report)])

    def test_types_without_definition_and_garbage(self):
        self.sim("bare driver", "garbage /unknown 20 my_msgs/msg/Odd", "garbage /bad 20 std_msgs/msg/Header")
        report = self.until(lambda report: len(report["by_rule"].get("definition-unknown", {}).get("subjects", [])) == 2)
        (finding,) = [f for f in report["findings"] if f["rule"] != "time-base-unknown"]
        self.assertEqual((finding["severity"], report["status"]), ("note", 0))
        self.assertRegex(self.evidence(report, "definition-unknown", "/bad")[0], r"^std_msgs/msg/Header: .*does not fit")
        self.assertRegex(self.evidence(report, "definition-unknown", "/unknown")[0], r"^my_msgs/msg/Odd")

    def test_readers_announce_the_hash_of_the_type(self):
        """Nodes of ROS log a warning about one that does not."""
        digest = "RIHS01_" + 64 * "a"
        messages = os.path.join(self.folder, "share", "my_msgs", "msg")
        os.makedirs(messages)
        with open(os.path.join(messages, "Stamped.msg"), "w", encoding="utf-8") as file:
            file.write("std_msgs/Header header\n")
        self.environment["AMENT_PREFIX_PATH"] = self.folder
        peer = self.peer("bare driver", f"typed /typed 20 my_msgs/msg/Stamped {digest}")
        audit = self.run_command("audit", "--watch", "--duration", "5")
        peer.write("hash /typed")
        self.assertEqual(peer.expect("hash (.*)").group(1), f"{digest} volatile")
        audit.expect("no findings; 1 node: .*; 1 topic sampled; no publisher of /clock$")

    def test_the_recorder_announces_the_hash_of_the_type(self):
        digest = "RIHS01_" + 64 * "b"
        peer = self.peer("bare driver", f"typed /typed 20 my_msgs/msg/Stamped {digest}")
        recorder = self.run_command("record", "-o", os.path.join(self.folder, "bag"), "--all")
        peer.write("hash /typed")
        self.assertEqual(peer.expect(r"hash (\S+)").group(1), digest)
        recorder.child.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)

    def test_near_misses(self):
        """One tick ahead, one second old, twice the same stamp, and by turns ahead and not."""
        self.sim(
            "node driver -p use_sim_time:=true",
            "header /ahead 20 plus 10",
            "header /aged 20 plus -1000",
            "header /twice 2 ros",
            "header /turns 25 back -5",
        )
        report = self.until_complete(2, 4)
        self.assertEqual(report["findings"], [])


class LogTest(AuditTest):
    OLD = "TF_OLD_DATA ignoring data from the past for frame base_link at time 1.0"
    FUTURE = "Lookup would require extrapolation into the future.  Requested time 5 but ..."

    def lines(self, report, name):
        return self.evidence(report, "log-evidence", name)

    def test_below_the_node_that_is_on_wall_time(self):
        """Another one than that which logs."""
        self.sim()
        self.peer("node ekf", "header /odom 20 wall")
        self.peer("node nav -p use_sim_time:=true", f"log {self.FUTURE}", "log all is well")
        report = self.until_found("log-evidence", "mixed-time-base")
        (finding,) = report["findings"]
        self.assertEqual(finding["rule"], "mixed-time-base")
        (log,) = [caused for caused in finding["caused"] if caused["rule"] == "log-evidence"]
        self.assertEqual((log["cause"], [s["name"] for s in log["subjects"]]), ("/ekf", ["/nav"]))
        (line,) = self.lines(report, "/nav")
        self.assertRegex(line, r"^tf2 was asked for a time .* \(\d+ times\): Lookup would require")

    def test_a_viewer_is_no_cause(self):
        self.sim()
        self.node("viewer")
        self.peer("node nav -p use_sim_time:=true", f"log {self.FUTURE}")
        report = self.until_found("log-evidence", "mixed-time-base")
        self.assertEqual(report["by_rule"]["log-evidence"]["cause"], None)

    def test_below_a_jump_of_the_clock(self):
        sim = self.sim("node nav -p use_sim_time:=true", f"log {self.OLD}")
        watch = self.run_command("audit", "--watch", "--json", "--duration", "2")
        report = json.loads(watch.expect("{").string)
        while "log-evidence" not in [finding["rule"] for finding in report["findings"]]:
            report = json.loads(watch.expect("{").string)
        self.assertEqual(report["findings"][0]["cause"], None)
        deadline = time.monotonic() + LIMIT_S
        while True:
            self.ask(sim, "jump -50")
            while "clock-backwards" not in (caused := self.caused(report)):
                report = json.loads(watch.expect("{").string)
            if "log-evidence" in caused["clock-backwards"]:
                break
            self.assertLess(time.monotonic(), deadline, report)
            while "clock-backwards" in self.caused(report):  # a busy machine may log in another round
                report = json.loads(watch.expect("{").string)

    @staticmethod
    def caused(report):
        """By rule."""
        return {finding["rule"]: [one["rule"] for one in finding["caused"]] for finding in report["findings"]}


class ManifestTest(AuditTest):
    def manifest(self, *lines, mode="simulation"):
        path = os.path.join(self.folder, "manifest.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(("timebase_manifest: 1", f"mode: {mode}", *lines)) + "\n")
        return path

    def test_what_is_declared_and_what_is_off(self):
        self.sim()
        self.peer("node ekf", "header /odom 20 wall")
        path = self.manifest(
            "nodes:", "  /ekf: {use_sim_time: false}", "rules_off:", "  stamp-other-domain: by design"
        )
        report = self.until(
            lambda report: report["switched_off"][0]["count"] and len(report["nodes"]) == 2, path
        )
        self.assertEqual(report["findings"], [])
        self.assertEqual(report["switched_off"][0]["reason"], "by design")
        path = self.manifest(
            "rules_off:", "  stamp-other-domain: {reason: known, subjects: [/odom]}"
        )
        report = self.until(lambda report: "mixed-time-base" in report["by_rule"] and report["topics_sampled"] == 1, path)
        self.assertEqual(list(report["by_rule"]), ["mixed-time-base"])

    def test_a_node_that_is_not_as_declared(self):
        self.sim()
        self.peer("node ekf -p use_sim_time:=true", "header /odom 20 ros")
        path = self.manifest("nodes:", "  /ekf: {use_sim_time: false}")
        report = self.until(lambda report: "time-base-declared" in report["by_rule"], path)
        self.assertEqual(report["by_rule"]["time-base-declared"]["remedy"]["ros2"], "ros2 param set /ekf use_sim_time false")

    def test_a_vehicle_with_a_clock(self):
        """Wall time is right there, although a simulator runs beside it."""
        self.sim()
        self.peer("node ekf", "header /odom 20 wall")
        self.peer("node nav -p use_sim_time:=true", "string /text")
        path = self.manifest(mode="vehicle")
        report = self.until(
            lambda report: len(report["nodes"]) == 3
            and "time-base-declared" in report["by_rule"]
            and report["topics_sampled"] == 1,
            path,
        )
        subjects = report["by_rule"]["time-base-declared"]["subjects"]
        self.assertEqual([subject["name"] for subject in subjects], ["/nav"])
        self.assertEqual(set(report["by_rule"]), {"time-base-declared", "clock-declared"})

    def test_thresholds_rate_and_error_of_the_clock(self):
        self.sim("node old -p use_sim_time:=true", "header /map 20 plus -7000")
        path = self.manifest(
            "max_error: 5ms", "clock: {rate: 1000, factor: [2, 3]}", "thresholds: {age_max: 9s}"
        )
        report = self.until(
            lambda report: {"clock-rate", "clock-error"} <= set(report["by_rule"]) and report["topics_sampled"] == 1,
            path,
        )
        self.assertEqual(set(report["by_rule"]), {"clock-rate", "clock-error"})
        self.assertEqual(report["by_rule"]["clock-rate"]["severity"], "error")
        lines = " ".join(self.evidence(report, "clock-rate", "/clock"))
        self.assertRegex(lines, r"^it ticks at \d+\.\d Hz, declared are 1000\.0 Hz its factor is")
        lines = self.evidence(report, "clock-error", "/clock")
        self.assertRegex(lines[0], r"^wrong by up to \d+\.\d ms .*, allowed are 5\.0 ms$")
        self.assertRegex(lines[-1], r"^enough at this rate: a factor of 0\.\d+$")

    def test_a_clock_on_another_topic(self):
        remap = "-r /clock:=/sim/clock"
        self.peer(f"node sim {remap}", f"clock {START_S} 10 10")
        self.peer(f"node nav {remap} -p use_sim_time:=true", "string /text")
        self.peer("node ekf", "header /odom 20 wall")
        path = self.manifest("clock: {topic: /sim/clock}")
        report = self.until(
            lambda report: len(report["nodes"]) == 3
            and report["clock"]["ticks"] >= 50
            and "stamp-other-domain" in report["by_rule"],
            path,
        )
        (finding,) = report["findings"]
        self.assertEqual(finding["rule"], "mixed-time-base")
        self.assertIn("/sim/clock is published by /sim; 1 node follows it", finding["subjects"][0]["evidence"])

    def test_a_bad_manifest(self):
        path = self.manifest("nodes: 5")
        status, out, err = self.result("audit", path)
        self.assertEqual((status, out), (2, ""), err)
        self.assertIn(f"{path}:3:8: ", err)
        status, out, err = self.result("audit", "/nonexistent")
        self.assertEqual((status, out), (3, ""), err)
        self.assertEqual(self.result("audit", path, "more")[0], 2)
        self.assertEqual(self.result("audit", "--fail-on", "note")[0], 2)


class RulesTest(AuditTest):
    def test_the_rules_are_those_of_the_docs(self):
        status, out, err = self.result("audit", "--rules")
        self.assertEqual((status, err), (0, ""))
        with open(DOCS, encoding="utf-8") as file:
            rules = file.read().split("\n## The rules\n")[1].splitlines(True)
        rows = [line for line in rules if line.startswith("| `")]
        self.assertEqual([row for row in out.splitlines(True) if row.startswith("| `")], rows)
        self.assertGreater(len(rows), 20)


class WatchTest(AuditTest):
    def test_what_comes_and_goes(self):
        self.sim()
        peer = self.peer("node ekf -p use_sim_time:=true", "header /odom 50 zero")
        watch = self.run_command("audit", "--watch", "--duration", "1")
        watch.expect(r"error stamp-zero: /odom of /ekf has messages with the stamp 0$")
        watch.expect(r"1 error; 2 nodes: ")
        self.ask(peer, "set use_sim_time false")
        watch.expect(r"\+ error mixed-time-base: /ekf is on wall time in a graph with /clock$")
        peer.end()
        watch.expect(r"- error .*/ekf")
        watch.child.send_signal(signal.SIGINT)
        self.assertIn(watch.wait(), (0, 1), watch.errors)
        self.assertEqual(watch.errors, [None])


if __name__ == "__main__":
    command_test.BIN_DIR, NODE, ODD, PEER = sys.argv[1:5]
    in_parts.main([sys.argv[0], *sys.argv[5:]], 4)
