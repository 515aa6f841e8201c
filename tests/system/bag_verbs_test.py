#!/usr/bin/env python3
"""`timebase bag cut|filter|merge|sort|compress|decompress`, on bags made here.

usage: bag_verbs_test.py TIMEBASE [TEST...]"""

import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import unittest

import bag_command_test
from bag_command_test import BagTest, LIMIT_S, bag_make
from sqlite_bag import sqlite_bag_make

HEADER = b"\x00\x01\x00\x00"
STRING = "std_msgs/msg/String"
OFFER = "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"  # transient local


def make(folder, topics, messages, latched=None):
    """topics: (name, type); messages: (name, ns, text); latched: publishers by topic."""
    os.makedirs(folder)
    path = os.path.join(folder, os.path.basename(folder) + "_0.db3")
    names = [name for name, _ in topics]
    sqlite_bag_make(
        path, topics, [(names.index(name), at, HEADER + text.encode()) for name, at, text in messages]
    )
    with sqlite3.connect(path) as database:
        for name, publishers in (latched or {}).items():
            database.execute(
                "UPDATE topics SET offered_qos_profiles=? WHERE name=?", (OFFER * publishers, name)
            )
    database.close()
    return folder


class VerbTest(BagTest):
    def messages(self, bag):
        """(topic, log time, text), in the order of the rows of a copy in sqlite3."""
        path = bag
        if os.path.isdir(bag) and any(name.endswith(".db3") for name in os.listdir(bag)):
            path = os.path.join(bag, next(n for n in os.listdir(bag) if n.endswith(".db3")))
        else:
            copy = self.path(f"read{len(os.listdir(self.folder))}.db3")
            self.run_bag("convert", bag, "-o", copy, "--single-file")
            path = copy
        database = sqlite3.connect(path)
        rows = database.execute(
            "SELECT name, timestamp, data FROM messages JOIN topics ON topics.id=topic_id"
            " ORDER BY messages.id"
        ).fetchall()
        database.close()
        return [(name, at, data[4:].decode()) for name, at, data in rows]

    def robot(self, name="robot"):
        """Of /tf_static two publishers, of which one publishes twice."""
        return make(
            self.path(name),
            [("/tf_static", "tf2_msgs/msg/TFMessage"), ("/map", STRING), ("/odom", STRING)],
            [("/tf_static", 1000, "base"), ("/map", 1001, "old"), ("/tf_static", 1002, "arm")]
            + [("/map", 1003, "map")]
            + [("/odom", 1000 + 10 * i, str(i)) for i in range(10)]
            + [("/tf_static", 1070, "late")],
            latched={"/tf_static": 2, "/map": 1},
        )


