#!/usr/bin/env python3
"""`timebase bag cat`: messages as YAML, JSON lines and CSV, from each of the formats.

usage: bag_cat_test.py TIMEBASE [TEST...]"""

import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bag"))
import foreign_mcap  # pylint: disable=wrong-import-position
from sqlite_bag import sqlite_bag_make

LIMIT_S = 60
TIMEBASE = None
BASE_NS = 1_700_000_000_000_000_000
HEADER = b"\x00\x01\x00\x00"
RULE = b"=" * 80 + b"\n"


class Cdr:
    def __init__(self):
        self.data = b""

    def put(self, code, *values):
        for value in values:
            self.data += b"\0" * (-len(self.data) % struct.calcsize(code))
            self.data += struct.pack("<" + code, value)
        return self

    def text(self, value):
        encoded = value.encode() + b"\0"
        self.put("I", len(encoded)).data += encoded
        return self

    def message(self):
        return HEADER + self.data


def string(value):
    return Cdr().text(value).message()


def transforms(index):
    """tf2_msgs/msg/TFMessage of two."""
    out = Cdr().put("I", 2)
    for child in ("left", "right"):
        out.put("i", 1700000000 + index).put("I", 7).text("base").text(child)
        out.put("d", 0.1, index, -1e-9, 0, 0, 0, 1)
    return out.message()


def scan(count):
    """sensor_msgs/msg/LaserScan."""
    out = Cdr().put("i", 1).put("I", 2).text("laser").put("f", 0.1, 0.2, 0.3, 0, 0, 0, 30).put("I", count)
    out.data += struct.pack("<f", 0.5) * (count - 1)
    out.put("f", float("inf")).put("I", 0)
    return out.message()


def bag_make(folder):
    """Ten messages of /text and /tf in turn, 0.1 s apart, then one of /scan and one of /odd."""
    os.makedirs(folder)
    messages = []
    for i in range(10):
        data = transforms(i) if i % 2 else string(f'text {i}, "quoted"\n')
        messages.append((i % 2, BASE_NS + i * 100_000_000, data))
    messages.append((2, BASE_NS + 1_000_000_000, scan(200)))
    messages.append((3, BASE_NS + 1_100_000_000, string("?")))
    return sqlite_bag_make(
        os.path.join(folder, "bag_0.db3"),
        [
            ("/text", "std_msgs/msg/String"),
            ("/tf", "tf2_msgs/msg/TFMessage"),
            ("/scan", "sensor_msgs/msg/LaserScan"),
            ("/odd", "odd_msgs/msg/Odd"),
        ],
        messages,
    )


class CatTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.bag = bag_make(os.path.join(cls.folder, "bag"))
        cls.known = ["--topics", "/text", "/tf", "/scan", "--"]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def cat(self, *words, status=0, errors=""):
        done = subprocess.run(
            [TIMEBASE, "bag", "cat", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        if errors:
            self.assertIn(errors, done.stderr)
        else:
            self.assertEqual(done.stderr, "")
        return done.stdout

    def lines(self, *words, **options):
        return [json.loads(line) for line in self.cat("--json", *words, **options).splitlines()]

    def test_json(self):
        lines = self.lines(*self.known, self.bag)
        self.assertEqual(len(lines), 11)
        self.assertEqual(
            lines[0],
            {
                "topic": "/text",
                "type": "std_msgs/msg/String",
                "log_time_ns": BASE_NS,
                "publish_time_ns": None,
                "message": {"data": 'text 0, "quoted"\n'},
            },
        )
        transform = lines[3]["message"]["transforms"][1]
        self.assertEqual(transform["header"], {"stamp": {"sec": 1700000003, "nanosec": 7}, "frame_id": "base"})
        self.assertEqual(transform["transform"]["translation"], {"x": 0.1, "y": 3.0, "z": -1e-9})
        self.assertEqual(len(lines[10]["message"]["ranges"]), 200)
        self.assertEqual(lines[10]["message"]["ranges"][-2:], [0.5, ".inf"])

    def test_formats(self):
        """The same messages, whatever the format, also of ROS 1."""
        def contents(path):
            """As text, with the names that times and headers have in ROS 2."""
            text = json.dumps([(line["topic"], line["log_time_ns"], line["message"])
                               for line in self.lines(*self.known, path)])
            for name, other in (("secs", "sec"), ("nsecs", "nanosec")):
                text = text.replace(f'"{name}": ', f'"{other}": ')
            return re.sub('"seq": [0-9]+, ', "", text)

        expected = contents(self.bag)
        whole = os.path.join(self.folder, "whole")
        for storage, name in (("mcap", "copy"), ("rosbag1", "copy.bag")):
            copy = os.path.join(self.folder, name)
            subprocess.run([TIMEBASE, "bag", "cut", self.bag, "--topics", *self.known[1:4], "-o", whole + storage],
                           check=True, capture_output=True, timeout=LIMIT_S)
            subprocess.run([TIMEBASE, "bag", "convert", whole + storage, "-s", storage, "-o", copy], check=True,
                           capture_output=True, timeout=LIMIT_S)
            self.assertEqual(contents(copy), expected, storage)

    def test_yaml(self):
        out = self.cat(*self.known, self.bag)
        messages = out.split("---\n")
        self.assertEqual(len(messages), 12)
        self.assertEqual(messages[0],
                         '# /text std_msgs/msg/String 1700000000.000000000\ndata: "text 0, \\"quoted\\"\\n"\n')
        self.assertIn("transforms:\n- header:\n    stamp:\n      sec: 1700000001\n      nanosec: 7\n", messages[1])
        self.assertIn('0.5, "..."]\n', messages[10])
        self.assertEqual(messages[10].count("0.5"), 128)
        self.assertEqual(self.cat("--full", *self.known, self.bag).split("---\n")[10].count("0.5"), 199)

    def test_selection(self):
        def seen(*words):
            return [(line["topic"], (line["log_time_ns"] - BASE_NS) // 100_000_000)
                    for line in self.lines(self.bag, *words, "-x", "odd")]

        everything = seen()
        self.assertEqual(len(everything), 11)
        self.assertEqual(seen("-e", "t[ef]"), everything[:10])
        self.assertEqual(seen("--exclude-topics", "/tf"), [one for one in everything if one[0] != "/tf"])
        self.assertEqual(seen("--start", "0.5"), everything[5:])
        self.assertEqual(seen("--start-offset", "0.5s", "--duration", "200ms"), everything[5:7])
        self.assertEqual(seen("--topics", "/scan", "--start", "0"), everything[10:])
        self.assertEqual(seen("-n", "3"), everything[:3])
        self.cat(self.bag, "--topics", "/tex", status=2, errors="has no topic /tex")
        self.cat(self.bag, "--start", "5", "--topics", "/text", status=2, errors="lasts 1.100 s")
        self.cat(self.bag, "--json", "--csv", status=2, errors="--json and --csv exclude each other")

    def test_fields(self):
        path = "transforms[1].header.stamp"
        lines = self.lines("--topics", "/tf", "--field", path, "--field", "transforms[].child_frame_id",
                           "--field", "transforms[5].child_frame_id", "--", self.bag)
        self.assertEqual(
            lines[0]["fields"],
            {path: {"sec": 1700000001, "nanosec": 7}, "transforms[].child_frame_id": ["left", "right"],
             "transforms[5].child_frame_id": None},
        )
        out = self.cat("--topics", "/tf", "--field", "transforms[0].transform.translation.y", "--", self.bag)
        self.assertEqual([line for line in out.splitlines() if line[0] != "#"],
                         [line for i in (1, 3, 5, 7, 9) for line in (f"{i}.0", "---")])
        lines = self.lines("--field", "header.frame_id", *self.known, self.bag, status=1,
                           errors="/text is left out: ")
        self.assertEqual([line["fields"] for line in lines], [{"header.frame_id": "laser"}])

    def test_a_field_of_a_large_message(self):
        """Only the field is decoded: the memory does not grow with the rest of the message."""
        used = []
        for count in 10, 3_000_000:
            folder = tempfile.mkdtemp(dir=self.folder)
            bag = sqlite_bag_make(os.path.join(folder, "bag.db3"), [("/scan", "sensor_msgs/msg/LaserScan")],
                                  [(0, BASE_NS, scan(count))])
            code = ("import json, resource, subprocess, sys\n"
                    "out = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout\n"
                    "print(json.dumps([out, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]))")
            fields = [word for path in ("header.frame_id", "ranges[9]", "intensities") for word in ("--field", path)]
            done = subprocess.run([sys.executable, "-c", code, TIMEBASE, "bag", "cat", "--json", *fields, bag],
                                  check=True, capture_output=True, text=True, timeout=LIMIT_S)
            out, kilobytes = json.loads(done.stdout)
            self.assertEqual(json.loads(out)["fields"],
                             {"header.frame_id": "laser", "ranges[9]": ".inf" if count == 10 else 0.5, "intensities": []})
            used.append(kilobytes)
        self.assertLess(used[1] - used[0], 100_000)

    def test_csv(self):
        out = self.cat("--csv", "--topics", "/text", "--", self.bag)
        rows = list(csv.reader(out.splitlines(keepends=True)))
        self.assertEqual(rows[0], ["log_time_ns", "topic", "data"])
        self.assertEqual(rows[1][:2], [str(BASE_NS), "/text"])
        self.assertTrue(rows[1][2].startswith('text 0, "quoted"'))
        self.assertEqual(len(rows), 6)
        rows = list(csv.reader(self.cat("--csv", "--topics", "/scan", "--", self.bag).splitlines()))
        row = dict(zip(rows[0], rows[1]))
        self.assertEqual((row["header.stamp.sec"], row["header.frame_id"], row["range_max"]), ("1", "laser", "30"))
        self.assertEqual(len(json.loads(row["ranges"])), 200)
        self.cat("--csv", *self.known, self.bag, status=2, errors="choose with --topics")
        rows = list(csv.reader(self.cat("--csv", "--field", "transforms[0].transform.translation.x", "--topics", "/tf",
                                        "--", self.bag).splitlines()))
        self.assertEqual(rows[1][1:], ["/tf", "0.1"])

    def test_csv_of_any_bytes(self):
        """Quotes after characters of several bytes; what is no UTF-8 is replaced."""
        bag = os.path.join(self.folder, "bytes")
        os.makedirs(bag)
        values = ('éé"x"'.encode(), 'é,"'.encode(), b'\xff"\xc3,\xed\xa0\x80')
        messages = [(0, BASE_NS + i, Cdr().put("I", len(data) + 1).message() + data + b"\0")
                    for i, data in enumerate(values)]
        sqlite_bag_make(os.path.join(bag, "bytes_0.db3"), [("/text", "std_msgs/msg/String")], messages)
        rows = list(csv.reader(self.cat("--csv", bag).splitlines()))
        self.assertEqual([row[2] for row in rows[1:]], [data.decode(errors="replace") for data in values])

    def test_unknown_and_damaged(self):
        """What cannot be decoded is named, and the rest is printed."""
        lines = self.lines(self.bag, status=1, errors="/odd is left out: the definition of odd_msgs/msg/Odd is unknown")
        self.assertEqual(len(lines), 11)
        folder = os.path.join(self.folder, "definitions", "odd_msgs", "msg")
        os.makedirs(folder)
        with open(os.path.join(folder, "Odd.msg"), "w", encoding="utf-8") as out:
            out.write("string mark\n")
        lines = self.lines(self.bag, "--definitions", os.path.join(self.folder, "definitions"))
        self.assertEqual(lines[11]["message"], {"mark": "?"})
        bad = os.path.join(self.folder, "bad.db3")
        sqlite_bag_make(bad, [("/text", "std_msgs/msg/String")],
                        [(0, BASE_NS, string("good")), (0, BASE_NS + 1, string("cut")[:-3]),
                         (0, -1, string("bad")), (0, BASE_NS + 3, string("last"))])
        lines = self.lines(bad, status=3, errors="1 message is not of the definition of std_msgs/msg/String")
        self.assertEqual([line["message"]["data"] for line in lines], ["good", "last"])
        self.cat(bad, status=3, errors="1 part could not be read")

    def test_empty_payloads(self):
        """`check` calls them whole: they are counted, and no definition is judged by them."""
        short = os.path.join(self.folder, "short.db3")
        sqlite_bag_make(short, [("/text", "std_msgs/msg/String"), ("/none", "std_msgs/msg/String")],
                        [(0, BASE_NS, b""), (0, BASE_NS + 1, string("a")), (0, BASE_NS + 2, b"\0\1"),
                         (0, BASE_NS + 3, string("b")), (1, BASE_NS + 4, b"\0\1\0")])
        ros1 = os.path.join(self.folder, "empty_ros1.mcap")
        foreign_mcap.write(ros1, [
            ("/text", "std_msgs/String", "ros1", "ros1msg", "string data\n", {},
             [(BASE_NS, b""), (BASE_NS + 1, b"\1\0\0\0a"), (BASE_NS + 2, b""), (BASE_NS + 3, b"\1\0\0\0b")]),
            ("/cdr", "std_msgs/msg/Bool", "cdr", "", "", {}, [(BASE_NS, b"")])])
        wanted = {short: {"/text": 2, "/none": 1}, ros1: {"/text": 2, "/cdr": 1}}
        for path, topics in wanted.items():
            done = subprocess.run([TIMEBASE, "bag", "check", path], capture_output=True, text=True, timeout=LIMIT_S)
            self.assertEqual(done.returncode, 0, done.stdout)
            for topic, count in topics.items():
                lines = self.lines(path, errors=f"{topic}: {count} message{'s are' if count > 1 else ' is'} empty")
            self.assertEqual([line["message"]["data"] for line in lines], ["a", "b"])

    def test_wide_strings_above_the_basic_plane(self):
        """In both forms on the wire; pairs are one character, halves of them none."""
        path = os.path.join(self.folder, "wide.mcap")
        units = struct.unpack("<6H", "a\U0001f600\U0010ffff\u00e9".encode("utf-16-le"))
        four = Cdr().put("I", len(units)).put("I", *units).message()
        two = Cdr().put("I", 2 * len(units)).put("H", *units).message()
        numbers = Cdr().put("I", 2).put("I", 0x1F600, 0x110000).message()
        halves = Cdr().put("I", 4).put("I", 0xD83D, 0x61, 0xDE00, 0xD83D).message()
        foreign_mcap.write(path, [("/wide", "p/msg/Wide", "cdr", "ros2msg", "wstring data", {}, [
            (BASE_NS + i, body) for i, body in enumerate((four, two, numbers, halves))])], "ros2")
        self.assertEqual([line["message"]["data"] for line in self.lines(path)],
                         ["a\U0001f600\U0010ffff\u00e9"] * 2 + ["\U0001f600\ufffd", "\ufffda\ufffd\ufffd"])

    def test_names_of_dds_and_other_serializations(self):
        """A recorder of DDS writes DDS's names; of several serializations each topic has its own."""
        path = os.path.join(self.folder, "dds.mcap")
        channels = [("rt/chatter", "std_msgs::msg::dds_::String_", "cdr", "", "", {}, [(BASE_NS, string("a"))]),
                    ("rt/empty", "std_msgs::msg::dds_::Empty_", "cdr", "", "", {}, [(BASE_NS, HEADER + b"\0")]),
                    ("/ros1", "std_msgs/String", "ros1", "ros1msg", "string data", {}, [(BASE_NS, b"\1\0\0\0b")]),
                    ("/json", "foo", "json", "jsonschema", "{}", {}, [(BASE_NS, b"{}")])]
        foreign_mcap.write(path, channels, "")
        lines = self.lines(path, status=1, errors="/json is left out: it is serialized as json")
        self.assertEqual([(line["topic"], line["type"], line["message"]) for line in lines],
                         [("/chatter", "std_msgs/msg/String", {"data": "a"}), ("/empty", "std_msgs/msg/Empty", {}),
                          ("/ros1", "std_msgs/String", {"data": "b"})])

    def test_closed_pipe(self):
        """`| head` ends it quietly, whatever there is left to print."""
        big = os.path.join(self.folder, "big.db3")
        sqlite_bag_make(big, [("/text", "std_msgs/msg/String")],
                        [(0, BASE_NS + i, string("x" * 1000)) for i in range(2000)])
        child = subprocess.Popen([TIMEBASE, "bag", "cat", big], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.readline()
        child.stdout.close()
        errors = child.stderr.read()
        self.assertEqual((child.wait(LIMIT_S), errors), (0, b""))
        child.stderr.close()

    def make_ros1(self, definition, data):
        """An MCAP file of one message of x/T0."""

        def text(value):
            return struct.pack("<I", len(value)) + value

        def record(opcode, content):
            return bytes([opcode]) + struct.pack("<Q", len(content)) + content

        magic = b"\x89MCAP0\r\n"
        path = os.path.join(self.folder, "fan.mcap")
        with open(path, "wb") as file:
            file.write(
                magic
                + record(1, text(b"ros1") + text(b""))
                + record(3, struct.pack("<H", 1) + text(b"x/T0") + text(b"ros1msg") + text(definition))
                + record(4, struct.pack("<HH", 1, 1) + text(b"/t") + text(b"ros1") + text(b""))
                + record(5, struct.pack("<HIQQ", 1, 0, BASE_NS, BASE_NS) + data)
                + record(15, struct.pack("<I", 0))
                + record(2, struct.pack("<QQI", 0, 0, 0))
                + magic
            )
        return path

    def test_types_within_types_of_nothing(self):
        """20 of 20 of 20 ... of what no byte stands for, of which none is entered."""

        def fields(level):
            return b"".join(b"L%d f%d\n" % (level + 1, i) for i in range(20 if level < 25 else 0))

        definition = fields(0) + b"".join(RULE + b"MSG: x/L%d\n" % i + fields(i) for i in range(1, 26))
        path = self.make_ros1(definition, b"")
        done = subprocess.run([TIMEBASE, "bag", "cat", path, "--json"], capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["message"], {f"f{i}": {} for i in range(20)})
        done = subprocess.run([TIMEBASE, "check", path], capture_output=True, text=True, timeout=LIMIT_S)
        self.assertIn(done.returncode, (0, 1), done.stderr)

    def test_far_more_fields_than_bytes(self):
        """4000 fields of no bytes with each byte of 1 MB would be 4 billion."""
        nothing = b"".join(b"N n%d\n" % i for i in range(4000)) + RULE + b"MSG: x/N\n"
        definition = b"E[] e\n" + RULE + b"MSG: x/E\nuint8 data\n" + nothing
        path = self.make_ros1(definition, struct.pack("<I", 1 << 20) + bytes(1 << 20))
        done = subprocess.run([TIMEBASE, "bag", "cat", path, "--json"], capture_output=True, text=True,
                              timeout=LIMIT_S)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("1 message is not of the definition", done.stderr)


if __name__ == "__main__":
    TIMEBASE = sys.argv[1]
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
