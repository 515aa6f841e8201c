#!/usr/bin/env python3
"""Commands that look at a ROS 1 graph, against a master and nodes that answer what they must not: each ends
within its limits, with a message, and one bad node costs no other. Needs no ROS.

usage: see_hostile_test.py FOLLOWER TIMEBASE [TEST...]"""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
import xmlrpc.client

import ros1_graph
from ros1_graph import LIMIT_S, TYPE, Master, Publisher, Server, free_port, http_answer, wait_until

CLOCK = ["/clock", TYPE]
DEFINITION = "uint8 a\nstring text\nfloat32[] list\n"


class Core(Master):
    """A master with a state that the test sets: {topic: [node]} for publishers, subscribers, services."""

    def __init__(self, port=0, **parameters):
        self.state = ({}, {}, {})
        self.uris = {}
        self.types = {"/clock": TYPE}
        super().__init__(port, **parameters)

    def do_getSystemState(self, caller):
        return [1, "current system state", [[[topic, nodes] for topic, nodes in one.items()] for one in self.state]]

    def do_getTopicTypes(self, caller):
        return [1, "", [list(one) for one in self.types.items()]]

    def do_lookupNode(self, caller, name):
        if name in self.uris:
            return [1, "node api", self.uris[name]]
        return super().do_lookupNode(caller, name)

    def do_setParam(self, caller, key, value):
        self.parameters[key] = value
        return [1, "", 0]

    def do_deleteParam(self, caller, key):
        return [1 if self.parameters.pop(key, None) is not None else -1, f"Parameter [{key}] is not set", 0]

    def do_getParamNames(self, caller):
        return [1, "", sorted(self.parameters)]

    def add(self, name, node, publishes=("/rosout",), subscribes=()):
        self.uris[name] = node if isinstance(node, str) else node.uri
        for kind, topics in enumerate((publishes, subscribes)):
            for topic in topics:
                self.state[kind].setdefault(topic, []).append(name)


class Node(Server):
    def __init__(self):
        self.pid = 77
        self.subscriptions = [CLOCK]
        self.bus = [[1, "http://127.0.0.1:1/", "i", "TCPROS", "/clock", True, ""]]
        super().__init__()

    def do_getPid(self, caller):
        return [1, "", self.pid]

    def do_getSubscriptions(self, caller):
        return [1, "", self.subscriptions]

    def do_getBusInfo(self, caller):
        return [1, "", self.bus]


class ClockNode(Publisher):
    """A node that publishes /clock, with a thread that sends `time_of(i)` for i from 0 on each 10 ms; None: no
    tick."""

    def __init__(self):
        self.stop = threading.Event()
        super().__init__()

    def do_getPid(self, caller):
        return [1, "", 78]

    def do_getSubscriptions(self, caller):
        return [1, "", []]

    do_getBusInfo = do_getSubscriptions

    def run(self, time_of):
        def send():
            i = 0
            while not self.stop.wait(0.01):
                if self.connections:
                    time_ns = time_of(i)
                    i += 1
                    if time_ns is not None:
                        self.tick(time_ns)
        threading.Thread(target=send, daemon=True).start()

    def close(self):
        self.stop.set()
        super().close()


