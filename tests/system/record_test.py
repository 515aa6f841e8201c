#!/usr/bin/env python3
"""`timebase record` between real processes over DDS, against a list that the publisher keeps.

usage: record_test.py BIN_DIR RECORD_PEER SLOW_DISK FAILING_DISK [TEST...]

Tests wait for lines and files, with a generous limit, never for time. Random ones print their seed
and take TB_TEST_SEED."""

import collections
import glob
import itertools
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import in_parts
from command_test import LIMIT_S, SECOND, CommandTest, Process, bound_addresses
from terminal import Terminal

TRIES = 4  # where a thread that is held up for a second spoils what is measured

BIN_DIR = PEER = SLOW_DISK = FAILING_DISK = None


def rows(path):
    """(topic, log time, data) of one file, in the order of writing."""
    database = sqlite3.connect(path)
    try:
        return database.execute(
            "SELECT topics.name, timestamp, data FROM messages"
            " JOIN topics ON topics.id = topic_id ORDER BY messages.id"
        ).fetchall()
    finally:
        database.close()


def number(data):
    """Of a message of the peer's."""
    return int(data[8:].split(b" ")[1])


class RecordTest(CommandTest):
    domains = itertools.cycle((5, 6, 7, 8, 9))

    def setUp(self):
        super().setUp()
        self.bag = os.path.join(self.folder, "bag")

    def start_peer(self):
        peer = Process(self, [PEER], self.environment, subprocess.PIPE)
        peer.expect("ready")
        return peer

    def ask(self, peer, line, answer="ok"):
        peer.write(line)
        return peer.expect(answer)

    def record(self, *arguments, bag=None, storage="sqlite3"):
        recorder = Process(
            self,
            [f"{BIN_DIR}/timebase", "record", "-s", storage, "-o", bag or self.bag, *arguments],
            self.environment,
        )
        recorder.expect("recording to ")
        return recorder

    def stop(self, recorder, status=0, with_signal=signal.SIGTERM):
        """The summary's lines."""
        recorder.child.send_signal(with_signal)
        self.assertEqual(recorder.wait(), status, recorder.errors)
        first = max(i for i, line in enumerate(recorder.seen) if line.startswith("/"))
        return recorder.seen[first:]

    def files(self, bag=None):
        found = glob.glob(os.path.join(bag or self.bag, "*.db3"))
        return sorted(found, key=lambda path: int(re.search(r"_(\d+)\.db3$", path).group(1)))

    def messages(self, bag=None):
        return [row for path in self.files(bag) for row in rows(path)]

    def numbers(self, bag=None):
        by_topic = collections.defaultdict(list)
        for topic, _, data in self.messages(bag):
            by_topic[topic].append(number(data))
        return by_topic

    def wait_until(self, condition):
        end = time.monotonic() + LIMIT_S
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def metadata(self):
        with open(os.path.join(self.bag, "metadata.yaml"), encoding="utf-8") as file:
            return file.read()

    def test_what_was_sent_is_what_is_recorded(self):
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 100")
        self.ask(peer, "pub /b be 5000")
        self.ask(peer, "pub /latched latched 100")
        self.ask(peer, "pub /other rel 100")
        self.ask(peer, "send /latched 3", "sent 2 ")
        recorder = self.record("-e", "^/(a|b|latched|later)$", "-x", "other", "--exclude-topics", "/x")
        self.assertEqual(bound_addresses(recorder.child.pid) - {"0.0.0.0", "127.0.0.1"}, set())
        for topic in ("/a", "/b", "/latched"):
            self.ask(peer, f"match {topic}")
        before = time.time_ns()
        self.ask(peer, "send /a 200", "sent 199 ")
        self.ask(peer, "pub /later rel 64")  # appears while it records
        self.ask(peer, "match /later")
        self.ask(peer, "send /later 50", "sent 49 ")
        self.ask(peer, "send /latched 2", "sent 4 ")
        after = time.time_ns()
        summary = self.stop(recorder)
        self.assertRegex(summary[0], r": 255 messages of 4 topics in 1 file, 0 lost$")
        self.assertEqual(
            self.numbers(),
            {"/a": list(range(200)), "/later": list(range(50)), "/latched": list(range(5))},
        )
        for topic, stamp, _ in self.messages():
            if topic in ("/a", "/later"):
                self.assertTrue(before <= stamp <= after)
        metadata = self.metadata()
        self.assertIn("message_count: 255", metadata)
        self.assertIn("reliability: best_effort", metadata)
        self.assertIn("durability: transient_local", metadata)
        self.assertIn("RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18", metadata)
        self.assertNotIn("/other", metadata)
        self.assertRegex(metadata, r"timebase\.publisher\.\d+: .*topic=/a type=std_msgs/msg/String.* middleware=Cyclone DDS")
        self.assertRegex(metadata, r"timebase\.use_sim_time: .?false")
        database = sqlite3.connect(self.files()[0])
        self.addCleanup(database.close)
        self.assertEqual(
            database.execute(
                "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
            ).fetchall(),
            [("std_msgs/msg/String", "ros2msg", "string data\n")],
        )

    def test_definitions_of_idl_files(self):
        """They are kept too; but no text of both kinds, which recordings cannot have."""
        folder = os.path.join(self.folder, "share", "std_msgs", "msg")
        os.makedirs(folder)
        idl = "module std_msgs { module msg { struct String { string data; }; }; };\n"
        header = '#include "std_msgs/msg/Header.idl"\n'  # which is built in, as .msg
        for text, expected in ((idl, [("std_msgs/msg/String", "ros2idl")]), (header + idl, [])):
            with open(os.path.join(folder, "String.idl"), "w", encoding="ascii") as file:
                file.write(text)
            self.environment["AMENT_PREFIX_PATH"] = self.folder
            shutil.rmtree(self.bag, ignore_errors=True)
            peer = self.start_peer()
            self.ask(peer, "pub /a rel 100")
            recorder = self.record("/a")
            self.ask(peer, "match /a")
            self.ask(peer, "send /a 2", "sent 1 ")
            self.stop(recorder)
            peer.end()
            database = sqlite3.connect(self.files()[0])
            rows = database.execute(
                "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
            ).fetchall()
            database.close()
            self.assertEqual([row[:2] for row in rows if row[1]], expected)
            for row in rows if expected else ():
                self.assertEqual(row[2], "=" * 80 + "\nIDL: std_msgs/msg/String\n" + idl)

    def test_best_effort_publishers_and_overrides(self):
        profile = os.path.join(self.folder, "qos.yaml")
        with open(profile, "w", encoding="ascii") as file:
            file.write("/mixed:\n  reliability: best_effort\n")
        peer = self.start_peer()
        self.ask(peer, "pub /be be 100")
        self.ask(peer, "pub /mixed rel 100")
        recorder = self.record("/be", "mixed", "--qos-profile-overrides-path", profile)
        self.ask(peer, "match /be")
        self.ask(peer, "match /mixed")
        other = self.start_peer()
        self.ask(other, "pub /mixed be 100")
        self.ask(other, "match /mixed")
        self.ask(peer, "pub /unrelated rel 100")
        self.stop(recorder)
        self.assertEqual(recorder.errors, [None])

    def test_publishers_that_ask_for_less_are_recorded_too(self):
        """From then on best effort: what is lost in between is counted."""
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 100")
        recorder = self.record("--allow-loss", "--topics", "/a")
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 5", "sent 4 ")
        other = self.start_peer()
        self.ask(other, "pub /a be 500")
        self.ask(other, "match /a")
        self.ask(other, "send /a 5", "sent 4 ")
        of_other = lambda: [r for r in self.messages() if len(r[2]) > 500]
        of_peer = lambda: [number(r[2]) for r in self.messages() if len(r[2]) < 500]
        self.wait_until(lambda: len(of_other()) == 5)
        last = 4
        while of_peer()[-1] == 4:  # until it has found the new subscription
            last = int(self.ask(peer, "send /a 1", r"sent (\d+) ").group(1))
            time.sleep(0.1)
        summary = self.stop(recorder)
        lost = int(re.search(r", (\d+) lost$", summary[0]).group(1))
        self.assertEqual(of_peer()[:5], list(range(5)))
        self.assertLessEqual(len(of_peer()) + lost, last + 1)
        self.assertEqual(len(of_peer()) + lost, of_peer()[-1] + 1)

    def test_topics_with_a_key(self):
        """Only endpoints of one kind match."""
        peer = self.start_peer()
        self.ask(peer, "pub /a keyed 100")
        recorder = self.record("/a")
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 20", "sent 19 ")
        other = self.start_peer()
        self.ask(other, "pub /a rel 100")
        recorder.expect_error("/a: a publisher is not recorded: its type has no key, that of the first one has one")
        self.wait_until(lambda: len(self.messages()) == 20)
        self.assertRegex(self.stop(recorder)[0], r": 20 messages of 1 topic in 1 file, 0 lost$")

    def test_what_was_sent_before_the_first_one(self):
        """Lost, if the publisher began after the recording; else so many at most."""
        old, new = self.start_peer(), self.start_peer()
        self.ask(old, "pub /old rel 100")
        self.ask(old, "send /old 5", "sent 4 ")
        recorder = self.record("/old", "/new")
        self.ask(old, "match /old")
        self.ask(old, "send /old 1", "sent 5 ")
        time.sleep(5.5)  # until a publisher that appears is a new one
        self.ask(new, "pub /new rel 100")
        self.ask(new, "send /new 20", "sent 19 ")
        self.ask(new, "match /new")
        self.ask(new, "send /new 5", "sent 24 ")
        self.wait_until(lambda: 24 in [number(row[2]) for row in self.messages()])
        received = len([row for row in self.messages() if b"/new " in row[2]])
        summary = self.stop(recorder, status=1 if received < 25 else 0)
        self.assertEqual(received + self.lost_of(summary, "/new"), 25)
        self.assertIn("  /old: 0 lost, up to 5 sent before the first one recorded", summary)

    def test_publishers_that_do_not_match_the_overrides_are_reported(self):
        profile = os.path.join(self.folder, "qos.yaml")
        with open(profile, "w", encoding="ascii") as file:
            file.write("/a:\n  reliability: reliable\n")
        peer = self.start_peer()
        self.ask(peer, "pub /a be 100")
        recorder = self.record("/a", "--qos-profile-overrides-path", profile)
        self.wait_until(lambda: any("reliability does not match" in str(e) for e in recorder.errors))
        self.stop(recorder)

    def test_services_and_events(self):
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 100")
        recorder = self.record("/a", "--start-paused")
        self.ask(peer, "match /a")
        self.ask(peer, "events")
        name, kind = "/rosbag2_recorder", "rosbag2_interfaces/srv"
        self.ask(peer, "send /a 5", "sent 4 ")
        self.ask(peer, f"call {name}/is_paused {kind}/IsPaused", "reply 0001000001000000$")
        self.ask(peer, f"call {name}/resume {kind}/Resume", "reply 0001000000000000$")
        self.ask(peer, f"call {name}/is_paused {kind}/IsPaused", "reply 0001000000000000$")
        self.ask(peer, "send /a 5", "sent 9 ")
        self.ask(peer, f"call {name}/split_bagfile {kind}/SplitBagfile", "reply 0001000000000000$")
        self.assertEqual(len(self.files()), 2)  # it is answered when that is done
        event = f"event '{self.bag}/bag_0.db3' '{self.bag}/bag_1.db3' '{name}'"
        if event not in peer.seen:  # which comes on another way than the answer
            peer.expect(event + "$")
        self.ask(peer, "send /a 5", "sent 14 ")
        self.ask(peer, f"call {name}/pause {kind}/Pause", "reply 0001000000000000$")
        self.ask(peer, "send /a 5", "sent 19 ")
        summary = self.stop(recorder)
        peer.expect(f"event '{self.bag}/bag_1.db3' '' '{name}'$")
        self.assertRegex(summary[0], r": 10 messages of 1 topic in 2 files, 10 skipped while paused, 0 lost$")
        self.assertEqual([number(r[2]) for r in rows(self.files()[0])], list(range(5, 10)))
        self.assertEqual([number(r[2]) for r in rows(self.files()[1])], list(range(10, 15)))

    # rosbag2_transport test_record_services.cpp: resume_returns_invalid_mode_for_bad_request,
    # resume_by_receive_time_immediate_due, split_bagfile_with_default_parameters
    def test_services_as_clients_of_rolling_call_them(self):
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 100")
        recorder = self.record("/a", "--start-paused")
        self.ask(peer, "match /a")
        name, kind = "/rosbag2_recorder", "rosbag2_interfaces/srv"
        paused = f"call {name}/is_paused {kind}/IsPaused"
        resume = f"call {name}/resume {kind}/Resume"
        split = f"call {name}/split_bagfile {kind}/SplitBagfile"
        # The code, the length of the text with its NUL, the text: none if it is done.
        done = "reply 00010000000000000100000000000000$"
        refused = "reply 00010000{:02x}000000(?!01000000)"
        self.ask(peer, f"{resume} 2000000000,1", refused.format(3))  # 2033, by times of messages
        self.ask(peer, f"{resume} 2000000000,0", done)  # by the node's clock
        self.ask(peer, f"{resume} 0,3", refused.format(1))
        self.ask(peer, paused, "reply 0001000001000000$")
        self.ask(peer, f"{resume} 1000000000,1", done)  # in the past
        self.ask(peer, paused, "reply 0001000000000000$")
        self.ask(peer, f"{split} 2000000000,2", refused.format(4))
        self.ask(peer, f"{split} 0,-1", refused.format(2))
        self.ask(peer, "send /a 5", "sent 4 ")
        self.ask(peer, f"{split} 2000000000,0", done)
        self.assertEqual(len(self.files()), 1)
        self.ask(peer, f"{split} 0,0", done)
        self.assertEqual(len(self.files()), 2)
        self.ask(peer, f"{split} {int(time.time()) + 2},0", done)  # instead of 2033
        self.wait_until(lambda: len(self.files()) == 3)
        self.assertRegex(self.stop(recorder)[0], r": 5 messages of 1 topic in 3 files, 0 lost$")

    def test_latched_messages_that_came_while_paused_are_recorded_at_resume(self):
        peer = self.start_peer()
        self.ask(peer, "pub /map latched 100")
        self.ask(peer, "send /map 1", "sent 0 ")  # before there is a recorder
        recorder = self.record("/map", "--start-paused")
        self.ask(peer, "match /map")
        self.ask(peer, "send /map 1", "sent 1 ")
        began_ns = time.time_ns()
        self.ask(
            peer,
            "call /rosbag2_recorder/resume rosbag2_interfaces/srv/Resume",
            "reply 0001000000000000$",
        )
        ended_ns = time.time_ns()
        summary = self.stop(recorder)
        self.assertNotIn("skipped", summary[0])
        maps = [(number(row[2]), row[1]) for row in self.messages() if row[0] == "/map"]
        self.assertEqual([index for index, _ in maps], [0, 1])
        self.assertTrue(all(began_ns <= at <= ended_ns for _, at in maps), (began_ns, maps, ended_ns))

    def test_snapshots(self):
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 1000")
        recorder = self.record("/a", "--snapshot-mode", "--max-cache-size", "20000")
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 100", "sent 99 ")
        self.ask(
            peer,
            "call /rosbag2_recorder/snapshot rosbag2_interfaces/srv/Snapshot",
            "reply 0001000001000000$",
        )
        at_answer = len(self.messages())  # not before they are readable
        self.stop(recorder)
        self.assertEqual(at_answer, len(self.messages()))
        kept = self.numbers()["/a"]
        self.assertEqual(kept, list(range(100 - len(kept), 100)))
        self.assertTrue(5 < len(kept) < 20, kept)

    def test_latched_messages_of_before_the_first_tick_get_its_time(self):
        peer = self.start_peer()
        self.ask(peer, "pub /map latched 100")
        self.ask(peer, "send /map 1", "sent 0 ")  # before there is a recorder
        recorder = self.record("/map", "--use-sim-time")
        self.ask(peer, "match /map")
        self.ask(peer, "send /map 1", "sent 1 ")
        recorder.expect("recorded .*waiting for /clock")
        self.ask(peer, f"clock {99 * SECOND}")
        recorder.expect(r"recorded (?!.*waiting for /clock)")
        summary = self.stop(recorder)
        self.assertNotIn("skipped", summary[0])
        maps = [(number(row[2]), row[1]) for row in self.messages() if row[0] == "/map"]
        self.assertEqual(maps, [(0, 99 * SECOND), (1, 99 * SECOND)])

    def test_simulated_time_with_a_jump_back(self):
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 100")
        recorder = self.record("/a", "--use-sim-time")
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 3", "sent 2 ")  # before the first tick
        self.ask(peer, f"clock {99 * SECOND}")
        recorder.expect(r"recorded (?!.*waiting for /clock)")  # a first tick has handlers
        for at in (100, 101, 102):
            self.ask(peer, f"clock {at * SECOND}")
            self.ask(peer, "send /a 2", "sent ")
        self.ask(peer, f"clock {50 * SECOND}")
        self.wait_until(lambda: len(self.files()) == 2)
        self.ask(peer, "send /a 2", "sent 10 ")
        self.ask(peer, f"clock {51 * SECOND}")
        self.ask(peer, "send /a 1", "sent 11 ")
        summary = self.stop(recorder)
        self.assertRegex(summary[0], r"in 2 files, 3 skipped before the first tick of /clock, 1 jump back, 0 lost$")
        first, second = (
            [(number(row[2]), row[1]) for row in rows(path) if row[0] == "/a"]
            for path in self.files()
        )
        self.assertEqual([n for n, _ in first], list(range(3, 9)))
        self.assertEqual([t // SECOND for _, t in first], [100, 100, 101, 101, 102, 102])
        self.assertEqual([n for n, _ in second], [9, 10, 11])
        self.assertEqual([t // SECOND for _, t in second], [50, 50, 51])
        ticks = [
            int.from_bytes(row[2][4:8], "little") for row in self.messages() if row[0] == "/clock"
        ]
        self.assertEqual(ticks, [99, 100, 101, 102, 50, 51])
        self.assertIn("kind=backward", self.metadata())
        self.assertIn("before_ns=102000000000 after_ns=50000000000", self.metadata())

    def listed(self, path):
        """By topic: (number, wall time) of what was acknowledged."""
        by_topic = collections.defaultdict(list)
        with open(path, encoding="ascii") as file:
            for line in file:
                fields = line.split()
                if len(fields) == 3 and line.endswith("\n"):
                    by_topic[fields[0]].append((int(fields[1]), int(fields[2])))
        return by_topic

    def recovered(self, bag):
        """The same in sqlite3, of what a killed recorder has left."""
        out = bag + "_recovered"
        done = subprocess.run(
            [f"{BIN_DIR}/timebase", "bag", "recover", bag, "-o", out, "-s", "sqlite3"],
            capture_output=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def kill_once(self, generator, index):
        """The age of the oldest message that is missing, in s."""
        bag = os.path.join(self.folder, f"killed{index}")
        listing = os.path.join(self.folder, f"list{index}")
        peer = self.start_peer()
        # Small messages are written when they get old, large ones when there are many, too.
        for topic, size in (("/a", 64), ("/b", (64, 20000)[index % 2]), ("/c", 100)):
            self.ask(peer, f"pub {topic} rel {size}")
        recorder = self.record("--all", bag=bag, storage=("sqlite3", "mcap")[index // 2 % 2])
        for topic in ("/a", "/b", "/c"):
            self.ask(peer, f"match {topic}")
        self.ask(peer, f"stream {listing} 1000", "streaming")
        time.sleep(generator.uniform(2, 4))  # when, not how long: any moment will do
        killed_ns = time.time_ns()
        recorder.child.kill()
        recorder.wait()
        peer.child.kill()  # it waits for what the dead recorder does not acknowledge
        peer.wait()
        counted = subprocess.run(
            [f"{BIN_DIR}/timebase", "bag", "info", "--json", bag], capture_output=True, check=False
        )
        if index // 2 % 2:
            bag = self.recovered(bag)
        self.assertEqual(
            json.loads(counted.stdout)["message_count"], len(self.messages(bag)), counted.stderr
        )
        recorded, oldest_ns = self.numbers(bag), 0
        for topic, sent in self.listed(listing).items():
            kept = recorded[topic]
            first = kept[0] if kept else sent[0][0]
            self.assertEqual(kept, list(range(first, first + len(kept))), topic)  # a prefix
            missing = [at for n, at in sent if n >= first + len(kept) and at <= killed_ns]
            oldest_ns = max([oldest_ns] + [killed_ns - at for at in missing])
        return oldest_ns / SECOND

    def test_killed_at_any_moment(self):
        seed = int(os.environ.get("TB_TEST_SEED", time.time_ns() % 1_000_000_000))
        print(f"seed {seed}: TB_TEST_SEED={seed} repeats it", flush=True)
        generator = random.Random(seed)
        ages = []
        for index in range(TRIES):
            ages.append(self.kill_once(generator, index))
        print("the oldest that was missing, in s:", ages, flush=True)
        for part in (ages[0:4:2], ages[1:4:2], ages[0:2], ages[2:4]):
            self.assertLessEqual(min(part), 1.9, ages)  # each, but for what the machine held up
        self.assertLessEqual(sorted(ages)[len(ages) // 2], 5, ages)

    def test_a_stopped_recorder_does_not_hold_up_a_publisher(self):
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 1000")
        recorder = self.record("--allow-loss", "--topics", "/a")
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 10", "sent 9 ")
        recorder.child.send_signal(signal.SIGSTOP)
        self.ask(peer, "stream - 100", "streaming")
        time.sleep(1)  # some ten thousand messages, in the time that they take
        slowest_s = int(self.ask(peer, "", r"streamed (\d+)").group(1)) / SECOND
        recorder.child.send_signal(signal.SIGCONT)
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 1", r"sent (\d+) ")
        summary = self.stop(recorder)
        self.assertLess(slowest_s, 5)  # in the order of microseconds; the machine may be busy
        recorded = self.numbers()["/a"]
        sent = recorded[-1] + 1
        match = re.search(r", (\d+) lost$", summary[0])
        self.assertEqual(len(recorded) + int(match.group(1)), sent, summary)  # none is silent

    def record_on(self, disk, *arguments, module=None):
        """With the disk of slow_disk.c or another module, which `disk` controls."""
        environment = dict(
            self.environment, LD_PRELOAD=module or SLOW_DISK, ASAN_OPTIONS="verify_asan_link_order=0", **disk
        )
        recorder = Process(self, [f"{BIN_DIR}/timebase", "record", *arguments], environment)
        recorder.expect("recording to ")
        return recorder

    def syncs_of_stream(self, storage, *arguments, tried=0):
        """When the files of messages were synced while a publisher was at work, and from when on."""
        bag = os.path.join(self.folder, f"{storage}{len(arguments)}-{tried}")
        log = bag + ".log"
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 1000")
        recorder = self.record_on({"TB_SYNC_LOG": log}, "-s", storage, "-o", bag, "/a", *arguments)
        self.ask(peer, "match /a")
        began_ns = time.time_ns()
        self.ask(peer, "stream - 1000", "streaming")
        time.sleep(2)  # in which it is synced so often
        self.ask(peer, "", "streamed ")
        ended_ns = time.time_ns()
        self.stop(recorder)
        times = []
        if os.path.exists(log):
            with open(log, encoding="utf-8") as file:
                lines = [line.rsplit(" ", 1) for line in file]
            times = [int(at) for path, at in lines if re.search(r"_\d+\.(mcap|db3)", path)]
        return [at for at in times if began_ns < at < ended_ns], began_ns, ended_ns

    def test_what_is_old_is_synced(self):
        for storage in ("mcap", "sqlite3"):
            with self.subTest(storage):
                longest = []
                while len(longest) < TRIES and min(longest, default=2 * SECOND) > 1.5 * SECOND:
                    times, began_ns, ended_ns = self.syncs_of_stream(
                        storage, "--fsync-interval", "0.2", tried=len(longest)
                    )
                    gaps = [b - a for a, b in zip([began_ns, *times], [*times, ended_ns])]
                    longest.append(max(gaps))
                    print(f"{storage}: {len(times)} syncs, {max(gaps) / SECOND:.3f} s apart", flush=True)
                self.assertGreater(len(times), 2)
                self.assertLessEqual(min(longest), 1.5 * SECOND, longest)  # 0.2 s, on a busy machine
        self.assertEqual(self.syncs_of_stream("mcap")[0], [])

    def resident(self, process):
        """Bytes; None where a sanitizer's memory is part of it."""
        with open(f"/proc/{process.child.pid}/status", encoding="ascii") as status:
            text = status.read()
        size, resident = (int(re.search(rf"{name}:\s+(\d+) kB", text).group(1)) for name in ("VmSize", "VmRSS"))
        return resident * 1024 if size < 1 << 30 else None  # a sanitizer maps terabytes

    def test_files_are_split(self):
        for storage in ("mcap", "sqlite3"):
            for limit in (("-b", "60000"), ("-d", "0.4")):
                with self.subTest(storage=storage, limit=limit):
                    bag = os.path.join(self.folder, storage + limit[0])
                    peer = self.start_peer()
                    self.ask(peer, "pub /a rel 1000")
                    recorder = self.record("/a", *limit, bag=bag, storage=storage)
                    self.ask(peer, "match /a")
                    self.ask(peer, "send /a 100", "sent 99 ")
                    self.stop(recorder)
                    done = subprocess.run(
                        [f"{BIN_DIR}/timebase", "bag", "check", bag],
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertIn("whole, 100 messages", done.stdout)
                    self.assertGreater(len(glob.glob(f"{bag}/*_*.*")), 1, os.listdir(bag))
                    with open(f"{bag}/metadata.yaml", encoding="utf-8") as metadata:
                        self.assertIn("version: 9\n", metadata.read())

    def test_a_ring_keeps_the_newest_files(self):
        """With what was sent to a latched topic, once, before them."""
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 1000")
        self.ask(peer, "pub /map latched 100")
        self.ask(peer, "send /map 2", "sent 1 ")
        recorder = self.record("/a", "/map", "-b", "20000", "--max-bag-files", "2", "--min-space", "1",
                               "--repeat-all-transient-local")
        self.ask(peer, "match /a")
        self.ask(peer, "match /map")
        self.ask(peer, "send /a 100", "sent 99 ")
        self.stop(recorder)
        self.assertEqual(len(self.files()), 2)
        kept = self.numbers()["/a"]
        self.assertEqual(kept, list(range(kept[0], 100)))
        self.assertGreater(kept[0], 0)
        for path in self.files():
            self.assertEqual([(row[0], number(row[2])) for row in rows(path)[:2]], [("/map", 0), ("/map", 1)])
            self.assertIn("/a", [row[0] for row in rows(path)])
        self.assertIn("event=removed", self.metadata())

    def test_a_disk_without_the_room_ends_it(self):
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 100")
        recorder = self.record("/a", "--min-space", "1000000000000000")
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 10", "sent 9 ")
        self.assertEqual(recorder.wait(), 3, recorder.errors)
        self.assertIn("recording has ended", "\n".join(filter(None, recorder.errors)))

    def lost_of(self, summary, topic):
        """How many, in all ways."""
        line = next((line for line in summary if line.startswith(f"  {topic}: ")), f"  {topic}: 0")
        return int(re.match(r"  \S+: (\d+)", line).group(1))

    def check_stuck_disk(self, storage):
        """All of it is sent and acknowledged while not one byte can be written."""
        flag = os.path.join(self.folder, f"stuck_{storage}")
        bag = os.path.join(self.folder, f"on_{storage}")
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 100000")
        self.ask(peer, "pub /b rel 64")
        recorder = self.record_on(
            {"TB_SLOW_DISK": flag},
            *("-s", storage, "-o", bag, "/a", "/b", "--max-cache-size", "1000000"),
        )
        self.ask(peer, "match /a")
        self.ask(peer, "match /b")
        self.ask(peer, "send /b 10", "sent 9 ")
        recorder.expect("recorded 10 messages")
        before = self.resident(recorder)
        with open(flag, "w", encoding="ascii"):
            pass
        slowest_ns = int(self.ask(peer, "send /a 200", r"sent 199 (\d+)").group(1))
        recorder.expect(r"recorded \d+ messages of 2 topics .*lost [1-9]")
        after = self.resident(recorder)
        os.remove(flag)
        recorder.child.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(), 1, recorder.errors)
        first = next(i for i, line in enumerate(recorder.seen) if line.startswith(bag))
        summary = recorder.seen[first:]
        recorded = self.numbers(bag if storage == "sqlite3" else self.recovered(bag))
        lost = self.lost_of(summary, "/a")
        self.assertEqual(len(recorded["/a"]) + lost, 200, summary)
        self.assertGreater(lost, 50)
        self.assertIn(f"  /a: {lost} lost ({lost} queue full)", summary)
        self.assertEqual(recorded["/a"], sorted(set(recorded["/a"])))
        self.assertEqual(recorded["/b"], list(range(10)))
        print(f"{storage}: the slowest write took {slowest_ns / 1e6:.3f} ms", flush=True)
        if before is not None:  # of 20 MB; the cache, what is being written, and what DDS takes
            print(f"{storage}: {(after - before) / 1e6:.1f} MB more memory", flush=True)
            self.assertLess(after - before, 8_000_000)
        self.assertLess(slowest_ns, 5 * SECOND)  # of microseconds; the machine may be busy

    def test_a_disk_that_is_stuck_does_not_hold_up_a_publisher(self):
        for storage in ("mcap", "sqlite3"):
            with self.subTest(storage):
                self.check_stuck_disk(storage)

    def test_a_locked_file_does_not_hold_up_a_publisher(self):
        """Another process holds the file's lock, so that the recorder cannot write."""
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 1000")
        recorder = self.record("/a", "--max-cache-size", "50000")
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 5", "sent 4 ")
        self.wait_until(lambda: len(self.messages()) == 5)
        disk = sqlite3.connect(self.files()[0], timeout=LIMIT_S, isolation_level=None)
        self.addCleanup(disk.close)
        disk.execute("BEGIN IMMEDIATE")
        self.ask(peer, "send /a 200", "sent 204 ")  # all of it while nothing can be written
        disk.execute("ROLLBACK")
        recorder.expect(r"recorded \d+ messages of 1 topic  lost [1-9]")
        recorder.child.send_signal(signal.SIGTERM)
        # 3: the machine was so slow that sqlite gave up waiting.
        self.assertIn(recorder.wait(), (1, 3), recorder.errors)
        recorded = self.numbers()["/a"]
        summary = next(line for line in recorder.seen if line.startswith(self.bag))
        lost = int(re.search(r", (\d+) lost$", summary).group(1))
        self.assertEqual(len(recorded) + lost, 205)
        self.assertGreater(lost, 100)
        self.assertEqual(recorded[:5], list(range(5)))

    def small_disk(self, size):
        """A separate tmpfs, where the machine allows it."""
        path = os.path.join(self.folder, "disk")
        os.mkdir(path)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path],
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            self.skipTest("no tmpfs can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", path], check=False)
        return path

    def test_a_full_disk_is_counted_and_reported(self):
        bag = os.path.join(self.small_disk("2m"), "bag")
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 20000")
        recorder = self.record("/a", bag=bag)
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 300", "sent 299 ")
        self.wait_until(lambda: any("lost" in str(e) for e in recorder.errors))
        summary = self.stop(recorder, status=3)
        recorded = self.numbers(bag)["/a"]
        self.assertEqual(recorded[:10], list(range(10)))
        self.assertEqual(recorded, sorted(set(recorded)))
        match = re.search(r": (\d+) messages? .*, (\d+) lost$", summary[0])
        self.assertEqual(int(match.group(1)), len(recorded))
        self.assertEqual(int(match.group(2)), 300 - len(recorded))
        self.assertRegex(summary[1], r"^  /a: \d+ lost \(\d+ file could not be written\)$")

    def readable(self, bag):
        """How many messages another process finds in it."""
        done = subprocess.run(
            [f"{BIN_DIR}/timebase", "bag", "recover", bag, "-o", bag + "_read", "-s", "sqlite3"],
            capture_output=True,
            check=False,
        )
        return len(self.messages(bag + "_read")) if done.returncode in (0, 1) else 0

    def counts(self, summary):
        """(recorded, lost)"""
        match = re.search(r": (\d+) messages? .*, (\d+) lost$", summary[0])
        return int(match.group(1)), int(match.group(2))

    def fail_disk(self, storage, code, flags):
        """The disk fails from one moment to the end; messages of 3 kB, not many in each flush."""
        bag = os.path.join(self.folder, f"{storage}{code}_{flags}")
        flag = bag + ".fails"
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 3000")
        recorder = self.record_on(
            {"TB_FAIL_DISK": f"{code} {flags} {flag}"},
            *("-s", storage, "-o", bag, "/a"),
            module=FAILING_DISK,
        )
        self.ask(peer, "match /a")
        self.ask(peer, "send /a 50", "sent 49 ")
        recorder.expect("recorded 50 messages")
        with open(flag, "w", encoding="ascii"):
            pass
        self.ask(peer, "send /a 300", "sent 349 ")
        recorder.expect_error("lost")
        recorder.child.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(), 3, recorder.errors)
        os.remove(flag)
        first = next(i for i, line in enumerate(recorder.seen) if line.startswith(bag))
        recorded, lost = self.counts(recorder.seen[first:])
        self.assertEqual(recorded + lost, 350, recorder.seen)
        self.assertLessEqual(recorded, self.readable(bag))

    def test_a_failing_disk_hides_no_loss(self):
        short = 1
        for storage in ("mcap", "sqlite3"):
            for code, flags in ((5, 0), (28, 0), (28, short)):
                with self.subTest(storage=storage, code=code, flags=flags):
                    self.fail_disk(storage, code, flags)

    def test_a_file_that_is_cut_is_reported_at_the_end(self):
        for storage, extension in (("mcap", "mcap"), ("sqlite3", "db3"), ("sqlite3", "db3-wal")):
            with self.subTest(storage=storage, extension=extension):
                bag = os.path.join(self.folder, f"cut_{extension}")
                peer = self.start_peer()
                self.ask(peer, "pub /a rel 20000")
                recorder = self.record("/a", bag=bag, storage=storage)
                self.ask(peer, "match /a")
                self.ask(peer, "send /a 400", "sent 399 ")
                recorder.expect("recorded 400 messages")
                path = glob.glob(f"{bag}/*.{extension}")[0]
                self.wait_until(lambda: os.path.getsize(path) > 1_000_000)
                os.truncate(path, 500_000)
                recorder.child.send_signal(signal.SIGTERM)
                status = recorder.wait()
                first = next(i for i, line in enumerate(recorder.seen) if line.startswith(bag))
                recorded, lost = self.counts(recorder.seen[first:])
                self.assertEqual(recorded + lost, 400, recorder.seen)
                self.assertLessEqual(recorded, self.readable(bag))
                if extension == "db3-wal" and lost == 0:
                    continue  # all of it had moved to the file
                self.assertEqual(status, 3, recorder.errors)
                self.assertGreater(lost, 0)
                self.assertTrue(any("was truncated" in str(e) for e in recorder.errors), recorder.errors)

    def test_signals_end_it_well(self):
        for number_of, which in enumerate((signal.SIGINT, signal.SIGTERM)):
            bag = os.path.join(self.folder, f"bag{number_of}")
            recorder = self.record("--all", bag=bag)
            recorder.child.send_signal(which)
            self.assertEqual(recorder.wait(), 0, recorder.errors)
            self.assertTrue(os.path.exists(os.path.join(bag, "metadata.yaml")))

    def test_keys_on_a_terminal(self):
        terminal = Terminal(
            self,
            [f"{BIN_DIR}/timebase", "record", "--all", "-s", "sqlite3", "-o", self.bag, "--plain"],
            self.environment,
        )
        terminal.expect(b"recorded 0 messages")
        terminal.write(b" ")
        terminal.expect(b"paused (SPACE resumes)")
        terminal.child.send_signal(signal.SIGINT)
        terminal.expect(b" lost\r\n")
        self.assertEqual(terminal.child.wait(LIMIT_S), 0)
        self.assertEqual(terminal.modes(), terminal.modes_before)

    def test_a_closed_output_ends_no_recording(self):
        """As of `record | head -1`. A line on how it goes is due every second, and each round takes
        up to one until it is in the file."""
        peer = self.start_peer()
        self.ask(peer, "pub /a rel 100")
        recorder = subprocess.Popen(
            [f"{BIN_DIR}/timebase", "record", "/a", "-s", "sqlite3", "-o", self.bag],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        self.assertIn(b"recording to", recorder.stdout.readline())
        recorder.stdout.close()
        self.ask(peer, "match /a")
        for count in (20, 40, 60, 80):
            self.ask(peer, "send /a 20", "sent ")
            self.wait_until(lambda: len(self.messages()) == count)
        with open(f"/proc/{recorder.pid}/stat", encoding="utf-8") as file:
            ticks = sum(int(field) for field in file.read().rpartition(")")[2].split()[11:13])
        self.assertLess(ticks / os.sysconf("SC_CLK_TCK"), 2, "it does not rest")
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(LIMIT_S), 0)
        self.assertEqual(recorder.stderr.read(), b"")
        self.assertEqual(self.numbers(), {"/a": list(range(80))})

    def overrides_of(self, command, path):
        """The command line that reads them."""
        last = ("--all", "-o", self.bag) if command == "record" else (self.played,)
        return [f"{BIN_DIR}/timebase", command, "--qos-profile-overrides-path", path, *last]

    def test_only_regular_files_of_overrides_are_read(self):
        """The pipe has no writer, which is reported before anything is begun."""
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        self.addCleanup(os.close, writing)
        self.played = os.path.join(self.folder, "played")
        self.stop_empty(self.record("--all", bag=self.played))
        for command in ("record", "play"):
            for path, what in (
                (pipe, "a pipe"),
                (f"/dev/fd/{reading}", "a pipe"),
                ("/dev/zero", "a device"),
                (self.folder, "a folder"),
            ):
                done = subprocess.run(
                    self.overrides_of(command, path),
                    env=self.environment,
                    capture_output=True,
                    text=True,
                    timeout=LIMIT_S,
                    pass_fds=[reading],
                    check=False,
                )
                self.assertEqual(done.returncode, 2, (path, done.stderr))
                self.assertIn(f"{path}: not a regular file but {what}", done.stderr)
                self.assertFalse(os.path.exists(self.bag))

    def stop_empty(self, recorder):
        recorder.child.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(), 0, recorder.errors)

    def test_a_signal_ends_it_while_overrides_are_read(self):
        path = os.path.join(self.folder, "stuck.yaml")
        with open(path, "w", encoding="ascii") as file:
            file.write("/a:\n  reliability: reliable\n")
        self.played = os.path.join(self.folder, "played")
        self.stop_empty(self.record("--all", bag=self.played))
        environment = dict(
            self.environment,
            LD_PRELOAD=SLOW_DISK,
            ASAN_OPTIONS="verify_asan_link_order=0",
            TB_STUCK_FILE=path,
        )
        for command in ("record", "play"):
            with self.subTest(command):
                process = Process(self, self.overrides_of(command, path), environment)
                self.wait_until(lambda: os.path.exists(path + ".read"))
                os.remove(path + ".read")
                process.child.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(), -signal.SIGTERM, process.errors)

    def test_expressions_that_match_nothing_are_warned_of(self):
        peer = self.start_peer()
        self.ask(peer, "pub /cmd_vel rel 100")
        self.ask(peer, "pub /cmd_vel2 rel 100")
        recorder = self.record("-e", r"^/cmd_vel\d?$", "-x", r"/cmd_vel\d\d")
        self.ask(peer, "match /cmd_vel")
        self.ask(peer, "match /cmd_vel2")
        warning = "warning: recorder: exclude_regex: expression '/cmd_vel\\d\\d' has matched no topic"
        recorder.expect_error(re.escape(warning) + " so far$")
        self.stop(recorder)
        recorder.expect_error(re.escape(warning) + "$")
        self.assertFalse([line for line in recorder.errors if line and "recorder: regex" in line])

    def test_wrong_usage(self):
        for arguments, status, text in (
            ((), 2, "no topics: name them"),
            (("-e",), 2, "needs a value"),
            (("--all", "--compression-mode", "some"), 2, "--compression-mode some"),
            (("--all", "--chunk-compression", "gzip"), 2, "--chunk-compression gzip"),
            (("--all", "--log-time", "soon"), 2, "--log-time soon"),
            (("--all", "-b", "-5"), 2, "not a size; write a number of bytes, 10MB or 10MiB"),
            (("--all", "-d", "-5"), 2, "must not be negative"),
            (("--all", "--max-bag-files", "3"), 2, "--max-bag-files removes the oldest files of a recording: --max-bag"),
            (("--all", "--use-sim-time", "--log-time", "source"), 2, "ROS time"),
            (("--all", "--bogus"), 2, "unknown option"),
            (("--all", "-s", "tape"), 2, "--storage tape: unknown; use one of: sqlite3, mcap"),
            (("-e", "/a", "-e", "/b", "-o", self.bag), 2, "--regex: given twice"),
            (("-a", "-x", "/a", "-x", "/b", "-o", self.bag), 2, "--exclude-regex: given twice"),
            (("-e", "(", "-o", self.bag), 2, "--regex: expression '(', character 1: "),
            (("-a", "-x", "a++", "-o", self.bag), 2, "--exclude-regex: expression 'a++', character 3"),
            (("--all", "-o", self.folder), 3, "exists"),
            (("--all", "-o", self.bag, "--qos-profile-overrides-path", "/nope"), 3, "/nope"),
            (("--help",), 0, "usage: timebase record"),
        ):
            done = subprocess.run(
                [f"{BIN_DIR}/timebase", "record", *arguments],
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
            self.assertEqual(done.returncode, status, (arguments, done.stderr))
            self.assertIn(text, done.stdout + done.stderr)


if __name__ == "__main__":
    BIN_DIR, PEER, SLOW_DISK, FAILING_DISK = sys.argv[1:5]
    in_parts.main([sys.argv[0], *sys.argv[5:]], 4)
