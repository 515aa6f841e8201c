#!/usr/bin/env python3
"""Recordings whose time does not fit: `play --manifest` refuses them, `bag convert` warns.

usage: recording_time_test.py TIMEBASE [TEST...]"""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from sqlite_bag import sqlite_bag_make

LIMIT_S = 60
TIMEBASE = None
MS, S = 10**6, 10**9
NOW = 1_700_000_000 * S
DAY = 86_400 * S
CDR = b"\0\1\0\0"
TOPICS = [
    ("/clock", "rosgraph_msgs/msg/Clock"),
    ("/point", "geometry_msgs/msg/PointStamped"),
    ("/rosout", "rcl_interfaces/msg/Log"),
]


def time(ns):
    return struct.pack("<II", ns // S, ns % S)


def text(value):
    return struct.pack("<I", len(value) + 1) + value.encode() + b"\0"


def point(stamp_ns):
    body = time(stamp_ns) + text("laser")
    return CDR + body + b"\0" * (-len(body) % 8) + b"\0" * 24


def log(stamp_ns, name, message):
    body = time(stamp_ns) + bytes([30])
    for value in (name, message, "file.cpp", "function"):
        body += b"\0" * (-len(body) % 4) + text(value)
    return CDR + body + b"\0" * (-len(body) % 4) + struct.pack("<I", 7)


def vehicle(offset_ns=0):
    """Log times are system time; stamps are that much before it."""
    for i in range(40):
        yield 1, NOW + i * 5 * MS, point(NOW + i * 5 * MS - offset_ns)


def simulation(log_is_ros):
    for i in range(40):
        ros_ns = 100 * S + i * 5 * MS
        log_ns = ros_ns if log_is_ros else NOW + i * 10 * MS
        yield 0, log_ns, CDR + time(ros_ns)
        yield 1, log_ns, point(ros_ns)


class RecordingTimeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="timebase-recording-time-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, messages):
        return sqlite_bag_make(self.path(name + ".db3"), TOPICS, messages)

    def manifest(self, lines):
        path = self.path("m.yaml")
        with open(path, "w") as file:
            file.write("timebase_manifest: 1\n" + lines)
        return path

    def run_timebase(self, *arguments, status):
        result = subprocess.run([TIMEBASE, *arguments], stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=LIMIT_S, text=True)
        self.assertEqual(result.returncode, status, (arguments, result.stdout, result.stderr))
        return result

    def refuse(self, bag, manifest, *arguments):
        """Every mismatch has a line, and nothing else is printed."""
        result = self.run_timebase("play", bag, "--manifest", self.manifest(manifest), *arguments,
                                   status=1)
        self.assertEqual(result.stdout, "")
        lines = result.stderr.splitlines()
        for line in lines:
            self.assertTrue(line.startswith("timebase play: "), line)
        return lines

    def accept(self, bag, manifest, *arguments):
        self.run_timebase("play", bag, "--manifest", self.manifest(manifest), "--plain",
                          *arguments, status=0)

    # --- play --manifest ---

    def test_log_times_that_stamps_do_not_fit(self):
        bag = self.make("sim", simulation(log_is_ros=False))
        lines = self.refuse(bag, "mode: replay\n", "--clock")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("--clock publishes log times, which are system time", lines[0])
        self.assertIn("leave --clock out", lines[0])
        self.accept(bag, "mode: replay\n")  # with the recorded /clock

    def test_log_times_that_stamps_fit(self):
        self.accept(self.make("sim", simulation(log_is_ros=True)), "mode: replay\n", "--clock")
        self.accept(self.make("car", vehicle()), "mode: replay\n", "--clock")

    def test_a_recording_that_was_played_into_another(self):
        lines = self.refuse(self.make("car", vehicle(2 * DAY)), "mode: replay\n", "--clock")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("the time of /point is 2.000 days off", lines[0])

    def test_no_clock(self):
        lines = self.refuse(self.make("car", vehicle()), "mode: replay\n")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("nothing would publish it", lines[0])

    def test_which_clock_is_played(self):
        car, sim = self.make("car", vehicle()), self.make("sim", simulation(log_is_ros=False))
        self.accept(sim, "mode: replay\n", "--topics", "/clock", "/point")
        for arguments in (("--topics", "/point"), ("--exclude-topics", "/clock"), ("-x", "clo"),
                          ("-e", "poi")):
            lines = self.refuse(sim, "mode: replay\n", *arguments)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn("the recorded one is not chosen", lines[0])
        lines = self.refuse(sim, "mode: replay\nclock: {topic: /other}\n")
        self.assertIn("/other is declared, and nothing would publish it", lines[0])
        self.run_timebase("play", car, sim, "--manifest", self.manifest("mode: replay\n"), "--plain",
                          "--playback-duration", "0.1", status=0)

    def test_the_mode_is_vehicle(self):
        lines = self.refuse(self.make("car", vehicle()), "mode: vehicle\n", "--clock")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("mode is vehicle", lines[0])

    def test_rates_types_and_publisher(self):
        lines = self.refuse(
            self.make("car", vehicle()),
            "mode: replay\nclock: {rate: 100, factor: 1, publisher: /sim}\n"
            "topics:\n  /point: {type: sensor_msgs/msg/Imu}\n", "--clock", "50", "-r", "2")
        self.assertEqual(len(lines), 4, lines)
        for line, words in zip(lines, ["clock.publisher is /sim", "clock.factor is 1",
                                       "clock.rate is 100", "sensor_msgs/msg/Imu is declared"]):
            self.assertIn(words, line)
        self.accept(
            self.make("same", vehicle()),
            "mode: replay\nclock: {rate: 50, factor: [1, 2], publisher: /rosbag2_player}\n"
            "topics:\n  /point: {type: geometry_msgs/msg/PointStamped}\n",
            "--clock", "50", "-r", "2")

    def test_bad_manifests(self):
        bag = self.make("car", vehicle())
        result = self.run_timebase("play", bag, "--manifest", self.manifest("mode: boat\n"),
                                   status=2)
        self.assertIn("m.yaml:2:7: error: mode: ", result.stderr)
        result = self.run_timebase("play", bag, "--manifest", self.path("none.yaml"), status=3)
        self.assertIn("none.yaml", result.stderr)

    # --- convert ---

    def convert(self, *bags):
        out = self.path("out")
        result = self.run_timebase("bag", "convert", *bags, "-o", out, status=0)
        shutil.rmtree(out)
        return result.stderr

    def test_unlike_recordings(self):
        car, sim = self.make("car", vehicle()), self.make("sim", simulation(log_is_ros=True))
        old, wall = self.make("old", vehicle(2 * DAY)), self.make("wall", simulation(False))
        for pair in ((car, sim), (sim, car), (car, old), (old, car), (car, wall)):
            warning = self.convert(*pair)
            self.assertIn("recordings of different times are merged", warning, pair)
            for path in pair:
                self.assertIn(f"  {path}: log times are ", warning)

    def test_like_recordings(self):
        car, again = self.make("car", vehicle()), self.make("again", vehicle())
        sim, other = self.make("sim", simulation(True)), self.make("other", simulation(True))
        for pair in ((car, again), (sim, other)):
            self.assertEqual(self.convert(*pair), "")
        self.assertEqual(self.convert(self.make("old", vehicle(2 * DAY))), "")

    # --- check ---

    def test_sentences_of_the_log(self):
        messages = list(vehicle()) + [
            (2, NOW + 250 * MS, log(NOW, "costmap", "extrapolation into the future")),
            (2, NOW + 260 * MS, log(NOW, "costmap", "extrapolation into the future")),
            (2, NOW + 270 * MS, log(NOW, "costmap", "ready"))]
        result = self.run_timebase("check", self.make("car", messages), status=1)
        self.assertIn("warn log-evidence: costmap logs problems with time", result.stdout)
        self.assertIn("(2 times, first at 1700000000.250)", result.stdout)


if __name__ == "__main__":
    TIMEBASE = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
