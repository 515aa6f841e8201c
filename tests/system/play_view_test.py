#!/usr/bin/env python3
"""The full screen of `timebase play`, on a terminal that is emulated: what is seen, what keys do, and
that the terminal is given back.

usage: play_view_test.py BIN_DIR [TEST...]

Tests wait until the screen shows something, with a generous limit, never for time."""

import itertools
import os
import re
import signal
import sqlite3
import sys
import tempfile
import termios
import time
import unittest

import command_test
from command_test import LIMIT_S, SECOND, CommandTest
from screen import BEGINS, ENDS, TYPE, Screen
from sqlite_bag import sqlite_bag_make

START = 1_700_000_000 * SECOND
TEXT_TYPE = "std_msgs/msg/String"
TRIES = 10  # the machine may be busy: the fastest of these counts
SOON_S = 10  # of an hour
ENTER, ESCAPE, LEFT, RIGHT, PAGE_DOWN = b"\r", b"\x1b", b"\x1b[D", b"\x1b[C", b"\x1b[6~"


def text_message(text):
    data = text.encode() + b"\0"
    return b"\x00\x01\x00\x00" + len(data).to_bytes(4, "little") + data


def bag_make(folder, topics, messages):
    """Of std_msgs/String; messages: (topic, seconds, payload)."""
    return sqlite_bag_make(
        os.path.join(tempfile.mkdtemp(dir=folder), "bag.db3"),
        [(name, "std_msgs/msg/String") for name in topics],
        [(topic, START + int(seconds * SECOND), data) for topic, seconds, data in messages],
    )


class ViewTest(CommandTest):
    domains = itertools.cycle((8, 9))

    def setUp(self):
        super().setUp()
        self.environment["TERM"] = TYPE
        self.environment["LC_ALL"] = "C.UTF-8"


class RecordViewTest(ViewTest):
    def record(self, *arguments):
        path = os.path.join(self.folder, "recorded")
        words = [f"{command_test.BIN_DIR}/timebase", "record", "-a", "-o", path, *arguments]
        return Screen(self, words, self.environment)

    def test_it_fills_the_screen_and_q_ends_it(self):
        view = self.record("--snapshot-mode")
        view.expect("q end")
        self.assertTrue(view.is_raw())
        view.until(lambda: view.row(0).endswith("snapshot mode (s writes)"), "the state")
        self.assertRegex(view.row(1), r"^0:00:\d\d   \d+ messages?   0 lost ")
        self.assertRegex(view.row(2), r"^held: \d+\.\d s, \d\S*B of 105MB, .* disk: \S+B left")
        self.assertRegex(view.row(4), r"^topic +written +held +lost +Hz +B/s$")
        view.press(b"s", "what was held has been written")
        view.press(b" ", "paused (SPACE resumes)")
        view.press(b" ")
        view.expect_gone("paused")
        view.press(b"q")
        view.finish(text=", 0 lost")

    def test_a_signal_gives_the_screen_back(self):
        view = self.record()
        view.expect("recording")
        view.press(b"s", "there is nothing held")
        view.child.send_signal(signal.SIGINT)
        view.finish(text=", 0 lost")

    def test_one_line_if_asked_for(self):
        view = self.record("--plain")
        view.expect("recorded ")
        view.press(b"q")
        view.expect(", 0 lost")
        self.assertEqual(view.child.wait(LIMIT_S), 0)
        self.assertEqual(view.modes(), view.modes_before)
        self.assertNotIn(BEGINS, view.raw)


