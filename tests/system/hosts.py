"""Two hosts: network namespaces, joined by veth and a relay that loses and delays frames.

A test calls enter() first of all: it continues in a new network namespace, which has nothing
but what is made in it. Namespaces have no names: they go with the processes in them and with the
descriptors of the test, however that ends."""

import ctypes
import os
import re
import socket
import subprocess
import sys
import threading
import time

from command_test import LIMIT_S, Process

SKIPPED = 77  # SKIP_RETURN_CODE in CMakeLists.txt
INSIDE = "TIMEBASE_TEST_OUTSIDE"  # the namespace that the test was started in
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def enter():
    """Returns inside a new network namespace, or ends the test as skipped."""
    outside = os.environ.get(INSIDE)
    own = os.readlink("/proc/self/ns/net")
    if outside:
        if own == outside or [name for _, name in socket.if_nameindex()] != ["lo"]:
            sys.exit("hosts: this is not a separate namespace")
        return
    os.environ[INSIDE] = own
    reasons = []
    for options in (["--net"], ["--user", "--map-root-user", "--net"]):
        reason = trial(options)
        if reason is None:
            sys.stdout.flush()
            os.execvp("unshare", ["unshare", *options, sys.executable, *sys.argv])
        reasons.append(reason)
    print(f"skipped: no network namespaces here ({'; '.join(reasons)})")
    sys.exit(SKIPPED)


def trial(options):
    """None, or why the test could not do there what it needs."""
    script = "ip link add name a type veth peer name b 2>&1 && unshare --net true 2>&1"
    try:
        done = subprocess.run(
            ["unshare", *options, "sh", "-c", script], capture_output=True, text=True, check=False
        )
    except OSError as error:
        return f"unshare: {error.strerror}"
    return None if done.returncode == 0 else (done.stdout + done.stderr).strip()


def in_thread(function):
    """The result of a call in a separate thread, whose namespace may be another."""
    results = []

    def run():
        try:
            results.append((function(), None))
        except BaseException as error:  # pylint: disable=broad-except
            results.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    result, error = results[0]
    if error:
        raise error
    return result


def check_call(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Host:
    """A namespace with one interface, eth0."""

    def __init__(self, test, address, hardware):
        def make():
            check_call(libc.unshare(CLONE_NEWNET))
            return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

        self.address = address
        self.hardware = hardware
        self.namespace = in_thread(make)
        test.addCleanup(os.close, self.namespace)
        self.path = f"/proc/{os.getpid()}/fd/{self.namespace}"

    def command(self, *arguments):
        """Runs there, and dies with the test."""
        return ["nsenter", f"--net={self.path}", *mortal(*arguments)]

    def ip(self, *arguments):
        subprocess.run(self.command("ip", *arguments), check=True)

    def socket(self):
        """A bound UDP socket of that host."""

        def make():
            check_call(libc.setns(self.namespace, CLONE_NEWNET))
            return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

        udp = in_thread(make)
        udp.bind((self.address, 0))
        return udp

    def holds(self, pid):
        return os.stat(f"/proc/{pid}/ns/net").st_ino == os.fstat(self.namespace).st_ino


def mortal(*arguments):
    return ["setpriv", "--pdeathsig", "KILL", "--", *arguments]


def until_up(show):
    """The kernel drops what an interface sends before it has noticed the carrier, which takes it a moment after
    the other end is up."""
    deadline = time.monotonic() + LIMIT_S
    while " state UP " not in subprocess.run(show, check=True, capture_output=True, text=True).stdout:
        if time.monotonic() > deadline:
            raise AssertionError(f"not up: {show}")
        time.sleep(0.01)


class Link:
    """Hosts a and b, and the relay between them, which takes commands."""

    made = 0

    def __init__(self, test, relay, *options, resolve=True):
        """`resolve` False: hosts know each other, and no frame goes out but the test's."""
        Link.made += 1
        self.test = test
        self.a = Host(test, "10.77.0.1", "02:00:00:00:00:01")
        self.b = Host(test, "10.77.0.2", "02:00:00:00:00:02")
        ends = [f"a{Link.made}", f"b{Link.made}"]
        for host, other, end in ((self.a, self.b, ends[0]), (self.b, self.a, ends[1])):
            self._join(host, end)
            if not resolve:
                host.ip("neighbour", "add", other.address, "lladdr", other.hardware, "dev", "eth0")
        for host, end in ((self.a, ends[0]), (self.b, ends[1])):
            until_up(["ip", "link", "show", "dev", end])
            until_up(host.command("ip", "link", "show", "dev", "eth0"))
        arguments = mortal(relay, *map(str, options), *ends)
        self.relay = Process(test, arguments, dict(os.environ), subprocess.PIPE)
        self.relay.expect("ready")

    @staticmethod
    def _join(host, end):
        add = ["link", "add", "name", end, "type", "veth", "peer", "name", "eth0", "netns", host.path]
        for arguments in (add, ["link", "set", end, "addrgenmode", "none", "up"]):
            subprocess.run(["ip", *arguments], check=True)
        host.ip("link", "set", "lo", "up")
        host.ip("link", "set", "eth0", "address", host.hardware, "addrgenmode", "none", "up")
        host.ip("address", "add", f"{host.address}/24", "dev", "eth0")

    def command(self, command, answer):
        """Returns when it is so."""
        self.relay.write(command)
        self.relay.expect(f"{answer}$")

    def cut(self):
        self.command("cut", "cut")

    def restore(self):
        self.command("restore", "restored")

    def loss(self, percent):
        self.command(f"loss {percent}", "loss")

    def statistics(self):
        """Of the interfaces: those of the relay, and of each host."""
        show = ["ip", "-s", "link", "show"]
        return [subprocess.run(words, capture_output=True, text=True, check=False).stdout
                for words in (show, self.a.command(*show), self.b.command(*show))]

    def counts(self):
        """What became of the frames from a, and of those from b."""
        self.relay.write("counts")
        lines = [self.relay.expect("counts (.*)").group(1) for _ in range(2)]
        found = [{k: int(v) for k, v in re.findall(r"(\w+) (\d+)", line)} for line in lines]
        for counts in found:
            self.test.assertEqual(counts["overrun"] + counts["failed"], 0, "the relay is too slow")
        return found
