#!/usr/bin/env python3
"""python_test LIBRARY PUBLISHER FOLDER_OF_PYSTUB: an interpreter whose callbacks come while it holds its lock, throw,
and end with it."""
import os
import re
import subprocess
import sys
import unittest

from publishing import Publisher, remove_page

LIBRARY, PUBLISHER, FOLDER = sys.argv[1:4]
NODE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_node.py")


class Python(unittest.TestCase):
    def setUp(self):
        self.name = f"rcl-python-{os.getpid()}"
        self.publisher = Publisher(PUBLISHER, self.name)
        self.publisher.publish(1)
        self.publisher.start_jumps()

    def tearDown(self):
        self.publisher.process.stdin.close()
        self.publisher.process.wait(30)
        self.publisher.process.stdout.close()
        remove_page(self.name)

    def run_node(self, scenario):
        environment = dict(os.environ, LD_PRELOAD=LIBRARY, TIMEBASE_SOURCE=f"shm:{self.name}", PYTHONPATH=FOLDER)
        result = subprocess.run([sys.executable, NODE, scenario], env=environment, capture_output=True, text=True,
                                timeout=60, check=False)
        self.assertEqual(result.returncode, 0, (scenario, result.stdout, result.stderr))
        # A callback is slow on a busy machine; one that keeps readers waiting would be a fault.
        slow = re.compile("has been running for .*readers blocked: 0")
        return result.stdout.splitlines(), [line for line in result.stderr.splitlines() if not slow.search(line)]

    def test_callbacks_get_the_lock_from_a_thread_that_reads(self):
        self.assertEqual(self.run_node("busy"), (["done"], []))

    def test_removing_does_not_keep_the_lock_while_it_waits(self):
        self.assertEqual(self.run_node("churn"), (["done"], []))

    def test_exceptions_end_in_the_callback_and_are_noted(self):
        out, err = self.run_node("exception")
        self.assertEqual(out, ["alive True", "done"])
        self.assertGreaterEqual(len(err), 4)
        self.assertEqual(set(err), {"timebase-rcl: a jump callback has thrown std::runtime_error, which is ignored"})

    def test_interpreter_may_end_while_jumps_come(self):
        for _ in range(8):
            self.assertEqual(self.run_node("leave"), ([], []))

    def test_callbacks_may_be_removed_while_the_interpreter_ends(self):
        for _ in range(8):
            self.assertEqual(self.run_node("late"), ([], []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
