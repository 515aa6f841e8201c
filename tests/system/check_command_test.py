#!/usr/bin/env python3
"""`timebase check`, on recordings made here and on real ones.

usage: check_command_test.py TIMEBASE REAL_BAGS [TEST...]

REAL_BAGS holds bags that rosbag2 wrote, by format; what is not there is left out. Each fault of the
contract is in src/contract/recording_test.c; here is what the command makes of files."""

import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from sqlite_bag import sqlite_bag_make

LIMIT_S = 60
TIMEBASE = REAL_BAGS = None
MS, S = 10**6, 10**9
NOW = 1_700_000_000 * S
CDR = b"\0\1\0\0"
MAGIC = b"\x89MCAP0\r\n"


def text(value):
    return struct.pack("<I", len(value) + 1) + value.encode() + b"\0"


def time(ns):
    return struct.pack("<II", ns // S, ns % S)


def point(stamp_ns, frame="laser"):
    body = time(stamp_ns) + text(frame)
    return CDR + body + b"\0" * (-len(body) % 8) + b"\0" * 24


def clock(tick_ns):
    return CDR + time(tick_ns)


TOPICS = [
    ("/clock", "rosgraph_msgs/msg/Clock"),
    ("/point", "geometry_msgs/msg/PointStamped"),
    ("/own", "own_msgs/msg/Unknown"),
]


def simulation(count=200, wall=False):
    """(topic, log time, data): /clock at half of real time, and a topic in it, or on wall time."""
    for i in range(count):
        now_ns, sim_ns = NOW + i * 20 * MS, 100 * S + i * 10 * MS
        yield 0, now_ns, clock(sim_ns)
        yield 1, now_ns + MS, point(now_ns if wall else sim_ns)
        if i % 50 == 0:
            yield 2, now_ns, CDR + b"data"


def record(opcode, content):
    return bytes([opcode]) + struct.pack("<Q", len(content)) + content


def mcap(messages):
    """Of (log time, publish time, data) on /point, without chunks and summary."""
    data = MAGIC + record(1, struct.pack("<I", 0) + struct.pack("<I", 0))
    blob = lambda value: struct.pack("<I", len(value)) + value
    data += record(3, struct.pack("<H", 1) + blob(b"geometry_msgs/msg/PointStamped") + blob(b"")
                   + blob(b""))
    data += record(4, struct.pack("<HH", 1, 1) + blob(b"/point") + blob(b"cdr") + blob(b""))
    for number, (log_ns, publish_ns, body) in enumerate(messages):
        data += record(5, struct.pack("<HIQQ", 1, number, log_ns, publish_ns) + body)
    data += record(15, struct.pack("<I", 0))
    return data + record(2, struct.pack("<QQI", 0, 0, 0)) + MAGIC


def edge(stamp_ns, parent, child):
    body = struct.pack("<I", 1) + time(stamp_ns)
    for name in (parent, child):
        body += b"\0" * (-len(body) % 4) + text(name)
    return CDR + body + b"\0" * (-len(body) % 8) + b"\0" * 56


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="timebase-check-command-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def check(self, *arguments, status=0, env=None):
        result = subprocess.run(
            [TIMEBASE, "check", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=LIMIT_S, text=True, errors="surrogateescape", env=env)
        self.assertEqual(result.returncode, status, (arguments, result.stdout, result.stderr))
        return result

    def check_json(self, *arguments, status=0):
        return json.loads(self.check(*arguments, "--json", status=status).stdout)

    def make(self, messages, name="bag.db3"):
        return sqlite_bag_make(self.path(name), TOPICS, messages)

    def test_a_sound_simulation(self):
        bag = self.make(simulation())
        out = self.check(bag).stdout
        self.assertTrue(out.startswith("no findings\n"), out)
        self.assertRegex(out, r"/clock: 200 ticks, 50\.0 Hz, 0\.500 of real time")
        self.assertRegex(out, r"/own +4 .* definition unknown")
        found = self.check_json(bag)
        self.assertEqual(found["findings"], [])
        self.assertEqual(found["counts"], {"error": 0, "warn": 0, "note": 0})
        self.assertEqual(found["log_times"]["are"], "system time")
        self.assertFalse(found["log_times"]["declared"])
        self.assertEqual(found["evidence"], {"/clock": True, "/tf": False, "/tf_static": False,
                                             "/diagnostics": False, "manifest": False})
        point_topic = found["topics"][1]
        self.assertEqual(point_topic["stamps_are"], "ROS time")
        self.assertEqual(point_topic["definition"], "built in")
        self.assertEqual(point_topic["streams"][0]["frame"], "laser")
        self.assertEqual(point_topic["streams"][0]["good"], 200)
        self.assertIsNone(found["topics"][2]["definition"])

    def test_a_topic_on_wall_time(self):
        bag = self.make(simulation(wall=True))
        out = self.check(bag, status=1).stdout
        self.assertTrue(out.startswith("error stamp-other-domain: /point has stamps of another"), out)
        found = self.check_json(bag, status=1)
        self.assertEqual([f["rule"] for f in found["findings"]], ["stamp-other-domain"])
        self.assertEqual(found["topics"][1]["stamps_are"], "system time")
        self.assertEqual(found["topics"][1]["stamps_confidence"], 1)

    def test_a_topic_of_two_types(self):
        topics = [TOPICS[1], ("/point_2", "std_msgs/msg/Header"), ("/point", "std_msgs/msg/Header")]
        messages = [(i % 3, NOW + i * 100 * MS, point(NOW + i * 100 * MS)) for i in range(30)]
        found = self.check_json(sqlite_bag_make(self.path("bag.db3"), topics, messages), status=1)
        self.assertEqual([(f["rule"], [s["name"] for s in f["subjects"]]) for f in found["findings"]
                          if f["severity"] == "error"], [("topic-two-types", ["/point"])])

    def test_a_ros1_bag_gets_the_remedies_of_ros1(self):
        bag = sqlite_bag_make(self.path("bag.db3"), TOPICS[:2], [m for m in simulation(wall=True) if m[0] < 2])
        subprocess.run([TIMEBASE, "bag", "convert", bag, "-o", self.path("x.bag")], check=True,
                       capture_output=True, timeout=LIMIT_S)
        for path, command in ((bag, "ros2 topic"), (self.path("x.bag"), "rostopic")):
            finding, = self.check_json(path, status=1)["findings"]
            self.assertEqual(finding["rule"], "stamp-other-domain")
            self.assertTrue(any(text.startswith(command) for text in finding["remedy"].values()), finding["remedy"])

    def test_messages_before_the_clock_are_not_judged_by_log_times(self):
        early = [(1, NOW - 2 * S, point(99 * S)), (1, NOW - S, point(99 * S))]
        self.check(self.make(early + list(simulation())))

    def test_html(self):
        name = "<script>alert(1)<_script>.db3"
        bag = self.make([*simulation(wall=True), (0, NOW + 5 * S, clock(60 * S))], name)
        page = self.path("report.html")
        with open(page, "w", encoding="utf-8") as out:
            out.write("old")
        text_only = self.check(bag, status=1).stdout
        self.assertEqual(self.check(bag, "--html", page, status=1).stdout, text_only)
        root = xml.etree.ElementTree.parse(page).getroot()
        shown = "".join(root.itertext())
        self.assertEqual([section.get("id") for section in root.iter("section")],
                         ["findings", "clock", "topics", "ages", "facts"])
        self.assertIn("/point has stamps of another", shown)
        self.assertIn("<script>alert(1)<_script>.db3", shown)
        self.assertIn("201 ticks", shown)
        self.assertIn("1 jump", shown)
        self.assertIn("2023-11-14 22:13:20.000 UTC", shown)
        rows = {"".join(row.find("th/bdi").itertext()): "".join(row.itertext())
                for row in root.iter("tr") if row.find("th/bdi") is not None}
        self.assertEqual(set(rows), {"/clock", "/point", "/own"})
        self.assertIn("201", rows["/clock"])
        with open(page, "rb") as file:
            first = file.read()
        self.check(bag, "--html", page, "--json", status=1)
        with open(page, "rb") as file:
            self.assertEqual(file.read(), first)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([name, "report.html"]))

    def test_factor_and_ages_in_html(self):
        bag = self.make(simulation())
        page = self.path("report.html")
        self.check(bag, "--html", page)
        root = xml.etree.ElementTree.parse(page).getroot()
        charts = ["".join(figure.find("figcaption/b").itertext()) for figure in root.iter("figure")]
        self.assertEqual(charts[:3], ["Simulated time", "Factor", "Rate"])
        self.assertIn("Age of messages", charts)
        self.assertIn("no findings", "".join(root.itertext()))
        factor = root.find(".//section[@id='clock']").findall(".//figure")[1]
        labels = [span.text for span in factor.find(".//div[@class='y']")]
        self.assertEqual(labels[0], "0.0")
        self.assertLess(0.5, float(labels[-1]) + 0.1)

    def test_files_that_cannot_be_written(self):
        bag = self.make(simulation())
        for option in ("--html", "--junit"):
            result = self.check(bag, option, self.path("none", "file"), status=3)
            self.assertIn("none/file", result.stderr)
            self.check(bag, option, self.path("none", "file"), "--against", bag, status=3)

    def test_junit(self):
        bag = self.make(simulation(wall=True))
        file = self.path("report.xml")
        self.check(bag, "--junit", file, status=1)
        suite = xml.etree.ElementTree.parse(file).getroot().find("testsuite")
        self.assertEqual(suite.get("name"), bag)
        self.assertEqual(suite.get("failures"), "1")
        failed = [case for case in suite if case.find("failure") is not None]
        self.assertEqual([case.get("name") for case in failed], ["stamp-other-domain"])
        self.assertIn("/point", failed[0].find("failure").text)

    def test_fail_on(self):
        bag = self.make([*simulation(), (0, NOW + 7 * S, clock(102 * S))], "stall.db3")
        self.check(bag, "--fail-on", "error", status=1)
        bag = self.make([*simulation(), (0, NOW + 4 * S, clock(60 * S))], "back.db3")
        found = self.check_json(bag, status=1)
        self.assertEqual([f["rule"] for f in found["findings"]], ["clock-backwards"])
        self.check(bag, "--fail-on", "error")

    def test_hosts_and_out_of_order(self):
        messages = [(NOW + i * 100 * MS, NOW + i * 100 * MS + 50 * MS, point(NOW + i * 100 * MS))
                    for i in range(50)]
        with open(self.path("ahead.mcap"), "wb") as out:
            out.write(mcap(messages))
        found = self.check_json(self.path("ahead.mcap"), status=1)
        self.assertEqual([f["rule"] for f in found["findings"]], ["host-offset"])
        self.assertEqual(found["topics"][0]["source_to_receive"]["greatest_ns"], -50 * MS)
        messages = [(NOW + i * 100 * MS, NOW + i * 100 * MS - (150 * MS if i == 20 else MS),
                     point(NOW + i * 100 * MS - 2 * MS)) for i in range(50)]
        with open(self.path("order.mcap"), "wb") as out:
            out.write(mcap(messages))
        found = self.check_json(self.path("order.mcap"))
        self.assertEqual(found["topics"][0]["sent_out_of_order"], 1)
        self.assertEqual(found["log_times"]["are"], "system time at reception")

    def test_transforms(self):
        topics = [TOPICS[1], ("/tf", "tf2_msgs/msg/TFMessage"), ("/tf_static", "tf2_msgs/msg/TFMessage")]
        messages = [(2, NOW, edge(0, "base", "laser"))]
        for i in range(100):
            now_ns = NOW + i * 50 * MS
            messages.append((1, now_ns, edge(now_ns, "odom", "base")))
            messages.append((0, now_ns + 10 * MS, point(now_ns + 8 * MS)))
        bag = sqlite_bag_make(self.path("tf.db3"), topics, messages)
        found = self.check_json(bag)
        answers = found["topics"][0]["transforms"]
        self.assertEqual((answers["messages"], answers["at_once"], answers["later"],
                          answers["not_followed"]), (100, 0, 99, 1))
        self.assertEqual(answers["wait"]["greatest_ns"], 40 * MS)
        self.assertEqual(answers["last_child"], "base")
        edges = {(e["parent"], e["child"]): e for e in found["transforms"]}
        self.assertTrue(edges["base", "laser"]["static"])
        self.assertEqual(edges["odom", "base"]["late"], 99)
        self.assertRegex(self.check(bag).stdout,
                         r"/point: 0\.0 % at once, 99\.0 % after 4.* ms \(50 %\), .*, last: base")

    def write_manifest(self, content, name="manifest.yaml"):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write("timebase_manifest: 1\n" + content)
        return self.path(name)

    def test_manifest(self):
        bag = self.make(simulation())
        good = self.write_manifest("mode: simulation\nevidence: [/clock]\n")
        out = self.check(bag, "-m", good).stdout
        self.assertIn(f"manifest: {good}\n", out)
        rate = self.write_manifest("mode: simulation\nevidence: [/clock]\nclock: {rate: 100}\n")
        found = self.check_json(bag, "--manifest", rate, status=1)
        self.assertEqual([f["rule"] for f in found["findings"]], ["clock-rate"])
        factor = self.write_manifest(
            "mode: simulation\nevidence: [/clock]\nclock: {rate: 52, factor: [0.9, 1.1]}\n")
        found = self.check_json(bag, "--manifest", factor, status=1)
        self.assertEqual([f["rule"] for f in found["findings"]], ["clock-rate"])
        self.assertIn("factor of 0.500", found["findings"][0]["subjects"][0]["evidence"][0])
        missing = self.write_manifest("mode: simulation\nevidence: [/clock, /tf]\n")
        found = self.check_json(bag, "--manifest", missing, status=1)
        self.assertEqual([f["rule"] for f in found["findings"]], ["missing-evidence"])
        off = self.write_manifest("mode: simulation\nevidence: [/tf]\nrules_off:\n"
                                  "  missing-evidence: it is a test\n")
        found = self.check_json(bag, "--manifest", off)
        self.assertEqual(found["off"], [{"rule": "missing-evidence", "all": True, "reason": "it is a test",
                                         "count": 1}])

    def test_bad_manifests(self):
        bag = self.make(simulation(10))
        bad = self.write_manifest("mode: simulation\nnonsense: 1\n")
        result = self.check(bag, "--manifest", bad, status=2)
        self.assertRegex(result.stderr, r"manifest\.yaml:3:1: error: unknown key")
        self.check(bag, "--manifest", self.path("nothing"), status=3)
        self.check(bag, "--manifest", self.folder, status=2)

    def test_the_manifest_of_the_recording(self):
        folder = self.path("own")
        os.makedirs(folder)
        sqlite_bag_make(os.path.join(folder, "own_0.db3"), TOPICS, simulation())
        for line, status in (("evidence: [/tf]", 1), ("evidence: [/clock]", 0), ("bad: 1", 0)):
            manifest = json.dumps(f"timebase_manifest: 1\nmode: simulation\n{line}\n")
            with open(os.path.join(folder, "metadata.yaml"), "w", encoding="utf-8") as out:
                out.write("rosbag2_bagfile_information:\n  version: 6\n  storage_identifier: sqlite3\n"
                          "  duration:\n    nanoseconds: 1\n  starting_time:\n"
                          "    nanoseconds_since_epoch: 1\n  message_count: 0\n"
                          "  topics_with_message_count: []\n  compression_format: ''\n"
                          "  compression_mode: ''\n  relative_file_paths: [own_0.db3]\n"
                          f"  files: []\n  custom_data:\n    timebase_manifest: {manifest}\n")
            result = self.check(folder, "--json", status=status)
            found = json.loads(result.stdout)
            self.assertTrue(found["evidence"]["manifest"])
            if line.startswith("bad"):
                self.assertIn("is not used", result.stderr)
                self.assertIsNone(found["manifest"])
            else:
                self.assertEqual(found["manifest"], "the recording")

    def test_definitions(self):
        folder = self.path("definitions", "own_msgs", "msg")
        os.makedirs(folder)
        with open(os.path.join(folder, "Unknown.msg"), "w", encoding="utf-8") as out:
            out.write("uint32 value\n")
        bag = self.make(simulation())
        found = self.check_json(bag, "--definitions", self.path("definitions"))
        self.assertEqual(found["topics"][2]["definition"], "--definitions")
        self.check(bag, *["--definitions", "x"] * 17, status=2)

    def test_usage(self):
        self.check(status=2)
        self.check("a", "b", status=2)
        self.check("--nonsense", status=2)
        self.check("--fail-on", "note", "a", status=2)
        self.assertIn("--definitions DIR", self.check("--help").stdout)

    def test_what_is_no_recording(self):
        self.check(self.path("nothing"), status=3)
        self.check(self.folder, status=3)
        with open(self.path("text.db3"), "wb") as out:
            out.write(b"text" * 1000)
        self.check(self.path("text.db3"), status=3)

    def test_a_recording_that_was_not_closed(self):
        messages = [(NOW + i * 100 * MS, NOW + i * 100 * MS, point(NOW + i * 100 * MS))
                    for i in range(50)]
        data = mcap(messages)
        with open(self.path("unclosed.mcap"), "wb") as out:
            out.write(data[: data.rindex(bytes([15]) + struct.pack("<Q", 4))])
        found = self.check_json(self.path("unclosed.mcap"))
        self.assertTrue(found["unclosed"], found["damage"])
        self.assertEqual(found["messages"], 50)
        self.assertIn("not closed; everything in it was read\n",
                      self.check(self.path("unclosed.mcap")).stdout)

    def test_a_recording_that_was_cut_off(self):
        messages = [(NOW + i * 100 * MS, NOW + i * 100 * MS, point(NOW + i * 100 * MS))
                    for i in range(50)]
        with open(self.path("cut.mcap"), "wb") as out:
            out.write(mcap(messages)[:-300])
        found = self.check_json(self.path("cut.mcap"), status=1)
        self.assertGreater(found["messages"], 40)
        self.assertEqual(found["unread"], 1)
        self.assertFalse(found["unclosed"])
        self.assertIn("cut.mcap", found["damage"])
        self.assertIn("damaged: 1 part could not be read",
                      self.check(self.path("cut.mcap"), status=1).stdout)
        self.check(self.path("cut.mcap"), "--against", self.path("cut.mcap"), status=1)

    def test_more_topics_than_are_judged(self):
        topics = [(f"/{i}", "std_msgs/msg/Header") for i in range(4100)]
        bag = sqlite_bag_make(self.path("many.db3"), topics, [(4099, NOW, b"x" * 20)])
        self.assertIn("4100 topics; only the first 4096", self.check(bag, status=3).stderr)

    def test_limits(self):
        messages = [(NOW + i * MS, NOW + i * MS, point(NOW + i * MS)) for i in range(100)]
        with open(self.path("good.mcap"), "wb") as out:
            out.write(mcap(messages))
        subprocess.run([TIMEBASE, "bag", "convert", self.path("good.mcap"), "-o", self.path("big"),
                        "-s", "mcap"], check=True, timeout=LIMIT_S, capture_output=True)
        for arguments in ((), ("--json",), ("--against", self.path("good.mcap"))):
            result = self.check(self.path("big"), "--max-chunk-size", "100", *arguments, status=3)
            self.assertIn("--max-chunk-size", result.stderr)
            self.check(self.path("big"), *arguments)

    def test_names_of_others_do_no_harm(self):
        evil = "/\x1b]0;x\x07%n"
        bag = sqlite_bag_make(self.path("evil.db3"), [(evil, TOPICS[1][1])],
                              [(0, NOW + i, point(0, "\x1b[2J")) for i in range(3)])
        for arguments in ((), ("--json",)):
            out = self.check(bag, *arguments, status=1).stdout
            self.assertNotIn("\x1b", out)
            self.assertNotIn("\x07", out)

    def test_real_recordings(self):
        bags = [os.path.dirname(path)
                for path in glob.glob(os.path.join(REAL_BAGS, "*", "*", "metadata.yaml"))]
        for bag in bags:
            found = self.check_json(bag)
            self.assertEqual(found["findings"], [], bag)
            self.assertEqual(found["unread"], 0, bag)


if __name__ == "__main__":
    TIMEBASE, REAL_BAGS = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=1)
