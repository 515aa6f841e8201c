#!/usr/bin/env python3
"""A recording is played at 1x, at 5x and as fast as possible, and recorded again: `timebase check
--against` finds every message, in order, and prints how far the gaps are off.

usage: check_against_test.py BIN_DIR [TEST...]"""

import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from command_test import LIMIT_S, SECOND, CommandTest, Process
from sqlite_bag import sqlite_bag_make

BIN_DIR = None
TRIES = 3  # where the recorder finds the player too late
MS = SECOND // 1000
NOW = 1_700_000_000 * SECOND
TOPICS = {"/fast": 100, "/usual": 25, "/slow": 10}  # Hz
LENGTH_S = 4


def string(value):
    data = value.encode() + b"\0"
    return b"\0\1\0\0" + len(data).to_bytes(4, "little") + data


class AgainstTest(CommandTest):
    domains = itertools.cycle((60, 61, 62))

    def setUp(self):
        super().setUp()
        self.bag = self.make(os.path.join(self.folder, "bag_0.db3"))

    def command(self, *arguments):
        return [f"{BIN_DIR}/timebase", *arguments]

    def run_command(self, *arguments, status=0):
        done = subprocess.run(self.command(*arguments), env=self.environment, capture_output=True,
                              text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        return done

    def compare(self, bag, *arguments, status=0):
        done = self.run_command("check", bag, "--against", self.bag, "--json", *arguments,
                                status=status)
        return json.loads(done.stdout)

    def make(self, path):
        """With gaps that differ, and texts that do not come again."""
        choose = random.Random(7)
        messages = []
        for topic, rate in enumerate(TOPICS.values()):
            for i in range(LENGTH_S * rate):
                at = NOW + i * SECOND // rate + choose.randrange(3 * MS)
                messages.append((topic, at, string(f"{topic} {i}")))
        messages.sort(key=lambda message: message[1])
        self.count = len(messages)
        return sqlite_bag_make(path, [(name, "std_msgs/msg/String") for name in TOPICS], messages)

    def replay(self, out, *arguments):
        recorder = Process(self, self.command("record", *TOPICS, "-o", out), self.environment)
        recorder.expect("recording to ")
        self.run_command("play", self.bag, "--delay", "2", *arguments)
        recorder.child.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(), 0, recorder.errors)

    def check_replay(self, *arguments):
        for _ in range(TRIES):
            out = os.path.join(self.folder, f"replay_{len(os.listdir(self.folder))}")
            self.replay(out, *arguments)
            info = json.loads(self.run_command("bag", "info", out, "--json").stdout)
            if info["message_count"] == self.count:
                break
        contract = json.loads(self.run_command("check", out, "--json").stdout)
        rules = {finding["rule"] for finding in contract["findings"]}
        self.assertLessEqual(rules, {"recorder-unsynchronized"})  # the host's clock may be
        self.assertEqual(contract["log_times"]["are"], "system time at reception")
        found = self.compare(out)
        self.assertTrue(found["good"])
        self.assertEqual(found["matched"], self.count)
        for name in ("missing", "outside", "extra", "reordered", "unread"):
            self.assertEqual(found[name], 0, name)
        self.assertEqual([topic["name"] for topic in found["topics"]], sorted(TOPICS))
        print(f"\nplayed with {arguments}: rate {found['rate']:.3f}, "
              f"{found['inversions']} messages after a later one of another topic")
        for topic in found["topics"]:
            gap = topic["gap_error"]
            self.assertEqual(gap["count"], topic["matched"] - 1)
            self.assertLessEqual(gap["p50_ns"], gap["p99_ns"])
            self.assertLessEqual(gap["p99_ns"], abs(gap["worst_ns"]))
            print(f"  {topic['name']}: gap error p50 {gap['p50_ns'] / MS:.3f} ms, "
                  f"p99 {gap['p99_ns'] / MS:.3f} ms, worst {gap['worst_ns'] / MS:.3f} ms")
        return out, found

    def test_at_1x(self):
        out, found = self.check_replay()
        self.assertLess(found["rate"], 1.1)  # it may be slower where the machine is busy
        text = self.run_command("check", out, "--against", self.bag).stdout
        self.assertTrue(text.startswith("all that was played: "), text)
        # The same recording with a message less, and one too many.
        plain = os.path.join(self.folder, "plain")
        self.run_command("bag", "convert", out, "-o", plain, "-s", "sqlite3")
        path = os.path.join(plain, "plain_0.db3")
        database = sqlite3.connect(path)
        database.execute("DELETE FROM messages WHERE id = 20")
        database.execute("UPDATE messages SET data = ? WHERE id = 40", (string("another"),))
        database.commit()
        database.close()
        found = self.compare(path, status=1)
        self.assertFalse(found["good"])
        self.assertEqual((found["missing"], found["extra"]), (2, 1))
        page, junit = (os.path.join(self.folder, name) for name in ("page.html", "junit.xml"))
        self.compare(path, "--html", page, "--junit", junit, status=1)
        shown = "".join(xml.etree.ElementTree.parse(page).getroot().itertext())
        self.assertIn("are missing in the replay", shown)
        self.assertIn(self.bag, shown)
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
        failed = {case.get("name"): case.find("failure") is not None for case in suite}
        self.assertEqual(failed, {"replay-missing": True, "replay-extra": True, "replay-reordered": False})
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "2"))

    def test_at_5x(self):
        rates = []
        while not rates or rates[-1] >= 5.5:  # the first message is received late on a busy machine
            self.assertLess(len(rates), TRIES, rates)
            rates.append(self.check_replay("--rate", "5")[1]["rate"])

    def test_as_fast_as_possible(self):
        found = self.check_replay("--rate", "max")[1]
        self.assertGreater(found["rate"], 5)

    def test_a_part_of_it(self):
        out = os.path.join(self.folder, "part")
        self.replay(out, "--start-offset", "1", "--playback-duration", "2", "--rate", "5")
        found = self.compare(out)
        self.assertEqual(found["missing"] + found["extra"], 0)
        self.assertEqual(found["matched"] + found["outside"], self.count)
        self.assertGreater(found["outside"], self.count // 3)

    def test_usage(self):
        self.run_command("check", self.bag, "--rate", "1", status=2)
        self.run_command("check", self.bag, "--against", self.bag, "-m", "x", status=2)
        self.run_command("check", self.bag, "--against", os.path.join(self.folder, "x"), status=3)
        self.run_command("check", self.bag, "--against", self.bag, "--rate", "0", status=2)
        found = self.compare(self.bag)
        self.assertEqual(found["matched"], self.count)
        self.assertEqual({topic["gap_error"]["worst_ns"] for topic in found["topics"]}, {0})


if __name__ == "__main__":
    BIN_DIR = sys.argv[1]
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
