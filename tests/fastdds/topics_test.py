#!/usr/bin/env python3
"""Topics between timebase and nodes on Fast DDS: /clock both ways, recorded and played.

usage: topics_test.py lo|default BIN_DIR FASTDDS_PEER CLOCK_PROBE [TEST...]

lo: both on 127.0.0.1 alone. default: both as they are without settings, Fast DDS with shared memory and
multicast, in a network namespace that the test makes."""

import fcntl
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

import command_test  # pylint: disable=wrong-import-position
import hosts  # pylint: disable=wrong-import-position
from command_test import LIMIT_S, SECOND, CommandTest, Process, bound_addresses  # pylint: disable=wrong-import-position
from terminal import Terminal  # pylint: disable=wrong-import-position

NETWORK = BIN_DIR = PEER = None
DOMAINS = {"lo": 96, "default": 97}
MS = SECOND // 1000
START = 1_600_000_000 * SECOND
RUNNING, PAUSED, STALLED, LOST = 6, 7, 8, 9  # tb_clock_state_t
STRING = "std_msgs/msg/String"
STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
THING = "000100000102030405060700"
THING_HASH = "RIHS01_" + "0123456789abcdef" * 4


class Peer(Process):
    def __init__(self, test, *arguments):
        super().__init__(test, [PEER, *arguments], dict(os.environ), subprocess.PIPE)
        self.expect("ready$")

    def ask(self, line, answer="ok"):
        """The match of its answer; "tick" lines are passed over."""
        self.write(line)
        return self.expect(f"(?!tick ){answer}$")

    def next_tick(self):
        return int(self.expect(r"tick (\d+)$").group(1))


class ClassScope:
    """What a Process needs of a test, for one that all tests of a class share."""

    def __init__(self, test_class):
        self.addCleanup = test_class.addClassCleanup

    @staticmethod
    def fail(text):
        raise AssertionError(text)


