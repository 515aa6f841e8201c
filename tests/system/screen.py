"""The full screen of a program, on a terminal that is emulated."""

import os
import select
import termios
import time

import pyte
from command_test import LIMIT_S
from terminal import Terminal

TYPE = "screen"  # what it does is all known to pyte
BEGINS, ENDS, CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"


class Stream(pyte.ByteStream):
    """With the scrolling of a region, which ncurses uses and pyte does not know."""

    csi = {**pyte.Stream.csi, "S": "scroll_up", "T": "scroll_down"}
    events = pyte.Stream.events | {"scroll_up", "scroll_down"}


class Emulated(pyte.Screen):
    def scroll_up(self, count=None):
        self.scroll(self.delete_lines, count)

    def scroll_down(self, count=None):
        self.scroll(self.insert_lines, count)

    def scroll(self, move, count):
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        move(count)
        self.cursor.x, self.cursor.y = x, y


class Screen(Terminal):
    """What is on it, in the end."""

    def __init__(self, test, arguments, environment, rows=24, columns=80):
        self.screen = Emulated(columns, rows)
        self.stream = Stream(self.screen)
        self.raw = b""
        super().__init__(test, arguments, environment, rows, columns)

    def set_size(self, rows, columns):
        self.screen.resize(rows, columns)
        super().set_size(rows, columns)

    def is_raw(self):
        return not self.modes()[3] & (termios.ECHO | termios.ICANON)

    def press(self, keys, seen=None):
        self.write(keys)
        if seen is not None:
            self.expect(seen)

    def row(self, index):
        return self.screen.display[index].rstrip()

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, is_it, what):
        end = time.monotonic() + LIMIT_S
        while not is_it():
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            self.test.assertTrue(ready and time.monotonic() < end, (what, self.text()))
            data = os.read(self.master, 65536)
            self.raw += data
            self.stream.feed(data)

    def expect(self, text):
        self.until(lambda: text in self.text(), text)

    def expect_gone(self, text):
        self.until(lambda: text not in self.text(), f"no {text}")

    def finish(self, status=0, text="stopped at"):
        """It has ended and left the terminal as it was."""
        self.expect(text)
        self.test.assertEqual(self.child.wait(LIMIT_S), status)
        self.test.assertEqual(self.modes(), self.modes_before)
        self.test.assertEqual(self.raw.count(BEGINS), self.raw.count(ENDS))
        self.test.assertGreater(self.raw.rfind(ENDS), self.raw.rfind(BEGINS))
        self.test.assertGreater(self.raw.rfind(CURSOR), self.raw.rfind(BEGINS))
        self.test.assertGreater(self.raw.rfind(text.encode()), self.raw.rfind(ENDS))
