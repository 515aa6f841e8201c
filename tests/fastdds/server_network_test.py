#!/usr/bin/env python3
"""Services called by clients on Fast DDS from another host, over a link that loses every fifth frame.

usage: server_network_test.py RELAY TEXT_NODE PEER [TEST...]"""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))

# pylint: disable=wrong-import-position
import hosts  # noqa: E402
from command_test import CommandTest, Process  # noqa: E402

RELAY = TEXT_NODE = PEER = None
DOMAIN = "165"
LIMIT_MS = 90000  # the endpoints are announced again each second, and requests each 3 s
CALLS = int(os.environ.get("TB_TEST_CALLS", "1"))  # of each client and size


class ServerNetworkTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment["ROS_DOMAIN_ID"] = DOMAIN
        del self.environment["CYCLONEDDS_URI"]

    def run_on(self, host, *arguments):
        process = Process(self, host.command(*arguments), self.environment, subprocess.PIPE)
        process.expect("ready")
        return process

    def check_calls(self, clients, size):
        for client in clients:
            client.write(f"get --limit {LIMIT_MS} /texts t{size}")
        for client in clients:
            answer = client.expect(r"(no answer|no service|value .*)$").group(1)
            self.assertEqual(answer, f"value string {'0' if size == 1 else f'pattern {size}'}")

    def test_replies_arrive_over_a_bad_link(self):
        link = hosts.Link(self, RELAY, "--seed", 1, "--loss", 20, "--delay-ms", 1)
        self.run_on(link.a, TEXT_NODE)
        clients = [self.run_on(link.b, PEER, DOMAIN, "default", f"/c{i}") for i in range(2)]
        before = link.counts()
        for _ in range(CALLS):
            for size in (1, 5000, 20000):
                self.check_calls(clients, size)
        if CALLS > 1:
            self.check_calls(clients, 200000)  # takes half a minute
        lost = link.counts()[0]["lost"] - before[0]["lost"]
        self.assertGreater(lost, 5 * CALLS)


if __name__ == "__main__":
    hosts.enter()
    RELAY, TEXT_NODE, PEER = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
