#!/usr/bin/python3
"""What `timebase nodes|audit --ros1` find on a graph of Debian's ROS 1: each fault of time, and what is
nearly one and must stay silent.

usage: see_test.py READER TIMEBASE [TEST...]"""

import json
import os
import re
import signal
import subprocess
import sys

import ros1_graph
from ros1_graph import LIMIT_S, wait_until
from ros1_test import PUBLISHER, GraphTest

# NAME [wall]: publishes a stamped topic; with "wall" it is on wall time whatever is set.
TALKER = """
import rospy, sys
from geometry_msgs.msg import PointStamped
rospy.init_node(sys.argv[1], disable_rosout=True, disable_rostime="wall" in sys.argv)
publisher = rospy.Publisher("/point_" + sys.argv[1], PointStamped, queue_size=1)
publisher.publish(PointStamped())
rospy.spin()
"""
# NAME {TOPIC: OFFSETS}: publishes PointStamped at 20 Hz, each offset with a frame of its own by turns. An offset
# is of the node's time in seconds; "0" is the stamp 0, "wall" wall time, "=S" the stamp S. /tf gets transforms,
# /latched is published once and kept, /headerless has no header.
STREAMS = """
import json, rospy, sys, time
from geometry_msgs.msg import Point, PointStamped, TransformStamped
from tf2_msgs.msg import TFMessage
rospy.init_node(sys.argv[1], disable_rosout=True)
topics = json.loads(sys.argv[2])
publishers = {}
while not rospy.Time.now():
    rospy.rostime.wallsleep(0.01)

def message(topic, offset, frame):
    if topic == "/headerless":
        return Point()
    at = TransformStamped() if topic == "/tf" else PointStamped()
    at.header.frame_id = frame
    at.header.stamp = (rospy.Time() if offset == "0" else rospy.Time.from_sec(time.time()) if offset == "wall"
                       else rospy.Time.from_sec(float(offset[1:])) if str(offset)[0] == "="
                       else rospy.Time.from_sec(rospy.Time.now().to_sec() + offset))
    return TFMessage([at]) if topic == "/tf" else at

for topic, offsets in topics.items():
    is_latched = topic == "/latched"
    publishers[topic] = rospy.Publisher(topic, type(message(topic, "0", "")), queue_size=10, latch=is_latched)
    if is_latched:
        publishers[topic].publish(message(topic, offsets[0], "map"))
i = 0
while not rospy.is_shutdown():
    for topic, offsets in topics.items():
        offset, frame = offsets[i % len(offsets)], str(i % len(offsets))
        if topic != "/latched":
            publishers[topic].publish(message(topic, offset, "0" if topic == "/backward" else frame))
    i += 1
    rospy.rostime.wallsleep(0.05)
"""
LISTENER = """
import rospy
from geometry_msgs.msg import PointStamped
rospy.init_node("viewer", disable_rosout=True)
rospy.Subscriber("/point_talker", PointStamped, lambda message: None)
rospy.spin()
"""


