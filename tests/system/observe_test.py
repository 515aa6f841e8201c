#!/usr/bin/env python3
"""`timebase observe` and publishers with each fault that it is to show, and near misses.

usage: observe_test.py BIN_DIR OBSERVE_PEER [TEST...]

What it reports comes once a second: tests wait for the report that has what they sent."""

import itertools
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import command_test
from command_test import LIMIT_S, LOOPBACK, SECOND, CommandTest, Process

PEER = None
STAMPS = ("zero", "future", "system_time", "far_off", "stale_epoch", "old", "backward", "equal")


NO_PARSER = 77
PARSE_OPENMETRICS = f"""
import sys
try:
    from prometheus_client.openmetrics import parser
except ImportError:
    sys.exit({NO_PARSER})
for family in parser.text_string_to_metric_families(sys.stdin.read()):
    print(family.name)
"""


class ObserveTest(CommandTest):
    domains = itertools.cycle((84, 85, 86, 87))

    def peer(self, *commands, **environment):
        process = Process(self, [PEER], {**self.environment, **environment}, subprocess.PIPE)
        process.expect("ready")
        self.tell(process, *commands)
        return process

    def tell(self, peer, *commands):
        for command in commands:
            peer.write(command)
            peer.expect("done")

    def observe(self, *arguments):
        return self.run_command("observe", "--json", *arguments)

    def until(self, process, is_right):
        """The first report that is right."""
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            report = json.loads(process.expect(r"\{").string)
            if is_right(report):
                return report
        return self.fail(f"no report is right; the last one: {report}")

    def publishers(self, report, topic):
        return [
            publisher
            for one in report["topics"]
            if one["topic"] == topic
            for publisher in one["publishers"]
        ]

    def until_messages(self, process, topic, count):
        """The publisher's part of the report that has so many messages of it."""

        def is_there(report):
            return sum(one["messages"] for one in self.publishers(report, topic)) >= count

        report = self.until(process, is_there)
        publishers = self.publishers(report, topic)
        self.assertEqual(len(publishers), 1, report)
        return publishers[0]

    def until_known(self, process, *topics, has_header=True):
        """Until the readers are matched, and the types' definitions are known."""

        def is_known(report):
            known = {
                one["topic"]
                for one in report["topics"]
                if one["matched"] and one["has_header"] >= has_header
            }
            return known >= set(topics)

        self.until(process, is_known)

    def clock(self, peer, observer):
        self.tell(peer, "clock")
        self.until(observer, lambda report: report["clock"] and report["clock"]["matched"])

    def ready(self, *topics, arguments=(), **environment):
        """A peer and an observer whose readers are matched and know the type."""
        peer = self.peer(*(f"open {topic}" for topic in topics), **environment)
        observer = self.observe(*arguments)
        self.tell(peer, *(f"wait {topic}" for topic in topics))
        self.until_known(observer, *topics)
        return peer, observer

    def assert_stamps(self, publisher, **expected):
        counts = {key: publisher["stamps"][key] for key in STAMPS}
        self.assertEqual(counts, {**dict.fromkeys(STAMPS, 0), **expected}, publisher)

    # --- metrics ---

    def scrape(self, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=LIMIT_S) as answer:
            self.assertEqual(
                answer.headers["Content-Type"],
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            )
            return answer.read().decode()

    def until_scraped(self, port, line):
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            text = self.scrape(port)
            if re.search(line, text, re.MULTILINE):
                return text
            time.sleep(0.1)
        return self.fail(f"no {line} in {text}")

    def assert_is_openmetrics(self, text):
        """By Debian's parser, where it is installed: for the system's Python."""
        self.assertTrue(text.endswith("\n# EOF\n"), text)
        parsed = subprocess.run(("/usr/bin/python3", "-c", PARSE_OPENMETRICS), input=text, text=True,
                                capture_output=True, timeout=LIMIT_S, check=False)
        if parsed.returncode != NO_PARSER:
            self.assertEqual(parsed.returncode, 0, parsed.stderr)
            self.assertIn("timebase_message_age_seconds", parsed.stdout.split())

    def test_metrics(self):
        """One observer, its text, its limit of series, and Prometheus."""
        peer, observer = self.ready("/good", "/ahead", arguments=("--http", "0"))
        port = int(re.search(r"127\.0\.0\.1:(\d+)/metrics", str(observer.errors)).group(1))
        self.tell(peer, "send /good 20 now 0 0", f"send /ahead 7 now {SECOND * 4} 0")
        of_ahead = r'\{node="/peer",topic="/ahead",publisher="[0-9a-f]{32}"'
        of_good = of_ahead.replace("ahead", "good")
        text = self.until_scraped(port, rf"^timebase_messages_total{of_ahead}\}} 7$")
        for line in (
            rf"timebase_messages_total{of_good}\}} 20",
            rf'timebase_message_age_seconds_bucket{of_good},le="\+Inf"\}} 20',
            rf"timebase_message_age_seconds_count{of_good}\}} 20",
            rf"timebase_message_age_seconds_count{of_ahead}\}} 0",
            rf'timebase_message_ahead_seconds_bucket{of_ahead},le="2.5"\}} 0',
            rf'timebase_message_ahead_seconds_bucket{of_ahead},le="5.0"\}} 7',
            rf'timebase_message_stamps_total{of_ahead},kind="future"\}} 7',
            rf'timebase_message_stamps_total{of_good},kind="future"\}} 0',
            rf'timebase_source_to_receive_seconds_bucket{of_good},le="\+Inf"\}} 20',
            "timebase_clock_publishers 0",
        ):
            self.assertRegex(text, re.compile(f"^{line}$", re.MULTILINE))
        self.assertNotIn("_other", text)
        self.assert_is_openmetrics(text)
        if os.environ.get("TB_TEST_PROMETHEUS") and shutil.which("prometheus"):
            self.prometheus(port)
        topics = [f"/more{number:02}" for number in range(66)]
        self.tell(peer, *(f"open {topic}" for topic in topics))
        self.until_known(observer, *topics)
        self.tell(peer, *(f"wait {topic}" for topic in topics))
        self.tell(peer, *(f"send {topic} 1 now 0 0" for topic in topics))
        other = r'\{node="_other",topic="_other",publisher="_other"\}'
        text = self.until_scraped(port, rf"^timebase_messages_total{other} 4$")
        self.assertEqual(text.count("\ntimebase_messages_total{"), 65)
        self.assertRegex(text, rf"timebase_messages_total{of_good}\}} 20\n")
        self.assert_is_openmetrics(text)
        observer.child.send_signal(signal.SIGINT)
        self.assertEqual(observer.wait(), 0, observer.errors)

    def prometheus(self, port):
        """Scraped once by Debian's."""
        with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            own = free.getsockname()[1]
            free.close()
            with open(f"{folder}/prometheus.yml", "w", encoding="ascii") as out:
                out.write(
                    "scrape_configs: [{job_name: timebase, scrape_interval: 1s, static_configs: "
                    f"[{{targets: ['127.0.0.1:{port}']}}]}}]\n"
                )
            with subprocess.Popen(
                ("prometheus", f"--config.file={folder}/prometheus.yml",
                 f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{own}"),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            ) as child:
                try:
                    self.until_in_prometheus(own)
                finally:
                    child.terminate()

    def until_in_prometheus(self, own):
        query = urllib.parse.quote('timebase_messages_total{topic="/good"}')
        deadline, result = time.monotonic() + LIMIT_S, None
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(
                    f"http://127.0.0.1:{own}/api/v1/query?query={query}", timeout=LIMIT_S
                ) as answer:
                    result = json.load(answer)["data"]["result"]
            except OSError:
                pass
            if result:
                self.assertEqual(result[0]["value"][1], "20")
                self.assertEqual(result[0]["metric"]["node"], "/peer")
                return
            time.sleep(0.1)
        self.fail("prometheus has scraped nothing")

    def test_metrics_port_in_use(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            observer = self.run_command("observe", "--http", str(port))
            self.assertEqual(observer.wait(), 3)
            self.assertIn(f"port {port} of 127.0.0.1", str(observer.errors))
        self.assertEqual(self.run_command("observe", "--http", "70000").wait(), 2)

    # --- stamps ---

    def test_healthy(self):
        """The near miss of everything."""
        peer, observer = self.ready("/good")
        self.tell(peer, "send /good 200 now 0 0 5")
        good = self.until_messages(observer, "/good", 200)
        self.assert_stamps(good)
        self.assertEqual(good["stamps"]["good"], 200)
        self.assertEqual((good["messages"], good["not_received_here"], good["late"]), (200, 0, 0))
        self.assertEqual(good["gaps"], 0)
        self.assertEqual(good["node"], "/peer")
        self.assertEqual(good["age_ms"]["count"], 200)
        self.assertGreaterEqual(good["age_ms"]["min"], 0)
        self.assertGreaterEqual(good["source_to_receive_ms"]["min"], 0)
        self.assertGreaterEqual(good["longest_gap_ms"], 5)
        observer.child.send_signal(signal.SIGINT)
        self.assertEqual(observer.wait(), 0, observer.errors)
        last = json.loads(observer.seen[-1])
        self.assertIs(last["summary"], True)
        self.assertIsNone(last["clock"])
        rate = self.publishers(last, "/good")[0]["rate_hz"]
        self.assertTrue(0 < rate <= 201, rate)

    def test_stamps_without_a_clock(self):
        topics = "/zero", "/future", "/slightly", "/old", "/back", "/equal", "/far"
        peer, observer = self.ready(*topics)
        self.tell(
            peer,
            "send /zero 10 zero 0 0",
            f"send /future 11 now {SECOND * 3600} 0",
            "send /slightly 12 now 1000000 0",  # of what a host's own clock cannot be off
            f"send /old 13 now {-60 * SECOND} 0",
            "send /back 14 start 0 -1000000",
            "send /equal 15 start 0 0",
            f"send /far 16 zero {5 * SECOND} 1",  # 1970
        )
        self.assert_stamps(self.until_messages(observer, "/far", 16), far_off=16)
        report = self.until(observer, lambda report: True)
        expected = (
            ("/zero", {"zero": 10}),
            ("/future", {"future": 11}),
            ("/slightly", {}),
            ("/old", {"old": 13}),
            ("/back", {"backward": 13}),
            ("/equal", {"equal": 14}),
        )
        for topic, stamps in expected:
            with self.subTest(topic):
                self.assert_stamps(self.publishers(report, topic)[0], **stamps)
        self.assertEqual(self.publishers(report, "/zero")[0]["age_ms"]["count"], 0)

    def test_stamps_of_another_domain(self):
        peer, observer = self.ready("/sim", "/wall")
        self.clock(peer, observer)
        self.tell(peer, f"tick {1000 * SECOND}")
        self.until(observer, lambda report: report["clock"] and report["clock"]["ticks"] > 0)
        self.tell(peer, "send /sim 10 tick -1000000 0", "send /wall 10 now 0 0")
        self.assert_stamps(self.until_messages(observer, "/wall", 10), system_time=10)
        sim = self.until_messages(observer, "/sim", 10)
        self.assert_stamps(sim, equal=9)
        self.assertAlmostEqual(sim["age_ms"]["max"], 1.0)

    def test_before_the_first_tick_ros_time_is_not_known(self):
        peer = self.peer("open /early")
        observer = self.observe()
        self.clock(peer, observer)
        self.tell(peer, "wait /early")
        self.until_known(observer, "/early")
        self.tell(peer, "send /early 5 now 0 1")
        early = self.until_messages(observer, "/early", 5)
        self.assert_stamps(early)
        self.assertEqual((early["stamps"]["unjudged"], early["age_ms"]["count"]), (5, 0))

    def test_samples_of_the_time_before_a_jump(self):
        peer, observer = self.ready("/sensor")
        self.clock(peer, observer)
        self.tell(peer, *(f"tick {(1000 + i) * SECOND}" for i in range(3)))
        self.until(observer, lambda report: report["clock"] and report["clock"]["ticks"] >= 3)
        self.tell(peer, "send /sensor 4 tick 0 1", f"tick {400 * SECOND}")
        self.until(observer, lambda report: report["clock"]["jumps_backward"] == 1)
        self.tell(peer, f"send /sensor 5 zero {1002 * SECOND} 1", "send /sensor 6 tick 0 1")
        self.assert_stamps(self.until_messages(observer, "/sensor", 15), stale_epoch=5)

    # --- the way ---

    def lossy(self, permille):
        test = f"<Internal><Test><XmitLossiness>{permille}</XmitLossiness></Test></Internal>"
        return LOOPBACK.replace("<Domain>", f"<Domain>{test}")

    def test_what_is_lost_on_the_way(self):
        peer, observer = self.ready("/lost", CYCLONEDDS_URI=self.lossy(300))
        self.tell(peer, "send /lost 1000 now 0 0")

        def is_over(report):
            return sum(
                one["messages"] + one["not_received_here"] for one in self.publishers(report, "/lost")
            ) >= 980 and report["topics"]

        lost = self.publishers(self.until(observer, is_over), "/lost")[0]
        self.assertGreater(lost["not_received_here"], 100)
        self.assertLess(lost["messages"], 900)
        self.assertLessEqual(lost["messages"] + lost["not_received_here"], 1000)
        self.assert_stamps(lost)

    def test_a_publisher_whose_clock_is_ahead(self):
        peer = self.peer("forge /ahead 50000000", "forge /right 0")
        observer = self.observe()
        self.tell(peer, "wait /ahead", "wait /right")
        self.until_known(observer, "/ahead", "/right")
        self.tell(peer, "send /ahead 50 now 0 0")
        ahead = self.until_messages(observer, "/ahead", 50)
        self.assertLess(ahead["source_to_receive_ms"]["min"], -40)
        self.assertIsNone(ahead["node"])
        self.tell(peer, "send /right 50 now 0 0")
        right = self.until_messages(observer, "/right", 50)
        self.assertGreaterEqual(right["source_to_receive_ms"]["min"], 0)

    def test_history_does_not_count(self):
        peer = self.peer("open /latched std_msgs/msg/Header latched", "send /latched 7 now 0 0")
        observer = self.observe()
        self.tell(peer, "wait /latched")
        self.until_known(observer, "/latched")
        self.tell(peer, "send /latched 2 now 0 0")
        latched = self.until_messages(observer, "/latched", 2)
        self.assertEqual((latched["messages"], latched["not_received_here"]), (2, 0))

    def test_a_gap(self):
        peer, observer = self.ready("/gap")
        self.tell(peer, "send /gap 20 now 0 0", "send /gap 1 now 0 0 1500", "send /gap 5 now 0 0")
        gap = self.until_messages(observer, "/gap", 26)
        self.assertGreaterEqual(gap["gaps"], 1)
        self.assertGreaterEqual(gap["longest_gap_ms"], 1500)

    # --- definitions ---

    def own(self, text):
        folder = os.path.join(self.folder, "my_msgs", "msg")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "Own.msg"), "w", encoding="ascii") as file:
            file.write(text)

    def send_own(self, *arguments):
        peer = self.peer("open /own my_msgs/msg/Own")
        observer = self.observe(*arguments)
        self.tell(peer, "wait /own")
        self.until_known(observer, "/own", has_header=False)
        self.tell(peer, "send /own 20 now 0 0")
        self.until_messages(observer, "/own", 20)
        return peer, observer

    def topic(self, process, name, is_right):
        def find(report):
            return [one for one in report["topics"] if one["topic"] == name and is_right(one)]

        return find(self.until(process, find))[0]

    def test_a_type_that_is_nowhere(self):
        _, observer = self.send_own()
        own = self.topic(observer, "/own", lambda one: one["definition"] == "definition unknown")
        self.assertFalse(own["has_header"])
        self.assertEqual(own["publishers"][0]["messages"], 20)
        self.assertEqual(own["publishers"][0]["bytes"], 20 * 28)
        self.assertEqual(own["publishers"][0]["stamps"]["none"], 20)

    def test_a_type_in_a_folder(self):
        self.own("float64 x\nstd_msgs/Header header\n")
        peer, observer = self.send_own("--definitions", "/", "--definitions", self.folder)
        own = self.topic(observer, "/own", lambda one: one["has_header"])
        self.assertEqual(own["definition"], "--definitions")
        self.tell(peer, "send /own 20 now 0 0", "cut /own 3")
        own = self.topic(observer, "/own", lambda one: one["malformed"] == 3)
        self.assertGreaterEqual(own["publishers"][0]["age_ms"]["count"], 20)

    def test_a_definition_that_does_not_fit(self):
        self.own("std_msgs/Header header\nfloat64 x\n")
        peer, observer = self.send_own("--definitions", self.folder)
        while True:  # until each look at it was in vain
            self.tell(peer, "send /own 5 now 0 0")
            own = self.topic(observer, "/own", lambda one: True)
            if own["definition"] == "definition unknown":
                break
        self.assertIn("a message does not fit", own["definition_note"])
        self.assertFalse(own["has_header"])

    # --- paths ---

    def path(self, command, is_right, *arguments):
        peer = self.peer("open /in", "open /out", "open /other")
        observer = self.observe(*arguments)
        self.tell(peer, "wait /in", "wait /out")
        self.until_known(observer, "/in", "/out")
        peer.write(command)
        report = self.until(observer, lambda report: is_right(report["paths"][0]))
        self.assertEqual([one["topic"] for one in report["topics"]], ["/in", "/out"])
        return observer, report["paths"][0]

    def test_a_path_that_holds(self):
        observer, path = self.path(
            "path /in /out 600 20 30 0",
            lambda path: path["state"] == "holds" and path["matched"] >= 100,
            "--path", "in:out:30",
        )
        self.assertGreaterEqual(path["steady_ms"]["p50"], 25)
        self.assertEqual(path["budget_ms"], 30000)
        self.assertIsNone(path["lowest_factor_that_did_not"])
        observer.child.send_signal(signal.SIGINT)
        self.assertEqual(observer.wait(), 0, observer.errors)

    def test_a_path_that_does_not_keep_up(self):
        observer, path = self.path(
            "path /in /out 600 20 30 20",
            lambda path: path["state"] == "cannot keep up",
            "--path", "/in:/out",
        )
        self.assertGreater(path["growth"], 0.1)
        observer.child.send_signal(signal.SIGINT)
        self.assertEqual(observer.wait(), 1, observer.errors)

    def test_a_path_over_its_budget(self):
        _, path = self.path(
            "path /in /out 600 20 80 0",
            lambda path: path["state"] == "over budget",
            "--path", "/in:/out:50ms",
        )
        self.assertEqual(path["budget_ms"], 50)

    def path_at_factor_3(self, command, is_right, *arguments):
        peer = self.peer("open /in", "open /out")
        observer = self.observe(*arguments)
        self.tell(peer, "wait /in", "wait /out")
        self.clock(peer, observer)
        self.until_known(observer, "/in", "/out")
        peer.write(command)
        return self.until(observer, lambda report: is_right(report["paths"][0]))["paths"][0]

    def test_a_factor_that_is_too_high(self):
        """The node does 25 of 50 messages a second: it would hold at 1.5."""
        path = self.path_at_factor_3(
            "path /in /out 600 20 30 20 3",
            lambda path: path["state"] == "cannot keep up",
            "--path", "/in:/out",
        )
        self.assertTrue(2.5 < path["lowest_factor_that_did_not"] < 3.5, path)
        self.assertTrue(1.2 < path["output_factor"] < 1.8, path)
        self.assertIsNone(path["highest_factor_that_held"])

    def test_a_budget_that_only_ros_time_exceeds(self):
        path = self.path_at_factor_3(
            "path /in /out 600 20 100 0 3",
            lambda path: path["state"] == "over budget in ROS time alone",
            "--path", "/in:/out:250ms",
        )
        self.assertLess(path["steady_ms"]["p50"], 250)
        self.assertGreater(path["ros_ms"]["p50"], 250)

    def test_paths_that_are_found(self):
        """A node that repeats stamps, and topics of it that have stamps of their own."""
        topics = "/in", "/out", "/own"
        peer = self.peer(*(f"open {topic}" for topic in topics), "listen /in", "listen /own")
        observer = self.observe("--find-paths")
        self.tell(peer, *(f"wait {topic}" for topic in topics))
        self.until_known(observer, *topics)
        peer.write("path /in /out 1000 20 30 0")
        report = self.until(observer, lambda report: report["paths"])
        found = [(path["from"], path["to"], path["found"]) for path in report["paths"]]
        self.assertEqual(found, [("/in", "/out", True)])
        held = self.until(observer, lambda report: report["paths"][0]["state"] == "holds")
        self.assertEqual(len(held["paths"]), 1)

    def test_why_nothing_is_matched(self):
        self.peer("open /in", "open /own my_msgs/msg/Own", "open /text std_msgs/msg/String")
        arguments = "observe", "--duration", "5", "--path", "/in:/own", "--path", "/text:/none"
        status, out, _ = self.result(*arguments)
        self.assertEqual(status, 1)
        self.assertIn("/in to /own: too few messages; 0 of 0 inputs matched; the definition of /own is", out)
        self.assertIn("; the type of /text has no header; /none is not observed: it has no publisher", out)

    # --- which topics ---

    def test_topics_by_name_and_pattern(self):
        topics = "/a/one", "/a/two", "/b", "/c"
        peer = self.peer(*(f"open {topic}" for topic in topics))
        observer = self.observe("/a/*", "b")
        self.tell(peer, "wait /a/one", "wait /a/two", "wait /b")
        report = self.until(observer, lambda report: len(report["topics"]) == 3)
        self.assertEqual([one["topic"] for one in report["topics"]], ["/a/one", "/a/two", "/b"])
        self.assertEqual(report["topics_left_out"], 0)

    def test_more_topics_than_it_may(self):
        self.peer(*(f"open /t{i:03}" for i in range(120)))
        observer = self.observe("--max-topics", "100", "/t*")
        report = self.until(observer, lambda report: len(report["topics"]) == 100)
        report = self.until(observer, lambda report: report["topics_left_out"] == 20)
        self.assertEqual(len(report["topics"]), 100)
        status, out, _ = self.result("observe", "--max-topics", "100", "--duration", "3", "/t*")
        self.assertEqual(status, 1)
        self.assertIn("20 more topics are not observed", out)

    # --- the command ---

    def test_nothing_comes(self):
        status, out, err = self.result("observe", "--duration", "0.5")
        self.assertEqual((status, err), (1, "timebase observe: no message was received\n"))
        self.assertIn("no publisher of /clock", out)

    def test_wrong_arguments(self):
        cases = (
            (["--path", "a"], "--path: 'a': expected FROM:TO or FROM:TO:BUDGET"),
            (["--path", ":b"], "--path: ':b': expected FROM:TO or FROM:TO:BUDGET"),
            (["--path", "a:"], "--path: 'a:': expected FROM:TO or FROM:TO:BUDGET"),
            (["--path", "a:b:0"], "--path"),
            (["--path", "a:b"] * 17, "--path: more than 16"),
            (["--max-topics", "0"], "--max-topics"),
            (["--definitions", "/nowhere"], "--definitions: cannot read the folder '/nowhere'"),
            ([""], "an empty topic"),
            (["x"] * 65, "more than 64 topics"),
        )
        for arguments, text in cases:
            with self.subTest(arguments[:2]):
                status, _, err = self.result("observe", *arguments)
                self.assertEqual(status, 2, err)
                self.assertIn(text, err)

    def test_a_table_on_a_terminal(self):
        """Names of others do no harm to it."""
        peer = self.peer("open /good")
        main, side = pty.openpty()
        child = subprocess.Popen(
            [f"{command_test.BIN_DIR}/timebase", "observe"], env=self.environment, stdout=side
        )
        os.close(side)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.tell(peer, "wait /good", "send /good 20 now 0 0")
        out = b""
        while not (b"/good" in out and b"/peer" in out and out.count(b"\x1b[H\x1b[J") > 1):
            out += os.read(main, 65536)
        self.assertIn(b"ROS time is system time", out)
        self.assertIn(b"TOPIC", out)
        child.send_signal(signal.SIGINT)
        while True:
            try:
                if not os.read(main, 65536):
                    break
            except OSError:
                break
        self.assertEqual(child.wait(LIMIT_S), 0)
        os.close(main)


if __name__ == "__main__":
    command_test.BIN_DIR, PEER = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
