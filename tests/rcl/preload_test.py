#!/usr/bin/env python3
"""preload_test LIBRARY TIMEBASE PUBLISHER HOST CLIENT...: programs with libtimebase-rcl.so preloaded, whose librcl is
loaded RTLD_LOCAL."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from publishing import Publisher, remove_page

LIBRARY, TIMEBASE, PUBLISHER, HOST = sys.argv[1:5]
CLIENTS = {os.path.basename(path).removeprefix("librcl_client_").removesuffix(".so"): path for path in sys.argv[5:]}
S = 1_000_000_000


def start(release, scenario, source=None, **more):
    environment = dict(os.environ, LD_PRELOAD=LIBRARY, **more)
    environment.pop("TIMEBASE_SOURCE", None)
    if source:
        environment["TIMEBASE_SOURCE"] = source
    return subprocess.Popen([HOST, CLIENTS[release], scenario], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process):
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0, (process.returncode, out, err)
    return out.splitlines(), err.splitlines()


def run(*arguments, **more):
    return finish(start(*arguments, **more))


class Preload(unittest.TestCase):
    def setUp(self):
        self.name = f"rcl-preload-{os.getpid()}"
        self.source = f"shm:{self.name}"
        self.publisher = Publisher(PUBLISHER, self.name)

    def tearDown(self):
        if self.publisher:
            self.publisher.close()
        remove_page(self.name)

    def test_follows_in_each_release(self):
        self.publisher.publish(7 * S)
        for release in CLIENTS:
            if release != "unknown":
                out, err = run(release, "now", self.source)
                self.assertEqual(out, ["init 0", f"now 0 {7 * S}", "fini 0"], release)
                self.assertEqual(err, [])

    def test_without_a_source_all_is_as_in_plain_rcl(self):
        plain = ["init 0", "enabled 0", "now 0 -5", "now 0 -5", "fini 0"]
        for source in (None, ""):
            self.assertEqual(run("jazzy", "plain", source), (plain, []))
        out, err = run("jazzy", "plain", "extrapolating:x")
        self.assertEqual(out, plain)
        self.assertEqual(len(err), 1)
        self.assertRegex(err[0], "^timebase-rcl: nodes keep their own time: TIMEBASE_SOURCE=extra")

    def test_unknown_release_is_left_alone_with_a_note(self):
        out, err = run("unknown", "plain", self.source)
        self.assertEqual(out, ["init 0", "enabled 0", "now 0 -5", "now 0 -5", "fini 0"])
        self.assertEqual(len(err), 1)
        self.assertRegex(err[0], r"^timebase-rcl: nodes keep their own time: .*rcl 11\.0\.0")

    def test_a_time_that_cannot_be_opened_leaves_the_node_as_it_would_be(self):
        other = f"{self.name}-other"
        with open(f"/dev/shm/timebase.{other}", "wb") as file:
            file.write(b"no page " * 512)
        self.addCleanup(remove_page, other)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            for source, reason in (("shm:/no/name", "use 1 to 64 letters"), (f"shm:{other}", "not a timebase page")):
                out, err = run("jazzy", "plain", source, TIMEBASE_RCL_REPORT=path)
                self.assertEqual(out, ["init 0", "enabled 0", "now 0 -5", "now 0 -5", "fini 0"])
                self.assertEqual(len(err), 2)
                self.assertRegex(err[0], f"^timebase-rcl: TIMEBASE_SOURCE={source}.*{reason}")
                self.assertRegex(err[1], f"^timebase-rcl: nodes keep their own time: {source} cannot be used: ")
            with open(path, encoding="ascii") as file:
                reports = [json.loads(line) for line in file]
        self.assertEqual([report["event"] for report in reports], ["left_alone"] * 2)
        for report in reports:
            self.assertRegex(report["reason"], "the time cannot be opened: ")
            self.assertEqual((report["functions"], report["ros_clocks"]), ([], 0))

    def test_constructor_of_a_library_that_is_being_loaded(self):
        self.publisher.publish(7 * S)
        for when in ("first", "found"):
            out, err = run("jazzy", "now", self.source, CLIENT_USES_RCL_WHILE_LOADED=when)
            self.assertEqual(out, ["constructor 0", "beside", "init 0", f"now 0 {7 * S}", "fini 0"])
            self.assertEqual(err, [])

    def test_use_sim_time_is_noted_once(self):
        out, err = run("jazzy", "sim-time", self.source)
        self.assertEqual(out, ["init 0", "fini 0"])
        self.assertEqual(len(err), 1)
        self.assertRegex(err[0], "use_sim_time.*" + self.source)

    def test_clocks_that_end_after_main(self):
        self.publisher.publish(1)
        self.publisher.start_jumps()
        for _ in range(10):
            out, err = run("jazzy", "after-main", self.source)
            self.assertEqual((out, err), (["init 0", "fini 0", "after main 0 0"], []))
        self.publisher.process.stdin.close()
        self.publisher.process.wait()
        self.publisher.process.stdout.close()
        self.publisher = None

    def test_nothing_is_triggered_after_the_end_of_librcl(self):
        self.publisher.publish(1)
        self.publisher.start_jumps()
        for _ in range(5):
            out, err = run("jazzy", "spinning", self.source, STANDIN_LINGER="1")
            self.assertEqual((out, err), (["init 0"], []))
        self.publisher.process.stdin.close()
        self.publisher.process.wait()
        self.publisher.process.stdout.close()
        self.publisher = None

    def test_killed_publisher_stops_time_and_the_next_one_resumes_it(self):
        self.publisher.publish(100 * S)
        process = start("jazzy", "timer", self.source)
        self.assertEqual(process.stdout.readline(), "init 0\n")
        self.assertEqual(process.stdout.readline(), f"waits from {100 * S}\n")
        self.publisher.publish(105 * S)
        self.publisher.kill()
        self.publisher = Publisher(PUBLISHER, self.name)
        self.assertIsNone(process.poll())
        # Until its first tick the new publisher's time is not set: seen so, the timer starts again from zero.
        self.publisher.publish(106 * S)
        self.publisher.publish(110 * S)
        out, _ = finish(process)
        self.assertIn(out, ([f"now 0 {time_s * S}", "fini 0"] for time_s in (106, 110)))

    def test_wall_timers_are_on_the_shared_time_if_that_is_asked_for(self):
        self.publisher.publish(100 * S)
        for release in ("jazzy", "rolling"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "report")
                process = start(release, "wall-timer", self.source, TIMEBASE_WALL_TIMERS="1", TIMEBASE_RCL_REPORT=path)
                self.assertEqual(process.stdout.readline(), "init 0\n")
                self.assertEqual(process.stdout.readline(), f"waits from {100 * S}\n")
                self.publisher.publish(110 * S)
                self.assertEqual(finish(process), ([f"now 0 {110 * S}", "fini 0"], []))
                self.publisher.publish(100 * S)
                self.assertEqual(run(release, "wall-timer-made", self.source, TIMEBASE_RCL_REPORT=path)[0],
                                 ["init 0", "timer 0", "fini 0"])
                with open(path, encoding="ascii") as file:
                    ends = [report for report in map(json.loads, file) if report["event"] == "exit"]
            self.assertEqual([(end["ros_timers_made"], end["wall_timers_made"], end["wall_timers_on_shared_time"])
                              for end in ends], [(0, 1, 1), (0, 1, 0)])

    def test_report_has_a_line_at_the_first_clock_and_at_the_end(self):
        self.publisher.publish(7 * S)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            second = os.path.join(folder, "second")
            run("kilted", "now", self.source, TIMEBASE_RCL_REPORT=f"{path}:{second}")
            run("unknown", "plain", self.source, TIMEBASE_RCL_REPORT=path)
            run("jazzy", "plain", None, TIMEBASE_RCL_REPORT=path)
            with open(path, encoding="ascii") as file:
                lines = [json.loads(line) for line in file]
            with open(second, encoding="ascii") as file:
                self.assertEqual([json.loads(line) for line in file], lines[:2])
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)  # without a reader
            _, err = run("kilted", "now", self.source, TIMEBASE_RCL_REPORT=pipe)
            self.assertRegex(err[0], "TIMEBASE_RCL_REPORT=.* cannot be written: No such device")
            _, err = run("kilted", "now", self.source, TIMEBASE_RCL_REPORT=folder)
        self.assertEqual(len(err), 2)
        self.assertRegex(err[0], "TIMEBASE_RCL_REPORT=.* cannot be written: Is a directory")
        first, last, unknown = lines
        self.assertEqual([line["event"] for line in lines], ["first_clock", "exit", "left_alone"])
        self.assertEqual(first["pid"], last["pid"])
        self.assertEqual(os.path.basename(first["program"]), os.path.basename(HOST))
        self.assertEqual(first["command"], f"{HOST} {CLIENTS['kilted']} now"[:511])
        self.assertEqual((first["rcl"], first["rcl_version"]), ("kilted", "10.1.4"))
        self.assertEqual(first["source"], self.source)
        self.assertEqual((first["ros_clocks"], last["ros_clocks"], last["ros_clocks_made"]), (1, 0, 1))
        self.assertIn("rcl_clock_get_now", first["functions"])
        self.assertEqual((unknown["rcl"], unknown["functions"], unknown["ros_clocks"]), (None, [], 0))
        self.assertEqual(first["reason"], "")
        self.assertRegex(unknown["reason"], r"rcl 11\.0\.0")

    def run_command(self, release, scenario):
        command = [TIMEBASE, "run", "--source", self.source, "--require", "--check", "--json", "--", HOST, CLIENTS[release],
                   scenario]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        reports = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        return result.returncode, [(report["event"], report["rcl"]) for report in reports], result.stderr

    @unittest.skipUnless(TIMEBASE, "built without the command")
    def test_timebase_run_finds_the_library_and_its_reports(self):
        self.publisher.publish(7 * S)
        status, reports, err = self.run_command("rolling", "now")
        self.assertEqual((status, reports, err), (0, [("first_clock", "rolling"), ("exit", "rolling")], ""))
        status, reports, err = self.run_command("unknown", "plain")
        self.assertEqual((status, reports), (1, [("left_alone", None)]))
        self.assertRegex(err, r"(?s)no process of .* has taken the time.* was left alone: .*rcl 11\.0\.0")

    @unittest.skipUnless(TIMEBASE, "built without the command")
    def test_timebase_run_reads_reports_beside_those_of_a_user(self):
        self.publisher.publish(7 * S)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            outer = [TIMEBASE, "run", "--source", self.source, "--check", "--"]
            result = subprocess.run([*outer, *outer, HOST, CLIENTS["rolling"], "now"], capture_output=True, text=True,
                                    timeout=60, check=True, env=dict(os.environ, TIMEBASE_RCL_REPORT=path))
            with open(path, encoding="ascii") as file:
                self.assertEqual([json.loads(line)["event"] for line in file], ["first_clock", "exit"])
        self.assertEqual(result.stderr, "")
        line = f"  follows {self.source}: 1 ROS clock, of rcl rolling 10.5.1\n"
        self.assertEqual(result.stdout.count(line), 2, result.stdout)  # of the inner command, and of the outer one

    def test_needs_only_the_c_library_and_exports_only_rcl(self):
        dynamic = subprocess.run(["readelf", "-dW", LIBRARY], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*?)\.so", dynamic))
        self.assertLessEqual(needed, {"libc", "libm", "libpthread", "libdl", "ld-linux-x86-64", "ld-linux-aarch64"})
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True,
                                 check=True).stdout
        names = sorted(line.split()[-1] for line in symbols.splitlines())
        self.assertEqual(len(names), 21)
        for name in names:
            self.assertRegex(name, "^rcl_(ros_)?(clock|timer|node)_|^rcl_.*_ros_time_override$")
        undefined = subprocess.run(["nm", "-D", "--undefined-only", LIBRARY], capture_output=True, text=True,
                                   check=True).stdout
        self.assertNotRegex(undefined, r"\b(rcl|rcutils|Py|dds|__cxa_throw|__gxx)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