class LatchedTest(VerbTest):
    STATE = [("/tf_static", 1050, "base"), ("/tf_static", 1050, "arm"), ("/map", 1050, "map")]
    PART = [("/odom", 1050, "5"), ("/odom", 1060, "6")]

    def test_a_cut_begins_with_what_a_late_subscription_gets(self):
        bag = self.robot()
        for out in "part", "part.mcap":
            said = self.run_bag(
                "cut", bag, "-o", self.path(out), "--start", "1050ns", "--end", "1070ns"
            ).stdout
            self.assertIn(" 5 messages (3 latched, from before the start), ", said)
            self.assertEqual(self.messages(self.path(out)), self.STATE + self.PART)
            self.run_bag("check", self.path(out))
        out = self.path("later")  # "late" is in place of the oldest of two
        self.run_bag("cut", self.path("part.mcap"), bag, "-o", out, "--start", "1080ns")
        self.assertEqual(
            self.messages(out)[:3],
            [("/tf_static", 1080, "arm"), ("/map", 1080, "map"), ("/tf_static", 1080, "late")],
        )

    def test_the_last_ones_of_several_publishers(self):
        names = ["/map", "/other"] + [f"/t{i}" for i in range(100)]
        bag = make(
            self.path("bag"), [(name, STRING) for name in names],
            [(names[i % len(names)], 1000 + i, str(i)) for i in range(1020)] + [("/map", 3000, "end")],
            latched={name: 3 for name in names if name != "/other"},
        )
        out = self.path("out")
        self.run_bag("cut", bag, "-o", out, "--start", "3000ns")
        last = [(names[i % len(names)], 3000, str(i)) for i in range(714, 1020) if names[i % len(names)] != "/other"]
        self.assertEqual(self.messages(out), last + [("/map", 3000, "end")])

    def test_publish_times_stay(self):
        self.run_bag("convert", self.robot(), "-o", self.path("x.mcap"), "--single-file")
        out = self.path("part.mcap")
        self.run_bag("cut", self.path("x.mcap"), "-o", out, "--start", "+50ns", "--single-file",
                     "--chunk-compression", "none")
        with open(out, "rb") as file:
            data = file.read()
        at = data.index(HEADER + b"map") - 16
        times = [int.from_bytes(data[i : i + 8], "little") for i in (at, at + 8)]
        self.assertEqual(times, [1050, 1003])

    def test_only_what_is_chosen(self):
        bag = self.robot()
        cases = (
            (["cut", "--no-latched"], self.PART),
            (["filter"], self.PART),
            (["filter", "--latched", "-x", "tf"], [self.STATE[2]] + self.PART),
            (["cut", "-e", "^/odom$"], self.PART),
            (["cut", "--topics", "odom", "-e", "ma+p"], [self.STATE[2]] + self.PART),
            (["cut", "--topic-types", "tf2_msgs/msg/TFMessage"], self.STATE[:2]),
            (["cut", "--exclude-topics", "/odom", "/map"], self.STATE[:2]),
            (["filter", "--latched", "--exclude-topic-types", STRING], self.STATE[:2]),
        )
        for number, ((verb, *options), expected) in enumerate(cases):
            with self.subTest(verb=verb, options=options):
                out = self.path(f"out{number}")
                self.run_bag(verb, bag, "-o", out, "--start", "+50ns", "--end", "+70ns", *options)
                self.assertEqual(self.messages(out), expected)

    def test_nothing_is_before_the_start(self):
        out = self.path("all")
        said = self.run_bag("cut", self.robot(), "-o", out, "--start", "+0").stdout
        self.assertNotIn("latched", said)
        self.assertEqual(self.info(out)["message_count"], 15)


class SelectTest(VerbTest):
    def test_usage(self):
        bag = bag_make(self.path("bag"), count=4)
        for words, message in (
            ("filter BAG -o OUT -e (", "--regex: "),
            ("cut BAG -o OUT -e a -e b", "--regex: given twice"),
            ("cut BAG -o OUT -x .", "no topic of"),
            ("filter BAG -o OUT --topics /c", "has no topic /c"),
            ("filter BAG -o OUT --exclude-topics /c", "--exclude-topics: "),
            ("merge BAG -o OUT", "missing another BAG"),
            ("merge BAG BAG", "missing --output OUT"),
            ("cut BAG BAG -o OUT --run 1", "--run: of one recording only"),
            ("sort BAG BAG -o OUT", "unexpected argument"),
            ("compress BAG", "missing --output OUT"),
            ("decompress", "missing BAG"),
            ("convert BAG -o OUT --single-file --max-bag-size 1000", "--single-file: leave out"),
        ):
            with self.subTest(words):
                words = words.replace("BAG", bag).replace("OUT", self.path("out")).split()
                self.assertIn(message, self.run_bag(*words, status=2).stderr)
                self.assertEqual(os.listdir(self.folder), ["bag"])
        for verb in "cut", "filter", "merge", "sort", "compress", "decompress":
            self.assertIn(f"usage: timebase bag {verb}", self.run_bag(verb, "--help").stdout)

    def test_the_names_of_the_player(self):
        out = self.path("out")
        bag = bag_make(self.path("bag"))
        self.run_bag("filter", bag, "-o", out, "--start-offset", "20ns", "--playback-duration", "7ns")
        info = self.info(out)
        self.assertEqual((info["start_ns"], info["end_ns"]), (1020, 1026))


