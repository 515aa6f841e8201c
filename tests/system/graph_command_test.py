#!/usr/bin/env python3
"""The commands that see and steer a graph, with real processes over DDS: nodes, param, sim-time.

usage: graph_command_test.py BIN_DIR EXAMPLE_NODE ODD_NODE [TEST...]

What a command sees depends on how quick discovery is: it is run again until it prints what it should,
within a generous limit."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time

import command_test
import in_parts
from command_test import LIMIT_S, SECOND, CommandTest, Process

OTHER_DOMAIN = 44
NODE = ODD = None
PARAMETERS = [
    "gain",
    "qos_overrides./clock.subscription.depth",
    "qos_overrides./clock.subscription.durability",
    "qos_overrides./clock.subscription.history",
    "qos_overrides./clock.subscription.reliability",
    "time_source",
    "use_sim_time",
]
WAITS = "no publisher of /clock, and nodes wait for it; start a simulator or 'timebase serve'\n"
RELIABLE = "qos_overrides./clock.subscription.reliability:=reliable"


class GraphCommandTest(CommandTest):
    domains = itertools.cycle((15, 16, 17, 18, 19, 40, 41, 42, 43))

    def node(self, name, *arguments, **environment):
        """A well-behaved node, which has the parameter `gain`."""
        words = [NODE, "--ros-args", "-r", f"__node:={name}"]
        for argument in arguments:
            words += argument if isinstance(argument, list) else ["-p", argument]
        process = Process(self, words, {**self.environment, **environment})
        process.expect(rf"node: /.*{name} runs")
        return process

    def odd(self, *arguments):
        process = Process(self, [ODD, *arguments], self.environment, subprocess.PIPE)
        process.expect("ready")
        return process

    def example(self, name, *arguments):
        words = [os.path.join(os.path.dirname(NODE), name), "--ros-args", *arguments]
        process = Process(self, words, self.environment)
        process.expect(rf"{name}: /{name} runs$")
        return process

    until = CommandTest.until_result

    def expect(self, arguments, status, out, err=""):
        wanted = (status, out, err)
        self.until(arguments, lambda *result: result == wanted)

    def until_seen(self, *names):
        """The JSON of `nodes` once just these nodes are there, with all that they have."""

        def is_right(status, out, _):
            seen = json.loads(out)["nodes"] if status == 0 else []
            return [node["name"] for node in seen] == sorted(names)

        return json.loads(self.until(("nodes", "--json"), is_right)[1])

    def wait_until_it_catches_signals(self, process):
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            with open(f"/proc/{process.child.pid}/status", encoding="ascii") as file:
                caught = next(line for line in file if line.startswith("SigCgt"))
            if int(caught.split()[1], 16) & 1 << (signal.SIGINT - 1):
                return
            time.sleep(0.01)
        self.fail("it catches no signals")


class NodesTest(GraphCommandTest):
    def test_an_empty_graph(self):
        hint = (
            f"no nodes in domain {self.domain}; check ROS_DOMAIN_ID, and that nodes use the same "
            "network interface (here 127.0.0.1)\n"
        )
        self.assertEqual(
            self.result("nodes"), (0, "no publisher of /clock\n", f"timebase nodes: {hint}")
        )
        expected = {
            "domain": self.domain,
            "nodes": [],
            "unnamed_nodes": [],
            "clock_publishers": [],
            "other_clock_subscriptions": [],
        }
        status, out, err = self.result("nodes", "--json", "--check")
        none = "timebase nodes: check failed: no nodes\n"
        self.assertEqual((status, json.loads(out), err), (1, expected, none))
        self.assertEqual(self.result("param", "list")[:2], (0, ""))
        status, out, err = self.result("sim-time", "on", "--all")
        self.assertEqual((status, out, err), (1, "", f"timebase sim-time: {hint}"))

    def test_the_columns_of_the_list(self):
        self.node("camera", "use_sim_time:=true", ["-r", "__ns:=/front"])
        self.node("late", "time_source:=shm:sim", ROS_DISTRO="humble")
        self.node("picky", "use_sim_time:=true", RELIABLE)
        self.odd("bare", "tool")
        self.odd("clock", "be")
        best, most = "best effort, volatile, keep last 1", "reliable, volatile, keep last 1"
        self.expect(
            ["nodes"],
            0,
            "NODE           ROS 2            middleware   use_sim_time   /clock\n"
            f"/front/camera  iron or newer    Cyclone DDS  true           {best}\n"
            "/late          humble or older  Cyclone DDS  false          -\n"
            "  time_source shm:sim\n"
            f"/picky         iron or newer    Cyclone DDS  true           {most}\n"
            "  ! receives nothing from a publisher without a node: reliability differs (best effort "
            "offered, reliable requested)\n"
            "/tool          iron or newer    Cyclone DDS  no parameters  -\n"
            "\n"
            "publishers of /clock:\n"
            f"  no node (plain DDS)  {best}\n",
        )
        self.until(
            ["nodes", "--check"],
            lambda status, out, err: status == 1
            and "/picky" in out
            and err
            == "timebase nodes: check failed: 1 node does not use simulated time, but others do\n"
            "timebase nodes: check failed: 1 subscription of /clock receives nothing from a "
            "publisher\n",
        )

    def test_a_publisher_of_another_type_is_distinguished(self):
        bag = command_test.bag_make(self.folder, 1_600_000_000 * SECOND, SECOND, 1000)
        self.run_command("play", bag, "--remap", "/stamped:=/clock").expect("time ")
        qos = "reliable, volatile, keep last 10, type std_msgs/msg/Header\n"
        self.until(["nodes"], lambda _, out, err: out.endswith(f"\n  /rosbag2_player  {qos}"))

    def test_a_player_under_a_prefix_with_a_clock_of_its_own_quality(self):
        bag = command_test.bag_make(self.folder, 1_600_000_000 * SECOND, SECOND, 1000)
        overrides = os.path.join(self.folder, "qos.yaml")
        with open(overrides, "w", encoding="utf-8") as file:
            file.write("/clock:\n  reliability: reliable\n  history: keep_last\n  depth: 5\n")
        player = self.run_command("play", bag, "--clock", "--prefix", "robot", "--qos-profile-overrides-path", overrides,
                                  "--pause-on", "stamped")
        player.expect(r"time .*  paused")
        self.until(["nodes"], lambda _, out, err: out.endswith("\n  /rosbag2_player  reliable, volatile, keep last 5\n"))
        self.until(["topic", "list"], lambda _, out, err: "/robot/stamped" in out and "\n/stamped" not in out)

    def test_a_player_moves_stamps_to_its_own_time(self):
        bag = command_test.bag_make(self.folder, 1_600_000_000 * SECOND, SECOND // 10, 1000)
        player = self.run_command("play", bag, "--restamp")
        player.expect_error("--restamp: header stamps are moved to the time of playback")
        echo = self.run_command("topic", "echo", "/stamped", "-n", "1", "--field", "stamp.sec")
        seconds = int(echo.expect(r"\D*(\d{9,})").group(1))
        self.assertLess(abs(time.time() - seconds), 600)

    def test_JSON_has_all_fields(self):
        self.node("picky", "use_sim_time:=true", RELIABLE)
        self.node("old", ROS_DISTRO="humble")
        self.odd("bare", "tool")
        self.odd("clock", "be")
        server = self.run_command("serve", "--node", "sim", "--start", "1")
        server.expect("time ")
        watch = self.run_command("watch")
        qos = {
            "reliability": "reliable",
            "durability": "volatile",
            "history": "keep last",
            "depth": 1,
            "deadline_ns": None,
            "lifespan_ns": None,
            "liveliness": "automatic",
            "liveliness_lease_ns": None,
            "partition": False,
        }
        plain = {
            "enclave": "/",
            "middleware": "Cyclone DDS",
            "duplicate": False,
            "shared_time": None,
            "clock_subscriptions": [],
        }
        iron = {"distro": "iron or newer", **plain}
        topic = {"time_source": "clock_topic"}
        said_false = {"use_sim_time": False, "use_sim_time_state": "false", **topic}

        def is_right(status, out, _):
            graph = json.loads(out) if status == 0 else {"clock_publishers": []}
            publishers = graph["clock_publishers"]
            if len(publishers) != 2 or not graph["other_clock_subscriptions"]:
                return False
            owners = [publisher["node"] for publisher in publishers]
            index = owners.index(None) if None in owners else 0
            mismatches = [
                {"publisher": at, "node": owner, "policies": ["reliability"]}
                for at, owner in enumerate(owners)
            ]
            return (
                graph["nodes"]
                == [
                    {"name": "/old", **plain, "distro": "humble or older", **said_false},
                    {
                        "name": "/picky",
                        **iron,
                        "use_sim_time": True,
                        "use_sim_time_state": "true",
                        **topic,
                        "clock_subscriptions": [{"topic": "/clock", "qos": qos, "mismatches": mismatches}],
                    },
                    {"name": "/sim", **iron, **said_false},
                    {
                        "name": "/tool",
                        **iron,
                        "use_sim_time": None,
                        "use_sim_time_state": "no parameters",
                        "time_source": None,
                    },
                ]
                and publishers[index]
                == {
                    "node": None,
                    "topic": "/clock",
                    "type": "rosgraph_msgs/msg/Clock",
                    "qos": {**qos, "reliability": "best effort"},
                }
                and publishers[1 - index]["node"] == "/sim"
                and [other["mismatches"] for other in graph["other_clock_subscriptions"]] == [[]]
            )

        self.until(["nodes", "--json"], is_right)
        watch.child.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(), 0)

    def test_a_process_on_a_shared_time(self):
        name = f"graph-test-{os.getpid()}"
        path = f"/dev/shm/timebase.{name}"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        self.run_command("serve", "--node", "sim", "--shm", name).expect("time ")
        words = [NODE, "--ros-args", "-r", "__node:=late", "-p", "use_sim_time:=true"]
        limits = ["--require", "--node", "/late", "--limit", "100s"]
        late = self.run_command(
            "run", "--source", f"shm:{name}", *limits, "--", *words, "-p", f"time_source:=shm:{name}"
        )
        late.expect("node: /.*late runs")
        self.node("other")

        def is_right(status, out, _):
            nodes = json.loads(out)["nodes"] if status == 0 else []
            shared = {node["name"]: node["shared_time"] for node in nodes}
            return shared == {"/late": name, "/other": None, "/sim": None}

        self.until(["nodes", "--json"], is_right)
        self.assertIn(f"  follows shm:{name}, whatever use_sim_time is\n", self.result("nodes")[1])
        late.child.send_signal(signal.SIGTERM)
        late.wait()
        missing = self.result(
            "run", "--source", f"shm:{name}", "--require", "--node", "/none", "--limit", "2s", "--", *words
        )
        self.assertEqual(missing[0], 1, missing[2])
        self.assertRegex(missing[2], "timebase run: there is no node /none; there are .*/other.*/sim")

    def test_check_passes_when_nodes_agree(self):
        self.node("one", "use_sim_time:=true")
        self.node("two", "use_sim_time:=true")
        self.odd("bare", "tool")
        self.run_command("serve", "--node", "sim").expect("time ")
        self.until_seen("/one", "/sim", "/two", "/tool")
        self.until(
            ["nodes", "--check"],
            lambda status, out, err: (status, err) == (0, "")
            and "/sim   iron or newer    Cyclone DDS  false" in out
            and out.count("true") == 2,
        )

    def test_duplicates_are_reported(self):
        self.node("twin")
        self.node("twin")
        row = (
            "/twin  iron or newer    Cyclone DDS  ambiguous      -\n"
            "  ! another node has the same name\n"
        )
        self.expect(
            ["nodes"],
            0,
            "NODE   ROS 2            middleware   use_sim_time   /clock\n"
            + 2 * row
            + "\nno publisher of /clock\n",
        )
        self.expect(["sim-time", "off", "--all"], 0, "/twin  ok\n")
        self.until(
            ["param", "get", "/twin", "gain"],  # it may have seen one of them only
            lambda status, out, err: (status, out) == (0, "Double value is: 1.0\n")
            and "several nodes have this name" in err,
        )
        failed = "timebase nodes: check failed: 2 nodes share their name\n"
        self.until(["nodes", "--check"], lambda status, _, err: (status, err) == (1, failed))

    def test_no_publisher_or_two_fail_the_check(self):
        self.node("one", "use_sim_time:=true")
        missing = "timebase nodes: check failed: no publisher of /clock, and nodes wait for it\n"
        self.until(
            ["nodes", "--check"],
            lambda status, out, err: (status, err) == (1, missing) and out.endswith(f"\n{WAITS}"),
        )
        self.run_command("serve", "--node", "first").expect("time ")
        self.until(["nodes", "--check"], lambda status, _, err: (status, err) == (0, ""))
        self.run_command("serve", "--node", "second").expect("time ")
        two = "timebase nodes: check failed: 2 publishers of /clock, expected 1\n"
        self.until(["nodes", "--check"], lambda status, _, err: (status, err) == (1, two))

    def test_clocks_under_other_names(self):
        """Two robots, each on its own; the second one waits for its simulator."""
        remaps = {robot: ["-r", f"/clock:=/{robot}/clock"] for robot in ("r1", "r2")}
        self.run_command("serve", "--ros-args", "-r", "__node:=sim1", *remaps["r1"]).expect("time ")
        self.node("nav1", "use_sim_time:=true", remaps["r1"])
        qos = "best effort, volatile, keep last 1"
        _, out, _ = self.until(["nodes", "--check"], lambda status, out, err: (status, err) == (0, "") and "/nav1" in out)
        self.assertRegex(out, rf"(?m)^/nav1 .* true +/r1/clock: {qos}$")
        self.assertTrue(out.endswith(f"\npublishers of /r1/clock:\n  /sim1  {qos}\n"), out)
        status, out, err = self.result("audit")
        self.assertIn("1 on /clock (1 of them on a clock under another name)", out, err)
        self.node("nav2", "use_sim_time:=true", remaps["r2"])
        missing = "timebase nodes: check failed: no publisher of /r2/clock, and nodes wait for it\n"
        self.until(["nodes", "--check"], lambda status, _, err: (status, err) == (1, missing))
        self.expect(["sim-time", "on", "--all"], 0, "/nav1  ok\n/nav2  ok\n/sim1  skipped: it publishes /clock\n2 ok, 1 publishing /clock\n")
        self.expect(["sim-time", "off", "--all"], 0, "/nav1  ok\n/nav2  ok\n/sim1  ok\n3 ok\n")

    def test_domains_are_separate(self):
        self.node("here")
        self.domain_lock(OTHER_DOMAIN)
        self.node("there", ROS_DOMAIN_ID=str(OTHER_DOMAIN))
        self.until_seen("/here")
        domain = ("--domain", str(OTHER_DOMAIN))
        self.until(
            ["nodes", "--json", *domain],
            lambda _, out, err: [node["name"] for node in json.loads(out)["nodes"]] == ["/there"],
        )
        self.expect(["sim-time", "off", "--all", *domain], 0, "/there  ok\n")
        self.expect(["param", "get", "/there", "gain", "--wait", "60", *domain], 0, "Double value is: 1.0\n")

    def test_a_command_is_not_a_node(self):
        other = self.run_command("nodes", "--wait", str(LIMIT_S))
        self.wait_until_it_catches_signals(other)
        self.check_loopback(other)
        self.assertIn("no nodes in domain", self.result("nodes", "--wait", "2")[2])

    def test_nothing_asks_a_node_for_what_it_has_not_declared(self):
        """A node of rclpy logs a warning each time."""
        foreign = self.odd("foreign", "camera")
        self.node("ours")
        self.until_seen("/camera", "/ours")
        camera = {"use_sim_time_state": "false", "time_source": None}
        ours = {"use_sim_time_state": "false", "time_source": "clock_topic"}
        nodes = self.until_seen("/camera", "/ours")["nodes"]
        self.assertEqual([{key: node[key] for key in camera} for node in nodes], [camera, ours])
        self.assertEqual(self.result("nodes", "--check")[0], 0)
        wait = ("--wait", "60")
        self.expect(["param", "list", "/camera", *wait], 0, "use_sim_time\n")
        self.expect(["param", "get", "/camera", "use_sim_time", *wait], 0, "Boolean value is: False\n")
        refused = "timebase param: /camera refuses time_sources: no\n"
        self.expect(["param", "set", "/camera", "time_sources", "1", *wait], 1, "", refused)
        # What a user names is requested once.
        both = ["param", "get", "/camera", "use_sim_time", "gain", *wait]
        none = "timebase param: /camera has no parameter gain\n"
        self.assertEqual(self.result(*both), (1, "use_sim_time: false\n", none))
        foreign.child.stdin.close()
        self.assertEqual(foreign.wait(), 0)
        self.assertEqual(foreign.seen, ["ready", "undeclared gain"])

    def test_a_stopped_process(self):
        node = self.node("frozen")
        for wait in range(3, 20):
            nodes = self.run_command("nodes", "--wait", str(wait), "--limit", "500ms", "--check")
            time.sleep(wait - 1.5)  # it has been discovered by then, or the next round fails
            node.child.send_signal(signal.SIGSTOP)
            status = nodes.wait()
            node.child.send_signal(signal.SIGCONT)
            self.assertIn(status, (0, 1))
            if any(line.startswith("/frozen  iron or newer    Cyclone DDS  no answer") for line in nodes.seen):
                self.assertEqual(status, 1)
                return
        self.fail(f"never without an answer: {nodes.seen}")


class SilentTest(GraphCommandTest):
    def test_no_answer_is_reported_and_delays_no_other_node(self):
        self.odd("silent", "mute")
        self.node("camera")
        self.until_seen("/mute", "/camera")
        limit = ("--limit", "700ms")
        self.until(
            ["nodes", "--check", *limit],
            lambda status, out, err: status == 1
            and "/mute    iron or newer    Cyclone DDS  no answer      -\n" in out
            and "/camera  iron or newer    Cyclone DDS  false" in out
            and err == "timebase nodes: check failed: 1 node does not answer\n",
        )
        mute = "timebase param: /mute: no answer within 700ms\n"
        names = "".join(f"  {name}\n" for name in PARAMETERS)
        self.expect(["param", "list", *limit], 1, "/camera:\n" + names, mute)
        status, out, err = self.until(
            ["param", "list", "--json", *limit], lambda *result: '"ok"' in result[1]
        )
        self.assertEqual((status, err), (1, mute))
        self.assertEqual(
            [(node["name"], node["status"], node["parameters"]) for node in json.loads(out)["nodes"]],
            [("/camera", "ok", PARAMETERS), ("/mute", "no answer", [])],
        )
        wait = ("--wait", "60")
        self.expect(["param", "get", "/mute", "a", *limit, *wait], 1, "", mute)
        later = "timebase param: it may have been set; check with 'timebase param get'\n"
        self.expect(["param", "set", "/mute", "a", "1", *limit, *wait], 1, "", mute + later)
        self.expect(
            ["sim-time", "on", "--all", *limit],
            1,
            "/camera  ok\n/mute    no answer\n1 ok, 1 without an answer\n",
            f"timebase sim-time: {WAITS}",
        )

    def test_a_signal_ends_every_wait(self):
        silent = self.odd("silent", "mute")
        self.until_seen("/mute")
        wait, limit = ("--wait", "60"), ("--limit", "60")
        for arguments in (
            ("nodes", *wait),
            ("sim-time", "on", "--all", *wait),
            ("sim-time", "on", "/nobody", *wait),
            ("param", "get", "/nobody", "x", *wait),
        ):
            process = self.run_command(*arguments)
            self.wait_until_it_catches_signals(process)
            process.child.send_signal(signal.SIGINT)
            self.assertEqual((process.wait(), process.seen), (-signal.SIGINT, []), arguments)
        for service, arguments in (
            ("get", ("param", "get", "/mute", "x", *wait, *limit)),
            ("set", ("param", "set", "/mute", "x", "1", *wait, *limit)),
            ("list", ("param", "list", "/mute", *wait, *limit)),
            ("set", ("sim-time", "on", "/mute", *wait, *limit)),
        ):
            process = self.run_command(*arguments)
            silent.expect(f"asked {service}_parameters")
            process.child.send_signal(signal.SIGTERM)
            self.assertEqual((process.wait(), process.seen), (-signal.SIGTERM, []), arguments)

    def test_a_node_that_goes_before_it_answers(self):
        silent = self.odd("silent", "mute")
        process = self.run_command("param", "get", "/mute", "x", "--wait", "60", "--limit", "60")
        silent.expect("asked get_parameters")
        silent.child.stdin.close()
        self.assertEqual(process.wait(), 1)
        self.assertEqual(process.errors[:1], ["timebase param: /mute: gone before it answered"])

    def test_nodes_that_appear_meanwhile_are_set_too(self):
        for _ in range(4):
            silent = self.odd("silent", "mute")
            self.until_seen("/mute")
            process = self.run_command("sim-time", "on", "--all", "--limit", "60")
            silent.expect("asked set_parameters")
            late = self.node("late")
            self.until(
                ["nodes", "--json", "--limit", "100ms"], lambda *result: '"/late"' in result[1]
            )
            silent.child.stdin.close()
            self.assertEqual(process.wait(), 1)
            late.child.terminate()
            self.assertEqual(late.wait(), 0)
            self.assertEqual(process.seen[0], "/mute  gone before it answered")
            if process.seen[1:] == ["/late  ok", "1 ok, 1 without an answer"]:
                return
        self.fail(f"never: {process.seen}")


class LargeTest(GraphCommandTest):
    def test_an_answer_above_the_limit_is_dropped_where_all_nodes_are_asked(self):
        self.odd("large", "large")
        self.node("small")
        self.until_seen("/large", "/small")
        _, out, err = self.until(("param", "list", "--limit", "5s"), lambda _, out, err: "/small:" in out and err)
        self.assertIn("/large: no answer within 5s", err)
        self.assertLess(len(out), 10000)
        status, out, err = self.result("param", "list", "/large", "--wait", "60")
        self.assertEqual((status, err), (0, ""))
        self.assertGreater(len(out), 1 << 20)


class SimTimeTest(GraphCommandTest):
    def test_the_whole_graph(self):
        self.node("camera")
        self.node("lidar", ["-r", "__ns:=/front"], ROS_DISTRO="humble")
        self.odd("bare", "tool")
        self.odd("refuse", "proud", "not me, \xe9")
        self.until_seen("/camera", "/front/lidar", "/proud", "/tool")
        self.expect(
            ["sim-time", "on", "--all"],
            1,
            "/camera       ok\n"
            "/front/lidar  ok\n"
            "/proud        refused: not me, \xe9\n"
            "/tool         skipped: no parameters\n"
            "2 ok, 1 refused, 1 without parameters\n",
            f"timebase sim-time: {WAITS}",
        )
        for node in ("/camera", "/front/lidar"):
            self.expect(["param", "get", node, "use_sim_time"], 0, "Boolean value is: True\n")
        self.expect(["sim-time", "off", "/front/lidar"], 0, "/front/lidar  ok\n")
        self.expect(["param", "get", "/front/lidar", "use_sim_time"], 0, "Boolean value is: False\n")
        self.expect(["param", "get", "/camera", "use_sim_time"], 0, "Boolean value is: True\n")
        self.expect(["sim-time", "on", "tool", "--wait", "2"], 1, "/tool  no parameters\n")

    def test_all_skips_nodes_without_parameters(self):
        self.node("camera")
        self.odd("bare", "tool")
        self.expect(
            ["sim-time", "on", "--all"],
            0,
            "/camera  ok\n/tool    skipped: no parameters\n1 ok, 1 without parameters\n",
            f"timebase sim-time: {WAITS}",
        )

    def test_names(self):
        self.node("camera")
        self.expect(
            ["sim-time", "on", "camera", "/camera", "/camrea"],
            1,
            "/camera  ok\n/camrea  no such node\n1 ok, 1 not found\n",
            f"timebase sim-time: there is no node /camrea in domain {self.domain}; did you mean "
            f"/camera?\ntimebase sim-time: {WAITS}",
        )

    def test_a_missing_node_is_waited_for(self):
        process = self.run_command("sim-time", "on", "/late", "--wait", "60", "--limit", "60")
        self.wait_until_it_catches_signals(process)
        self.node("late")
        self.assertEqual((process.wait(), process.seen), (0, ["/late  ok"]), process.errors)


class ParamTest(GraphCommandTest):
    WAIT = ("--wait", "60", "--limit", "60")

    def test_list_get_and_set(self):
        self.node("camera", ["-r", "__ns:=/front"])
        node = "/front/camera"
        names = "".join(f"{name}\n" for name in PARAMETERS)
        self.assertEqual(self.result("param", "list", node, *self.WAIT), (0, names, ""))
        self.assertEqual(self.result("param", "get", node, "gain", *self.WAIT), (0, "Double value is: 1.0\n", ""))
        self.assertEqual(
            self.result("param", "set", node, "gain", "0.1", *self.WAIT),
            (0, "/front/camera: gain set to 0.1\n", ""),
        )
        for name, typed, alone in (
            ("gain", "Double value is: 0.1", "0.1"),
            ("use_sim_time", "Boolean value is: False", "False"),
            ("time_source", "String value is: clock_topic", "clock_topic"),
        ):
            for option, out in ((), typed), (("--hide-type",), alone):
                arguments = ("param", "get", node, name, *option, *self.WAIT)
                self.assertEqual(self.result(*arguments), (0, f"{out}\n", ""))
        self.assertEqual(
            self.result("param", "get", "front/camera", "gain", "use_sim_time", *self.WAIT),
            (0, "gain: 0.1\nuse_sim_time: false\n", ""),
        )
        self.assertEqual(
            self.result("param", "get", "--json", node, "gain", "gian", *self.WAIT),
            (
                1,
                f'{{"domain": {self.domain}, "node": "/front/camera", "parameters": ['
                '{"name": "gain", "type": "double", "value": 0.1}, '
                '{"name": "gian", "type": null, "value": null}]}\n',
                "timebase param: /front/camera has no parameter gian; did you mean gain?\n",
            ),
        )
        status, out, err = self.result("param", "list", node, "--json", *self.WAIT)
        listed = {"name": node, "status": "ok", "parameters": PARAMETERS}
        self.assertEqual((status, json.loads(out), err), (0, {"domain": self.domain, "nodes": [listed]}, ""))

    def test_what_is_refused(self):
        self.node("camera")
        self.assertEqual(
            self.result("param", "set", "/camera", "gain", "-0.5", *self.WAIT),
            (1, "", "timebase param: /camera refuses gain: gain must not be negative\n"),
        )
        for name, value, text in (
            ("gian", "1.0", "not declared; did you mean gain?\n"),
            ("gain", "text", "timebase param: /camera refuses gain: "),
            ("gain", "'1'", "timebase param: /camera refuses gain: "),
            ("gain", "-1", "cannot be set to a value of type integer; write -1.0\n"),
            ("use_sim_time", "1", "cannot be set to a value of type integer; write true or false\n"),
            ("time_source", "5", "cannot be set to a value of type integer; write \"'5'\"\n"),
        ):
            status, out, err = self.result("param", "set", "/camera", name, value, *self.WAIT)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(text, err)

    def test_no_such_node(self):
        self.node("camera")
        self.expect(
            ["param", "get", "/camrea", "gain"],
            1,
            "",
            f"timebase param: there is no node /camrea in domain {self.domain}; did you mean "
            "/camera?\n",
        )
        self.expect(
            ["param", "list", "/entirely/else"],
            1,
            "",
            f"timebase param: there is no node /entirely/else in domain {self.domain}; 'timebase "
            "nodes' lists the nodes; nodes that do not use loopback are not seen (here 127.0.0.1)\n",
        )
        self.odd("bare", "tool")
        self.expect(
            ["param", "list", "/tool"],
            1,
            "",
            "timebase param: /tool has no parameter services\n",
        )

    def test_text_of_others_is_harmless(self):
        self.odd("strange", "strange")
        status, out, err = self.result("param", "list", "/strange", *self.WAIT)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("red\\x1b[31m\n", out)
        red = "red\x1b[31m"
        status, out, err = self.result("param", "get", "/strange", red, "list", "number", *self.WAIT)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual([c for c in out if not c.isprintable() and c != "\n"], [])
        self.assertEqual(len(out.splitlines()), 3)
        self.assertIn("café", out)
        self.assertIn("number: -.inf\n", out)
        status, out, err = self.result("param", "get", "/strange", red, "no\x1b[31m", *self.WAIT)
        self.assertEqual(status, 1)
        self.assertNotIn("\x1b", out + err)
        status, out, _ = self.result(
            "param", "get", "--json", "/strange", red, "list", "number", "\udcff", *self.WAIT
        )
        self.assertEqual(status, 1)
        self.assertTrue(out.isascii())
        self.assertEqual(
            [(one["type"], one["value"]) for one in json.loads(out)["parameters"]],
            [
                ("string", "\x1b[2Jgone\r\n\x7f\u202e"),
                ("string_array", ["\x1b]0;title\a", "café"]),
                ("double", "-.inf"),
                (None, None),
            ],
        )
        self.assertEqual(json.loads(out)["parameters"][3]["name"], "\ufffd")


class UsageTest(GraphCommandTest):
    def test_bad_usage_exits_2(self):
        for arguments, text in (
            (("nodes", "extra"), "unexpected argument 'extra'"),
            (("nodes", "--wait", "0"), "--wait 0: must be above 0"),
            (("nodes", "--limit", "soon"), "--limit soon: not a duration"),
            (("nodes", "--domain", "233"), "--domain 233: must be a whole number"),
            (("param", "list", "--wait", "-1"), "--wait -1: must be above 0"),
            (("param", "list", "--limit"), "option --limit needs a value"),
            (("sim-time", "on", "--all", "--domain", "x"), "--domain x: must be a whole number"),
            (("sim-time", "on", "--all", "--limit", "0"), "--limit 0: must be above 0"),
            (("param",), "missing action; use list, get or set"),
            (("param", "delete", "/x"), "unknown action 'delete'; use list, get or set"),
            (("param", "list", "/x", "/y"), "list takes [NODE]"),
            (("param", "get", "/x"), "get takes NODE NAME..."),
            (("param", "set", "/x", "y"), "set takes NODE NAME VALUE"),
            (("param", "set", "/x", "y", "1", "--json"), "set does not take --json"),
            (("param", "set", "/x", "y", "1", "--hide-type"), "--hide-type needs get"),
            (("param", "get", "/x", "y", "z", "--hide-type"), "--hide-type needs get"),
            (("param", "get", "/x", "y", "--json", "--hide-type"), "--hide-type needs get"),
            (("param", "list", "--hide-type"), "--hide-type needs get"),
            (("param", "get", "--nonsense"), "unknown option --nonsense"),
            (("sim-time",), "expected 'on' or 'off'"),
            (("sim-time", "maybe", "--all"), "'maybe': expected 'on' or 'off'"),
            (("sim-time", "on"), "no nodes given; name them, or use --all"),
            (("sim-time", "on", "--all", "/x"), "--all and names of nodes exclude each other"),
            (("sim-time", "on", "off"), "expected one 'on' or 'off'; write a node of that name as /off"),
        ):
            status, out, err = self.result(*arguments)
            self.assertEqual((status, out), (2, ""), arguments)
            self.assertIn(text, err)
            self.assertIn(f"usage: timebase {arguments[0]}", err)
        for arguments in (
            ("param", "get", "a b", "x"),
            ("param", "list", "/a//b"),
            ("param", "list", ""),
            ("param", "list", "/" + "a" * 1000),
            ("sim-time", "on", "/\x1b[31m"),
            ("sim-time", "on", "\udcff"),
        ):
            status, out, err = self.result(*arguments)
            self.assertEqual((status, out), (2, ""), arguments)
            self.assertIn("is not a valid node name", err)
            self.assertNotIn("\x1b", err)
        status, _, err = self.result("param", "set", "/x", "y", "[1, two")
        self.assertEqual(status, 2, err)

    def test_help(self):
        for command, text in (
            ("nodes", '"clock_publishers"'),
            ("param", "set NODE NAME VALUE"),
            ("sim-time", "--all"),
        ):
            status, out, err = self.result(command, "--help")
            self.assertEqual((status, err), (0, ""))
            self.assertIn(text, out)
            self.assertTrue(out.startswith(f"usage: timebase {command} "))
            self.assertLessEqual(max(len(line) for line in out.splitlines()), 100)
            self.assertIn(f"  {command}", self.result("--help")[1])

    def test_a_closed_output_ends_it_without_an_error(self):
        self.node("camera")
        self.until_seen("/camera")
        for arguments in (
            ("nodes",),
            ("nodes", "--json"),
            ("param", "list", "/camera", "--wait", "60"),
            ("param", "get", "/camera", "gain", "--wait", "60"),
            ("sim-time", "off", "/camera", "--wait", "60"),
        ):
            read_end, write_end = os.pipe()
            os.close(read_end)
            done = subprocess.run(
                [f"{command_test.BIN_DIR}/timebase", *arguments],
                env=self.environment,
                stdout=write_end,
                stderr=subprocess.PIPE,
                text=True,
                timeout=LIMIT_S,
            )
            os.close(write_end)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)


class ServeArgumentsTest(GraphCommandTest):
    def test_serve_takes_ROS_arguments_and_watch_a_topic(self):
        server = self.run_command(
            *("serve", "--start", "5", "--ros-args", "-r", "__node:=gazebo", "-r", "__ns:=/sim"),
            *("-r", "/clock:=/sim/clock", "--", "--hz", "50"),
        )
        server.expect("time ")
        self.until_seen("/sim/gazebo")
        watch = self.run_command("watch", "--topic", "/sim/clock", "--json")
        while json.loads(watch.expect("{").string)["ticks"] == 0:
            pass
        watch.child.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(), 0, watch.errors)
        server.child.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, server.errors)
        status, out, err = self.result("serve", "--ros-args", "--nonsense")
        self.assertEqual((status, out), (2, ""), err)
        self.assertIn("--nonsense", err)
        watch = self.run_command("watch", "--topic", "/nowhere", "--duration", "0.1")
        self.assertEqual(watch.wait(), 1)
        self.assertIn("no publisher of /nowhere in domain", watch.errors[0])


class ExampleTest(GraphCommandTest):
    def test_a_listener_hears_a_talker_in_simulated_time(self):
        simulated = ("-p", "use_sim_time:=true", "-r", "chatter:=words")
        self.run_command("serve", "--start", "100", "--rate", "5").expect("time 10")
        talker, listener = self.example("talker", *simulated), self.example("listener", *simulated)
        pattern = r"listener: 'hello \d+ of (\d+\.\d{3})' at (\d+\.\d{3})$"
        while float(listener.expect(pattern).group(2)) == 0:
            pass  # a message may come before the first tick
        for _ in range(3):
            match = listener.expect(pattern)
            for time_s in map(float, match.groups()):
                self.assertTrue(100 < time_s < 10_000, match.group())
        for process in (talker, listener):
            process.child.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0, process.errors)


if __name__ == "__main__":
    command_test.BIN_DIR, NODE, ODD = sys.argv[1:4]
    in_parts.main([sys.argv[0], *sys.argv[4:]], 4)
