#!/usr/bin/env python3
"""`timebase play --publish-service-requests`: recorded events of services become requests.

usage: play_requests_test.py BIN_DIR IDL_PEER [TEST...]

The recordings are as rosbag2 of jazzy writes them: the definition of the service in place of that of
its events, under the name of the service."""

import itertools
import os
import sqlite3
import struct
import sys
import unittest

import command_test
from command_test import SECOND, CommandTest, Process
from sqlite_bag import sqlite_bag_make

PEER = None
RULE = "=" * 80 + "\n"
DEFINITION = RULE + "SRV: example_interfaces/srv/AddTwoInts\nint64 a\nint64 b\n---\nint64 sum\n"
REQUEST_SENT, REQUEST_RECEIVED, RESPONSE_SENT = 0, 1, 2


def event(kind, request=None, response=None):
    """example_interfaces/srv/AddTwoInts_Event; places count from after the encapsulation."""
    data = struct.pack("<BxxxiI16sxxxxq", kind, 1, 2, b"client", 7)
    for values in (request, response):
        data += struct.pack("<I", 0 if values is None else 1)
        if values is not None:
            data += b"\0" * (-len(data) % 8) + struct.pack(f"<{len(values)}q", *values)
    return b"\x00\x01\x00\x00" + data


class RequestsTest(CommandTest):
    domains = itertools.cycle((53, 54))

    def bag(self, events, services=("/add",), definition=DEFINITION):
        path = sqlite_bag_make(
            os.path.join(self.folder, "bag.db3"),
            [(f"{name}/_service_event", "example_interfaces/srv/AddTwoInts_Event") for name in services],
            [(service, SECOND + i * SECOND // 100, data) for i, (service, data) in enumerate(events)],
        )
        with sqlite3.connect(path) as database:
            database.execute(
                "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, encoding TEXT,"
                " encoded_message_definition TEXT, type_description_hash TEXT)"
            )
            if definition:
                database.execute(
                    "INSERT INTO message_definitions VALUES(NULL, 'example_interfaces/srv/AddTwoInts', 'ros2msg', ?, '')",
                    (definition,),
                )
        database.close()
        return path

    def serve(self, name):
        peer = Process(self, [PEER, "serve", name], self.environment, stdin=command_test.subprocess.PIPE)
        peer.expect("ready")
        return peer

    def calls(self, peer):
        peer.child.stdin.close()
        peer.child.stdin = None
        self.assertEqual(peer.wait(), 0, peer.errors)
        return [line for line in peer.seen if line.startswith("add ")]

    EVENTS = [
        (0, event(REQUEST_SENT, request=(1, 2))),
        (0, event(REQUEST_RECEIVED, request=(3, -4))),
        (0, event(RESPONSE_SENT, response=(7,))),
        (0, event(REQUEST_RECEIVED, request=(5, 6))),
    ]

    def play(self, *words):
        status, _, errors = self.result("play", *words, "--wait-for-all-acked", "60000")
        self.assertEqual(status, 0, errors)
        return errors

    def test_requests_are_sent(self):
        bag = self.bag(self.EVENTS)
        for words, expected in (
            ((), ["add 3 -4", "add 5 6"]),
            (("--service-requests-source", "client_introspection"), ["add 1 2"]),
        ):
            peer = self.serve("/add")
            self.assertEqual(self.play(bag, "--publish-service-requests", *words), "")
            self.assertEqual(self.calls(peer), expected)

    def test_services_are_chosen_and_renamed(self):
        bag = self.bag(self.EVENTS[1:2] + [(1, event(REQUEST_RECEIVED, request=(8, 9)))], services=("/add", "/other"))
        peer = self.serve("/there")
        self.play(bag, "--publish-service-requests", "--services", "/other", "--remap", "/other:=/there")
        self.play(bag, "--publish-service-requests", "--exclude-services", "/other", "--remap", "/add:=/there")
        self.assertEqual(self.calls(peer), ["add 8 9", "add 3 -4"])

    def test_what_cannot_be_sent_is_said(self):
        errors = self.play(self.bag(self.EVENTS), "--publish-service-requests")
        self.assertIn("warning: a request was not sent to /add: ", errors)
        self.assertIn("2 requests were not sent to /add\n", errors)

    def test_events_without_requests(self):
        errors = self.play(self.bag([(0, event(REQUEST_RECEIVED))]), "--publish-service-requests")
        self.assertIn("there are no requests in the recorded events of /add: ", errors)

    def test_an_unknown_definition(self):
        status, _, errors = self.result("play", self.bag(self.EVENTS, definition=None), "--publish-service-requests")
        self.assertIn("requests of /add are not played: the definition of example_interfaces/srv/AddTwoInts is unknown",
                      errors)
        self.assertNotEqual(status, 0)

    def test_without_the_option_events_are_played(self):
        """And their definition is known to `bag cat`."""
        bag = self.bag(self.EVENTS)
        peer = self.serve("/add")
        self.play(bag)
        self.assertEqual(self.calls(peer), [])
        status, out, errors = self.result("bag", "cat", bag, "--csv", "--field", "request[].a")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual([line.split(",")[2] for line in out.splitlines()[1:]], ["[1]", "[3]", "[]", "[5]"])


if __name__ == "__main__":
    command_test.BIN_DIR, PEER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
