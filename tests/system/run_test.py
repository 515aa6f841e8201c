#!/usr/bin/env python3
"""`timebase run`: a command on a shared time, and one time for those who follow a page and those on /clock.

usage: run_test.py BIN_DIR CLOCK_PROBE [TEST...]"""

import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import command_test
from command_test import LIMIT_S, SECOND, CommandTest, Process, bag_make


class RunTest(CommandTest):
    domains = itertools.cycle((33, 34))

    def shm_name(self, name=None):
        """A name for shared memory, whose files are removed with the test."""
        name = name or f"run-test-{os.getpid()}-{self.domain}"
        for prefix in ("timebase", "timebase-wake1"):
            path = f"/dev/shm/{prefix}.{name}"
            self.addCleanup(lambda path=path: os.path.exists(path) and os.unlink(path))
        return name

    def serve(self, *arguments):
        server = self.run_command("serve", "--start", "1000", *arguments)
        server.expect("time 1")
        return server

    def run_shm(self, name, *words):
        return self.result("run", "--source", f"shm:{name}", *words)

    def run_followed(self, *words):
        """The probe, started by `timebase run`."""
        arguments = [f"{command_test.BIN_DIR}/timebase", "run", *words, "--", command_test.PROBE]
        probe = Process(self, arguments, self.environment, subprocess.PIPE)
        self.addCleanup(lambda: probe.child.stdin.closed or probe.child.stdin.close())  # ends the probe
        probe.expect("ready")
        return probe

    def now_of(self, probe):
        probe.write("now")
        return int(probe.expect(r"now (\d+)").group(1))


