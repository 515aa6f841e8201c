#!/usr/bin/env python3
"""`timebase ctl` steers a player and a recorder, each another process.

usage: ctl_test.py BIN_DIR DEMO_BAG SERVICE_PEER [TEST...]

What the command sees depends on how quick discovery is: it is given a limit to wait, or run again
until it prints what it should."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import command_test
from command_test import LIMIT_S, CommandTest

BAG = PEER = None
PLAYER, RECORDER = "/rosbag2_player", "/rosbag2_recorder"


class CtlTest(CommandTest):
    domains = itertools.cycle((50, 51, 52, 53, 54))

    def player(self, *arguments):
        player = self.run_command("play", BAG, "--start-paused", *arguments)
        self.until("status", lambda status, out: f"{PLAYER}: player, paused, rate 1\n" in out)
        return player

    def recorder(self, *arguments):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.path = os.path.join(folder, "bag")
        recorder = self.run_command("record", "--all", "-o", self.path, *arguments)
        self.until("status", lambda status, out: f"{RECORDER}: recorder, recording\n" in out)
        return recorder

    def ctl(self, words):
        return self.result("ctl", *words.split(), "--limit", f"{LIMIT_S // 2}s")

    def until(self, words, is_right):
        deadline = time.monotonic() + LIMIT_S
        while True:
            status, out, err = self.ctl(words)
            if is_right(status, out):
                return status, out, err
            self.assertLess(time.monotonic(), deadline, (status, out, err))

    def named(self, words):
        """Of the player where no node is named. It waits for the node."""
        words = words if words.startswith("/") else f"{PLAYER} {words}"
        return self.ctl(f"{words} --wait {LIMIT_S // 2}s")

    def until_error(self, words, text):
        """Until it has found the node that lacks what it is asked for."""
        self.until_result(("ctl", *words.split()), lambda status, _, err: status == 1 and text in err)

    def done(self, words, out="ok"):
        node = words.split()[0]
        node = node if node.startswith("/") else PLAYER
        self.assertEqual(self.named(words), (0, f"{node}: {out}\n", ""))

    def refused(self, words, reason, node=PLAYER):
        self.assertEqual(self.named(words), (1, f"{node}: {reason}\n", ""))

    def status(self, node=PLAYER):
        """Of all nodes, among them this one."""
        status, out, err = self.until("status --json", lambda status, out: status == 0 and f'"{node}"' in out)
        self.assertEqual(err, "")
        return {line["node"]: line for line in map(json.loads, out.splitlines())}

    def test_steers_a_player(self):
        player = self.player()
        no_seek = "the time is not in the recording, or nothing is being played"
        self.until("next", lambda status, out: (status, out) == (0, f"{PLAYER}: ok\n"))  # the only one there is
        self.done("step 3", "3 played")
        self.done("burst 5", "5 played")
        self.done("seek 1700000001")
        self.refused("seek 5", no_seek)
        self.done("rate max")
        self.assertIsNone(self.status()[PLAYER]["rate"])
        self.done("rate 0.25")
        self.assertEqual(self.status()[PLAYER]["rate"], 0.25)
        self.done("resume")
        self.assertFalse(self.status()[PLAYER]["paused"])
        self.refused("step 2", "0 played, then it is not paused, or there is no next message")
        self.done("toggle")
        self.assertTrue(self.status()[PLAYER]["paused"])
        status, out, _ = self.named("burst --json")
        burst = json.loads(out)
        self.assertEqual((status, burst["node"], burst["verb"], burst["ok"]), (0, PLAYER, "burst", True))
        self.assertGreater(burst["messages"], 100)
        self.done("stop")
        self.assertEqual(player.wait(), 0, player.errors)
        self.assertTrue(player.seen[-1].startswith("stopped at "), player.seen[-1])

    def test_a_player_that_stays_is_stopped_and_plays_again(self):
        player = self.player("--keep-alive")
        self.refused("play", "it is playing already")
        self.done("stop")
        stopped = "playback is stopped; 'timebase ctl play' starts it again"
        for verb in "stop", "resume", "next", "seek 1700000001":
            self.refused(verb, stopped)
        for verb in "step 2", "burst":
            self.refused(verb, f"0 played, then {stopped}")
        self.assertIn(f"{PLAYER}: player, stopped, rate 1\n", self.ctl("status")[1])
        facts = self.status()[PLAYER]
        self.assertEqual((facts["state"], facts["paused"]), ("stopped", True))
        self.done("play")
        self.assertEqual(self.status()[PLAYER]["state"], "paused")  # as it was
        self.done("resume")
        self.assertEqual(self.status()[PLAYER]["state"], "playing")
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)

    def test_asks_in_the_form_of_the_server(self):
        """Each stands in for a server of one release, which takes no other request than its own."""
        rosbag2, none = "rosbag2_interfaces/srv/", "-"
        forms = (
            ("jazzy", "resume", "Resume", "fb988aa8fefd54ec0e79a58a51aa06101e0bcb1668dc38bbc0b4e02d6df274d9", 8, 0),
            ("humble", "resume", "Resume", none, 8, 0),
            ("time", "resume", "Resume", "dd236846a672cc19f5970e4936deda5d9e5dbc1223299f5dee50f3b128fa45a0", 12, 0),
            ("rolling", "resume", "Resume", "5520bb24aaa6559ceeca6db869c4d109899d9177eb730dbf01e6a4d1628378be", 24, 0),
            ("jazzy", "split", "SplitBagfile", "9918ae60556a6e2acce55c52f4755aa0d52ac69300aa7dac283b56008f271bdc", 8, 0),
            ("rolling", "split", "SplitBagfile", "459a71e782a92f9c3fa2235284e4dc64536b61b34c1756762731adf6dba5d6f4", 24, 0),
            ("jazzy", "play", "Play", "39c4aa78517b0d95a9361dd0a735a38dd3a4b87be5163914406de8f05c4060b4", 28, 1),
            ("rolling", "play", "Play", "ffb6caac6841bb563815b90cd588a030ab33cf442a5106f56247744fc2a0a3f5", 36, 0),
        )
        for release, verb, kind, sha256, size, code in forms:
            service = {"split": "split_bagfile"}.get(verb, verb)
            announced = none if sha256 == none else f"RIHS01_{sha256}"
            peer = command_test.Process(
                self, [PEER, "form", f"/{release}/{service}", rosbag2 + kind, announced, str(size), str(code)],
                self.environment, subprocess.PIPE)
            peer.expect("ready")
        for release, verb, *_ in forms:
            self.done(f"/{release} {verb}")

    def test_steers_a_recorder_and_tells_it_from_a_player(self):
        recorder = self.recorder("--snapshot-mode")
        self.player()
        _, out, err = self.until("pause", lambda status, _: status == 2)
        self.assertEqual(out, "")
        self.assertIn(f"{PLAYER} (player), {RECORDER} (recorder); name one", err)
        self.done(f"{RECORDER} pause")
        self.assertTrue(self.status(RECORDER)[RECORDER]["paused"])
        self.done(f"{RECORDER} resume")
        self.assertEqual(self.status(RECORDER)[RECORDER]["kind"], "recorder")
        self.assertNotIn("rate", self.status(RECORDER)[RECORDER])
        self.done(f"{RECORDER} snapshot")
        self.done(f"{RECORDER} split")
        recorder.child.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0, recorder.errors)

    def test_stops_a_recorder(self):
        """As SIGINT does, and the answer comes."""
        recorder = self.recorder()
        self.done(f"{RECORDER} stop")
        self.assertEqual(recorder.wait(), 0, recorder.errors)
        self.assertTrue(os.path.exists(os.path.join(self.path, "metadata.yaml")))
        status, _, err = self.result("bag", "info", self.path)
        self.assertEqual((status, err), (0, ""))

    def test_steers_a_simulator(self):
        server = self.run_command("serve", "--start", "1000")
        node = "/clock_server"
        self.until("status", lambda status, out: f"{node}: simulator, playing\n" in out)
        self.until("pause", lambda status, out: (status, out) == (0, f"{node}: ok\n"))  # the only one there is
        self.done(f"{node} pause")  # again
        facts = self.status(node)[node]
        self.assertEqual((facts["kind"], facts["paused"], facts["state"]), ("simulator", True, "paused"))
        before = float(self.result("now", "--ros")[1].split()[0])
        self.done(f"{node} step 50", "50 steps")  # of 10 ms each
        after = float(self.result("now", "--ros")[1].split()[0])
        self.assertAlmostEqual(after, before + 0.5, places=6)
        status, out, _ = self.named(f"{node} step --json")
        self.assertEqual((status, json.loads(out)["steps"]), (0, 1))
        self.done(f"{node} toggle")
        self.assertEqual(self.status(node)[node]["state"], "playing")
        self.refused(f"{node} step 2", "time is running, or a step is in progress; pause the simulation first", node)
        self.done(f"{node} toggle")
        self.assertEqual(self.status(node)[node]["state"], "paused")
        self.done(f"{node} reset")
        self.assertEqual(float(self.result("now", "--ros")[1].split()[0]), 1000)
        self.done(f"{node} resume")
        self.done(f"{node} stop")
        self.assertEqual(self.status(node)[node]["state"], "stopped")
        for words, text in (("rate 2", "its keys + and -"), ("seek 5", "--start, and reset"), ("burst", "it can pause, ")):
            self.until_error(words, f"{node} is a simulator (simulation_interfaces), and has no service for '{words.split()[0]}'")
            self.until_error(f"{node} {words}", text)
        server.child.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(), 0, server.errors)

    def test_a_player_has_no_reset(self):
        self.player()
        self.until_error(f"{PLAYER} reset", f"'{PLAYER}' has no service reset_simulation")

    def test_says_what_is_missing(self):
        status, out, err = self.ctl("pause")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("no player or recorder is running in this domain", err)
        status, _, err = self.ctl("/nobody pause")
        self.assertEqual(status, 1)
        self.assertIn("there is no node /nobody", err)
        self.recorder()
        self.until_error("seek 1700000001", "neither player nor recorder has a service seek")
        self.until_error("snapshot", "record with --snapshot-mode")

    def test_wrong_words(self):
        for words, message in (
            ("", "no verb given"),
            ("staus", "'staus' is not a verb; did you mean 'status'?"),
            ("pause now", "pause takes no value: 'now'"),
            ("seek", "seek: no time given"),
            ("rate", "rate: no rate given"),
            ("seek 5000000000", "seek 5000000000: after January 2038"),
            ("rate 0", "rate"),
            ("rate -1", "rate -1: must not be negative\n"),
            ("/player burst -50 --json", "burst -50: must not be negative\n"),
            ("pause -5", "-5: no such option"),
            ("/a", "no verb given: write 'timebase ctl /a VERB'; "),
            ("step 0", "step"),
            ("/player rate 1 2", "unexpected argument '2'"),
        ):
            status, out, err = self.ctl(words)
            self.assertEqual((status, out), (2, ""), words)
            self.assertTrue(err.startswith("timebase ctl: " + message), err)


if __name__ == "__main__":
    command_test.BIN_DIR, BAG, PEER = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
