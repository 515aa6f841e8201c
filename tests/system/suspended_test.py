#!/usr/bin/env python3
"""`timebase play` that is stopped as a process, and continued: nothing was slow, and nothing is late.

usage: suspended_test.py BIN_DIR [TEST...]"""

import itertools
import os
import random
import signal
import sys
import tempfile
import time
import unittest

import command_test
from command_test import LIMIT_S, SECOND, TRIES, CommandTest, bag_make

ROUNDS = 4


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


class SuspendedTest(CommandTest):
    START = 1_600_000_000 * SECOND
    domains = itertools.cycle((160, 161, 162, 163))

    def await_state(self, pid, is_it):
        end = time.monotonic() + LIMIT_S
        while not is_it(state_of(pid)):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.001)

    def stop_for(self, pid, duration_s):
        os.kill(pid, signal.SIGSTOP)
        self.await_state(pid, lambda state: state == "T")
        time.sleep(duration_s)  # what would be late
        os.kill(pid, signal.SIGCONT)
        self.await_state(pid, lambda state: state != "T")

    def prefer(self, pid):
        """So that what comes late is late because it was stopped, not because the machine is busy."""
        for thread in os.listdir(f"/proc/{pid}/task"):
            try:
                os.setpriority(os.PRIO_PROCESS, int(thread), -15)
            except PermissionError:
                return

    def check_stops(self, step_ns, *options, clock=("--clock", "100")):
        """The position that it prints goes on from where it was."""
        seed = int(os.environ.get("TB_TEST_SEED", time.time_ns() % 1_000_000_000))
        print(f"seed {seed}: TB_TEST_SEED={seed} repeats it", flush=True)
        generator = random.Random(seed)
        bag = bag_make(tempfile.mkdtemp(dir=self.folder), self.START, step_ns, 100 * SECOND // step_ns)
        late = []
        while len(late) < TRIES:  # the machine may be so busy that it is late between the stops
            late.append(self.play_with_stops(generator, ("play", bag, *clock, *options)))
            if not late[-1]:
                return
        self.fail(late)

    def play_with_stops(self, generator, words):
        """What it prints of being late."""
        player = self.run_command(*words)
        position = lambda: float(player.expect(r"time ([\d.]+) s ").group(1))
        position()
        self.prefer(player.child.pid)
        for _ in range(ROUNDS):
            before = position()
            self.stop_for(player.child.pid, generator.choice((0.15, 0.3, 0.6, 1.2)))
            while position() < before + 0.9:
                pass
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)
        errors = [line for line in player.errors if line]
        self.assertFalse([line for line in errors if "playback fell " not in line], errors)
        return errors + [line for line in player.seen[-1:] if " late" in line]

    def test_a_sparse_recording(self):
        self.check_stops(SECOND // 10)

    def test_a_dense_recording(self):
        self.check_stops(SECOND // 2000)

    def test_a_fast_playback(self):
        self.check_stops(SECOND // 100, "--rate", "8")

    def test_a_watch_makes_up_no_seconds(self):
        self.run_command("serve")
        watch = self.run_command("watch")
        ticks_a_second = lambda: float(watch.expect(r"time .*running  ([\d.]+) Hz").group(1))
        ticks_a_second()
        self.stop_for(watch.child.pid, 3.3)
        rates = [ticks_a_second() for _ in range(4)]
        self.assertGreater(min(rates), 0, rates)
        watch.child.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(), 0, watch.errors)

    def test_on_a_clock_that_goes_on(self):
        server = self.run_command("serve", "--rate", "2")
        self.check_stops(SECOND // 50, clock=("--use-sim-time",))
        server.child.send_signal(signal.SIGTERM)
        server.wait()


if __name__ == "__main__":
    command_test.BIN_DIR = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