class PlayViewTest(ViewTest):

    def play(self, bag, *arguments, rows=24, columns=80):
        words = [f"{command_test.BIN_DIR}/timebase", "play", bag, *arguments]
        return Screen(self, words, self.environment, rows, columns)

    def bag(self, count=300, topics=("/a", "/b")):
        """A message each 0.1 s."""
        size = len(topics)
        return bag_make(
            self.folder, topics, [(i % size, i / 10, text_message(str(i))) for i in range(count)]
        )

    def hour_bag(self):
        return bag_make(
            self.folder, ["/a"], [(0, at, text_message("x")) for at in (0, 1, 3601, 3602)]
        )

    # ---- what is seen ----

    def test_it_fills_the_screen_and_gives_it_back(self):
        view = self.play(self.bag(), "--clock")
        view.expect("q quit")
        self.assertTrue(view.is_raw())
        view.until(lambda: view.row(0).endswith("playing"), "the state")
        self.assertRegex(view.row(1), r"^\d\.\d\d s of 29.90 s +\d+ %   wall 0:00:\d\d   2023-11-14T22")
        self.assertRegex(view.row(2), r"^\[=*\|-*\]$")
        self.assertEqual(len(view.row(2)), 80)
        self.assertRegex(view.row(5), r"^topic +sent +recorded +Hz +B/s +subs$")
        self.assertRegex(view.row(6), r"^/a +\d+ +150 ")
        self.assertRegex(view.row(8), r"^/b +\d+ +150 ")
        view.until(lambda: re.match(r" [|\u2581-\u2588]{78}$", view.row(7)), "the time line of /a")
        view.until(lambda: ", achieved " in view.row(3), "the achieved rate")
        view.press(b"q")
        view.finish()

    def test_its_end_gives_the_screen_back(self):
        view = self.play(self.bag(5), "-r", "0.5")
        view.expect("q quit")
        view.finish(text="played to the end at 0.40 s of 0.40 s: 5 messages")

    def test_many_topics_scroll(self):
        topics = [f"/robot_{i}/camera/image_raw" for i in range(60)]
        view = self.play(self.bag(120, topics), "-p")
        view.expect("topic 1-16 of 60")
        view.expect("/robot_15/")
        for first in range(6, 45, 5):
            view.press(PAGE_DOWN, f"topic {first}-{first + 15} of 60")
        view.press(PAGE_DOWN, "topic 45-60 of 60")
        view.expect("/robot_59/")
        view.press(b"q")
        view.finish()

    def test_other_sizes(self):
        view = self.play(self.bag(), "-p")
        view.expect("q quit")
        for rows, columns in ((10, 40), (50, 132), (6, 30), (3, 20), (24, 80)):
            view.set_size(rows, columns)
            view.until(lambda: len(view.row(2)) == columns and view.row(2)[-1] == "]", "the size")
            self.assertIn("0.00 s of", view.row(1))
            if rows > 5:
                view.expect("? help")
                self.assertIn("? help", view.row(rows - 1))
        view.press(b"q")
        view.finish()

    # ---- keys ----

    def test_steps_and_seeks_with_an_hour_between_messages(self):
        view = self.play(self.hour_bag(), "-p")
        view.expect("0.00 s of 3602.00 s")
        for keys, seen in (
            (b".", "1 message"),
            (b".", "2 messages"),
            (b"", "\n1.00 s of"),
            (b".", "3601.00 s of"),
            (b",", "4 messages"),
            (b"", "\n1.00 s of"),
            (b",", "5 messages"),  # sent, and not only found: the step is over
            (b"", "\n0.00 s of"),
            (b",", "no earlier message"),
            (b"5", "1801.00 s of"),
            (RIGHT, "1806.00 s of"),
            (LEFT, "1801.00 s of"),
            (b"9", "3241.80 s of"),
            (b"u", "1801.00 s of"),
            (b"u", "3241.80 s of"),
            (b":1h" + ENTER, "3600.00 s of"),
            (b":-1m" + ENTER, "3540.00 s of"),
            (b":1700000002" + ENTER, "2.00 s of"),
            (b":2023-11-14T22:13:30Z" + ENTER, "10.00 s of"),
            (b":1x" + ENTER, ":1x_  not a time"),
            (b"\x7f\x7f2h" + ENTER, ":2h_  not in the recording, which goes from 0.00 s to 3602.00 s"),
        ):
            view.press(keys, seen)
        view.press(ESCAPE)
        view.expect_gone(":2h_")
        self.assertIn("10.00 s of", view.row(1))
        for keys, seen in (
            (b"m", "mark 1 at 10.00 s"),
            (b"7", "2521.40 s of"),
            (b"m", "mark 2 at 2521.40 s"),
            (b"'", "10.00 s of"),
            (b'"', "2521.40 s of"),
            (b"}", "rate 2"),
            (b"]", "rate 2.2"),
            (b"\x7f", "rate 1"),
            (b"?", "undo the last seek"),
        ):
            view.press(keys, seen)
        self.assertEqual(view.row(2).count("m"), 1)  # the other is where the time is
        view.press(b"?")
        view.expect_gone("undo the last seek")
        view.press(b"q")
        view.finish()

    def test_positions_and_the_key_0_count_from_the_start_of_the_recording(self):
        """/b begins 10 s after /a, which is not played."""
        times = [(0, 0), (1, 10), (1, 20)]
        bag = bag_make(self.folder, ["/a", "/b"], [(i, at, text_message("x")) for i, at in times])
        view = self.play(bag, "-p", "--clock", "--topics", "/b")
        view.expect("0.00 s of 20.00 s")
        for keys, seen in (
            (b".", "10.00 s of"),
            (b"0", "0.00 s of"),
            (b"5", "10.00 s of"),
            (LEFT, "5.00 s of"),
            (b":12.5s" + ENTER, "12.50 s of"),
            (b":25s" + ENTER, "which goes from 0.00 s to 20.00 s"),
        ):
            view.press(keys, seen)
        view.press(ESCAPE)
        view.expect_gone(":25s_")
        view.press(b"q")
        view.finish()

    def at_least(self, view, second):
        """Time is there or later: a busy machine may show no time in between."""
        view.until(lambda: self.position(view) >= second, second)

    @staticmethod
    def position(view):
        match = re.match(r"(\d+\.\d\d) s of", view.row(1))
        return float(match[1]) if match else -1

    def runs_from(self, view, second):
        """Time has continued from there, but not far."""
        view.until(lambda: second < self.position(view) < second + 60, second)

    def test_keys_answer_at_once_while_the_next_message_is_an_hour_away(self):
        view = self.play(self.hour_bag(), "-p", "--clock", "0.001")
        fastest = float("inf")
        for _ in range(TRIES):
            view.press(b":2s" + ENTER, "2.00 s of")
            began = time.monotonic()
            view.press(b" ")
            self.runs_from(view, 2)
            view.press(b":100s" + ENTER)
            self.runs_from(view, 100)
            view.press(b" ", "paused")
            fastest = min(fastest, time.monotonic() - began)
            if fastest < SOON_S:
                break
        self.assertLess(fastest, SOON_S)
        view.press(b" ", "playing")
        view.press(b"q")
        view.finish()

    def test_a_part_is_repeated(self):
        view = self.play(self.bag(), "-p", "--clock")
        view.press(b":5s" + ENTER, "5.00 s of")
        view.press(b"l", "A at 5.00")
        view.press(b" ")
        self.at_least(view, 5.4)
        view.press(b"l")
        view.expect("s (2)")
        self.assertRegex(view.row(2), r"=[A|].*B")
        view.press(b"l", "repeat off")
        self.runs_from(view, 6)
        view.press(b"q")
        view.finish()

    def test_the_table_of_topics(self):
        """One process: subscriptions, order, filter, mute, and the end, at which it waits."""
        bag = self.bag(60, ("/b", "/a", "/c"))
        view = self.play(bag, "-p", "--hold", "-r", "2")
        view.until(lambda: view.row(6).endswith(" 0"), "no subscription")
        view.press(b"s", ", by name")
        view.until(lambda: view.row(6).startswith("/a "), "the order")
        view.press(b"j")
        view.press(b"x")
        view.until(lambda: re.match(r"/a +\d+ +20 +muted ", view.row(6)), "the mute")
        view.press(b"/C", "topic /C, by name")
        view.until(lambda: view.row(6).startswith("/c ") and view.row(8) == "", "the filter")
        view.press(ESCAPE)
        view.until(lambda: view.row(6).startswith("/a "), "no filter")
        view.press(b"X")
        view.until(lambda: "muted" not in view.row(6), "no mute")
        view.press(b" ", "at the end")
        view.until(lambda: "5.90 s of 5.90 s" in view.row(1), "the end")
        view.press(b"0 ", "paused")
        view.until(lambda: re.match(r"[0-4]\.\d\d s of", view.row(1)), "the start")
        view.press(b"9")
        view.until(lambda: view.row(1).startswith("5.31 s of"), "nine tenths")
        view.press(b"q")
        view.finish()

    def test_hold_at_the_end_of_time(self):
        """The last message is at the last nanosecond that there is: its end is waited at, and left."""
        last = 2**63 - 1
        bag = sqlite_bag_make(os.path.join(self.folder, "last.db3"), [("/a", TEXT_TYPE)],
                              [(0, last - i * SECOND // 10, text_message("x")) for i in reversed(range(20))])
        view = self.play(bag, "--hold", "-r", "2")
        view.expect("at the end")
        view.expect("\n1.90 s of 1.90 s")
        view.press(RIGHT)  # the last message once more, unless the next key comes before it
        view.press(b"0", "playing")
        view.until(lambda: re.match(r"[01]\.[0-8]\d s of 1.90 s", view.row(1)), "the start")
        view.until(lambda: "at the end" in view.row(0) and re.search("4[01] messages", view.text()), "the end again")
        view.press(b"q")
        view.finish(text="of 1.90 s: 4")

    def test_a_burst_is_said_on_the_screen(self):
        """What it has done is one of the screen's lines, and printed once more at the end."""
        words = [f"{command_test.BIN_DIR}/timebase", "bag", "burst", "-n", "5", self.bag()]
        view = Screen(self, words, self.environment)
        view.expect("5 messages sent, paused")
        rows = [row for row in range(24) if "5 messages sent, paused" in view.row(row)]
        self.assertEqual(len(rows), 1)
        self.assertIn("notice: 5 messages sent, paused", view.row(rows[0]))
        self.assertNotIn(b"timebase bag burst: 5 messages", view.raw)
        view.press(b"q")
        view.finish(text="stopped at ")
        self.assertIn(b"notice: 5 messages sent, paused", view.raw[view.raw.rindex(ENDS):])

    def test_the_mouse_on_the_timeline(self):
        view = self.play(self.hour_bag(), "-p")
        view.expect("0.00 s of 3602.00 s")
        self.assertIn(b"\x1b[?1002;1006h", view.raw)
        view.press(b"\x1b[<0;80;3M")  # the bracket, and not the timeline
        view.press(b"\x1b[<0;79;3M", "3602.00 s of")
        view.press(b"\x1b[<0;79;3m\x1b[<0;2;3M", "0.00 s of 3602.00 s")
        view.press(b"\x1b[<32;41;3M", "1824.39 s of")  # moved
        view.press(b"\x1b[<0;40;8Mu")  # elsewhere; all of the drag is undone
        view.until(lambda: view.row(1).startswith("3602.00 s of"), "the place before the drag")
        view.press(b"q")
        view.finish()
        self.assertGreater(view.raw.rfind(b"\x1b[?1002;1006l"), view.raw.rfind(b"\x1b[?1002;1006h"))

    def colours_of(self, **environment):
        self.environment.pop("NO_COLOR", None)
        self.environment.update(environment)
        view = self.play(self.bag(5), "-p")
        view.expect("q quit")
        view.press(b"q")
        view.finish()
        return re.findall(rb"\x1b\[[0-9;]*3[0-7]m", view.raw)

    def test_colours(self):
        self.assertTrue(self.colours_of(TERM="screen-256color"))
        self.assertEqual(self.colours_of(TERM="screen-256color", NO_COLOR="1"), [])

    # ---- ends ----

    def test_signals_give_the_screen_back(self):
        bag = self.bag()
        for end in (signal.SIGTERM, signal.SIGINT, b"\x03"):
            view = self.play(bag)
            view.expect("q quit")
            if isinstance(end, bytes):
                view.press(end)
            else:
                view.child.send_signal(end)
            view.finish()

    def test_warnings_show_and_are_printed_after_it(self):
        bag = bag_make(self.folder, ["/a"], [(0, time_s, text_message("x")) for time_s in (0, 0.1, 5)])
        database = sqlite3.connect(bag)
        database.execute("UPDATE messages SET topic_id = 99 WHERE id = 2")
        database.commit()
        database.close()
        view = self.play(bag, "-p")
        view.expect("q quit")
        view.press(b" ", "warning: ")
        view.until(lambda: "warning: " in view.row(21), "the warning above the prompt")
        view.until(lambda: view.row(0).endswith("playing"), "the state")
        view.press(b"9}}}}")
        view.finish(3, "of the recording could not be read")
        after = view.raw[view.raw.rfind(ENDS) :]
        self.assertIn(b"timebase play: warning: ", after)

    def test_a_wrong_bag_leaves_the_terminal_alone(self):
        path = os.path.join(self.folder, "none.db3")
        view = self.play(path)
        view.expect("timebase play: ")
        self.assertEqual(view.child.wait(LIMIT_S), 3)
        self.assertEqual(view.modes(), view.modes_before)
        self.assertNotIn(BEGINS, view.raw)

    def test_stopping_and_going_on(self):
        words = ["bash", "--norc", "--noediting", "-i"]
        self.environment["PS1"] = "shell: "
        shell = Screen(self, words, self.environment)
        shell.expect("shell:")
        command = f"{command_test.BIN_DIR}/timebase play {self.bag()} -p"
        shell.press(command.encode() + b"\n", "q quit")
        self.assertTrue(shell.is_raw())
        shell.press(b"\x1a", "Stopped")
        self.assertTrue(shell.modes()[3] & termios.ICANON and shell.modes()[3] & termios.ECHO)
        shell.press(b"clear; echo in between\n", "in between\nshell:")
        shell.set_size(30, 100)
        shell.press(b"fg\n", "q quit")
        shell.until(lambda: len(shell.row(2)) == 100, "the new size")
        self.assertTrue(shell.is_raw())
        shell.press(b"3", "8.97 s of")
        shell.press(b"\x1a", "Stopped")
        shell.press(b"clear; bg; echo -n; jobs\n", "Running")  # it does not touch the terminal
        self.assertFalse(shell.is_raw())
        shell.press(b"clear; fg\n", "q quit")
        shell.press(b"q", "stopped at 8.97 s")
        shell.press(b"exit\n")
        self.assertEqual(shell.child.wait(LIMIT_S), 0)

    def test_a_stop_in_between_makes_nothing_late(self):
        self.environment["PS1"] = "shell: "
        shell = Screen(self, ["bash", "--norc", "--noediting", "-i"], self.environment)
        shell.expect("shell:")
        command = f"{command_test.BIN_DIR}/timebase play {self.bag()} --start-offset 5"
        shell.press(command.encode() + b"\n")
        self.at_least(shell, 6)
        shell.press(b"\x1a", "Stopped")
        time.sleep(1)  # in which ten messages would have been due
        shell.press(b"clear; fg\n")
        self.at_least(shell, 7.5)
        shell.press(b"q", "stopped at")
        shell.press(b"exit\n")
        self.assertEqual(shell.child.wait(LIMIT_S), 0)
        self.assertIsNone(re.search(rb"\d late|held back", shell.raw))

    # ---- one line ----

    def check_one_line(self, *arguments, rows=24, columns=80):
        view = self.play(self.bag(), "-p", *arguments, rows=rows, columns=columns)
        view.expect("0.00 / 29.90 s")
        view.press(b"5", "14.9")
        if columns > 70:
            view.press(b"l", "A at 14.9")
            view.press(b":1x" + ENTER, ":1x_ not a time")
            view.press(ESCAPE)
            view.expect_gone(":1x_")
            view.press(b"?", "keys: play --help")
        view.press(b"q", "stopped at")
        self.assertEqual(view.child.wait(LIMIT_S), 0)
        self.assertEqual(view.modes(), view.modes_before)
        self.assertNotIn(BEGINS, view.raw)

    def test_one_line_if_asked_for(self):
        self.check_one_line("--plain")

    def test_one_line_on_simple_terminals(self):
        for name in ("dumb", "", "no-such-terminal"):
            self.environment["TERM"] = name
            self.check_one_line()

    def test_one_line_on_small_terminals(self):
        self.check_one_line(rows=5)
        self.check_one_line(columns=29)


if __name__ == "__main__":
    command_test.BIN_DIR = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
