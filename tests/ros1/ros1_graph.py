"""What tests of the ROS 1 source share: the process that follows, and masters and publishers that are
told what to answer. Needs no ROS."""

import http.server
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest
import xmlrpc.client

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import in_parts  # noqa: E402

SECOND = 1_000_000_000
MD5 = "a9c97c1d230cfc112e270351a944ee47"
TYPE = "rosgraph_msgs/Clock"
LIMIT_S = 60  # of every wait: the machine may be busy
FOREIGN_END_S = 10
PORTS_FROM = 10_000


def wait_until(condition, what, limit_s=LIMIT_S):
    """Returns the first result of `condition` that is true."""
    end = time.monotonic() + limit_s
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"not within {limit_s} s: {what() if callable(what) else what}")
        time.sleep(0.01)


def free_port():
    """Of those that the kernel gives to no connection: a master may end, and start again on its port."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as limits:
        ports_to = int(limits.read().split()[0])
    if ports_to <= PORTS_FROM:
        ports_to = 65536
    while True:
        port = random.randrange(PORTS_FROM, ports_to)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def stop(child, by=signal.SIGINT):
    """Ends a child and closes its pipes. A program of ours must end by the signal. One of Debian's ROS 1
    must only be gone: now and then rospy's shutdown never ends."""
    if child.poll() is None:
        child.send_signal(by)
    if child.args[0].startswith("/usr/"):
        if child.stdin:
            child.stdin.close()  # one that reads it does so until its end, also after the signal
            child.stdin = None
        try:
            child.wait(FOREIGN_END_S)
        except subprocess.TimeoutExpired:
            child.kill()
    child.communicate(timeout=LIMIT_S)


class Follower:
    """The process with a clock on the source."""

    def __init__(self, program, master_uri, *arguments, **environment):
        self.began = time.monotonic()
        env = {**os.environ, "ROS_MASTER_URI": master_uri, "ROS_IP": "127.0.0.1", **environment}
        env.pop("ROS_HOSTNAME", None)
        self.child = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.log = ""
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()

    def _read_log(self):
        for line in self.child.stderr:
            self.log += line

    def read(self, command=""):
        try:
            self.child.stdin.write(command + "\n")
            self.child.stdin.flush()
            return json.loads(self.child.stdout.readline())
        except (OSError, ValueError) as error:
            raise AssertionError(f"the follower has ended: {self.child.poll()}: {self.log}") from error

    def read_decided(self):
        """The first reading: the source waits for the master's answer for a second. It may be later on a
        busy machine."""
        now = self.read()
        if now["mode"] == 0 and time.monotonic() - self.began >= 1:
            now = self.until(lambda now: now["mode"] != 0, "an answer of the master")
        return now

    def until(self, condition, what):
        """The first reading for which the condition is true."""
        last = {}

        def look():
            last.update(self.read())
            return condition(last) and dict(last)
        return wait_until(look, lambda: f"{what}: {last} {self.log}")

    def until_time(self, time_ns):
        return self.until(lambda now: now["time_ns"] == time_ns, f"time {time_ns}")

    def until_state(self, state):
        return self.until(lambda now: now["state"] == state, state)

    def until_logged(self, text):
        wait_until(lambda: text in self.log, lambda: f"\"{text}\" in: {self.log}")

    def memory_kib(self):
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

    def end(self):
        """Ends in order; the status must be 0."""
        if self.child.stdin.closed:
            return
        self.child.stdin.close()
        try:
            status = self.child.wait(LIMIT_S)
        finally:
            self.child.kill()
            self.child.wait()
            self.child.stdout.close()
            self.reader.join(LIMIT_S)
            self.child.stderr.close()
        if status != 0:
            raise AssertionError(f"the follower ended with {status}: {self.log}")


