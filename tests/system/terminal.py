"""Programs on a terminal."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from command_test import LIMIT_S


class Terminal:
    """A child with its own terminal, in the foreground. `stdout`: a file instead of it."""

    def __init__(self, test, arguments, environment, rows=24, columns=200, stdout=None):
        self.test = test
        self.master, self.slave = pty.openpty()
        self.set_size(rows, columns)
        test.addCleanup(os.close, self.master)
        test.addCleanup(os.close, self.slave)
        self.modes_before = self.modes()
        self.child = subprocess.Popen(
            arguments,
            env=environment,
            stdin=self.slave,
            stdout=stdout or self.slave,
            stderr=self.slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        test.addCleanup(self.child.wait)
        test.addCleanup(self.child.kill)
        self.seen = b""
        self.before = b""  # what came before the text that was expected last

    def set_size(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.slave)

    def write(self, keys):
        os.write(self.master, keys)

    def expect(self, text):
        end = time.monotonic() + LIMIT_S  # a screen that is drawn again and again is no answer
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], end - time.monotonic())
            self.test.assertTrue(ready and time.monotonic() < end, (text, self.seen[-2000:]))
            self.seen += os.read(self.master, 4096)
        self.before, self.seen = self.seen.split(text, 1)
