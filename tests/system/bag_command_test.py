#!/usr/bin/env python3
"""`timebase bag info|check|convert|cut|recover`, on bags made here and on real ones.

usage: bag_command_test.py TIMEBASE REAL_BAGS [TEST...]

REAL_BAGS holds bags that rosbag2 wrote, by format; what is not there is left out."""

import glob
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import in_parts
from sqlite_bag import sqlite_bag_make

LIMIT_S = 180
TIMEBASE = REAL_BAGS = None
HEADER = b"\x00\x01\x00\x00"
ZSTD_HEADER = b"\x28\xb5\x2f\xfd\x00\x58"  # a window of 2 MiB
ZSTD_ZEROS = (1 << 17 << 3 | 1 << 1).to_bytes(3, "little") + b"\0"  # a block of 128 KiB


def zstd_pack(data):
    """As one frame, of blocks that are not compressed."""
    pieces = [data[at : at + (1 << 17)] for at in range(0, len(data), 1 << 17)]
    packed = ZSTD_HEADER
    for number, piece in enumerate(pieces):
        is_last = number + 1 == len(pieces)
        packed += (len(piece) << 3 | is_last).to_bytes(3, "little") + piece
    return packed


def payload(index):
    return HEADER + bytes((index * 7 + i // 5) % 256 for i in range(index * 13 % 400))


def bag_make(folder, count=100, first=0, files=1, metadata=True):
    """A bag of /a and /b at 1000, 1001, ... ns."""
    os.makedirs(folder)
    names = []
    for number in range(files):
        name = f"bag_{number}.db3"
        names.append(name)
        here = range(first + number * count // files, first + (number + 1) * count // files)
        sqlite_bag_make(
            os.path.join(folder, name),
            [("/a", "std_msgs/msg/String"), ("/b", "std_msgs/msg/Header")],
            [(index % 2, 1000 + index, payload(index)) for index in here],
        )
    if metadata:
        with open(os.path.join(folder, "metadata.yaml"), "w", encoding="utf-8") as out:
            out.write(
                "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: sqlite3\n"
                f"  duration:\n    nanoseconds: {count - 1}\n  starting_time:\n"
                f"    nanoseconds_since_epoch: {1000 + first}\n  message_count: {count}\n"
                "  topics_with_message_count:\n"
                + "".join(
                    f"    - topic_metadata:\n        name: {name}\n        type: x\n"
                    "        serialization_format: cdr\n        offered_qos_profiles: ''\n"
                    f"      message_count: {count // 2}\n"
                    for name in ("/a", "/b")
                )
                + "  compression_format: ''\n  compression_mode: ''\n  relative_file_paths:\n"
                + "".join(f"    - {name}\n" for name in names)
            )
    return folder


class BagTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="timebase-bag-command-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run_bag(self, *arguments, status=0):
        result = subprocess.run(
            [TIMEBASE, "bag", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        self.assertEqual(
            result.returncode, status, f"{arguments}: {result.stdout}\n{result.stderr}"
        )
        return result

    def info(self, bag, *options):
        return json.loads(self.run_bag("info", bag, "--json", *options).stdout)

    def assert_same_messages(self, one, other):
        """Counts, times and bytes of each topic."""

        def content(bag):
            info = self.info(bag, "--digest")
            self.assertNotIn("damaged", info)
            topics = {topic["name"]: topic for topic in info["topics"]}
            return info["message_count"], info["start_ns"], info["end_ns"], topics

        self.assertEqual(content(one), content(other))


class InfoTest(BagTest):
    def test_fields(self):
        bag = bag_make(self.path("bag"), files=2)
        info = self.info(bag, "--scan")
        size = sum(os.path.getsize(self.path("bag", name)) for name in info["files"])
        qos = {"reliability": "reliable", "durability": "volatile", "history": "keep_last", "depth": 10}
        self.assertEqual(
            info,
            {
                "counts": "messages",
                "size": size,
                "storage": "sqlite3",
                "files": ["bag_0.db3", "bag_1.db3"],
                "message_count": 100,
                "start_ns": 1000,
                "end_ns": 1099,
                "compression": "none",
                "compression_ratio": None,
                "library": None,
                "services": [],
                "topics": [
                    {
                        "name": "/a",
                        "type": "std_msgs/msg/String",
                        "serialization_format": "cdr",
                        "count": 50,
                        "first_ns": 1000,
                        "last_ns": 1098,
                        "rate_hz": 5e8,
                        "longest_gap_ns": 2,
                        "qos": qos,
                        "qos_recorded": False,
                    },
                    {
                        "name": "/b",
                        "type": "std_msgs/msg/Header",
                        "serialization_format": "cdr",
                        "count": 50,
                        "first_ns": 1001,
                        "last_ns": 1099,
                        "rate_hz": 5e8,
                        "longest_gap_ns": 2,
                        "qos": qos,
                        "qos_recorded": False,
                    },
                ],
            },
        )
        for options in ([], ["--scan"]):
            text = self.run_bag("info", bag, *options).stdout
            self.assertIn("/a  std_msgs/msg/String  50 messages", text)
            self.assertNotIn("damaged", text)
            self.assertEqual("counts from metadata.yaml" in text, not options, text)
        for topic in info["topics"]:
            for name in "first_ns", "last_ns", "rate_hz", "longest_gap_ns":
                del topic[name]
        self.assertEqual(self.info(bag), {**info, "counts": "metadata"})

    def assert_counts(self, bag, counts, text, odd=""):
        """What they rest on; and they are those of the messages."""
        noted, counted = self.info(bag), self.info(bag, "--scan")
        self.assertEqual(noted["counts"], counts)
        self.assertIn(text, self.run_bag("info", bag).stdout)
        self.assertIn(odd, "".join(noted.get("odd", "")))
        self.assertEqual(bool(odd), "odd" in noted)
        for info in noted, counted:
            info.pop("odd", None)
            info.pop("counts")
            for topic in info["topics"]:
                topic.pop("first_ns", None)
                topic.pop("last_ns", None)
                topic.pop("rate_hz", None)
                topic.pop("longest_gap_ns", None)
        self.assertEqual(noted, counted)

    def test_rates_gaps_sizes_and_order(self):
        bag = bag_make(self.path("bag"))
        database = sqlite3.connect(self.path("bag", "bag_0.db3"))
        database.execute("UPDATE messages SET timestamp = id * 50000000")
        database.execute("UPDATE messages SET timestamp = timestamp + 1000000000 WHERE id > 60")
        database.execute("DELETE FROM messages WHERE topic_id = 2 AND id > 40")
        database.commit()
        database.close()
        os.remove(self.path("bag", "metadata.yaml"))
        info = self.info(bag, "--scan", "--sort", "count")
        self.assertEqual([topic["name"] for topic in info["topics"]], ["/b", "/a"])
        self.assertEqual(info["topics"][1]["longest_gap_ns"], 1_100_000_000)
        self.assertAlmostEqual(info["topics"][1]["rate_hz"], 49 / (4.9 + 1), places=6)
        self.assertIn("Hz, longest gap 1.100 s\n", self.run_bag("info", bag, "--scan").stdout)
        sizes = {topic["name"]: topic["size"] for topic in self.info(bag, "--digest")["topics"]}
        self.assertEqual(sizes["/a"], sum(len(payload(index)) for index in range(0, 100, 2)))
        for order, names in (("name", ["/a", "/b"]), ("type", ["/b", "/a"]), ("recorded", ["/a", "/b"])):
            self.assertEqual([t["name"] for t in self.info(bag, "--sort", order)["topics"]], names)
        self.assertIn("--sort", self.run_bag("info", bag, "--sort", "x", status=2).stderr)

    def test_counts_without_reading_messages(self):
        unread, contradicted = "no message: counts from ", "as there are no counts that fit"
        bag = bag_make(self.path("bag"), files=2)
        self.assert_counts(bag, "metadata", unread + "metadata.yaml")
        self.assert_counts(self.path("bag", "bag_0.db3"), "rows", unread + "the rows")
        self.run_bag("convert", bag, "-o", self.path("mcap"), "--max-bag-size", "2kB")
        self.assert_counts(self.path("mcap"), "summary", unread + "the summary")
        self.assert_counts(self.path("mcap", "mcap_0.mcap"), "summary", unread + "the summary")
        for folder in "bag", "mcap":
            name = self.path(folder, "metadata.yaml")
            with open(name, encoding="utf-8") as file:
                text = file.read()
            for old, new, odd in (
                ("message_count: 50", "message_count: 51", "metadata.yaml lists 51 messages of /a"),
                ("message_count: 100", "message_count: 99", "metadata.yaml lists 99 messages, but"),
            ):
                with self.subTest(folder=folder, odd=odd):
                    self.assertIn(old, text)
                    with open(name, "w", encoding="utf-8") as file:
                        file.write(text.replace(old, new, 1))
                    self.assert_counts(self.path(folder), "messages", contradicted, odd)
            os.remove(name)
        self.assert_counts(self.path("bag"), "rows", unread + "the rows")
        self.assert_counts(self.path("mcap"), "summary", unread + "the summary")

    def test_rows_that_were_deleted(self):
        bag = bag_make(self.path("bag"))
        database = sqlite3.connect(self.path("bag", "bag_0.db3"))
        database.execute("DELETE FROM messages WHERE id = 1")
        database.commit()
        self.assert_counts(bag, "messages", "topic and time of every message", "50 messages of /a")
        database.execute("DELETE FROM messages WHERE id = 100")
        database.execute("INSERT INTO messages VALUES(102,2,1099,x'0001000000')")
        database.commit()
        database.close()
        name = self.path("bag", "metadata.yaml")
        with open(name, encoding="utf-8") as file:
            text = file.read().replace("message_count: 100", "message_count: 99")
        with open(name, "w", encoding="utf-8") as file:
            file.write(text.replace("message_count: 50", "message_count: 49", 1))
        self.assert_counts(bag, "rows", "counts from the rows")

    def test_a_summary_that_contradicts_the_data(self):
        self.run_bag("convert", bag_make(self.path("bag")), "-o", self.path("mcap"))
        name = self.path("mcap", "mcap_0.mcap")
        with open(name, "rb") as file:
            data = bytearray(file.read())
        # The summary's CRC is not checked if it is 0; 3 is its opcode of a channel, 0x0b statistics.
        data[-12:-8] = bytes(4)
        summary = int.from_bytes(data[-28:-20], "little")
        place = summary
        while data[place] != 0x0B:
            place += 9 + int.from_bytes(data[place + 1 : place + 9], "little")
        data[place + 9] += 1
        with open(name, "wb") as file:
            file.write(data)
        self.assert_counts(name, "messages", "no counts that fit", "the summary contradicts itself")

    def test_topics_stand_in_columns(self):
        bag = bag_make(self.path("bag"), count=10)
        self.assertNotIn("metadata:", self.run_bag("info", bag).stdout)
        database = sqlite3.connect(self.path("bag", "bag_0.db3"))
        for number, (name, kind, form) in enumerate(
            (("/long/name", "an/msg/Odd", "xcdr2"), (f"/{'x' * 80}", "an/msg/Other", "cdr"))
        ):
            database.execute("INSERT INTO topics VALUES(?,?,?,?,'')", (3 + number, name, kind, form))
        database.execute("INSERT INTO messages VALUES(NULL,3,1200,x'0001000000')")
        database.commit()
        database.close()
        os.remove(self.path("bag", "metadata.yaml"))
        text = self.run_bag("info", bag).stdout
        self.assertIn(
            "topics:\n"
            "  /a          std_msgs/msg/String  5 messages\n"
            "  /b          std_msgs/msg/Header  5 messages\n"
            "  /long/name  an/msg/Odd (xcdr2)   1 message\n"
            f"  /{'x' * 80}  an/msg/Other         0 messages\n"
            "metadata:     missing: not closed, or lost; topics, times and counts are those of the files\n",
            text,
        )
        alone = self.run_bag("info", self.path("bag", "bag_0.db3")).stdout
        self.assertNotIn("metadata:", alone)

    def test_digests(self):
        info = self.info(bag_make(self.path("bag"), files=2), "--digest")
        for start, topic in enumerate(info["topics"]):
            digest = hashlib.sha256()
            for index in range(start, 100, 2):
                digest.update(payload(index))
            self.assertEqual(topic["sha256"], digest.hexdigest())

    def test_the_library_and_the_ratio(self):
        bag = bag_make(self.path("bag"), files=2)
        self.assertNotIn("library:", self.run_bag("info", bag, "-v").stdout)
        self.run_bag("convert", bag, "-o", self.path("mcap"))
        name = self.path("mcap", "mcap_0.mcap")
        with open(name, "rb") as file:
            data = file.read()
        size = int.from_bytes(data[25:29], "little")
        library = data[29 : 29 + size].decode()
        self.assertRegex(library, r"^timebase \d")
        for path in self.path("mcap"), name:
            self.assertEqual(self.info(path)["library"], library)
            self.assertIn(f"library:      {library}\n", self.run_bag("info", path).stdout)
        # Of a damaged file it is not the library that made the copy which is read.
        with open(name, "wb") as file:
            file.write(data[:29] + b"another"[:size].ljust(size, b"!") + data[29 + size : len(data) // 2])
        info = self.info(name)
        self.assertEqual(info["library"], "another".ljust(size, "!"))
        payloads = sum(len(payload(index)) for index in range(100))
        for option in "-v", "--digest":
            info = self.info(bag, option)
            self.assertAlmostEqual(info["compression_ratio"], info["size"] / payloads)
        self.assertIn(f"have {info['compression_ratio']:.3g} times", self.run_bag("info", bag, "-v").stdout)
        self.assertIsNone(self.info(bag_make(self.path("empty"), count=0), "-v")["compression_ratio"])

    def test_requests_and_responses_of_services(self):
        def event(kind, client, sequence):
            head = struct.pack("<BxxxiI16sxxxxq", kind, 1, 2, client, sequence)
            return HEADER + head + struct.pack("<II", 0, 0)

        kind = "example_interfaces/srv/AddTwoInts_Event"
        events = [event(kind, b"a", 1) for kind in range(4)]  # both sides recorded it
        events += [event(1, b"a", 2), event(1, b"b", 1), event(2, b"b", 1), event(1, b"b", 2), payload(0)]
        messages = [(0, 1000 + i, data) for i, data in enumerate(events)]
        bag = sqlite_bag_make(
            self.path("bag.db3"),
            [("/add/_service_event", kind), ("/topic", "std_msgs/msg/String")],
            [*messages, (1, 2000, events[0])],
        )
        service = {"name": "/add", "type": "example_interfaces/srv/AddTwoInts", "count": 9}
        line = "  /add  example_interfaces/srv/AddTwoInts  9 events"
        for options in ([], ["--scan"]):
            expected = {**service, "request_count": None, "response_count": None}
            self.assertEqual(self.info(bag, *options)["services"], [expected])
            self.assertIn(f"{line}\n", self.run_bag("info", bag, *options).stdout)
        for options in (["-v"], ["--digest"]):
            expected = {**service, "request_count": 4, "response_count": 2}
            self.assertEqual(self.info(bag, *options)["services"], [expected])
        self.assertIn(f"{line}; 4 requests, 2 responses\n", self.run_bag("info", bag, "-v").stdout)

    def test_qos_that_was_not_recorded(self):
        bag = bag_make(self.path("bag"))
        self.assertIn("    QoS not recorded; ", self.run_bag("info", bag, "-v").stdout)
        database = sqlite3.connect(self.path("bag", "bag_0.db3"))
        database.execute(
            "UPDATE topics SET offered_qos_profiles = '- history: 3\n  depth: 0\n  reliability: 2\n"
            "  durability: 2\n  deadline: {sec: 0, nsec: 0}\n  lifespan: {sec: 0, nsec: 0}\n"
            "  liveliness: 1\n  liveliness_lease_duration: {sec: 0, nsec: 0}\n"
            "  avoid_ros_namespace_conventions: false' WHERE id = 1"
        )
        database.commit()
        database.close()
        os.remove(self.path("bag", "metadata.yaml"))
        text = self.run_bag("info", bag, "-v").stdout
        self.assertIn("    best_effort, volatile, keep_last 10; ", text)
        self.assertIn("    QoS not recorded; ", text)
        self.assertEqual([t["qos_recorded"] for t in self.info(bag)["topics"]], [True, False])

    def test_files_that_may_not_belong_together(self):
        bag = bag_make(self.path("bag"), files=2, metadata=False)
        for command in ["info"], ["check"]:
            self.assertEqual(self.run_bag(*command, bag, status=command[0] == "check").stderr, "")
        os.rename(self.path("bag", "bag_1.db3"), self.path("bag", "other_1.db3"))
        notice = (
            f"{bag}: its 2 files are read as one recording, though their names differ: bag_0.db3, other_1.db3; "
            "name one to read it alone\n"
        )
        for command in ["info"], ["info", "-v", "--json"], ["check"]:
            result = self.run_bag(*command, bag, status=command[0] == "check")
            self.assertEqual(result.stderr, f"timebase: warning: {notice}")
        self.assertEqual(self.run_bag("info", self.path("bag", "bag_0.db3")).stderr, "")
        result = self.run_bag("convert", bag, "-o", self.path("out"))
        self.assertIn(f"timebase bag convert: warning: {notice}", result.stderr)

    def test_a_bag_without_messages(self):
        info = self.info(bag_make(self.path("bag"), count=0), "--scan")
        self.assertEqual(self.info(self.path("bag"))["counts"], "metadata")
        self.assertEqual((info["message_count"], info["start_ns"], info["end_ns"]), (0, None, None))
        self.assertEqual(info["topics"][0]["first_ns"], None)

    def test_a_damaged_bag_is_reported_with_what_is_left(self):
        bag = bag_make(self.path("bag"), count=1000, files=2)
        with open(self.path("bag", "bag_0.db3"), "r+b") as file:
            file.truncate(os.path.getsize(file.name) // 2)
        info = self.info(bag)
        self.assertIn("bag_0.db3", info["damaged"])
        self.assertTrue(500 < info["message_count"] < 1000, info)
        self.assertIn("damaged:", self.run_bag("info", bag).stdout)

    def test_what_is_no_bag(self):
        self.assertIn("No such file", self.run_bag("info", self.path("none"), status=3).stderr)
        os.mkdir(self.path("empty"))
        self.assertIn("not a bag", self.run_bag("info", self.path("empty"), status=3).stderr)
        result = self.run_bag("cut", self.path("empty"), "-o", self.path("out"), status=3)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)  # there is no hint
        os.mkdir(self.path("folder"))
        for name in ("notes.txt", "x.db3", "x.mcap", "folder/x.mcap"):
            for content in (b"", b"no recording at all\n" * 100):
                path = self.path(name)
                with open(path, "wb") as file:
                    file.write(content)
                for named in {path, os.path.dirname(path) if "/" in name else path}:
                    hint = f"{named}: nothing could be read; is it a recording?\n"
                    for command in (["info", named], ["recover", named, "-o", self.path("out")]):
                        with self.subTest(command, content=content):
                            result = self.run_bag(*command, status=3)
                            self.assertEqual((result.stdout, result.stderr.count("\n")), ("", 2))
                            self.assertTrue(result.stderr.endswith(hint), result.stderr)
                            self.assertFalse(os.path.exists(self.path("out")))
                    self.run_bag("check", named, status=1)

    def test_a_bag_of_which_no_file_can_be_read(self):
        bag = bag_make(self.path("bag"), files=2)
        for number in range(2):
            with open(self.path("bag", f"bag_{number}.db3"), "wb") as file:
                file.write(b"gone")
        self.assertIn("bag_0.db3", self.run_bag("info", bag, status=3).stderr)
        result = self.run_bag("recover", bag, "-o", self.path("out"), status=3)
        self.assertIn(f"{bag}: none of its 2 files can be read\n", result.stderr)

    def test_unpacking_that_is_cut_off_leaves_nothing(self):
        """The kernel ends the process at the first megabyte of a file."""
        folder = self.path("temporary")
        os.mkdir(folder)
        try:
            os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
        except OSError:
            self.skipTest("files without a name are not known here")
        packed = self.path("zeros.db3.zstd")
        with open(packed, "wb") as out:
            out.write(ZSTD_HEADER + 100 * ZSTD_ZEROS)
        child = subprocess.run(
            [TIMEBASE, "bag", "info", packed],
            env={**os.environ, "TMPDIR": folder},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
            timeout=LIMIT_S,
            check=False,
        )
        self.assertEqual(child.returncode, -signal.SIGXFSZ)
        self.assertEqual(os.listdir(folder), [])


class CheckTest(BagTest):
    def test_a_whole_bag(self):
        bag = bag_make(self.path("bag"), files=2)
        self.assertIn("whole, 100 messages", self.run_bag("check", bag).stdout)

    def test_findings(self):
        def change(sql):
            def apply(bag):
                database = sqlite3.connect(os.path.join(bag, "bag_0.db3"))
                database.executescript(sql)
                database.commit()
                database.close()

            return apply

        def edit(old, new):
            def apply(bag):
                path = os.path.join(bag, "metadata.yaml")
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                self.assertIn(old, text)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text.replace(old, new, 1))

            return apply

        def remove(name):
            return lambda bag: os.remove(os.path.join(bag, name))

        def copy(source, to):
            return lambda bag: shutil.copy(os.path.join(bag, source), os.path.join(bag, to))

        cases = [
            (change("UPDATE messages SET timestamp = 'x' WHERE id = 3"), "not an integer"),
            (change("UPDATE messages SET topic_id = 9 WHERE id = 3"), "row 3: its topic id"),
            (change("DELETE FROM messages WHERE id = 3"), "100 messages, but the files have 99"),
            (change("DELETE FROM messages WHERE id = 1"), "starts at 1000 ns, but the files start at 1001"),
            (change("DELETE FROM messages WHERE id = 3"), "50 messages of /a, but the files have 49"),
            (change("PRAGMA writable_schema=1; DELETE FROM sqlite_master WHERE type = 'index'"), None),
            (edit("nanoseconds: 99", "nanoseconds: 98"), "lasts 98 ns, but the files last 99"),
            (edit("name: /a", "name: /c"), "lists the topic /c, but no file has it"),
            (edit("version: 5", "version: ["), "metadata.yaml"),
            (remove("metadata.yaml"), "no metadata.yaml"),
            (remove("bag_1.db3"), "bag_1.db3, named by metadata.yaml"),
            (copy("bag_0.db3", "bag_7.db3"), "bag_7.db3: not listed in metadata.yaml"),
        ]
        for number, (damage, expected) in enumerate(cases):
            with self.subTest(expected):
                bag = bag_make(self.path(str(number)), files=2)
                damage(bag)
                result = self.run_bag("check", bag, status=1)
                unclosed = expected == "no metadata.yaml"
                self.assertIn(": not closed; everything in it" if unclosed else "damaged: ", result.stdout)
                if expected:
                    self.assertIn(expected, result.stdout)

    def test_random_bytes_are_found_or_harmless(self):
        seed = int(os.environ.get("TB_TEST_SEED", random.randrange(1 << 32)))
        print(f"TB_TEST_SEED={seed}", file=sys.stderr)
        chance = random.Random(seed)
        bag = bag_make(self.path("bag"), count=200)
        file = self.path("bag", "bag_0.db3")
        with open(file, "rb") as whole:
            content = whole.read()
        for number in range(30):
            damaged = bytearray(content)
            for _ in range(chance.randrange(1, 9)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            with open(file, "wb") as out:
                out.write(damaged[: chance.choice([len(damaged), chance.randrange(len(damaged))])])
            for command in (["check", bag], ["info", bag, "--json", "--digest"]):
                result = subprocess.run(
                    [TIMEBASE, "bag", *command],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    timeout=LIMIT_S,
                    check=False,
                )
                self.assertIn(result.returncode, (0, 1, 3), f"{command}: {result.stderr}")
            out = self.path(f"recovered{number}")
            subprocess.run(
                [TIMEBASE, "bag", "recover", bag, "-o", out],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=LIMIT_S,
                check=False,
            )
            if os.path.exists(out):
                self.run_bag("check", out)


class ConvertTest(BagTest):
    def test_every_compression(self):
        bag = bag_make(self.path("bag"), files=2)
        for mode in ("none", "message", "file"):
            out = self.path(mode)
            self.run_bag("convert", bag, "-o", out, "-s", "sqlite3", "--compression-mode", mode)
            self.assert_same_messages(bag, out)
            self.run_bag("check", out)
            expected = {"none": "none", "message": "message:zstd", "file": "file:zstd"}[mode]
            self.assertEqual(self.info(out)["compression"], expected)
            again = self.path(mode + "_again")
            self.run_bag("convert", out, "-o", again, "-s", "sqlite3")
            self.assert_same_messages(bag, again)

    def test_formats_and_back(self):
        bag = bag_make(self.path("bag"), files=2)
        for chunks in ("none", "zstd", "lz4"):
            for mode in ("none", "message", "file"):
                with self.subTest(chunks=chunks, mode=mode):
                    out = self.path(f"{chunks}_{mode}")
                    self.run_bag(
                        *("convert", bag, "-o", out, "-s", "mcap", "--chunk-size", "2000"),
                        *("--chunk-compression", chunks, "--compression-mode", mode),
                    )
                    self.assertEqual(self.info(out)["storage"], "mcap")
                    self.assert_same_messages(bag, out)
                    self.run_bag("check", out)
                    self.run_bag("convert", out, "-o", out + "_back", "-s", "sqlite3")
                    self.assert_same_messages(bag, out + "_back")
        self.assertEqual(self.info(self.path("lz4_none"))["compression"], "chunk:lz4")

    def test_several_bags_become_one(self):
        one = bag_make(self.path("one"), count=50)
        two = bag_make(self.path("two"), count=50, first=50)
        whole = bag_make(self.path("whole"))
        self.run_bag("convert", two, one, "-o", self.path("out"), "-s", "sqlite3")
        self.assert_same_messages(whole, self.path("out"))

    def test_the_notes_of_several_are_kept(self):
        """Also where they contradict each other, which is reported once."""
        bags = []
        for number, notes in enumerate(
            ({"same": "x", "jump": "one"}, {"same": "x", "jump": "two", "more": "y"}, {"jump": "one"})
        ):
            bags.append(bag_make(self.path(str(number)), count=10, first=10 * number))
            with open(self.path(str(number), "metadata.yaml"), "a", encoding="utf-8") as out:
                out.write("  custom_data:\n    timebase_run_2: first_file=1\n")
                out.write("".join(f"    {key}: {value}\n" for key, value in notes.items()))
        out = self.path("out")
        result = self.run_bag("convert", *bags, "-o", out, "-s", "sqlite3")
        self.assertEqual(
            result.stderr,
            "timebase bag convert: 1 note (jump) differs from another recording's: "
            "kept as well, as 'jump (2)'\n",
        )
        notes = ["same: x", "jump: one", "jump (2): two", "more: y"]
        self.assertEqual(self.notes(out), notes)
        third = bag_make(self.path("third"), count=10, first=50)
        with open(self.path("third", "metadata.yaml"), "a", encoding="utf-8") as file:
            file.write("  custom_data:\n    jump: three\n")
        self.run_bag("convert", out, third, "-o", self.path("again"), "-s", "sqlite3")
        self.assertEqual(self.notes(self.path("again")), notes + ["jump (3): three"])

    def test_how_a_recording_was_made_is_kept_with_what_was_done(self):
        bags = [bag_make(self.path(name), count=10, first=first) for name, first in (("one", 0), ("two", 20))]
        for bag, host in zip(bags, ("robot", "desk")):
            with open(os.path.join(bag, "metadata.yaml"), "a", encoding="utf-8") as file:
                file.write(f"  custom_data:\n    timebase.recorder: a test\n    timebase.host: {host}\n")
        self.run_bag("cut", bags[0], "-o", self.path("cut"), "--end", "+5ns")
        result = self.run_bag("merge", self.path("cut"), bags[1], "-o", self.path("out"), "-s", "mcap")
        self.assertEqual(result.stderr, "")
        self.assertEqual(self.info(self.path("out"))["notes"]["timebase.host (2)"], "desk")
        made = self.run_bag("info", self.path("out")).stdout.split("provenance:")[1]
        for line in ("recorder: a test", "host: robot", "host (2): desk"):
            self.assertIn(f" {line}\n", made)
        self.assertRegex(made, r" rewritten: verb=cut messages=\d+ end_ns=\d+ by=timebase ")
        self.assertRegex(made, r" rewritten \(2\): verb=merge messages=\d+ by=timebase ")
        listed = self.run_bag("list", "metadata", self.path("out", "out_0.mcap")).stdout
        self.assertEqual(listed.count(": timebase\n  timebase.recorder: a test\n"), 1, listed)

    def notes(self, bag):
        text = self.run_bag("info", bag).stdout
        return [line.strip() for line in text[text.index("notes:") + 6 : text.index("topics:")].splitlines()]

    def test_splitting(self):
        bag = bag_make(self.path("bag"), count=1000)
        self.run_bag(
            *("convert", bag, "-o", self.path("out"), "-s", "sqlite3"),
            *("--max-bag-duration", "249ns"),
        )
        self.assertEqual(self.info(self.path("out"))["files"], [f"out_{i}.db3" for i in range(4)])
        self.assert_same_messages(bag, self.path("out"))
        self.run_bag(
            *("convert", bag, "-o", self.path("small"), "-s", "sqlite3"),
            *("--max-bag-size", "100000"),
        )
        self.assertGreater(len(self.info(self.path("small"))["files"]), 1)
        self.assert_same_messages(bag, self.path("small"))
        self.run_bag("check", self.path("small"))

    def test_the_format_follows_the_name_of_the_output(self):
        bag = bag_make(self.path("bag"), count=10)
        for name, converted, copied in (
            ("x", "mcap", "sqlite3"),
            ("x.mcap", "mcap", "mcap"),
            ("x.mcap/", "mcap", "mcap"),
            ("x.db3", "sqlite3", "sqlite3"),
        ):
            for command in ("convert", "cut", "recover"):
                with self.subTest(name, command=command):
                    folder = tempfile.mkdtemp(dir=self.folder)
                    out = os.path.join(folder, name)
                    self.run_bag(command, bag, "-o", out)
                    expected = converted if command == "convert" else copied
                    self.assertEqual(self.info(out)["storage"], expected)
        self.run_bag("convert", bag, "-o", self.path("y.mcap"), "-s", "sqlite3")
        self.assertEqual(self.info(self.path("y.mcap"))["storage"], "sqlite3")

    def test_nothing_is_overwritten(self):
        bag = bag_make(self.path("bag"))
        os.mkdir(self.path("there"))
        result = self.run_bag(
            *("convert", bag, "-o", self.path("there"), "-s", "sqlite3"), status=3
        )
        self.assertIn("exists", result.stderr)
        self.assertEqual(os.listdir(self.path("there")), [])

    def test_a_bad_row_is_reported_and_the_rest_copied(self):
        bag = bag_make(self.path("bag"))
        database = sqlite3.connect(self.path("bag", "bag_0.db3"))
        database.execute("UPDATE messages SET topic_id = 9 WHERE id = 3")
        database.commit()
        database.close()
        result = self.run_bag("convert", bag, "-o", self.path("o"), "-s", "sqlite3", status=3)
        self.assertIn("row 3", result.stderr)
        self.assertEqual(self.info(self.path("o"))["message_count"], 99)

    def test_a_bad_index_costs_no_message(self):
        """Of each file in turn: they are opened again when reading reaches them."""
        for number in range(3):
            bag = bag_make(self.path(str(number)), count=9000, files=3)
            file = f"{bag}/bag_{number}.db3"
            database = sqlite3.connect(file)
            sql = "SELECT rootpage FROM sqlite_master WHERE name = 'timestamp_idx'"
            page = database.execute(sql).fetchone()[0]
            database.close()
            with open(file, "r+b") as out:  # a leaf, which its last cell leads to
                out.seek((page - 1) * 4096 + 8)
                leaf = int.from_bytes(out.read(4), "big")
                out.seek((leaf - 1) * 4096)
                out.write(b"?" * 4096)
            whole = bag_make(self.path(f"whole{number}"), count=9000, files=3)
            copy = self.path(f"copy{number}")
            result = self.run_bag("convert", bag, "-o", copy, status=3)
            self.assertEqual(result.stderr.count("index of times cannot be read"), 1, result.stderr)
            self.assert_same_messages(whole, copy)
            self.assertIn("9000 messages could be read", self.run_bag("check", bag, status=1).stdout)

    def test_real_bags(self):
        for number, bag in enumerate(sorted(glob.glob(os.path.join(REAL_BAGS, "*", "*")))):
            self.run_bag("check", bag)
            for storage in ("sqlite3", "mcap"):
                out = self.path(f"real_{number}_{storage}")
                self.run_bag("convert", bag, "-o", out, "-s", storage)
                self.assert_same_messages(bag, out)
                self.run_bag("check", out)

    def test_usage(self):
        bag = bag_make(self.path("bag"))
        cases = [
            (["convert", bag, "-s", "sqlite3"], "--output"),
            *(
                ([command, bag, "-o", self.path("x"), "-s", "foo"], "--storage foo: unknown; use one of: sqlite3, mcap, rosbag1\n")
                for command in ("convert", "cut", "recover")
            ),
            (["convert", "-o", self.path("x")], "missing BAG"),
            (["convert", bag, "-o", self.path("x"), "--max-bag-size", "-5"], "--max-bag-size -5: not a size"),
            (["convert", bag, "-o", self.path("x"), "--max-bag-size", "5MX"], "--max-bag-size 5MX: not a size"),
            (["convert", bag, "-o", self.path("x"), "--max-bag-size", "99999999TB"], "99999999TB: too large"),
            (["convert", bag, "-o", self.path("x"), "--max-bag-siez", "5"], "did you mean --max-bag-size?"),
            (["convert", bag, "-o", self.path("x"), "--compression-mode", "all"], "all: unknown"),
            (["convert", bag, "-o", self.path("x"), "--compression-level", "99"], "1 to 19"),
            (["cut", bag, "-o", self.path("x"), "--end", "1", "--duration", "1"], "exclude"),
            (["cut", bag, "-o", self.path("x"), "--topics", "/none"], "has no topic /none; "),
            *(
                (["cut", bag, "-o", self.path("x"), option, bad], f"{option} {bad}: not a time; write seconds")
                for option in ("--start", "--end")
                for bad in ("soon", "+soon", "+", "-1")
            ),
            (["info", bag, "again"], "unexpected argument"),
            (["info", bag, "--bad"], "unknown option --bad"),
            (["fly"], "unknown command 'fly'\n"),
            (["paly"], "unknown command 'paly'; did you mean 'play'?\n"),
            (["recrod"], "unknown command 'recrod'; did you mean 'record'?\n"),
            (["list", "storag"], "list storag: unknown; did you mean storage? use one of: storage, "),
            ([], "missing command"),
        ]
        for arguments, expected in cases:
            with self.subTest(expected):
                self.assertIn(expected, self.run_bag(*arguments, status=2).stderr)
        self.assertFalse(os.path.exists(self.path("x")))
        self.assertIn("convert", self.run_bag("--help").stdout)
        for command in ("info", "check", "convert", "cut", "recover"):
            self.assertIn(f"usage: timebase bag {command}", self.run_bag(command, "--help").stdout)


class CutTest(BagTest):
    def test_times_and_topics(self):
        bag = bag_make(self.path("bag"), files=2)
        cases = [
            (["--start", "1040ns", "--end", "1060ns"], 20, 1040, 1059),
            (["--start", "+40ns", "--duration", "20ns"], 20, 1040, 1059),
            (["--duration", "10ns"], 10, 1000, 1009),
            (["--end", "+3ns"], 3, 1000, 1002),
            (["--start", "+90ns", "--topics", "b"], 5, 1091, 1099),
            (["--topics", "/a", "/b", "--start", "+98ns"], 2, 1098, 1099),
        ]
        for number, (options, count, start, end) in enumerate(cases):
            with self.subTest(options):
                out = self.path(f"cut{number}")
                self.run_bag("cut", bag, "-o", out, *options)
                info = self.info(out)
                self.assertEqual(
                    (info["message_count"], info["start_ns"], info["end_ns"]), (count, start, end)
                )
                self.run_bag("check", out)
        self.assertEqual([t["name"] for t in self.info(self.path("cut4"))["topics"]], ["/b"])

    def test_a_start_in_1970(self):
        """A small number may be meant to count from the start of the recording."""
        bag = self.path("now.db3")
        sqlite_bag_make(bag, [("/a", "t")], [(0, 1_700_000_000 * 10**9 + i, b"\0\1\0\0") for i in range(3)])
        for number, (start, warns) in enumerate((("5", True), ("5s", True), ("+0", False), ("0", False), ("1700000000", False))):
            result = self.run_bag("cut", bag, "-o", self.path(f"out{number}"), "--start", start)
            hint = f"--start {start} is a time of 1970, before the recording; write +{start} for so long after its start"
            self.assertEqual(hint in result.stderr, warns, result.stderr)

    def test_two_cuts_make_the_whole(self):
        bag = bag_make(self.path("bag"))
        self.run_bag("cut", bag, "-o", self.path("one"), "--end", "+37ns")
        self.run_bag("cut", bag, "-o", self.path("two"), "--start", "+37ns")
        self.run_bag(
            *("convert", self.path("one"), self.path("two"), "-o", self.path("both")),
            *("-s", "sqlite3"),
        )
        self.assert_same_messages(bag, self.path("both"))

    def test_a_cut_of_nothing_is_refused(self):
        bag = bag_make(self.path("bag"))
        out = self.path("out")
        for bounds, message in (
            (("--start", "+5s", "--end", "+3s"), "nothing to cut: --end must be after --start"),
            (("--start", "+1ns", "--duration", "0"), "--duration 0: must be above 0"),
            (("--duration", "-1"), "--duration -1: must be above 0"),
            (("--start", "+500s"), "lasts from"),
            (("--end", "+0"), "lasts from"),
        ):
            result = self.run_bag("cut", bag, "-o", out, *bounds, status=2)
            self.assertIn(message, result.stderr)
            self.assertFalse(os.path.exists(out))


class FormatsTest(BagTest):
    """Each command on each format that there is."""

    def formats(self, bag):
        """(name, path of the same in that format)."""
        for storage in ("sqlite3", "mcap"):
            for mode in ("none", "message", "file"):
                for chunks in ("none", "zstd", "lz4") if storage == "mcap" else ("none",):
                    name = f"{storage}_{mode}_{chunks}"
                    out = self.path(name)
                    self.run_bag(
                        *("convert", bag, "-o", out, "-s", storage, "--compression-mode", mode),
                        *("--chunk-compression", chunks, "--chunk-size", "3000"),
                    )
                    yield name, out

    def test_whole_ones(self):
        bag = bag_make(self.path("bag"), count=200)
        half = self.path("half")
        self.run_bag("cut", bag, "-o", half, "--start", "+50ns", "--end", "+150ns")
        for name, path in self.formats(bag):
            with self.subTest(name):
                self.run_bag("check", path)
                self.assert_same_messages(bag, path)
                self.run_bag("recover", path, "-o", path + "_recovered")
                self.assert_same_messages(bag, path + "_recovered")
                self.run_bag(
                    *("cut", path, "-o", path + "_half", "--start", "+50ns", "--end", "+150ns")
                )
                self.assert_same_messages(half, path + "_half")
                self.assertEqual(self.info(path + "_half")["storage"], name.split("_")[0])

    def test_truncated_ones(self):
        """Reported as such with the reason, and what is left can be read."""
        bag = bag_make(self.path("bag"), count=20000)  # zstd has blocks of 128 KiB
        for name, path in self.formats(bag):
            with self.subTest(name):
                file = next(f for f in glob.glob(path + "/*") if not f.endswith(".yaml"))
                os.truncate(file, os.path.getsize(file) * 2 // 3)
                self.assertIn("damaged: ", self.run_bag("check", path, status=1).stdout)
                info = self.info(path, "--digest")
                self.assertIn(os.path.basename(file), info["damaged"])
                self.assertTrue(0 < info["message_count"] < 20000, info)
                self.run_bag("recover", path, "-o", path + "_recovered", status=1)
                self.run_bag("check", path + "_recovered")
                kept = self.info(path + "_recovered")["message_count"]
                self.assertGreaterEqual(kept, info["message_count"])


    def test_damaged_inside_of_what_is_packed(self):
        """The bag's file is named, not where it was unpacked to, and nothing is reported twice."""
        bag = bag_make(self.path("bag"), count=3000)
        for storage, extension in (("sqlite3", "db3"), ("mcap", "mcap")):
            with self.subTest(storage):
                path = self.path(storage)
                self.run_bag("convert", bag, "-o", path, "-s", storage, "--chunk-size", "9000")
                file = f"{path}/{storage}_0.{extension}"
                with open(file, "rb") as whole:
                    data = whole.read()
                hole = len(data) // 2 // 4096 * 4096
                with open(file + ".zstd", "wb") as packed:
                    packed.write(zstd_pack(data[:hole] + bytes(4096) + data[hole + 4096 :]))
                os.remove(file)
                os.remove(f"{path}/metadata.yaml")
                folder = self.path("temporary")
                os.makedirs(folder, exist_ok=True)
                os.environ["TMPDIR"] = folder
                self.addCleanup(os.environ.pop, "TMPDIR", None)
                results = [
                    self.run_bag("check", path, status=1),
                    self.run_bag("info", "--scan", path),
                    self.run_bag("recover", path, "-o", path + "_recovered", status=1),
                    self.run_bag("convert", path, "-o", path + "_converted", status=3),
                ]
                for result in results:
                    text = result.stdout + result.stderr
                    self.assertIn(f"{file}.zstd: ", text)
                    self.assertNotIn(folder, text)
                    self.assertNotIn("/proc/", text)
                found = results[0].stdout.splitlines()
                self.assertEqual(len(found), len(set(found)), found)


class RunsTest(BagTest):
    """Time was set back while it was recorded: each run has its own files."""

    def recording(self):
        """Three files at 1000 to 1299 ns, and two of a second run at 1200 to 1299 ns."""
        bag = bag_make(self.path("bag"), count=300, files=3)
        later = bag_make(self.path("later"), count=100, first=200, files=2)
        for number in range(2):
            os.rename(f"{later}/bag_{number}.db3", f"{bag}/bag_{number + 3}.db3")
        metadata = self.path("bag", "metadata.yaml")
        with open(metadata, encoding="utf-8") as file:
            text = file.read()
        text = text.replace("message_count: 300", "message_count: 400")
        text = text.replace("message_count: 150", "message_count: 200")
        text += "    - bag_3.db3\n    - bag_4.db3\n"
        text += "  custom_data:\n    timebase_run_2: first_file=3\n    other: kept\n"
        with open(metadata, "w", encoding="utf-8") as file:
            file.write(text)
        self.run_bag("check", bag)
        return bag

    def test_are_listed(self):
        text = self.run_bag("info", self.recording()).stdout
        self.assertRegex(text, r"run 1: +3 files, starting with bag_0.db3\n")
        self.assertRegex(text, r"run 2: +2 files, starting with bag_3.db3\n +start: +0.000001200 s")
        self.assertNotIn("timebase_run", text)

    def test_stay_apart_in_copies(self):
        bag = self.recording()
        for command in ("convert", "recover"):
            for storage in ("sqlite3", "mcap"):
                with self.subTest(command=command, storage=storage):
                    out = self.path(f"{command}_{storage}")
                    self.run_bag(command, bag, "-o", out, "-s", storage)
                    text = self.run_bag("info", out).stdout
                    self.assertRegex(text, r"run 1: +1 file, starting with \S+_0\.\w+\n")
                    self.assertRegex(text, r"run 2: +1 file, starting with \S+_1\.\w+\n")
                    self.assertIn("other: kept", text)
                    self.assert_same_messages(bag, out)
                    self.run_bag("check", out)
        self.run_bag(
            *("convert", bag, "-o", self.path("split"), "-s", "sqlite3"),
            *("--max-bag-duration", "99ns"),
        )
        text = self.run_bag("info", self.path("split")).stdout
        self.assertRegex(text, r"run 2: +1 file, starting with split_3\.db3\n")

    def test_are_cut_one_by_one(self):
        bag = self.recording()
        result = self.run_bag("cut", bag, "-o", self.path("none"), status=2)
        self.assertIn("--run 1 to 2", result.stderr)
        result = self.run_bag("cut", bag, "-o", self.path("none"), "--run", "3", status=2)
        self.assertIn("no run 3: there are 2", result.stderr)
        for run, count in ((1, 300), (2, 100)):
            out = self.path(f"run{run}")
            self.run_bag("cut", bag, "-o", out, "--run", str(run))
            info = self.info(out)
            self.assertEqual(info["message_count"], count)
            self.assertEqual(info["end_ns"], 1299)
            self.assertNotIn("run 1:", self.run_bag("info", out).stdout)
        self.run_bag("cut", self.path("run2"), "-o", self.path("again"), "--run", "1")

    def test_a_file_that_is_lost(self):
        """Numbers of files mean nothing then: all are one run."""
        bag = self.recording()
        os.remove(self.path("bag", "bag_1.db3"))
        self.run_bag("recover", bag, "-o", self.path("out"), status=1)
        self.assertEqual(self.info(self.path("out"))["message_count"], 300)
        self.assertNotIn("run 2:", self.run_bag("info", self.path("out")).stdout)


class RecoverTest(BagTest):
    def test_a_whole_bag(self):
        bag = bag_make(self.path("bag"))
        self.assertIn(
            "nothing was lost", self.run_bag("recover", bag, "-o", self.path("out")).stdout
        )
        self.assert_same_messages(bag, self.path("out"))

    def test_what_is_no_recording(self):
        path = self.path("text.db3")
        with open(path, "wb") as file:
            file.write(b"no recording at all\n" * 100)
        result = self.run_bag("recover", path, "-o", self.path("out"), status=3)
        self.assertIn(f"{path}: nothing could be read; is it a recording?", result.stderr)

    def test_a_hole_and_a_lost_file(self):
        bag = bag_make(self.path("bag"), count=3000, files=3)
        with open(self.path("bag", "bag_0.db3"), "r+b") as file:
            file.seek(os.path.getsize(file.name) // 2 // 4096 * 4096)
            file.write(bytes(3 * 4096))
        with open(self.path("bag", "bag_1.db3"), "wb") as file:
            file.write(b"gone")
        os.remove(self.path("bag", "metadata.yaml"))
        result = self.run_bag("recover", bag, "-o", self.path("out"), status=1)
        self.assertIn("cannot be read", result.stderr)
        self.assertIn("bag_1.db3", result.stderr)
        self.assertIn("damaged; the parts listed above were lost", result.stdout)
        count = self.info(self.path("out"))["message_count"]
        self.assertTrue(1700 < count < 2000, count)
        self.run_bag("check", self.path("out"))

    def test_a_table_that_cannot_be_entered_is_named(self):
        """Its first page is bad: no row of it is found, and so no gap between rows."""
        bag = bag_make(self.path("bag"), count=3000, files=2)
        file = self.path("bag", "bag_0.db3")
        database = sqlite3.connect(file)
        sql = "SELECT rootpage FROM sqlite_master WHERE name = 'messages'"
        page = database.execute(sql).fetchone()[0]
        database.close()
        with open(file, "r+b") as out:
            out.seek((page - 1) * 4096)
            out.write(b"?" * 4096)
        result = self.run_bag("recover", bag, "-o", self.path("out"), status=1)
        self.assertIn("bag_0.db3", result.stdout)
        self.assertIn("what can be read was copied", result.stdout)

    def test_mcap_that_was_cut_off(self):
        bag = bag_make(self.path("bag"), count=1000)
        self.run_bag("convert", bag, "-o", self.path("m"), "-s", "mcap", "--chunk-size", "9000")
        file = self.path("m", "m_0.mcap")
        os.truncate(file, os.path.getsize(file) // 2)
        info = self.info(self.path("m"))
        self.assertIn("m_0.mcap", info["damaged"])
        self.assertTrue(300 < info["message_count"] < 700, info["message_count"])
        self.assertIn("damaged", self.run_bag("check", self.path("m"), status=1).stdout)
        result = self.run_bag("recover", self.path("m"), "-o", self.path("out"), status=1)
        self.assertIn("m_0.mcap", result.stderr)
        self.assertNotIn("0 messages", result.stderr)
        self.assertIn("what can be read was copied", result.stdout)
        recovered = self.info(self.path("out"))
        self.assertGreaterEqual(recovered["message_count"], info["message_count"])
        self.run_bag("check", self.path("out"))

    @staticmethod
    def mcap_records(data):
        """(opcode, content) from the start to the end of the data section, or of the file."""
        at = 8
        while at + 9 <= len(data):
            length = int.from_bytes(data[at + 1 : at + 9], "little")
            yield data[at], data[at + 9 : at + 9 + length]
            at += 9 + length

    @staticmethod
    def mcap_record(opcode, content):
        return bytes([opcode]) + len(content).to_bytes(8, "little") + content

    def mcap_with_more(self):
        """(the same as sqlite3, MCAP without its end, its attachment and metadata record)."""
        text = lambda t: len(t).to_bytes(4, "little") + t
        bag = bag_make(self.path("bag"), count=100)
        self.run_bag("convert", bag, "-o", self.path("m"), "-s", "mcap")
        file = self.path("m", "m_0.mcap")
        with open(file, "rb") as whole:
            data = whole.read()
        attachment = (
            (1050).to_bytes(8, "little") * 2 + text(b"notes.txt") + text(b"text/plain")
            + (4).to_bytes(8, "little") + b"note"
        )  # fmt: skip
        attachment += zlib.crc32(attachment).to_bytes(4, "little")
        metadata = text(b"mine") + text(text(b"key") + text(b"value"))
        with open(file, "wb") as out:
            out.write(data[:8])
            for opcode, content in self.mcap_records(data):
                if opcode == 0x0F:  # the end of the data
                    break
                out.write(self.mcap_record(opcode, content))
            out.write(self.mcap_record(0x09, attachment) + self.mcap_record(0x0C, metadata))
        return bag, self.path("m"), attachment, metadata

    def more_of(self, bag):
        """Attachments and metadata records, without rosbag2's own."""
        with open(glob.glob(f"{bag}/*_0.mcap")[0], "rb") as file:
            records = list(self.mcap_records(file.read()))
        attachments = [content for opcode, content in records if opcode == 0x09]
        metadata = [content for opcode, content in records if opcode == 0x0C]
        ours = [content for content in metadata if content[4:11] == b"rosbag2"]
        self.assertEqual(len(ours), 1)
        metadata.remove(ours[0])
        return attachments, metadata

    def test_what_mcap_has_beside_messages(self):
        """Of a file without its end: its attachments and metadata are recovered too."""
        bag, mcap, attachment, metadata = self.mcap_with_more()
        self.run_bag("recover", mcap, "-o", self.path("out"))
        self.run_bag("check", self.path("out"))
        self.assert_same_messages(bag, self.path("out"))
        self.assertEqual(self.more_of(self.path("out")), ([attachment], [metadata]))
        self.run_bag("recover", mcap, "-o", self.path("other"), "-s", "sqlite3")
        self.assert_same_messages(bag, self.path("other"))

    def test_a_recording_that_was_not_closed(self):
        """As a recorder leaves it that is killed: no end, and the metadata.yaml of its start."""
        bag = bag_make(self.path("bag"), count=300)
        whole = self.path("whole")
        split = ("--max-bag-duration", "99ns", "--chunk-size", "2000")
        self.run_bag("convert", bag, "-o", whole, "-s", "mcap", *split)
        with open(self.path("whole", "whole_2.mcap"), "r+b") as file:
            data = file.read()
            size = 8
            for opcode, content in self.mcap_records(data):
                if opcode == 0x0F:
                    break
                size += 9 + len(content)
            file.truncate(size)
        end = f"{whole}/whole_2.mcap: offset {size}: the data has no end record"
        result = self.run_bag("check", whole, status=1).stdout.splitlines()
        self.assertEqual(len(result), 2, result)  # each thing is reported once
        self.assertTrue(result[0].startswith(end), result)
        all_there = f"{whole}: not closed; everything in it can be read: 300 messages"
        self.assertEqual(result[1], all_there)
        self.assertTrue(self.info(whole)["damaged"].startswith(end))
        self.assertTrue(self.info(whole)["unclosed"])
        self.assertIn(f"unclosed:     {end}", self.run_bag("info", whole).stdout)

        metadata = self.path("whole", "metadata.yaml")
        with open(metadata, encoding="utf-8") as file:
            head, files = file.read().split("  files:\n")
        head = head.replace("message_count: 300", "message_count: 200")
        head = head.replace("message_count: 150", "message_count: 100")
        files = files.split("  - path: ")
        files[3] = files[3].replace("message_count: 100", "message_count: 0")
        with open(metadata, "w", encoding="utf-8") as out:
            out.write(head + "  files:\n" + "  - path: ".join(files))
        result = self.run_bag("check", whole, status=1).stdout.splitlines()
        self.assertEqual(len(result), 3, result)
        self.assertIn("written before the messages of whole_2.mcap", result[1])
        self.assertEqual(result[2], all_there)
        result = self.run_bag("recover", whole, "-o", self.path("out"))
        self.assertEqual(result.stderr, "")
        self.assertIn(f"{whole}: was not closed; everything in it was recovered\n", result.stdout)
        self.assert_same_messages(bag, self.path("out"))
        for number, command in enumerate(("convert", "cut")):
            result = self.run_bag(command, whole, "-o", self.path(f"copy{number}"), "-s", "sqlite3")
            self.assertTrue(result.stderr.startswith(f"timebase bag {command}: {end}"), result)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assert_same_messages(bag, self.path(f"copy{number}"))

        with open(self.path("whole", "whole_0.mcap"), "r+b") as file:
            file.seek(os.path.getsize(file.name) // 2)
            file.write(bytes(100))
        self.assertIn("damaged: ", self.run_bag("check", whole, status=1).stdout)
        self.assertIn("damaged", self.info(whole))
        self.assertNotIn("unclosed", self.info(whole))

    def test_a_recording_that_was_cut_off_between_records(self):
        """It looks as if it had not been closed, but metadata.yaml knows of more."""
        bag = bag_make(self.path("bag"), count=300)
        whole = self.path("whole")
        self.run_bag("convert", bag, "-o", whole, "-s", "mcap", "--chunk-size", "2000")
        with open(self.path("whole", "whole_0.mcap"), "r+b") as file:
            chunks, size = 0, 8
            for opcode, content in self.mcap_records(file.read()):
                chunks += opcode == 6
                if chunks == 5:
                    break
                size += 9 + len(content)
            file.truncate(size)
        self.assertIn("damaged: ", self.run_bag("check", whole, status=1).stdout)
        self.assertIn("damaged", self.info(whole))
        self.assertNotIn("unclosed", self.info(whole))
        result = self.run_bag("recover", whole, "-o", self.path("out"), status=1)
        self.assertRegex(
            result.stdout,
            r"whole: damaged \(.*: its files end too early: they have \d+ messages, metadata.yaml "
            r"lists 300\); what can be read was copied\n",
        )

    def test_a_chunk_with_a_wrong_crc_is_kept(self):
        """And marked: in the status, on standard error and in the new recording."""
        bag = bag_make(self.path("bag"), count=300)
        whole = self.path("whole")
        self.run_bag("convert", bag, "-o", whole, "-s", "mcap", "--chunk-size", "4000")
        file = self.path("whole", "whole_0.mcap")
        with open(file, "rb") as whole_file:
            data = bytearray(whole_file.read())
        at = 8
        while data[at] != 6:
            at += 9 + int.from_bytes(data[at + 1 : at + 9], "little")
        data[at + 9 + 24] ^= 1  # the CRC
        with open(file, "wb") as out:
            out.write(data)
        result = self.run_bag("recover", whole, "-o", self.path("out"), status=1)
        self.assertIn("its messages are kept, and may be wrong", result.stderr)
        self.assertIn(f"offset {at}: the chunk's CRC is", result.stdout)
        self.assert_same_messages(bag, self.path("out"))
        self.run_bag("check", self.path("out"))
        self.assertRegex(
            self.run_bag("info", self.path("out")).stdout, r"notes: +recovered: .*the chunk's CRC is"
        )

    def test_several_damaged_files_are_reported_once_each(self):
        bag = bag_make(self.path("bag"), count=300)
        whole = self.path("whole")
        split = ("--max-bag-duration", "99ns", "--chunk-size", "2000")
        self.run_bag("convert", bag, "-o", whole, "-s", "mcap", *split)
        with open(self.path("whole", "whole_0.mcap"), "r+b") as file:
            file.seek(os.path.getsize(file.name) // 2)
            file.write(bytes(100))
        result = self.run_bag("recover", whole, "-o", self.path("less"), status=1)
        self.assertEqual(result.stderr.count("are lost"), 1, result.stderr)
        self.assertIn("what can be read was copied", result.stdout)

    def test_nothing_is_reported_twice(self):
        bag = bag_make(self.path("bag"), count=3000)
        with open(self.path("bag", "bag_0.db3"), "r+b") as file:
            file.seek(os.path.getsize(file.name) // 2 // 4096 * 4096)
            file.write(bytes(4096))
        result = self.run_bag("recover", bag, "-o", self.path("out"), status=1)
        self.assertEqual(result.stderr.count("cannot be read"), 1, result.stderr)
        self.assertIn("bag: damaged; the parts listed above were lost\n", result.stdout)
        self.assertNotIn("cannot be read", result.stdout)
        findings = self.run_bag("check", bag, status=1).stdout.splitlines()
        self.assertEqual(len(findings), len(set(findings)))

    def test_copies_keep_what_mcap_has_beside_messages(self):
        _, damaged, attachment, metadata = self.mcap_with_more()
        bag = self.path("whole")
        self.run_bag("recover", damaged, "-o", bag)
        for name, options, kept in (
            ("convert", (), True),
            ("cut", (), True),
            ("cut", ("--start", "1050ns"), True),
            ("cut", ("--end", "1051ns"), True),
            ("cut", ("--end", "1050ns"), False),
            ("cut", ("--start", "1051ns"), False),
        ):
            with self.subTest(name, options=options):
                out = self.path("".join((name, *options)))
                result = self.run_bag(name, bag, "-o", out, "-s", "mcap", *options)
                self.assertEqual(self.more_of(out), ([attachment] if kept else [], [metadata]))
                self.assertEqual(result.stderr, "")
                self.run_bag("check", out)
                result = self.run_bag(name, bag, "-o", out + "_", "-s", "sqlite3", *options)
                attachments = "1 attachment and" if kept else "0 attachments and"
                self.assertEqual(
                    result.stderr,
                    f"timebase bag {name}: {attachments} 1 metadata record are not kept: "
                    "sqlite3 has no place for them\n",
                )
        both = self.path("both")
        self.run_bag("convert", bag, bag, "-o", both, "-s", "mcap", "--compression-mode", "file")
        self.run_bag("convert", both, "-o", self.path("unpacked"), "-s", "mcap")
        attachments, records = self.more_of(self.path("unpacked"))
        self.assertEqual((attachments, records), ([attachment] * 2, [metadata] * 2))

    def test_an_attachment_that_is_damaged_is_reported(self):
        """The messages are whole, and no other check would see it."""
        _, damaged, _, _ = self.mcap_with_more()
        bag = self.path("whole")
        self.run_bag("recover", damaged, "-o", bag)
        file = self.path("whole", "whole_0.mcap")
        with open(file, "rb") as whole:
            data = whole.read()
        with open(file, "wb") as out:
            out.write(data.replace(b"notes.txt", b"motes.txt", 1))
        result = self.run_bag("convert", bag, "-o", self.path("out"), "-s", "mcap", status=3)
        self.assertIn("1 of 2 attachments and metadata records cannot be read", result.stderr)
        self.assertEqual(self.info(self.path("out"))["message_count"], 100)

    def test_nothing_to_recover(self):
        with open(self.path("x.db3"), "wb") as file:
            file.write(b"nothing")
        self.run_bag("recover", self.path("none"), "-o", self.path("out"), status=3)


class CompressionTest(BagTest):
    def test_chunks_stay_compressed_as_they_were(self):
        bag = bag_make(self.path("bag"), count=2000)
        for form in "zstd", "lz4", "none":
            source = self.path(form)
            kept = f"chunk:{form}" if form != "none" else "none"
            self.run_bag("convert", bag, "-o", source, "--chunk-compression", form)
            for command in "convert", "cut", "recover":
                with self.subTest(form=form, command=command):
                    out = self.path(f"{form}_{command}")
                    said = self.run_bag(command, source, "-o", out).stdout
                    self.assertEqual(self.info(out)["compression"], kept)
                    self.assertRegex(said, r"(?m)^.*: 2000 messages, [\d.]+ [kM]B \(before: [\d.]+ [kM]B\)$")
                    self.run_bag(command, source, "-o", out + "_plain", "--chunk-compression", "none")
                    self.assertEqual(self.info(out + "_plain")["compression"], "none")
                    self.run_bag(command, source, "-o", out + "_m", "--compression-mode", "message")
                    self.assertEqual(self.info(out + "_m")["compression"], "message:zstd")
                    self.run_bag(command, source, "-o", out + ".db3")
                    self.assertEqual(self.info(out + ".db3")["compression"], "none")

    def test_nothing_that_can_be_recovered_leaves_no_recording(self):
        bag_make(self.path("bag"), count=2)
        database = sqlite3.connect(self.path("bag", "bag_0.db3"))
        database.execute("UPDATE messages SET timestamp = 'x'")
        database.commit()
        database.close()
        done = self.run_bag("recover", self.path("bag"), "-o", self.path("out"), status=3)
        self.assertIn("nothing could be read", done.stderr)
        self.assertNotIn(self.path("out") + ":", done.stdout)
        self.assertFalse(os.path.exists(self.path("out")))


class InnerPageTest(BagTest):
    PAGE = 4096

    def pages(self, data, kind):
        return [i for i in range(1, len(data) // self.PAGE) if data[i * self.PAGE] == kind]

    def damaged(self, page, replacement):
        with open(self.path("bag", "bag_0.db3"), "r+b") as file:
            file.seek(page * self.PAGE)
            file.write(replacement)

    def recover(self, out, count):
        done = self.run_bag("recover", self.path("bag"), "-o", self.path(out), status=1)
        info = self.info(self.path(out), "--digest")
        self.assertEqual(info["message_count"], count)
        self.assertEqual(self.run_bag("check", self.path(out)).returncode, 0)
        return info, done.stdout + done.stderr

    def test_leaf_pages_are_found_without_the_pages_that_lead_to_them(self):
        """Small payloads, those with pages of overflow, and a table of three levels."""
        for count, size in ((400, 100), (363, 9000), (3000, 2500)):
            with self.subTest(count=count, size=size):
                shutil.rmtree(self.path("bag"), ignore_errors=True)
                bag = bag_make(self.path("bag"), count=count)
                database = sqlite3.connect(self.path("bag", "bag_0.db3"))
                database.executemany(
                    "UPDATE messages SET data = ? WHERE id = ?",
                    [(payload(index) + bytes(size), index + 1) for index in range(count)],
                )
                database.commit()
                database.execute("VACUUM")
                root = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()[0]
                database.close()
                whole = self.info(bag, "--digest")
                with open(self.path("bag", "bag_0.db3"), "rb") as file:
                    data = file.read()
                self.assertEqual(data[(root - 1) * self.PAGE], 5)
                self.damaged(root - 1, bytes(self.PAGE))
                info, said = self.recover(f"out{count}", count)
                self.assertIn("inner pages of its table of messages are damaged", said)
                self.assertEqual(info["topics"], whole["topics"])
                # A leaf page less is reported by the ids of its rows.
                leaves = [i for i in self.pages(data, 13) if data[i * self.PAGE + 3 : i * self.PAGE + 5] != b"\0\2"]
                self.damaged(leaves[-5], bytes(self.PAGE))
                done = self.run_bag("recover", bag, "-o", self.path(f"less{count}"), status=1)
                lost = re.search(r"rows (\d+) to (\d+) cannot be read", done.stdout + done.stderr)
                self.assertTrue(lost, done.stderr)
                first, last = map(int, lost.groups())
                self.assertEqual(
                    self.info(self.path(f"less{count}"))["message_count"], count - (last - first + 1)
                )


class LimitsTest(BagTest):
    def commands(self, bag):
        """All that read a recording."""
        yield "info", bag, "--scan"
        yield "check", bag
        for number, command in enumerate(("convert", "cut", "recover")):
            shutil.rmtree(self.path(f"out{number}"), ignore_errors=True)
            yield command, bag, "-o", self.path(f"out{number}")

    def assert_ceiling(self, bag, option, too_low, enough):
        for command in self.commands(bag):
            with self.subTest(command=command[0], option=option):
                done = self.run_bag(*command, option, too_low, status=3)
                self.assertIn(option, done.stderr)
        for command in self.commands(bag):
            self.run_bag(*command, option, enough)

    def test_chunks(self):
        bag = bag_make(self.path("bag"), count=1000)
        self.run_bag("convert", bag, "-o", self.path("mcap"), "--chunk-compression", "zstd")
        self.assert_ceiling(self.path("mcap"), "--max-chunk-size", "10K", "1M")

    def test_unpacked_files(self):
        bag = bag_make(self.path("bag"))
        self.run_bag("convert", bag, "-o", self.path("packed"), "--compression-mode", "file")
        self.assert_ceiling(self.path("packed"), "--max-unpacked-size", "10K", "1M")

    def test_a_part_beyond_a_limit_is_not_reported_as_damage(self):
        bag = bag_make(self.path("bag"), count=1000)
        self.run_bag("convert", bag, "-o", self.path("mcap"), "--chunk-compression", "zstd")
        done = self.run_bag(
            "info", self.path("mcap"), "--scan", "--json", "--max-chunk-size", "10K", status=3
        )
        info = json.loads(done.stdout)
        self.assertNotIn("damaged", info)
        self.assertIn("--max-chunk-size", info["not_read"])

    def test_what_there_is_no_memory_for_is_not_lost(self):
        bag = bag_make(self.path("bag"))
        database = sqlite3.connect(self.path("bag", "bag_0.db3"))
        database.execute("UPDATE messages SET data = zeroblob(200000000) WHERE id = 5")
        database.commit()
        database.close()
        for command in (("info", "--digest"), ("check",), ("recover", "-o", self.path("out"))):
            done = subprocess.run(
                [TIMEBASE, "bag", *command, bag],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20)),
            )
            with self.subTest(command=command[0]):
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                self.assertIn("row 5: out of memory", done.stderr)
                self.assertNotIn("damaged", done.stdout + done.stderr)

    def test_listed_files(self):
        bag = bag_make(self.path("bag"), files=4)
        self.assert_ceiling(bag, "--max-files", "3", "4")

    def test_twenty_thousand_times_the_same_file(self):
        bag = bag_make(self.path("bag"))
        metadata = self.path("bag", "metadata.yaml")
        with open(metadata, "a", encoding="ascii") as file:
            file.write("    - bag_0.db3\n" * 20000)
        done = self.run_bag("info", bag, status=3)
        self.assertIn("20001 files, more than the limit of 10000 (--max-files)", done.stderr)
        self.assertEqual(
            self.info(bag, "--max-files", "30000")["message_count"], 100
        )  # within the limit of a command

    def test_usage(self):
        for option, value in (
            ("--max-chunk-size", "5G"),
            ("--max-chunk-size", "0"),
            ("--max-overlap-size", "-1"),
            ("--max-unpacked-size", "much"),
            ("--max-files", "1X"),
        ):
            done = self.run_bag("info", "bag", option, value, status=2)
            self.assertIn(f"{option} {value}: must be a whole number", done.stderr)


class StatusTest(BagTest):
    """What cannot be opened as a recording is 3 in every command, never a usage error. The check
    distinguishes damage (1) from what it could not read (3)."""

    def assert_statuses(self, path, check, others=3, **environment):
        commands = ["info", "check", "convert", "cut", "recover"]
        there = subprocess.run([TIMEBASE, "--help"], capture_output=True, text=True, check=True).stdout
        if "\n  play " in there:  # with ROS 2
            commands.append("play")
        for command in commands:
            out = self.path("out")
            arguments = [command] if command == "play" else ["bag", command]
            arguments.append(path)
            if command in ("convert", "cut", "recover"):
                arguments += ["-o", out]
            with self.subTest(path, command=command):
                result = subprocess.run(
                    [TIMEBASE, *arguments],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=LIMIT_S,
                    check=False,
                    **environment,
                )
                details = f"{arguments}: {result.stdout}\n{result.stderr}"
                self.assertEqual(result.returncode, check if command == "check" else others, details)
                self.assertNotEqual(result.stderr + result.stdout, "")
                self.assertNotIn("usage:", result.stderr, details)
                shutil.rmtree(out, ignore_errors=True)

    def test_what_is_not_there(self):
        self.assert_statuses(self.path("none"), 3)
        self.assert_statuses(self.path("none", "x.mcap"), 3)

    def test_folders_without_a_recording(self):
        os.mkdir(self.path("empty"))
        self.assert_statuses(self.path("empty"), 3)
        os.mkdir(self.path("other"))
        with open(self.path("other", "notes.txt"), "wb") as file:
            file.write(b"text")
        self.assert_statuses(self.path("other"), 3)

    def test_files_that_are_no_recording(self):
        for name in ("x.mcap", "x.db3", "x.txt", "x.db3.zstd"):
            for content in (b"", b"\0", b"no recording at all\n" * 100):
                with open(self.path(name), "wb") as file:
                    file.write(content)
                self.assert_statuses(self.path(name), 1)

    def test_what_is_no_file(self):
        os.mkfifo(self.path("x.mcap"))
        self.assert_statuses(self.path("x.mcap"), 3)
        self.assert_statuses("/dev/null", 3)

    def recordings(self):
        bag = bag_make(self.path("bag"))
        yield bag
        yield self.path("bag", "bag_0.db3")
        self.run_bag("convert", bag, "-o", self.path("m"), "-s", "mcap")
        yield self.path("m")
        yield self.path("m", "m_0.mcap")
        self.run_bag("convert", bag, "-o", self.path("z"), "--compression-mode", "file")
        yield self.path("z")

    def test_no_permission(self):
        """Of the file, of its folder."""
        if os.geteuid() == 0:
            nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        else:
            nobody = {}
        os.chmod(self.folder, 0o755)
        for path in list(self.recordings()):
            folder = path if os.path.isdir(path) else os.path.dirname(path)
            files = glob.glob(os.path.join(folder, "*"))
            for mode, changed in ((0, files), (0, [folder])):
                for one in changed:
                    os.chmod(one, mode)
                try:
                    self.assert_statuses(path, 3, **nobody)
                finally:
                    os.chmod(folder, 0o755)
                    for one in files:
                        os.chmod(one, 0o644)

    def test_no_descriptors(self):
        """At whatever open file the limit is met: nothing is reported of the recording."""
        for path in list(self.recordings()):
            for limit in range(3, 12):
                result = subprocess.run(
                    [TIMEBASE, "bag", "check", path],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=LIMIT_S,
                    check=False,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
                )
                self.assertNotIn("damaged", result.stdout, f"{path}, {limit} descriptors")
                self.assertIn(result.returncode, (0, 3, 127), f"{path}, {limit}: {result.stderr}")
                if result.returncode == 0:
                    break
            self.assertEqual(result.returncode, 0, "the limit was never enough")
            self.assertGreater(limit, 3)


if __name__ == "__main__":
    TIMEBASE, REAL_BAGS = sys.argv[1:3]
    in_parts.main([sys.argv[0], *sys.argv[3:]], 2)
