#!/usr/bin/env python3
"""The options of `ros2 bag` in jazzy and kilted are options of `timebase bag`, under the same names.

usage: rosbag2_options_test.py BIN_DIR DEMO_BAG [TEST...]

`--help` after an option ends the command once the option has been read."""

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import unittest

import command_test
from command_test import CommandTest
from sqlite_bag import sqlite_bag_make

BAG = None

PLAY = """-s sqlite3|--storage mcap|-i BAG sqlite3|--input BAG|--read-ahead-queue-size 10|-r 2|--rate 2|--topics /a /b
--services /a /b|-e a|--regex a|-x a|--exclude-regex a|--exclude-topics /a /b|--exclude-services /a
--qos-profile-overrides-path x|-l|--loop|-m a:=b|--remap a:=b c:=d|--storage-config-file x|--clock|--clock 100
--clock-topics /a /b|--clock-topics-all|-d 1|--delay 1|--playback-duration 2|--playback-until-sec 3
--actions /a /b|--exclude-actions /a|--playback-until-nsec 4|--disable-keyboard-controls|-p|--start-paused|--start-offset 1|--wait-for-all-acked 10
--disable-loan-message|--log-level debug|--progress-bar 10|--progress-bar-update-rate 3
--progress-bar-separation-lines 2|--publish-service-requests|--service-requests-source client_introspection
--send-actions-as-client"""
RECORD = """/a /b|--topics /a /b|--topic-types std_msgs/msg/String|-a|--all|--all-topics|--all-services|--services /a /b
-e a|--regex a|--exclude-regex a|--exclude-topics /a|--exclude-topic-types std_msgs/msg/String
--exclude-services /a|--include-unpublished-topics|--include-hidden-topics|--no-discovery|-p 100
--polling-interval 100|--ignore-leaf-topics|--qos-profile-overrides-path x|-o x|--output x|-s mcap|--storage sqlite3
-f cdr|--serialization-format cdr|-b 1000|--max-bag-size 1000|-d 10|--max-bag-duration 10|--max-cache-size 1000
--start-paused|--disable-keyboard-controls|--use-sim-time|--node-name x|--custom-data a=b c=d|--snapshot-mode|--snapshot-duration 5
--all-actions|--actions /a /b|--exclude-actions /a
--log-level info|--storage-preset-profile zstd_fast|--storage-preset-profile fastwrite|--storage-config-file x
--compression-queue-size 1|--compression-threads 2|--compression-threads-priority 3|--compression-mode file
--compression-format zstd"""
BURST = """-s sqlite3|-i BAG sqlite3|--read-ahead-queue-size 10|--topics /a /b|--services /a /b
--qos-profile-overrides-path x|-m a:=b|--remap a:=b c:=d|--storage-config-file x|--start-offset 1|--actions /a /b|-n 5|--num-messages 5"""
INFO = "-t|--topic-name|-v|--verbose|-s mcap|--storage mcap|--sort name|--sort type|--sort count"
LIST = "-v|--verbose"
CONVERT = "-i BAG sqlite3|--input BAG|-o x.yaml|--output-options x.yaml"
REINDEX = "-s mcap|--storage sqlite3"
WITHOUT_EFFECT = {
    "play": {"-s", "--storage", "--storage-config-file", "--disable-loan-message", "--progress-bar",
             "--progress-bar-update-rate", "--progress-bar-separation-lines"},
    "record": {"-p", "--polling-interval", "--storage-config-file", "--compression-queue-size",
               "--compression-threads", "--compression-threads-priority"},
    "burst": {"-s", "--storage-config-file"},
    "info": {"-s", "--storage"},
    "list": set(),
    "convert": set(),
    "reindex": set(),
}


STRING_HEAD = b"\x00\x01\x00\x00"


