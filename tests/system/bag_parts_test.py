#!/usr/bin/env python3
"""`timebase bag list chunks|attachments|metadata`, `get` and `add`, of recordings in MCAP.

usage: bag_parts_test.py TIMEBASE [TEST...]"""

import glob
import json
import os
import resource
import signal
import subprocess
import sys
import unittest

import bag_command_test
from bag_command_test import BagTest, LIMIT_S, bag_make


class PartsTest(BagTest):
    def mcap(self, *options, name="m"):
        bag = self.path("bag")
        if not os.path.exists(bag):
            bag_make(bag, count=300)
        self.run_bag("convert", bag, "-o", self.path(name), "-s", "mcap", *options)
        return self.path(name)

    def file_of(self, bag, index=0):
        return sorted(glob.glob(f"{bag}/*.mcap"))[index]

    def rows(self, *words):
        return [json.loads(line) for line in self.run_bag("list", *words, "--json").stdout.splitlines()]

    def attach(self, bag, data, *words, name="notes.txt"):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(data)
        return self.run_bag("add", "attachment", bag, "-f", path, *words)

    def test_chunks(self):
        bag = self.mcap("--chunk-size", "2000", "--chunk-compression", "zstd", "--max-bag-duration", "99ns")
        info = json.loads(self.run_bag("info", bag, "--json").stdout)
        chunks = self.rows("chunks", bag)
        self.assertGreater(len(chunks), 3)
        self.assertEqual(sum(chunk["message_count"] for chunk in chunks), info["message_count"])
        self.assertEqual({chunk["compression"] for chunk in chunks}, {"zstd"})
        self.assertEqual(min(chunk["start_ns"] for chunk in chunks), info["start_ns"])
        self.assertEqual(max(chunk["end_ns"] for chunk in chunks), info["end_ns"])
        self.assertEqual(sorted({chunk["file"] for chunk in chunks}), sorted(glob.glob(f"{bag}/*.mcap")))
        for chunk in chunks:
            self.assertLess(chunk["stored_size"], chunk["size"])
            with open(chunk["file"], "rb") as file:
                file.seek(chunk["offset"])
                self.assertEqual(file.read(1), b"\x06")
        lines = self.run_bag("list", "chunks", bag).stdout.splitlines()
        self.assertEqual(len(lines), len(chunks))
        self.assertRegex(lines[0], r"^\d+: \d+\.\d{9} to \d+\.\d{9}, zstd, \d+ of \d+ bytes, \d+ messages?$")

    def test_a_chunk_without_an_index(self):
        """How many messages it has is not known, and not 0."""
        bag = self.mcap()
        path, cut = self.file_of(bag), self.path("cut.mcap")
        chunk = self.rows("chunks", bag)[0]
        with open(path, "rb") as file:
            data = file.read(chunk["offset"] + 9)
            data += file.read(int.from_bytes(data[-8:], "little"))
        with open(cut, "wb") as file:
            file.write(data)
        self.assertRegex(self.run_bag("list", "chunks", cut, status=3).stdout, r" bytes, no message index\n$")
        row = json.loads(self.run_bag("list", "chunks", cut, "--json", status=3).stdout)
        self.assertIsNone(row["message_count"])

    def test_an_attachment_goes_in_and_out(self):
        data = bytes(range(256)) * 3000
        for index, options in enumerate(((), ("--chunk-compression", "zstd"), ("--max-bag-duration", "99ns"))):
            bag, out = self.mcap(*options, name=f"m{index}"), self.path(f"out{index}")
            before = json.loads(self.run_bag("info", bag, "--json", "--scan").stdout)
            self.attach(bag, data, "--content-type", "application/x", "--log-time", "1050",
                        "--creation-time", "2023-11-14T22:13:20Z")
            row, = self.rows("attachments", bag)
            self.assertEqual(
                {key: row[key] for key in ("name", "media_type", "size", "log_time_ns", "create_time_ns")},
                {"name": "notes.txt", "media_type": "application/x", "size": len(data), "log_time_ns": 1050,
                 "create_time_ns": 1_700_000_000_000_000_000},
            )
            self.attach(bag, b"", name="empty")
            self.run_bag("get", "attachment", bag, "-n", "notes.txt", "-o", out)
            with open(out, "rb") as file:
                self.assertEqual(file.read(), data)
            self.assertEqual(self.run_bag("get", "attachment", bag, "-n", "empty").stdout, "")
            self.run_bag("check", bag)
            after = json.loads(self.run_bag("info", bag, "--json", "--scan").stdout)
            self.assertEqual(after["message_count"], before["message_count"])
            self.assertIn("counts from the summary", self.run_bag("info", bag).stdout)

    def test_metadata(self):
        bag = self.mcap()
        self.run_bag("add", "metadata", bag, "-n", "mine", "-k", "key=value=more", "-k", "other=")
        self.run_bag("add", "metadata", bag, "-n", "none")
        self.assertEqual(json.loads(self.run_bag("get", "metadata", bag, "-n", "mine").stdout),
                         {"key": "value=more", "other": ""})
        names = [row["name"] for row in self.rows("metadata", bag)]
        self.assertEqual(names, ["rosbag2", "mine", "none"])
        self.assertIn(": mine\n  key: value=more\n", self.run_bag("list", "metadata", bag).stdout)
        self.run_bag("check", bag)
        self.run_bag("convert", bag, "-o", self.path("copy"))
        self.assertEqual([row["name"] for row in self.rows("metadata", self.path("copy"))][-2:], ["none", "rosbag2"])

    def test_one_of_several(self):
        bag = self.mcap()
        self.attach(bag, b"first")
        self.attach(bag, b"second")
        result = self.run_bag("get", "attachment", bag, "-n", "notes.txt", status=2)
        self.assertIn("has 2 attachments of this name: choose with --offset", result.stderr)
        offset = self.rows("attachments", bag)[1]["offset"]
        result = self.run_bag("get", "attachment", bag, "-n", "notes.txt", "--offset", str(offset))
        self.assertEqual(result.stdout, "second")

    def test_what_is_refused(self):
        bag = bag_make(self.path("sql"))
        mcap = self.mcap()
        for words, status, text in (
            (("list", "chunks", bag), 2, "a recording of sqlite3; only the chunks of mcap are known here"),
            (("get", "metadata", bag, "-n", "a"), 2, "a recording of sqlite3; only the metadata records of mcap are known here"),
            (("add", "metadata", bag, "-n", "a"), 2, "a recording of sqlite3; only the metadata records of mcap are known here"),
            (("add", "metadata", mcap, "-n", "rosbag2"), 2, "describes the file itself"),
            (("add", "metadata", mcap, "-n", "a", "-k", "b"), 2, "write KEY=VALUE"),
            (("add", "attachment", mcap), 2, "missing: -f FILE\nusage: timebase bag add attachment BAG"),
            (("add", "metadata", mcap), 2, "missing: -n NAME\nusage: timebase bag add metadata BAG -n NAME "),
            (("get", "metadata", mcap), 2, "missing: -n NAME\nusage: timebase bag get metadata BAG -n NAME "),
            (("list", "chunks"), 2, "missing BAG\nusage: timebase bag list chunks|attachments|metadata BAG... "),
            (("add", "attachment", mcap, "-f", self.path("nothing")), 3, "nothing"),
            (("get", "attachment", mcap, "-n", "nothing"), 1, f"has no attachment of this name; see 'timebase bag list attachments {mcap}'"),
            (("get", "metadata", mcap, "-n", "nothing"), 1, f"has no metadata of this name; see 'timebase bag list metadata {mcap}'"),
        ):
            self.assertIn(text, self.run_bag(*words, status=status).stderr, words)

    def test_damage_is_found_and_nothing_is_added(self):
        bag = self.mcap()
        self.attach(bag, b"some notes")
        path = self.file_of(bag)
        with open(path, "rb") as file:
            whole = file.read()
        with open(path, "wb") as file:
            file.write(whole.replace(b"some notes", b"some Notes"))
        result = self.run_bag("get", "attachment", bag, "-n", "notes.txt", "-o", self.path("out"), status=3)
        self.assertIn("the checksum of the attachment is wrong", result.stderr)
        self.assertFalse(os.path.exists(self.path("out")))
        for damaged in (whole[:-5], whole[:-60] + bytes([whole[-60] ^ 1]) + whole[-59:]):
            with open(path, "wb") as file:
                file.write(damaged)
            self.run_bag("add", "metadata", path, "-n", "a", status=3)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), damaged)

    def test_killed_half_way(self):
        """Wherever it is killed in its writing, the file is as it was, and nothing else is left."""
        bag = self.mcap()
        path, data = self.file_of(bag), self.path("data")
        with open(data, "wb") as file:
            file.write(os.urandom(1 << 16) * 64)
        with open(path, "rb") as file:
            before = file.read()
        names = sorted(os.listdir(bag))
        for size in (1, len(before) // 2, len(before) + 1000, 1 << 20, len(before) + (1 << 22)):
            child = subprocess.Popen(
                [bag_command_test.TIMEBASE, "bag", "add", "attachment", bag, "-f", data],
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
            )
            self.assertEqual(-child.wait(LIMIT_S), signal.SIGXFSZ)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), before)
            self.assertEqual(sorted(os.listdir(bag)), names)
        self.run_bag("add", "attachment", bag, "-f", data)
        self.assertEqual(self.rows("attachments", bag)[0]["size"], 1 << 22)
        self.assertEqual(sorted(os.listdir(bag)), names)

    def test_links_and_modes_stay(self):
        bag = self.mcap()
        path, link = self.file_of(bag), self.path("link.mcap")
        os.chmod(path, 0o640)
        os.symlink(path, link)
        self.run_bag("add", "metadata", link, "-n", "a")
        self.assertTrue(os.path.islink(link))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)
        self.assertEqual([row["name"] for row in self.rows("metadata", path)], ["rosbag2", "a"])


if __name__ == "__main__":
    bag_command_test.TIMEBASE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
