#!/usr/bin/env python3
"""Publishers of the ROS 1 library, with subscribers and strangers that do what they must not: each
costs one connection, and the others get every message.

usage: publisher_test.py SENDER [TEST...]"""

import json
import socket
import struct
import threading
import time
import xmlrpc.client

import ros1_graph
from ros1_graph import LIMIT_S, MD5, SECOND, header, wait_until

BYTES_MD5 = "0123456789abcdef0123456789abcdef"
START = 1_700_000_000 * SECOND
SUBSCRIBER = {"callerid": "/reader", "topic": "/clock", "md5sum": MD5, "type": "rosgraph_msgs/Clock"}


class Master(ros1_graph.Master):
    """Also of publishers and of parameters that are set."""

    def __init__(self, port=0, **parameters):
        self.published = {}  # topic: (node, type, uri)
        self.set_calls = []
        self.answers_sets = threading.Event()
        self.answers_sets.set()
        self.deleted_early = False
        self.state = [[], [], []]
        super().__init__(port, **parameters)

    def do_registerPublisher(self, caller, topic, topic_type, uri):
        self.published[topic] = (caller, topic_type, uri)
        self.nodes.setdefault(caller, uri)
        return [1, "Registered", []]

    def do_unregisterPublisher(self, caller, topic, uri):
        self.unregistered.append((caller, topic, uri))
        return [1, "", 1]

    def do_getSystemState(self, caller):
        return [1, "current system state", self.state]

    def do_setParam(self, caller, key, value):
        self.set_calls.append((key, value))
        self.answers_sets.wait(LIMIT_S)
        self.parameters[key] = value
        return [1, "", 0]

    def do_deleteParam(self, caller, key):
        self.deleted_early = self.deleted_early or not self.answers_sets.is_set()
        self.parameters.pop(key, None)
        return [1, "", 0]