class MergeTest(VerbTest):
    def test_by_time_with_all_topics(self):
        a = make(self.path("a"), [("/x", STRING)], [("/x", 1000 + 2 * i, f"a{i}") for i in range(50)])
        b = make(
            self.path("b"),
            [("/x", STRING), ("/y", STRING)],
            [("/x" if i % 3 else "/y", 1001 + 2 * i, f"b{i}") for i in range(50)],
        )
        out = self.path("out.mcap")
        self.run_bag("merge", a, b, "-o", out)
        got = self.messages(out)
        self.assertEqual(got, sorted(self.messages(a) + self.messages(b), key=lambda m: m[1]))
        self.assertEqual(self.info(out)["storage"], "mcap")
        self.run_bag("merge", out, a, "-o", self.path("mixed"))  # two formats
        self.assertEqual(self.info(self.path("mixed"))["storage"], "mcap")
        self.run_bag("merge", a, b, "-o", self.path("same"))
        self.assertEqual(self.info(self.path("same"))["storage"], "sqlite3")

    def test_offers_are_united(self):
        make(self.path("a"), [("/x", STRING), ("/y", STRING)], [("/x", 1, "a")], {"/x": 1, "/y": 2})
        make(self.path("b"), [("/x", STRING), ("/y", STRING)], [("/x", 2, "b")], {"/y": 1})
        other = OFFER.replace("depth: 1", "depth: 5")
        with sqlite3.connect(self.path("b", "b_0.db3")) as database:
            database.execute("UPDATE topics SET offered_qos_profiles=? WHERE name='/x'", (other,))
        database.close()
        self.run_bag("merge", self.path("a"), self.path("b"), "-o", self.path("out"))
        with open(self.path("out", "metadata.yaml"), encoding="utf-8") as file:
            parts = file.read().split("topic_metadata:")
        depths = {re.search("name: (.*)", part)[1]: re.findall(r"depth: (\d)", part) for part in parts[1:]}
        self.assertEqual(depths, {"/x": ["1", "5"], "/y": ["1", "1"]})

    def test_another_type_is_another_topic(self):
        a = make(self.path("a"), [("/x", STRING)], [("/x", 1, "a")])
        b = make(self.path("b"), [("/x", "std_msgs/msg/Header")], [("/x", 2, "b")])
        said = self.run_bag("merge", a, b, "-o", self.path("out"))
        self.assertIn("/x is std_msgs/msg/Header (cdr) here", said.stderr)
        self.assertEqual([m[0] for m in self.messages(self.path("out"))], ["/x", "/x_2"])

    def test_another_hash_of_one_type_is_refused(self):
        for name, digit in ("a", "1"), ("b", "2"):
            make(self.path(name + "s"), [("/x", STRING)], [("/x", 1, name)])
            path = self.path(name + ".db3")
            self.run_bag("convert", self.path(name + "s"), "-o", path, "--single-file")
            with sqlite3.connect(path) as database:
                database.execute("UPDATE topics SET type_description_hash=?",
                                 ("RIHS01_" + digit * 64,))
            database.close()
        paths = self.path("a.db3"), self.path("b.db3")
        result = self.run_bag("merge", *paths, "-o", self.path("out"), status=3)
        self.assertIn(f"topic /x: {paths[1]} has another hash of {STRING}", result.stderr)
        self.assertFalse(os.path.exists(self.path("out")))
        self.run_bag("merge", paths[0], paths[0], "-o", self.path("out"))


