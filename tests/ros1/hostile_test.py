#!/usr/bin/env python3
"""The ROS 1 source against masters, publishers and strangers that do what they must not: each costs one
connection, is reported, and the clock goes on.

usage: hostile_test.py FOLLOWER [TEST...]"""

import http.client
import socket
import struct
import threading
import time
import urllib.parse
import xmlrpc.client

import ros1_graph
from ros1_graph import LIMIT_S, SECOND, http_answer, tick, wait_until

START = 1_700_000_000 * SECOND
SLOW_S = LIMIT_S  # of what the follower gives up after 5 s


def bomb():
    entities = "".join(f"<!ENTITY a{i + 1} \"{f'&a{i};' * 10}\">" for i in range(9))
    return (f"<?xml version='1.0'?><!DOCTYPE b [<!ENTITY a0 \"aaaaaaaaaa\">{entities}]><methodResponse>"
            "<params><param><value>&a9;</value></param></params></methodResponse>")


class HostileTest(ros1_graph.Ros1Test):

    def following(self, *arguments, **parameters):
        """A master, a publisher, and a follower that has a tick of it."""
        master = self.master(use_sim_time=True, **parameters)
        publisher = self.publisher()
        master.publishers = [publisher.uri]
        follower = self.follower(*arguments, master=master)
        publisher.connected(2 if "two" in arguments else 1)
        self.tick(publisher, follower, START)
        return master, publisher, follower

    def tick(self, publisher, follower, time_ns):
        publisher.connected()
        publisher.tick(time_ns)
        return follower.until_time(time_ns)

    # ---- X6: what time it is ----

    def test_X6_boolean_true_means_the_topic_and_zero_before_its_first_message(self):
        master = self.master(use_sim_time=True)
        follower = self.follower(master=master)
        now = follower.read_decided()
        self.assertEqual((now["time_ns"], now["mode"], now["state"]), (0, 1, "no publisher"))
        publisher = self.publisher()
        master.slave()
        master.publish(publisher)
        now = follower.until_state("waiting")
        self.assertEqual((now["time_ns"], now["connected"]), (0, 1))
        self.tick(publisher, follower, START)
        self.assertIn(b"tcp_nodelay=1", publisher.subscriber)

    def test_X6_no_value_and_false_mean_system_time(self):
        for parameters in ({}, {"use_sim_time": False}, {"use_sim_time": 0}):
            follower = self.follower(master=self.master(**parameters))
            self.assertEqual(follower.read_decided()["mode"], 2, parameters)
            before = time.time_ns()
            now = follower.read()
            self.assertEqual((now["mode"], now["state"]), (2, "running"), parameters)
            self.assertTrue(before - SECOND // 10 < now["time_ns"] < time.time_ns() + SECOND // 10, (before, now))
            self.assertNotIn("use_sim_time", follower.log)

    def test_X6_steps_of_system_time_are_followed(self):
        follower = self.follower(master=self.master())
        ahead_ns = 0
        for step_s, jumps in ((3600, 0), (-7200, 1)):
            ahead_ns += step_s * SECOND
            follower.read(f"step {step_s}")
            now = follower.until(lambda now: abs(now["time_ns"] - time.time_ns() - ahead_ns) < 60 * SECOND,
                                 "the step")
            self.assertEqual((now["jumps_backward"], now["state"]), (jumps, "running"))

    def test_X6_true_of_another_type_is_warned_of(self):
        for value in (1, "true", 1.0):
            follower = self.follower(master=self.master(use_sim_time=value))
            self.assertEqual(follower.read_decided()["mode"], 2, value)
            follower.until_logged("/use_sim_time is true, but not a boolean")

    def test_X6_a_value_set_later_is_warned_of(self):
        master = self.master()
        follower = self.follower(master=master)
        self.assertEqual(follower.read_decided()["mode"], 2)
        master.parameters["/use_sim_time"] = True
        follower.until_logged("/use_sim_time was set after")
        self.assertEqual(follower.read()["mode"], 2)

    def test_X6_without_a_master_time_is_zero_until_one_is_started(self):
        master = self.master(use_sim_time=True)
        master.close()
        follower = self.follower(master=master)
        now = follower.read()
        self.assertEqual((now["time_ns"], now["mode"], now["state"]), (0, 0, "no publisher"))
        follower.until_logged("does not answer")
        publisher = self.publisher()
        later = ros1_graph.Master(port=master.server_port, use_sim_time=True)
        self.addCleanup(later.close)
        later.publishers = [publisher.uri]
        self.tick(publisher, follower, START)

    def test_X6_the_topic_whatever_the_parameter_is(self):
        for parameters in ({}, {"use_sim_time": False}, {"use_sim_time": 1}):
            master = self.master(**parameters)
            publisher = self.publisher()
            master.publishers = [publisher.uri]
            follower = self.follower("always", master=master)
            self.assertEqual(follower.read()["mode"], 1)
            self.tick(publisher, follower, START)
            self.assertEqual(follower.log, "")

    def test_C7_a_child_reads_the_clock_and_destroys_everything(self):
        _, publisher, follower = self.following()
        follower.read("fork")
        self.tick(publisher, follower, START + SECOND)  # the parent's connection is as it was

    def test_X6_by_name_in_the_environment(self):
        master = self.master(use_sim_time=True)
        publisher = self.publisher(type="roslib/Clock")
        master.publishers = [publisher.uri]
        follower = self.follower("name", uri="http://127.0.0.1:1/", TIMEBASE_SOURCE="ros1:" + master.uri)
        self.tick(publisher, follower, START)

    # ---- states and restarts ----

    def test_X6_states_and_restarts_of_publishers(self):
        master, publisher, follower = self.following()
        publisher.close()
        self.assertEqual(follower.until_state("lost")["time_ns"], START)
        second = self.publisher()
        master.publish(second)
        self.assertEqual(follower.until_state("stalled")["time_ns"], START)
        self.tick(second, follower, START + SECOND)
        second.close_connections()  # it comes back by itself
        self.tick(second, follower, START + 2 * SECOND)
        self.assertEqual(follower.read()["jumps_backward"], 0)
        self.tick(second, follower, START)
        self.assertEqual(follower.read()["jumps_backward"], 1)
        second.tick(0)
        self.assertEqual(follower.until_time(0)["state"], "waiting")

    def test_X6_a_master_that_is_restarted_is_registered_with_again(self):
        master, publisher, follower = self.following()
        master.close()
        follower.until_logged("does not answer")
        self.tick(publisher, follower, START + SECOND)  # the connection lasts
        again = ros1_graph.Master(port=master.server_port)
        self.addCleanup(again.close)
        again.publishers = [publisher.uri]
        again.slave()
        follower.until_logged("answers again")
        self.tick(publisher, follower, START + 2 * SECOND)
        self.assertEqual(len(publisher.connections), 1)

    def test_X6_it_unregisters_with_the_uri_of_registration(self):
        master, _, follower = self.following()
        (name, uri), = master.subscribers.items()
        follower.end()
        self.assertEqual(master.unregistered, [(name, "/clock", uri)])

    def test_X6_a_connected_publisher_that_is_silent_has_stalled(self):
        _, _, follower = self.following()
        now = follower.until_state("stalled")
        self.assertEqual((now["time_ns"], now["connected"]), (START, 1))

    def test_X6_a_clock_leaves_the_source_and_comes_back(self):
        master, publisher, follower = self.following()
        for i in range(1, 4):
            self.assertEqual(follower.read("leave")["mode"], 0)
            wait_until(lambda: len(master.unregistered) == i, "unregisterSubscriber")
            publisher.connections = []
            follower.read("back")
            self.tick(publisher, follower, START + i * SECOND)
        follower.read("leave")
        master.parameters["/use_sim_time"] = False  # which is read at each start
        follower.read("back")
        follower.until(lambda now: now["mode"] == 2, "system time")

    def test_X6_two_sources_of_a_context_share_its_registration(self):
        master, publisher, follower = self.following("two")
        follower.read("end")
        publisher.connections.pop(0)
        other = self.publisher()
        master.publish(other)
        self.tick(other, follower, START + SECOND)
        self.assertEqual(master.unregistered, [])
        follower.end()
        self.assertEqual(len(master.unregistered), 1)

    def test_X8_the_first_publisher_is_held_to(self):
        master, publisher, follower = self.following("hold")
        other = self.publisher(callerid="/other")
        master.publish(publisher, other)
        follower.until(lambda now: now["connected"] == 2, "two connections")

        def refused():
            publisher.tick(START)
            other.tick(START + SECOND)
            return follower.read()["refused"]
        wait_until(refused, "a message that is refused")
        self.assertEqual(follower.read()["time_ns"], START)
        follower.until_logged("the first is followed")

    def test_X8_two_publishers_are_reported_by_name(self):
        master, publisher, follower = self.following()
        other = self.publisher(callerid="/other")
        master.publish(publisher, other)
        follower.until(lambda now: now["connected"] == 2, "two connections")

        def both():
            publisher.tick(START)
            other.tick(START + SECOND)
            return follower.read()["faults"]
        wait_until(both, "a fault")
        follower.until_logged("two nodes publish time at once")
        self.assertIn("/fake (", follower.log)
        self.assertIn("/other (", follower.log)

    # ---- hostile publishers ----

    def refused(self, text, greeting=None, answer=None, raw=None, on_connection=None, **fields):
        """Beside a good publisher there is one that is reported with `text`."""
        master, good, follower = self.following()
        bad = self.publisher(callerid="/bad", **fields)
        bad.greeting = greeting if greeting is not None else bad.greeting
        bad.answer = answer if answer is not None else bad.answer
        bad.on_connection = on_connection
        if raw is not None:
            bad.raw["requestTopic"] = raw
        before = follower.memory_kib()
        master.publish(good, bad)
        follower.until_logged(text)
        bad.tick(START + 9 * SECOND)
        self.tick(good, follower, START + SECOND)
        self.assertLess(follower.memory_kib() - before, 32 << 10)
        self.assertEqual(len(good.connections), 1)

    def test_md5sum_of_another_message(self):
        self.refused("has md5sum", md5sum="0" * 32)

    def test_type_of_another_message(self):
        self.refused("its messages are", type="std_msgs/Time")

    def test_header_without_fields(self):
        self.refused("its messages are", greeting=struct.pack("<I", 0))

    def test_refusal(self):
        self.refused("it refuses: no such", greeting=ros1_graph.header({"error": "no such \x1b[31mtopic"}))

    def test_field_longer_than_the_header(self):
        self.refused("longer than the header", greeting=struct.pack("<II", 8, 0xFFFFFFFF) + b"a=bc")

    def test_field_without_a_name(self):
        self.refused("not NAME=VALUE", greeting=struct.pack("<II", 8, 4) + b"=abc")

    def test_header_of_4_gb(self):
        self.refused("4294967295 bytes of a header", greeting=struct.pack("<I", 0xFFFFFFFF))

    def test_message_of_4_gb(self):
        greeting = ros1_graph.header({**ros1_graph.FIELDS}) + struct.pack("<I", 0xFFFFFFFF)
        self.refused("4294967295 bytes of a message", greeting=greeting)

    def test_connection_that_is_closed_at_once(self):
        self.refused("nothing comes from the publisher", on_connection=ros1_graph.close)

    def test_answers_to_request_topic(self):
        for answer, text in (([0, "not now", []], "not now"), ([1, "", 0], "no host and port"),
                             ([1, "", ["UDPROS", "h", 1]], "no host and port"),
                             ([1, "", ["TCPROS", "a\r\nb", 1]], "no host and port"),
                             ([1, "", ["TCPROS", "h", 70000]], "no host and port"),
                             ("ready", "not [code, text, value]"), ([True, "", []], "not [code")):
            with self.subTest(answer=answer):
                self.refused(text, answer=answer)

    def test_answers_that_are_not_xmlrpc(self):
        deep = "<methodResponse><params><param>" + "<value><array><data>" * 100000
        for raw, text in ((b"SSH-2.0-OpenSSH\r\n\r\n", "does not begin with a status"),
                          (b"HTTP/1.1 200 OK\r\nContent-Length: 4294967296\r\n\r\n", "4294967296 bytes"),
                          (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n<", "was closed before"),
                          (b"HTTP/1.1 200 OK\r\nA: " + b"a" * 100000, "headers of more than"),
                          (b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "not 200 OK"),
                          (http_answer("<html>"), "not expected"), (http_answer(bomb()), "document type"),
                          (http_answer(deep), "too deep")):
            with self.subTest(text=text):
                self.refused(text, raw=raw)

    def test_names_that_do_not_exist(self):
        self.refused("the name is not known", answer=[1, "", ["TCPROS", "no-such-host.invalid", 1]])

    def test_messages_that_are_no_time_are_dropped_and_counted(self):
        _, publisher, follower = self.following()
        wrong = [struct.pack("<I", 4) + b"1234", struct.pack("<I", 12) + b"123456789012", struct.pack("<I", 0),
                 struct.pack("<III", 8, 1, 4_000_000_000), struct.pack("<III", 8, 1, 1_000_000_000)]
        for message in wrong:
            publisher.send(message)
        now = self.tick(publisher, follower, START + SECOND)
        self.assertEqual((now["invalid"], now["dropped"], now["jumps_backward"]), (5, 5, 0))
        follower.until_logged("sends invalid times")
        data = tick(START + 2 * SECOND) + tick(START + 3 * SECOND)
        for byte in data:  # in as small parts as there are
            publisher.send(bytes([byte]))
        self.assertEqual(follower.until_time(START + 3 * SECOND)["invalid"], 5)

    def test_many_messages_at_once(self):
        """More than is read at once, with nothing after them; and the last with the end of the connection."""
        _, publisher, follower = self.following()
        for count in (341, 342, 100_000):  # 4096 bytes hold 341
            last = START + count * SECOND
            publisher.send(b"".join(tick(last - i) for i in range(count, -1, -1)))
            self.assertEqual(follower.until_time(last)["invalid"], 0)
        last += SECOND
        publisher.send(b"".join(tick(last - i) for i in range(1000, -1, -1)))
        publisher.close_connections()
        follower.until_time(last)
        wait_until(lambda: publisher.accepted == 2, "a connection after the one that was closed")

    def test_more_publishers_than_anybody_has(self):
        master, publisher, follower = self.following()
        port = publisher.server_port
        master.publishers = [publisher.uri] + [f"http://127.0.0.{i + 2}:{port}/" for i in range(250)] + [
            "", "http://", "file:///etc/passwd", "x" * 100000]
        master.slave().publisherUpdate("/master", "/clock", [])
        follower.until_logged("more than 64 publishers")
        self.tick(publisher, follower, START + SECOND)

    def test_killed_publishers_leave_room_for_one_that_lives(self):
        """A master never forgets them."""
        master, first, follower = self.following()
        publisher = self.publisher()
        dead = [f"http://127.0.0.{i + 2}:{first.server_port}/" for i in range(100)]
        master.publishers = dead + [publisher.uri]

        def is_connected():
            master.slave().publisherUpdate("/master", "/clock", [])
            time.sleep(0.1)
            return publisher.connections
        wait_until(is_connected, "a connection to the one that lives")
        self.tick(publisher, follower, START + SECOND)

    # ---- hostile masters ----

    def test_masters_that_answer_with_garbage(self):
        master, publisher, follower = self.following()
        before = follower.memory_kib()
        for raw in (http_answer(bomb()), b"\x00" * 100000, http_answer("<a>" * 100000),
                    lambda connection: connection.shutdown(socket.SHUT_RDWR)):
            count = len(master.calls)
            master.raw = {"lookupNode": raw, "registerSubscriber": raw}
            master.slave().publisherUpdate("/master", "/clock", [])
            wait_until(lambda: len(master.calls) > count, "calls of the master")
        follower.until_logged("does not answer")
        master.raw = {}
        follower.until_logged("answers again")
        self.tick(publisher, follower, START + SECOND)
        self.assertEqual(len(publisher.connections), 1)
        self.assertLess(follower.memory_kib() - before, 32 << 10)

    def test_a_master_that_is_silent_delays_the_start_by_a_second(self):
        master = self.master(use_sim_time=True)
        answer = threading.Event()
        self.addCleanup(answer.set)
        master.raw["getParam"] = lambda connection: answer.wait()
        follower = self.follower(master=master)
        self.assertEqual(follower.read()["mode"], 0)
        follower.until_logged("no answer within the limit of time")
        follower.end()

    # ---- strangers at the node's server ----

    def test_a_stranger_cannot_tell_who_publishes(self):
        master, publisher, follower = self.following()
        stranger = self.publisher(callerid="/stranger")
        for uris in ([], [stranger.uri], [stranger.uri] * 1000):
            self.assertEqual(master.slave().publisherUpdate("/x", "/clock", uris), [1, "", 0])
        count = sum(method == "registerSubscriber" for method, _ in master.calls)
        wait_until(lambda: sum(method == "registerSubscriber" for method, _ in master.calls) > count,
                   "the master is asked")
        self.tick(publisher, follower, START + SECOND)
        self.assertEqual((stranger.accepted, len(publisher.connections)), (0, 1))

    def test_a_flood_of_updates_is_not_passed_on_to_the_master(self):
        master, _, _ = self.following()
        slave = master.slave()
        began, count = time.monotonic(), len(master.calls)
        for _ in range(300):
            slave.publisherUpdate("/x", "/clock", [])
        seconds = time.monotonic() - began
        self.assertLess(len(master.calls) - count, 20 * seconds + 20)

    def test_a_strangers_shutdown_and_a_name_that_is_taken(self):
        master, publisher, follower = self.following("", "/twin")
        self.assertEqual(master.slave().shutdown("/x", "go away"), [1, "", 0])
        follower.until_logged("was asked to shut down (go away)")
        self.tick(publisher, follower, START + SECOND)
        master.nodes["/twin"] = "http://127.0.0.1:9/"
        master.slave().shutdown("/master", "new node registered with same name")
        follower.until_logged("has taken the name /twin")
        count = len(master.calls)
        time.sleep(1.5)  # more than the time between two polls
        self.assertEqual(master.calls[count:], [])
        self.tick(publisher, follower, START + 2 * SECOND)

    def test_what_other_nodes_ask(self):
        master, publisher, follower = self.following()
        slave, caller = master.slave(), "/x"
        self.assertEqual(slave.getPid(caller), [1, "", follower.child.pid])
        self.assertEqual(slave.requestTopic(caller, "/clock", [["TCPROS"]])[::2], [0, []])
        self.assertEqual(slave.getSubscriptions(caller)[2], [["/clock", ros1_graph.TYPE]])
        self.assertEqual(slave.getPublications(caller)[2], [])
        self.assertEqual(slave.getMasterUri(caller)[2], master.uri)
        self.assertEqual([slave.getName(caller)[2]], list(master.subscribers))
        self.assertEqual(slave.paramUpdate("/master", "/x/", {}), [1, "", 0])
        (_, peer, direction, protocol, topic, is_connected, _), = slave.getBusInfo(caller)[2]
        self.assertEqual((peer, direction, protocol, topic, is_connected),
                         (publisher.uri, "i", "TCPROS", "/clock", True))
        with self.assertRaisesRegex(xmlrpc.client.Fault, "unknown method"):
            slave.system.listMethods()
        for method in ("publisherUpdate", "requestTopic", "shutdown", "getBusInfo"):
            getattr(slave, method)()  # without its arguments

    def exchange(self, address, data):
        """What comes back until the connection is closed, or the first part of it."""
        with socket.create_connection(address, LIMIT_S) as connection:
            try:
                connection.sendall(data)
                return connection.recv(1000)
            except ConnectionError:
                return b""

    def test_requests_that_are_garbage(self):
        master, publisher, follower = self.following()
        master.slave().getPid("/x")
        uri = urllib.parse.urlsplit(list(master.subscribers.values())[0])
        address = (uri.hostname, uri.port)
        before = follower.memory_kib()
        post = b"POST /RPC2 HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"
        for data, text in ((b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", b"405"),
                           (post % 0, b"empty request"), (post % 5 + b"hello", b"fault"),
                           (post % len(bomb()) + bomb().encode(), b"document type")):
            self.assertIn(text, self.exchange(address, data), data[:60])
        for data in (post % (1 << 40), post % (8 << 20) + b" " * (8 << 20),
                     b"POST / HTTP/1.1\r\nA: " + b"a" * (1 << 20), b"\x00" * 100000):
            connection = socket.create_connection(address, LIMIT_S)
            self.addCleanup(connection.close)
            try:
                connection.sendall(data)
            except ConnectionError:
                pass
        self.assertEqual(master.slave().getPid("/x")[0], 1)
        self.tick(publisher, follower, START + SECOND)
        self.assertLess(follower.memory_kib() - before, 32 << 10)

    def test_half_requests_that_are_closed_at_once_keep_no_place(self):
        master, publisher, follower = self.following()
        master.slave()
        uri = urllib.parse.urlsplit(list(master.subscribers.values())[0])
        for _ in range(400):
            with socket.create_connection((uri.hostname, uri.port), LIMIT_S) as connection:
                connection.sendall(b"POST /RPC2 HTTP/1.1\r\n")
        began = time.monotonic()
        self.assertEqual(master.slave().getPid("/x")[0], 1)
        self.assertLess(time.monotonic() - began, 15)  # each would keep its place for 5 s: 60 s
        self.tick(publisher, follower, START + SECOND)

    def test_peers_that_are_slow_are_given_up(self):
        """All at once, as each takes 5 s: connections to the node that send nothing, or a byte now and
        then; a publisher without a header, one whose header does not end, one whose message does not."""
        master, good, follower = self.following()
        publishers = {name: self.publisher(callerid=f"/{name}") for name in ("silent", "header", "message")}
        publishers["silent"].on_connection = lambda connection: time.sleep(SLOW_S)
        publishers["header"].greeting = struct.pack("<I", 1000) + b"a" * 10
        publishers["message"].greeting += struct.pack("<I", 8) + b"1234"
        master.slave()
        uri = urllib.parse.urlsplit(list(master.subscribers.values())[0])
        idle = [socket.create_connection((uri.hostname, uri.port), LIMIT_S) for _ in range(40)]
        master.publishers = [good.uri] + [publisher.uri for publisher in publishers.values()]
        began = time.monotonic()
        for publisher in publishers.values():
            publisher.connected()  # though the node's server is full: the master is asked now and then
        dribbled = 0
        while time.monotonic() - began < SLOW_S and any(idle):
            good.tick(START + SECOND + dribbled)
            dribbled += 1
            for i, connection in enumerate(idle):
                if not connection:
                    continue
                try:
                    connection.settimeout(0.001)
                    connection.sendall(b"P"[:i % 2])
                    if connection.recv(1) == b"":
                        raise ConnectionError
                except TimeoutError:
                    continue
                except ConnectionError:
                    connection.close()
                    idle[i] = None
            time.sleep(0.1)
        self.assertFalse(any(idle), "connections that were not closed")
        for text in ("connected but did not send its header", "sent a part of a message"):
            follower.until_logged(text)
        self.assertEqual(master.slave().getPid("/x")[0], 1)
        self.tick(good, follower, START + 10 * SECOND)
        self.assertEqual(len(good.connections), 1)


if __name__ == "__main__":
    ros1_graph.main(2)
