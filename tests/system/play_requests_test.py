#!/usr/bin/env python3
"""`timebase play --publish-service-requests`: recorded events of services become requests.

usage: play_requests_test.py BIN_DIR IDL_PEER ACTION_PEER [TEST...]

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

PEER = ACTION_PEER = None
RULE = "=" * 80 + "\n"
DEFINITION = RULE + "SRV: example_interfaces/srv/AddTwoInts\nint64 a\nint64 b\n---\nint64 sum\n"
REQUEST_SENT, REQUEST_RECEIVED, RESPONSE_SENT = 0, 1, 2


ACTION = "example_interfaces/action/Fibonacci"
ACTION_DEFINITION = RULE + f"ACTION: {ACTION}\nint32 order\n---\nint32[] sequence\n---\nint32[] sequence\n"
HEAD = "<BxxxiI16sxxxxq"  # of each event


def event_of_action(kind, goal, *numbers):
    """The request of send_goal, cancel_goal and get_result begins with the goal's id."""
    request = goal.to_bytes(16, "big") + struct.pack(f"<{len(numbers)}i", *numbers)
    return b"\0\1\0\0" + struct.pack(HEAD, kind, 1, 2, b"client", 7) + struct.pack("<I", 1) + request + bytes(4)


def event(kind, request=None, response=None):
    """example_interfaces/srv/AddTwoInts_Event; places count from after the encapsulation."""
    data = struct.pack(HEAD, kind, 1, 2, b"client", 7)
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


class ActionTest(CommandTest):
    domains = itertools.cycle((53, 54))
    TOPICS = (("send_goal/_service_event", f"{ACTION}_SendGoal_Event"),
              ("cancel_goal/_service_event", "action_msgs/srv/CancelGoal_Event"),
              ("get_result/_service_event", f"{ACTION}_GetResult_Event"),
              ("feedback", f"{ACTION}_FeedbackMessage"), ("status", "action_msgs/msg/GoalStatusArray"))

    def bag(self, events):
        """`events`: of (kind of topic, goal, numbers)."""
        path = sqlite_bag_make(
            os.path.join(self.folder, "bag.db3"),
            [(f"/go/_action/{name}", kind) for name, kind in self.TOPICS] + [("/text", "std_msgs/msg/String")],
            [(topic, SECOND + i * SECOND // 100, data) for i, (topic, data) in enumerate(events)],
        )
        with sqlite3.connect(path) as database:
            database.execute(
                "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, encoding TEXT,"
                " encoded_message_definition TEXT, type_description_hash TEXT)"
            )
            database.execute("INSERT INTO message_definitions VALUES(NULL, ?, 'ros2msg', ?, '')",
                             (ACTION, ACTION_DEFINITION))
        database.close()
        return path

    def serve(self):
        peer = Process(self, [ACTION_PEER, "/go"], self.environment, stdin=command_test.subprocess.PIPE)
        self.addCleanup(lambda: peer.child.stdin.closed or peer.child.stdin.close())
        peer.expect("ready")
        return peer

    @staticmethod
    def name(goal):
        return f"{goal:032x}"

    SEND, CANCEL, RESULT, FEEDBACK = range(4)

    def goal_bag(self):
        feedback = b"\0\1\0\0" + (1).to_bytes(16, "big") + struct.pack("<Ii", 1, 5)
        return self.bag([
            (self.SEND, event_of_action(REQUEST_SENT, 1, 30)),  # as its client saw it
            (self.SEND, event_of_action(REQUEST_RECEIVED, 1, 10)),
            (self.RESULT, event_of_action(REQUEST_RECEIVED, 1)),
            (self.FEEDBACK, feedback),
            (self.SEND, event_of_action(REQUEST_RECEIVED, 2, 20)),
            (self.RESULT, event_of_action(REQUEST_RECEIVED, 2)),
            (self.CANCEL, event_of_action(REQUEST_RECEIVED, 1, 0, 0)),
            (self.CANCEL, event_of_action(REQUEST_RECEIVED, 3, 0, 0)),  # whose goal was sent before the recording
        ])

    def test_goals_are_sent(self):
        """What follows a goal waits for its answer; what follows one that is refused is dropped."""
        peer = self.serve()
        player = self.run_command("play", self.goal_bag(), "-r", "max", "--send-actions-as-client",
                                  "--wait-for-all-acked", "60000")
        for _ in range(3):  # of different services, so in any order
            peer.expect("[a-z]+_[a-z]+ ")
        self.assertEqual(sorted(peer.seen[1:]), [f"cancel_goal {self.name(3)}", f"send_goal {self.name(1)} 10",
                                                 f"send_goal {self.name(2)} 20"])
        peer.write("accept")
        peer.write("refuse")
        self.assertEqual(player.wait(), 0, player.errors)
        self.assertEqual([line for line in player.errors if line], [])
        peer.child.stdin.close()
        self.assertEqual(peer.wait(), 0, peer.errors)
        self.assertEqual(sorted(peer.seen[4:]), [f"cancel_goal {self.name(1)}", f"get_result {self.name(1)}"])

    def test_goals_of_clients(self):
        peer = self.serve()
        player = self.run_command("play", self.goal_bag(), "-r", "max", "--send-actions-as-client",
                                  "--service-requests-source", "client_introspection", "--wait-for-all-acked", "60000")
        peer.expect(f"send_goal {self.name(1)} 30$")
        peer.write("accept")
        self.assertEqual(player.wait(), 0, player.errors)

    def test_a_player_that_is_stopped_leaves_open_goals(self):
        peer = self.serve()
        player = self.run_command("play", self.goal_bag(), "--send-actions-as-client", "--wait-for-all-acked", "0")
        peer.expect(f"cancel_goal {self.name(3)}$")
        player.child.send_signal(command_test.signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)

    def test_without_the_option_topics_are_published(self):
        """And all of them can be decoded."""
        bag = self.goal_bag()
        peer = self.serve()
        status, _, errors = self.result("play", bag, "-r", "max", "--publish-service-requests")
        self.assertEqual((status, errors), (0, ""))
        peer.child.stdin.close()
        self.assertEqual(peer.wait(), 0, peer.errors)
        self.assertEqual(peer.seen, ["ready"])
        status, out, errors = self.result("bag", "cat", bag, "--json")
        self.assertEqual((status, errors), (0, ""))
        messages = [command_test.json.loads(line) for line in out.splitlines()]
        self.assertEqual(messages[1]["message"]["request"][0]["goal"], {"order": 10})
        self.assertEqual(messages[3]["message"]["feedback"], {"sequence": [5]})


if __name__ == "__main__":
    command_test.BIN_DIR, PEER, ACTION_PEER = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