class RewriteTest(VerbTest):
    def test_sort(self):
        times = [1000 + i * 7919 % 1000 for i in range(1000)]
        bag = make(self.path("bag"), [("/x", STRING)], [("/x", at, str(at)) for at in times])
        rows = self.messages(bag)
        self.assertNotEqual(rows, sorted(rows, key=lambda m: m[1]))
        self.run_bag("sort", bag, "-o", self.path("out"))
        self.assertEqual(self.messages(self.path("out")), sorted(rows, key=lambda m: m[1]))

    def test_compress_and_back(self):
        bag = bag_make(self.path("bag"), count=1000)
        self.run_bag("convert", bag, "-o", self.path("plain.mcap"))
        for source, packed in (bag, "file:zstd"), (self.path("plain.mcap"), "chunk:zstd"):
            name = source + "_packed"
            said = self.run_bag("compress", source, "-o", name).stdout
            self.assertRegex(said, r": 1000 messages, [\d.]+ kB \(before: [\d.]+ [kM]B\)\n$")
            self.assertEqual(self.info(name)["compression"], packed)
            self.run_bag("decompress", name, "-o", name + "_not")
            info = self.info(name + "_not")
            self.assertEqual((info["compression"], info["storage"]), ("none", self.info(source)["storage"]))
            self.assert_same_messages(bag, name + "_not")
        name = self.path("lz4")
        self.run_bag("compress", self.path("plain.mcap"), "-o", name, "--chunk-compression", "lz4")
        self.assertEqual(self.info(name)["compression"], "chunk:lz4")
        self.run_bag("filter", name, "-o", name + "_filter", "-e", "a")
        self.assertEqual(self.info(name + "_filter")["compression"], "chunk:lz4")