class Sender(ros1_graph.Follower):
    def do(self, command=""):
        self.child.stdin.write(command + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            raise AssertionError(f"the sender has ended: {self.child.poll()}: {self.log}")
        return json.loads(line)


class Subscriber:
    def __init__(self, port, **fields):
        self.socket = socket.create_connection(("127.0.0.1", port), LIMIT_S)
        self.socket.settimeout(LIMIT_S)
        self.socket.sendall(header({**SUBSCRIBER, **fields}))

    def read(self):
        size, = struct.unpack("<I", self.exactly(4))
        return self.exactly(size)

    def exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError(f"closed after {len(data)} of {size} bytes")
            data += part
        return data

    def header(self):
        data, fields = self.read(), {}
        while data:
            size, = struct.unpack("<I", data[:4])
            key, _, value = data[4:4 + size].decode().partition("=")
            fields[key] = value
            data = data[4 + size:]
        return fields

    def is_closed(self):
        try:
            return not self.socket.recv(1)
        except ConnectionError:
            return True


class PublisherTest(ros1_graph.Ros1Test):
    def start(self, *arguments, is_slow=False, **parameters):
        master = Master(**parameters)
        if is_slow:
            master.answers_sets.clear()
        self.addCleanup(lambda: master.thread.is_alive() and master.close())
        sender = Sender(self.program, master.uri, *arguments)
        self.addCleanup(sender.end)
        wait_until(lambda: len(master.published) == 2, lambda: f"publishers: {sender.log}")
        self.slave = xmlrpc.client.ServerProxy(master.published["/clock"][2])
        return master, sender

    def port(self, topic="/clock"):
        code, _, (protocol, host, port) = self.slave.requestTopic("/reader", topic, [["TCPROS"]])
        self.assertEqual((code, protocol, host), (1, "TCPROS", "127.0.0.1"))
        return port

    def subscribe(self, **fields):
        topic = fields.get("topic", "/clock")
        subscriber = Subscriber(self.port(topic), **fields)
        self.addCleanup(subscriber.socket.close)
        return subscriber

    def matched(self, sender, topic, count):
        wait_until(lambda: sender.do()[topic] == count, lambda: f"{count} of {topic}: {sender.do()}")

    # --- what a subscriber gets ---

    def test_ticks(self):
        master, sender = self.start()
        self.assertEqual(master.published["/clock"][:2], ("/sender", "rosgraph_msgs/Clock"))
        subscriber = self.subscribe()
        fields = subscriber.header()
        self.assertEqual(fields, {"type": "rosgraph_msgs/Clock", "md5sum": MD5, "callerid": "/sender",
                                  "latching": "0", "topic": "/clock", "message_definition": "time clock\n"})
        self.matched(sender, "clock", 1)
        for i in range(1, 4):
            sender.do(f"clock {START + i}")
            self.assertEqual(subscriber.read(), struct.pack("<II", START // SECOND, i))
        subscriber.socket.close()
        self.matched(sender, "clock", 0)

    def test_times_that_nodes_must_not_get(self):
        _, sender = self.start()
        subscriber = self.subscribe()
        subscriber.header()
        self.matched(sender, "clock", 1)
        for time_ns, status in ((0, "TB_ERR_NOT_SET"), (-1, "TB_ERR_RANGE"), ((1 << 32) * SECOND, "TB_ERR_RANGE"),
                                ((1 << 32) * SECOND - 1, "TB_OK")):
            self.assertEqual(sender.do(f"clock {time_ns}")["ticked"], status)
        self.assertEqual(subscriber.read(), struct.pack("<II", (1 << 32) - 1, SECOND - 1))

    def test_any_type(self):
        _, sender = self.start()
        subscriber = self.subscribe(md5sum="*", type="*")
        self.assertEqual(subscriber.header()["type"], "rosgraph_msgs/Clock")
        self.matched(sender, "clock", 1)

    def test_latched(self):
        _, sender = self.start("latched")
        sender.do("send 3 2")
        for _ in range(2):
            subscriber = self.subscribe(topic="/bytes", md5sum=BYTES_MD5)
            self.assertEqual(subscriber.header()["latching"], "1")
            self.assertEqual(subscriber.read(), b"\1\1\1")

    def test_large_messages_arrive_whole(self):
        _, sender = self.start()
        subscriber = self.subscribe(topic="/bytes", md5sum=BYTES_MD5)
        subscriber.header()
        self.matched(sender, "bytes", 1)
        for size in (1, 252, 253, 8_000_000, 0):
            sender.do(f"send {size} 1")
            self.assertEqual(subscriber.read(), b"\0" * size)

    def test_what_tools_ask(self):
        _, sender = self.start()
        subscriber = self.subscribe()
        subscriber.header()
        self.matched(sender, "clock", 1)
        self.assertEqual(self.slave.getPublications("/tool")[2],
                         [["/clock", "rosgraph_msgs/Clock"], ["/bytes", "test_msgs/Bytes"]])
        connection, = self.slave.getBusInfo("/tool")[2]
        self.assertEqual(connection[1:6], ["/reader", "o", "TCPROS", "/clock", True])

    # --- /use_sim_time ---

    def test_use_sim_time_is_set_and_deleted(self):
        master, sender = self.start()
        wait_until(lambda: master.parameters.get("/use_sim_time") is True, lambda: master.parameters)
        sender.end()
        self.assertNotIn("/use_sim_time", master.parameters)
        uri = master.published["/clock"][2]  # of registration, or the master keeps them
        self.assertEqual(sorted(master.unregistered), [("/sender", "/bytes", uri), ("/sender", "/clock", uri)])

    def test_use_sim_time_is_not_deleted_before_it_is_set(self):
        """A master has threads: it may handle the later call first."""
        master, sender = self.start(is_slow=True)
        wait_until(lambda: master.set_calls, lambda: f"setParam: {sender.log}")
        sender.child.stdin.close()
        wait_until(lambda: len(master.unregistered) == 2 or sender.child.poll() is not None,
                   lambda: master.unregistered)
        master.answers_sets.set()
        sender.child.wait(LIMIT_S)
        self.assertFalse(master.deleted_early)

    def test_use_sim_time_that_was_set_stays(self):
        master, sender = self.start(use_sim_time=True)
        wait_until(lambda: ("getParam", ("/sender", "/use_sim_time")) in master.calls, "a look")
        sender.end()
        self.assertEqual((master.parameters["/use_sim_time"], master.set_calls), (True, []))

    def test_use_sim_time_that_was_false_is_false_again(self):
        master, sender = self.start(use_sim_time=False)
        wait_until(lambda: master.parameters.get("/use_sim_time") is True, lambda: master.parameters)
        sender.end()
        self.assertIs(master.parameters["/use_sim_time"], False)

    def test_a_restarted_master_gets_all_again(self):
        master, sender = self.start()
        wait_until(lambda: master.parameters.get("/use_sim_time") is True, "use_sim_time")
        master.close()
        again = Master(port=master.server_port)
        self.addCleanup(again.close)
        wait_until(lambda: len(again.published) == 2, lambda: sender.log)
        wait_until(lambda: again.parameters.get("/use_sim_time") is True, lambda: sender.log)

    # --- other nodes ---

    def test_other_publishers_of_the_clock_are_reported(self):
        """Once each, from whatever the master answers."""
        master, sender = self.start()
        garbage = [[], [7], ["/clock"], ["/clock", 7], ["/clock", [7, [], "x y", "/\x1b[31m", "/sender"]]]
        for state in (7, [garbage, garbage, []], [[["/bytes", ["/other"]]], [["/clock", ["/reader"]]], []]):
            count = len(master.calls)
            master.state = state
            wait_until(lambda: ("getSystemState", ("/sender",)) in master.calls[count:], "a look")
        self.assertNotIn("also published", sender.log)
        master.state = [[["/clock", ["/sender", "/other"]]], [], []]
        sender.until_logged("/clock of ROS 1 is also published by /other: ")
        master.state = [[["/clock", ["/sender", "/another"]]], [], []]
        sender.until_logged("/clock of ROS 1 is also published by /another: ")
        self.assertEqual(sender.log.count("also published"), 2)

    def test_a_name_that_is_taken_ends_the_clock(self):
        master, sender = self.start()
        self.assertEqual(sender.do(f"clock {START}")["ticked"], "TB_OK")
        wait_until(lambda: master.parameters.get("/use_sim_time") is True, "use_sim_time")
        master.nodes["/sender"] = "http://127.0.0.1:9/"
        sender.until_logged("has taken the name /sender")
        self.assertEqual(sender.do(f"clock {START + 1}")["ticked"], "TB_ERR_CLOSED")

    # --- strangers ---

    def test_wrong_headers_are_refused_with_the_reason(self):
        self.start()
        for fields, words in (({"md5sum": "0" * 32}, "md5sum"), ({"topic": "/nope"}, "publish /nope"),
                              ({"topic": ""}, "publish")):
            subscriber = Subscriber(self.port(), **fields)
            self.assertIn(words, subscriber.header()["error"])
            self.assertTrue(subscriber.is_closed())
            subscriber.socket.close()

    def test_malformed_headers_cost_a_connection(self):
        _, sender = self.start()
        for data in (b"\xff" * 4, struct.pack("<I", 1 << 17), struct.pack("<II", 4, 100),
                     struct.pack("<II", 8, 4) + b"aaaa", struct.pack("<I", 0)):
            with socket.create_connection(("127.0.0.1", self.port()), LIMIT_S) as stranger:
                stranger.settimeout(LIMIT_S)
                try:
                    stranger.sendall(data)
                    while stranger.recv(4096):  # an error field, or nothing
                        pass
                except ConnectionError:
                    pass  # what it has not read is refused
        self.test_goes_on(sender)

    def test_headers_that_come_slowly(self):
        """Whole in the end, or never: it is 5 s from the first byte to the last."""
        _, sender = self.start()
        data = header(SUBSCRIBER)
        slow = Subscriber.__new__(Subscriber)
        slow.socket = socket.create_connection(("127.0.0.1", self.port()), LIMIT_S)
        slow.socket.settimeout(LIMIT_S)
        self.addCleanup(slow.socket.close)
        slow.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(data), 7):
            slow.socket.sendall(data[at:at + 7])
        self.assertEqual(slow.header()["topic"], "/clock")
        with socket.create_connection(("127.0.0.1", self.port()), LIMIT_S) as endless:
            endless.settimeout(0.1)
            endless.sendall(struct.pack("<I", 60000))

            def is_closed():
                try:
                    endless.sendall(b"a")
                    return endless.recv(1) == b""
                except TimeoutError:
                    return False
                except ConnectionError:
                    return True
            wait_until(is_closed, "the end of the connection")
        self.matched(sender, "clock", 1)

    def test_silent_strangers_are_closed_and_others_are_served(self):
        _, sender = self.start()
        begin = time.monotonic()
        strangers = [socket.create_connection(("127.0.0.1", self.port()), LIMIT_S) for _ in range(40)]
        for stranger in strangers:
            stranger.settimeout(LIMIT_S)
        subscriber = self.subscribe()
        subscriber.header()
        self.matched(sender, "clock", 1)
        for stranger in strangers:
            self.assertEqual(stranger.recv(1), b"")
            stranger.close()
        self.assertLess(time.monotonic() - begin, LIMIT_S)  # all at once, not one after another

    def test_a_subscriber_that_reads_nothing_costs_the_others_nothing(self):
        _, sender = self.start()
        idle = self.subscribe(topic="/bytes", md5sum=BYTES_MD5, callerid="/idle")
        reader = self.subscribe(topic="/bytes", md5sum=BYTES_MD5)
        reader.header()
        self.matched(sender, "bytes", 2)
        for i in range(20):
            sender.do("send 2000000 1")
            self.assertEqual(len(reader.read()), 2_000_000)
        self.assertGreater(sender.do()["dropped"], 5)
        self.assertLess(sender.memory_kib(), 200_000)
        idle.header()  # what it reads later is whole messages, the newest at the end
        sender.do("send 7 1")
        sizes = [len(idle.read())]
        while sizes[-1] != 7:
            sizes.append(len(idle.read()))
        self.assertEqual(set(sizes[:-1]), {2_000_000})

    def test_requests_that_fit_nothing(self):
        _, sender = self.start()
        for arguments in (("/nope", [["TCPROS"]]), ("/clock", [["UDPROS"]]), ("/clock", []), ("/clock", 7)):
            code, _, value = self.slave.requestTopic("/reader", *arguments)
            self.assertEqual((code, value), (0, []), arguments)  # a number would abort roscpp
        self.test_goes_on(sender)

    def test_goes_on(self, sender=None):
        """What works after all of that."""
        sender = sender or self.start()[1]
        subscriber = self.subscribe()
        subscriber.header()
        self.matched(sender, "clock", 1)
        sender.do(f"clock {START}")
        self.assertEqual(subscriber.read(), struct.pack("<II", START // SECOND, 0))


if __name__ == "__main__":
    ros1_graph.main()
