#!/usr/bin/env python3
"""The life of a command: it ends soon on a signal, in every state, and reports when its
output is not read.

usage: life_test.py BIN_DIR DEMO_BAG [TEST...]"""

import itertools
import os
import shlex
import signal
import subprocess
import sys
import termios
import time
import unittest

import command_test
from command_test import LIMIT_S, SECOND, CommandTest, Process, bag_make, bound_addresses
from terminal import Terminal

SIGNALS = (signal.SIGTERM, signal.SIGINT)
TRIES = 10  # the machine may be busy: the fastest of these counts
SOON_S = 1


class LifeTest(CommandTest):
    domains = itertools.count(140)
    START = 1_600_000_000 * SECOND

    def command(self, *arguments):
        return [f"{command_test.BIN_DIR}/timebase", *arguments]

    def wait_for_sockets(self, process):
        """It has joined the graph: from here on it waits for a publisher."""
        while process.child.poll() is None and not bound_addresses(process.child.pid):
            time.sleep(0.01)
        self.assertIsNone(process.child.poll(), process.errors)

    def check_end(self, arguments, expected, reach):
        """`reach(process)` returns when the state is reached."""
        for number in SIGNALS:
            fastest = float("inf")
            for _ in range(TRIES):
                process = self.run_command(*arguments)
                reach(process)
                began = time.monotonic()
                process.child.send_signal(number)
                status = process.wait()
                fastest = min(fastest, time.monotonic() - began)
                self.assertEqual(status, 0 if expected == 0 else -number, (arguments, process.errors))
                process.end()
                if fastest < SOON_S:
                    break
            self.assertLess(fastest, SOON_S, (arguments, number))

    def bag(self, count=1000):
        return bag_make(self.folder, self.START, SECOND // 10, count)

    # ---- signals ----

    def test_play_ends_while_it_plays(self):
        self.check_end(("play", self.bag(), "--clock", "100"), 0, lambda p: p.expect("time 0.[1-9]"))

    def test_play_ends_before_the_first_message(self):
        def reach(process):
            self.wait_for_sockets(process)

        self.check_end(("play", self.bag(), "--clock"), 0, reach)

    def test_play_ends_while_paused(self):
        self.check_end(("play", self.bag(), "-p", "--clock"), 0, lambda p: p.expect(".* paused"))

    def test_play_ends_while_it_reads_as_fast_as_it_can(self):
        bag = self.bag(20000)
        self.check_end(("play", bag, "-l", "--rate", "1000"), 0, lambda p: p.expect("time "))

    def test_serve_ends_in_every_state(self):
        self.check_end(("serve",), 0, lambda p: p.expect("time "))
        self.check_end(("serve", "--paused", "--hz", "0.001"), 0, lambda p: p.expect(".* paused"))
        self.check_end(("serve", "--hz", "0.001"), 0, self.wait_for_sockets)
        self.check_end(("serve", "--as-fast-as-possible"), 0, lambda p: p.expect("time "))

    def test_watch_ends_without_a_publisher(self):
        self.check_end(("watch",), 0, lambda p: p.expect(""))

    def test_watch_ends_before_its_first_report(self):
        self.check_end(("watch", "--json"), 0, self.wait_for_sockets)

    def test_now_and_sleep_die_by_the_signal_while_they_wait_for_a_publisher(self):
        self.check_end(("now", "--ros", "--limit", "1h"), None, self.wait_for_sockets)
        self.check_end(("sleep", "1s", "--ros"), None, self.wait_for_sockets)

    def test_sleep_dies_by_the_signal(self):
        def reach(process):
            """Not before it has become the command."""
            path = f"/proc/{process.child.pid}/comm"
            name = ""
            while name != "timebase":
                with open(path, encoding="ascii") as file:
                    name = file.read().strip()

        self.check_end(("sleep", "1h"), None, reach)

    def test_watch_and_sleep_end_while_time_is_stopped(self):
        player = self.run_command("play", self.bag(), "-p", "--clock")
        player.expect(".* paused")
        self.check_end(("watch",), 0, lambda p: p.expect(".*1600000000"))
        self.check_end(("sleep", "1s", "--ros"), None, self.wait_for_sockets)
        player.child.send_signal(signal.SIGTERM)
        self.assertEqual(player.wait(), 0)

    # ---- the terminal ----

    def test_play_leaves_the_terminal_as_it_was(self):
        bag = self.bag()
        for end in (*SIGNALS, b"\x03"):
            for is_paused in (False, True):
                terminal = Terminal(self, self.command("play", bag, "--clock"), self.environment)
                terminal.expect(b"rate 1")
                self.assertFalse(terminal.modes()[3] & (termios.ECHO | termios.ICANON))
                if is_paused:
                    terminal.write(b" ")
                    terminal.expect(b"paused")
                if isinstance(end, bytes):
                    terminal.write(end)
                else:
                    terminal.child.send_signal(end)
                terminal.expect(b"stopped at")
                self.assertEqual(terminal.child.wait(LIMIT_S), 0)
                self.assertEqual(terminal.modes(), terminal.modes_before)

    def test_play_leaves_the_terminal_as_it_was_at_its_end(self):
        terminal = Terminal(self, self.command("play", self.bag(5), "--rate", "10"), self.environment)
        terminal.expect(b"played to the end")
        self.assertEqual(terminal.child.wait(LIMIT_S), 0)
        self.assertEqual(terminal.modes(), terminal.modes_before)

    def test_nothing_is_drawn_in_the_background(self):
        play = shlex.join(self.command("play", self.bag(5), "--rate", "10"))
        script = f"set -m; {play} & wait; echo $(( 6 * 7 )); {play}"  # with -m it is no part of the foreground
        terminal = Terminal(self, ["sh", "-c", script], self.environment)
        terminal.expect(b"played to the end")
        self.assertNotIn(b"\033[", terminal.before)
        terminal.expect(b"42")
        terminal.expect(b"\033[")
        terminal.expect(b"played to the end")
        self.assertEqual(terminal.child.wait(LIMIT_S), 0)

    def test_serve_takes_keys_and_leaves_the_terminal_as_it_was(self):
        arguments = ("serve", "--start", "100", "-p", "--as-fast-as-possible", "--step", "1s")
        for end in (*SIGNALS, b"\x03", b"q"):
            terminal = Terminal(self, self.command(*arguments), self.environment)
            terminal.expect(b"time 100.000 s  paused  factor 1 ")
            self.assertFalse(terminal.modes()[3] & (termios.ECHO | termios.ICANON))
            for key, seen in (
                (b"s", b"time 101.000 s "),
                (b"++-", b"factor 2 "),
                (b"s", b"time 102.000 s "),
                (b"r", b"time 100.000 s "),
                (b" ", b"  as fast as possible  factor"),  # neither paused nor stepping
                (b" ", b"  paused  factor"),
                (b"r", b"time 100.000 s "),
            ):
                terminal.write(key)
                terminal.expect(seen)
            if isinstance(end, bytes):
                terminal.write(end)
            else:
                terminal.child.send_signal(end)
            terminal.expect(b"stopped at 100.")
            self.assertEqual(terminal.child.wait(LIMIT_S), 0)
            self.assertEqual(terminal.modes(), terminal.modes_before)

    def test_keys_work_again_after_a_stop(self):
        terminal = Terminal(self, self.command("serve"), self.environment)
        terminal.expect(b"  running  ")
        terminal.child.send_signal(signal.SIGSTOP)
        os.waitpid(terminal.child.pid, os.WUNTRACED)
        raw = terminal.modes()
        termios.tcsetattr(terminal.slave, termios.TCSANOW, terminal.modes_before)  # as shells do
        terminal.child.send_signal(signal.SIGCONT)
        deadline = time.monotonic() + LIMIT_S
        while terminal.modes() != raw and time.monotonic() < deadline:
            time.sleep(0.01)
        terminal.write(b" ")
        terminal.expect(b"  paused  ")
        terminal.write(b"q")
        self.assertEqual(terminal.child.wait(LIMIT_S), 0)
        self.assertEqual(terminal.modes(), terminal.modes_before)

    # ---- standard output ----

    def outputs(self):
        """Commands that print, with what ends those that go on for ever."""
        return (
            self.command("--help"),
            self.command("--version"),
            self.command("now"),
            self.command("now", "--steady"),
            self.command("sleep", "--help"),
            self.command("watch", "--duration", "1h"),
            self.command("play", self.bag(), "--clock", "100"),
            self.command("serve"),
        )

    def run_to(self, arguments, redirect):
        script = f'exec "$@" {redirect}'
        return subprocess.run(
            ["bash", "-c", script, "bash", *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )

    def test_a_failed_output_is_reported(self):
        for arguments in self.outputs():
            done = self.run_to(arguments, ">&-")
            self.assertEqual(done.returncode, 3, (arguments, done.stderr))
            if not arguments[1].startswith("--"):
                self.assertIn("cannot write to standard output: Bad file", done.stderr, arguments)

    def test_no_socket_gets_the_number_of_a_closed_stream(self):
        closed = 'exec "$@" <&- >&- 2>&-'
        arguments = ["bash", "-c", closed, "bash", *self.command("sleep", "1s", "--ros")]
        process = Process(self, arguments, self.environment)
        self.wait_for_sockets(process)
        for stream in range(3):
            self.assertEqual(os.readlink(f"/proc/{process.child.pid}/fd/{stream}"), "/dev/null")
        process.child.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), -signal.SIGTERM)

    def test_a_full_device_is_reported(self):
        for arguments in self.outputs():
            done = self.run_to(arguments, ">/dev/full")
            self.assertEqual(done.returncode, 3, (arguments, done.stderr))

    def test_a_closed_output_ends_it_without_an_error(self):
        for arguments in self.outputs():
            read_end, write_end = os.pipe()
            os.close(read_end)
            done = subprocess.run(
                arguments,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=write_end,
                stderr=subprocess.PIPE,
                text=True,
                timeout=LIMIT_S,
            )
            os.close(write_end)
            self.assertIn(done.returncode, (0, 3) if arguments[1].startswith("--") else (0,), arguments)
            self.assertEqual(done.stderr, "", arguments)

    def test_no_standard_input_or_errors_is_fine(self):
        done = self.run_to(self.command("now", "--steady"), "<&- 2>&-")
        self.assertEqual(done.returncode, 0)

    def test_a_signal_ends_commands_whose_output_is_not_read(self):
        for arguments in (("watch",), ("serve",), ("play", self.bag(), "--clock", "100")):
            for number in SIGNALS:
                read_end, write_end = os.pipe()
                self.addCleanup(os.close, read_end)
                os.set_blocking(write_end, False)
                try:
                    while os.write(write_end, b"x" * 4096):
                        pass
                except BlockingIOError:
                    pass
                os.set_blocking(write_end, True)
                child = subprocess.Popen(
                    self.command(*arguments),
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=write_end,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                os.close(write_end)
                self.addCleanup(child.stderr.close)
                self.addCleanup(child.kill)
                self.wait_until_it_cannot_write(child)
                child.send_signal(number)
                _, errors = child.communicate(timeout=LIMIT_S)
                self.assertEqual(child.returncode, 0, errors)
                self.assertIn("its reader is not reading", errors)

    @staticmethod
    def wait_until_it_cannot_write(child):
        """The main thread sleeps in poll without a limit: its second argument is two descriptors."""
        while child.poll() is None:
            with open(f"/proc/{child.pid}/syscall", encoding="ascii") as file:
                fields = file.read().split()
            if fields[:1] == [POLL] and fields[2:4] == ["0x2", "0xffffffff"]:
                return
            time.sleep(0.01)


POLL = {"x86_64": "7"}.get(os.uname().machine, "73")

if __name__ == "__main__":
    command_test.BIN_DIR, command_test.DEMO_BAG = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
