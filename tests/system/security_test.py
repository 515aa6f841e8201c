#!/usr/bin/env python3
"""DDS Security between real processes: which participants are heard, which are not, and which may start.

usage: security_test.py BIN_DIR CLOCK_PROBE CONTEXT_TEST SERVICE_PEER ROS2_PEER [TEST...]

The keystores are made with openssl. An outsider is known to be active because a follower without
security, in the same domain, follows it."""

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

import command_test
import keystore
from command_test import LIMIT_S, SECOND, CommandTest, Process, ticks_of
from keystore import Keystore

DOMAINS = (20, 24)
CONTEXT_TEST = SERVICE_PEER = PEER = None
INSIDE = 1_000  # seconds of the secured clock when it starts; the outsider's is far later
OUTSIDE = 5_000_000


class SecurityTest(CommandTest):
    domains = itertools.cycle(range(DOMAINS[0], DOMAINS[1] + 1))

    def setUp(self):
        super().setUp()
        self.open = dict(self.environment)  # without security
        self.store = self.keystore_make("store")

    def keystore_make(self, name):
        store = Keystore(os.path.join(self.folder, name), DOMAINS)
        for enclave in ("/", "/arm"):
            store.add_enclave(enclave)
        return store

    def secured(self, store, enclave="/arm", strategy="Enforce"):
        return {
            **self.open,
            "ROS_SECURITY_ENABLE": "true",
            "ROS_SECURITY_STRATEGY": strategy,
            "ROS_SECURITY_KEYSTORE": store.root,
            "ROS_SECURITY_ENCLAVE_OVERRIDE": enclave,
        }

    def probe(self, environment):
        probe = Process(self, [command_test.PROBE], environment, subprocess.PIPE)
        probe.expect("ready")
        return probe

    def serve(self, environment, start):
        command = f"{command_test.BIN_DIR}/timebase"
        return Process(self, [command, "serve", "--start", str(start)], environment)

    def expect_ticks(self, probe, count):
        for _ in range(count):
            probe.expect("tick ")

    def now(self, probe):
        """Time in seconds and the number of matched publishers."""
        probe.write("now")
        match = probe.expect(r"now (\d+) \d+ \d+ (\d+)$")
        return int(match.group(1)) / SECOND, int(match.group(2))

    def end(self, server):
        server.child.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(), 0, server.errors)