class Graph(GraphTest):
    """One roscore for all tests, which leave it as they found it."""

    def setUp(self):
        self.addCleanup(self.core.forget)

    @staticmethod
    def stop(child, by=None):
        """One of Debian's ROS 1 is killed, which is quicker."""
        is_foreign = child.args[0].startswith("/usr/")
        ros1_graph.stop(child, by or (signal.SIGKILL if is_foreign else signal.SIGINT))

    def topics_of(self, name, kind):
        return [topic for topic, nodes in self.core.master.getSystemState("/test")[2][kind] if name in nodes]

    def python(self, program, name, *arguments, topic=None):
        """Started once more if nothing is seen of it: now and then rospy's start never ends."""
        for is_last in False, True:
            child = self.start("/usr/bin/python3", "-c", program, *arguments)
            try:
                wait_until(lambda: topic in self.topics_of(f"/{name}", 0) + self.topics_of(f"/{name}", 1),
                           f"{topic} of {name}")
                return child
            except AssertionError:
                if is_last or child.poll() is not None:
                    raise
                child.kill()

    def talker(self, name="talker", *arguments):
        return self.python(TALKER, name, name, *arguments, topic=f"/point_{name}")

    def clock(self, name="sim", time_s="1000"):
        return self.python(PUBLISHER, name, name, time_s, topic="/clock")

    def set_sim_time(self, value=True):
        self.core.set_sim_time(value)

    def run_timebase(self, *words, status=None, environment=None):
        result = subprocess.run([TIMEBASE, *words], env={**self.core.environment, **(environment or {})},
                                capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if status is not None:
            self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def audit(self, *words):
        """Findings by rule: {rule: {subject: evidence}}, folded ones too."""
        self.report = report = json.loads(self.run_timebase("audit", "--ros1", "--json", "--duration", "1s",
                                                            *words).stdout)
        out = {}

        def take(finding):
            for subject in finding["subjects"]:
                out.setdefault(finding["rule"], {})[subject["name"]] = subject["evidence"]
            for below in finding["caused"]:
                take(below)
        for finding in report["findings"]:
            take(finding)
        return out

    def until_audit(self, *rules):
        """The findings of the first run that has those of these rules and no other: a busy machine has
        findings of its own, and nodes that have registered are connected a little later."""
        found = {}

        def look():
            found.clear()
            found.update(self.audit())
            return sorted(found) == sorted(rules)
        wait_until(look, lambda: f"{rules}: {found}")
        return found

    def until_folded(self, status, *expected):
        """The same of the exit status and (rule, severity, rules below it)."""
        seen = []

        def look():
            result = self.run_timebase("audit", "--ros1", "--json")
            seen[:] = [(one["rule"], one["severity"], tuple(below["rule"] for below in one["caused"]))
                       for one in json.loads(result.stdout)["findings"]]
            return (result.returncode, seen) == (status, list(expected))
        wait_until(look, lambda: f"{expected}: {seen}")

    def nodes(self, *words):
        report = json.loads(self.run_timebase("nodes", "--ros1", "--json", *words).stdout)
        return {node["name"]: node for node in report["nodes"]}, report

    def until_run(self, is_right, *words):
        """The first run whose status, output and errors are right."""
        last = []

        def look():
            result = self.run_timebase(*words)
            last[:] = result.returncode, result.stdout, result.stderr
            return is_right(*last)
        wait_until(look, lambda: f"{words}: {last}")
        return last


class FindingsTest(Graph):
    def test_nothing_is_wrong_with_a_bare_core(self):
        self.until_audit()
        nodes, report = self.nodes()
        self.assertEqual(list(nodes), ["/rosout"])
        self.assertEqual((nodes["/rosout"]["state"], nodes["/rosout"]["role"]), ("alive", "tool"))
        self.assertEqual(report["use_sim_time"], {"state": "unset", "value": None})

    def test_nothing_is_wrong_with_nodes_that_follow(self):
        self.set_sim_time()
        self.clock()
        self.talker()
        self.until_audit()
        def follows():
            nodes, report = self.nodes()
            talker = nodes["/talker"]
            found = talker["time_base"], talker["state"], talker["clock_connections"], report["clock"]["state"]
            return found == ("clock", "alive", 1, "ticks") and (talker, report)
        talker, report = wait_until(follows, "a talker that follows")
        self.assertTrue(os.path.exists(f"/proc/{talker['pid']}"))
        self.assertIn({"topic": "/point_talker", "type": "geometry_msgs/PointStamped"}, talker["publishes"])
        self.until_run(lambda status, *_: status == 0, "nodes", "--ros1", "--check")

    def test_clock_while_the_parameter_is_not_set(self):
        self.talker()
        self.until_audit()  # wall time, and no /clock
        self.clock()
        found = self.until_audit("sim-time-unset")
        evidence = "\n".join(found["sim-time-unset"]["/use_sim_time"])
        self.assertIn("it is not set\n/clock is published by /sim\n1 node is on wall time", evidence)
        text = "ros1:     rosparam set /use_sim_time true\n"
        _, text, _ = self.until_run(lambda status, out, _: status == 1 and text in out, "audit", "--ros1")
        self.assertIn("timebase: timebase param set /use_sim_time true --ros1\n", text)
        self.assertIn('launch:   <param name="/use_sim_time" type="bool" value="true"/>\n', text)
        line = ("error sim-time-unset: /use_sim_time is not true in a graph of ROS 1 with /clock; "
                "rosparam set /use_sim_time true\n")
        self.until_run(lambda status, out, _: status == 1 and line in out, "nodes", "--ros1", "--check")

    def test_a_node_that_started_before_it_was_set(self):
        self.talker("early")
        self.clock()
        self.set_sim_time()
        self.talker("late")
        found = self.until_audit("mixed-time-base")
        self.assertEqual(list(found["mixed-time-base"]), ["/early"])
        self.assertIn("it started before /use_sim_time was set", "\n".join(found["mixed-time-base"]["/early"]))
        self.until_run(lambda status, out, _: status == 1 and "rosnode kill /early" in out, "audit", "--ros1")

    def test_a_viewer_on_wall_time_is_a_warning(self):
        self.python(LISTENER, "viewer", topic="/point_talker")
        self.clock()
        self.set_sim_time()
        self.until_folded(0, ("mixed-time-base", "warn", ()))

    def test_a_value_on_which_roscpp_and_rospy_disagree(self):
        self.clock()
        for value, shown in ((1, "the integer 1"), ("true", 'the text "true"'), (1.0, "the number 1")):
            self.set_sim_time(value)
            found = self.until_audit("sim-time-type")
            self.assertTrue(found["sim-time-type"]["/use_sim_time"][0].startswith(f"it is {shown}: "), found)
        self.set_sim_time(0)  # false for both
        self.until_audit("sim-time-unset")

    def test_set_and_no_clock_server(self):
        self.set_sim_time()
        self.until_folded(0, ("clock-missing", "warn", ()))  # no node waits yet
        self.talker()
        self.until_folded(1, ("clock-missing", "error", ("no-clock-received",)))

    def test_a_server_that_died(self):
        self.set_sim_time()
        server = self.clock()
        self.talker()
        self.until_audit()
        self.stop(server, signal.SIGKILL)
        found = self.until_audit("clock-missing", "no-clock-received", "node-unreachable")
        self.assertIn("not answering: /sim", found["clock-missing"]["/use_sim_time"][0])
        self.assertEqual(list(found["no-clock-received"]), ["/talker"])

    def test_a_paused_server_is_no_missing_one(self):
        server = self.start(TIMEBASE, "serve", "--ros1", "--no-topic", "--paused", "--start", "500")
        wait_until(lambda: "/clock" in self.topics_of("/clock_server", 0), "a server")
        self.talker()
        self.until_audit()
        text = "/clock is paused at 500.000 s"
        self.until_run(lambda status, out, _: text in out, "nodes", "--ros1")
        self.stop(server)

    def test_a_silent_publisher_is_none(self):
        """As `rosbag play` without --clock is."""
        bag = f"{self.folder}/text.bag"
        subprocess.run(["/usr/bin/python3", "-c", "import rosbag, sys\n"
                        "from std_msgs.msg import String\nfrom rospy import Time\n"
                        "with rosbag.Bag(sys.argv[1], 'w') as bag:\n"
                        "  for i in range(200): bag.write('/text', String('a'), Time(1000 + i))\n", bag],
                       check=True, env=self.core.environment)
        self.start("/usr/lib/rosbag/play", bag)
        wait_until(lambda: any("/play_" in node for _, nodes in self.core.master.getSystemState("/test")[2][0]
                               for node in nodes), "a player")
        self.talker()
        self.until_audit()  # nothing ticks, and nothing is set
        self.set_sim_time()
        found = self.until_audit("clock-missing")
        self.assertIn("silent: /play_", found["clock-missing"]["/use_sim_time"][0])
        self.clock()
        self.until_audit("mixed-time-base")  # the talker; not two publishers

    def test_two_publishers(self):
        self.set_sim_time()
        self.clock("sim_a", "1000")
        self.until_audit()
        self.clock("sim_b", "5000")
        found = self.until_audit("clock-two-publishers")
        evidence = found["clock-two-publishers"]["/clock"][0]
        self.assertIn("/sim_a", evidence)
        self.assertIn("/sim_b", evidence)

    def test_watching_tells_what_comes_and_goes(self):
        self.set_sim_time()
        self.clock("sim_a", "1000")
        self.until_audit()
        command = [TIMEBASE, "audit", "--ros1", "--watch", "--duration", "1s"]
        text, rounds = (subprocess.Popen([*command, *words], env=self.core.environment, stdout=subprocess.PIPE, text=True)
                        for words in ([], ["--json"]))
        self.addCleanup(text.kill)
        self.addCleanup(rounds.kill)
        first = json.loads(rounds.stdout.readline())
        self.assertEqual((len(first["come"]), first["gone"]), (len(first["findings"]), []))
        for line in text.stdout:
            if line.startswith(("no findings; ", "1 ")):  # the end of the first round, which is printed as a whole
                break
        two = "error clock-two-publishers: "
        other = self.clock("sim_b", "5000")
        came = next(one for one in map(json.loads, rounds.stdout) if any(two in title for title in one["come"]))
        self.assertIn("clock-two-publishers", [finding["rule"] for finding in came["findings"]])
        next(line for line in text.stdout if line.startswith("+ " + two))
        self.stop(other)
        next(one for one in map(json.loads, rounds.stdout) if any(two in title for title in one["gone"]))
        next(line for line in text.stdout if line.startswith("- " + two))
        for child in text, rounds:
            child.send_signal(signal.SIGINT)
            self.assertIn(child.wait(LIMIT_S), (0, 1))  # by the last round: the other node is gone without a word
            child.stdout.close()

    def test_a_recorder_is_not_judged_by_its_subscription(self):
        self.start("/usr/lib/rosbag/record", "-O", f"{self.folder}/rec", "/clock")
        wait_until(lambda: any("/record_" in name for topic, names in
                               self.core.master.getSystemState("/test")[2][1] if topic == "/clock"
                               for name in names), "a recorder")
        self.clock()
        self.set_sim_time()
        self.until_audit()
        nodes, _ = self.nodes()
        recorder = next(node for name, node in nodes.items() if name.startswith("/record_"))
        self.assertEqual((recorder["role"], recorder["time_base"]), ("recorder", "unknown"))

    def test_dead_and_hung_nodes(self):
        dead, hung = self.talker("dead"), self.talker("hung")
        self.talker("well")
        self.until_audit()
        self.stop(dead, signal.SIGKILL)
        hung.send_signal(signal.SIGSTOP)
        self.addCleanup(hung.send_signal, signal.SIGCONT)
        expected = {"/dead": "dead", "/hung": "silent", "/well": "alive", "/rosout": "alive"}
        last = {}

        def look():
            nodes, report = self.nodes("--limit", "2s")
            last.update({name: node["state"] for name, node in nodes.items()})
            return last == expected and report
        report = wait_until(look, lambda: last)
        self.assertEqual([finding["rule"] for finding in report["findings"]], ["node-unreachable"])
        self.assertEqual([subject["name"] for subject in report["findings"][0]["subjects"]], ["/dead", "/hung"])
        hung.send_signal(signal.SIGCONT)

    def streams(self, name="stamper", **topics):
        self.python(STREAMS, name, name, json.dumps({f"/{topic}": offsets for topic, offsets in topics.items()}),
                    topic=f"/{list(topics)[-1]}")

    def audit_stamps(self, expected, sampled):
        """Until all topics have come, with all that is expected; never is anything else found. {rule: topics}"""
        found = {}

        def is_complete():
            found.clear()
            found.update(self.audit())
            topics = {rule: sorted(subjects) for rule, subjects in found.items()}
            if self.report["clock"]["state"] in ("silent", "stopped"):
                return False  # a busy machine
            for rule, subjects in topics.items():
                self.assertLessEqual(set(subjects), set(expected.get(rule, ())), found)
            return topics == expected and self.report["topics_sampled"] == sampled
        wait_until(is_complete, lambda: f"{expected}: {found}")
        return found

    def test_stamps(self):
        server = self.start(TIMEBASE, "serve", "--ros1", "--no-topic", "--start", "1000", "--hz", "3")
        wait_until(lambda: "/clock" in self.topics_of("/clock_server", 0), "a server")
        self.streams(zero=["0"], headerless=[0], other=["wall"], good=[0], future=[3], tf=[0.5], old=[-8],
                     young=[-2], latched=[-100], backward=[-1, -1.5], frames=[-1, -1.5])
        found = self.audit_stamps({"stamp-zero": ["/zero"], "stamp-other-domain": ["/other"],
                                   "stamp-future": ["/future"], "stamp-old": ["/old"],
                                   "stamp-backward": ["/backward"]}, sampled=9)
        self.assertIn("stamps are of system time", found["stamp-other-domain"]["/other"][0])
        texts = ("error stamp-zero: /zero of /stamper has messages with the stamp 0\n",
                 "ros1:     rostopic delay /future\n")
        self.until_run(lambda status, out, _: status == 1 and all(text in out for text in texts), "audit", "--ros1")
        self.assertFalse({node for _, nodes in self.core.master.getSystemState("/test")[2][1] for node in nodes} -
                         {"/rosout", "/stamper"})
        self.stop(server)

    def test_stamps_on_wall_time(self):
        self.streams(wall=["wall"], simulated=["=1000"], late=[-8], latched=[-100])
        found = self.audit_stamps({"stamp-other-domain": ["/simulated"], "stamp-old": ["/late"]}, sampled=3)
        self.assertIn("more than a year off (1000.000 s", found["stamp-other-domain"]["/simulated"][0])
        self.clock()
        found = self.audit_stamps({"stamp-other-domain": ["/simulated"], "stamp-old": ["/late"],
                                   "sim-time-unset": ["/use_sim_time"]}, sampled=3)
        below = {one["rule"] for one in self.report["findings"][0]["caused"]}
        self.assertEqual(below, {"stamp-other-domain", "stamp-old"})
        self.assertIn("published by /stamper", found["stamp-other-domain"]["/simulated"])
        self.set_sim_time()  # too late for the node: its stamps are of another time base now, and /simulated is good
        found = self.audit_stamps({"mixed-time-base": ["/stamper"], "stamp-other-domain": ["/late", "/wall"],
                                   "stamp-old": ["/simulated"], "stamp-whole-seconds": ["/simulated"]}, sampled=3)

    def test_what_only_ros2_has_is_refused(self):
        for words, text in ((("--wait", "1"), "of DDS"), (("--domain", "1"), "of DDS"),
                            (("m.yaml",), "a manifest declares a graph of ROS 2")):
            self.assertIn(text, self.run_timebase("audit", "--ros1", *words, status=2).stderr)

    def test_no_command_leaves_anything_on_the_master(self):
        for words in (("nodes",), ("audit", "--duration", "0.1s")):
            self.run_timebase(*words, "--ros1", status=0)
            self.assertEqual({node for lists in self.core.master.getSystemState("/test")[2]
                              for _, nodes in lists for node in nodes}, {"/rosout"})


class ClockTest(Graph):
    """`watch` and `wait`."""

    def serve(self, *words):
        child = self.start(TIMEBASE, "serve", "--ros1", "--no-topic", "--start", "500", *words)
        wait_until(lambda: "/clock" in self.topics_of("/clock_server", 0), "a server")
        return child

    def wait(self, *words, status=0, **environment):
        result = self.run_timebase("wait", "--ros1", "--json", *words, status=status, environment=environment)
        return json.loads(result.stdout), result.stderr

    def until_reason(self, reason, *words):
        """The result of the first run with that reason, and not ready."""
        _, out, _ = self.until_run(lambda status, out, _: status == 1 and json.loads(out)["reason"] == reason,
                                   "wait", "--ros1", "--json", *words)
        return json.loads(out)

    def test_watch_follows(self):
        self.serve("--rate", "2")

        def is_right(status, out, log):
            total = json.loads(out.splitlines()[-1])
            found = (status, total["state"], total["publishers"], total["matched"], total["error_ns"], log)
            return (found == (0, "running", 1, 1, None, "") and abs(total["rtf"] - 2) < 0.4
                    and abs(total["rate_hz"] - 100) < 30)
        self.until_run(is_right, "watch", "--ros1", "--json", "--duration", "1.5s")
        self.run_timebase("watch", "--ros1", "--max-error", "5ms", status=2)
        self.run_timebase("watch", "--ros1", "--domain", "5", status=2)

    def test_watch_reports_each_fault_once(self):
        self.clock("sim_a", "1000")
        _, out, log = self.until_run(lambda status, _, log: status == 0 and log.count("sim-time-unset") == 1,
                                     "watch", "--ros1", "--json", "--duration", "7.5s")
        self.assertIn(json.loads(out.splitlines()[-1])["state"], ("running", "stalled"))
        self.assertIn("timebase watch: error sim-time-unset: /use_sim_time is not true in a graph of ROS 1 with "
                      "/clock; rosparam set /use_sim_time true\n", log)

    def test_watch_of_nothing_tells_why(self):
        text = "no publisher of /clock on the ROS 1 graph; start a simulator, 'rosbag play --clock'"
        _, out, _ = self.until_run(lambda status, out, log: status == 1 and text in log,
                                   "watch", "--ros1", "--json", "--duration", "1.5s")
        self.assertEqual(json.loads(out.splitlines()[-1])["state"], "no publisher")
        child = self.clock("sim")
        child.send_signal(signal.SIGKILL)
        child.wait()
        text = "/clock is registered for /sim, which does not answer ("
        self.until_run(lambda status, out, log: status == 1 and text in log,
                       "watch", "--ros1", "--duration", "1.5s")

    def test_wait_is_ready_at_the_first_tick(self):
        child = subprocess.Popen([TIMEBASE, "wait", "--ros1", "--json"], env=self.core.environment,
                                 stdout=subprocess.PIPE, text=True)
        wait_until(lambda: any(topic == "/clock" for topic, _ in self.core.master.getSystemState("/test")[2][1]),
                   "a waiting command")
        self.assertIsNone(child.poll())
        self.serve()
        out, _ = child.communicate(timeout=LIMIT_S)
        self.assertEqual((child.returncode, json.loads(out)["reason"]), (0, "ready"))

    def test_wait_reports_a_pause(self):
        self.serve("--paused")

        def is_paused(status, out, _):  # on a busy machine its ticks may pause before they repeat
            result = json.loads(out)
            self.assertEqual((status, result["ready"], result["time_ns"], result["rules"]), (0, True, 500_000_000_000, []))
            return result["paused"]
        self.until_run(is_paused, "wait", "--ros1", "--json")
        self.until_reason("paused", "--running", "--limit", "1s")

    def test_wait_measures(self):
        self.serve("--rate", "3")
        self.until_run(lambda status, out, _: status == 0 and abs(json.loads(out)["rtf"] - 3) < 0.6,
                       "wait", "--ros1", "--json", "--rtf", "2:4", "--min-rate", "20")
        self.until_reason("fast", "--rtf", "0.9:1.1", "--limit", "2s")
        self.until_reason("slow", "--min-rate", "5000", "--limit", "2s")

    def test_wait_refuses_two_publishers(self):
        self.set_sim_time()
        self.clock("sim_a", "1000")
        self.assertTrue(self.wait()[0]["ready"])
        self.clock("sim_b", "5000")
        result = self.until_reason("two-publishers", "--limit", "4s")
        self.assertEqual(result["rules"], ["clock-two-publishers"])
        text = "2 publishers of /clock tick by turns: /sim_[ab] and /sim_[ab]; stop all but one"
        self.until_run(lambda status, _, log: status == 1 and re.search(text, log), "wait", "--ros1", "--limit", "4s")

    def test_wait_for_nothing(self):
        self.assertEqual(self.until_reason("no-publisher", "--limit", "1s")["rules"], [])

    def test_wait_warns_of_what_is_wrong_beside_it(self):
        self.talker("early")
        self.clock()
        self.set_sim_time()
        text = ("timebase wait: error mixed-time-base: /early is on wall time in a graph with /clock; "
                "rosnode kill /early\n")
        self.until_run(lambda status, _, log: status == 0 and text in log, "wait", "--ros1")

    def test_a_master_that_is_not_there(self):
        with ros1_graph.socket.create_server(("127.0.0.1", 0)) as silent:
            refused, hung = "http://127.0.0.1:1/", f"http://127.0.0.1:{silent.getsockname()[1]}/"
            for uri in refused, hung:
                for words in (("watch",), ("nodes",), ("audit",)):
                    result = self.run_timebase(*words, "--ros1", status=3, environment={"ROS_MASTER_URI": uri})
                    self.assertIn(f"the ROS 1 master at {uri[:-1]} does not answer (", result.stderr)
                    self.assertIn("start roscore, or correct ROS_MASTER_URI", result.stderr)
            result, _ = self.wait("--limit", "0.5s", status=3, ROS_MASTER_URI=refused)
            self.assertEqual(result["reason"], "no-master")
        self.run_timebase("watch", "--ros1", status=3, environment={"ROS_MASTER_URI": "localhost"})


class ParameterTest(Graph):
    """`param`."""

    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: self.core.master.deleteParam("/test", "/p"))

    def param(self, *words, status=0):
        return self.run_timebase("param", *words, "--ros1", status=status)

    def test_types_are_kept(self):
        master = self.core.master
        for text, value in (("true", True), ("false", False), ("no", False), ("1", 1), ("-7", -7), ("1.0", 1.0),
                            ("-0.5", -0.5), ("text", "text"), ("'5'", "5"), ('"true"', "true"), ("[1, 2.5, a]", None),
                            ("[1, 2]", [1, 2]), ("[a, b]", ["a", "b"]), ('[1, 2.5, "a", [true]]', [1, 2.5, "a", [True]]),
                            ('{"a": 1, "b": {"c": "x"}}', {"a": 1, "b": {"c": "x"}}), ("[]", [])):
            if value is None:
                self.param("set", "/p", text, status=2)
                continue
            self.param("set", "/p", text)
            read = master.getParam("/test", "/p")[2]
            self.assertEqual((read, type(read)), (value, type(value)), text)
            shown = json.loads(self.param("get", "p").stdout)
            self.assertEqual((shown, type(shown)), (value, type(value)), text)
            self.param("set", "/p", self.param("get", "/p").stdout)  # what is printed can be set
            self.assertEqual(master.getParam("/test", "/p")[2], value)

    def test_what_cannot_be_set(self):
        for text, why in (("3000000000", "32 bits"), (".inf", "infinite"), ("null", "delete"), ("{a: 1}", "must be JSON"),
                          ("deg(90)", "radians"), ("[" * 40 + "]" * 40, "in each other")):
            self.assertIn(why, self.param("set", "/p", text, status=2).stderr, text)
        self.param("set", "/a b", "1", status=2)
        self.param("set", "/p", status=2)
        self.param("foo", status=2)

    def test_list_get_and_delete(self):
        self.core.master.setParam("/test", "/p/b/c", 1)
        self.core.master.setParam("/test", "/p/a", "x")
        self.core.master.setParam("/test", "/pq", 2)
        self.addCleanup(lambda: self.core.master.deleteParam("/test", "/pq"))
        self.assertEqual(self.param("list", "/p").stdout, "/p/a\n/p/b/c\n")
        self.assertIn("/run_id", json.loads(self.param("list", "--json").stdout))
        self.assertEqual(self.param("get", "/p/a", "/pq").stdout, '/p/a: "x"\n/pq: 2\n')
        self.assertEqual(json.loads(self.param("get", "--json", "/p").stdout),
                         {"/p": {"type": "dictionary", "value": {"a": "x", "b": {"c": 1}}}})
        self.param("delete", "/p/a")
        self.assertEqual(self.param("list", "/p").stdout, "/p/b/c\n")
        for words in (("get", "/p/a"), ("delete", "/p/a")):
            self.assertIn("is not set", self.param(*words, status=1).stderr)

    def test_use_sim_time(self):
        self.assertNotIn("warning", self.param("set", "/use_sim_time", "true").stderr)
        self.assertIs(self.core.master.getParam("/test", "/use_sim_time")[2], True)
        self.assertIn("warning: /use_sim_time is the integer now", self.param("set", "/use_sim_time", "1").stderr)

    def test_no_master(self):
        self.assertIn("start roscore", self.run_timebase("param", "--ros1", "list", status=3, environment={
            "ROS_MASTER_URI": "http://127.0.0.1:1"}).stderr)