class CommandOfRunTest(RunTest):
    def test_the_exit_status_is_that_of_the_command(self):
        name = self.shm_name()
        for words, expected in (
            (("true",), 0),
            (("sh", "-c", "exit 7"), 7),
            (("sh", "-c", "kill -9 $$"), 128 + 9),
            (("/nonexistent/program",), 127),
            (("/etc/passwd",), 126),
        ):
            status, _, err = self.run_shm(name, "--", *words)
            self.assertEqual(status, expected, err)

    def test_signals_are_passed_on(self):
        name = self.shm_name()
        script = 'trap "echo term; exit 9" TERM; trap "echo usr1" USR1; echo ready; while :; do sleep 0.05; done'
        for forwarded, line in ((signal.SIGUSR1, "usr1"), (signal.SIGTERM, "term")):
            child = self.run_command("run", "--source", f"shm:{name}", "--", "sh", "-c", script)
            child.expect("ready")
            child.child.send_signal(forwarded)
            child.expect(line)
            if forwarded != signal.SIGTERM:
                child.child.send_signal(signal.SIGTERM)
            self.assertEqual(child.wait(), 9)

    def test_the_command_has_the_signals_of_the_caller(self):
        status, out, err = self.run_shm(self.shm_name(), "--", "sh", "-c", "grep -E 'SigBlk|SigIgn' /proc/self/status")
        self.assertEqual(status, 0, err)
        blocked, ignored = (int(line.split()[1], 16) for line in out.splitlines())
        self.assertEqual(blocked, 0)
        self.assertEqual(ignored & 1 << (signal.SIGPIPE - 1), 0)

    def test_wrong_usage(self):
        for words, text in (
            (("--source", "foo", "--", "true"), "expected shm:NAME, clock_topic or extrapolating"),
            (("--", "true"), "missing --source"),
            (("--source", "shm:a"), "missing command"),
            (("--source", "shm:a", "--print-env", "--", "true"), "--print-env takes no command"),
            (("--source", "clock_topic", "--print-env"), "needs --source shm:NAME"),
            (("--source", "clock_topic", "--domain", "7", "--print-env"), f"and use --source shm:clock_topic-{os.geteuid()}-7"),
            (("--source", "shm:a", "--node", "/a", "--", "true"), "--node needs --require"),
            (("--source", "shm:a", "--json", "--", "true"), "--json needs --check"),
            (("--source", "shm:a", "--name", "b", "--", "true"), "--name is for"),
            (("--source", "shm:a", "--domain", "1", "--", "true"), "--domain is for"),
        ):
            status, _, err = self.result("run", *words)
            self.assertEqual(status, 2, err)
            self.assertIn(text, err)

    def test_settings_for_a_shell(self):
        name = self.shm_name()
        before = "it's $(false) \"two\\"  # no such libraries: the loader leaves them out
        self.environment["LD_PRELOAD"] = before
        command = shlex.quote(f"{command_test.BIN_DIR}/timebase")
        script = f'eval "$({command} run --source shm:{name} --print-env)"; printf "%s\\n%s" "$TIMEBASE_SOURCE" "$LD_PRELOAD"'
        done = subprocess.run(["sh", "-c", script], env=self.environment, capture_output=True, text=True, timeout=LIMIT_S)
        source, preload = done.stdout.split("\n")
        self.assertEqual((done.returncode, source), (0, f"shm:{name}"), done.stderr)
        self.assertRegex(preload, f"^(/[^ ]+:)?{re.escape(before)}$")
        self.assertFalse(os.path.exists(f"/dev/shm/timebase.{name}"))

    def test_a_time_that_cannot_be_had_is_refused_before_the_start(self):
        name = self.shm_name()
        with open(f"/dev/shm/timebase.{name}", "wb") as page:
            page.write(b"no page " * 512)
        started = os.path.join(self.folder, "started")
        for words, expected, text in (
            (("--source", "shm:a/b"), 2, '--source shm:a/b: shared-memory name "a/b": use 1 to 64 letters'),
            (("--source", "shm:a/b", "--print-env"), 2, '--source shm:a/b: shared-memory name "a/b"'),
            (("--source", "clock_topic", "--name", "a/b"), 2, 'shared-memory name "a/b"'),
            (("--source", f"shm:{name}"), 3, "it is not a timebase page; remove it or choose another name"),
        ):
            words = words if "--print-env" in words else (*words, "--", "touch", started)
            status, out, err = self.result("run", *words)
            self.assertEqual((status, out), (expected, ""), err)
            self.assertIn(text, err)
        self.environment["TIMEBASE_SOURCE"] = "shm:.a"
        self.assertEqual(self.result("run", "--", "touch", started)[0], 2)
        self.assertFalse(os.path.exists(started))

    def test_a_required_time_has_begun(self):
        name = self.shm_name()
        timebase = f"{command_test.BIN_DIR}/timebase"
        sleep = ("--", timebase, "sleep", "--ros", "1000s")
        for _ in range(2):  # the second time after a publisher, too
            child = self.run_command("run", "--source", f"shm:{name}", "--require", "--limit", "1s", *sleep)
            child.expect_error(f"note: shm:{name} has no publisher yet: .*'timebase serve --shm {name}'")
            self.assertEqual(child.wait(), 1, child.errors)
            child.expect_error("timebase run: the time has no publisher$")
            server = self.serve("--no-topic", "--shm", name)
            server.child.send_signal(signal.SIGINT)
            self.assertEqual(server.wait(), 0, server.errors)

    def test_a_time_that_is_taken(self):
        name = self.shm_name()
        self.serve("--no-topic", "--shm", name)
        timebase = f"{command_test.BIN_DIR}/timebase"
        status, _, err = self.run_shm(name, "--require", "--", timebase, "sleep", "--ros", "500ms")
        self.assertEqual(status, 0, err)
        status, _, err = self.run_shm(name, "--require", "--", "sh", "-c", f"{timebase} sleep --ros 500ms & wait; exit 5")
        self.assertEqual(status, 5, err)  # by a process that the command has started
        self.environment["TIMEBASE_SOURCE"] = f"shm:{name}"
        status, out, err = self.result("run", "--", timebase, "now", "--ros")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"^1\d\d\d\.\d{9} ")

    def test_a_command_that_a_signal_ends_has_its_status(self):
        name = self.shm_name()
        wait = ("sh", "-c", "echo begun; exec sleep 1000")
        for number in signal.SIGTERM, signal.SIGINT:
            child = self.run_command("run", "--source", f"shm:{name}", "--require", "--limit", "60s", "--", *wait)
            child.expect("begun")
            child.child.send_signal(number)
            self.assertEqual(child.wait(), 128 + number)
            self.assertNotIn("no process", str(child.errors))
        status, _, err = self.run_shm(name, "--require", "--", "sh", "-c", "kill -SEGV $$")
        self.assertEqual(status, 128 + signal.SIGSEGV, err)
        self.assertIn("before it ended", err)

    def test_a_time_that_is_not_taken(self):
        name = self.shm_name()
        status, _, err = self.run_shm(name, "--require", "--limit", "100ms", "--", "sleep", "1000")
        self.assertEqual(status, 1, err)
        self.assertIn(f"no process of sleep has taken the time of shm:{name} within 100ms\n", err)
        self.assertIn("the time has no publisher", err)
        self.serve("--no-topic", "--shm", name)
        # Long enough that sleep runs: before that, its process has the caller's environment.
        status, _, err = self.run_shm(name, "--require", "--limit", "3s", "--", "sleep", "1000")
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"(uses timebase|uses rcl)")
        status, _, err = self.run_shm(name, "--require", "--", "true")
        self.assertEqual(status, 1, err)
        self.assertIn("before it ended", err)
        setuid = os.path.join(self.folder, "sleep")
        shutil.copy("/bin/sleep", setuid)
        os.chmod(setuid, 0o4755)
        status, _, err = self.run_shm(name, "--require", "--limit", "100ms", "--", setuid, "1000")
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"sleep( \(process \d+\))? is setuid or setgid")
        headers = subprocess.run(["readelf", "-l", "/sbin/ldconfig"], capture_output=True, text=True, timeout=LIMIT_S)
        if headers.returncode == 0 and "INTERP" not in headers.stdout:
            status, _, err = self.run_shm(name, "--require", "--", "/sbin/ldconfig", "-p")
            self.assertEqual(status, 1, err)
            self.assertRegex(err, r"ldconfig( \(process \d+\))? is linked statically")
        status, _, err = self.run_shm(name, "--limit", "100ms", "--", "sh", "-c", "sleep 3; exit 6")
        self.assertEqual(status, 6, err)
        self.assertIn("note: no process of sh has taken the time", err)


