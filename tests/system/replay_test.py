#!/usr/bin/env python3
"""A running system is recorded in simulated time, sought in and replayed at 10x: the consumers' times
and jumps are right.

usage: replay_test.py BIN_DIR REPLAY_PEER REAL_BAGS [TEST...]

REAL_BAGS holds bags that rosbag2 wrote, by format; what is not there is left out.

Real processes: a simulator's clock, which is paused, stepped and reset meanwhile, nodes that follow
it, the recorder, the player, and nodes that follow that. Tests wait for lines, never for time."""

import collections
import glob
import itertools
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile

import in_parts
from command_test import LIMIT_S, SECOND, CommandTest, Process, bound_addresses
from sqlite_bag import sqlite_bag_make

START_NS = 100 * SECOND
PERIODS_NS = {"/scan": SECOND // 10, "/odom": SECOND // 25}
PLAYING, PAUSED = 1, 2  # of simulation_interfaces/msg/SimulationState

BIN_DIR = PEER = REAL_BAGS = None
TRIES = 3  # where the player's subscription may be found too late

Message = collections.namedtuple("Message", "topic number stamp_ns log_ns")
Got = collections.namedtuple("Got", "topic number stamp_ns now_ns")
Jump = collections.namedtuple("Jump", "kind before_ns after_ns delta_ns")


def decode(data):
    """Stamp and number of a std_msgs/msg/Header."""
    stamp_ns = int.from_bytes(data[4:8], "little") * SECOND + int.from_bytes(data[8:12], "little")
    return stamp_ns, int(data[16:].rstrip(b"\0"))


class ReplayTest(CommandTest):
    domains = itertools.cycle((1, 2, 3))

    def setUp(self):
        super().setUp()
        self.bag = os.path.join(self.folder, "bag")

    def command(self, *arguments):
        return [f"{BIN_DIR}/timebase", *arguments]

    def run_command(self, *arguments, status=0):
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        return done

    def peer(self, *arguments):
        return Process(self, [PEER, *arguments], self.environment, subprocess.PIPE)

    # --- recording ---

    def reach(self, robot, count):
        while int(robot.expect(r"sent (\d+)").group(1)) < count:
            pass

    def sent(self, robot):
        """How many so far; nothing is on its way when the simulation is paused for long."""
        robot.child.stdin.close()
        match = robot.expect(r"total (\d+) (\d+)")
        self.assertEqual(robot.wait(), 0, robot.errors)
        return int(match.group(1)), int(match.group(2))

    def record(self, act):
        """What the robots have sent, by topic. `act(operator, robots)` while it is recorded."""
        simulator = Process(
            self,
            self.command(
                *("serve", "--start", str(START_NS // SECOND), "--paused", "--rate", "5"),
                *("--hz", "250", "--step", "500ms"),
            ),
            self.environment,
        )
        operator = self.peer("operator")
        operator.expect("ready")
        recorder = Process(
            self,
            self.command("record", "--use-sim-time", "--all", "-o", self.bag),
            self.environment,
        )
        recorder.expect("recording to ")
        # Ticks, which are repeated until then, and not only the jump that the recorder itself writes.
        recorder.expect(r"recorded \d\d(?!.*waiting for /clock)")
        self.assertEqual(bound_addresses(recorder.child.pid) - {"0.0.0.0", "127.0.0.1"}, set())
        robots = {
            topic: self.peer("robot", topic, str(period_ns), *(["map"] if topic == "/scan" else []))
            for topic, period_ns in PERIODS_NS.items()
        }
        for robot in robots.values():
            robot.expect("matched")
        act(operator, robots)
        sent, maps = {}, 0
        for topic, robot in robots.items():
            sent[topic], more = self.sent(robot)
            maps += more
        sent["/map"] = maps
        recorder.child.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(), 0, recorder.errors)
        self.assertRegex(
            next(line for line in recorder.seen if line.startswith(self.bag)), r", 0 lost$"
        )
        simulator.child.send_signal(signal.SIGTERM)
        self.assertEqual(simulator.wait(), 0, simulator.errors)
        return sent

    def messages(self, run):
        """Of one run: (messages by log time, ticks of /clock, texts of jumps, the first log time, where
        playing begins)."""
        out = os.path.join(self.folder, f"run{run}")
        self.run_command("bag", "cut", self.bag, "--run", str(run), "-o", out, "-s", "sqlite3")
        database = sqlite3.connect(os.path.join(out, f"run{run}_0.db3"))
        try:
            rows = database.execute(
                "SELECT topics.name, timestamp, data FROM messages"
                " JOIN topics ON topics.id = topic_id ORDER BY timestamp, messages.id"
            ).fetchall()
        finally:
            database.close()
        messages, ticks, jumps = [], [], []
        for topic, log_ns, data in rows:
            if topic == "/clock":
                ticks.append(decode(data + bytes(4) + b"0")[0])
            elif topic == "/timebase/jumps":
                jumps.append(data[8:].rstrip(b"\0").decode())
            elif topic in (*PERIODS_NS, "/map"):
                stamp_ns, number = decode(data)
                messages.append(Message(topic, number, stamp_ns, log_ns))
        return messages, ticks, jumps, rows[0][1]

    # --- replay ---

    def consumer(self):
        return self.peer("consumer", *PERIODS_NS, "/map")

    def ask(self, peer, line, answer="done 1"):
        peer.write(line)
        peer.expect(answer)

    def reach_time(self, consumer, time_ns, after=None):
        """A message of that time or later has come, and before it a jump that `after` names."""
        if after:
            consumer.expect(f"jump {after} ")
        while int(consumer.expect(r"got \S+ \d+ (\d+) ").group(1)) < time_ns:
            pass

    def play(self, run, act):
        """What each of two consumers has seen: messages and jumps, in order. They are there before time has started."""
        consumers = [self.consumer(), self.consumer()]
        for consumer in consumers:
            consumer.expect("watching")
        player = Process(
            self,
            self.command(
                *("play", "--clock", "--rate", "10", "--run", str(run), "--start-paused", self.bag)
            ),
            self.environment,
        )
        for consumer in consumers:
            consumer.expect("matched")
            if not any(line.startswith("jump started ") for line in consumer.seen):
                consumer.expect("jump started ")
        self.ask(consumers[0], "resume")
        act(consumers[0])
        self.assertEqual(player.wait(), 0, player.errors)
        seen = []
        for consumer in consumers:
            consumer.child.stdin.close()
            self.assertEqual(consumer.wait(), 0, consumer.errors)
            seen.append([self.parse(line) for line in consumer.seen if line[:4] in ("got ", "jump")])
        return seen

    @staticmethod
    def parse(line):
        words = line.split()
        if words[0] == "got":
            return Got(words[1], *map(int, words[2:]))
        return Jump(words[1], *map(int, words[2:]))

    def check_stretch(self, seen, expected):
        """Exactly these messages, each at its log time or later."""
        logs = {(m.topic, m.number): m for m in expected}
        for topic in (*PERIODS_NS, "/map"):
            self.assertEqual(
                [m.number for m in seen if m.topic == topic],
                [m.number for m in expected if m.topic == topic],
            )
        for message in seen:
            recorded = logs[message.topic, message.number]
            self.assertEqual(message.stamp_ns, recorded.stamp_ns)
            self.assertGreaterEqual(message.now_ns, recorded.log_ns, message)

    def from_time(self, messages, start_ns, end_ns=None):
        """With the state of the latched topic at the start."""
        latched = [m for m in messages if m.topic == "/map" and m.log_ns < start_ns][-1:]
        later = [m for m in messages if m.log_ns >= start_ns]
        return latched + [m for m in later if end_ns is None or m.log_ns <= end_ns]

    def split_at_jumps(self, seen):
        """The jumps, and what came after each."""
        jumps, stretches = [], []
        for event in seen:
            if isinstance(event, Jump):
                jumps.append(event)
                stretches.append([])
            else:
                stretches[-1].append(event)
        return jumps, stretches

    # --- tests ---

    def run_and_reset(self, operator, robots):
        """40 s, with a pause and two steps in it; then a reset, and 10 s."""
        scan = robots["/scan"]
        self.ask(operator, f"state {PLAYING}")
        self.reach(scan, 100)
        self.ask(operator, f"state {PAUSED}")
        for _ in range(2):
            self.ask(operator, "step 1")
        self.ask(operator, f"state {PLAYING}")
        self.reach(scan, 400)
        self.ask(operator, "reset")
        self.reach(scan, 500)
        self.ask(operator, f"state {PAUSED}")

    def check_by_the_contract(self):
        """Nothing but the reset is found, and what a busy machine did: ticks that were late, and messages by more
        than 5 s, which is a second at this rate."""
        found = json.loads(self.run_command("check", self.bag, "--json", status=1).stdout)
        findings = [finding for finding in found["findings"] if finding["rule"] not in ("clock-gap", "stamp-old")]
        self.assertEqual([finding["rule"] for finding in findings], ["clock-backwards"], found["findings"])
        caused = {finding["rule"] for finding in findings[0]["caused"]}
        self.assertLessEqual(caused, {"stale-epoch"})  # of what was on its way at the reset: check_stamps
        self.assertEqual(found["log_times"]["are"], "ROS time")
        self.assertTrue(found["log_times"]["declared"])
        self.assertEqual(found["runs"], 2)
        for topic in found["topics"]:
            if topic["name"] in PERIODS_NS:
                self.assertEqual(topic["stamps_are"], "ROS time")
                self.assertGreater(topic["stamps_confidence"], 0.9)

    def test_the_real_job(self):
        sent = self.record(self.run_and_reset)
        self.assertIn("whole", self.run_command("bag", "check", self.bag).stdout)
        info = json.loads(self.run_command("bag", "info", "--json", self.bag).stdout)
        counts = {topic["name"]: topic["count"] for topic in info["topics"]}
        self.assertEqual({topic: counts[topic] for topic in sent}, sent)
        self.assertEqual(len(info["files"]), 2)
        self.check_by_the_contract()
        runs = [self.messages(run) for run in (1, 2)]
        self.check_recording(runs)
        self.check_replay_with_seeks(runs[0][0], runs[0][3])
        self.check_replay(runs[1][0], runs[1][3])
        refused = self.run_command("play", self.bag, status=2)
        self.assertIn("--run 1 to 2", refused.stderr)

    # --- real bags ---

    def content(self, bag):
        """The messages, by topic without its first slash; DDS carries them with zeros at the end, up
        to a multiple of 4 bytes."""
        plain = tempfile.mkdtemp(dir=self.folder) + "/plain"
        self.run_command("bag", "convert", bag, "-o", plain, "-s", "sqlite3")
        content = collections.defaultdict(list)
        database = sqlite3.connect(f"{plain}/plain_0.db3")
        try:
            for topic, data in database.execute(
                "SELECT topics.name, data FROM messages"
                " JOIN topics ON topics.id = topic_id ORDER BY timestamp, messages.id"
            ):
                content[topic.lstrip("/")].append(data + bytes(-len(data) % 4))
        finally:
            database.close()
        return content

    def played(self, bag, out):
        """The content of a recording of what is played."""
        recorder = Process(self, self.command("record", "--all", "-o", out), self.environment)
        recorder.expect("recording to ")
        self.run_command("play", bag, "--rate", "max", "--delay", "3")
        recorder.child.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(), 0, recorder.errors)
        return self.content(out)

    def test_real_bags_are_played_byte_for_byte(self):
        for number, bag in enumerate(sorted(glob.glob(os.path.join(REAL_BAGS, "*", "*")))):
            expected = self.content(bag)
            for attempt in range(TRIES):
                out = os.path.join(self.folder, f"played{number}_{attempt}")
                played = self.played(bag, out)
                if all(played[topic] == expected[topic] for topic in expected):
                    break
            for topic in expected:
                self.assertEqual(played[topic], expected[topic], (bag, topic))

    def test_a_bag_of_2_gb_is_played_in_bounded_memory(self):
        """2000 messages of 1 MB, which are small on the disk."""
        part = sqlite_bag_make(
            os.path.join(self.folder, "part.db3"),
            [("/a", "std_msgs/msg/String")],
            [(0, START_NS + i, b"\x00\x01\x00\x00" + bytes(1_000_000)) for i in range(100)],
        )
        arguments = ("-s", "mcap", "--chunk-compression", "zstd")
        self.run_command("bag", "convert", part, "-o", f"{self.folder}/packed", *arguments)
        big = f"{self.folder}/big"
        parts = [f"{self.folder}/packed"] * 20
        self.run_command("bag", "convert", *parts, "-o", big, *arguments)
        child = subprocess.Popen(
            self.command("play", big, "--rate", "max"),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(child.kill)
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.stdout.close()
        self.assertEqual(status, 0, output)
        self.assertRegex(output, "2000 messages")
        print(f"{usage.ru_maxrss / 1024:.0f} MB for 2 GB", flush=True)
        self.assertLess(usage.ru_maxrss, 500 * 1024)  # 64 MiB are read ahead

    # --- the recording and the replay of the real job ---

    def check_stamps(self, messages, last_tick_ns):
        """Not before their time, but for the first of a topic: they may have been on their way when
        time was set back. A busy machine takes a tick later than a message of that time, by less than
        a second, which is 5 s at this rate."""
        settled = set()
        for message in messages:
            if message.stamp_ns <= message.log_ns:
                settled.add(message.topic)
            elif message.topic not in settled or message.stamp_ns - message.log_ns > 5 * SECOND:
                self.assertNotIn(message.topic, settled, message)
                self.assertLessEqual(message.stamp_ns, last_tick_ns, message)

    def check_forward_jumps(self, ticks, jumps):
        """The jumps without those forward, each of which leads over 1 s or more from one tick to
        another: on a busy machine the recorder's clock may lose those in between."""
        kept = []
        for jump in jumps:
            pattern = r"kind=forward reason=none before_ns=(\d+) after_ns=(\d+) run=1"
            forward = re.fullmatch(pattern, jump)
            if not forward:
                kept.append(jump)
                continue
            before_ns, after_ns = map(int, forward.groups())
            self.assertGreaterEqual(after_ns - before_ns, SECOND)
            self.assertTrue({before_ns, after_ns} <= set(ticks), jump)
        return kept

    def check_recording(self, runs):
        last_tick_ns = 0
        for messages, ticks, _, _ in runs:
            self.assertEqual(ticks, sorted(ticks))
            self.assertTrue(all(tick % (SECOND // 50) == 0 for tick in ticks))
            self.check_stamps(messages, last_tick_ns)
            last_tick_ns = ticks[-1]
        for _, ticks, _, _ in runs:
            self.assertEqual(ticks[0], START_NS)
        started = f"kind=started reason=none before_ns=0 after_ns={START_NS} run=1"
        kept = self.check_forward_jumps(*runs[0][1:3])
        self.assertIn(kept, ([started], []))  # unless time was there before the recorder
        match = re.fullmatch(
            rf"kind=backward reason=none before_ns=(\d+) after_ns={START_NS} run=2", runs[1][2][0]
        )
        self.assertEqual(int(match.group(1)), runs[0][1][-1])
        self.assertEqual(len(runs[1][2]), 1)
        self.assertEqual(runs[1][3], START_NS)  # of that jump

    def check_replay(self, messages, first_ns):
        for seen in self.play(2, lambda consumer: None):
            jumps, stretches = self.split_at_jumps(seen)
            self.assertEqual([jump.kind for jump in jumps], ["started"])
            self.assertEqual(jumps[0].after_ns, first_ns)
            self.check_stretch(stretches[0], messages)

    def check_replay_with_seeks(self, messages, first_ns):
        forward_ns, back_ns = START_NS + 15 * SECOND, START_NS + 5 * SECOND + 1

        def seek(consumer):
            self.reach_time(consumer, START_NS + 2 * SECOND)
            self.ask(consumer, f"seek {forward_ns}")
            self.reach_time(consumer, forward_ns + SECOND)
            self.ask(consumer, f"seek {back_ns}")
            self.ask(consumer, f"seek {START_NS - SECOND}", "done 0")

        for seen in self.play(1, seek):
            jumps, stretches = self.split_at_jumps(seen)
            self.assertEqual([jump.kind for jump in jumps], ["started", "forward", "backward"])
            self.assertEqual([jump.after_ns for jump in jumps], [first_ns, forward_ns, back_ns])
            for jump in jumps[1:]:
                self.assertEqual(jump.delta_ns, jump.after_ns - jump.before_ns)
            self.check_until(stretches[0], messages, first_ns, jumps[1].before_ns)
            self.check_until(stretches[1], messages, forward_ns, jumps[2].before_ns)
            self.check_stretch(stretches[2], self.from_time(messages, back_ns))

    def check_until(self, seen, messages, start_ns, before_ns):
        """What had been sent when the jump came: all before the last tick, and some of its time."""
        expected = self.from_time(messages, start_ns, before_ns)
        got = {(m.topic, m.number) for m in seen}
        missing = [m for m in expected if (m.topic, m.number) not in got]
        self.assertTrue(all(m.log_ns == before_ns for m in missing), (before_ns, missing))
        self.check_stretch(seen, [m for m in expected if m not in missing])


if __name__ == "__main__":
    BIN_DIR, PEER, REAL_BAGS = sys.argv[1:4]
    in_parts.main([sys.argv[0], *sys.argv[4:]], 3)