class TopicsTest(CommandTest):
    """One peer, as its discovery takes a second or more; each test destroys what it has made there."""

    @classmethod
    def setUpClass(cls):
        domain = DOMAINS[NETWORK]
        lock = open(f"/tmp/timebase-test-domain-{domain}.lock", "a", encoding="ascii")
        cls.addClassCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        cls.peer = Peer(ClassScope(cls), str(domain), NETWORK, "/fast")

    def domain_lock(self, domain):
        """The class has it."""

    def setUp(self):
        super().setUp()
        self.domain = DOMAINS[NETWORK]
        self.environment["ROS_DOMAIN_ID"] = str(self.domain)
        if NETWORK == "default":
            del self.environment["CYCLONEDDS_URI"]

    def check_network(self, process):
        """Nothing leaves the machine."""
        addresses = bound_addresses(process.child.pid)
        self.assertTrue(addresses, "no UDP sockets seen: the check sees nothing")
        if NETWORK == "lo":
            self.assertLessEqual(addresses, {"0.0.0.0", "127.0.0.1"})

    def peer_makes(self, *lines):
        """Topics, which are destroyed with the test."""
        for line in lines:
            self.peer.ask(line)
            topic = line.split()[1] if line.split()[0] in ("pub", "sub") else "/clock"
            self.addCleanup(self.peer.ask, f"destroy {topic}")

    def now(self, probe):
        """Time, state, matched publishers."""
        probe.write("now")
        return tuple(map(int, probe.expect(r"now (-?\d+) (\d+) \d+ (\d+)$").groups()))

    def wait_for_now(self, probe, wanted):
        deadline = time.monotonic() + LIMIT_S
        while not wanted(*(reading := self.now(probe))):
            self.assertLess(time.monotonic(), deadline, reading)
            time.sleep(0.01)
        return reading

    def wait_for_state(self, probe, state):
        return self.wait_for_now(probe, lambda _, seen, __: seen == state)[0]

    # ---- /clock ----

    def test_a_reader_gets_the_ticks_of_serve(self):
        self.peer_makes("follow best_effort")
        server = Terminal(
            self,
            [f"{BIN_DIR}/timebase", "serve", "--start", str(START // SECOND), "--hz", "50"],
            self.environment,
        )
        ticks = [self.peer.next_tick() for _ in range(100)]
        self.check_network(server)
        self.assertGreaterEqual(ticks[0], START)
        self.assertEqual(ticks, sorted(set(ticks)))
        self.assertEqual({(tick - START) % (20 * MS) for tick in ticks}, {0})
        server.write(b" ")
        last = self.peer.next_tick()
        while (tick := self.peer.next_tick()) != last:
            self.assertGreater(tick, last)
            last = tick
        self.assertEqual({self.peer.next_tick() for _ in range(10)}, {last})
        server.write(b"r")
        while (tick := self.peer.next_tick()) == last:
            pass
        self.assertEqual(tick, START)
        server.write(b" ")
        while self.peer.next_tick() < START + SECOND:
            pass

    def test_clocks_follow_a_publisher(self):
        probe = self.run_probe()
        watch = self.watch()
        followers = 2 if watch else 1
        self.peer_makes("clock reliable")
        self.peer.ask(f"matched /clock {followers}", f"matched {followers}")
        self.peer.ask(f"ticks {START} {10 * MS} 10")
        probe.expect(r"two after started \d+ 16")
        probe.expect_tick(START + SECOND)
        self.check_network(probe)
        self.check_report(
            watch,
            lambda at: (at["state"], at["publishers"], at["matched"]) == ("running", 1, 1),
        )
        self.check_jumps(probe, watch)
        self.check_pauses(probe, watch)
        if watch:
            summary = watch.summary()
            self.assertEqual(summary["jumps_backward"], 1)
            self.assertGreaterEqual(summary["jumps_forward"], 1)
            self.assertEqual(summary["dropped"], 0)

    def expect_backward(self, probe, start_ns):
        """To a tick of the publisher that begins there: a reader that keeps one message, or has not matched
        the publisher yet, may miss the first of them."""
        at = int(probe.expect(r"two after backward 16\d+ (\d+) ").group(1))
        self.assertGreaterEqual(at, start_ns)
        self.assertEqual((at - start_ns) % (10 * MS), 0)
        self.assertLess(at, start_ns + 100 * SECOND)

    def check_jumps(self, probe, watch):
        back = START - 1000 * SECOND
        self.peer.ask(f"ticks {back} {10 * MS} 10")
        self.expect_backward(probe, back)
        self.check_report(watch, lambda at: at["jumps_backward"] == 1)
        self.peer.ask(f"ticks {START} {10 * MS} 10")
        probe.expect_tick(START)
        self.check_report(watch, lambda at: at["largest_forward_ns"] > 900 * SECOND)

    def check_pauses(self, probe, watch):
        at = START + 5000 * SECOND
        self.peer.ask(f"ticks {at} 0 10")
        self.assertEqual(self.wait_for_state(probe, PAUSED), at)
        self.check_report(watch, lambda at: at["state"] == "paused")
        self.peer.ask("ticks stop")
        self.assertEqual(self.wait_for_state(probe, STALLED), at)
        self.check_report(watch, lambda at: at["state"] == "stalled")
        self.peer.ask(f"ticks {at} {10 * MS} 10")
        self.wait_for_now(probe, lambda time_ns, state, _: time_ns > at and state == RUNNING)

    def watch(self):
        """`timebase watch`, which is left out with the defaults: the build of Fast DDS that Debian has ends on
        an assertion when a second reader announces the same multicast address (see peer.cpp)."""
        return self.run_command("watch", "--json") if NETWORK == "lo" else None

    @staticmethod
    def check_report(watch, is_it):
        if watch:
            watch.expect_report(lambda reports: is_it(reports[-1]))

    def start_publisher(self, *options):
        peer = Peer(self, *options, str(self.domain), NETWORK, "/killed")
        peer.ask("clock reliable")
        peer.ask("matched /clock 2", "matched 2")
        return peer

    def test_a_publisher_is_killed_and_restarted(self):
        if NETWORK == "default":
            self.skipTest("a peer that is killed would leave the files of its shared memory")
        probe = self.run_probe()
        watch = self.run_command("watch", "--json")
        first = self.start_publisher("--lease", "4")
        first.ask(f"ticks {START} {10 * MS} 10")
        probe.expect_tick(START + SECOND)
        first.child.kill()
        first.child.wait()
        standing = self.wait_for_now(probe, lambda _, state, __: state in (STALLED, LOST))[0]
        probe.write(f"sleep {3600 * SECOND} {50 * MS}")
        probe.expect("slept TB_ERR_TIMEOUT ")
        at, _, _ = self.wait_for_now(probe, lambda _, state, matched: (state, matched) == (LOST, 0))
        self.assertEqual(at, standing)
        self.check_report(watch, lambda at: at["state"] == "lost")
        second = self.start_publisher("--lease", "4")
        later = START + 100 * SECOND
        second.ask(f"ticks {later} {10 * MS} 10")
        probe.expect_tick(later)
        self.wait_for_state(probe, RUNNING)
        second.child.kill()
        second.child.wait()
        third = self.start_publisher()  # while the second one still counts as there
        third.ask(f"ticks {START} {10 * MS} 10")
        self.expect_backward(probe, START)
        self.wait_for_now(probe, lambda at, state, matched: (state, matched) == (RUNNING, 1) and at > START)
        self.check_report(watch, lambda at: (at["state"], at["matched"]) == ("running", 1))
        self.assertEqual(watch.summary()["jumps_backward"], 1)
        third.child.stdin.close()
        self.assertEqual(third.wait(), 0, third.errors)
        self.wait_for_state(probe, LOST)  # at once: it has said so

    # ---- recording ----

    def record(self, *topics):
        self.bag = os.path.join(self.folder, "bag")
        recorder = self.run_command("record", "-s", "sqlite3", "-o", self.bag, *topics)
        recorder.expect("recording to ")
        self.check_network(recorder)
        return recorder

    def rows(self):
        database = sqlite3.connect(os.path.join(self.bag, "bag_0.db3"))
        try:
            return database.execute(
                "SELECT topics.name, data FROM messages"
                " JOIN topics ON topics.id = topic_id ORDER BY messages.id"
            ).fetchall()
        finally:
            database.close()

    def wait_for_rows(self, count):
        deadline = time.monotonic() + LIMIT_S
        while len(rows := self.rows()) < count:
            self.assertLess(time.monotonic(), deadline, len(rows))
            time.sleep(0.01)
        return rows

    def numbers(self, rows, topic):
        return [int(data[8:].split(b" ")[1]) for name, data in rows if name == topic]

    def check_metadata(self):
        with open(os.path.join(self.bag, "metadata.yaml"), encoding="utf-8") as file:
            metadata = file.read()
        topics = {}
        for part in re.split(r"- topic_metadata:", metadata)[1:]:
            topics[re.search(r"name: (\S+)", part).group(1)] = part
        for topic, reliability, durability, type_hash in (
            ("/best", "best_effort", "volatile", STRING_HASH),
            ("/chat", "reliable", "volatile", STRING_HASH),
            ("/map", "reliable", "transient_local", STRING_HASH),
            ("/thing", "reliable", "volatile", THING_HASH),
        ):
            self.assertIn(f"reliability: {reliability}\n", topics[topic])
            self.assertIn(f"durability: {durability}\n", topics[topic])
            self.assertIn("history: unknown\n        depth: 0\n", topics[topic])  # not announced
            self.assertIn(f"type_description_hash: {type_hash}\n", topics[topic])
        self.assertIn("type: other_msgs/msg/Thing\n", topics["/thing"])

    # ---- observe ----

    def test_observed(self):
        """Their source timestamps, sequence numbers and names are read as those of Cyclone DDS."""
        topics = "/fast_good", "/fast_zero", "/fast_wall"
        self.peer_makes("clock reliable", *(f"pub {one} std_msgs/msg/Header reliable" for one in topics))
        observer = self.run_command("observe", "--json", "/fast_*")

        def until(is_right):
            deadline = time.monotonic() + LIMIT_S
            while time.monotonic() < deadline:
                report = json.loads(observer.expect(r"\{").string)
                if is_right(report):
                    return {one["topic"]: one for one in report["topics"]}
            return self.fail(f"no report is right; the last one: {report}")

        def is_ready(report):
            ready = [one["topic"] for one in report["topics"] if one["matched"] and one["has_header"]]
            return len(ready) == 3 and report["clock"] and report["clock"]["matched"]

        until(is_ready)
        self.peer.ask(f"tick {START}")
        until(lambda report: report["clock"]["ticks"] > 0)
        for topic, at_ns in zip(topics, (START - MS, 0, time.time_ns())):
            self.peer.ask(f"send {topic} 20 {command_test.header_of(at_ns).hex()}", "sent 20")

        def is_over(report):
            publishers = [one["publishers"] for one in report["topics"]]
            return all(len(one) == 1 and one[0]["messages"] == 20 and one[0]["node"] for one in publishers)

        seen = until(is_over)
        for topic, kind in zip(topics, ("good", "zero", "system_time")):
            publisher = seen[topic]["publishers"][0]
            self.assertEqual(publisher["stamps"][kind], 20, publisher)
            self.assertEqual((publisher["node"], publisher["not_received_here"]), ("/fast", 0))
            self.assertEqual(publisher["source_to_receive_ms"]["count"], 20)
            self.assertTrue(-1000 < publisher["source_to_receive_ms"]["p50"] < 60000, publisher)
        self.check_network(observer)

    def test_recorded_and_played(self):
        """The latched topic comes last: where its message has come through, the others are matched on both
        sides."""
        makes = (
            f"pub /best {STRING} best_effort",
            f"pub /chat {STRING} reliable:1000",
            f"pub /thing other_msgs/msg/Thing reliable {THING_HASH}",
            f"pub /map {STRING} latched:1",
        )
        for line in makes:
            self.peer.ask(line)
        self.peer.ask("send /map 1 100", "sent 1")  # before there is a recorder
        recorder = self.record("/best", "/chat", "/map", "/thing")
        for topic in ("/best", "/chat", "/map", "/thing"):
            self.peer.ask(f"matched {topic} 1", "matched 1")
        self.wait_for_rows(1)
        self.peer.ask("send /best 20 200", "sent 20")
        self.peer.ask("send /chat 300 2000", "sent 300")
        self.peer.ask("send /chat 2 1000000", "sent 2")
        self.peer.ask(f"send /thing 5 {THING}", "sent 5")
        rows = self.wait_for_rows(328)
        recorder.child.terminate()
        self.assertEqual(recorder.wait(), 0, recorder.errors)
        summary = r": 328 messages of 4 topics in 1 file, 0 lost$"
        self.assertTrue(any(re.search(summary, line) for line in recorder.seen), recorder.seen)
        self.assertEqual(rows[0][0], "/map")
        self.assertEqual(self.numbers(rows, "/best"), list(range(20)))
        self.assertEqual(self.numbers(rows, "/chat"), list(range(302)))
        self.assertEqual([len(data) for _, data in rows].count(1_000_000), 2)
        self.assertEqual({data.hex() for name, data in rows if name == "/thing"}, {THING})
        self.check_metadata()
        for line in makes:
            self.peer.ask(f"destroy {line.split()[1]}")
        self.check_replay(rows)

    def check_replay(self, rows):
        """With --wait-for-acks: a burst is too much for the sockets of Fast DDS, and of a publisher that
        keeps 10 messages."""
        options = ("--plain", "--start-paused", "--rate", "max", "--wait-for-acks")
        player = Terminal(
            self, [f"{BIN_DIR}/timebase", "play", *options, self.bag], self.environment
        )
        self.peer_makes(
            f"sub /best {STRING} best_effort:1000",
            f"sub /chat {STRING} reliable:1000",
            "sub /thing other_msgs/msg/Thing reliable:1000",
            f"sub /map {STRING} latched:1000",
        )
        player.expect(b"SPACE")  # it reads keys from here on
        player.write(b".")
        self.peer.ask("received /map 1", "received 1 100")
        for topic in ("/best", "/chat", "/thing"):
            self.peer.ask(f"matched {topic} 1", "matched 1")
        player.write(b" ")
        for topic in ("/best", "/chat", "/thing", "/map"):
            sizes = [len(data) for name, data in rows if name == topic]
            got = self.peer.ask(f"received {topic} {len(sizes)}", r"received (\d+) (\d+)")
            self.assertEqual(tuple(map(int, got.groups())), (len(sizes), sum(sizes)), topic)


def make_interface():
    """With multicast, and a way to no other host: its other end is here, too."""
    for line in (
        "link set lo up",
        "link add name eth0 type veth peer name other",
        "address add 10.77.0.1/24 dev eth0",
        "link set other up",
        "link set eth0 multicast on up",
    ):
        subprocess.run(["ip", *line.split()], check=True)


if __name__ == "__main__":
    NETWORK, BIN_DIR, PEER, command_test.PROBE = sys.argv[1:5]
    command_test.BIN_DIR = BIN_DIR
    if NETWORK == "default":
        hosts.enter()
        make_interface()
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
