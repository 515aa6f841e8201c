#!/usr/bin/env python3
"""Text of recordings, files and arguments that would move the cursor, end the line or turn text around
is escaped wherever the command prints it.

usage: text_test.py BIN_DIR HOSTILE [TEST...]

HOSTILE holds recordings whose names were made to lie, in mcap/ and sqlite3/; what is not there is left
out."""

import glob
import itertools
import json
import os
import re
import select
import shutil
import sqlite3
import struct
import subprocess
import sys

import in_parts
from command_test import LIMIT_S, CommandTest
from sqlite_bag import sqlite_bag_make
from terminal import Terminal

BIN_DIR = HOSTILE = None
SECOND = 1_000_000_000
# Colours, a title, CSI in one character and in one byte, an end of the line, text that runs to the left.
EVIL = "\x1b[31;47m\x1b]0;TITLE\a\u009b33m\r\nFAKE\x7f\u202e".encode() + b"\x9b35m\xff"
SHOWN = "\\x1b[31;47m"
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
LIES = (b"\x1b[31;47m", b"\x1b]0;TITLE", "\u009b".encode(), b"\x9b35m", b"\nFAKE", "\u202e".encode(), b"\xff")


def evil_bag_make(folder):
    """Two topics; one of them has a name, a type, a format and QoS that do harm."""
    os.makedirs(folder)
    path = os.path.join(folder, b"bag_0.db3")
    sqlite_bag_make(
        path.decode("utf-8", "surrogateescape"),
        [("/evil", "std_msgs/msg/String"), ("/plain", "std_msgs/msg/String")],
        [(index % 2, index * SECOND // 100, b"\0\1\0\0\4\0\0\0abc\0") for index in range(100)],
    )
    database = sqlite3.connect(path)
    database.execute(
        "UPDATE topics SET name = CAST(? AS TEXT), type = CAST(? AS TEXT), serialization_format = CAST(? AS TEXT),"
        " offered_qos_profiles = CAST(? AS TEXT) WHERE id = 1",
        (b"/evil" + EVIL, b"evil_msgs/msg/" + EVIL, b"cdr" + EVIL, b"- " + EVIL),
    )
    database.commit()
    database.close()
    return folder


def terminal_has_more(terminal):
    return bool(select.select([terminal.master], [], [], 0.05)[0])


def mcap_record(opcode, body):
    return bytes((opcode,)) + struct.pack("<Q", len(body)) + body


def mcap_text(text):
    return struct.pack("<I", len(text)) + text


def evil_mcap_make(path):
    """No chunks, no summary."""
    records = [
        mcap_record(1, mcap_text(b"ros2" + EVIL) + mcap_text(EVIL)),
        mcap_record(3, struct.pack("<H", 1) + mcap_text(b"m/msg/" + EVIL) + mcap_text(b"x" + EVIL) + mcap_text(EVIL)),
        mcap_record(4, struct.pack("<HH", 1, 1) + mcap_text(b"/evil" + EVIL) + mcap_text(b"cdr" + EVIL) + mcap_text(b"")),
        mcap_record(12, mcap_text(b"note" + EVIL) + mcap_text(mcap_text(b"k" + EVIL) + mcap_text(b"v" + EVIL))),
        *(mcap_record(5, struct.pack("<HIQQ", 1, i, i * 1000, i * 1000) + b"\0\1\0\0abcd") for i in range(1, 20)),
        mcap_record(15, struct.pack("<I", 0)),
        mcap_record(2, struct.pack("<QQI", 0, 0, 0)),
    ]
    magic = b"\x89MCAP0\r\n"
    with open(path, "wb") as file:
        file.write(magic + b"".join(records) + magic)


class TextTest(CommandTest):
    domains = itertools.cycle((38, 39))

    def setUp(self):
        super().setUp()
        self.evil_path = os.path.join(self.folder.encode(), b"bag" + EVIL)
        self.bag = evil_bag_make(self.evil_path)

    def run_to_end(self, *arguments, status=None):
        """What is printed in a pipe; checks that it is harmless."""
        done = subprocess.run(
            [f"{BIN_DIR}/timebase", *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
        text = done.stdout.decode("utf-8")  # fails if it is none
        self.assertIsNone(HARMFUL.search(text), (arguments, text))
        self.assertNotIn("\nFAKE", text, arguments)
        if status is not None:
            self.assertEqual(done.returncode, status, (arguments, text))
        return text

    def run_on_terminal(self, *arguments, columns=200):
        terminal = Terminal(self, [f"{BIN_DIR}/timebase", *arguments], self.environment, columns=columns)
        seen = b""
        while terminal.child.poll() is None or terminal_has_more(terminal):
            if terminal_has_more(terminal):
                seen += os.read(terminal.master, 4096)
        for lie in LIES:
            self.assertNotIn(lie, seen, arguments)
        return seen

    def recordings(self):
        """sqlite3 and MCAP, as they are and cut off."""
        for folder, name in ((self.bag, b"bag_0.db3"), (None, b"bag.mcap")):
            path = os.path.join(folder, name) if folder else os.path.join(self.folder.encode(), EVIL + name)
            if not folder:
                evil_mcap_make(path)
            yield folder or path
            cut = os.path.join(self.folder.encode(), EVIL + b"cut" + name)
            shutil.copyfile(path, cut)
            os.truncate(cut, os.path.getsize(cut) * 2 // 3)
            yield cut

    def test_recordings(self):
        for number, bag in enumerate(self.recordings()):
            out = os.path.join(self.folder.encode(), b"out%d" % number)
            for arguments in (
                ("info", bag),
                ("info", "--json", bag),
                ("check", bag),
                ("convert", bag, "-o", out + b"1", "-s", "mcap"),
                ("convert", bag, "-o", out + b"2", "-s", "sqlite3"),
                ("convert", bag, "-o", out + EVIL),
                ("cut", bag, "-o", out + b"3", "--topics", "/nope" + "\x1b[31;47m"),
                ("cut", bag, "-o", out + b"4", "--start", "+0.1s"),
                ("recover", bag, "-o", out + b"5"),
                ("recover", bag, "-o", out + b"5"),
            ):
                with self.subTest(arguments=arguments):
                    self.run_to_end("bag", *arguments)
        self.assertIn(SHOWN, self.run_to_end("bag", "info", self.bag, status=0))
        self.assertIn(SHOWN, self.run_to_end("bag", "check", self.bag))

    def test_json_is_json(self):
        text = self.run_to_end("bag", "info", "--json", self.bag, status=0)  # after the library's warnings
        found = json.loads(text[text.index("{"):])
        names = [topic["name"] for topic in found["topics"]]
        self.assertEqual(len(names), 2)
        self.assertIn("/plain", names)
        evil = next(name for name in names if name.startswith("/evil"))
        self.assertIn("TITLE", evil)
        self.assertIn("FAKE", evil)
        self.assertNotIn("\x1b", evil)

    def test_columns(self):
        lines = self.run_to_end("bag", "info", self.bag, status=0).split("\n")
        plain = next(line for line in lines if line.startswith("  /plain"))
        evil = next(line for line in lines if line.startswith("  /evil"))
        self.assertTrue(plain.endswith(" 50 messages") and evil.endswith(" 50 messages"))

    def test_playing(self):
        evil_file = os.path.join(self.folder.encode(), b"qos" + EVIL)
        with open(evil_file, "wb") as file:
            file.write(b'"/a\\e[31;47m":\n  reliability: "\\e[31;47m"\n')
        for arguments in (
            ("-r", "max", self.bag),
            ("-r", "max", self.bag, "--topics", "/nope"),
            ("-r", "max", self.bag, "-x", "nope"),
            ("-r", "max", self.bag, "-x", b"nope" + EVIL),
            ("-r", "max", self.bag, "-x", b"(" + EVIL),
            ("-r", "max", self.bag, "--remap", b"a:=" + EVIL),
            ("-r", "max", self.bag, "--qos-profile-overrides-path", evil_file),
            ("-r", "max", self.evil_path + b"nope"),
            ("-r", "max", self.bag, "--wait-for", b"/x=/y" + EVIL),
        ):
            with self.subTest(arguments=arguments):
                self.run_to_end("play", *arguments)
        self.assertIn(SHOWN, self.run_to_end("play", "-r", "max", self.bag, "-x", "nope"))

    def test_terminals(self):
        for arguments in (
            ("bag", "info", self.bag),
            ("bag", "check", self.bag),
            ("play", "-r", "max", self.bag),
            ("play", "-r", "2", self.bag),
            ("play", "-r", "max", "--no-screen", self.bag),
            ("play", "-r", "max", self.evil_path + b"nope"),
        ):
            with self.subTest(arguments=arguments):
                seen = self.run_on_terminal(*arguments)
                if arguments[0] == "bag":
                    self.assertIn(SHOWN.encode(), seen)
                self.run_on_terminal(*arguments, columns=40)

    def test_arguments(self):
        evil = EVIL
        for arguments in (
            (evil,),
            (b"--" + EVIL,),
            ("bag", evil),
            ("bag", "info", b"--" + EVIL),
            ("bag", "info", b"-\x1b"),
            ("bag", "info", "a", evil),
            ("bag", "check", evil),
            ("play", b"--rate=" + EVIL, "x"),
            ("play", "x", "--clock-topics", evil),
            ("record", "-e", b"(" + EVIL),
            ("record", "-a", "-s", evil),
            ("record", "-a", "-o", self.evil_path),
            ("record", "-a", "-o", b"new", "--qos-profile-overrides-path", evil),
            ("serve", evil),
            ("serve", b"--factor=" + EVIL),
            ("sleep", evil),
            ("now", b"--limit=" + EVIL),
            ("watch", b"--topic=" + EVIL),
            ("nodes", evil),
            ("param", evil),
            ("param", "get", evil, evil),
            ("sim-time", evil),
        ):
            with self.subTest(arguments=arguments):
                self.assertTrue(self.run_to_end(*arguments))

    def test_the_environment(self):
        for name in ("TIMEBASE_SOURCE", "ROS_DOMAIN_ID"):
            with self.subTest(name=name):
                self.environment[name] = "shm:" + EVIL.decode("utf-8", "surrogateescape")
                self.run_to_end("now", "--limit", "10ms")
                self.environment[name] = "39"
                if name == "TIMEBASE_SOURCE":
                    del self.environment[name]

    def test_hostile_recordings(self):
        paths = sorted(glob.glob(f"{HOSTILE}/*/*.mcap") + glob.glob(f"{HOSTILE}/*/*.db3"))
        if not paths:
            self.skipTest(f"no recordings in {HOSTILE}")
        for path in paths:
            with self.subTest(path=path):
                self.run_to_end("bag", "info", path)
                self.run_to_end("bag", "info", "--json", path)
                self.run_to_end("bag", "check", path)
                if re.match("(topic|type|attname|meta|two|dup)_", os.path.basename(path)):
                    out = os.path.join(self.folder, os.path.basename(path))
                    self.run_to_end("bag", "recover", path, "-o", out + "1")
                    self.run_to_end("bag", "convert", path, "-o", out + "2", "-s", "sqlite3")
                    self.run_to_end("bag", "convert", path, "-o", out + "3", "-s", "mcap")
                    self.run_to_end("bag", "info", out + "3")
                    self.run_to_end("bag", "cut", path, "-o", out + "4", "--topics", "/nope")
                    self.run_to_end("play", "-r", "max", path)


if __name__ == "__main__":
    BIN_DIR, HOSTILE = sys.argv[1:3]
    in_parts.main([sys.argv[0], *sys.argv[3:]], 2)
