#!/usr/bin/env python3
"""Lifecycle nodes of the library: what clients of their services see, and `timebase wait --activate`.

usage: lifecycle_test.py BIN_DIR AUDIT_PEER LIFECYCLE_PEER [TEST...]"""

import itertools
import re
import sys
import unittest

import command_test
import wait_test
from wait_test import WaitTest

PEER = None

PRIMARY = {0: "unknown", 1: "unconfigured", 2: "inactive", 3: "active", 4: "finalized"}
IN_TRANSITION = {
    10: "configuring",
    11: "cleaningup",
    12: "shuttingdown",
    13: "activating",
    14: "deactivating",
    15: "errorprocessing",
}
STATES = {**PRIMARY, **IN_TRANSITION}
# id, label, start, goal: in the order of rcl_lifecycle
GRAPH = [
    (1, "configure", 1, 10),
    (10, "transition_success", 10, 2),
    (11, "transition_failure", 10, 1),
    (12, "transition_error", 10, 15),
    (2, "cleanup", 2, 11),
    (20, "transition_success", 11, 1),
    (21, "transition_failure", 11, 2),
    (22, "transition_error", 11, 15),
    (3, "activate", 2, 13),
    (30, "transition_success", 13, 3),
    (31, "transition_failure", 13, 2),
    (32, "transition_error", 13, 15),
    (4, "deactivate", 3, 14),
    (40, "transition_success", 14, 2),
    (41, "transition_failure", 14, 3),
    (42, "transition_error", 14, 15),
    (5, "shutdown", 1, 12),
    (6, "shutdown", 2, 12),
    (7, "shutdown", 3, 12),
    (50, "transition_success", 12, 4),
    (51, "transition_failure", 12, 4),
    (52, "transition_error", 12, 15),
    (60, "transition_success", 15, 1),
    (61, "transition_failure", 15, 4),
    (62, "transition_error", 15, 4),
]
SUCCESS, FAILURE, ERROR = 97, 98, 99


class Reader:
    """Plain CDR, little endian."""

    def __init__(self, text):
        self.data = bytes.fromhex(text)[4:]
        self.at = 0

    def number(self, size):
        self.at += -self.at % size
        value = int.from_bytes(self.data[self.at : self.at + size], "little")
        self.at += size
        return value

    def label(self):
        number = self.number(1)
        size = self.number(4)
        text = self.data[self.at : self.at + size - 1].decode()
        self.at += size
        return number, text

    def transition(self):
        (number, label), start, goal = self.label(), self.label(), self.label()
        assert STATES[start[0]] == start[1] and STATES[goal[0]] == goal[1]
        return number, label, start[0], goal[0]

    def transitions(self):
        return [self.transition() for _ in range(self.number(4))]


def request(number=0, label=""):
    text = label.encode() + b"\0"
    return (b"\0\1\0\0" + bytes((number, 0, 0, 0)) + len(text).to_bytes(4, "little") + text).hex()


class LifecycleTest(WaitTest):
    domains = itertools.cycle((63, 64, 65))

    def node(self, name="camera", arguments=(), limit_ns=0, running=0):
        return self.peer(" ".join(("node", name, *arguments)), f"lifecycle {limit_ns} {running}", program=PEER)

    def simulated(self, name="camera", **options):
        return self.node(name, ("-p", "use_sim_time:=true"), **options)

    def client(self):
        self.tags = itertools.count()
        return self.peer(program=PEER)

    def send(self, client, service, kind, body="0001000000000000"):
        tag = f"t{next(self.tags)}"
        self.ask(client, f"call {tag} {service} lifecycle_msgs/srv/{kind} {body}")
        return tag

    def answer(self, client, tag):
        return Reader(self.outcome(client, tag, "([0-9a-f]+)$")[1])

    def outcome(self, client, tag, pattern):
        """It may have come before the "ok" of its request."""
        found = (re.match(f"answer {tag} {pattern}", line) for line in client.seen)
        return next(filter(None, found), None) or client.expect(f"answer {tag} {pattern}")

    def call(self, client, *arguments):
        return self.answer(client, self.send(client, *arguments))

    def change(self, client, number=0, label="", node="/camera"):
        return bool(self.call(client, f"{node}/change_state", "ChangeState", request(number, label)).number(1))

    def state(self, client, node="/camera"):
        number, label = self.call(client, f"{node}/get_state", "GetState").label()
        self.assertEqual(STATES[number], label)
        return label

    def line(self, process, pattern):
        """The next line like that since the last one: it may have come while another was waited for."""
        process.read = getattr(process, "read", 0)
        while True:
            for index in range(process.read, len(process.seen)):
                match = re.match(pattern, process.seen[index])
                if match:
                    process.read = index + 1
                    return match
            process.read = len(process.seen)
            process.expect(pattern)

    def events(self, client, count):
        seen = []
        for _ in range(count):
            reader = Reader(self.line(client, "event ([0-9a-f]+)$")[1])
            reader.number(8)
            seen.append(reader.transition())
        return seen


