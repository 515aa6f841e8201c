#!/usr/bin/env python3
"""The relay between two hosts loses, delays and cuts as commanded.

usage: relay_test.py RELAY [TEST...]"""

import functools
import sys
import time
import unittest

import hosts
from command_test import LIMIT_S, TRIES

RELAY = None
MASK = (1 << 64) - 1
BATCH = 50  # frames: fits into what a socket may hold
LOST_S = 20  # a frame that has not come until then is lost


def draw(seed, direction, number):
    """As in relay.c."""
    z = (seed + (2 * number + direction + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) >> 11) / (1 << 53)


def repeated(test):
    """The kernel of a busy machine may drop a frame beside those that the relay drops: the test begins from scratch.
    What the relay drops follows from the seed, and is dropped each time."""

    @functools.wraps(test)
    def run(self):
        for _ in range(TRIES - 1):
            try:
                return test(self)
            except TimeoutError:
                print(f"a frame is missing: {self.link.counts()} {self.link.statistics()}", file=sys.stderr)
        return test(self)

    return run


class RelayTest(unittest.TestCase):
    def open(self, *options):
        self.link = hosts.Link(self, RELAY, *options, resolve=False)
        self.sockets = []
        for host in (self.link.a, self.link.b):
            self.sockets.append(host.socket())
            self.addCleanup(self.sockets[-1].close)
            self.sockets[-1].settimeout(LOST_S)

    def send(self, direction, number):
        to = self.sockets[not direction].getsockname()
        self.sockets[direction].sendto(number.to_bytes(4, "big"), to)

    def receive(self, direction):
        """The next number, and when it had come."""
        data = self.sockets[not direction].recv(64)
        return int.from_bytes(data, "big"), time.monotonic_ns()

    def wait_for_counts(self, direction, **wanted):
        deadline = time.monotonic() + LIMIT_S
        while True:
            counts = self.link.counts()[direction]
            if all(counts[name] == value for name, value in wanted.items()):
                return counts
            self.assertLess(time.monotonic(), deadline, (counts, wanted))
            time.sleep(0.01)

    def exchange(self, direction, passing, count):
        """Sends frames 0 to count - 1. Those that came, which end with the last of `passing`: as
        order is kept, nothing is under way then. And the shortest time under way."""
        come, sent, shortest = [], {}, float("inf")
        for begin in range(0, count, BATCH):
            batch = range(begin, min(begin + BATCH, count))
            for number in batch:
                sent[number] = time.monotonic_ns()
                self.send(direction, number)
            last = max((number for number in batch if number in passing), default=None)
            while last is not None and (not come or come[-1] != last):
                number, at = self.receive(direction)
                come.append(number)
                self.assertLessEqual(number, last, "out of order, or one that should be lost")
                shortest = min(shortest, at - sent[number])
        return come, shortest

    def check_loss(self, seed, percent, count=2000):
        self.open("--seed", seed, "--loss", percent)
        lost = []
        for direction in range(2):
            passing = [n for n in range(count) if draw(seed, direction, n) >= percent / 100]
            come, _ = self.exchange(direction, set(passing), passing[-1] + 1)
            self.assertEqual(come, passing)
            sent = passing[-1] + 1
            counts = self.link.counts()[direction]
            self.assertEqual(counts["received"], sent)
            self.assertEqual(counts["lost"], sent - len(passing))
            self.assertEqual(counts["forwarded"], len(passing))
            fraction = counts["lost"] / sent
            deviation = (percent / 100 * (1 - percent / 100) / sent) ** 0.5
            self.assertAlmostEqual(fraction, percent / 100, delta=4 * deviation)
            lost.append(set(range(sent)) - set(passing))
        self.assertNotEqual(*lost, "both directions lose the same")
        return lost

    @repeated
    def test_it_loses_frames_by_the_seed(self):
        self.assertNotEqual(self.check_loss(1, 20), self.check_loss(2, 20))
        self.check_loss(3, 5)

    @repeated
    def test_one_direction_does_not_change_what_the_other_loses(self):
        self.open("--seed", 7, "--loss", 50)
        for number in range(BATCH):
            self.send(0, number)
            if number % 2:
                self.send(1, number // 2)
        for direction, count in ((0, BATCH), (1, BATCH // 2)):
            for number in (n for n in range(count) if draw(7, direction, n) >= 0.5):
                self.assertEqual(self.receive(direction)[0], number)

    @repeated
    def test_without_loss_all_arrive(self):
        self.open()
        come, _ = self.exchange(0, set(range(300)), 300)
        self.assertEqual(come, list(range(300)))

    @repeated
    def test_no_frame_comes_before_its_delay(self):
        for delay_ms in (50, 200):
            self.open("--delay-ms", delay_ms)
            for direction in range(2):
                come, shortest = self.exchange(direction, set(range(200)), 200)
                self.assertEqual(come, list(range(200)))
                self.assertGreaterEqual(shortest, delay_ms * 1_000_000)

    @repeated
    def test_what_takes_several_frames_arrives_whole(self):
        self.open("--delay-ms", 1)
        data = bytes(range(256)) * 50
        self.sockets[0].sendto(data, self.sockets[1].getsockname())
        self.assertEqual(self.sockets[1].recv(len(data) + 1), data)

    @repeated
    def test_a_cut_link_carries_nothing_and_goes_on_when_restored(self):
        self.open("--delay-ms", 50)
        for direction in range(2):
            come, _ = self.exchange(direction, set(range(10)), 10)
            self.assertEqual(come, list(range(10)))
        self.link.cut()
        for direction in range(2):
            for number in range(100, 150):
                self.send(direction, number)
            self.wait_for_counts(direction, received=60, cut=50, forwarded=10)
        self.link.restore()
        for direction in range(2):
            self.send(direction, 1000)
            self.assertEqual(self.receive(direction)[0], 1000)

    @repeated
    def test_a_cut_loses_what_is_under_way(self):
        self.open("--delay-ms", 3_600_000)
        for number in range(50):
            self.send(0, number)
        self.wait_for_counts(0, received=50, cut=0, forwarded=0)
        self.link.cut()
        self.wait_for_counts(0, received=50, cut=50, forwarded=0)

    @repeated
    def test_the_loss_can_be_changed(self):
        self.open("--seed", 4, "--loss", 100)
        for number in range(50):
            self.send(1, number)
        self.wait_for_counts(1, received=50, lost=50, forwarded=0)
        self.link.loss(50)
        passing = [n for n in range(50, 100) if draw(4, 1, n) >= 0.5]
        for number in range(50, 100):
            self.send(1, number)
        self.assertEqual([self.receive(1)[0] for _ in passing], passing)
        self.link.loss(0)
        self.send(1, 1000)
        self.assertEqual(self.receive(1)[0], 1000)

    @repeated
    def test_what_the_queue_cannot_hold_is_lost_and_counted(self):
        self.open("--delay-ms", 3_600_000, "--queue", 10)
        for number in range(50):
            self.send(0, number)
        self.wait_for_counts(0, received=50, overflow=40, lost=0, forwarded=0)

    @repeated
    def test_the_relay_ends_with_its_input(self):
        self.open("--delay-ms", 3_600_000)
        self.send(0, 1)
        self.wait_for_counts(0, received=1)
        self.link.relay.child.stdin.close()
        self.assertEqual(self.link.relay.wait(), 0, self.link.relay.errors)


if __name__ == "__main__":
    hosts.enter()
    RELAY = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