class OutputOptionsTest(VerbTest):
    def convert(self, text, *options, status=0):
        with open(self.path("out.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.run_bag("convert", "-i", self.path("robot"), *options, status=status)

    def test_later_outputs_are_checked_first(self):
        """What a format refuses, and two names of one place."""
        self.robot()
        os.makedirs(self.path("there"))
        os.symlink(self.path("there"), self.path("link"))
        for second, message in (
            ("uri: b\n  all: true\n  storage_id: rosbag1\n  compression_mode: FILE", "bags of ROS 1 have no compression of "),
            ("uri: ./a\n  all: true", "two outputs would be "),
            ("uri: there/x\n  all: true\n- uri: link/x\n  all: true", "two outputs would be "),
        ):
            text = "output_bags:\n- uri: a\n  all: true\n- " + second + "\n"
            with open(self.path("out.yaml"), "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([bag_command_test.TIMEBASE, "bag", "convert", "robot", "-o", "out.yaml"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)
            self.assertIn(message, done.stderr)
            self.assertNotEqual(done.returncode, 0)
            self.assertFalse(os.path.exists(self.path("a")), second)
            self.assertEqual(os.listdir(self.path("there")), [])

    def test_a_file_of_outputs_that_is_not_there(self):
        self.robot()
        for name in ("no.yaml", "no.yml"):
            result = self.run_bag("convert", "-i", self.path("robot"), "-o", self.path(name), status=3)
            self.assertIn(f"{name}: No such file or directory; -o OUT.yaml names a file", result.stderr)
            self.assertFalse(os.path.exists(self.path(name)))

    def test_several_outputs(self):
        self.robot()
        self.convert(
            f"""
output_bags:
- uri: {self.path("all")}
  storage_id: ""
  max_bagfile_size: 0
  max_cache_size: 1000
  all: true
- uri: {self.path("some")}
  storage_id: sqlite3
  start_time_ns: 1020
  end_time_ns: 1040
  topics: [/map]
  topic_types: []
  regex: "^/od"
  compression_mode: ""
- uri: {self.path("packed")}
  storage_id: sqlite3
  all_topics: true
  exclude: "map|odom"
  exclude_topics:
  compression_mode: FILE
  compression_format: zstd
- uri: {self.path("split")}
  storage_id: mcap
  max_bagfile_duration: 1
  topics: [odom, /map]
""",
            "sqlite3", "-o", self.path("out.yaml"),
        )
        self.assert_same_messages(self.path("robot"), self.path("all"))
        self.assertEqual(self.info(self.path("all"))["storage"], "mcap")
        self.assertEqual(
            self.messages(self.path("some")), [("/odom", 1020 + 10 * i, str(2 + i)) for i in range(3)]
        )
        info = self.info(self.path("packed"))
        self.assertEqual(info["compression"], "file:zstd")
        self.assertEqual([topic["name"] for topic in info["topics"]], ["/tf_static"])
        self.assertEqual(self.info(self.path("split"))["message_count"], 12)

    def test_services(self):
        make(self.path("robot"), [("/a", STRING), ("/add/_service_event", STRING)],
             [("/a", 1, "a"), ("/add/_service_event", 2, "b")])
        for number, (choice, expected) in enumerate((
            ("all: true", "ab"),
            ("all_topics: true", "a"),
            ("all_topics: true\n  exclude_regex: x", "a"),
            ("all_services: true", "b"),
            ("all_services: true\n  regex: ^/a$", "ab"),
            ("services: [/add]", "b"),
            ("all: true\n  exclude_services: [/add]", "a"),
        )):
            with self.subTest(choice):
                out = self.path(f"out{number}")
                self.convert(f"output_bags:\n- uri: {out}\n  {choice}\n",
                             "--output-options", self.path("out.yaml"))
                self.assertEqual("".join(m[2] for m in self.messages(out)), expected)

    def test_what_is_wrong(self):
        self.robot()
        out = self.path("out")
        for text, message in (
            ("{", "out.yaml: line "),
            ("bags: []", "no list 'output_bags'"),
            ("output_bags: []", "no list 'output_bags'"),
            ("output_bags:\n- all: true", "line 2: an output needs a uri"),
            (f"output_bags:\n- uri: {out}", "line 2: nothing is chosen"),
            (f"output_bags:\n- uri: {out}\n  al: true", "line 3: al: unknown key"),
            (f"output_bags:\n- uri: {out}\n  all: yes sir", "line 3: all: must be true or false"),
            (f"output_bags:\n- uri: {out}\n  topics: a", "line 3: topics: must be a list"),
            (f"output_bags:\n- uri: {out}\n  start_time_ns: x", "start_time_ns: must be a whole"),
            (f"output_bags:\n- uri: {out}\n  topics: [/none]", "has no topic /none"),
        ):
            with self.subTest(text):
                said = self.convert(text, "-o", self.path("out.yaml"), status=2).stderr
                self.assertIn(message, said)
                self.assertEqual(sorted(os.listdir(self.folder)), ["out.yaml", "robot"])

    def test_all_outputs_are_checked_first(self):
        self.robot()
        os.makedirs(self.path("there"))
        first = f"output_bags:\n- uri: {self.path('first')}\n  all: true\n"
        for later, status, message in (
            (f"- uri: {self.path('x')}\n  topics: [/none]\n", 2, "has no topic /none"),
            (f"- uri: {self.path('x')}\n  all: true\n  storage_id: foo\n", 2, "rosbag1"),
            (f"- uri: {self.path('there')}\n  all: true\n", 3, "there already exists"),
            (f"- uri: {self.path('first')}/\n  all: true\n", 2, "line 4: another output has the same uri"),
        ):
            with self.subTest(later):
                said = self.convert(first + later, "-o", self.path("out.yaml"), status=status).stderr
                self.assertIn(message, said)
                self.assertEqual(sorted(os.listdir(self.folder)), ["out.yaml", "robot", "there"])
        for options, message in (
            (["-o", self.path("out.yaml"), "-e", "map"], "chooses the topics of each output"),
            (["--output-options", self.path("out.yaml"), "-o", self.path("y")], "exclude each other"),
        ):
            self.assertIn(message, self.convert(first, *options, status=2).stderr)
        self.assertFalse(os.path.exists(self.path("first")))

    def test_errors_and_summary_name_what_was_asked_for(self):
        bag = self.robot()
        out = self.path("small")
        small = subprocess.run(
            [bag_command_test.TIMEBASE, "bag", "convert", bag, "-o", out], capture_output=True, text=True,
            timeout=LIMIT_S, restore_signals=False,  # SIGXFSZ stays ignored
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)),
        )
        self.assertEqual(small.returncode, 3, small.stderr)
        self.assertIn(out + "/", small.stderr)
        self.assertNotIn(".small.", small.stderr)
        self.assertEqual(os.listdir(self.folder), ["robot"])


class ReindexTest(VerbTest):
    def test_as_it_was(self):
        source = self.robot()
        for number, options in enumerate((
            ["-s", "mcap"],
            ["-s", "sqlite3", "--max-bag-duration", "20ns"],
            ["-s", "sqlite3", "--compression-mode", "file"],
            ["-s", "sqlite3", "--compression-mode", "message"],
            ["-s", "mcap", "--compression-mode", "message"],
        )):
            with self.subTest(options):
                bag = self.path(f"bag{number}")
                self.run_bag("convert", source, "-o", bag, *options)
                metadata = os.path.join(bag, "metadata.yaml")
                with open(metadata, encoding="utf-8") as file:
                    before = file.read()
                files = self.files(bag)
                said = self.run_bag("reindex", bag).stdout
                self.assertRegex(said, r": metadata.yaml of [1-9]\d* files?, 15 messages\n$")
                self.assertEqual(self.read(metadata), before)
                if "message" not in options or "mcap" in options:
                    os.remove(metadata)
                    self.run_bag("reindex", bag, "-s", options[1])
                    self.assertEqual(self.read(metadata), before)
                self.assertEqual(self.files(bag), files)
                self.run_bag("check", bag)
        other = self.path("other")
        with open(other, "w", encoding="utf-8") as file:
            file.write("mine")
        os.symlink(other, metadata + ".new")  # is not followed
        self.run_bag("reindex", bag)
        self.assertEqual((self.read(other), self.read(metadata)), ("mine", before))
        self.assertFalse(os.path.islink(metadata))

    def files(self, bag):
        return {
            name: (os.stat(os.path.join(bag, name)).st_mtime_ns, self.read(os.path.join(bag, name), "rb"))
            for name in os.listdir(bag)
            if name != "metadata.yaml"
        }

    def read(self, path, mode="r"):
        with open(path, mode) as file:
            return file.read()

    def test_what_is_wrong_is_replaced_and_notes_stay(self):
        bag = bag_make(self.path("bag"), files=2)
        metadata = self.path("bag", "metadata.yaml")
        text = self.read(metadata)
        with open(metadata, "w", encoding="utf-8") as file:
            file.write(text.replace("message_count: 100", "message_count: 7").replace("    - bag_1.db3\n", "")
                       + "  custom_data:\n    site: lab\n")
        self.assertEqual(self.run_bag("reindex", bag).stderr, "")
        info = self.info(bag)
        self.assertEqual((info["message_count"], info["files"]), (100, ["bag_0.db3", "bag_1.db3"]))
        self.assertIn("site: lab", self.read(metadata))
        with open(metadata, "w", encoding="utf-8") as file:
            file.write("{ no yaml")
        self.run_bag("reindex", bag)
        self.run_bag("check", bag)

    def test_notes_that_only_the_files_have(self):
        bag = bag_make(self.path("bag"))
        with open(self.path("bag", "metadata.yaml"), "a", encoding="utf-8") as file:
            file.write("  custom_data:\n    site: lab\n  ros_distro: jazzy\n")
        for storage in "mcap", "sqlite3":
            for verb in "convert", "recover", "reindex":
                with self.subTest(storage=storage, verb=verb):
                    source, made = self.path(f"{storage}-{verb}"), self.path(f"{storage}-{verb}-made")
                    self.run_bag("convert", bag, "-o", source, "-s", storage)
                    os.remove(os.path.join(source, "metadata.yaml"))
                    if verb == "reindex":
                        self.run_bag(verb, source)
                        made = source
                    else:
                        self.run_bag(verb, source, "-o", made)
                    text = self.read(os.path.join(made, "metadata.yaml"))
                    self.assertIn("site: lab", text)
                    self.assertIn("ros_distro: jazzy", text)

    def damage(self, path):
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 3)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))

    def test_refused(self):
        bag = bag_make(self.path("bag"), count=4)
        before = self.read(self.path("bag", "metadata.yaml"))
        self.assertIn("are of sqlite3, not of mcap",
                      self.run_bag("reindex", bag, "-s", "mcap", status=3).stderr)
        self.run_bag("convert", bag, "-o", self.path("bag", "x.mcap"), "--single-file")
        self.assertIn("different formats", self.run_bag("reindex", bag, status=3).stderr)
        os.remove(self.path("bag", "x.mcap"))
        with open(self.path("bag", "bag_0.db3"), "r+b") as file:
            file.truncate(5000)
        self.assertIn("bag recover", self.run_bag("reindex", bag, status=3).stderr)
        self.assertEqual(self.read(self.path("bag", "metadata.yaml")), before)
        damaged = self.path("damaged")
        self.run_bag("convert", bag_make(self.path("whole"), count=40), "-o", damaged, "-s", "mcap")
        self.damage(os.path.join(damaged, "damaged_0.mcap"))
        os.remove(os.path.join(damaged, "metadata.yaml"))
        self.assertIn("bag recover", self.run_bag("reindex", damaged, status=3).stderr)
        self.assertEqual(os.listdir(damaged), ["damaged_0.mcap"])
        os.mkdir(self.path("empty"))
        self.assertIn("not a bag", self.run_bag("reindex", self.path("empty"), status=3).stderr)
        self.run_bag("reindex", self.path("nowhere"), status=3)
        self.run_bag("reindex", status=2)


