#!/usr/bin/env python3
"""`timebase manifest` and `timebase record --manifest` with real processes over DDS.

usage: manifest_test.py BIN_DIR EXAMPLE_NODE ODD_NODE [TEST...]

Tests wait for lines, files and what commands print, with a generous limit, never for time."""

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
from command_test import SECOND, CommandTest, Process, header_of
from sqlite_bag import sqlite_bag_make

NODE = ODD = None
SIMULATION = "timebase_manifest: 1\nname: truck \"7\"\nmode: simulation\n"
VEHICLE = "timebase_manifest: 1\nmode: vehicle\n"


class ManifestTest(CommandTest):
    domains = itertools.cycle((70, 71, 72, 73, 74))

    def node(self, name, use_sim_time):
        words = [NODE, "--ros-args", "-r", f"__node:={name}", "-p", f"use_sim_time:={use_sim_time}"]
        process = Process(self, words, self.environment)
        process.expect(rf"node: /{name} runs")
        return process

    def odd(self, *arguments):
        process = Process(self, [ODD, *arguments], self.environment, subprocess.PIPE)
        process.expect("ready")
        return process

    def serve(self, *arguments):
        return self.run_command("serve", *arguments)

    def write(self, text, name="m.yaml"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path

    until = CommandTest.until_result

    def section(self, text, name):
        """The lines of a node or topic in a draft."""
        match = re.search(rf"^  {re.escape(name)}:.*\n((?:    .*\n)*)", text, re.MULTILINE)
        return match.group(0) if match else ""


class GraphTest(ManifestTest):
    def test_one_node_on_wall_time_is_marked_and_then_put_right(self):
        self.serve("--start", "100", "--hz", "50")
        for name in ("a", "b", "c"):
            self.node(name, "true")
        self.node("wall", "false")
        self.odd("silent", "quiet")
        path = os.path.join(self.folder, "m.yaml")

        def is_whole(status, out, _):
            return status == 0 and all(
                self.section(out, name) for name in ("/a", "/b", "/c", "/wall", "/quiet", "/clock_server")
            ) and "publisher: /clock_server\n" in out and "  rate: " in out

        _, draft, errors = self.until(("manifest", "init", "--limit", "5s"), is_whole)
        self.assertIn("mode: simulation  # because there is /clock\n", draft)
        for name in ("/a", "/b", "/c"):
            self.assertEqual(self.section(draft, name), f"  {name}:\n    use_sim_time: true\n")
        self.assertRegex(
            self.section(draft, "/wall"),
            r"^  /wall:\n    use_sim_time: true  # CHECK: it is on wall time, unlike most nodes "
            r"\(its parameter use_sim_time is false\)\n$",
        )
        self.assertRegex(self.section(draft, "/quiet"), r"# CHECK: it is on wall time, unlike most nodes \(it does not")
        self.assertIn("    role: clock\n", self.section(draft, "/clock_server"))
        self.assertEqual(draft.count("CHECK:"), 2, draft)
        self.assertEqual(errors, "timebase manifest init: 2 lines look wrong: search for CHECK\n")

        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"  (rate|factor): .*\n", "", draft))  # of a loaded machine
        self.assertEqual(self.result("manifest", "verify", path), (0, f"{path}: good\n", ""))
        verify = ("manifest", "verify", path, "--graph", "--json", "--limit", "5s")

        def differs_at_wall(status, out, _):
            differences = json.loads(out)["differences"] if status in (0, 1) else []
            return [item["name"] for item in differences] == ["/quiet", "/wall"]

        _, out, _ = self.until(verify, differs_at_wall)
        difference = json.loads(out)["differences"][1]
        self.assertEqual(difference["kind"], "node")
        self.assertEqual(
            difference["text"],
            "the manifest declares use_sim_time: true, and its parameter use_sim_time is false",
        )
        self.until(("sim-time", "on", "/wall"), lambda status, *_: status == 0)
        self.until(
            verify, lambda _, out, __: [d["name"] for d in json.loads(out)["differences"]] == ["/quiet"]
        )

    def test_what_differs_is_named(self):
        path = self.write(
            SIMULATION + "clock: {publisher: /gazebo, rate: 1000, qos: {reliability: reliable, depth: 7}}\n"
            "nodes: {/a: {use_sim_time: false, timers: steady}, /gone: , /none*: }\n"
            "topics: {/nothing: , /parameter_events: {type: x/msg/Y}}\n"
            "paths: [{from: /in, to: /parameter_events, budget: 1s}]\n"
            "evidence: [/clock, /tf]\n"
        )
        self.serve("--hz", "10")
        self.node("a", "true")
        self.node("extra", "true")

        def is_whole(status, out, _):
            return status == 1 and "note: node /extra" in out and "differs: node /a:" in out and (
                "it ticks at" in out and "its publisher is /clock_server" in out
            )

        _, out, err = self.until(("manifest", "verify", path, "--graph"), is_whole)
        self.assertEqual(err, "")
        for line in (
            "differs: clock /clock: its publisher is /clock_server, declared is /gazebo",
            "differs: node /a: the manifest declares use_sim_time: false, and its parameter "
            "use_sim_time is true",
            "differs: node /gone: it is not on the graph",
            "differs: topic /nothing: nothing publishes it",
            "differs: topic /parameter_events: its type is rcl_interfaces/msg/ParameterEvent, declared is x/msg/Y",
            "differs: path /in: nothing publishes it",
            "differs: evidence /tf: nothing publishes it",
            "note: node /none*: no node matches it",
            "note: node /a: timers are declared to be steady, which cannot be observed",
            "note: node /extra: the manifest does not name it",
        ):
            self.assertIn(line + "\n", out)
        self.assertRegex(out, r"differs: clock /clock: it ticks at [0-9.]+ Hz, declared are 1000.0 Hz")
        self.assertRegex(out, r"differs: clock /clock: /clock_server offers it with depth \d+, declared is 7")
        self.assertNotIn("/clock: nothing publishes it", out)

    def test_a_vehicle_has_no_clock(self):
        self.node("driver", "false")
        _, draft, _ = self.until(
            ("manifest", "init"), lambda status, out, _: status == 0 and self.section(out, "/driver")
        )
        self.assertIn("mode: vehicle  # because there is no /clock\n", draft)
        self.assertEqual(self.section(draft, "/driver"), "  /driver:\n    use_sim_time: false\n")
        path = self.write(draft)
        verify = ("manifest", "verify", path, "--graph")
        self.until(verify, lambda status, out, _: "/driver" not in out or "note" in out)
        self.odd("clock", "be")
        self.until(
            verify,
            lambda status, out, _: status == 1
            and "differs: clock /clock: it has a publisher, a program without a node, and mode" in out,
        )

    def test_an_empty_graph_has_no_draft(self):
        status, out, err = self.result("manifest", "init")
        self.assertEqual((status, out), (3, ""))
        self.assertIn(f"no nodes in domain {self.domain}", err)

    def test_nothing_is_overwritten(self):
        path = self.write("mine\n")
        self.node("a", "false")
        status, _, err = self.until(
            ("manifest", "init", "-o", path), lambda status, *_: status != 3
        )
        self.assertEqual(status, 2)
        self.assertIn(f"{path} already exists; choose another name", err)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine\n")