class OutsiderTest(SecurityTest):
    def check_outsider(self, outsider):
        """`outsider`: the environment of a server and of its own followers."""
        outer_server = self.serve(outsider, OUTSIDE)
        first = self.probe(outsider)
        self.expect_ticks(first, 20)
        inner = self.probe(self.secured(self.store))
        second = self.probe(outsider)  # it comes after the secured one and hears the outsider
        self.expect_ticks(second, 20)
        self.assertEqual(self.now(inner), (0, 0))
        inner_server = self.serve(self.secured(self.store, "/"), INSIDE)
        self.expect_ticks(inner, 50)
        self.check_loopback(inner_server)
        third = self.probe(outsider)  # and so does one that comes after the secured server
        for probe in (first, second, third):
            self.expect_ticks(probe, 50)
        self.expect_ticks(inner, 50)
        time, matched = self.now(inner)
        self.assertEqual(matched, 1)
        self.assertLess(time, OUTSIDE)
        for probe in (first, second, third):
            time, matched = self.now(probe)
            self.assertEqual(matched, 1, "the secured publisher is seen outside")
            self.assertGreaterEqual(time, OUTSIDE)
            self.assertTrue(all(at >= OUTSIDE * SECOND for at, _ in ticks_of(probe)))
        self.assertTrue(all(at < OUTSIDE * SECOND for at, _ in ticks_of(inner)))
        self.assertFalse([line for line in inner.seen if " backward " in line])
        self.end(inner_server)
        self.end(outer_server)

    def test_an_outsider_without_security_moves_no_secured_clock(self):
        self.check_outsider(self.open)

    def test_an_outsider_with_a_keystore_of_its_own_moves_no_secured_clock(self):
        self.check_outsider(self.secured(self.keystore_make("other")))

    def test_a_publisher_without_permission_moves_no_clock(self):
        """A member of the same keystore whose permissions do not name /clock."""
        self.store.add_enclave("/mute", publish=("rt/other",))
        status, err = self.serve_in("/mute")
        self.assertEqual(status, 3)
        self.assertIn("permissions", err)

    def serve_in(self, enclave):
        done = subprocess.run(
            [f"{command_test.BIN_DIR}/timebase", "serve", "--until", "1"],
            env=self.secured(self.store, enclave),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        return done.returncode, done.stderr


def cyclone_security(folder, plugins):
    """The files of an enclave as Cyclone's own configuration has them."""
    parts = ""
    for part, library, name, files in (
        (
            "Authentication",
            "auth",
            "authentication",
            "IdentityCertificate=cert.pem IdentityCA=identity_ca.cert.pem PrivateKey=key.pem",
        ),
        (
            "AccessControl",
            "ac",
            "access_control",
            "PermissionsCA=permissions_ca.cert.pem Governance=governance.p7s "
            "Permissions=permissions.p7s",
        ),
        ("Cryptographic", "crypto", "crypto", ""),
    ):
        parts += (
            f'<{part}><Library path="{plugins}/libdds_security_{library}.so" '
            f'initFunction="init_{name}" finalizeFunction="finalize_{name}"/>'
        )
        for file in files.split():
            element, path = file.split("=")
            parts += f"<{element}>file:{folder}/{path}</{element}>"
        parts += f"</{part}>"
    return f"<CycloneDDS><Domain><Security>{parts}</Security></Domain></CycloneDDS>"


class WireTest(SecurityTest):
    def test_a_plain_program_of_the_keystore_sees_the_same_wire(self):
        """Cyclone DDS with IDL types, secured by its own configuration, not by ours."""
        linked = subprocess.run(["ldd", PEER], capture_output=True, text=True, check=True).stdout
        library = re.search(r"libddsc\S* => (\S+)/libddsc", linked).group(1)
        plugins = f"{library}/libddsc0debian"
        if not os.path.isdir(plugins):
            plugins = library
        environment = dict(self.open)
        environment["CYCLONEDDS_URI"] += "," + cyclone_security(self.store.path("/arm"), plugins)
        server = self.serve(self.secured(self.store, "/"), INSIDE)
        arguments = [PEER, "read-clock", "rt/clock", "be", "20"]
        peer = Process(self, arguments, environment, subprocess.PIPE)
        peer.expect("matched rt/clock rosgraph_msgs::msg::dds_::Clock_$")
        peer.expect("endpoint typehash=RIHS01_692f7a66e93a3c83e71765d033b60349[0-9a-f]{32};$")
        peer.expect("participant enclave=/;$")
        for _ in range(20):
            peer.expect(f"clock {INSIDE // 1000}\\d\\d\\d ")
        self.end(server)


class StartTest(SecurityTest):
    """Which participants may start at all."""

    def start(self, environment):
        """Status and errors of a command that ends by itself once it has started."""
        done = subprocess.run(
            [f"{command_test.BIN_DIR}/timebase", "serve", "--as-fast-as-possible", "--until", "1"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        return done.returncode, done.stderr

    def damaged(self, damage, strategy="Enforce"):
        """Starts in a copy of the enclave after `damage(path_of)`."""
        folder = self.store.path("/damaged")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.store.path("/arm"), folder)
        damage(lambda file: self.store.path("/damaged", file))
        return self.start(self.secured(self.store, "/damaged", strategy))

    def assert_refused(self, damage, *parts, strategy="Enforce"):
        status, err = self.damaged(damage, strategy)
        self.assertEqual(status, 3, err)
        line = err.splitlines()[-1]
        self.assertTrue(line.startswith("timebase serve: "), err)
        for part in parts:
            self.assertRegex(line, part)

    @staticmethod
    def writing(file, text):
        def damage(path):
            with open(path(file), "w", encoding="ascii") as stream:
                stream.write(text)

        return damage

    def test_all_is_well(self):
        self.assertEqual(self.damaged(lambda path: None), (0, ""))
        self.assertEqual(self.start(self.secured(self.store, "/")), (0, ""))

    def test_missing_files_and_folders(self):
        for file in keystore.FILES:
            self.assert_refused(lambda path: os.remove(path(file)), f"no file .*/damaged/{file}:")
        status, err = self.start(self.secured(self.store, "/nowhere"))
        self.assertEqual(status, 3)
        self.assertIn("/enclaves/nowhere", err)
        environment = self.secured(self.store)
        del environment["ROS_SECURITY_KEYSTORE"]
        status, err = self.start(environment)
        self.assertEqual(status, 3)
        self.assertIn("ROS_SECURITY_KEYSTORE", err)

    def test_garbage(self):
        for file in (*keystore.FILES, "crl.pem"):
            self.assert_refused(self.writing(file, "rubbish"), f"/damaged/{file} is invalid")
            self.assert_refused(self.writing(file, ""), f"/damaged/{file} is invalid")
        for file in ("identity_ca.cert.pem", "cert.pem", "permissions_ca.cert.pem", "crl.pem"):
            label = "X509 CRL" if file == "crl.pem" else "CERTIFICATE"
            text = f"-----BEGIN {label}-----\nMIIB\n-----END {label}-----\n"
            self.assert_refused(self.writing(file, text), f"/damaged/{file}\\b", "read|used")

    def test_identities(self):
        other = self.keystore_make("other")
        self.assert_refused(
            lambda path: self.store.identity.certify(
                "/damaged", path("key.pem"), path("cert.pem"), days="-1"
            ),
            "expired: .*/damaged/cert.pem",
        )
        self.assert_refused(
            lambda path: shutil.copy(other.identity.certificate, path("identity_ca.cert.pem")),
            "not signed by the identity CA: .*/identity_ca.cert.pem, .*/cert.pem",
        )

    def test_documents(self):
        other = self.keystore_make("other")
        every = ("*",), ("*",)
        sign = self.store.sign_permissions

        def alter(file):
            def damage(path):
                with open(path(file), "r+", encoding="ascii") as stream:
                    text = stream.read().replace("*", "x")
                    stream.seek(0)
                    stream.write(text)

            return damage

        def take(source, file):
            return lambda path: shutil.copy(source, path(file))

        def expire(path):
            self.store.identity.certify("/damaged", path("key.pem"), path("cert.pem"))
            sign("/damaged", *every, years=(2020, 2021))

        authority = other.permissions
        by_another = "not signed by the permissions CA: .*"
        for damage, *parts in (
            (lambda path: sign("/damaged", *every, authority), by_another, "permissions.p7s"),
            (take(other.governance, "governance.p7s"), by_another, "governance.p7s"),
            (take(authority.certificate, "permissions_ca.cert.pem"), by_another, "permissions_ca"),
            (lambda path: sign("/damaged", *every), "subject of the cert", "permissions.p7s"),
            (expire, "permissions have expired: .*permissions.p7s"),
            (alter("governance.p7s"), "changed after", "governance.p7s"),
            (alter("permissions.p7s"), "changed after", "permissions.p7s"),
        ):
            self.assert_refused(damage, *parts)

    def test_a_domain_that_the_keystore_does_not_know(self):
        store = Keystore(os.path.join(self.folder, "few"), (30, 31))
        store.add_enclave("/")
        status, err = self.start(self.secured(store, "/"))
        self.assertEqual(status, 3)
        self.assertIn("governance.p7s", err.splitlines()[-1])

    def test_Permissive_starts_without_security_and_warns(self):
        for strategy in ("Permissive", "", "enforce"):
            status, err = self.damaged(lambda path: os.remove(path("key.pem")), strategy)
            self.assertEqual(status, 0, err)
            self.assertRegex(err, r"warning: .*/damaged/key.pem.*NOT secured")
        self.assert_refused(self.writing("key.pem", "x"), "key.pem", strategy="Permissive")

    def test_without_security_everybody_is_heard(self):
        """Permissive without a keystore, and ENABLE other than "true", join unsecured participants."""
        environment = self.secured(self.store, strategy="Permissive")
        del environment["ROS_SECURITY_KEYSTORE"]
        secured = self.secured(self.store)
        others = [{**secured, "ROS_SECURITY_ENABLE": enable} for enable in ("True", "1", "")]
        probe = self.probe(self.open)
        for index, other in enumerate((environment, *others)):
            server = self.serve(other, INSIDE * (index + 1))
            probe.expect(f"tick {INSIDE * (index + 1)}")
            self.end(server)
            warned = any("NOT secured" in line for line in server.errors if line)
            self.assertEqual(warned, index == 0, server.errors)

    def test_Permissive_with_files_is_secured(self):
        outsider = self.probe(self.open)
        inner = self.probe(self.secured(self.store))
        outer_server = self.serve(self.open, OUTSIDE)
        self.expect_ticks(outsider, 1)
        server = self.serve(self.secured(self.store, "/", "Permissive"), INSIDE)
        self.expect_ticks(inner, 20)
        self.expect_ticks(outsider, 20)
        self.assertEqual(self.now(outsider)[1], 1)
        self.assertEqual(self.now(inner)[1], 1)
        self.end(server)
        self.end(outer_server)


class ContextTest(SecurityTest):
    def test_contexts_of_a_process(self):
        self.store.add_enclave("/mute", publish=("rt/allowed",), subscribe=("rt/allowed",))
        self.store.add_enclave("/expired")
        self.store.identity.certify(
            "/expired",
            self.store.path("/expired", "key.pem"),
            self.store.path("/expired", "cert.pem"),
            days="-1",
        )
        environment = self.secured(self.store)
        del environment["ROS_SECURITY_ENCLAVE_OVERRIDE"]
        done = subprocess.run(
            [CONTEXT_TEST, SERVICE_PEER],
            env=environment,
            capture_output=True,
            text=True,
            timeout=2 * LIMIT_S,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    command_test.BIN_DIR, command_test.PROBE, CONTEXT_TEST, SERVICE_PEER, PEER = sys.argv[1:6]
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
