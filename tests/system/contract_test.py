#!/usr/bin/env python3
"""Each way in which a robot's time fails, provoked by real processes, with its symptom and with what
catches it: live, and in the recording that was made meanwhile.

usage: contract_test.py BIN_DIR AUDIT_PEER [TEST...]

The table below has a row for each failure mode. Its symptom is read from the recording's database, or from what
the processes print, by nothing that judges time. Live controls run until they report it, within a generous
limit."""

import collections
import contextlib
import itertools
import json
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time

import audit_test
import command_test
import in_parts
from audit_test import AuditTest, all_findings
from command_test import LIMIT_S, SECOND, TRIES

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/contract.md")
MS = 1_000_000
SIM = ("node sim", "clock 1000 10 10")

# mode: as docs/contract.md names it. live: the command and what it reports. recorded: of `check`.
Row = collections.namedtuple("Row", "mode symptom live recorded test")
TABLE = (
    Row("mixed use_sim_time", "stamps of two nodes never meet",
        "audit: mixed-time-base", "stamp-other-domain", "mixed"),
    Row("zero ROS time in the first messages", "the first stamps are 0",
        "wait: no-publisher; audit: stamp-zero", "stamp-zero", "zero_at_start"),
    Row("stamped on receipt", "stamps are as irregular as arrivals, and have no age",
        "observe: receipt_score", "receipt-stamped", "receipt"),
    Row("backward jump without a reset", "one topic's time goes on where /clock has left it",
        "audit: clock-backwards, stale-epoch", "clock-backwards, stale-epoch", "no_reset"),
    Row("late samples of the old epoch", "some messages after a jump are of the time before",
        "audit: clock-backwards, stale-epoch", "clock-backwards, stale-epoch", "late_samples"),
    Row("fast replay that hides latency", "an age in ROS time is that of the factor",
        "observe: over budget in ROS time alone", "clock-rate", "fast_replay"),
    Row("paused simulation that stops a watchdog", "the watchdog on ROS time is silent",
        "tb_watchdog; manifest: hardware timeouts", "a pause of /clock", "paused"),
    Row("/clock QoS mismatch", "a node's time stays 0",
        "audit: clock-qos, fails the launch", "stamp-zero", "qos"),
    Row("/clock too slow for the launch", "ticks come less often than declared",
        "wait --manifest: slow, fails the launch", "clock-rate", "slow_clock"),
    Row("two streams of one publisher", "/clock goes back and forth",
        "audit: clock-two-streams; wait: two-streams", "clock-two-streams", "two_streams"),
    Row("equal stamps", "one stamp on several messages",
        "audit: stamp-repeated; observe: equal", "stamp-repeated", "equal"),
    Row("zero stamps", "all stamps are 0",
        "audit: stamp-zero; observe: zero", "stamp-zero", "zero"),
)  # fmt: skip


class Recording:
    """What was recorded, in the order of log times."""

    def __init__(self, folder):
        files = [name for name in os.listdir(folder) if name.endswith(".db3")]
        self.topics = collections.defaultdict(list)
        for name in files:
            with contextlib.closing(sqlite3.connect(os.path.join(folder, name))) as database:
                rows = database.execute(
                    "SELECT name, timestamp, data FROM messages JOIN topics ON topic_id = topics.id ORDER BY timestamp"
                )
                for topic, at, data in rows:
                    self.topics[topic].append((at, data))

    def times(self, topic):
        """(log time, the time that the message begins with)"""
        return [
            (at, s * SECOND + ns)
            for at, data in self.topics[topic]
            for s, ns in [struct.unpack_from("<iI", data, 4)]
        ]

    def stamps(self, topic):
        return [stamp for _, stamp in self.times(topic)]

    def with_clock(self, topic):
        """(stamp, the last tick before it was received)"""
        ticks, index, out = self.times("/clock"), 0, []
        for at, stamp in self.times(topic):
            while index < len(ticks) and ticks[index][0] <= at:
                index += 1
            if index:
                out.append((stamp, ticks[index - 1][1]))
        return out