class OptionsTest(CommandTest):
    domains = itertools.cycle((53, 54))

    def test_names(self):
        for verb, options in (("play", PLAY), ("record", RECORD), ("burst", BURST), ("info", INFO), ("list", LIST),
                              ("convert", CONVERT), ("reindex", REINDEX)):
            for words in (option.split() for option in re.split(r"[|\n]", options)):
                status, out, err = self.result("bag", verb, *words, "--help")
                self.assertEqual(status, 0, (verb, words, err))
                self.assertTrue(out.startswith("usage: timebase "), (verb, words))
                has_note = words[0] in WITHOUT_EFFECT[verb]
                note = rf"^timebase bag {verb}: note: --\S+ has no effect here: .+\n$"
                self.assertRegex(err, note if has_note else "^$", (verb, words))

    def test_bad_values(self):
        for words, message in (
            ("play --log-level loud x", "--log-level loud: unknown; use one of: debug, info, warn"),
            ("record -a -f xml", "--serialization-format xml: unknown; use one of: cdr"),
            ("record -a --custom-data =b", "--custom-data =b: write KEY=VALUE"),
            ("record -a --storage-preset-profile best", "--storage-preset-profile best: unknown"),
            ("record -a --snapshot-duration 5", "--snapshot-duration needs --snapshot-mode"),
            ("record -a --compression-format lz4", "--compression-format lz4 needs --compression-mode message or file"),
            ("record -a -s sqlite3 --chunk-compression zstd", "--chunk-compression compresses chunks, which files of sqlite3"),
            ("record -a --storage-preset-profile zstd_fast -s sqlite3", "--storage-preset-profile compresses chunks"),
            ("record --topics 9foo", "--topics: name '9foo', which is '/9foo' in full: must not have a part that starts with a digit"),
            ("record /a /foo//bar", "--topics: name '/foo//bar', which is '/foo//bar' in full: must not have '//'"),
            ("record --services foo:bar", "--services: name 'foo:bar', which is '/foo:bar' in full: must have only letters, digits"),
            ("record -a --exclude-actions a/", "--exclude-actions: name 'a/', which is '/a/' in full: must not end with '/'"),
            ("record --topic-types std_msgs/msg/String nonsense", "--topic-types: 'nonsense' is not a type; write package/msg/Name"),
            ("record --topic-types std_msgs/String", "--topic-types: 'std_msgs/String' is not a type"),
            ("record -a --exclude-topic-types a/msg/B/C", "--exclude-topic-types: 'a/msg/B/C' is not a type"),
            ("play x --clock -5", "timebase bag play: --clock -5: must not be negative"),
            ("play x -r 2 -50", "-50: no such option, and values must not be negative"),
            ("info -v5", "timebase bag info: -v5: no such option, and values must not be negative"),
            ("play --playback-until-sec x y", "--playback-until-sec x: not a time; write seconds since 1970"),
            ("list", "missing: storage, converter"),
            ("list plugins", "list plugins: unknown"),
        ):
            status, out, err = self.result("bag", *words.split())
            self.assertEqual((status, out), (2, ""), words)
            self.assertIn(message, err)
        status, _, err = self.result("bag", "play", BAG, "--services", "/add")
        self.assertEqual(status, 2)
        self.assertIn("has no topic /add/_service_event", err)

    def test_names_that_are_not_recorded(self):
        """As by rosbag2, the rest is played; an error is only what leaves nothing."""
        for verb in ("play", "burst"):
            rate = ("--rate", "max") if verb == "play" else ()
            for words, missing in (
                (("--topics", "/chatter", "/chater", "--exclude-topics", "none"),
                 ("--topics: .* has no topic /chater; it has /chatter", "--exclude-topics: .* has no topic none; ")),
                (("--services", "/add", "--topics", "/chatter"), ("--services: .* has no topic /add/_service_event; ",)),
                (("--services", "/add", "-e", "^/chatter$"), ("--services: .* has no topic /add/_service_event; ",)),
                (("--topics", "/chatter", "--actions", "/go", "--exclude-actions", "/run", "--exclude-services", "/add"),
                 ("--actions: .* has no action /go", "--exclude-actions: .* has no action /run",
                  "--exclude-services: .* has no topic /add/_service_event; ")),
            ):
                status, out, err = self.result("bag", verb, BAG, *words, *rate)
                self.assertEqual(status, 0, err)
                self.assertIn(": 61 messages", out)
                for text in missing:
                    self.assertRegex(err, f"(?m)^timebase bag {verb}: warning: {text}")
            status, _, err = self.result("bag", verb, BAG, "--exclude-topics", "/none", *rate)
            self.assertEqual(status, 0, err)
            self.assertIn("warning: --exclude-topics", err)
            status, out, err = self.result("bag", verb, BAG, "--topics", "/none", "--actions", "/go", *rate)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("--topics: ", err)
            self.assertNotIn("warning", err)

    def test_the_nearest_names(self):
        """Of many topics the five whose names are most alike."""
        path = os.path.join(self.folder, "many.db3")
        names = ["/scan", "/odom", "/camera/left", "/camera/right", "/camera/leaf", "/camera/lift", "/camera/lefts", "/map"]
        sqlite_bag_make(path, [(name, "std_msgs/msg/Empty") for name in names],
                        [(i, 1700000000 * 10**9, bytes((0, 1, 0, 0, 0, 0, 0, 0))) for i in range(len(names))])
        status, out, err = self.result("bag", "play", path, "--rate", "max", "--topics", "/map", "/camera/lef")
        self.assertEqual(status, 0, err)
        self.assertIn(": 1 message", out)
        nearest = re.search(r"warning: --topics: .* has no topic /camera/lef; nearest of its 8: (.*)\n", err)
        self.assertTrue(nearest, err)
        names = nearest[1].split(", ")
        self.assertEqual(set(names[:2]), {"/camera/left", "/camera/leaf"})
        self.assertEqual(set(names[2:4]), {"/camera/lift", "/camera/lefts"})
        self.assertEqual(names[4:], ["/camera/right"])

    def test_burst(self):
        """The first messages at once, without a subscription; then it is paused, or it has ended."""
        player = self.run_command("bag", "burst", "-n", "10", BAG)
        player.expect_error("10 messages sent, paused")
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)
        self.assertRegex(player.seen[-1], r"^stopped at 0\.\d+ s of 30\.00 s: 10 messages$")
        status, out, err = self.result("bag", "burst", BAG)
        self.assertEqual(status, 0)
        self.assertIn("played to the end at 30.00 s of 30.00 s: 363 messages", out)
        self.assertIn("363 messages sent\n", err)
        status, _, err = self.result("bag", "play", "-n", "1", BAG)
        self.assertEqual(status, 2)
        self.assertIn("is an option of 'timebase bag burst'", err)

    def test_a_late_node_gets_what_all_publishers_kept(self):
        """25 static transform publishers, each of which keeps one."""
        text = "std_msgs/msg/String"
        topics, first = [("/static", text), ("/last", text)], 1_600_000_000 * command_test.SECOND
        messages = [(0, first + i, STRING_HEAD + b"\x04\x00\x00\x00s%02d\x00" % i) for i in range(25)]
        messages.append((1, first + 1000 * command_test.SECOND, STRING_HEAD + b"\x01\x00\x00\x00\x00"))
        path = sqlite_bag_make(os.path.join(self.folder, "many.db3"), topics, messages)
        offer = "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE topics SET offered_qos_profiles=? WHERE id=1", (25 * offer,))
        player = self.run_command("play", path)
        self.until_result(("topic", "list", "--json"), lambda status, out, _: status == 0 and "/static" in out)
        status, out, err = self.result("topic", "echo", "/static", "-n", "25", "--duration", "60s")
        self.assertEqual((status, re.findall(r"data: '?(s\d\d)", out)), (0, [f"s{i:02}" for i in range(25)]), err)
        player.child.send_signal(signal.SIGINT)
        player.wait()

    def test_a_topic_that_ros2_cannot_have(self):
        """It is named and left out; the others are played."""
        text = STRING_HEAD + b"\x01\x00\x00\x00\x00"
        topics = [("/scan/1_2v", "std_msgs/msg/String"), ("/ok", "std_msgs/msg/String"), ("/odd", "not a type")]
        messages = [(i % 3, 1_600_000_000 * command_test.SECOND + i, text) for i in range(9)]
        path = sqlite_bag_make(os.path.join(self.folder, "odd.db3"), topics, messages)
        status, out, err = self.result("play", path, "-r", "max")
        self.assertEqual(status, 0, err)
        self.assertIn("3 messages", out)
        for name in ("/scan/1_2v", "/odd"):
            self.assertRegex(err, rf"warning: player: topic {name} is left out: ")

    def test_a_launch_file(self):
        """What is recorded: the topics of one type, with what was said of the recording."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "bag")
        recorder = self.run_command(
            "bag", "record", "--topic-types", "std_msgs/msg/String", "-o", path, "-s", "sqlite3", "--log-level",
            "info", "--custom-data", "robot=r2", "place=a=b", "--ros-args", "-r", "__node:=of_launch",
        )
        recorder.expect("recording to")
        self.until_result(("nodes",), lambda status, out, _: "/of_launch" in out)
        player = self.run_command(
            "bag", "play", "-i", BAG, "sqlite3", "-p", "--delay", "0.1", "-r", "20", "--disable-keyboard-controls",
            "--ros-args", "-r", "__ns:=/front",
        )
        self.until_result(("topic", "list", "--json"), lambda status, out, _: status == 0 and {
            one["topic"] for one in json.loads(out) if one["subscribers"]} >= {"/chatter", "/map_name"})
        status, _, err = self.result("ctl", "/front/rosbag2_player", "resume", "--wait", "60s", "--limit", "60s")
        self.assertEqual(status, 0, err)
        self.assertEqual(player.wait(), 0, player.errors)
        recorder.child.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0, recorder.errors)
        status, out, _ = self.result("bag", "info", "--json", "-v", path)
        info = json.loads(out)
        self.assertEqual(status, 0)
        self.assertEqual({topic["name"]: topic["count"] for topic in info["topics"]}, {"/chatter": 61, "/map_name": 1})
        self.assertGreater(sum(topic["size"] for topic in info["topics"]), 500)
        latched = next(topic for topic in info["topics"] if topic["name"] == "/map_name")
        self.assertEqual(latched["qos"]["durability"], "transient_local")
        status, out, _ = self.result("bag", "info", path)
        self.assertIn("robot: r2", out)
        self.assertIn("place: a=b", out)
        self.assertEqual(sorted(self.result("bag", "info", "-t", path)[1].split()), ["/chatter", "/map_name"])
        status, out, err = self.result("bag", "info", "-t", "-v", path)
        self.assertEqual((status, err), (0, "timebase bag info: warning: -t is ignored with -v\n"))
        self.assertIn("robot: r2", out)
        self.assertEqual(self.result("bag", "list", "storage")[1], "mcap\nrosbag1\nsqlite3\n")

    def test_names_as_the_node_means_them(self):
        """What begins with ~ is below the recorder's own name."""
        path = os.path.join(self.folder, "own")
        recorder = self.run_command("bag", "record", "--topics", "~/own", "plain", "-o", path)
        recorder.expect("recording to")
        for topic in "/rosbag2_recorder/own", "/plain":
            pub = self.run_command("topic", "pub", "-t", "3", "-r", "50", topic, "std_msgs/msg/String", "data: here")
            self.assertEqual(pub.wait(), 0, pub.errors)
        recorder.child.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0, recorder.errors)
        topics = json.loads(self.result("bag", "info", "--json", path)[1])["topics"]
        self.assertEqual({topic["name"] for topic in topics}, {"/rosbag2_recorder/own", "/plain"})

    def test_actions(self):
        """What belongs to an action is recorded by its name."""
        path = os.path.join(self.folder, "of_action")
        recorder = self.run_command("bag", "record", "--actions", "go", "-o", path)
        recorder.expect("recording to")
        pub = self.run_command("topic", "pub", "-t", "5", "-r", "50", "/go/_action/feedback", "std_msgs/msg/String",
                               "data: here")
        self.assertEqual(pub.wait(), 0, pub.errors)
        recorder.child.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0, recorder.errors)
        topic, = json.loads(self.result("bag", "info", "--json", path)[1])["topics"]
        self.assertEqual(topic["name"], "/go/_action/feedback")
        self.assertGreater(topic["count"], 0)
        status, out, err = self.result("bag", "play", path, "--actions", "/go", "--rate", "max")
        self.assertEqual(status, 0, err)
        self.assertIn(f"{topic['count']} message", out)
        for words, message in ((("--actions", "/run"), "--actions: .* has no action /run"),
                               (("--exclude-actions", "go"), "no topic of .* is left")):
            status, _, err = self.result("bag", "play", path, *words)
            self.assertEqual(status, 2)
            self.assertRegex(err, message)


if __name__ == "__main__":
    command_test.BIN_DIR, BAG = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
