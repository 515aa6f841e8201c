"""python_node SCENARIO: a node in Python, on the module pystub."""
import sys
import time

import pystub

calls = []


def on_jump(delta_ns, before):
    calls.append((delta_ns, before))
    pystub.now()


def fail(delta_ns, before):
    calls.append((delta_ns, before))
    raise KeyError("of a test")


def wait_for_calls(count):
    until = time.monotonic() + 60
    while len(calls) < count:
        assert time.monotonic() < until, calls
        time.sleep(0)  # lets others have the lock


def busy(rounds):
    """Holds the lock while it reads, against jumps whose callbacks want it."""
    pystub.add(on_jump)
    while len(calls) < rounds:
        for _ in range(1000):
            pystub.now()
    pystub.remove(on_jump)
    kept = len(calls)
    pystub.now()
    assert len(calls) == kept, (kept, len(calls))


def churn():
    """Removes while a call may be in progress that waits for the lock."""
    functions = [lambda delta_ns, before: calls.append(before) for _ in range(20)]
    for _ in range(100):
        for function in functions:
            pystub.add(function)
        for function in functions:
            pystub.remove(function)


def main():
    scenario = sys.argv[1]
    pystub.open_clock()
    while pystub.now() == 0:
        time.sleep(0)
    if scenario == "busy":
        busy(50)
    elif scenario == "churn":
        churn()
    elif scenario == "exception":
        pystub.add(fail)
        wait_for_calls(4)
        pystub.remove(fail)
        print("alive", pystub.now() > 0)
    elif scenario == "leave":
        pystub.add(on_jump)
        wait_for_calls(2)
        return  # with the callback in place, while jumps come
    elif scenario == "late":
        pystub.add(on_jump)
        wait_for_calls(2)
        sys.late = Late()  # ends while the interpreter does
        return
    pystub.close_clock()
    print("done")


class Late:
    def __del__(self, remove=pystub.remove, close=pystub.close_clock, function=on_jump):
        remove(function)
        close()


main()