class ClientTest(LifecycleTest):
    def test_the_states_and_the_graph_are_those_of_ros(self):
        self.node()
        client = self.client()
        reader = self.call(client, "/camera/get_available_states", "GetAvailableStates")
        self.assertEqual([reader.label() for _ in range(reader.number(4))], list(STATES.items()))
        kind = "GetAvailableTransitions"
        self.assertEqual(self.call(client, "/camera/get_transition_graph", kind).transitions(), GRAPH)
        for asked, state in ((None, 1), ("configure", 2), ("activate", 3), ("shutdown", 4)):
            if asked:
                self.assertTrue(self.change(client, label=asked))
            expected = [row for row in GRAPH if row[2] == state]
            self.assertEqual(self.call(client, "/camera/get_available_transitions", kind).transitions(), expected)

    def test_a_life(self):
        node = self.node()
        client = self.client()
        self.ask(client, "events /camera")
        for number, callback, before, after in (
            (1, "on_configure", "unconfigured", "inactive"),
            (3, "on_activate", "inactive", "active"),
            (4, "on_deactivate", "active", "inactive"),
            (2, "on_cleanup", "inactive", "unconfigured"),
            (5, "on_shutdown", "unconfigured", "finalized"),
        ):
            self.assertTrue(self.change(client, number))
            self.line(node, f"{callback} {before}$")
            self.line(node, f"now {after}$")
            self.assertEqual(self.state(client), after)
            begin, end = self.events(client, 2)
            self.assertEqual(begin[0], number)
            self.assertIn(begin, GRAPH)
            self.assertEqual((end[1], end[2], STATES[end[3]]), ("transition_success", begin[3], after))
        self.ask(node, "state")
        self.assertIn("state finalized", node.seen)

    def test_what_does_not_begin_at_the_state_is_refused(self):
        node = self.node()
        client = self.client()
        possible = {row[2]: row[0] for row in GRAPH}
        for state in (1, 2, 3, 4):
            allowed = {row[0] for row in GRAPH if row[2] == state}
            for number in sorted({row[0] for row in GRAPH} | {0, 8, 97, 255} - allowed):
                if number in allowed:
                    continue
                self.assertFalse(self.change(client, number), (state, number))
            labels = {row[1] for row in GRAPH} | {"", "Configure", "x" * 200}
            for label in sorted(labels - {row[1] for row in GRAPH if row[2] == state}):
                # a label comes before the id, also where the id would be right
                number = possible[state] if label and state in possible else 0
                self.assertFalse(self.change(client, number, label), (state, label))
            self.assertEqual(self.state(client), STATES[state])
            if state < 4:
                self.assertTrue(self.change(client, (1, 3, 7)[state - 1]))
        called = [line for line in node.seen if line.startswith("on_")]
        self.ask(node, "state", "change 1")
        called = [line for line in node.seen if line.startswith("on_")]
        self.assertEqual(called, ["on_configure unconfigured", "on_activate inactive", "on_shutdown active"])
        self.assertIn("changed TB_ERR_INVALID lifecycle: transition 1 of /camera does not begin now, in the state finalized", node.seen)

    def test_callbacks_that_fail(self):
        node = self.node()
        client = self.client()
        for callback, number, begin in (("configure", 1, "unconfigured"), ("activate", 3, "inactive"), ("deactivate", 4, "active"), ("cleanup", 2, "inactive")):
            self.ask(node, f"returns on_{callback} {FAILURE}")
            self.assertFalse(self.change(client, number))
            self.assertEqual(self.state(client), begin)
            self.ask(node, f"returns on_{callback} {SUCCESS}")
            if callback != "cleanup":
                self.assertTrue(self.change(client, number))
        # an error leads to on_error, whose success leads to unconfigured; any number is an error
        self.ask(client, "events /camera")
        self.ask(node, "returns on_cleanup 1")
        self.assertFalse(self.change(client, 2))
        self.line(node, "on_error inactive")
        self.assertEqual(self.state(client), "unconfigured")
        self.assertEqual([(row[2], row[3]) for row in self.events(client, 3)], [(2, 11), (11, 15), (15, 1)])
        self.ask(node, f"returns on_configure {ERROR}", f"returns on_error {FAILURE}")
        self.assertFalse(self.change(client, 1))
        self.assertEqual(self.state(client), "finalized")
        node = self.node("other")
        self.ask(node, f"returns on_shutdown {FAILURE}")
        self.assertFalse(self.change(client, 5, node="/other"))
        self.assertEqual(self.state(client, "/other"), "finalized")

    def test_garbage_is_not_answered_and_changes_nothing(self):
        self.node()
        client = self.client()
        for body in ("00010000", "0001000001", "0001000001000000ffffffff", "00010000010000000100000041"):
            self.send(client, "/camera/change_state", "ChangeState", body)
        self.assertEqual(self.state(client), "unconfigured")
        self.assertTrue(self.change(client, 1))

    def test_types_hashes_and_qos_are_announced(self):
        self.node()
        client = self.client()
        self.ask(client, "hash /camera/transition_event")
        client_seen = " ".join(client.seen)
        self.assertIn("hash lifecycle_msgs/msg/TransitionEvent RIHS01_d5f8873a2f0146498f812d7885c7327ce27e463d36811d8792f35ee38c0d6c38 reliable volatile 10", client_seen)

    def test_a_program_changes_its_own_state(self):
        node = self.node()
        client = self.client()
        self.ask(node, "then 3", "change 1")
        self.line(node, "now active")
        self.assertIn("changed TB_OK ", node.seen)
        self.assertEqual(self.state(client), "active")
        self.ask(node, "destroy")
        self.ask(client, "gone /camera/get_state lifecycle_msgs/srv/GetState")  # or the next one would go there
        self.ask(node, "lifecycle 0 0")
        self.assertEqual(self.state(client), "unconfigured")