class Server(http.server.ThreadingHTTPServer):
    """An XML-RPC server: method `x` is the method `do_x` of the subclass, unless `raw` has what to
    send for it: bytes (of a whole HTTP response), or a function of the socket."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port=0):
        self.raw = {}
        self.calls = []
        super().__init__(("127.0.0.1", port), Handler)
        self.uri = f"http://127.0.0.1:{self.server_port}/"
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def handle_error(self, request, client_address):
        pass  # peers close when they like

    def close(self):
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        parameters, method = xmlrpc.client.loads(body)
        self.server.calls.append((method, parameters))
        raw = self.server.raw.get(method)
        self.close_connection = True
        if callable(raw):
            raw(self.connection)
            return
        if raw is None:
            result = getattr(self.server, f"do_{method}")(*parameters)
            raw = http_answer(xmlrpc.client.dumps((result,), methodresponse=True))
        self.wfile.write(raw)


def http_answer(body):
    data = body.encode() if isinstance(body, str) else body
    return b"HTTP/1.1 200 OK\r\nContent-type: text/xml\r\nContent-length: %d\r\n\r\n" % len(data) + data


class Master(Server):
    def __init__(self, port=0, **parameters):
        self.parameters = {f"/{key}": value for key, value in parameters.items()}
        self.publishers = []  # uris
        self.subscribers = {}  # name: uri
        self.unregistered = []
        self.nodes = {}
        super().__init__(port or free_port())

    def do_getParam(self, caller, key):
        if key in self.parameters:
            return [1, f"Parameter [{key}]", self.parameters[key]]
        return [-1, f"Parameter [{key}] is not set", 0]

    def do_registerSubscriber(self, caller, topic, topic_type, uri):
        self.subscribers[caller] = uri
        self.nodes.setdefault(caller, uri)
        return [1, f"Subscribed to [{topic}]", list(self.publishers)]

    def do_unregisterSubscriber(self, caller, topic, uri):
        self.unregistered.append((caller, topic, uri))
        self.subscribers.pop(caller, None)
        self.nodes.pop(caller, None)
        return [1, "", 1]

    def do_lookupNode(self, caller, name):
        return [1, "node api", self.nodes[name]] if name in self.nodes else [-1, "unknown node", ""]

    def slave(self):
        """The XML-RPC server of the follower, when it has registered."""
        wait_until(lambda: self.subscribers, "a subscriber")
        return xmlrpc.client.ServerProxy(list(self.subscribers.values())[-1])

    def publish(self, *publishers):
        """As the master does when the publishers have changed."""
        self.publishers = [publisher.uri for publisher in publishers]
        for uri in self.subscribers.values():
            xmlrpc.client.ServerProxy(uri).publisherUpdate("/master", "/clock", self.publishers)


def header(fields):
    parts = [f"{key}={value}".encode() for key, value in fields.items()]
    data = b"".join(struct.pack("<I", len(part)) + part for part in parts)
    return struct.pack("<I", len(data)) + data


def tick(time_ns):
    return struct.pack("<III", 8, time_ns // SECOND, time_ns % SECOND)


FIELDS = {"callerid": "/fake", "latching": "0", "md5sum": MD5, "topic": "/clock", "type": TYPE,
          "message_definition": "time clock\n"}


class Publisher(Server):
    """A publisher of /clock. `greeting` is what it sends when a subscriber has connected; a subscriber
    is served by `on_connection` instead if that is set."""

    def __init__(self, **fields):
        self.greeting = header({**FIELDS, **fields})
        self.on_connection = None
        self.connections = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.answer = [1, "ready", ["TCPROS", "127.0.0.1", self.listener.getsockname()[1]]]
        self.accepted = 0
        threading.Thread(target=self._accept, daemon=True).start()
        super().__init__()

    def do_requestTopic(self, caller, topic, protocols):
        return self.answer

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            if self.on_connection:
                threading.Thread(target=self.on_connection, args=(connection,), daemon=True).start()
                self.connections.append(connection)
                continue
            size, = struct.unpack("<I", connection.recv(4, socket.MSG_WAITALL))
            self.subscriber = connection.recv(size, socket.MSG_WAITALL)
            connection.sendall(self.greeting)
            self.connections.append(connection)

    def connected(self, count=1):
        wait_until(lambda: len(self.connections) >= count, "a subscriber that connects")

    def send(self, data):
        for connection in list(self.connections):
            try:
                connection.sendall(data)
            except OSError:
                self.connections.remove(connection)

    def tick(self, time_ns):
        self.send(tick(time_ns))

    def close_connections(self):
        for connection in self.connections:
            close(connection)
        self.connections = []

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.close_connections()
        super().close()


def close(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()


class Ros1Test(unittest.TestCase):
    program = None

    def follower(self, *arguments, master=None, uri=None, **environment):
        follower = Follower(self.program, uri or master.uri, *arguments, **environment)
        self.addCleanup(follower.end)
        return follower

    def publisher(self, **fields):
        publisher = Publisher(**fields)
        self.addCleanup(publisher.close)
        return publisher

    def master(self, **parameters):
        master = Master(**parameters)
        self.addCleanup(lambda: master.thread.is_alive() and master.close())
        return master


def main(parts=1):
    """PROGRAM [TEST...]"""
    Ros1Test.program = sys.argv.pop(1)
    in_parts.main(sys.argv, parts, warnings="ignore")  # unclosed sockets end with the test
