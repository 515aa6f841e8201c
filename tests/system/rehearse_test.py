#!/usr/bin/env python3
"""`timebase rehearse` with a sound stack, which passes all steps, and with one for each fault, which
fails the step that is about it and no other.

usage: rehearse_test.py BIN_DIR REHEARSE_PEER [TEST...]

A rehearsal takes seconds, most of which it waits: several run at once, each in its own domain."""

import concurrent.futures
import fcntl
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from command_test import LIMIT_S, LOOPBACK, SECOND, header_of
from sqlite_bag import sqlite_bag_make

BIN_DIR = PEER = None
DOMAINS = range(180, 188)  # as many at once
TRIES = 3  # on a machine that is too busy
START_NS = 1_600_000_000 * SECOND
MESSAGES = 120  # of each topic, 20 a second
STEPS = ["use-sim-time", "quiet-start", "run", "seek-back", "pause", "withheld-input", "recording"]
# What such a machine makes of a step: its clock does not run at 1x, and ticks are recorded late.
EXCUSES = {"run": ("not proven", "not an acceptance run"), "recording": ("fail", "stamp-future")}
TOPICS = ("/scan", "imu", "/pose", "/unused")  # some recordings lack the first slash

MANIFEST = {
    "timebase_manifest": 1,
    "mode": "replay",
    "nodes": {"/estimator": {"use_sim_time": True}},
    "topics": {"/pose": {"budget": "500ms"}},
    "paths": [{"from": "/scan", "to": "/odom", "budget": "300ms"}],
    "evidence": ["/clock", "/timebase/manifest"],
    "rehearsal": {
        "quiet": "500ms",
        "run": "2500ms",
        "resume": "1500ms",
        "withhold": ["/scan"],
        "safety": {"topic": "/stop", "field": "data", "trips": True, "within": "1s"},
    },
}


def without(*keys):
    """The manifest without a key, which is named by its path."""
    manifest = json.loads(json.dumps(MANIFEST))
    inner = manifest
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    return manifest


def changed(**rehearsal):
    return {**MANIFEST, "rehearsal": {**MANIFEST["rehearsal"], **rehearsal}}


def verdicts_of(result):
    return {step["step"]: step["verdict"] for step in result["steps"]}


def expected_of(steps):
    return {step: steps.get(step, ("pass",))[0] for step in STEPS}


def environment_of(domain):
    environment = {name: value for name, value in os.environ.items() if name[:4] != "ROS_"}
    return {**environment, "CYCLONEDDS_URI": LOOPBACK, "ROS_DOMAIN_ID": str(domain)}


