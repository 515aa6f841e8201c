#!/usr/bin/env python3
"""The command between real processes over DDS: a player, a follower and the watcher.

usage: command_test.py BIN_DIR CLOCK_PROBE DEMO_BAG [TEST...]

Each test has its own domain and stays on the loopback interface. Tests wait for lines that a
process prints, with a generous limit, never for time."""

import fcntl
import itertools
import json
import os
import queue
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import in_parts
from sqlite_bag import sqlite_bag_make

LIMIT_S = 120
TRIES = 5  # where a thread that is held up for a second spoils what is measured
SECOND = 1_000_000_000
LOOPBACK = (
    '<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo" multicast="false"/>'
    "</Interfaces><AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto"
    '</ParticipantIndex><Peers><Peer address="localhost"/></Peers></Discovery></Domain></CycloneDDS>'
)

BIN_DIR = PROBE = DEMO_BAG = None


def header_of(at_ns):
    """A serialized std_msgs/Header."""
    return (
        b"\x00\x01\x00\x00"
        + (at_ns // SECOND).to_bytes(4, "little")
        + (at_ns % SECOND).to_bytes(4, "little")
        + (1).to_bytes(4, "little")
        + b"\x00\x00\x00\x00"
    )


def bag_make(folder, start_ns, step_ns, count):
    """A bag of std_msgs/Header, with stamps equal to the log times."""
    times = [start_ns + index * step_ns for index in range(count)]
    return sqlite_bag_make(
        os.path.join(folder, "bag_0.db3"),
        [("/stamped", "std_msgs/msg/Header")],
        [(0, at, header_of(at)) for at in times],
    )


class Process:
    """A child whose lines are read as they come."""

    def __init__(self, test, arguments, environment, stdin=subprocess.DEVNULL):
        self.test = test
        self.lines = queue.Queue()
        self.seen = []
        self.child = subprocess.Popen(
            arguments,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.errors = []
        threads = [
            threading.Thread(target=self._read, args=(self.child.stdout, self.lines.put)),
            threading.Thread(target=self._read, args=(self.child.stderr, self.errors.append)),
        ]
        for thread in threads:
            thread.start()
        self.threads = threads
        test.addCleanup(self.end)

    @staticmethod
    def _read(stream, put):
        for line in stream:
            put(line.rstrip("\n"))
        put(None)

    def expect(self, pattern):
        """The next line that matches; all lines on the way are kept in `seen`."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            try:
                line = self.lines.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                self.test.fail(f"no line like {pattern!r} in time; errors: {self.errors}")
            if line is None:
                self.test.fail(f"ended before a line like {pattern!r}; errors: {self.errors}")
            self.seen.append(line)
            match = re.match(pattern, line)
            if match:
                return match

    def expect_error(self, pattern):
        """Until a line of standard error has it."""
        deadline = time.monotonic() + LIMIT_S
        while not any(re.search(pattern, line or "") for line in self.errors):
            if time.monotonic() > deadline or self.child.poll() is not None and None in self.errors:
                self.test.fail(f"no error like {pattern!r}: {self.errors}")
            time.sleep(0.01)

    def expect_tick(self, at_least_ns):
        """Ticks in between may be merged while the process is slow."""
        while int(self.expect(r"tick (\d+) ").group(1)) < at_least_ns:
            pass

    def expect_report(self, is_it, count=1):
        """Of `watch --json`: the report that completes `count` and makes `is_it(all of them)` true."""
        reports = []
        while len(reports) < count or not is_it(reports):
            reports.append(json.loads(self.expect("{").string))
        return reports

    def summary(self):
        """Of `watch --json`, which it ends."""
        self.child.send_signal(signal.SIGINT)
        self.test.assertEqual(self.wait(), 0, self.errors)
        return json.loads(self.seen[-1])

    def write(self, text):
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()

    def wait(self):
        """The exit status, with all lines in `seen`."""
        status = self.child.wait(LIMIT_S)
        for thread in self.threads:
            thread.join(LIMIT_S)
        while (line := self.lines.get(timeout=LIMIT_S)) is not None:
            self.seen.append(line)
        return status

    def end(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        for thread in self.threads:
            thread.join(LIMIT_S)
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            if stream:
                stream.close()


def udp_sockets(pid):
    """The lines of /proc/net/udp, in fields, of the sockets of a process."""
    inodes = set()
    for entry in os.listdir(f"/proc/{pid}/fd"):
        try:
            match = re.match(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{entry}"))
        except OSError:
            continue
        if match:
            inodes.add(match.group(1))
    with open(f"/proc/{pid}/net/udp", encoding="ascii") as table:
        lines = [line.split() for line in table.readlines()[1:]]
    return [fields for fields in lines if fields[9] in inodes]


def bound_sockets(pid):
    """Local IPv4 addresses and ports of the UDP sockets of a process."""
    found = set()
    for fields in udp_sockets(pid):
        address, port = fields[1].split(":")
        found.add((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


def unread_bytes(pid):
    """Of packets that the kernel holds for a process."""
    return sum(int(fields[4].split(":")[1], 16) for fields in udp_sockets(pid))


def bound_addresses(pid):
    return {address for address, _ in bound_sockets(pid)}


class CommandTest(unittest.TestCase):
    domains = itertools.count(100)

    def setUp(self):
        self.domain = next(self.domains)
        self.environment = dict(os.environ)
        for name in list(self.environment):
            if name.startswith("ROS_"):
                del self.environment[name]
        self.environment["CYCLONEDDS_URI"] = LOOPBACK
        self.environment["ROS_DOMAIN_ID"] = str(self.domain)
        self.domain_lock(self.domain)
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def domain_lock(self, domain):
        """Where tests have no network of their own, another checkout waits for this one (see loopback.c)."""
        lock = open(f"/dev/shm/timebase-test-domain-{domain}.lock", "a", encoding="ascii")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)

    def run_command(self, *arguments, stdin=subprocess.DEVNULL):
        return Process(self, [f"{BIN_DIR}/timebase", *arguments], self.environment, stdin)

    def run_probe(self):
        probe = Process(self, [PROBE], self.environment, subprocess.PIPE)
        probe.expect("ready")
        return probe

    def check_loopback(self, process):
        """Cyclone binds what it receives on to the wildcard address; nothing else is allowed."""
        addresses = bound_addresses(process.child.pid)
        self.assertTrue(addresses, "no UDP sockets seen: the check sees nothing")
        self.assertLessEqual(addresses, {"0.0.0.0", "127.0.0.1"})

    def result(self, *arguments):
        done = subprocess.run(
            [f"{BIN_DIR}/timebase", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        return done.returncode, done.stdout, done.stderr

    def until_result(self, arguments, is_right):
        """The command's result, once it is right."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            result = self.result(*arguments)
            if is_right(*result):
                return result
            if time.monotonic() > deadline:
                self.fail(f"timebase {' '.join(arguments)} still gives {result}")

    def assert_no_errors(self, err):
        """None but why nothing came in the first second, as on a busy machine."""
        hint = r"timebase \w+: (no publisher of \S+|\S+ in domain \d+ is published).*\n"
        self.assertEqual(re.sub(hint, "", err), "")


def ticks_of(probe):
    return [tuple(map(int, line.split()[1:])) for line in probe.seen if line.startswith("tick ")]


class PlayTest(CommandTest):
    START = 1_600_000_000 * SECOND

    def play_and_follow(self, rate, count):
        """Plays `count` messages, 20 ms apart, to the end. The ticks that the follower saw."""
        bag = bag_make(tempfile.mkdtemp(dir=self.folder), self.START, SECOND // 50, count)
        end = self.START + (count - 1) * (SECOND // 50)
        probe = self.run_probe()
        player = self.run_command("play", bag, "--clock", "100", "--rate", str(rate))
        probe.expect("two after started")
        self.check_loopback(player)
        self.check_loopback(probe)
        probe.expect(f"tick {end} ")
        self.assertEqual(player.wait(), 0, player.errors)
        probe.write("now")
        now = int(probe.expect(r"now (\d+)").group(1))
        probe.end()
        self.assertEqual(now, end, "time goes on after the last message, or stops before it")
        ticks = ticks_of(probe)
        times = [tick[0] for tick in ticks]
        self.assertEqual(times, sorted(set(times)), "ticks that do not rise")
        self.assertGreater(times[0], self.START)
        self.assertEqual(times[-1], end)
        self.assertFalse([line for line in probe.seen if " backward " in line])
        started = probe.seen.index(next(line for line in probe.seen if "started" in line))
        self.assertFalse(ticks_of(probe) and probe.seen[:started].count("tick"))
        return ticks

    def check_play(self, rate, count):
        """The machine may be busy: a follower that is delayed sees few ticks, or the last one late."""
        for _ in range(TRIES):
            ticks = self.play_and_follow(rate, count)
            (from_time, from_steady), (to_time, to_steady) = ticks[0], ticks[-1]
            seen = (to_time - from_time) / (to_steady - from_steady)
            # small steps may be merged while the handler prints, but not most of them
            messages = {self.START + i * (SECOND // 50) for i in range(count)}
            seen_times = len({time for time, _ in ticks} & messages)
            if abs(seen / rate - 1) < 0.15 and seen_times > count // 2:
                return
        self.fail(f"played at {seen} instead of {rate}, {seen_times} of {count} messages' times were seen")

    def test_play_at_half_speed(self):
        self.check_play(0.5, 51)

    def test_play_at_real_time(self):
        self.check_play(1, 101)

    def test_play_at_ten_times(self):
        self.check_play(10, 1001)

    def test_loop_is_one_backward_jump_in_the_order_of_J3(self):
        bag = bag_make(self.folder, self.START, SECOND // 10, 11)
        end = self.START + SECOND
        probe = self.run_probe()
        player = self.run_command("play", bag, "--clock", "100", "--rate", "2", "--loop")
        probe.expect("two after started")
        probe.expect(f"two after backward {end} {self.START} ")
        probe.expect_tick(self.START + SECOND // 2)
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)
        lines = [line for line in probe.seen if " backward " in line]
        jump = f"backward {end} {self.START}"
        first = lines.index(f"one before {jump} {end}")  # a slow one misses the end of the loop before
        self.assertEqual(
            lines[first : first + 4],
            [
                f"one before {jump} {end}",
                f"two before {jump} {end}",
                f"one after {jump} {self.START}",
                f"two after {jump} {self.START}",
            ],
        )
        self.assertTrue(all(self.START <= at <= end for at, _ in ticks_of(probe)))

    def test_time_is_never_zero_once_started(self):
        """A bag that begins at zero, which would be "not set"."""
        bag = bag_make(self.folder, 0, SECOND // 10, 6)
        probe = self.run_probe()
        player = self.run_command("play", bag, "--clock", "100", "--loop")
        probe.expect(f"two after backward {SECOND // 2} 1 1$")
        probe.expect(f"tick {SECOND // 2} ")
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)

    def test_killed_player_leaves_time_standing_and_a_new_one_is_taken_up(self):
        first = bag_make(self.folder, self.START, SECOND // 10, 1000)
        probe = self.run_probe()
        player = self.run_command("play", first, "--clock", "100")
        probe.expect_tick(self.START + SECOND // 2)
        player.child.kill()
        player.child.wait()
        probe.write("sleep 3600000000000 200000000")
        probe.expect("slept TB_ERR_TIMEOUT ")  # a limit in steady time: it does not hang
        probe.write("now")
        standing = int(probe.expect(r"now (\d+)").group(1))
        probe.write("sleep 1")
        probe.write("now")
        self.assertEqual(int(probe.expect(r"now (\d+)").group(1)), standing)
        self.assertFalse([line for line in probe.seen if line.startswith("slept TB_OK")])
        folder = tempfile.mkdtemp(dir=self.folder)
        later = self.START + 5000 * SECOND
        second = bag_make(folder, later, SECOND // 10, 11)
        player = self.run_command("play", second, "--clock", "100", "--rate", "2")
        probe.expect("slept TB_OK ")  # and goes on with the new publisher
        probe.expect(f"tick {later + SECOND} ")
        self.assertEqual(player.wait(), 0, player.errors)

    def test_bags_of_other_times_are_told_of(self):
        folders = [tempfile.mkdtemp(dir=self.folder) for _ in range(2)]
        later = 1_577_836_800
        bags = [
            bag_make(folder, at, SECOND // 10, 2) for folder, at in zip(folders, (SECOND, later * SECOND))
        ]
        player = self.run_command("play", *bags)
        player.expect_error(
            "^timebase play: warning: no message for 18262 days: the next message, on /stamped "
            f"of {bags[1]}, is at 2020-01-01T00:00:00Z. To skip the gap: --start-offset "
            f"{later - 1}s, or on a terminal the keys SPACE . SPACE$"
        )
        for _ in range(3):
            player.expect("time .* messages 2  next message in 18262 days$")
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)
        self.assertEqual(sum("no message for" in (line or "") for line in player.errors), 1)
        status, out, err = self.result("play", *bags, "--start-offset", f"{later - 1}s")
        self.assertEqual((status, err), (0, ""))
        self.assertIn(": 2 messages", out)

    def test_start_paused_shows_the_start_time_and_waits(self):
        bag = bag_make(self.folder, self.START, SECOND // 10, 11)
        probe = self.run_probe()
        watch = self.run_command("watch", "--json")
        player = self.run_command("play", bag, "--clock", "100", "--start-paused")
        probe.expect(f"two after started 0 {self.START} ")
        watch.expect_report(lambda reports: sum(report["ticks"] for report in reports) > 10)
        summary = watch.summary()
        self.assertEqual(summary["time_ns"], self.START)
        self.assertGreater(summary["ticks"], 10)
        player.child.send_signal(signal.SIGTERM)
        self.assertEqual(player.wait(), 0, player.errors)
        self.assertFalse(ticks_of(probe))

    def test_start_offset_and_topics(self):
        probe = self.run_probe()
        player = self.run_command(
            "play", DEMO_BAG, "--clock", "--rate", "20", "--start-offset", "25", "--topics", "/chatter"
        )
        start = 1_700_000_025 * SECOND
        self.assertGreaterEqual(int(probe.expect(r"two after started 0 (\d+) ").group(1)), start)
        self.assertEqual(player.wait(), 0, player.errors)
        self.assertIn("11 messages", player.seen[-1])

    def bag_of_two(self):
        """/early from START on, /late 2 s later: a message each 0.1 s, for 3 s and 1 s."""
        times = [(0, index) for index in range(30)] + [(1, index) for index in range(20, 30)]
        return sqlite_bag_make(
            os.path.join(self.folder, "two.db3"),
            [("/early", "std_msgs/msg/Header"), ("/late", "std_msgs/msg/Header")],
            [
                (topic, at, header_of(at))
                for topic, index in times
                for at in [self.START + index * SECOND // 10]
            ],
        )

    def test_time_starts_with_the_recording_whichever_topics_are_played(self):
        """rosbag2: starting_time + start_offset."""
        bag = self.bag_of_two()
        for topic, count in (("/early", 4), ("/late", 1)):
            probe = self.run_probe()
            player = self.run_command(
                *("play", bag, "--clock", "100", "--topics", topic),
                *("--start-offset", "1.7", "--playback-duration", "0.3", "--start-paused"),
            )
            probe.expect(f"two after started 0 {self.START + 17 * SECOND // 10} ")
            self.resume()
            probe.expect_tick(self.START + 2 * SECOND)
            self.assertEqual(player.wait(), 0, player.errors)
            self.assertIn(f"at 2.00 s of 2.00 s: {count} message", player.seen[-1])
            probe.end()

    def resume(self):
        """The paused player, which it waits for."""
        status, out, err = self.result("ctl", "/rosbag2_player", "resume", "--wait", "60s", "--limit", "60s")
        self.assertEqual(status, 0, out + err)

    def test_limits_may_leave_nothing_to_play(self):
        bag = self.bag_of_two()
        for *arguments, warns in (
            ("--playback-duration", "0", False),
            ("--playback-duration", "0", "--loop", False),
            ("--topics", "/late", "--playback-duration", "1.9", True),
            ("--topics", "/late", "--playback-until-sec", str(self.START // SECOND + 1), True),
        ):
            status, out, err = self.result("play", bag, "--clock", *arguments)
            self.assertEqual(status, 0, arguments)
            self.assertIn(": 0 messages", out)
            self.assertEqual("no message in range" in err, warns, err)
        status, _, err = self.result("play", bag, "--topics", "/late", "--start-offset", "2.91")
        self.assertEqual(status, 2)
        self.assertIn("beyond the end of the recording, at most 2.900000000 s", err)

    def test_each_run_has_its_start(self):
        """The second run begins 1 s before the first one, with a topic that is not played."""
        folder = os.path.join(self.folder, "runs")
        os.mkdir(folder)
        for number, start_ns in enumerate((self.START, self.START - SECOND)):
            sqlite_bag_make(
                os.path.join(folder, f"{number}.db3"),
                [("/early", "std_msgs/msg/Header"), ("/late", "std_msgs/msg/Header")],
                [(topic, at, header_of(at)) for topic, at in ((0, start_ns), (1, start_ns + 2 * SECOND))],
            )
        with open(os.path.join(folder, "metadata.yaml"), "w", encoding="ascii") as out:
            out.write(
                "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: sqlite3\n"
                "  message_count: 4\n  relative_file_paths:\n    - 0.db3\n    - 1.db3\n"
                "  custom_data:\n    timebase_run_2: first_file=1\n"
            )
        for run, start_ns in ((1, self.START), (2, self.START - SECOND)):
            probe = self.run_probe()
            player = self.run_command(
                *("play", folder, "--run", str(run), "--topics", "/late"),
                *("--clock", "100", "--rate", "10", "--start-offset", "0.5", "--start-paused"),
            )
            probe.expect(f"two after started 0 {start_ns + SECOND // 2} ")
            self.resume()
            self.assertEqual(player.wait(), 0, player.errors)
            self.assertIn("at 2.00 s of 2.00 s: 1 message", player.seen[-1])
            probe.end()

    def test_a_recording_without_messages_is_no_failure(self):
        bag = sqlite_bag_make(os.path.join(self.folder, "empty.db3"), [("/a", "std_msgs/msg/Header")], [])
        for arguments in ((), ("--topics", "/a"), ("--clock", "--loop", "--start-offset", "5")):
            status, out, err = self.result("play", bag, *arguments)
            self.assertEqual((status, out), (0, ""), err)
            self.assertEqual(err, f"timebase play: warning: {bag}: has no messages, so none are played\n")

    # rosbag2_tests test_rosbag2_play_end_to_end.cpp:
    # play_fails_gracefully_if_needed_coverter_plugin_does_not_exist
    def test_a_foreign_serialization_format_is_a_failure_of_the_recording(self):
        bag = bag_make(self.folder, self.START, SECOND, 3)
        database = sqlite3.connect(bag)
        database.execute("UPDATE topics SET serialization_format = 'json'")
        database.commit()
        database.close()
        for arguments in ((), ("--topics", "/stamped"), ("--regex", "stamped")):
            status, out, err = self.result("play", bag, *arguments)
            self.assertEqual((status, out), (3, ""), err)
            self.assertIn("topic /stamped is serialized as \"json\", not as cdr", err)
            self.assertIn(f"{bag}: no message can be played: not supported", err)
            self.assertNotIn("usage", err)

    def test_bad_usage_exits_2_and_bad_files_exit_3(self):
        for arguments in (
            ["play"],
            ["play", DEMO_BAG, "--rate", "0"],
            ["play", DEMO_BAG, "--rate", "nan"],
            ["play", DEMO_BAG, "--clock=-1"],
            ["play", DEMO_BAG, "--domain", "233"],
            ["play", DEMO_BAG, "--nonsense"],
            ["play", DEMO_BAG, "--start-offset", "-1"],
            ["watch", "--duration", "0"],
            ["watch", "extra"],
            ["now", "--limit", "never"],
            ["sleep"],
            ["sleep", "--ros", "1x"],
            ["now", "--ros", "--steady"],
            ["now", "--system", "--steady"],
            ["now", "--limit", "1s"],
            ["now", "--steady", "--domain", "1"],
            ["sleep", "1s", "--domain", "1"],
            ["watch", "--topic", "/not//good"],
            ["wait", "--min-rate", "-1"],
            ["wait", "--min-rate", "2", "--max-rate", "1"],
            ["wait", "--rtf", "1"],
            ["wait", "--rtf", ":"],
            ["wait", "--rtf", "1.1:0.9"],
            ["wait", "--rtf", "x:1"],
            ["wait", "--limit", "0"],
            ["wait", "1s"],
            ["nonsense"],
            [],
        ):
            status, out, err = self.result(*arguments)
            self.assertEqual(status, 2, arguments)
            self.assertIn("timebase", err)
            self.assertEqual(out, "", arguments)
        self.assertIn("values must not be negative", self.result("sleep", "-1s")[2])
        text = os.path.join(self.folder, "text.db3")
        with open(text, "w", encoding="ascii") as file:
            file.write("this is not a database, however long it is" * 100)
        for bag in ("/nonexistent/bag", text, self.folder):
            status, _, err = self.result("play", bag)
            self.assertEqual(status, 3, bag)
            self.assertIn(bag, err)
        status, _, err = self.result("play", DEMO_BAG, "--topics", "/nothing")
        self.assertIn(status, (2, 3))
        self.assertIn("/chatter", err)

    def test_closed_output_ends_the_player(self):
        bag = bag_make(self.folder, self.START, SECOND // 10, 100)
        pipeline = '"$0" play "$1" --loop | head -1; exit "${PIPESTATUS[0]}"'
        done = subprocess.run(
            ["bash", "-c", pipeline, f"{BIN_DIR}/timebase", bag],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("time "))

    def test_a_recording_that_cannot_be_read_to_its_end_is_told(self):
        bag = bag_make(self.folder, self.START, SECOND // 10, 20)
        database = sqlite3.connect(bag)
        database.execute("UPDATE messages SET timestamp = -1 WHERE id = 10")
        database.commit()
        database.close()
        status, out, err = self.result("play", bag, "--rate", "100")
        self.assertEqual(status, 3)
        self.assertIn("19 messages, 1 unreadable", out)
        self.assertRegex(err, r"row 10: .*; further problems of this kind .* are counted but not reported\n")
        self.assertIn("of the recording could not be read", err)
        self.assertIn(self.remedy(bag), err)

    @staticmethod
    def remedy(bag):
        return (
            f"timebase play: run 'timebase bag check {bag}' to see what is wrong, "
            f"'timebase bag recover {bag} -o OUT' to save what can be read\n"
        )

    def test_a_recording_that_cannot_be_opened_is_refused_with_the_remedy(self):
        bag = bag_make(self.folder, self.START, SECOND // 10, 20)
        for storage in ("sqlite3", "mcap"):
            lacking = os.path.join(self.folder, storage)
            made = self.result(
                *("bag", "convert", bag, "-o", lacking, "-s", storage, "--max-bag-duration", "1s")
            )
            self.assertEqual(made[0], 0, made)
            for name in os.listdir(lacking):
                if "_1." in name:
                    os.remove(os.path.join(lacking, name))
            status, _, err = self.result("play", lacking)
            self.assertEqual(status, 3)
            self.assertIn("named by metadata.yaml: No such file", err)
            self.assertTrue(err.endswith(self.remedy(lacking)), err)
        with open(bag, "r+b") as file:  # after the header of the file: the tables
            file.seek(100)
            file.write(bytes(3996))
        status, _, err = self.result("play", bag)
        self.assertEqual(status, 3)
        self.assertTrue(err.endswith(self.remedy(bag)), err)
        status, _, err = self.result("play", os.path.join(self.folder, "none"))
        self.assertEqual((status, err.count("\n")), (3, 1), err)

    def test_every_command_has_help(self):
        for name in ("play", "serve", "watch", "wait", "now", "sleep"):
            status, out, err = self.result(name, "--help")
            self.assertEqual((status, err), (0, ""))
            self.assertTrue(out.startswith(f"usage: timebase {name}"))
            self.assertEqual(self.result("help", name), (0, out, ""))
            self.assertLessEqual(max(len(line) for line in out.splitlines()), 160)
        self.assertEqual(self.result("--help")[0], 0)
        self.assertEqual(self.result("help", "help"), self.result("--help"))
        for word, text in (
            ("watc", "; did you mean 'watch' or 'wait'? "),
            ("node", "; did you mean 'now' or 'nodes'? "),
            ("topi", "; did you mean 'top' or 'topic'? "),
            ("recordings", "; "),
        ):
            for arguments in ((word, "--help"), ("help", word)):
                status, out, err = self.result(*arguments)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(f"timebase: unknown command '{word}'{text}'timebase --help' lists", err)
        status, _, err = self.result("sim-time", "--ros1", "on")
        self.assertEqual(status, 2)
        self.assertIn("no --ros1: it has one value for all nodes: 'timebase param --ros1 set /use_sim_time true'", err)
        self.assertRegex(self.result("--version")[1], r"^timebase \d+\.\d+\.\d+\n$")


class WatchTest(CommandTest):
    def test_json_lines_and_summary(self):
        bag = bag_make(self.folder, 1_600_000_000 * SECOND, SECOND // 10, 11)
        watch = self.run_command("watch", "--json")
        watch.expect("{")
        player = self.run_command("play", bag, "--clock", "50", "--rate", "1", "--loop")
        watch.expect_report(
            lambda reports: sum(report["jumps_backward"] for report in reports) >= 2
            and any(abs(report["rtf"] - 1) < 0.2 for report in reports),
            count=5,
        )
        watch.summary()
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)
        lines = [json.loads(line) for line in watch.seen]
        fields = {
            "time_ns": int,
            "rate_hz": float,
            "rtf": float,
            "ticks": int,
            "jumps_forward": int,
            "jumps_backward": int,
            "publishers": int,
        }
        for line in lines:
            for name, kind in fields.items():
                self.assertIsInstance(line[name], kind, name)
        self.assertEqual([bool(line.get("summary")) for line in lines[:-1]], [False] * (len(lines) - 1))
        summary = lines[-1]
        self.assertIs(summary["summary"], True)
        self.assertGreaterEqual(len(lines), 6)
        self.assertGreaterEqual(summary["ticks"], sum(line["ticks"] for line in lines[:-1]))
        self.assertGreaterEqual(summary["jumps_backward"], 2)
        self.assertEqual(summary["jumps_forward"], 0)
        self.assertEqual(summary["publishers"], 1)

    def test_two_publishers_are_seen_and_named(self):
        bag = bag_make(self.folder, 1_600_000_000 * SECOND, SECOND, 1000)
        probe = self.run_probe()
        self.run_command("play", bag, "--clock", "50")
        self.run_command("serve", "--node", "sim")
        probe.expect("two after started")
        text = "^timebase watch: warning: /clock: two publishers tick at the same time, "
        names = r"(/sim \(\S+\) and /rosbag2_player|/rosbag2_player \(\S+\) and /sim) \("
        deadline = time.monotonic() + LIMIT_S
        errors = []
        while not any(re.search(text + names, line or "") for line in errors):
            self.assertLess(time.monotonic(), deadline, errors)  # names may come late
            watch = self.run_command("watch", "--json")
            watch.expect_report(lambda reports: reports[-1]["publishers"] == 2)
            watch.expect_error(text)
            self.assertEqual(watch.summary()["publishers"], 2)
            errors = watch.errors

    def test_interrupt_ends_with_a_summary(self):
        watch = self.run_command("watch", "--json")
        watch.expect("{")
        watch.child.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(), 0)
        self.assertIs(json.loads(watch.seen[-1])["summary"], True)

    def test_duration_ends_with_a_summary(self):
        status, out, err = self.result("watch", "--json", "--duration", "1")
        self.assertEqual(status, 1, err)
        self.assertIn("timebase watch: no time received within 1s\n", err)
        summary = json.loads(out.splitlines()[-1])
        self.assertIs(summary["summary"], True)
        self.assertGreaterEqual(summary["elapsed_s"], 1)

    def test_a_missing_publisher_is_reported(self):
        missing = f"no publisher of /clock in domain {self.environment['ROS_DOMAIN_ID']}; start a simulator"
        for arguments in (
            ("now", "--ros", "--limit", "200ms"),
            ("sleep", "1s", "--ros", "--limit", "200ms"),
            ("wait", "--limit", "200ms"),
            ("watch", "--duration", "200ms"),
        ):
            status, _, err = self.result(*arguments)
            self.assertEqual(status, 1)
            self.assertRegex(
                err,
                f"^timebase {arguments[0]}: {missing} or 'timebase serve', or check ROS_DOMAIN_ID\n"
                f"timebase {arguments[0]}: no time received within 200ms\n$",
            )

    def test_the_reason_of_a_wait_is_printed_before_the_limit(self):
        for arguments in (
            ("now", "--ros", "--limit", "1h"),
            ("sleep", "1ns", "--ros", "--limit", "1h"),
            ("wait", "--limit", "1h"),
            ("watch",),
        ):
            process = self.run_command(*arguments)
            process.expect_error("no publisher of /clock in domain")
            server = self.run_command("serve")
            if arguments == ("watch",):
                self.assertEqual(process.expect("no time yet: ").string, "no time yet: no publisher")
                line = process.expect(r"time \d+\.\d{3}  running  \d.* Hz  rtf .*  publishers 1$")
                self.assertLessEqual(len(line.string), 80)
                process.child.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(), 0, process.errors)
            server.child.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0, server.errors)

    def test_a_topic_of_another_type_is_named(self):
        bag = bag_make(self.folder, 1_600_000_000 * SECOND, SECOND, 1000)
        self.run_command("play", bag).expect("time ")
        text = (
            f"timebase watch: /stamped in domain {self.environment['ROS_DOMAIN_ID']} is published by "
            "/rosbag2_player, but with type std_msgs/msg/Header; a clock topic has type "
            "rosgraph_msgs/msg/Clock\n"
        )
        err = ""
        deadline = time.monotonic() + LIMIT_S
        while text not in err and time.monotonic() < deadline:  # discovery may take its time
            status, _, err = self.result("watch", "--topic", "stamped", "--duration", "1.5s")
            self.assertEqual(status, 1)
        self.assertIn(text, err)


class ServeTest(CommandTest):
    START = 1_600_000_000 * SECOND

    def shm_name(self):
        """A name for shared memory, whose file is removed with the test."""
        name = f"command-test-{os.getpid()}-{self.domain}"
        path = f"/dev/shm/timebase.{name}"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        return name

    def serve(self, *arguments):
        return self.run_command("serve", "--start", str(self.START // SECOND), *arguments)

    def probe_shm(self, name):
        self.environment["TIMEBASE_SOURCE"] = f"shm:{name}"
        return self.run_probe()

    def stop(self, server):
        server.child.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, server.errors)
        self.assertRegex(server.seen[-1], r"^stopped at \d+\.\d{9} s: \d+ ticks$")

    def test_watch_and_now_follow_a_served_clock(self):
        # So slow that no gap of a busy machine becomes a jump.
        server = self.serve("--rate", "0.2", "--hz", "50Hz")
        server.expect("time 16")
        self.check_loopback(server)
        watch = self.run_command("watch", "--json")
        status, out, err = self.result("now", "--ros", "--limit", "100s")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"^16000000\d\d\.\d{9} 2020-09-13T")
        watch.expect_report(
            lambda reports: abs(reports[-1]["rtf"] - 0.2) < 0.04
            and (reports[-1]["publishers"], reports[-1]["state"]) == (1, "running")
        )
        summary = watch.summary()
        self.assertEqual((summary["jumps_forward"], summary["jumps_backward"]), (0, 0))
        self.stop(server)

    def test_wait_measures_what_it_is_asked_for(self):
        status, out, _ = self.result("wait", "--json", "--limit", "200ms")
        self.assertEqual((status, json.loads(out)["ready"]), (1, False))
        self.assertIn(json.loads(out)["reason"], ("no-publisher", "zero"))
        server = self.serve("--rate", "2", "--hz", "50")
        server.expect("time 16")
        status, out, err = self.result("wait", "--limit", "100s")
        self.assertEqual(status, 0, err)
        self.assert_no_errors(err)
        self.assertRegex(out, r"^ready: time 16000000\d\d\.\d{9}(  its time is wrong by at most \d+\.\d ms)?\n$")
        status, out, err = self.result(
            "wait", "--json", "--limit", "100s", "--min-rate", "5", "--rtf", "1.2:3"
        )
        self.assertEqual((status, err), (0, ""))
        result = json.loads(out)
        self.assertEqual((result["ready"], result["reason"], result["min_rtf"]), (True, "ready", 1.2))
        self.assertTrue(1.2 <= result["rtf"] <= 3 and result["rate_hz"] >= 5, result)
        self.assertGreaterEqual(result["observed_ns"], SECOND)
        self.until_result(
            ("wait", "--limit", "4s", "--max-rate", "1"),
            lambda status, out, err: (status, out) == (1, "") and "not ready (fast)" in err,
        )
        self.stop(server)

    def test_wait_tells_a_paused_clock_from_one_that_runs(self):
        server = self.serve("--paused")
        server.expect("time 16")
        status, out, err = self.result("wait", "--limit", "100s")
        self.assertEqual(status, 0, err)
        self.assert_no_errors(err)
        self.assertRegex(out, r"^(ready|paused): time 16")
        self.until_result(
            ("wait", "--running", "--json", "--limit", "3s"),
            lambda status, out, _: (status, json.loads(out)["reason"]) == (1, "paused"),
        )
        self.stop(server)

    def test_X7_commands_follow_what_the_environment_names(self):
        name = self.shm_name()
        server = self.serve("--no-topic", "--shm", name)
        server.expect("time 16")
        self.environment["TIMEBASE_SOURCE"] = f"shm:{name}"
        status, out, err = self.result("now", "--ros")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"^16000000\d\d\.\d{9} 2020-09-13T")
        status, out, err = self.result("sleep", "0.1s", "--ros")
        self.assertEqual(status, 0, err)
        self.stop(server)
        status, out, err = self.result("now", "--ros", "--limit", "0.1s")
        self.assertEqual(status, 1)
        self.assertIn(f"TIMEBASE_SOURCE=shm:{name}: no tick received", err)
        status, out, err = self.result("now", "--ros", "--domain", "1")
        self.assertEqual(status, 2)
        self.assertIn(f"--domain cannot be used with TIMEBASE_SOURCE=shm:{name}", err)
        self.environment["TIMEBASE_SOURCE"] = "shn:x"
        status, out, err = self.result("now", "--ros")
        self.assertEqual(status, 3)
        self.assertIn('unknown kind of source "shn"', err)

    def test_C2_the_earliest_time_is_1_ns(self):
        probe = self.run_probe()
        server = self.run_command("serve", "--paused", "--start", "0", "--no-services")
        probe.expect("two after started 0 1 1")
        self.stop(server)
        self.assertIn("starting paused, with neither a terminal nor services to resume it", server.errors[0])
        self.assertFalse(ticks_of(probe))

    def test_X9_ticks_are_on_the_grid_and_the_last_is_the_end(self):
        probe = self.run_probe()
        end = self.START + 3 * SECOND + 7
        server = self.serve("--rate", "0.75", "--hz", "40", "--until", f"{end // SECOND}.000000007")
        probe.expect(f"tick {end} ")
        self.assertEqual(server.wait(), 0, server.errors)
        self.assertRegex(server.seen[-1], r"^ended at 1600000003\.000000007 s: \d+ ticks$")
        step = SECOND * 3 // 4 // 40
        ticks = ticks_of(probe)
        self.assertGreater(len(ticks), 50)
        self.assertEqual({(time - self.START) % step for time, _ in ticks[:-1]}, {0})

    def test_only_shared_memory_and_the_time_that_remains(self):
        name = self.shm_name()
        server = self.serve("--no-topic", "--shm", name, "--paused")
        server.expect(".*paused")
        self.assertFalse(bound_addresses(server.child.pid), "it has joined a graph")
        probe = self.probe_shm(name)
        probe.write("now")
        probe.expect(f"now {self.START} ")
        status, _, err = self.result("serve", "--no-topic", "--shm", name)
        self.assertEqual(status, 3, err)
        self.assertIn("another publisher uses it", err)
        self.stop(server)
        probe.write("now")
        probe.expect(f"now {self.START} ")
        end = self.START + 1000 * SECOND
        status, out, err = self.result(
            *("serve", "--no-topic", "--shm", name, "--as-fast-as-possible", "--hz", "10"),
            *("--start", str(self.START // SECOND), "--until", str(end // SECOND)),
        )
        self.assertEqual((status, out), (0, f"ended at {end // SECOND}.000000000 s: 10001 ticks\n"), err)
        probe.write("now")
        probe.expect(f"now {end} ")

    def test_X9_topic_and_shared_memory_have_the_same_time(self):
        name = self.shm_name()
        on_topic = self.run_probe()
        server = self.serve("--hz", "20", "--shm", name)
        server.expect("time 16")
        on_shm = self.probe_shm(name)
        for probe in (on_topic, on_shm):
            for _ in range(10):
                probe.expect("tick ")
            ticks = ticks_of(probe)
            self.assertEqual({(time - self.START) % (SECOND // 20) for time, _ in ticks}, {0})
            self.assertEqual({b[0] > a[0] for a, b in zip(ticks, ticks[1:])}, {True})
        self.stop(server)

    def test_paused_it_waits_for_services_without_a_warning(self):
        server = self.serve("--paused", "--node", "clock", "--namespace", "sim")
        server.expect(".*paused")
        self.check_loopback(server)
        self.stop(server)
        self.assertFalse([line for line in server.errors if line])
        status, out, _ = self.result("serve", "--help")
        for text in ("--node NAME", "--namespace NS", "--no-services", "ros2 service call /step_simulation"):
            self.assertIn(text, out)

    def test_another_topic(self):
        server = self.serve("--topic", "/elsewhere")
        server.expect("time 16")
        status, _, err = self.result("now", "--ros", "--limit", "1s")
        self.assertEqual(status, 1)
        self.assertIn("no publisher of /clock", err)
        self.stop(server)

    def test_bad_usage_exits_2(self):
        for arguments, text in (
            (("--rate", "0"), "--rate 0: must be a number from 0.001 to 1000"),
            (("--hz", "20000"), "--hz 20000: must be from "),
            (("--hz", "40hx"), "--hz 40hx: must be from "),
            (("--hz", "40khz"), "--hz 40khz: must be from "),
            (("--sart", "5"), "unknown option --sart; did you mean --start?"),
            (("--start-time=5",), "unknown option --start-time=5\n"),
            (("--start", "soon"), "--start soon: not a time"),
            (("--start", "-1"), "--start -1: not a time"),
            (("--start", "5", "--until", "5"), "--until: must be after the start"),
            (("--step", "0"), "--step 0: must be above 0"),
            (("--no-topic",), "nothing to publish to"),
            (("--no-topic", "--shm", "x", "--topic", "/clock"), "--no-topic and --topic exclude each other"),
            (("--no-topic", "--shm", "x", "--node", "n"), "--no-topic and --node exclude each other"),
            (("--no-topic", "--shm", "x", "--namespace", "/n"), "--no-topic and --namespace exclude each other"),
            (("--no-topic", "--shm", "x", "--domain", "1"), "--no-topic and --domain exclude each other"),
            (("--no-topic", "--shm", "x", "--ros-args", "-p", "a:=1"), "--no-topic and --ros-args exclude each other"),
            (("--topic", "not a name"), "not a name"),
            (("--no-topic", "--shm", "a/b"), "a/b"),
            (("extra",), "unexpected argument 'extra'"),
            (("--node", "a-b"), "a-b"),
            (("--node", ""), "node name"),
            (("--namespace", "/a//b"), "/a//b"),
            (("--namespace",), "needs a value"),
            (("--no-services=1",), "--no-services"),
        ):
            status, out, err = self.result("serve", *arguments)
            self.assertEqual((status, out), (2, ""), arguments)
            self.assertIn(text, err)
            self.assertIn("usage: timebase serve", err)

    def test_two_publishers_of_one_topic_are_warned_of_each_other(self):
        alone = self.serve("--topic", "/other", "--node", "alone")
        first = self.serve("--node", "first")
        first.expect(r"time 16\S+ s  running  factor 1 ")
        second = self.serve("--ros-args", "-r", "__node:=second")
        first.expect_error("^timebase serve: warning: /clock is also published by /second: time will jump")
        second.expect_error("^timebase serve: warning: /clock is also published by /first: time will jump")
        for server in (alone, first, second):
            self.stop(server)
        self.assertEqual(alone.errors, [None])

    def test_a_player_is_warned_of_another_publisher(self):
        bag = bag_make(self.folder, 1_600_000_000 * SECOND, SECOND, 3000)
        server = self.serve("--node", "sim")
        server.expect(r"time 16\S+ s  running  factor 1 ")
        quiet = self.run_command("play", bag)
        alone = self.run_command("play", bag, "--clock", "--remap", "/clock:=/replay_clock")
        player = self.run_command("play", bag, "--clock")
        player.expect_error(
            "^timebase play: warning: /clock is also published by /sim: time will jump between the two; "
            "stop one of them, or give one another name \\(--remap /clock:=NAME\\) or --domain"
        )
        server.expect_error(
            "^timebase serve: warning: /clock is also published by /rosbag2_player: time will jump"
        )
        for process in (quiet, alone, player):
            process.child.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0, process.errors)
        self.stop(server)
        self.assertEqual((quiet.errors, alone.errors), ([None], [None]))

    def test_a_time_that_the_message_cannot_hold_ends_it(self):
        status, _, err = self.result("serve", "--start", "2147483647.9", "--rate", "100")
        self.assertEqual(status, 3)
        self.assertIn("/clock cannot carry", err)


class TimeTest(CommandTest):
    def test_now_prints_each_clock(self):
        before = time.time()
        status, out, _ = self.result("now")
        self.assertEqual(status, 0)
        self.assertTrue(before <= float(out.split()[0]) <= time.time())
        status, out, _ = self.result("now", "--steady")
        self.assertEqual(status, 0)
        self.assertLessEqual(float(out.split()[0]), time.monotonic())

    def test_now_and_sleep_follow_the_clock_topic(self):
        bag = bag_make(self.folder, 1_600_000_000 * SECOND, SECOND, 30000)
        player = self.run_command("play", bag, "--clock", "100", "--rate", "100")
        status, out, err = self.result("now", "--ros", "--limit", "100s")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"^16000\d\d\d\d\d\.\d{9} 2020-09-13T")
        status, _, err = self.result("sleep", "150s", "--ros", "--limit", "100s")
        self.assertEqual(status, 0, err)  # 150 s of ROS time in less
        status, _, err = self.result("sleep", "1h", "--ros", "--limit", "10s")
        self.assertEqual(status, 1)
        self.assertIn("ROS time is", err)
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)

    def test_sleep_is_never_early(self):
        began = time.monotonic()
        self.assertEqual(self.result("sleep", "50ms")[0], 0)
        self.assertGreaterEqual(time.monotonic() - began, 0.05)
        self.assertEqual(self.result("sleep", "1h", "--limit", "10ms")[0], 1)

    def test_more_participants_than_the_setting_allows_report_it(self):
        auto = "<ParticipantIndex>auto</ParticipantIndex>"
        self.environment["CYCLONEDDS_URI"] = LOOPBACK.replace(
            auto, auto + "<MaxAutoParticipantIndex>2</MaxAutoParticipantIndex>"
        )
        servers = [self.run_command("serve", "--topic", f"/clock{index}") for index in range(2)]
        for server in servers:
            server.expect("time ")
        # Cyclone DDS 0.10.2 itself loses 240 bytes of a participant that gets no index.
        self.environment["ASAN_OPTIONS"] = "detect_leaks=0"
        for arguments in (("now", "--ros", "--limit", "30s"), ("serve",), ("watch",)):
            status, out, err = self.result(*arguments)
            self.assertEqual((status, out), (3, ""), err)
            self.assertRegex(err, r"(?m)^timebase.*MaxAutoParticipantIndex.*CYCLONEDDS_URI")
        del self.environment["ASAN_OPTIONS"]
        servers[0].child.send_signal(signal.SIGINT)
        self.assertEqual(servers[0].wait(), 0, servers[0].errors)
        third = self.run_command("serve", "--topic", "/clock2")  # an index is free again
        third.expect("time ")


if __name__ == "__main__":
    BIN_DIR, PROBE, DEMO_BAG = sys.argv[1:4]
    in_parts.main([sys.argv[0], *sys.argv[4:]], 4)
