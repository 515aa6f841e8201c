"""What tests with peers of Debian's ROS 1 share: one roscore for all tests of a file, processes, bags,
and a subscriber that is no more than a socket."""

import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import xmlrpc.client

import ros1_graph
from ros1_graph import LIMIT_S, wait_until
from ros1_test import Roscore

TALKER = "/talker"


class PeersTest(ros1_graph.Ros1Test):
    timebase = None  # the command

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.core = Roscore(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.core.kill()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, f"{self._testMethodName}_{name}")

    def start(self, *words, **options):
        child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=self.folder,
                                 **{"stdin": subprocess.PIPE, "stderr": subprocess.DEVNULL,
                                    "env": self.core.environment, **options})
        self.addCleanup(self.stop, child)
        return child

    stop = staticmethod(ros1_graph.stop)

    def state(self, kind):
        """By topic the nodes that publish (0) or subscribe (1)."""
        return dict(self.core.master.getSystemState("/test")[2][kind])

    def record(self, counts):
        """Starts rosbag's recorders, by topic with a number of messages after which each ends by itself:
        one that is ended by a signal drops what it has not read. Waits until the master knows them."""
        children = {topic: self.start("/usr/lib/rosbag/record", "-O", self.path(f"{topic[1:]}.bag"), "-l", str(count),
                                      topic, f"__name:=record_{topic[1:]}")
                    for topic, count in counts.items()}
        wait_until(lambda: all(f"/record_{topic[1:]}" in self.state(1).get(topic, []) for topic in counts), "recorders")
        return children

    def recorded(self, children):
        """What they have recorded, as `read` returns it."""
        found = {}
        for topic, child in children.items():
            self.assertEqual(child.wait(LIMIT_S), 0, topic)
            found.update(read(self.path(f"{topic[1:]}.bag")))
        return found


def read(path):
    """By topic: type, md5sum, whether it is latched, and the messages' bytes."""
    import rosbag
    topics = {}
    with rosbag.Bag(path) as bag:
        for connection in bag._get_connections():
            latching = connection.header.get("latching", "0")
            latching = latching if isinstance(latching, str) else latching.decode()
            topics.setdefault(connection.topic,
                              (connection.datatype, connection.md5sum, latching, []))
        for topic, raw, _ in bag.read_messages(raw=True):
            topics[topic][3].append(raw[1])
    return topics


def write_bag(path, count=200, start=1000):
    """Half of a second per 100 messages: /talk, /nothing (of no bytes), latched /name of two nodes."""
    import rosbag
    import rospy
    from std_msgs.msg import Empty, String

    def header(caller, latching):
        return {"callerid": caller, "latching": latching, "md5sum": String._md5sum,
                "type": String._type, "message_definition": String._full_text}
    with rosbag.Bag(path, "w") as bag:
        at = rospy.Time(start)
        for caller in ("/a", "/b"):
            bag.write("/name", String(data=caller), at,
                      connection_header={**header(caller, "1"), "topic": "/name"})
        for i in range(count):
            at = rospy.Time(start, 5_000_000 * i % 1_000_000_000)
            at.secs += i // 200
            bag.write("/talk", String(data=f"message {i}"), at,
                      connection_header={**header(TALKER, "0"), "topic": "/talk"})
            if i % 10 == 0:
                bag.write("/nothing", Empty(), at)


class Subscriber:
    """Takes messages of any type from a publisher's own connection."""

    def __init__(self, uri, topic):
        _, _, (_, host, port) = xmlrpc.client.ServerProxy(uri).requestTopic(
            "/test", topic, [["TCPROS"]])
        self.socket = socket.create_connection((host, port), LIMIT_S)
        self.socket.sendall(ros1_graph.header({"callerid": "/test", "md5sum": "*", "topic": topic,
                                               "type": "*"}))
        self.header = dict(self.fields(self.frame()))

    @staticmethod
    def fields(data):
        while data:
            size, = struct.unpack_from("<I", data)
            yield data[4:4 + size].decode().split("=", 1)
            data = data[4 + size:]

    def bytes(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def frame(self):
        return self.bytes(struct.unpack("<I", self.bytes(4))[0])

    def frames(self):
        """What has arrived already."""
        while True:
            self.socket.settimeout(0)
            try:
                if len(self.socket.recv(4, socket.MSG_PEEK)) < 4:
                    return
            except BlockingIOError:
                return
            finally:
                self.socket.settimeout(LIMIT_S)
            yield self.frame()

    def close(self):
        self.socket.close()


def main(parts=1):
    """PROGRAM TIMEBASE [TEST...]; 77: left out."""
    if not os.access("/usr/bin/roscore", os.X_OK):
        print("no ROS 1: apt-get install ros-core python3-rospy python3-std-msgs")
        sys.exit(77)
    PeersTest.timebase = os.path.abspath(sys.argv.pop(2))
    ros1_graph.main(parts)