class ContractTest(AuditTest):
    domains = itertools.cycle((75, 76, 77, 78))

    def setUp(self):
        super().setUp()
        self.bag = os.path.join(self.folder, "bag")

    # --- processes ---

    def declare(self, *lines):
        path = os.path.join(self.folder, "manifest.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(("timebase_manifest: 1", "mode: simulation", *lines)) + "\n")
        return path

    def record(self):
        self.recorder = self.run_command("record", "--all", "-s", "sqlite3", "-o", self.bag)
        self.recorder.expect("recording to ")

    def counts(self, topics):
        """The database is written to as messages come."""
        try:
            recording = Recording(self.bag)
        except (sqlite3.Error, OSError):
            return [0 for _ in topics]
        return [len(recording.topics[topic]) for topic in topics]

    def until_recorded(self, *topics, more=60):
        """So many more than there are now."""
        deadline = time.monotonic() + LIMIT_S
        begin = self.counts(topics)
        while time.monotonic() < deadline:
            if all(now >= before + more for now, before in zip(self.counts(topics), begin)):
                return
            time.sleep(0.1)
        self.fail(f"{topics} were not recorded")

    def recorded(self):
        self.recorder.child.send_signal(signal.SIGINT)
        self.assertEqual(self.recorder.wait(), 0, self.recorder.errors)
        return Recording(self.bag)

    # --- controls ---

    def watching_audit(self, *arguments):
        """A watching audit that has seen the graph."""
        watch = self.run_command("audit", "--watch", "--json", "--duration", "1", *arguments)
        watch.last = json.loads(watch.expect("{").string)
        return watch

    def until_found(self, watch, *rules):
        """The findings by rule, of all rounds until these have been found: on a busy machine one cause may
        be seen in another round than what it causes."""
        by_rule = {}
        while True:
            by_rule.update((finding["rule"], finding) for finding in all_findings(watch.last))
            if set(rules) <= set(by_rule):
                return by_rule
            watch.last = json.loads(watch.expect("{").string)

    def until_observed(self, is_right, *arguments):
        observer = self.run_command("observe", "--json", *arguments)
        while True:
            report = json.loads(observer.expect("{").string)
            if is_right(report):
                return report

    def observed_topic(self, name, is_right):
        def is_there(report):
            for topic in report["topics"]:
                if topic["topic"] == name and any(is_right(one) for one in topic["publishers"]):
                    return True
            return False

        self.until_observed(is_there, name)

    def until_waited(self, is_right, *arguments):
        deadline = time.monotonic() + LIMIT_S
        while True:
            out = self.result("wait", "--json", *arguments)[1]
            if is_right(json.loads(out)):
                return
            if time.monotonic() > deadline:
                self.fail(out)

    def check(self, *rules, manifest=None, absent=()):
        """What `check` finds in the recording, which has them."""
        arguments = ("--manifest", manifest) if manifest else ()
        status, out, err = self.result("check", "--json", self.bag, *arguments)
        self.assertIn(status, (0, 1), err)
        report = json.loads(out)
        found = {finding["rule"]: finding for finding in all_findings(report)}
        self.assertLessEqual(set(rules), set(found), out)
        self.assertFalse(set(absent) & set(found), out)
        if rules:
            self.assertEqual(status, 1)
        return report, found

    def subjects(self, finding):
        return [subject["name"] for subject in finding["subjects"]]

    def launch(self, *check):
        """Whether what stands behind the start-up check is started, as in a launch script."""
        words = [f"{command_test.BIN_DIR}/timebase", *check]
        script = '"$@" >&2 && echo started'
        result = subprocess.run(
            ["sh", "-c", script, "sh", *words], env=self.environment, capture_output=True, text=True, timeout=LIMIT_S
        )
        return "started" in result.stdout, result.stderr

    # --- the modes ---

    def test_mixed(self):
        self.peer(*SIM, "node camera -p use_sim_time:=true", "header /image 20 node", "node ekf", "header /odom 20 wall")
        self.record()
        found = self.until_found(self.watching_audit(), "mixed-time-base", "stamp-other-domain")
        severities = {subject["name"]: subject["severity"] for subject in found["mixed-time-base"]["subjects"]}
        self.assertEqual(severities, {"/ekf": "error", "/rosbag2_recorder": "warn"})
        self.until_recorded("/image", "/odom")
        recording = self.recorded()
        nearest = min(abs(a - b) for a in recording.stamps("/image")[::5] for b in recording.stamps("/odom")[::5])
        self.assertGreater(nearest, 365 * 86400 * SECOND)
        _, found = self.check("stamp-other-domain")
        self.assertEqual(self.subjects(found["stamp-other-domain"]), ["/odom"])

    def test_zero_at_start(self):
        self.peer("node driver -p use_sim_time:=true", "header /scan 20 early", "header /guarded 20 node")
        self.record()
        self.until_recorded("/scan", more=20)
        started, err = self.launch("wait", "--limit", "0.5s")
        self.assertFalse(started)
        self.assertIn("no publisher", err)
        self.until_found(self.watching_audit(), "stamp-zero")
        self.peer(*SIM)
        self.assertTrue(self.launch("wait")[0])
        self.until_recorded("/guarded")
        recording = self.recorded()
        stamps = recording.stamps("/scan")
        self.assertEqual(stamps[:20], [0] * 20)
        self.assertGreaterEqual(stamps[-1], 1000 * SECOND)
        self.assertNotIn(0, recording.stamps("/guarded"))  # that publisher waits for its clock
        _, found = self.check("stamp-zero")
        self.assertEqual(self.subjects(found["stamp-zero"]), ["/scan"])

    def test_receipt(self):
        """A message that the machine holds up hides the likeness: what is short is tried again."""
        self.peer("node driver", "header /scan 10 receipt 80")
        for attempt in range(4 * TRIES):
            _, out, _ = self.result("observe", "--json", "--duration", "4", "/scan")
            report = json.loads(out.splitlines()[-1])
            scores = [one["stamps"]["receipt_score"] for topic in report["topics"] for one in topic["publishers"]]
            if scores and scores[0] >= 0.95:
                break
        else:
            self.fail(out)
        for attempt in range(4 * TRIES):
            self.bag = os.path.join(self.folder, f"bag{attempt}")
            self.record()
            self.until_recorded("/scan", more=45)
            times = self.recorded().times("/scan")
            ages = sorted(at - stamp for at, stamp in times)
            report, found = self.check()
            if "receipt-stamped" in found and ages[len(ages) // 2] < 2 * MS:
                break
        else:
            self.fail((ages, json.dumps(report)))
        self.assertEqual(found["receipt-stamped"]["severity"], "warn")
        steps = [b - a for (_, a), (_, b) in zip(times, times[1:])]
        self.assertGreater(max(steps), 1.3 * min(steps))

    def jump(self, mode):
        sim = self.peer(*SIM, "node ekf -p use_sim_time:=true", f"header /odom 20 {mode}", "header /good 20 node")
        self.record()
        self.until_recorded("/odom", "/good", more=20)
        watch = self.watching_audit()
        self.ask(sim, "jump -500")
        found = self.until_found(watch, "clock-backwards", "stale-epoch")
        self.assertEqual(self.subjects(found["stale-epoch"]), ["/odom"])
        self.until_recorded("/odom", "/good", more=70)
        recording = self.recorded()
        ahead = [stamp - tick for stamp, tick in recording.with_clock("/odom") if tick < 900 * SECOND]
        _, found = self.check("clock-backwards", "stale-epoch")
        self.assertEqual(self.subjects(found["stale-epoch"]), ["/odom"])
        return [one for one in ahead if one > 400 * SECOND], ahead

    def test_no_reset(self):
        kept, after = self.jump("keep")
        self.assertGreater(len(kept), 0.9 * len(after))

    def test_late_samples(self):
        kept, after = self.jump("late 60")
        self.assertTrue(50 <= len(kept) <= 60, kept)
        self.assertGreater(len(after), len(kept))

    def test_fast_replay(self):
        """At five times real time 60 ms of work are 300 ms: the figures are not those of the robot."""
        self.peer("node player", "clock 1000 50 10", "node ekf -p use_sim_time:=true",
                  "header /points 20 ros", "header /odom 5 lagged 60")  # fmt: skip
        self.record()

        def is_over(report):
            (path,) = report["paths"]
            return (path["state"] == "over budget in ROS time alone" and path["steady_ms"]["p50"] < 200
                    and path["ros_ms"]["p50"] > 200)  # fmt: skip
        self.until_observed(is_over, "--path", "/points:/odom:200ms")
        self.until_recorded("/odom", "/points")
        recording = self.recorded()
        ages = sorted(tick - stamp for stamp, tick in recording.with_clock("/odom"))
        sent = {stamp: at for at, stamp in recording.times("/points")}
        steady = sorted(at - sent[stamp] for at, stamp in recording.times("/odom") if stamp in sent)
        self.assertGreater(ages[len(ages) // 2], 2 * steady[len(steady) // 2])
        manifest = self.declare("clock: {factor: [0.98, 1.02]}", "evidence: [/clock]")
        _, found = self.check("clock-rate", manifest=manifest)
        self.assertIn("by a factor of", found["clock-rate"]["subjects"][0]["evidence"][0])

    def test_paused(self):
        sim = self.peer(*SIM, "node base -p use_sim_time:=true", "header /cmd 20 node")
        self.record()
        self.until_recorded("/cmd", more=20)
        self.ask(sim, "pause")
        self.ask(sim, "watchdog 300")
        sim.expect("steady watchdog expired: (paused|running)$")
        watch = self.watching_audit()
        self.assertNotIn("clock-stall", [finding["rule"] for finding in all_findings(watch.last)])
        self.assertNotIn("ROS watchdog expired", sim.seen)
        self.until_waited(lambda report: report["ready"] and report["paused"])
        manifest = self.declare("nodes: {/base: {hardware_timeouts: ros}}")
        status, _, err = self.result("audit", manifest)
        self.assertEqual(status, 2)
        self.assertIn("hardware timeouts must be steady", err)
        self.ask(sim, "resume")
        sim.expect("ROS watchdog expired")
        self.until_recorded("/cmd", more=10)
        self.recorded()
        report, _ = self.check(absent=("clock-stall",))
        self.assertGreaterEqual(report["clock"]["pauses"], 1)

    def test_qos(self):
        self.peer(*SIM)
        picky = "node picky -p use_sim_time:=true -p qos_overrides./clock.subscription.reliability:=reliable"
        self.peer(picky, "header /scan 20 early")
        self.record()
        found = self.until_found(self.watching_audit(), "clock-qos", "stamp-zero")
        self.assertEqual(self.subjects(found["clock-qos"]), ["/picky"])
        self.assertEqual(
            found["clock-qos"]["subjects"][0]["evidence"], ["reliability: /sim offers best effort, it requests reliable"]
        )
        started, out = self.launch("audit")
        self.assertFalse(started)
        self.assertIn("error clock-qos: /picky", out)
        self.until_recorded("/clock", "/scan")
        recording = self.recorded()
        self.assertEqual(set(recording.stamps("/scan")), {0})
        self.assertGreater(len(recording.stamps("/clock")), 20)
        self.check("stamp-zero")

    def test_slow_clock(self):
        self.peer("node sim", "clock 1000 100 100")
        self.record()
        manifest = self.declare("clock: {rate: 100}", "evidence: [/clock]")
        self.until_waited(lambda report: report["reason"] == "slow", "--manifest", manifest, "--limit", "3s")
        self.assertFalse(self.launch("wait", "--manifest", manifest, "--limit", "3s")[0])
        self.assertTrue(self.launch("wait", "--min-rate", "2")[0])
        self.until_recorded("/clock", more=30)
        times = self.recorded().times("/clock")
        self.assertLess(len(times) / ((times[-1][0] - times[0][0]) / SECOND), 20)
        _, found = self.check("clock-rate", manifest=manifest)
        self.assertEqual(found["clock-rate"]["severity"], "error")

    def test_two_streams(self):
        self.peer("node sim", "clock2 1000 1500 5")
        self.record()
        found = self.until_found(self.watching_audit(), "clock-two-streams")
        self.assertEqual(found["clock-two-streams"]["cause"], "/sim")
        self.until_waited(lambda report: report["reason"] == "two-streams", "--running", "--limit", "3s")
        self.until_recorded("/clock", more=100)
        ticks = self.recorded().stamps("/clock")
        back = sum(b < a - 1000 * SECOND for a, b in zip(ticks, ticks[1:]))
        self.assertGreater(back, len(ticks) / 4)
        self.check("clock-two-streams", absent=("clock-backwards",))

    def test_equal(self):
        """Duplicates are counted, and are no steps back."""
        self.peer(*SIM, "node ekf -p use_sim_time:=true", "header /odom 20 same 100")
        self.record()
        self.observed_topic("/odom", lambda one: one["stamps"]["equal"] >= 30)
        found = self.until_found(self.watching_audit(), "stamp-repeated")
        self.assertFalse([rule for rule in found if rule.startswith("stamp") and rule != "stamp-repeated"], found)
        self.until_recorded("/odom", more=60)
        stamps = self.recorded().stamps("/odom")
        self.assertLess(len(set(stamps)), len(stamps) / 2)
        report, _ = self.check("stamp-repeated", absent=("stamp-backward", "stamp-zero", "stamp-old"))
        (odom,) = [topic for topic in report["topics"] if topic["name"] == "/odom"]
        self.assertGreaterEqual(odom["streams"][0]["equal"], 30)

    def test_zero(self):
        self.peer(*SIM, "node lidar -p use_sim_time:=true", "header /scan 20 zero")
        self.record()
        found = self.until_found(self.watching_audit(), "stamp-zero")
        self.assertEqual((found["stamp-zero"]["severity"], found["stamp-zero"]["cause"]), ("error", "/lidar"))
        self.observed_topic("/scan", lambda one: one["stamps"]["zero"] >= 10 and not one["age_ms"]["count"])
        self.until_recorded("/scan")
        self.assertEqual(set(self.recorded().stamps("/scan")), {0})
        self.check("stamp-zero")

    def test_the_table_is_that_of_the_docs(self):
        tests = {name[len("test_") :] for name in dir(self) if name.startswith("test_")}
        self.assertEqual({row.test for row in TABLE}, tests - {"the_table_is_that_of_the_docs"})
        with open(DOCS, encoding="utf-8") as file:
            docs = file.read()
        for row in TABLE:
            self.assertIn(f"| {row.mode} | {row.symptom} | {row.live} | {row.recorded} |\n", docs)


if __name__ == "__main__":
    command_test.BIN_DIR, audit_test.PEER = sys.argv[1:3]
    in_parts.main([sys.argv[0], *sys.argv[3:]], 4)
