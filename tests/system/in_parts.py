"""The tests of a file that mostly wait, in several processes at once."""

import itertools
import os
import subprocess
import sys
import tempfile
import unittest

PART = "TB_TEST_PART"  # NUMBER/COUNT, of a process that runs a part of them


def main(arguments, parts=4, **options):
    """As unittest.main. Without names of tests there are so many processes, each with a part of the tests and of
    the domains."""
    if len(arguments) > 1 or parts == 1:
        unittest.main(argv=arguments, **options)
    elif PART in os.environ:
        run_part(*map(int, os.environ[PART].split("/")), **options)
    else:
        start_parts(parts)


def start_parts(count):
    parts = []
    for number in range(count):
        log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        environment = {**os.environ, PART: f"{number}/{count}"}
        command = [sys.executable, *sys.orig_argv[1:]]
        parts.append((subprocess.Popen(command, env=environment, stdout=log, stderr=log), log))
    failed = [part for part, _ in parts if part.wait() != 0]
    for _, log in parts:
        log.seek(0)
        sys.stderr.write(log.read())
    sys.exit(1 if failed else 0)


def tests_of(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from tests_of(one)
        else:
            yield one


def run_part(number, count, warnings=None, verbosity=1):
    tests = list(tests_of(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])))[number::count]
    owners = {owner for test in tests for owner in type(test).__mro__ if "domains" in vars(owner)}
    for owner in owners:
        domains = list(dict.fromkeys(itertools.islice(owner.domains, 3 * count)))
        owner.domains = itertools.cycle(domains[number::count])
    result = unittest.TextTestRunner(warnings=warnings, verbosity=verbosity).run(unittest.TestSuite(tests))
    sys.exit(0 if result.wasSuccessful() else 1)