# OFFSETS...: publishes /stamped at 20 Hz; the stamps are off system time by these seconds, in turn, "0" is a
# stamp of zero.
STAMPER = """
import rospy, sys, time
from sensor_msgs.msg import Imu
rospy.init_node("stamper", disable_rosout=True, disable_rostime=True)
publisher = rospy.Publisher("/stamped", Imu, queue_size=10)
offsets = sys.argv[1:]
i = 0
while not rospy.is_shutdown():
    message = Imu()
    message.header.frame_id = "imu link"
    message.linear_acceleration.z = 9.81
    message.angular_velocity.x = float("nan")
    message.orientation_covariance[0] = -1
    offset = offsets[i % len(offsets)]
    if offset != "0":
        message.header.stamp = rospy.Time.from_sec(time.time() + float(offset))
    publisher.publish(message)
    i += 1
    rospy.rostime.wallsleep(0.05)
"""
POLYGON = """
import rospy
from geometry_msgs.msg import PolygonStamped, Point32
from std_msgs.msg import UInt8MultiArray
rospy.init_node("shapes", disable_rosout=True, disable_rostime=True)
polygon, array = PolygonStamped(), UInt8MultiArray()
polygon.header.frame_id = "true"
polygon.polygon.points = [Point32(0.1, 2, -3.5), Point32()]
array.data = bytes(range(200))
a = rospy.Publisher("/polygon", PolygonStamped, queue_size=1, latch=True)
b = rospy.Publisher("/array", UInt8MultiArray, queue_size=1, latch=True)
a.publish(polygon)
b.publish(array)
rospy.spin()
"""


