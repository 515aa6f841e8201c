#!/usr/bin/env python3
"""The progress of commands that read recordings: on a terminal, and nowhere else.

usage: progress_test.py BIN_DIR SLOW_DISK [TEST...]

The disk stops a copy for as long as the test wants, so no time is measured."""

import os
import select
import subprocess
import sys
import time
import unittest

import command_test
from command_test import LIMIT_S, SECOND, CommandTest
from sqlite_bag import sqlite_bag_make
from terminal import Terminal

CLEARED = b"\r\x1b[K"
HELD_S = 1.5  # a line would come after a second; what is not shown by then is not seen to be wrong


class ProgressTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment["TERM"] = "xterm"
        self.flag = os.path.join(self.folder, "stopped")
        self.slow = dict(
            self.environment,
            LD_PRELOAD=SLOW_DISK,
            TB_SLOW_DISK=self.flag,
            ASAN_OPTIONS="verify_asan_link_order=0",
        )
        open(self.flag, "wb").close()
        messages = [(0, 1_700_000_000 * SECOND + i, b"\0\1\0\0\1\0\0\0\0") for i in range(3)]
        self.bag = os.path.join(self.folder, "bag.db3")
        sqlite_bag_make(self.bag, [("/a", "std_msgs/msg/String")], messages)

    def words(self, *arguments):
        output = os.path.join(self.folder, "out")
        return [f"{command_test.BIN_DIR}/timebase", "bag", "convert", self.bag, "-o", output, *arguments]

    def read_to_end(self, terminal):
        """What it prints until it has ended, and the status."""
        data = b""
        while terminal.child.poll() is None or select.select([terminal.master], [], [], 0)[0]:
            if select.select([terminal.master], [], [], 0.05)[0]:
                data += os.read(terminal.master, 65536)
        return data, terminal.child.wait()

    def test_the_line_is_there_and_goes(self):
        terminal = Terminal(self, self.words(), self.slow, columns=40)
        terminal.expect(b"\rbag convert: ")
        terminal.expect(b"\rbag convert: ")  # again
        os.remove(self.flag)
        data, status = self.read_to_end(terminal)
        before, cleared, after = data.rpartition(CLEARED)
        self.assertEqual((status, cleared), (0, CLEARED), data)
        self.assertRegex(after, rb"^/\S*out: 3 messages, .*\r\n$")
        self.assertTrue(all(len(row) < 40 for row in before.split(b"\r")), data)

    def test_of_cat_while_its_messages_go_elsewhere(self):
        """Whoever they go to takes them late."""
        text = b"\0\1\0\0\xe9\3\0\0" + 1000 * b"x" + b"\0"
        messages = [(0, 1_700_000_000 * SECOND + i, text) for i in range(1000)]
        path = os.path.join(self.folder, "large.db3")
        sqlite_bag_make(path, [("/a", "std_msgs/msg/String")], messages)
        taken, given = os.pipe()
        terminal = Terminal(self, [f"{command_test.BIN_DIR}/timebase", "bag", "cat", path], self.environment, stdout=given)
        os.close(given)
        terminal.expect(b"\rbag cat: ")
        with open(taken, "rb") as lines:
            self.assertEqual(lines.read().count(b"---\n"), 1000)
        data, status = self.read_to_end(terminal)
        self.assertEqual((status, CLEARED in data), (0, True), data)

    def test_of_commands_that_only_read(self):
        """The first read of the file does not end."""
        os.remove(self.flag)
        self.assertEqual(self.result(*self.words("-s", "mcap")[1:])[0], 0)
        path = os.path.join(self.folder, "out")
        stuck = dict(self.slow, TB_STUCK_FILE=os.path.join(path, "out_0.mcap"))
        for verb in "du", "reindex":
            terminal = Terminal(self, [f"{command_test.BIN_DIR}/timebase", "bag", verb, path], stuck)
            terminal.expect(b"\rbag " + verb.encode() + b": ")
            terminal.child.kill()

    def test_of_add(self):
        os.remove(self.flag)
        self.assertEqual(self.result(*self.words("-s", "mcap")[1:])[0], 0)
        open(self.flag, "wb").close()
        words = ["add", "metadata", os.path.join(self.folder, "out"), "-n", "name"]
        terminal = Terminal(self, [f"{command_test.BIN_DIR}/timebase", "bag", *words], self.slow)
        terminal.expect(b"\rbag add: ")
        os.remove(self.flag)
        data, status = self.read_to_end(terminal)
        self.assertEqual((status, CLEARED in data), (0, True), data)

    def check_nothing(self, arguments, **environment):
        terminal = Terminal(self, self.words(*arguments), dict(self.slow, **environment))
        time.sleep(HELD_S)
        os.remove(self.flag)
        data, status = self.read_to_end(terminal)
        self.assertEqual(status, 0)
        self.assertRegex(data, rb"^/\S*out: 3 messages, .*\r\n$")

    def test_nothing_with_quiet(self):
        self.check_nothing(["--quiet"])

    def test_nothing_on_a_simple_terminal(self):
        self.check_nothing([], TERM="dumb")

    def test_nothing_in_a_pipe(self):
        with subprocess.Popen(
            self.words(), env=self.slow, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as child:
            time.sleep(HELD_S)
            os.remove(self.flag)
            _, err = child.communicate(timeout=LIMIT_S)
        self.assertEqual((child.returncode, err), (0, b""))

    def test_every_command_takes_the_option(self):
        for words in (*(["bag", verb] for verb in ("info", "check", "recover", "cut", "du", "reindex", "add", "cat")),
                      ["check"], ["manifest", "init"]):
            _, out, _ = self.result(*words, "--help")
            self.assertIn("  --quiet ", out, words)
        self.assertEqual(self.result("bag", "check", "--quiet", self.bag)[0], 0)
        self.assertEqual(self.result("bag", "info", "--quiet", "--scan", self.bag)[0], 0)
        self.assertEqual(self.result("bag", "du", "--quiet", self.bag)[0], 0)
        self.assertEqual(self.result("bag", "cat", "--quiet", self.bag)[0], 0)


if __name__ == "__main__":
    command_test.BIN_DIR, SLOW_DISK = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