class ActivationTest(LifecycleTest):
    def test_activation_waits_for_the_first_tick_and_blocks_nothing(self):
        node = self.simulated()
        client = self.client()
        self.assertTrue(self.change(client, 1))
        waits = self.send(client, "/camera/change_state", "ChangeState", request(3))
        while self.state(client) == "inactive":
            pass
        # other requests are served; other transitions are refused, also those of its own program
        self.assertEqual(self.state(client), "activating")
        for number in (1, 2, 3, 4, 5, 6, 7, 30, 31, 32):
            self.assertFalse(self.change(client, number), number)
        self.assertFalse(self.change(client, label="transition_success"))
        self.ask(node, "change 4")
        self.assertTrue(any(line.startswith("changed TB_ERR_BUSY") for line in node.seen))
        self.assertEqual(self.state(client), "activating")
        self.assertNotIn("on_activate inactive", node.seen)
        self.assertFalse([line for line in client.seen if line.startswith(f"answer {waits} ")])
        self.sim()
        self.assertEqual(self.answer(client, waits).number(1), 1)
        self.line(node, "on_activate inactive")
        self.assertEqual(self.state(client), "active")

    def test_the_limit_of_an_activation(self):
        for limit_ns in (200_000_000, -1):
            node = self.simulated(f"n{max(limit_ns, 0)}", limit_ns=limit_ns)
            client = self.client()
            name = f"/n{max(limit_ns, 0)}"
            self.assertTrue(self.change(client, 1, node=name))
            self.assertFalse(self.change(client, 3, node=name))
            self.assertEqual(self.state(client, name), "inactive")
            self.assertFalse([line for line in node.seen if line.startswith("on_activate")])
            self.line(node, f"log {name} is not activated: its clock is not ready")

    def test_system_time_is_ready_at_once_and_ends_a_wait(self):
        node = self.node("wall")
        client = self.client()
        self.assertTrue(self.change(client, 1, node="/wall"))
        self.assertTrue(self.change(client, 3, node="/wall"))
        node = self.simulated("sim_time")
        self.assertTrue(self.change(client, 1, node="/sim_time"))
        waits = self.send(client, "/sim_time/change_state", "ChangeState", request(3))
        while self.state(client, "/sim_time") != "activating":
            pass
        self.assertEqual(self.result("param", "set", "/sim_time", "use_sim_time", "false")[0], 0)
        self.assertEqual(self.answer(client, waits).number(1), 1)
        self.line(node, "on_activate inactive")

    def test_a_paused_clock_is_not_running(self):
        server = self.run_command("serve", "--start", "1000", "--paused")
        server.expect("time 1000")
        client = self.client()
        self.simulated("first")
        self.assertTrue(self.change(client, 1, node="/first"))
        self.assertTrue(self.change(client, 3, node="/first"))
        node = self.simulated("running", running=1)
        self.assertTrue(self.change(client, 1, node="/running"))
        waits = self.send(client, "/running/change_state", "ChangeState", request(3))
        while self.state(client, "/running") != "activating":
            pass
        self.assertNotIn("on_activate inactive", node.seen)
        # simulation_interfaces: PLAYING is 1
        tag = f"t{next(self.tags)}"
        self.ask(client, f"call {tag} /set_simulation_state simulation_interfaces/srv/SetSimulationState 0001000001000000")
        self.answer(client, tag)
        self.assertEqual(self.answer(client, waits).number(1), 1)
        self.line(node, "on_activate inactive")

    def test_a_node_that_waits_can_be_destroyed(self):
        node = self.simulated()
        client = self.client()
        self.assertTrue(self.change(client, 1))
        waits = self.send(client, "/camera/change_state", "ChangeState", request(3))
        while self.state(client) != "activating":
            pass
        self.ask(node, "destroy")
        self.outcome(client, waits, "TB_ERR_CLOSED$")
        self.assertNotIn("on_shutdown", " ".join(node.seen))
        self.ask(node, "lifecycle 0 0")
        self.assertEqual(self.state(client), "unconfigured")

    def test_the_command_activates_it(self):
        camera = self.simulated()
        wall = self.node("wall")
        wait = self.run_command("wait", "--limit", "100s", "--activate", "/camera", "/wall")
        wait.expect_error("no publisher of /clock")
        self.sim()
        wait.expect("/camera: activated")
        wait.expect("/wall: activated")
        self.assertEqual(wait.wait(), 0)
        for node in (camera, wall):
            self.line(node, "on_configure unconfigured")
            self.line(node, "on_activate inactive")
        self.assertEqual(self.result("wait", "--limit", "100s", "--activate", "/camera")[1].splitlines()[1:], ["/camera: was active already, perhaps before the first tick"])
        self.ask(camera, f"returns on_deactivate {ERROR}", f"returns on_error {ERROR}", "change 4")
        self.line(camera, "now finalized")
        status, _, err = self.result("wait", "--limit", "100s", "--activate", "/camera")
        self.assertEqual(status, 1)
        self.assertIn("/camera is not active (state: finalized): it cannot be activated from this state", err)

if __name__ == "__main__":
    command_test.BIN_DIR, wait_test.PEER, PEER = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