class FileTest(ManifestTest):
    def test_errors_have_places(self):
        path = self.write(SIMULATION + "nodes:\n  /driver:\n    hardware_timeouts: ros\nwrong: 1\n")
        status, out, err = self.result("manifest", "verify", path)
        self.assertEqual((status, out), (1, ""))
        lines = err.splitlines()
        self.assertTrue(lines[0].startswith(f"{path}:6:24: error: nodes./driver.hardware_timeouts: "))
        self.assertTrue(lines[1].startswith(f"{path}:7:1: error: unknown key 'wrong'; use "))
        status, out, err = self.result("manifest", "verify", "--json", path)
        problems = json.loads(out)["problems"]
        self.assertEqual((status, err), (1, ""))
        self.assertEqual([(p["severity"], p["line"], p["column"]) for p in problems],
                         [("error", 6, 24), ("error", 7, 1)])
        self.assertEqual(self.result("manifest", "show", path)[0], 2)

    def test_a_rehearsal_is_shown_as_it_was_written(self):
        text = (
            'rehearsal:\n  inputs: [/a, "/b/*"]\n  outputs: [/c]\n  quiet: 1s\n  run: 9s\n'
            "  resume: 1.5s\n  withhold: [/a]\n  safety:\n    topic: /stop\n    field: \"data\"\n"
            '    trips: "true"\n    within: 500ms\n'
        )
        path = self.write(SIMULATION + text)
        status, shown, err = self.result("manifest", "show", path)
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(shown.endswith(text), shown)
        status, out, _ = self.result("manifest", "show", "--json", path)
        rehearsal = json.loads(out)["rehearsal"]
        self.assertEqual(status, 0)
        self.assertEqual(
            rehearsal.pop("safety"),
            {"topic": "/stop", "field": "data", "trips": "true", "within_ns": 500_000_000},
        )
        self.assertEqual(
            rehearsal,
            {
                "inputs": ["/a", "/b/*"],
                "outputs": ["/c"],
                "quiet_ns": 1_000_000_000,
                "run_ns": 9_000_000_000,
                "resume_ns": 1_500_000_000,
                "withhold": ["/a"],
            },
        )

    def test_warnings_fail_only_if_asked(self):
        path = self.write(SIMULATION + "evidence: [/tf]\n")
        status, out, err = self.result("manifest", "verify", path)
        self.assertEqual((status, out), (0, f"{path}: good\n"))
        self.assertIn(f"{path}:4:1: warning: evidence: /clock is not in it", err)
        self.assertEqual(self.result("manifest", "verify", "--strict", path)[:2], (1, ""))

    def test_usage(self):
        for arguments, status in (
            ((), 2), (("draft",), 2), (("show",), 2), (("show", "a", "b"), 2), (("verify",), 2),
            (("verify", "--no"), 2), (("init", "a", "b"), 2), (("show", "/dev/null"), 2),
            (("show", os.path.join(self.folder, "none.yaml")), 3), (("show", self.folder), 3),
            (("init", os.path.join(self.folder, "none")), 3),
        ):
            self.assertEqual(self.result("manifest", *arguments)[0], status, arguments)
        for name in ("", "init", "verify", "show"):
            status, out, err = self.result("manifest", *name.split(), "--help")
            self.assertEqual((status, err), (0, ""))
            self.assertTrue(out.startswith("usage: timebase manifest"))

    def bag(self, name, topics, messages):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        sqlite_bag_make(os.path.join(folder, "bag_0.db3"), topics, messages)
        return folder

    def test_a_recording_is_drafted_with_marks(self):
        start = 1_700_000_000 * SECOND
        tick = SECOND // 50
        times = [start + index * tick for index in range(500)]
        topics = [
            ("/good", "std_msgs/msg/Header"),
            ("/zero", "std_msgs/msg/Header"),
            ("/wall", "std_msgs/msg/Header"),
            ("/clock", "rosgraph_msgs/msg/Clock"),
        ]
        messages = []
        for index, at in enumerate(times):
            simulated = SECOND + index * tick
            messages.append((3, at, header_of(simulated)[:12]))
            if index % 5 == 0:
                messages.append((0, at + 1, header_of(simulated)))
                messages.append((1, at + 2, header_of(0)))
                messages.append((2, at + 3, header_of(at)))
        status, draft, err = self.result("manifest", "init", self.bag("sim", topics, messages))
        self.assertEqual(status, 0, err)
        self.assertIn("mode: simulation  # because there is /clock\n", draft)
        self.assertRegex(draft, r"topic: /clock\n  rate: (50|50\.\d|49\.\d)  # measured\n  factor: 1  #")
        self.assertEqual(
            self.section(draft, "/good"),
            "  /good:\n    type: std_msgs/msg/Header\n    rate: 10  # measured\n",
        )
        self.assertRegex(self.section(draft, "/zero"), r"^  /zero:  # CHECK: stamp-zero: ")
        self.assertRegex(self.section(draft, "/wall"), r"^  /wall:  # CHECK: stamp-other-domain: ")
        self.assertEqual(draft.count("CHECK:"), 2, draft)
        path = self.write(draft)
        self.assertEqual(self.result("manifest", "verify", path), (0, f"{path}: good\n", ""))

    def test_a_recording_without_a_clock_is_one_of_a_vehicle(self):
        start = 1_700_000_000 * SECOND
        times = [start + index * SECOND // 10 for index in range(100)]
        bag = self.bag("bag", [("/good", "std_msgs/msg/Header")],
                       [(0, at, header_of(at - SECOND // 100)) for at in times])
        status, draft, err = self.result("manifest", "init", bag)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("mode: vehicle", draft)
        self.assertNotIn("CHECK:", draft)
        status, _, err = self.result("manifest", "show", bag)
        self.assertEqual(status, 3)
        self.assertIn("has no manifest; record with --manifest FILE", err)


class RecordTest(ManifestTest):
    def record(self, bag, *arguments):
        recorder = self.run_command("record", "-o", bag, *arguments)
        recorder.expect("recording to ")
        return recorder

    def stop(self, recorder):
        recorder.child.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0, recorder.errors)

    def info(self, bag):
        status, out, err = self.result("bag", "info", "--scan", "--json", bag)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)

    def check_points(self, bag):
        points = self.info(bag)["points"]
        self.assertEqual([point["reason"] for point in points], ["start", "clock", "jump", "end"])
        start, clock, jump, end = points
        self.assertIsNone(start["ros_ns"])
        self.assertGreaterEqual(clock["ros_ns"], 100 * SECOND)
        self.assertTrue(5 * SECOND <= jump["ros_ns"] < 100 * SECOND)
        self.assertGreaterEqual(end["ros_ns"], jump["ros_ns"])
        self.assertEqual([point["jumps"] for point in points], [0, 0, 1, 1])
        for before, after in zip(points, points[1:]):
            self.assertGreaterEqual(after["steady_ns"], before["steady_ns"])
            passed = after["steady_ns"] - before["steady_ns"]
            self.assertLess(abs(after["system_ns"] - before["system_ns"] - passed), SECOND)
        for point in points:
            self.assertGreaterEqual(point["spread_ns"], 0)
            self.assertTrue(point["max_error_ns"] is None or point["max_error_ns"] >= 0)
            self.assertLess(abs(point["system_ns"] - time.time_ns()), 3600 * SECOND)

    def record_two_clocks(self, storage):
        manifest = self.write(SIMULATION)
        bag, other = (os.path.join(self.folder, f"{storage}-{name}") for name in ("bag", "other"))
        recorder = self.record(bag, "-s", storage, "/none", "--manifest", manifest)
        recorder.expect("recorded 2 messages of")  # the manifest, and the point of the start
        server = self.serve("--start", "100")
        recorder.expect("recorded 3 messages of")  # ROS time has begun
        late = self.record(other, "-s", storage, "-e", "^/timebase/")
        late.expect("recorded 3 messages of")  # both topics are latched
        server.child.terminate()
        self.assertEqual(server.wait(), 0)
        self.serve("--start", "5")
        recorder.expect("recorded 4 messages of")  # back
        late.expect("recorded 4 messages of")
        self.stop(late)
        self.stop(recorder)
        self.check_points(bag)
        for path, count in ((bag, 4), (other, 3)):
            info = self.info(path)
            self.assertEqual(info["manifest"], {"text": SIMULATION, "name": 'truck "7"', "mode": "simulation"})
            self.assertEqual(len(info["points"]), count)
            counts = {topic["name"]: topic["count"] for topic in info["topics"]}
            self.assertEqual(counts["/timebase/manifest"], 1)
            self.assertEqual(counts["/timebase/points"], count)
            status, shown, err = self.result("manifest", "show", path)
            self.assertEqual((status, err), (0, ""))
            self.assertIn('name: "truck \\"7\\""\nmode: simulation\n', shown)
            self.assertEqual(self.result("bag", "check", path)[0], 0)
        return bag, other

    def test_the_recording_has_the_manifest_and_the_points(self):
        bag, other = self.record_two_clocks("mcap")
        out = self.result("bag", "info", bag)[1]
        self.assertIn("points:       4 (--scan prints them)\n", out)
        self.assertNotIn("  start   ROS none", out)
        out = self.result("bag", "info", other)[1]
        self.assertIn("manifest:     not read ('timebase manifest show' prints it)\n", out)
        out = self.result("bag", "info", "--scan", bag)[1]
        self.assertIn("manifest:     truck \"7\", mode simulation ('timebase manifest show' prints it)\n", out)
        self.assertIn("points:       4\n  start   ROS none, system 20", out)
        self.assertNotIn("notes:", out)
        with open(os.path.join(bag, "metadata.yaml"), encoding="utf-8") as file:
            self.assertIn("timebase_manifest: ", file.read())
        with open(os.path.join(other, "metadata.yaml"), encoding="utf-8") as file:
            self.assertNotIn("timebase_manifest: ", file.read())  # there the topic alone has it
        os.remove(os.path.join(bag, "metadata.yaml"))  # as after a loss
        self.assertEqual(self.result("manifest", "show", bag)[0], 0)

    def test_the_same_in_sqlite3(self):
        self.record_two_clocks("sqlite3")

    def test_copies_keep_both(self):
        manifest = self.write(SIMULATION)
        bag, copy = (os.path.join(self.folder, name) for name in ("bag", "copy"))
        recorder = self.record(bag, "/none", "--manifest", manifest)
        recorder.expect("recorded 2 messages of")
        self.stop(recorder)
        self.assertEqual(self.result("bag", "convert", bag, "-s", "sqlite3", "-o", copy)[0], 0)
        self.assertEqual(self.info(copy)["manifest"]["text"], SIMULATION)
        self.assertEqual(self.info(copy)["points"], self.info(bag)["points"])

    def test_a_vehicle_has_points_of_system_time(self):
        manifest = self.write(VEHICLE.replace("\n", "\r\n"))  # of another system's editor
        bag = os.path.join(self.folder, "bag")
        recorder = self.record(bag, "--all", "--manifest", manifest)
        recorder.expect("recorded [2-9]")
        self.stop(recorder)
        info = self.info(bag)
        self.assertEqual(info["manifest"]["text"], VEHICLE)
        self.assertEqual([point["reason"] for point in info["points"]], ["start", "end"])
        for point in info["points"]:
            self.assertLessEqual(abs(point["ros_ns"] - point["system_ns"]), point["spread_ns"])

    def test_a_killed_recorder_leaves_the_manifest(self):
        manifest = self.write(SIMULATION)
        bag = os.path.join(self.folder, "bag")
        recorder = self.record(bag, "/none", "--manifest", manifest)
        recorder.child.kill()
        recorder.wait()
        status, shown, err = self.result("manifest", "show", bag)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("mode: simulation\n", shown)

    def test_a_wrong_manifest_makes_no_recording(self):
        bag = os.path.join(self.folder, "bag")
        for text, status, message in (
            (SIMULATION + "nodes: [/a]\n", 2, r"m\.yaml:4:8: error: nodes: this is a list"),
            ("", 2, r"m\.yaml:1:1: error: there is nothing in it"),
        ):
            manifest = self.write(text)
            result = self.result("record", "-o", bag, "/none", "--manifest", manifest)
            self.assertEqual(result[:2], (status, ""))
            self.assertRegex(result[2], message)
            self.assertFalse(os.path.exists(bag))
        self.assertEqual(self.result("record", "-o", bag, "/none", "--manifest", "/dev/null")[0], 2)
        self.assertEqual(self.result("record", "-o", bag, "/none", "--manifest", "/nowhere")[0], 3)
        self.assertFalse(os.path.exists(bag))


if __name__ == "__main__":
    command_test.BIN_DIR, NODE, ODD = sys.argv[1:4]
    in_parts.main([sys.argv[0]] + sys.argv[4:], 4, verbosity=2)