class RelayTest(RunTest):
    def relay_name(self, kind):
        return self.shm_name(f"{kind}-{os.geteuid()}-{self.domain}")

    def wait_until(self, probe, time_ns):
        deadline = time.monotonic() + LIMIT_S
        while self.now_of(probe) < time_ns:
            self.assertLess(time.monotonic(), deadline)

    def check_source(self, kind):
        self.relay_name(kind)
        probe = self.run_followed("--source", kind)
        self.serve()
        probe.expect("two after started")
        self.wait_until(probe, 1001 * SECOND)
        # a machine that is busy just when the next stretch of a time that runs on is published may cost one
        jumps = [line for line in probe.seen if line.startswith("two after backward") or " change " in line]
        self.assertLessEqual(len(jumps), 1 if kind == "extrapolating" else 0, probe.seen)
        now = self.now_of(probe)
        _, out, _ = self.result("now", "--ros")
        self.assertLess(now, float(out.split()[0]) * SECOND)

    def test_clock_topic(self):
        self.check_source("clock_topic")

    def test_extrapolating(self):
        self.check_source("extrapolating")

    def test_another_command_takes_the_relay_over(self):
        name = self.relay_name("clock_topic")
        first = self.run_followed("--source", "clock_topic")
        second = self.run_followed("--source", "clock_topic")
        self.serve()
        first.expect("two after started")
        second.expect("two after started")
        first.child.stdin.close()  # ends the probe, and with it the relay
        self.assertEqual(first.wait(), 0, first.errors)
        second.expect(".* after .*change")
        second.expect("two after started")
        self.wait_until(second, self.now_of(second) + SECOND)
        self.assertTrue(os.path.exists(f"/dev/shm/timebase.{name}"))

    def test_a_relay_that_cannot_follow_leaves_the_name(self):
        self.relay_name("clock_topic")
        first = self.run_followed("--source", "clock_topic")
        sound, self.environment = self.environment, dict(self.environment, CYCLONEDDS_URI="<none")
        second = self.run_command("run", "--source", "clock_topic", "--", "sh", "-c", "echo started; exec sleep 1000")
        self.environment = sound
        second.expect("started")
        first.child.stdin.close()
        self.assertEqual(first.wait(), 0, first.errors)
        second.expect_error("^timebase run: ")
        third = self.run_followed("--source", "clock_topic")
        self.serve()
        third.expect("two after started")
        second.child.send_signal(signal.SIGTERM)
        self.assertEqual(second.wait(), 128 + signal.SIGTERM)

    def test_a_pause_of_the_topic_is_one_of_the_page(self):
        self.relay_name("clock_topic")
        probe = self.run_followed("--source", "clock_topic")
        self.serve("--paused")
        probe.expect("two after started")
        deadline = time.monotonic() + LIMIT_S
        state = None
        while state != 7 and time.monotonic() < deadline:  # TB_CLOCK_PAUSED
            probe.write("now")
            time_ns, state = map(int, probe.expect(r"now (\d+) (\d+)").groups())
            self.assertIn(time_ns, (0, 1000 * SECOND))
        self.assertEqual(state, 7)


