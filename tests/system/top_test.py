#!/usr/bin/env python3
"""`timebase top`, on a terminal that is emulated: what is seen of publishers with faults, what keys
do, and that the terminal is given back.

usage: top_test.py BIN_DIR OBSERVE_PEER [TEST...]

Tests wait until the screen shows something, with a generous limit, never for time."""

import itertools
import os
import re
import signal
import sys
import termios
import threading

import command_test
import in_parts
import observing
from command_test import LIMIT_S, SECOND
from observing import ObservingTest
from screen import BEGINS, ENDS, TYPE, Screen

ENTER, ESCAPE, DOWN, PAGE_DOWN = b"\r", b"\x1b", b"\x1b[B", b"\x1b[6~"
CLEAR = b"\x15"


class TopTest(ObservingTest):
    domains = itertools.cycle((20, 21, 22))

    def setUp(self):
        super().setUp()
        self.environment["TERM"] = TYPE
        self.environment["LC_ALL"] = "C.UTF-8"

    def top(self, *arguments, rows=24, columns=80):
        words = [f"{command_test.BIN_DIR}/timebase", "top", *arguments]
        return Screen(self, words, self.environment, rows, columns)

    def row(self, view, topic):
        """What is in the row of a topic, or None."""
        found = [line for line in view.text().split("\n") if re.match(rf"[ !]{topic}\s", line)]
        return found[0].split() if len(found) == 1 else None

    def until_row(self, view, topic, is_right):
        view.until(lambda: (row := self.row(view, topic)) and is_right(row), topic)
        return self.row(view, topic)

    def ready(self, *topics, arguments=(), rows=24, columns=80):
        """A peer and a view whose readers are matched and know the types."""
        peer = self.peer(*(f"open {topic}" for topic in topics))
        view = self.top(*(arguments or topics), rows=rows, columns=columns)
        self.tell(peer, *(f"wait {topic}" for topic in topics))
        for topic in topics:
            self.until_row(view, topic, lambda row: "-" in row and row.count("?") <= (columns >= 120))
        return peer, view

    def quit(self, view):
        view.press(b"q")
        self.gives_back(view)

    def gives_back(self, view, status=0):
        """It has ended and left the terminal as it was."""
        view.until(lambda: view.raw.count(BEGINS) == view.raw.count(ENDS) > 0, "the end")
        self.assertEqual(view.child.wait(LIMIT_S), status)
        self.assertEqual(view.modes(), view.modes_before)
        self.assertGreater(view.raw.rfind(ENDS), view.raw.rfind(BEGINS))

    # ---- what is seen ----

    def test_rows_and_findings(self):
        peer, view = self.ready("/good", "/zero", "/silent", columns=120)
        self.assertTrue(view.is_raw())
        self.assertRegex(view.row(0), r"^0:00:\d\d  domain \d+  3 topics")
        self.assertIn("ROS time is system time", view.row(1))
        self.tell(peer, "send /good 200 now 0 0 5", "send /zero 10 zero 0 0")
        view.expect("stamp-zero /zero of /peer: 10 of 10 stamps are 0")
        good = self.until_row(view, "/good", lambda row: len(row) == 9)
        self.assertEqual(good[1], "/peer")
        hz, jitter, age, p99, travel, gaps, missed = map(float, good[2:])
        self.assertTrue(0 <= age <= p99 and travel >= 0 and jitter >= 0 and hz <= 201, good)
        self.assertEqual((gaps, missed), (0, 0))
        self.assertTrue(any(line.startswith("!/zero") for line in view.screen.display))
        self.assertEqual(self.row(view, "/silent")[1:4], ["?", "-", "-"])
        self.quit(view)

    def test_columns_grow_with_the_terminal(self):
        peer, view = self.ready("/good")
        self.tell(peer, "send /good 20 now 0 0")
        for rows, columns, titles in (
            (10, 40, "TOPIC↑ HZ AGE P99"),
            (24, 80, "TOPIC↑ HZ JITTER AGE P99 TRAVEL GAPS MISSED"),
            (50, 200, "TOPIC↑ TYPE PUBLISHER HZ JITTER AGE P99 TRAVEL GAPS MISSED STAMPS"),
            (6, 30, "TOPIC↑ HZ AGE"),
        ):
            view.set_size(rows, columns)
            view.until(
                lambda titles=titles: titles in [" ".join(line.split()) for line in view.screen.display],
                titles,
            )
            view.until(lambda rows=rows: "? help" in view.row(rows - 1), "the keys, in the last row")
            view.until(lambda: self.row(view, "/good"), "the row")
        view.set_size(2, 20)
        view.set_size(24, 80)
        view.expect("GAPS  MISSED")
        self.quit(view)

    def test_the_clock(self):
        peer, view = self.ready("/sensor", columns=120)
        said = []
        opening = threading.Thread(target=lambda: said.append(self.tell(peer, "clock")))
        opening.start()
        view.expect("no tick was received")
        opening.join(LIMIT_S)
        self.tell(peer, *(f"tick {1000 * SECOND + i * SECOND // 100}" for i in range(300)))
        view.expect("/clock: 1002.990 s")
        view.expect("no tick for")
        self.tell(peer, f"tick {400 * SECOND}", f"tick {400 * SECOND + SECOND // 100}")
        view.expect("/clock: 400.010 s")
        view.expect("1 jumps back, epoch 1")
        view.expect("clock-backwards /clock: 1 jumps back, up to 602.990 s")
        self.tell(peer, "send /sensor 5 zero 1002000000000 1")
        view.expect("stale-epoch /sensor of /peer: 5 of 5 stamps are of the time before a jump")
        self.quit(view)

    def test_a_paused_clock(self):
        server = self.run_command("serve", "--start", "1000", "--paused")
        view = self.top()
        view.expect("/clock: 1000.000 s")
        view.expect("paused for")
        self.quit(view)
        server.end()

    def test_paths(self):
        peer, view = self.ready("/in", "/out", arguments=("--path", "/in:/out", "/other"), columns=120)
        view.expect("/in to /out: too few messages")
        peer.write("path /in /out 600 20 30 20")
        view.expect("/in to /out: cannot keep up")
        view.expect("path /in to /out: cannot keep up")
        self.quit(view)

    def test_text_of_others_is_escaped(self):
        view = self.top("--path", "/a\x1b[31mb:/c\n\x9b")
        view.expect(r"/a\x1b[31mb to /c\x0a")
        self.assertNotIn(b"\x1b[31mb", view.raw)
        self.quit(view)

    def test_publishers_that_stop_and_die(self):
        peer, view = self.ready("/gap")
        peer.write("send /gap 100000 now 0 0 5")
        self.until_row(view, "/gap", lambda row: row[1] not in ("-", "0.0"))
        peer.child.send_signal(signal.SIGSTOP)
        self.until_row(view, "/gap", lambda row: row[1] == "0.0")
        peer.child.send_signal(signal.SIGCONT)
        view.until(lambda: re.search(r"gap /gap of /peer: \d+ gaps, up to ", view.text()), "the gap")
        self.until_row(view, "/gap", lambda row: row[1] != "0.0")
        peer.child.kill()
        self.until_row(view, "/gap", lambda row: row[1] == "0.0")
        peer = self.peer("open /gap", "wait /gap", "send /gap 5 now 0 0")
        view.until(lambda: len(re.findall("[ !]/gap ", view.text())) == 2, "the row of the next one")
        self.quit(view)

    # ---- keys ----

    def test_sorting_filtering_and_moving(self):
        topics = [f"/t{i:02}" for i in range(30)] + ["/other"]
        peer, view = self.ready(*topics[20:], arguments=("/t*", "/o*"))
        self.tell(peer, *(f"open {topic}" for topic in topics[:20]))
        view.expect("31 topics")
        self.tell(peer, *(f"wait {topic}" for topic in topics), "send /t07 3 zero 0 0")
        view.expect("stamp-zero /t07")
        view.until(lambda: self.row(view, "/t00") and not self.row(view, "/t29"), "the first rows")
        view.press(b"G")
        view.until(lambda: self.row(view, "/t29") and not self.row(view, "/t00"), "the last rows")
        view.expect("/t29: std_msgs/msg/Header")
        view.press(b"g")
        view.expect("/other: std_msgs/msg/Header")
        view.press(DOWN)
        view.expect("/t00: std_msgs/msg/Header")
        view.press(PAGE_DOWN)
        view.expect_gone("/t00: std_msgs/msg/Header")
        view.press(b"r", "TOPIC↓")
        view.press(b"g")
        view.until(lambda: self.row(view, "/t29") and not self.row(view, "/t00"), "reversed")
        view.press(b"sss", "HZ↓")
        view.press(b"S" * 3 + b"S", "sort")
        view.press(b"s", "TOPIC↑")
        view.press(b"w", "1 rows, wrong ones")
        view.until(lambda: self.row(view, "/t07"), "the wrong row")
        view.press(b"w")
        view.expect_gone("wrong ones")
        view.press(b"/T2", "/T2_")
        view.expect("10 rows with T2")
        view.press(ENTER)
        view.expect_gone("/T2_")
        view.until(lambda: not self.row(view, "/other"), "rows with T2 alone")
        view.press(b"/" + CLEAR + b"nothing", "no row with this")
        view.press(ESCAPE)
        view.expect_gone("/nothing")
        view.press(b"g")
        view.until(lambda: self.row(view, "/other"), "all rows")
        view.press(b"?", "show or hide this help")
        view.press(b"?")
        view.expect_gone("show or hide this help")
        self.quit(view)

    def test_pausing_and_counting_from_now_on(self):
        peer, view = self.ready("/zero", arguments=("/zero", "/late"))
        self.tell(peer, "send /zero 10 zero 0 0")
        view.expect("10 of 10 stamps")
        view.press(b" ", "paused ")
        self.tell(peer, "send /zero 5 zero 0 0")
        peer_two = self.peer("open /late")
        self.tell(peer_two, "wait /late")  # it goes on measuring
        self.assertIn("10 of 10 stamps", view.text())
        view.press(b" ", "15 of 15 stamps")
        view.press(b"z")
        view.expect_gone("15 of 15 stamps")
        self.tell(peer, "send /zero 3 zero 0 0")
        view.expect("3 of 3 stamps")
        self.quit(view)

    # ---- ends ----

    def test_signals_give_the_screen_back(self):
        for end in (signal.SIGTERM, signal.SIGINT, b"\x03"):
            view = self.top()
            view.expect("no topic so far")
            if isinstance(end, bytes):
                view.press(end)
            else:
                view.child.send_signal(end)
            self.gives_back(view)

    def shell(self):
        self.environment["PS1"] = "shell: "
        shell = Screen(self, ["bash", "--norc", "--noediting", "-i"], self.environment)
        shell.expect("shell:")
        return shell

    def test_stopping_and_going_on(self):
        shell = self.shell()
        shell.press(f"{command_test.BIN_DIR}/timebase top\n".encode(), "q quit")
        shell.press(b"\x1a", "Stopped")
        self.assertTrue(shell.modes()[3] & termios.ICANON and shell.modes()[3] & termios.ECHO)
        shell.press(b"clear; echo in between\n", "in between\nshell:")
        shell.set_size(30, 100)
        shell.press(b"fg\n", "q quit")
        shell.until(lambda: "? help" in shell.row(29), "the new size")
        self.assertTrue(shell.is_raw())
        shell.press(b"q", "shell:")
        shell.press(b"exit\n")
        self.assertEqual(shell.child.wait(LIMIT_S), 0)

    def test_a_stop_that_cannot_be_noticed(self):
        """SIGSTOP: the shell has the terminal meanwhile, with its own modes."""
        shell = self.shell()
        shell.press(f"{command_test.BIN_DIR}/timebase top\n".encode(), "q quit")
        pid = int(self.children_of(shell.child.pid)[0])
        os.kill(pid, signal.SIGSTOP)
        shell.expect("Stopped")
        shell.press(b"clear; stty sane; echo in between\n", "in between\nshell:")
        shell.press(b"fg\n", "q quit")
        shell.until(shell.is_raw, "raw again")
        shell.expect_gone("in between")
        shell.press(b"q", "shell:")
        shell.until(lambda: not shell.is_raw(), "the shell's modes")
        shell.press(b"exit\n")
        self.assertEqual(shell.child.wait(LIMIT_S), 0)

    @staticmethod
    def children_of(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            return children.read().split()

    def test_without_a_terminal(self):
        status, out, err = self.result("top")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("standard input is not a terminal; 'timebase observe' prints the same", err)

    def test_terminals_that_are_not_usable(self):
        for name, rows in (("dumb", 24), ("", 24), ("no-such-terminal", 24), (TYPE, 5)):
            self.environment["TERM"] = name
            view = self.top(rows=rows)
            view.expect("'timebase observe' prints")
            self.assertEqual(view.child.wait(LIMIT_S), 3)
            self.assertEqual(view.modes(), view.modes_before)
            self.assertNotIn(BEGINS, view.raw)

    def test_wrong_arguments(self):
        for arguments, text in (
            (["--json"], "--json"),
            (["--path", "a"], "--path: 'a': expected FROM:TO or FROM:TO:BUDGET"),
            (["--max-topics", "0"], "--max-topics"),
            ([""], "an empty topic"),
        ):
            with self.subTest(arguments):
                status, _, err = self.result("top", *arguments)
                self.assertEqual(status, 2, err)
                self.assertIn(text, err)


if __name__ == "__main__":
    command_test.BIN_DIR, observing.PEER = sys.argv[1:3]
    in_parts.main([sys.argv[0], *sys.argv[3:]], 3, verbosity=2)