class LookTest(VerbTest):
    def test_du(self):
        bag = self.robot()
        said = self.run_bag("du", bag).stdout.splitlines()
        self.assertEqual(len(said), 4)
        self.assertEqual(said[0].split(), ["50", "57.5", "%", "/odom", "(10", "messages)"])
        self.assertRegex(said[3], r"^ +87 +in all; files: \d+ bytes$")
        content = json.loads(self.run_bag("du", bag, bag, "--json").stdout)
        self.assertEqual(content["bytes"], 174)
        self.assertEqual(content["topics"][0], {"name": "/odom", "bytes": 100, "count": 20})
        self.assertEqual(content["size"], 2 * self.info(bag)["size"])
        self.run_bag("du", status=2)
        self.run_bag("du", self.path("nowhere"), status=3)

    def test_a_part_that_cannot_be_read(self):
        bag = bag_make(self.path("bag"), count=10)
        with sqlite3.connect(self.path("bag", "bag_0.db3")) as database:
            database.execute("UPDATE messages SET topic_id=9 WHERE id=3")
        database.close()
        said = self.run_bag("du", bag, "--json", status=3)
        self.assertEqual(sum(t["count"] for t in json.loads(said.stdout)["topics"]), 9)

    def test_channels_and_schemas(self):
        bag = self.robot()
        self.assertEqual(
            self.run_bag("list", "channels", bag).stdout,
            f"/tf_static: tf2_msgs/msg/TFMessage\n/map: {STRING}\n/odom: {STRING}\n",
        )
        self.assertIn(f"/odom: {STRING} (cdr), 10 messages\n",
                      self.run_bag("list", "channels", bag, "-v").stdout)
        self.assertEqual(
            self.run_bag("list", "schemas", bag).stdout,
            f"tf2_msgs/msg/TFMessage: no definition\n{STRING}: no definition\n",
        )
        packed = self.path("x.db3")
        self.run_bag("convert", bag, "-o", packed, "--single-file")
        with sqlite3.connect(packed) as database:
            database.execute(
                "UPDATE message_definitions SET encoding='ros2msg', encoded_message_definition=?"
                " WHERE topic_type=?", ("string data\n\n# \x1b[1m", STRING))
        database.close()
        said = self.run_bag("list", "schemas", "-v", packed).stdout
        self.assertIn(f"{STRING}: ros2msg\n  string data\n  \n  # \\x1b[1m\n", said)
        self.run_bag("list", "channels", status=2)
        self.assertEqual(self.run_bag("list", "storage").stdout, "mcap\nrosbag1\nsqlite3\n")