class OneTimeTest(RunTest):
    """Followers of both kinds."""

    START = 1_600_000_000 * SECOND

    def follow(self, name):
        on_page = self.run_followed("--source", f"shm:{name}")
        on_topic = Process(self, [command_test.PROBE], self.environment, subprocess.PIPE)
        on_topic.expect("ready")
        return on_page, on_topic

    def test_a_served_time(self):
        name = self.shm_name()
        probes = self.follow(name)
        self.serve("--shm", name, "--hz", "20")
        for probe in probes:
            probe.expect("two after started")
        for probe in probes:
            probe.expect_tick(1001 * SECOND)
        for _ in range(command_test.TRIES):  # the machine may be busy between the two questions
            times = [self.now_of(probe) for probe in probes]
            if abs(times[0] - times[1]) <= SECOND // 20:
                return
        self.fail(f"two times: {times}")

    def test_a_played_time_loops_once_for_each(self):
        name = self.shm_name()
        bag = bag_make(tempfile.mkdtemp(dir=self.folder), self.START, SECOND // 10, 11)
        end = self.START + SECOND
        probes = self.follow(name)
        player = self.run_command("play", bag, "--shm", name, "--loop")
        for probe in probes:
            probe.expect("two after started")
            probe.expect(f"two after backward {end} {self.START} ")
            probe.expect(f"two after backward {end} {self.START} ")
        player.child.send_signal(signal.SIGINT)
        self.assertEqual(player.wait(), 0, player.errors)
        loops = [len([line for line in probe.seen if line.startswith("two after backward")]) for probe in probes]
        self.assertTrue(all(2 <= count <= 3 for count in loops), loops)  # a third one where the signal came late

    def test_a_played_time_in_shared_memory_alone(self):
        name = self.shm_name()
        bag = bag_make(tempfile.mkdtemp(dir=self.folder), self.START, SECOND // 10, 11)
        on_page, on_topic = self.follow(name)
        player = self.run_command("play", bag, "--shm", name, "--no-clock-topic")
        on_page.expect("two after started")
        self.assertEqual(player.wait(), 0, player.errors)
        self.assertEqual(self.now_of(on_page), self.START + SECOND)
        self.assertEqual(self.now_of(on_topic), 0)
        status, _, err = self.result("play", bag, "--no-clock-topic")
        self.assertEqual(status, 2, err)
        self.assertIn("--no-clock-topic needs --shm NAME", err)


if __name__ == "__main__":
    command_test.BIN_DIR, command_test.PROBE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