class TopicTest(Graph):
    """`topic`."""

    def topic(self, *words, status=0):
        return self.run_timebase("topic", "--ros1", *words, status=status)

    def lines(self, *words, status=0):
        return [json.loads(line) for line in self.topic("--json", *words, status=status).stdout.splitlines()]

    def until_total(self, is_right, *words):
        """The summary of the first run whose summary is right."""
        def is_total(status, out, _):
            try:
                return status == 0 and is_right(json.loads(out.splitlines()[-1]))
            except TypeError:  # null: too little was seen for it
                return False
        _, out, _ = self.until_run(is_total, "topic", "--ros1", "--json", *words)
        return json.loads(out.splitlines()[-1])

    def stamper(self, *offsets):
        return self.python(STAMPER, "stamper", *offsets, topic="/stamped")

    def test_pub(self):
        """rospy takes what is published: the definition and its sum are those that it has."""
        import yaml
        rostopic = subprocess.Popen(["/usr/bin/rostopic", "echo", "-n", "2", "/pose"], stdout=subprocess.PIPE, text=True,
                                    env=self.core.environment)
        self.addCleanup(self.stop, rostopic)
        self.run_timebase("topic", "pub", "--ros1", "-t", "2", "-r", "20", "/pose", "geometry_msgs/PoseStamped",
                   "{header: {stamp: now, frame_id: map}, pose: {position: {x: 1.5}}}", status=0)
        out, _ = rostopic.communicate(timeout=LIMIT_S)
        first, second, _ = yaml.safe_load_all(out)
        self.assertEqual(first["pose"]["position"], {"x": 1.5, "y": 0.0, "z": 0.0})
        self.assertEqual(second["pose"], first["pose"])
        self.assertEqual(first["header"]["frame_id"], "map")
        self.assertGreater(first["header"]["stamp"]["secs"], 1_500_000_000)
        refused = self.run_timebase("topic", "pub", "--ros1", "-1", "--domain", "1", "/a", "std_msgs/String", status=2)
        self.assertIn("--domain cannot be used with --ros1", refused.stderr)

    def test_list(self):
        self.python(POLYGON, "shapes", topic="/array")
        topics = {one["topic"]: one for one in self.lines("list")[0]}
        self.assertEqual(topics["/polygon"], {"topic": "/polygon", "type": "geometry_msgs/PolygonStamped",
                                              "publishers": 1, "subscribers": 0})
        self.assertRegex(self.topic("list").stdout, r"(?m)^/rosout +rosgraph_msgs/Log +\d+ +1$")

    def test_echo(self):
        self.python(POLYGON, "shapes", topic="/array")
        self.assertEqual(self.topic("echo", "/polygon", "-n", "1").stdout, """# the stamp is 0
header:
  seq: 1
  stamp:
    sec: 0
    nanosec: 0
  frame_id: "true"
polygon:
  points:
  - x: 0.1
    y: 2.0
    z: -3.5
  - x: 0.0
    y: 0.0
    z: 0.0
---
""")
        message, = self.lines("echo", "polygon", "-n", "1")
        self.assertEqual((message["publisher"], message["latched"], message["stamp_problem"]), ("/shapes", True, "zero"))
        self.assertEqual(message["message"]["polygon"]["points"][0], {"x": 0.1, "y": 2.0, "z": -3.5})
        data = self.lines("echo", "/array", "-n", "1")[0]["message"]["data"]
        self.assertEqual(data, [*range(128), "..."])
        data = self.lines("echo", "/array", "-n", "1", "--full")[0]["message"]["data"]
        self.assertEqual(data, [*range(200)])
        self.assertEqual(self.lines("echo", "/clock", "--duration", "0.3s", status=1), [])

    def test_echo_agrees_with_rostopic(self):
        import yaml  # rostopic needs it
        self.stamper("-0.01")
        ours = self.lines("echo", "/stamped", "-n", "1")[0]["message"]
        theirs = yaml.safe_load(subprocess.run(["/usr/bin/rostopic", "echo", "-n", "1", "/stamped"], check=True,
                                               env=self.core.environment, capture_output=True, text=True,
                                               timeout=LIMIT_S).stdout.split("---")[0])
        for message in (ours, theirs):
            del message["header"]
        self.assertEqual(ours["angular_velocity"].pop("x"), ".nan")
        self.assertEqual(theirs["angular_velocity"].pop("x"), "nan")
        self.assertEqual(ours, theirs)

    def test_rate_and_size(self):
        self.stamper("0.0")
        self.until_total(lambda total: total["summary"] and abs(total["rate_hz"] - 20) < 6,
                         "hz", "/stamped", "-n", "20")
        total = self.lines("bw", "/stamped", "-n", "5")[-1]
        self.assertEqual((total["messages"], total["size_min"], total["bytes"]), (5, 320, 5 * 320))
        self.assertRegex(self.topic("bw", "/stamped", "-n", "5").stdout, r"total: [0-9.]+ kB/s  size 320 to 320")
        self.until_run(lambda status, out, _: re.search(r"(?m)^rate [0-9.]+ Hz  interval ", out),
                       "topic", "--ros1", "hz", "/stamped", "--duration", "1.5s")

    def test_the_rate_of_clock_in_both_times(self):
        self.set_sim_time()
        self.start(TIMEBASE, "serve", "--ros1", "--no-topic", "--rate", "2", "--start", "100")
        self.stamper("0.0")
        wait_until(lambda: "/clock" in self.topics_of("/clock_server", 0), "a server")
        self.until_total(lambda total: abs(total["rate_hz"] - 100) < 30, "hz", "/clock", "-n", "100")
        self.until_total(lambda total: abs(total["ros_rate_hz"] - total["rate_hz"] / 2) < 2,
                         "hz", "/stamped", "--duration", "2.5s")

    def test_delay(self):
        self.stamper("-0.2")
        total = self.until_total(lambda total: abs(total["delay_mean_ns"] / 1e9 - 0.2) < 0.1,
                                 "delay", "/stamped", "-n", "10")
        self.assertEqual([total[key] for key in ("messages", "stamps", "zero", "future", "backward")], [10, 10, 0, 0, 0])

    def test_stamps_that_are_wrong_are_counted(self):
        self.stamper("-0.1", "0", "5", "-0.1")
        self.until_total(lambda total: total["zero"] == 10 and abs(total["future"] - 10) <= 1
                         and abs(total["backward"] - 10) <= 1, "delay", "/stamped", "-n", "40")
        text = r"zero 10  future 10  backward (9|10)"
        self.until_run(lambda status, out, _: status == 0 and re.search(text, out),
                       "topic", "--ros1", "delay", "/stamped", "-n", "40")
        problems = {one["stamp_problem"] for one in self.lines("echo", "/stamped", "-n", "12")}
        self.assertEqual(problems, {"zero", "future", "backward", None})

    def test_stamps_are_compared_with_the_time_of_nodes(self):
        self.set_sim_time()
        self.clock()
        self.stamper("0.0")  # stamps of system time
        self.until_total(lambda total: total["future"] + total["backward"] >= 9, "delay", "/stamped", "-n", "10")

    def test_no_topic(self):
        self.talker()
        for topic, text in (("/point_talked", "no publisher of /point_talked on the ROS 1 graph; did you mean /point_talker?"),
                            ("/point_talker", "1 publisher, and no message was received")):
            self.until_run(lambda status, _, log, text=text: status == 1 and text in log,
                           "topic", "--ros1", "hz", topic, "--duration", "0.5s")
        self.topic("hz", status=2)
        self.topic("foo", status=2)
        self.run_timebase("topic", "list", "--ros1", status=3, environment={"ROS_MASTER_URI": "http://127.0.0.1:1"})


if __name__ == "__main__":
    if not os.access("/usr/bin/roscore", os.X_OK):
        print("no ROS 1: apt-get install ros-core python3-rospy python3-geometry-msgs")
        sys.exit(77)
    TIMEBASE = os.path.abspath(sys.argv.pop(2))
    ros1_graph.main(4)
