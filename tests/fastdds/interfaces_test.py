#!/usr/bin/env python3
"""A node of Fast DDS and a command of ours that do not use the same network interface: what the
command reports of it.

usage: interfaces_test.py BIN_DIR FASTDDS_PEER [TEST...]

Skipped where the kernel makes no network namespaces."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "system"))

import command_test  # noqa: E402
import hosts  # noqa: E402
from command_test import CommandTest, Process  # noqa: E402

PEER = None
OUTSIDE = "10.77.0.1"


def make_interfaces():
    for arguments in (
        "link set lo up",
        "link add name eth0 type veth peer name other",
        f"address add {OUTSIDE}/24 dev eth0",
        "link set eth0 up",
        "link set other up",
    ):
        subprocess.run(["ip", *arguments.split()], check=True)


class InterfacesTest(CommandTest):
    domains = iter((71, 72))

    def domain_lock(self, domain):
        """The namespace is the test's own."""

    def peer(self, network):
        peer = Process(
            self, [PEER, str(self.domain), network, "/talker"], self.environment, subprocess.PIPE
        )
        peer.expect("ready$")
        return peer

    def test_a_node_on_loopback_alone(self):
        del self.environment["CYCLONEDDS_URI"]
        self.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        self.peer("lo")
        status, out, err = self.result("nodes", "--wait", "4")  # it repeats its announcement each 3 s
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(
            out,
            r"\n  ! a participant of Fast DDS \(enclave /\) has not announced its nodes "
            r"\(no ros_discovery_info\); nothing else arrives from udp/127\.0\.0\.1:\d+@\d+, and this "
            rf"command uses {OUTSIDE}: have both use the same network interface \(here: "
            r"<NetworkInterface> in CYCLONEDDS_URI\)\n",
        )

    def test_a_command_on_loopback_alone(self):
        self.peer("default")
        self.assertEqual(
            self.result("nodes"),
            (
                0,
                "no publisher of /clock\n",
                f"timebase nodes: no nodes in domain {self.domain}; check ROS_DOMAIN_ID, and that "
                "nodes use the same network interface (here 127.0.0.1)\n",
            ),
        )


if __name__ == "__main__":
    hosts.enter()
    make_interfaces()
    command_test.BIN_DIR, PEER = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
