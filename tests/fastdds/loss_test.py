#!/usr/bin/env python3
"""Services between timebase and Fast DDS on two hosts, over a link that loses every fifth frame.

usage: loss_test.py BIN_DIR FASTDDS_PEER SERVICE_PEER CALL_PROBE RELAY [TEST...]

Fast DDS sends up to 64 KB as one datagram, which 45 frames carry, and repeats what is lost every 3 s: so
what it sends here fits into one frame. A reply of the same size has two fragments."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

import hosts  # pylint: disable=wrong-import-position
from command_test import LIMIT_S, SECOND, CommandTest, Process  # pylint: disable=wrong-import-position

BIN_DIR = PEER = SERVICE_PEER = CALL_PROBE = RELAY = None
DOMAIN = 98
TRIGGER = "std_srvs/srv/Trigger"
LONG = LIMIT_S * SECOND


class LossTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment["ROS_DOMAIN_ID"] = str(DOMAIN)
        del self.environment["CYCLONEDDS_URI"]
        self.link = hosts.Link(self, RELAY, "--seed", 1, "--delay-ms", 5)

    def domain_lock(self, domain):
        """These hosts are alone in their network."""

    def run_on(self, host, *arguments):
        process = Process(self, host.command(*arguments), self.environment, subprocess.PIPE)
        process.expect("ready$")
        self.assertTrue(host.holds(process.child.pid))
        return process

    def peer_on(self, host):
        return self.run_on(host, PEER, str(DOMAIN), "default", "/fast")

    def ask(self, peer, line, answer):
        peer.write(line)
        return peer.expect(answer).group(0)

    def wait_for(self, process, line, answer, none):
        """The first request may be lost, where one side is not yet matched: see ros2_client.h."""
        process.write(line)
        while process.expect(f"{answer}|{none}").group(0).startswith(none):
            process.write(line)

    def check_loss(self):
        self.assertGreater(min(counts["lost"] for counts in self.link.counts()), 3)

    def test_a_client_on_fast_dds_is_answered(self):
        self.run_on(self.link.a, SERVICE_PEER, "echo")
        peer = self.peer_on(self.link.b)
        service = f"/echo {TRIGGER}"
        self.wait_for(peer, f"call --limit 5000 {service} 0001000000000000", "reply 8 same$", "no ")
        self.link.loss(20)
        options = f"--limit {LIMIT_S * 1000} {service}"
        for number in range(8):
            self.ask(peer, f"call {options} 00010000{number:08x}", "reply 8 same$")
        for _ in range(3):  # the identity is in the first fragment
            self.ask(peer, f"call {options} --size 1360", "reply 1360 same$")
        self.assertEqual(self.ask(peer, "strays /echo", "strays .*"), "strays 0")
        self.check_loss()

    def test_a_server_on_fast_dds_is_asked(self):
        peer = self.peer_on(self.link.a)
        self.ask(peer, f"echo /echo {TRIGGER}", "ok$")
        caller = self.run_on(self.link.b, CALL_PROBE)
        self.wait_for(caller, f"call 0 {5 * SECOND}", "called 0 TB_OK$", "called 0 TB_ERR_TIMEOUT")
        self.link.loss(20)
        for number in range(1, 6):
            self.ask(caller, f"call {number} {LONG}", f"called {number} TB_OK$")
        for first in (100, 108):  # the server keeps the last 10
            numbers = set(range(first, first + 8))
            for number in numbers:
                caller.write(f"{'call' if number % 2 else 'send'} {number} {LONG}")
            answered = {int(caller.expect(r"called (\d+) TB_OK$").group(1)) for _ in numbers}
            self.assertEqual(answered, numbers)
        self.assertRegex(self.ask(peer, "count", "requests .*"), r"requests 2[2-9] malformed 0")
        self.check_loss()


if __name__ == "__main__":
    hosts.enter()
    BIN_DIR, PEER, SERVICE_PEER, CALL_PROBE, RELAY = sys.argv[1:6]
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