class Rehearsals:
    """Those that the tests ask for, each run once."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.bag = os.path.join(self.folder, "bag.db3")
        times = [START_NS + index * SECOND // 20 for index in range(MESSAGES)]
        sqlite_bag_make(
            self.bag,
            [(name, "std_msgs/msg/Header") for name in TOPICS],
            [
                (topic, at + topic * 10_000_000, header_of(at + topic * 10_000_000))
                for at in times
                for topic in range(len(TOPICS))
            ],
        )
        self.pool = concurrent.futures.ThreadPoolExecutor(len(DOMAINS))
        self.domains = queue.Queue()
        for domain in DOMAINS:
            self.domains.put(domain)
        self.names = iter(range(1000))

    def arguments(self, manifest, fault, *options):
        """Of a command with an output of its own, and that output."""
        name = os.path.join(self.folder, f"run{next(self.names)}")
        with open(name + ".yaml", "w", encoding="ascii") as file:
            json.dump(manifest, file)
        command = [f"{BIN_DIR}/timebase", "rehearse", self.bag, "-m", name + ".yaml", "-o", name]
        return [*command, *options, "--", *([PEER, fault] if fault is not None else [])], name

    def with_domain(self, work):
        domain = self.domains.get()
        try:
            with open(f"/tmp/timebase-test-domain-{domain}.lock", "a", encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                return work(domain)
        finally:
            self.domains.put(domain)

    def run(self, arguments):
        return self.with_domain(
            lambda domain: subprocess.run(
                arguments,
                env=environment_of(domain),
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
        )

    def result(self, manifest, fault, steps):
        """(exit status, JSON, the folder of the recording, the text of JUnit)"""
        for _ in range(TRIES):
            arguments, name = self.arguments(manifest, fault, "--json")
            junit = name + ".xml"
            arguments[3:3] = ["--junit", junit]
            done = self.run(arguments)
            try:
                result = json.loads(done.stdout)
            except ValueError:
                raise AssertionError((fault, done.returncode, done.stdout, done.stderr)) from None
            if verdicts_of(result) == expected_of(steps):
                break
        with open(junit, encoding="utf-8") as file:
            return done.returncode, result, name, file.read()

    def start(self, manifest, fault, steps):
        return self.pool.submit(self.result, manifest, fault, steps)


# By name: the manifest, the fault, and the steps that do not pass, with their verdict and words of
# their evidence.
CASES = {
    "sound": (MANIFEST, "", {}),
    "wall": (MANIFEST, "wall", {"use-sim-time": ("fail", "/logger is on wall time")}),
    "zero": (MANIFEST, "zero", {"quiet-start": ("fail", "/pose of /estimator: 20 messages")}),
    "glimpse": (MANIFEST, "glimpse", {"quiet-start": ("fail", "/pose of /estimator: 3 messages")}),
    "slow": (MANIFEST, "slow", {"run": ("fail", "/scan to /odom: 99 %")}),
    "stale": (MANIFEST, "stale", {"seek-back": ("fail", "of the time before the seek")}),
    "edge": (MANIFEST, "edge", {"seek-back": ("fail", "/tf: ")}),
    "stuck": (MANIFEST, "stuck", {"seek-back": ("fail", "/odom: no message of the new time")}),
    "ros": (MANIFEST, "ros", {"pause": ("fail", "of steady time after ")}),
    "fed": (MANIFEST, "fed", {"withheld-input": ("fail", "of steady time after ")}),
    "jitter": (MANIFEST, "jitter", {"recording": ("fail", "stamp-backward")}),
    "evidence": (
        {**MANIFEST, "evidence": ["/clock", "/diagnostics"]},
        "",
        {"recording": ("fail", "/diagnostics is missing")},
    ),
    "tripped": (
        MANIFEST,
        "tripped",
        {step: ("not proven", "/stop had tripped before") for step in ("pause", "withheld-input")},
    ),
    "latch": (MANIFEST, "latch", {}),
    "undeclared": (
        without("rehearsal"),
        "",
        {
            "seek-back": ("not proven", "declare rehearsal.resume"),
            "pause": ("not applicable", "the stack declares no safety output"),
            "withheld-input": ("not applicable", "the stack declares no safety output"),
        },
    ),
    "unlimited": (
        {**without("topics"), "paths": []},
        "",
        {"run": ("not proven", "declare budgets of topics that the stack publishes, or paths")},
    ),
    "short": (
        changed(run="1h"),
        "",
        {"run": ("not proven", "the recording is shorter than rehearsal.run")},
    ),
    "missing": (
        {
            **changed(withhold=["/lidar"], inputs=["/scan", "/imu", "/gps"], outputs=["/map"]),
            "nodes": {"/planner": {}},
        },
        "",
        {
            "use-sim-time": ("not proven", "/planner: the manifest declares it"),
            "run": ("not proven", "rehearsal.inputs: /gps is not played"),
            "seek-back": ("not proven", "rehearsal.outputs: /map"),
            "withheld-input": ("not proven", "/lidar: it is not played"),
        },
    ),
    "field": (
        changed(safety={**MANIFEST["rehearsal"]["safety"], "field": "level"}),
        "",
        {step: ("not proven", "level") for step in ("pause", "withheld-input")},
    ),
    "dies": (
        MANIFEST,
        "dies",
        {
            step: ("not proven", "not reached, as use-sim-time")
            for step in STEPS
            if step != "quiet-start"
        }
        | {"use-sim-time": ("not proven", "the command ended early, with exit status 3")},
    ),
    "clock": (
        MANIFEST,
        "clock",
        {step: ("not proven", "not reached, as use-sim-time") for step in STEPS}
        | {"use-sim-time": ("not proven", "/clock is also published by /guard")},
    ),
}


class RehearseTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.all = Rehearsals()
        cls.addClassCleanup(shutil.rmtree, cls.all.folder)
        cls.addClassCleanup(cls.all.pool.shutdown)
        wanted = [name for name in CASES if cls.is_wanted(f"test_{name}")]
        cls.futures = {name: cls.all.start(*CASES[name]) for name in wanted}

    @staticmethod
    def is_wanted(test):
        return len(sys.argv) == 3 or any(word.endswith(test) for word in sys.argv[3:])

    def check(self, name):
        status, result, folder, junit = self.futures[name].result()
        expected = CASES[name][2]
        steps = {step["step"]: step for step in result["steps"]}
        self.assertEqual(list(steps), STEPS)
        verdicts = verdicts_of(result)
        excused = {
            step
            for step, (verdict, words) in EXCUSES.items()
            if verdicts[step] == verdict and words in json.dumps(steps[step]["evidence"])
        }
        self.assertEqual(
            {step: verdict for step, verdict in verdicts.items() if step not in excused},
            {step: it for step, it in expected_of(expected).items() if step not in excused},
            json.dumps(result, indent=1),
        )
        for step, (verdict, words) in expected.items():
            if step in excused:
                continue
            lines = [line for line in steps[step]["evidence"] if line["verdict"] == verdict]
            self.assertTrue(any(words in line["text"] for line in lines), (step, lines))
        self.assertEqual(status, 0 if set(verdicts.values()) <= {"pass", "not applicable"} else 1)
        self.check_junit(junit, verdicts)
        return steps, folder

    def check_junit(self, text, verdicts):
        suite = xml.etree.ElementTree.fromstring(text).find("testsuite")
        elements = {"pass": "system-out", "fail": "failure", "not proven": "error", "not applicable": "skipped"}
        for case in suite.findall("testcase"):
            self.assertEqual(case[0].tag, elements[verdicts.pop(case.get("name"))])
        self.assertEqual(verdicts, {})
        self.assertEqual(int(suite.get("failures")), len(suite.findall("testcase/failure")))

    def test_sound(self):
        steps, folder = self.check("sound")
        for step in steps.values():
            self.assertTrue(step["evidence"], step)
        info = subprocess.run(
            [f"{BIN_DIR}/timebase", "bag", "info", "--json", folder],
            capture_output=True,
            check=True,
            timeout=LIMIT_S,
        )
        counts = {topic["name"]: topic["count"] for topic in json.loads(info.stdout)["topics"]}
        for name in ("/clock", "/scan", "/imu", "/odom", "/pose", "/stop", "/timebase/manifest"):
            self.assertGreater(counts[name], 0, name)
        self.assertNotIn("/unused", counts)  # nobody subscribes to it
        # The one that the stack publishes is not played too.
        self.assertLess(counts["/pose"], 1.5 * counts["/odom"])

    # --- what ends it ---

    def end_in_run(self, number):
        arguments, _ = self.all.arguments(MANIFEST, "leaves")

        def work(domain):
            with subprocess.Popen(
                arguments,
                env=environment_of(domain),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                seen = []
                for line in process.stderr:
                    seen.append(line)
                    if "a run at 1x" in line:
                        break
                process.send_signal(number)
                out, _ = process.communicate(timeout=LIMIT_S)
                return process.returncode, out, seen

        status, out, seen = self.all.with_domain(work)
        self.assertEqual(status, 1, (out, seen))
        self.assertIn("a signal ended the rehearsal", out)
        children = [int(line.split()[1]) for line in seen if line.startswith("child ")]
        self.assertEqual(len(children), 2, seen)
        for child in children:
            self.assertRaises(ProcessLookupError, os.kill, child, 0)

    def test_signals_end_the_whole_stack(self):
        runs = [
            self.all.pool.submit(self.end_in_run, number)
            for number in (signal.SIGINT, signal.SIGTERM)
        ]
        for run in runs:
            run.result()

    def test_nothing_is_left_when_the_command_dies(self):
        arguments, _ = self.all.arguments(MANIFEST, None)
        script = "sleep 1000 & echo child $!; trap '' INT; exit 5"
        done = self.all.run([*arguments[:-1], "--start-limit", "5s", "--", "sh", "-c", script])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the command ended early, with exit status 5", done.stdout)
        child = int(done.stderr.split("child ")[1].split()[0])
        self.assertRaises(ProcessLookupError, os.kill, child, 0)

    def test_a_command_without_nodes(self):
        arguments, _ = self.all.arguments(MANIFEST, None)
        done = self.all.run([*arguments[:-1], "--start-limit", "1s", "--", "sleep", "1000"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the command had no topics on the graph", done.stdout)

    # --- what it refuses ---

    def test_another_clock_is_refused(self):
        mark = os.path.join(self.all.folder, "started")
        arguments, _ = self.all.arguments(MANIFEST, None)

        def work(domain):
            environment = environment_of(domain)
            with subprocess.Popen(
                [f"{BIN_DIR}/timebase", "serve", "--start", "100"],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as server:
                try:
                    subprocess.run(
                        [f"{BIN_DIR}/timebase", "wait", "--limit", str(LIMIT_S)],
                        env=environment,
                        check=True,
                        stdout=subprocess.DEVNULL,
                    )
                    return subprocess.run(
                        [*arguments, "touch", mark],
                        env=environment,
                        capture_output=True,
                        text=True,
                        timeout=LIMIT_S,
                        check=False,
                    )
                finally:
                    server.terminate()

        done = self.all.with_domain(work)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("refused: /clock is published by /clock_server", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse(os.path.exists(mark))

    def test_wrong_usage(self):
        good, name = self.all.arguments(MANIFEST, "")
        bad_manifest = name + ".bad.yaml"
        with open(bad_manifest, "w", encoding="ascii") as file:
            file.write("timebase_manifest: 1\nmode: replay\nrehearsal: {run: 5}\n")
        vehicle = name + ".vehicle.yaml"
        with open(vehicle, "w", encoding="ascii") as file:
            file.write("timebase_manifest: 1\nmode: vehicle\n")
        binary, bag = good[0], self.all.bag
        manifest = good[4]
        for arguments, status, words in (
            ((), 2, "missing BAG"),
            ((bag, "--", "true"), 2, "missing -m MANIFEST"),
            ((bag, "-m", manifest), 2, "missing -- COMMAND"),
            ((bag, "more", "-m", manifest, "--", "true"), 2, "unexpected argument 'more'"),
            ((bag, "-m", bad_manifest, "--", "true"), 2, ":3:18: error: rehearsal.run: '5'"),
            ((bag, "-m", vehicle, "--", "true"), 2, "write mode replay"),
            ((bag, "-m", manifest, "-o", self.all.folder, "--", "true"), 2, "already exists"),
            ((bag + "x", "-m", manifest, "-o", name, "--", "true"), 3, "bag.db3x"),
            ((bag, "-m", manifest, "-o", name, "--", "/no/command"), 2, "cannot run '/no/command'"),
            ((bag, "-m", manifest, "--domain", "999", "--", "true"), 2, "--domain"),
        ):
            done = self.all.run([binary, "rehearse", *arguments])
            self.assertEqual(done.returncode, status, (arguments, done.stderr))
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")


def test_of(name):
    def test(self):
        self.check(name)

    return test


for case in CASES:
    if not hasattr(RehearseTest, f"test_{case}"):
        setattr(RehearseTest, f"test_{case}", test_of(case))

if __name__ == "__main__":
    BIN_DIR, PEER = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