class SeeHostileTest(ros1_graph.Ros1Test):
    def core(self, **parameters):
        core = Core(**parameters)
        self.addCleanup(lambda: core.thread.is_alive() and core.close())
        return core

    def node(self):
        node = Node()
        self.addCleanup(node.close)
        return node

    def listener(self):
        """Accepts, and never answers."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.addCleanup(listener.close)
        return f"http://127.0.0.1:{listener.getsockname()[1]}/"

    def timebase(self, core, *words, status=0):
        environment = {**os.environ, "ROS_MASTER_URI": core if isinstance(core, str) else core.uri,
                       "ROS_IP": "127.0.0.1"}
        environment.pop("ROS_HOSTNAME", None)
        result = subprocess.run([TIMEBASE, *words, "--ros1"], env=environment, capture_output=True, timeout=LIMIT_S,
                                check=False)
        out = result.stdout.decode()
        if status is not None:
            self.assertEqual(result.returncode, status, out + result.stderr.decode(errors="replace"))
        return out, result.stderr.decode()

    def nodes(self, core, *words):
        report = json.loads(self.timebase(core, "nodes", "--json", *words)[0])
        return {node["name"]: node for node in report["nodes"]}, report

    def until_states(self, core, expected):
        """The first run with these states: a node here may answer late on a busy machine."""
        last = {}

        def look():
            nodes, report = self.nodes(core, "--limit", "1s")
            last.update({name: node["state"] for name, node in nodes.items()})
            return last == expected and (nodes, report)
        return wait_until(look, lambda: last)

    def test_many_hung_nodes_delay_no_other(self):
        core, node, hung = self.core(), self.node(), self.listener()
        for i in range(100):
            core.add(f"/hung_{i}", hung)
        core.add("/zz_well", node, ["/a"], ["/clock"])
        nodes, report = self.until_states(core, {f"/hung_{i}": "silent" for i in range(100)} | {"/zz_well": "alive"})
        self.assertEqual(nodes["/zz_well"]["pid"], 77)
        self.assertEqual([one["count"] for one in report["findings"] if one["rule"] == "node-unreachable"], [100])
        # One after another would take longer than a command may take here.

    def test_nodes_that_answer_nonsense(self):
        core = self.core()
        whole = lambda value: http_answer(xmlrpc.client.dumps((value,), methodresponse=True))  # noqa: E731
        answers = {"fault": http_answer(xmlrpc.client.dumps(xmlrpc.client.Fault(1, "no"))), "text": whole("yes"),
                   "html": http_answer("<html>hello</html>"), "404": b"HTTP/1.1 404 Not Found\r\nContent-length: 0\r\n\r\n",
                   "empty": b"", "cut": whole([1, "", 5])[:80], "huge": b"HTTP/1.1 200 OK\r\nContent-length: 99999999999\r\n\r\n",
                   "deep": http_answer("<methodResponse><params><param>" + "<value><array><data>" * 1000)}
        for name, raw in answers.items():
            node = self.node()
            node.raw["getPid"] = raw
            core.add(f"/{name}", node)
        nodes, _ = self.nodes(core)
        self.assertEqual({name: node["state"] for name, node in nodes.items()},
                         {f"/{name}": "foreign" for name in answers})

    def test_later_answers_change_nothing(self):
        """A node that has answered once is there, whatever else it says."""
        core = self.core()
        for i, (method, value) in enumerate((("getSubscriptions", "x"), ("getSubscriptions", [[1, 2], "a", []]),
                                             ("getBusInfo", [[], [1], [1, 2, 3, 4, 5, 6], "a"]),
                                             ("getBusInfo", -1), ("getPid", "text"), ("getPid", -5))):
            node = self.node()
            node.raw[method] = http_answer(xmlrpc.client.dumps(([1, "", value],), methodresponse=True))
            core.add(f"/n{i}", node, ["/a"], ["/clock"])
        slow = self.node()
        answer = threading.Event()
        self.addCleanup(answer.set)
        slow.raw["getSubscriptions"] = lambda connection: answer.wait()
        core.add("/slow", slow, ["/a"], ["/clock"])
        nodes, _ = self.until_states(core, dict.fromkeys(core.uris, "alive"))
        self.assertEqual([nodes[f"/n{i}"]["pid"] for i in (4, 5)], [None, None])
        self.assertIsNone(nodes["/slow"]["clock_connections"])

    def test_uris_that_are_none(self):
        core = self.core()
        for i, uri in enumerate(("", "rosrpc://a:1", "http://", "http://a b:1/", "http://127.0.0.1:0/",
                                 "http://127.0.0.1:1/", "http://no.such.host.invalid:5/")):
            core.add(f"/n{i}", uri)
        nodes, _ = self.nodes(core)
        self.assertEqual([nodes[f"/n{i}"]["state"] for i in range(6)], ["dead"] * 6)
        self.assertEqual(nodes["/n6"]["state"], "silent")

    def test_a_node_that_leaves_meanwhile_is_in_no_list(self):
        core = self.core()
        core.add("/here", self.node(), ["/a"])
        core.state[0]["/a"].append("/gone")
        nodes, report = self.nodes(core)
        self.assertEqual(list(nodes), ["/here"])
        self.assertEqual(report["findings"], [])
        topics = json.loads(self.timebase(core, "topic", "list", "--json")[0])
        self.assertEqual([(one["topic"], one["publishers"]) for one in topics], [("/a", 1)])

    def test_names_with_control_characters_are_escaped(self):
        core = self.core()
        core.add("/a\u009b31m{subject}\nerror", self.node(), ["/t\u009b2J"])
        out, _ = self.timebase(core, "nodes")
        self.assertNotIn("\u009b", out)
        self.assertNotIn("\nerror", out)
        self.assertNotIn("\u009b", self.timebase(core, "topic", "list")[0])

    def test_masters_that_answer_nonsense(self):
        for value in ("x", [], [1, ""], [1, "", "x"], [1, "", []], [1, "", [1, 2]], [0, "no", []]):
            core = self.core()
            core.raw["getSystemState"] = http_answer(xmlrpc.client.dumps((value,), methodresponse=True))
            _, log = self.timebase(core, "nodes", status=3)
            self.assertIn("what answers is no ROS 1 master", log)
        for state in ([[["/a", "x"], [1, ["/n"]], ["/b", [2, ""]]], "x", 7], [[["/a"]], [[]], [["/a", [["/x"]]]]]):
            core = self.core()
            core.raw["getSystemState"] = http_answer(xmlrpc.client.dumps(([1, "", state],), methodresponse=True))
            self.assertEqual(self.nodes(core)[0], {})
        core = self.core()
        core.raw["getTopicTypes"] = http_answer(xmlrpc.client.dumps(([1, "", [["/a"], 5, ["/a", 6]]],),
                                                                    methodresponse=True))
        self.nodes(core)

    def test_a_master_that_hangs_or_is_none(self):
        hung = self.listener()
        for words in (("nodes",), ("audit",), ("watch",), ("param", "list"), ("topic", "list"), ("topic", "hz", "/a")):
            _, log = self.timebase(hung, *words, status=3)
            self.assertIn(f"the ROS 1 master at {hung[:-1]} does not answer (", log)
        core = self.core()
        core.raw["getParam"] = b"HTTP/1.1 500 Internal Server Error\r\nContent-length: 0\r\n\r\n"
        self.assertIn("HTTP: the answer is not 200 OK", self.timebase(core, "watch", status=3)[1])

    def test_parameters_of_all_types(self):
        core = self.core()
        core.parameters["/p"] = {"a": [1, 2.5, True, "x"], "b": xmlrpc.client.Binary(b"bytes"),
                                 "c": xmlrpc.client.DateTime(0), "d": {}, "e\u009b": []}
        value = json.loads(self.timebase(core, "param", "get", "/p")[0])
        self.assertEqual(value["a"], [1, 2.5, True, "x"])
        self.assertEqual((value["d"], value["e\u009b"]), ({}, []))
        self.timebase(core, "param", "set", "/q", '{"a": {"b": [1, [2.0, "<&>"]]}}')
        self.assertEqual(core.parameters["/q"], {"a": {"b": [1, [2.0, "<&>"]]}})

    def sender(self, data, **fields):
        """A publisher of /x, which sends that, of DEFINITION."""
        core, publisher = self.core(), self.publisher(topic="/x", type="my_msgs/Odd", md5sum="0" * 32,
                                                      message_definition=fields.get("definition", DEFINITION))
        core.publishers = [publisher.uri]
        publisher.greeting += b"".join(struct.pack("<I", len(one)) + one for one in data)
        return core

    def test_messages_that_are_not_of_their_definition(self):
        text = struct.pack("<I", 2) + b"ab"
        good = b"\x07" + text + struct.pack("<If", 1, 0.5)
        wrong = (b"", b"\x07", b"\x07" + struct.pack("<I", 0xFFFFFFFF), b"\x07" + text + struct.pack("<I", 0xFFFFFFF0))
        core = self.sender([*wrong, good])
        out, _ = self.timebase(core, "topic", "echo", "/x", "-n", "5")
        self.assertEqual(out.count("bytes that are not of the definition"), 4)
        self.assertIn("a: 7\ntext: ab\nlist: [0.5]\n---\n", out)

    def test_definitions_that_cannot_be_read(self):
        core = self.sender([b"abc"], definition="my_msgs/Odd odd\n")
        out, log = self.timebase(core, "topic", "echo", "/x", "-n", "1")
        self.assertIn("the definition of my_msgs/Odd cannot be used", log)
        self.assertEqual(out, "# 3 bytes that are not of the definition\n---\n")

    def test_two_types_of_one_topic(self):
        core = self.sender([b"\x01" + struct.pack("<II", 0, 0)])
        other = self.publisher(topic="/x", type="my_msgs/Other", md5sum="1" * 32, message_definition="int8 b\n")
        other.greeting += struct.pack("<I", 1) + b"\xff"
        core.publishers.append(other.uri)
        out, _ = self.timebase(core, "topic", "echo", "/x", "-n", "2")
        self.assertIn("a: 1\n", out)
        self.assertIn("b: -1\n", out)

    def clock(self, core, time_of, name="/sim"):
        node = ClockNode()
        self.addCleanup(node.close)
        core.add(name, node, ["/clock"])
        core.publishers.append(node.uri)
        node.run(time_of)
        return node

    def rules(self, core, duration="1.5s"):
        report = json.loads(self.timebase(core, "audit", "--json", "--duration", duration, "--fail-on", "error",
                                          status=None)[0])
        return {one["rule"]: {subject["name"]: subject["evidence"][0] for subject in one["subjects"]}
                for one in report["findings"]}

    def test_faults_of_one_clock(self):
        second, step = 1_000_000_000, 10_000_000
        cases = {
            None: lambda i: 100 * second + i * step,
            "paused": lambda i: 100 * second,
            "slow": lambda i: 100 * second + i * step // 10,
            "clock-backwards": lambda i: (100 if i < 40 else 50) * second + i * step,
            "clock-two-streams": lambda i: (100 + 400 * (i // 5 % 2)) * second + i * step,
            "clock-zero": lambda i: 0 if i % 10 == 3 else 100 * second + i * step,
        }
        for rule, time_of in cases.items():
            with self.subTest(rule):
                self.until_rules(time_of, [rule] if rule and rule.startswith("clock") else [], "1.5s")
        found = self.until_rules(lambda i: 100 * second + i * step if i < 20 else None, ["clock-stall"], "4s")
        self.assertIn("the last one was 100.190 s", found["clock-stall"]["/clock"])

    def until_rules(self, time_of, rules, duration):
        """With a clock that begins with each run: where the machine is busy, it has faults of its own."""
        found = {}

        def look():
            core = self.core(use_sim_time=True)
            clock = self.clock(core, time_of)
            found.clear()
            found.update(self.rules(core, duration))
            clock.stop.set()
            return list(found) == rules
        wait_until(look, lambda: f"{rules}: {found}")
        return found

    def test_a_node_that_is_connected_to_no_publisher(self):
        core = self.core(use_sim_time=True)
        self.clock(core, lambda i: 100_000_000_000 + i * 10_000_000)
        good, starved, strange = self.node(), self.node(), self.node()
        starved.bus = [[1, "/x", "o", "TCPROS", "/clock", True, ""], [2, "http://a:1/", "i", "TCPROS", "/other", True, ""],
                       [3, "http://a:1/", "i", "TCPROS", "/clock", False, ""]]
        strange.raw["getBusInfo"] = http_answer("no")  # it is not known whether
        for name, node in (("/good", good), ("/starved", starved), ("/strange", strange)):
            core.add(name, node, ["/a"], ["/clock"])
        expected = {"no-clock-received": {
            "/starved": "it subscribes to /clock, and is connected to no publisher of it"}}
        found = {}

        def look():
            found.clear()
            found.update(self.rules(core))
            return found == expected
        wait_until(look, lambda: found)

    def test_wait_goes_on_until_a_master_comes(self):
        port = free_port()
        environment = {**os.environ, "ROS_MASTER_URI": f"http://127.0.0.1:{port}/", "ROS_IP": "127.0.0.1"}
        child = subprocess.Popen([TIMEBASE, "wait", "--ros1", "--json", "--limit", "60s"], env=environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.kill)
        self.assertIn("does not answer", child.stderr.readline())
        core = Core(port=port)
        self.addCleanup(core.close)
        publisher = self.publisher()
        core.add("/sim", publisher, ["/clock"])
        core.publishers = [publisher.uri]
        stop = threading.Event()
        self.addCleanup(stop.set)

        def tick():
            time_ns = 5_000_000_000
            while not stop.wait(0.02):
                publisher.tick(time_ns)
                time_ns += 20_000_000
        threading.Thread(target=tick, daemon=True).start()
        out, _ = child.communicate(timeout=LIMIT_S)
        self.assertEqual((child.returncode, json.loads(out)["reason"]), (0, "ready"))


if __name__ == "__main__":
    TIMEBASE = os.path.abspath(sys.argv.pop(2))
    ros1_graph.main(2)