class OutputTest(VerbTest):
    def test_a_single_file(self):
        bag = bag_make(self.path("bag"), count=100)
        for verb in "convert", "cut", "filter", "sort", "compress", "recover":
            for name in "x.mcap", "x.db3":
                with self.subTest(verb=verb, name=name):
                    out = self.path("made", verb, name)
                    self.run_bag(verb, bag, "-o", out, "--single-file",
                                 *(["--compression-mode", "none", "--chunk-compression", "zstd"]
                                   if verb == "compress" else []))
                    self.assertTrue(os.path.isfile(out))
                    self.assert_same_messages(bag, out)
                    self.run_bag("check", out)
                    size = os.path.getsize(out)
                    said = self.run_bag(verb, bag, "-o", out, "--single-file",
                                        *(["--chunk-compression", "zstd"] if verb == "compress"
                                          else []), status=3)
                    self.assertIn("already exists", said.stderr)
                    self.assertEqual(os.path.getsize(out), size)
            self.assertEqual(sorted(os.listdir(self.path("made", verb))), ["x.db3", "x.mcap"])

    def test_a_name_of_a_file_makes_one(self):
        bag = bag_make(self.path("bag"), count=100)
        other = bag_make(self.path("other"), count=10, first=200)
        for verb, more in ("convert", []), ("cut", []), ("filter", []), ("merge", [other]):
            for name in "x.mcap", "x.db3":
                with self.subTest(verb=verb, name=name):
                    out = self.path("made", verb, name)
                    self.run_bag(verb, bag, *more, "-o", out)
                    self.assertTrue(os.path.isfile(out))
                    self.run_bag("check", out)
        for name, options in (("a.mcap/", []), ("b.mcap", ["-s", "sqlite3"]), ("c.mcap", ["--max-bag-size", "1000"])):
            self.run_bag("convert", bag, "-o", self.path(name), *options)
            self.assertTrue(os.path.isdir(self.path(name)), name)

    def test_topics_get_other_names(self):
        bag = bag_make(self.path("bag"), count=100)
        for verb in "convert", "cut", "filter":
            for name in "x.mcap", "folder":
                with self.subTest(verb=verb, name=name):
                    out = self.path(verb, name)
                    self.run_bag(verb, bag, "-o", out, "--rename", "/a:=/robot/a", "b:=/a")
                    topics = {topic["name"]: topic["count"] for topic in self.info(out)["topics"]}
                    self.assertEqual(topics, {"/robot/a": 50, "/a": 50})
        for rename, message in (("/a", "expected A:=B"), (":=/x", "expected A:=B"), ("/a:=x", "is no name of a topic"),
                                ("/a:=/x//y", "is no name of a topic"), ("/a:=/1", "is no name of a topic"),
                                ("/c:=/x", "no topic of that name"), ("/a:=/b", "both /a and /b would be /b")):
            result = self.run_bag("convert", bag, "-o", self.path("no"), "--rename", rename, status=2)
            self.assertIn(message, result.stderr)
        result = self.run_bag("convert", bag, "-o", self.path("no"), "-x", "/a", "--rename", "/a:=/x", status=2)
        self.assertIn("no topic of that name", result.stderr)

    def test_a_failure_leaves_nothing(self):
        bag = bag_make(self.path("bag"), count=2000)

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

        for verb in "convert", "cut", "filter", "sort":
            for options in [], ["--single-file"]:
                result = subprocess.run(
                    [bag_command_test.TIMEBASE, "bag", verb, bag, "-o", self.path("out.mcap"),
                     "--chunk-compression", "none", *options],
                    capture_output=True, text=True, timeout=LIMIT_S, check=False, preexec_fn=limit,
                )
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertEqual(os.listdir(self.folder), ["bag"])


def main():
    if len(sys.argv) < 2:
        sys.exit(re.search(r"usage: .*", __doc__)[0])
    bag_command_test.TIMEBASE = os.path.abspath(sys.argv.pop(1))
    unittest.main()


if __name__ == "__main__":
    main()
