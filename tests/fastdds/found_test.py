#!/usr/bin/env python3
"""Nodes of Fast DDS as `timebase nodes`, `param` and `sim-time` find them, and what is known of
those that do not announce themselves.

usage: found_test.py BIN_DIR FASTDDS_PEER EXAMPLE_NODE [TEST...]

A command that reports that a node is not known by name yet has found its participant and reached
its limit, as on a busy machine: it is run again. One that reports nothing of it fails."""

import concurrent.futures
import itertools
import json
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "system"))

import command_test  # noqa: E402
from command_test import LIMIT_S, CommandTest, Process  # noqa: E402

PEER = NODE = None
ROUNDS = 5
UNNAMED = "(name not known yet)"
NOT_ANNOUNCED = "has not announced its nodes"
NO_SUCH = ("no nodes in domain", "no such node", "there is no node")
COMMANDS = (("nodes",), ("param", "list"), ("sim-time", "on", "/talker"))


class FoundTest(CommandTest):
    domains = itertools.cycle((61, 62, 63, 64))

    def peer(self, *arguments, domain=None):
        peer = Process(
            self,
            [PEER, *arguments[:-1], str(domain or self.domain), "lo", arguments[-1]],
            self.environment,
            subprocess.PIPE,
        )
        peer.expect("ready$")
        return peer

    def ask(self, peer, line, answer="ok$"):
        peer.write(line)
        return peer.expect(answer)

    def node(self, name):
        node = Process(self, [NODE, "--ros-args", "-r", f"__node:={name}"], self.environment)
        node.expect(rf"node: /{name} runs$")
        return node

    def found(self, command, domain):
        """The output of the command that has found /talker."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            _, out, err = self.result(*command, "--domain", str(domain))
            is_unnamed = UNNAMED in out or NOT_ANNOUNCED in err
            if not is_unnamed or time.monotonic() > deadline:
                break
        self.assertIn("/talker", out + err)
        for text in NO_SUCH:
            self.assertNotIn(text, out + err)
        return out

    def find_all(self, domains):
        with concurrent.futures.ThreadPoolExecutor(ROUNDS * len(COMMANDS)) as pool:
            runs = [pool.submit(self.found, command, domain) for domain in domains for command in COMMANDS]
            return [run.result() for run in runs]

    def test_nodes_are_found_at_once_and_later(self):
        domains = range(65, 65 + ROUNDS)
        for domain in domains:  # the first one runs for longer than the last
            self.domain_lock(domain)
            self.peer("/talker", domain=domain)
        for age in ("just started", "running"):
            with self.subTest(age):
                self.find_all(domains)

    def test_nodes_of_two_middlewares_side_by_side(self):
        peer = self.peer("/talker")
        self.ask(peer, "clock reliable")
        self.ask(peer, "follow best_effort")
        self.node("camera")
        self.found(("param", "list"), self.domain)
        deadline = time.monotonic() + LIMIT_S
        while True:
            status, out, err = self.result("nodes", "--json")
            graph = json.loads(out)
            if len(graph["nodes"]) == 2 and not graph["unnamed_nodes"]:
                break
            self.assertTrue(graph["unnamed_nodes"] or time.monotonic() < deadline, (out, err))
        self.assertEqual(status, 0)
        seen = [(node["name"], node["middleware"]) for node in graph["nodes"]]
        self.assertEqual(seen, [("/camera", "Cyclone DDS"), ("/talker", "Fast DDS")])
        (publisher,) = graph["clock_publishers"]
        self.assertEqual(publisher["node"], "/talker")
        (subscription,) = graph["nodes"][1]["clock_subscriptions"]
        for qos, reliability in (publisher["qos"], "reliable"), (subscription["qos"], "best effort"):
            self.assertEqual(
                (qos["reliability"], qos["history"], qos["depth"]), (reliability, "unknown", None)
            )
        out = self.found(("nodes",), self.domain)
        self.assertRegex(out, r"\n/talker +iron or newer +Fast DDS .* best effort, volatile, history unknown\n")
        self.assertIn("\n  /talker  reliable, volatile, history unknown\n", out)

    def test_nodes_that_are_not_announced_are_reported(self):
        peer = self.peer("--unannounced", "/talker")
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            table, check, listed, got, watch = pool.map(
                lambda command: self.result(*command),
                (
                    ("nodes",),
                    ("nodes", "--json", "--check"),
                    ("param", "list"),
                    ("param", "get", "/talker", "use_sim_time"),
                    ("watch", "--duration", "1.5"),
                ),
            )
        known = "a participant of Fast DDS (enclave /) has not announced its nodes"
        publishes = "(no ros_discovery_info): publishes /parameter_events, /rosout; serves /talker/describe"
        self.assertEqual((table[0], table[2]), (0, ""))
        self.assertRegex(table[1], r"\n\(name not known yet\)  - +Fast DDS +- +-\n")
        self.assertIn(f"  ! {known} {publishes}", table[1])
        self.assertEqual(
            (check[0], check[2]),
            (1, "timebase nodes: check failed: 1 participant has not announced its nodes\n"),
        )
        graph = json.loads(check[1])
        (unnamed,) = graph["unnamed_nodes"]
        self.assertEqual(graph["nodes"], [])
        self.assertEqual(
            (unnamed["middleware"], unnamed["enclave"], unnamed["state"]),
            ("Fast DDS", "/", "not announced"),
        )
        self.assertRegex(unnamed["addresses"], r"^udp/127\.0\.0\.1:\d+@\d+$")
        self.assertIn(
            {
                "kind": "service",
                "name": "/talker/get_parameters",
                "type": "rcl_interfaces/srv/GetParameters",
            },
            unnamed["endpoints"],
        )
        self.assertEqual(listed[:2], (0, ""))
        self.assertIn(f"timebase param: no nodes in domain {self.domain} so far\n", listed[2])
        self.assertIn(f"timebase param: warning: nodes may be missing: {known}", listed[2])
        self.assertEqual(got[0], 1)
        self.assertIn(f"there is no node /talker in domain {self.domain} so far\n", got[2])
        self.assertIn(f"warning: nodes may be missing: {known}", got[2])
        self.assertEqual(watch[0], 1)
        self.assertIn(f"no publisher of /clock in domain {self.domain} so far; {known}", watch[2])
        self.ask(peer, "announce")
        self.found(("nodes",), self.domain)

    def test_a_participant_without_a_node_is_not_waited_for(self):
        """It has no writer of ros_discovery_info, and that is known with its endpoints."""
        self.ask(self.peer("--bare", "/program"), "clock reliable")
        deadline = time.monotonic() + LIMIT_S
        while True:
            status, out, err = self.result("nodes", "--json")
            graph = json.loads(out)
            if graph["clock_publishers"] and not graph["unnamed_nodes"]:
                break
            self.assertLess(time.monotonic(), deadline, (out, err))
        self.assertEqual((status, err, graph["nodes"]), (0, "", []))

    def test_a_recording_has_an_unknown_history(self):
        peer = self.peer("/talker")
        bag = os.path.join(self.folder, "recording")
        self.ask(peer, "pub /chatter std_msgs/msg/String reliable:7")
        recorder = self.run_command("record", "-o", bag, "/chatter")
        recorder.expect("recording to ")
        self.ask(peer, "matched /chatter 1", "matched 1$")
        self.ask(peer, "send /chatter 10 100", "sent 10$")
        self.ask(peer, "flush /chatter", "flushed$")
        recorder.child.terminate()
        self.assertEqual(recorder.wait(), 0, recorder.errors)
        with open(os.path.join(bag, "metadata.yaml"), encoding="utf-8") as file:
            metadata = file.read()
        self.assertRegex(metadata, r"history: unknown\n +depth: 0\n +reliability: reliable\n")
        status, out, err = self.result("play", bag)
        self.assertEqual((status, err), (0, ""), out)


if __name__ == "__main__":
    command_test.BIN_DIR, PEER, NODE = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
