#!/usr/bin/env python3
"""`timebase observe` and publishers with each fault that it is to show, and near misses.

usage: observe_test.py BIN_DIR OBSERVE_PEER [TEST...]

What it reports comes once a second: tests wait for the report that has what they sent."""

import itertools
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import command_test
import in_parts
import observing
from command_test import LIMIT_S, LOOPBACK, SECOND, bound_sockets, header_of, unread_bytes
from observing import ObservingTest
from sqlite_bag import sqlite_bag_make
from terminal import Terminal

STAMPS = ("zero", "invalid", "future", "system_time", "far_off", "stale_epoch", "old", "backward", "equal")


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


class ObserveTest(ObservingTest):
    domains = itertools.cycle((84, 85, 86, 87))

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

    # --- diagnostics ---

    def reports(self, peer, count):
        """The next ones: (stamp, {name: (level, message, hardware, {key: value})})."""
        peer.write(f"reports {count}")
        reports, status = [], None
        while True:
            kind, text = peer.expect(r"(report|status|value|done) ?(.*)").groups()
            if kind == "done":
                return reports
            if kind == "report":
                reports.append((int(text), {}))
            elif kind == "status":
                level, rest = text.split(" ", 1)
                name, message, hardware = rest.split("|")
                self.assertNotIn(name, reports[-1][1])
                status = {}
                reports[-1][1][name] = (int(level), message, hardware, status)
            else:
                key, value = text.split(" ", 1)
                self.assertNotIn(key, status)
                status[key] = value

    def until_report(self, peer, is_right):
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            report = self.reports(peer, 1)[0]
            if is_right(report[1]):
                return report
        return self.fail(f"no report is right; the last one: {report}")

    def test_diagnostics(self):
        """Keys, levels, ROS stamps; also while the clock has stopped, once a steady second."""
        peer = self.peer("open /good", "open /zero", "diagnostics")
        other = self.peer()
        observer = self.observe("--diagnostics")
        self.clock(other, observer)
        self.tell(peer, "wait /good", "wait /zero")
        self.until_known(observer, "/good", "/zero")
        self.assertNotIn("/diagnostics", [topic["topic"] for topic in self.until(observer, bool)["topics"]])
        good, zero = "/timebase_observe: /good of /peer", "/timebase_observe: /zero of /peer"
        for attempt in range(1, 1 + command_test.TRIES):  # a second may end between the messages
            self.tell(other, *(f"tick {1000 * SECOND + i}" for i in (0, SECOND)[attempt > 1 :]))
            self.tell(peer, f"send /good 5 zero {1001 * SECOND} 0", "send /zero 5 zero 0 0")
            count = str(5 * attempt)
            stamp, report = self.until_report(
                peer,
                lambda report, count=count: {good, zero} <= set(report)
                and report[good][3]["message_count"] == report[zero][3].get("zero_stamp_count") == count,
            )
            if "message_age_ms" in report[good][3] and report[zero][0] == 1:
                break
        self.assertEqual(stamp, 1001 * SECOND)
        level, message, hardware, values = report[good]
        self.assertEqual((level, message, hardware), (0, "", socket.gethostname()))
        self.assertLessEqual(
            {"message_age_ms", "message_age_p99_ms", "source_to_receive_ms", "message_rate_hz"}, set(values)
        )
        self.assertEqual(values["message_age_ms"], "0.000000")
        self.assertEqual(report[zero][1], "stamps are zero")
        self.assertNotIn("message_age_ms", report[zero][3])
        for _, _, _, values in report.values():
            for key, value in values.items():
                self.assertRegex(value, r"^-?\d+(\.\d+)?$", key)
        clock = report["/timebase_observe: clock"][3]
        self.assertEqual((clock["time_jump_count"], clock["epoch"]), ("0", "0"))
        self.assertLessEqual({"clock_rate_hz", "real_time_factor"}, set(clock))
        began = time.monotonic()
        stamps = {stamp for stamp, _ in self.reports(peer, 4)}  # ROS time does not advance
        self.assertEqual(stamps, {1001 * SECOND})
        self.assertGreater(time.monotonic() - began, 2)
        _, report = self.until_report(peer, lambda report: report[zero][0] == 0)  # after good seconds
        self.assertEqual(report["/timebase_observe: clock"][:2], (2, "its ticks have stopped"))
        self.tell(other, f"tick {400 * SECOND}")
        stamp, report = self.until_report(
            peer, lambda report: report["/timebase_observe: clock"][3]["epoch"] == "1"
        )
        self.assertEqual(stamp, 400 * SECOND)

    def test_diagnostics_of_a_paused_clock_and_of_a_publisher_that_goes(self):
        server = self.run_command("serve", "--start", "1000", "--paused")
        peer = self.peer("diagnostics")
        going = self.peer("open /going")
        observer = self.observe("--diagnostics", "--path", "/going:/none")
        self.tell(going, "wait /going")
        self.until_known(observer, "/going")
        self.tell(going, "send /going 1 zero 0 0")
        name = "/timebase_observe: /going of /peer"
        self.until_report(peer, lambda report: name in report)
        going.end()
        _, report = self.until_report(
            peer,
            lambda report: name not in report
            and report["/timebase_observe: clock"][:2] == (0, "paused"),
        )
        self.assertIn("/timebase_observe: path /going to /none", report)
        server.end()

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
        # Of receipts: where the first one was late they came in less time than was between them.
        late_s = (good["age_ms"]["max"] - good["age_ms"]["min"]) / 1000
        self.assertTrue(0 < rate and rate * (0.99 - late_s) <= 200, (rate, late_s))

    def test_stamps_without_a_clock(self):
        topics = "/zero", "/future", "/slightly", "/old", "/back", "/equal", "/invalid", "/far"
        peer, observer = self.ready(*topics)
        self.tell(
            peer,
            "send /zero 10 zero 0 0",
            f"send /future 11 now {SECOND * 3600} 0",
            "send /slightly 12 now 1000000 0",  # of what a host's own clock cannot be off
            f"send /old 13 now {-60 * SECOND} 0",
            "send /back 14 start 0 -1000000",
            "send /equal 15 start 0 0",
            f"send /invalid 9 zero {-5 * SECOND} 0",  # before 1970
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
            ("/invalid", {"invalid": 9}),
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

    def test_messages_that_come_before_their_tick(self):
        """They wait for it: a publisher may get a tick before the observer does."""
        for _ in range(command_test.TRIES):
            peer, observer = self.ready("/sim", "/ahead")
            self.clock(peer, observer)
            self.tell(peer, *(f"tick {1000 * SECOND + i * SECOND // 1000}" for i in range(64)))
            self.until(observer, lambda report: report["clock"]["ticks"] == 64)
            self.tell(peer, f"race /sim 40 {SECOND // 50}", f"send /ahead 10 tick {SECOND} 1000")
            self.assert_stamps(self.until_messages(observer, "/ahead", 10), future=10)
            stamps = self.until_messages(observer, "/sim", 40)["stamps"]
            if stamps["future"] <= 2 and stamps["good"] >= 38:
                return
            peer.end()  # the machine was busy between a message and its tick
            observer.end()
        self.fail(stamps)

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

    def test_a_topic_with_a_key(self):
        peer, observer = self.peer("open /keyed std_msgs/msg/Header keyed"), self.observe()
        self.until_known(observer, "/keyed")
        self.tell(peer, "send /keyed 2 now 0 0")
        self.until_messages(observer, "/keyed", 2)

    def test_a_gap(self):
        peer, observer = self.ready("/gap")
        self.tell(peer, "send /gap 20 now 0 0", "send /gap 1 now 0 0 6000", "send /gap 5 now 0 0")
        gap = self.until_messages(observer, "/gap", 26)
        self.assertGreaterEqual(gap["gaps"], 1)
        self.assertGreaterEqual(gap["longest_gap_ms"], 1500)  # what came before it may have come late

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
            lambda path: path["state"] == "cannot keep up"
            and 2.5 < path["lowest_factor_that_did_not"] < 3.5
            and 1.2 < path["output_factor"] < 1.8,
            "--path", "/in:/out",
        )
        self.assertIsNone(path["highest_factor_that_held"])

    def test_a_budget_that_only_ros_time_exceeds(self):
        path = self.path_at_factor_3(
            "path /in /out 600 20 100 0 3",
            lambda path: path["state"] == "over budget in ROS time alone",
            "--path", "/in:/out:250ms",
        )
        self.assertLess(path["steady_ms"]["p50"], 250)
        self.assertGreater(path["ros_ms"]["p50"], 250)

    def test_a_replay_that_is_too_fast(self):
        """A node that takes 14 ms for each message of 50 Hz holds at 1.0, and 1.4 is what it could; one
        that takes 40 ms is late in ROS time alone."""
        start = 10**18
        bag = sqlite_bag_make(
            os.path.join(self.folder, "bag.db3"),
            [("/in", "std_msgs/msg/Header"), ("/slow", "std_msgs/msg/Header")],
            sorted(
                [(0, at, header_of(at)) for at in range(start, start + 60 * SECOND, SECOND // 50)]
                + [(1, at, header_of(at)) for at in range(start, start + 60 * SECOND, SECOND // 5)],
                key=lambda message: message[1],
            ),
        )
        self.peer("open /out", "work /in /out 14")
        self.peer("open /late", "work /slow /late 40")
        arguments = "--path", "/in:/out", "--path", "/slow:/late:80ms"
        observer = self.observe(*arguments)
        table = self.run_command("observe", *arguments)
        player = self.run_command("play", bag, "--clock", "100")

        def holds(report):
            return all(path["state"] == "holds" for path in report["paths"])

        enough = self.until(observer, holds)["elapsed_s"] + 5  # the other one may be some seconds behind
        report = self.until(observer, lambda report: report["elapsed_s"] > enough and holds(report))
        self.assertTrue(0.8 < report["paths"][0]["highest_factor_that_held"] < 1.2, report)
        player.end()
        player = self.run_command("play", bag, "--clock", "100", "--rate", "3")
        report = self.until(
            observer,
            lambda report: report["paths"][0]["state"] == "cannot keep up"
            and report["paths"][1]["state"] == "over budget in ROS time alone"
            and 2.5 < report["paths"][0]["lowest_factor_that_did_not"] < 3.5
            and 1 < report["paths"][0]["output_factor"] < 1.8,
        )
        path = report["paths"][0]
        self.assertTrue(0.8 < path["highest_factor_that_held"] < 1.2, path)
        self.assertLess(report["paths"][1]["steady_ms"]["p50"], 80)
        enough = report["elapsed_s"] + 5
        self.until(
            observer,
            lambda report: report["elapsed_s"] > enough and report["paths"][0]["state"] == "cannot keep up",
        )
        table.child.send_signal(signal.SIGINT)
        self.assertEqual(table.wait(), 1, table.errors)
        self.assertRegex(
            "\n".join(table.seen),
            r"/in to /out: cannot keep up at [23]\.\d: outputs advance at 1\.\d; "
            r"highest factor that held: (0\.[89]|1\.[01])",
        )
        player.end()

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
        lines = (
            "/in to /own: too few messages; 0 of 0 inputs matched; the definition of /own is",
            "; the type of /text has no header; /none is not observed: it has no publisher",
        )
        self.until_result(arguments, lambda status, out, _: status == 1 and all(line in out for line in lines))

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
        self.until_result(
            ("observe", "--max-topics", "100", "--duration", "3", "/t*"),
            lambda status, out, _: status == 1 and "20 more topics are not observed" in out,
        )

    def test_packets_of_others(self):
        """Random ones, and such that begin as those of DDS do, at each of its ports."""
        peer, observer = self.ready("/good")
        ports = {port for _, port in bound_sockets(observer.child.pid)}
        self.assertTrue(ports)
        source = random.Random(1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for number in range(2000):
                start = (b"", b"RTPS\x02\x01\x01\x10", b"RTPS\x02\x01\x01\x10" + bytes(12) + b"\x15\x05")[number % 3]
                packet = start + source.randbytes(source.randrange(1, 400))
                for port in ports:
                    out.sendto(packet, ("127.0.0.1", port))
        # Where they fill a socket the kernel drops what comes next, and this reader is best effort.
        deadline = time.monotonic() + LIMIT_S
        while unread_bytes(observer.child.pid) > 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.tell(peer, "send /good 20 now 0 0")
        self.assert_stamps(self.until_messages(observer, "/good", 20))
        observer.child.send_signal(signal.SIGINT)
        self.assertEqual(observer.wait(), 0, observer.errors)

    # --- the command ---

    def test_the_table_fits_the_terminal(self):
        name = "/a_topic_with_a_name_that_is_longer_than_half_a_line"
        self.peer(f"open {name}").write(f"send {name} 1000000 zero 0 0 5")
        begins = b"\x1b[H\x1b[J"
        for columns, head in ((80, "HZ AGE ms p99 MAX GAP MISSED STAMPS, GAPS"),
                              (200, "HZ AGE ms p99 TRAVEL JITTER MAX GAP MISSED STAMPS, GAPS")):  # fmt: skip
            view = Terminal(self, [f"{command_test.BIN_DIR}/timebase", "observe"], self.environment, 24, columns)
            view.expect(b"zero")  # perhaps after gaps, on a busy machine
            view.expect(begins)
            view.expect(b"TOPIC")  # a whole picture, and the beginning of the next one
            deadline = time.monotonic() + LIMIT_S
            while begins not in view.seen and time.monotonic() < deadline:
                if select.select([view.master], [], [], 1)[0]:
                    view.seen += os.read(view.master, 4096)
            lines = ("TOPIC" + view.seen.split(begins)[0].decode()).replace("\r", "").split("\n")
            self.assertLessEqual(max(map(len, lines)), columns)
            (row,) = [line for line in lines if line.startswith("/a_topic")]
            self.assertEqual(row.startswith(name[:40] + " "), columns == 200, row)
            self.assertIn(head, " ".join(" ".join(lines).split()))
            view.child.send_signal(signal.SIGINT)
            self.assertEqual(view.child.wait(), 0)

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
    command_test.BIN_DIR, observing.PEER = sys.argv[1:3]
    in_parts.main([sys.argv[0], *sys.argv[3:]], 4, verbosity=2)
