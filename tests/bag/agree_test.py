#!/usr/bin/env python3
"""The commands agree about every recording, whatever is wrong with it.

usage: agree_test.py TIMEBASE [FOLDER...]

The recordings are made by hostile.py; those below the FOLDERs come with them."""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import hostile

LIMIT_S = 120
TIMEBASE = None


class Story:
    """What each command reports of a recording."""

    def __init__(self, path, folder):
        self.path, self.folder, self.faults = path, folder, []
        self.check, said = self.run("bag", "check", path)
        found = re.findall(rb"(\d+) messages?", said.splitlines()[-1] if said else b"")
        self.checked = int(found[-1]) if found and self.check in (0, 1) else 0
        self.info, said = self.run("bag", "info", "--scan", "--json", path)
        self.counted = self.read_count(said)
        self.run("bag", "info", path)
        _, said = self.run("bag", "info", "--json", path)
        self.summary = self.read(said, "counts")
        self.noted = self.read_count(said)
        self.convert, self.converted, said = self.copy("convert", "-s", "mcap")
        self.is_refused = b"more fields than can be re-encoded" in said
        self.cut, self.cuts, _ = self.copy("cut")
        self.recover, self.recovered, _ = self.copy("recover")
        self.cat, _ = self.run("bag", "cat", path)

    def run(self, *arguments):
        """(status, output); 124 if it does not end."""
        try:
            result = subprocess.run(
                [TIMEBASE, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self.faults.append(f"{arguments[1]} does not end")
            return 124, b""
        if result.returncode not in (0, 1, 3):
            self.faults.append(f"{arguments[1]} ends with {result.returncode}")
        if b"\x1b" in result.stdout + result.stderr:
            self.faults.append(f"{arguments[1]} prints a raw escape")
        return result.returncode, result.stdout + (result.stderr if arguments[1] == "convert" else b"")

    @staticmethod
    def read(said, key):
        try:
            return json.loads(said)[key]
        except (ValueError, KeyError):
            return None

    @staticmethod
    def read_count(said):
        return Story.read(said, "message_count") or 0

    def check_counts(self, path):
        """What is printed of a recording that we wrote, without reading its messages, is what reading gives."""

        def fields(*options):
            said = self.run("bag", "info", "--json", *options, path)[1]
            topics = {topic["name"]: topic["count"] for topic in self.read(said, "topics") or []}
            names = "message_count", "start_ns", "end_ns", "files", "compression", "manifest", "notes"
            return topics, [self.read(said, name) for name in names], self.read(said, "counts")

        (*noted, counts), (*counted, _) = fields(), fields("--scan")
        if noted != counted or counts not in ("summary", "metadata"):
            self.faults.append(f"{path}: noted ({counts}) {noted}, counted {counted}")

    def copy(self, command, *options):
        """(status, how many messages the copy has, what was said), and the copy must be whole."""
        out = os.path.join(self.folder, command)
        status, said = self.run("bag", command, self.path, "-o", out, *options)
        if not os.path.exists(out):
            return status, 0, said
        whole, found = self.run("bag", "check", out)
        if whole != 0:
            self.faults.append(f"what {command} wrote is not whole: {found.decode(errors='replace')}")
        self.check_counts(out)
        count = self.read_count(self.run("bag", "info", "--json", "--scan", out)[1])
        return status, count, said

    def must(self, holds, what):
        if not holds:
            self.faults.append(what)

    def judge(self):
        names = ("check", "counted", "checked", "convert", "converted", "cut", "cuts", "recover", "recovered")
        whole = self.check == 0
        # Of a damaged database rows depend on whether payloads are read with them.
        is_sqlite = self.path.endswith(".db3") or os.path.isdir(self.path)
        self.must(
            self.counted == self.checked or (is_sqlite and self.check != 0),
            "info and check count differently",
        )
        self.must(
            self.noted == self.counted or (self.check != 0 and self.summary != "messages"),
            f"info counts {self.noted} by {self.summary}",
        )
        # Messages of ROS 1 get the encoding of ROS 2, which is refused for definitions that grow without end.
        if not self.is_refused:
            self.must(not whole or self.convert == 0, "whole, but not converted")
            self.must(not whole or self.converted == self.checked, "whole, but not all is converted")
            self.must((self.cut, self.cuts) == (self.convert, self.converted), "cut is not as convert")
        self.must(not whole or self.recover == 0, "whole, but something was lost")
        self.must(not whole or self.cat != 3, "whole, but cat fails")
        self.must(self.recovered >= self.converted, "recovered less than converted")
        self.must(
            self.convert != 0 or self.converted == self.recovered,
            "converted with 0, but more can be recovered",
        )
        if not self.faults:
            return None
        counts = ", ".join(f"{name} {getattr(self, name)}" for name in names)
        return f"{self.path}: {'; '.join(self.faults)} ({counts})"


def judge(path):
    with tempfile.TemporaryDirectory(prefix="timebase-agree-") as folder:
        return Story(path, folder).judge()


def given(folders):
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in sorted(names):
                if name.endswith((".mcap", ".db3")):
                    yield os.path.join(root, name)


# What a player can publish, with how many messages and what it ends with.
PLAYED = {
    "good.mcap": (10, 0),
    "no_end.mcap": (5, 0),  # not closed: nothing is missing
    "summary_hides_chunk.mcap": (60, 0),
    "summary_hides_loose.mcap": (62, 0),
    "before_channel.mcap": (4, 0),
    "two_types.mcap": (6, 0),
    "short_payloads.mcap": (3, 0),
    "only_short_payloads.mcap": (0, 0),
    "chunk_crc_raw_summary.mcap": (40, 3),
    "good.db3": (60, 0),
    "page_0.db3": (0, 3),
    "empty.mcap": (0, 3),
}

NOTED = {
    "no_end.mcap": "was not closed",
    "short_payloads.mcap": ": 2 messages were left out: shorter than",
    "only_short_payloads.mcap": "has no messages that are not empty",
}


def play(folder):
    """It reads as the others do."""
    for name, (count, status) in PLAYED.items():
        result = subprocess.run(
            [TIMEBASE, "play", os.path.join(folder, name), "-r", "max"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        said = re.findall(r"(\d+) messages?", result.stdout)
        played = int(said[-1]) if said else 0
        if (played, result.returncode) != (count, status):
            yield (
                f"play {name}: {played} messages, status {result.returncode}; expected {count}, "
                f"{status}: {result.stderr}"
            )
        if name in NOTED and not (result.stderr.count("\n") == 1 and NOTED[name] in result.stderr):
            yield f"play {name}: not one note: {result.stderr}"


def main():
    folder = tempfile.mkdtemp(prefix="timebase-hostile-")
    try:
        paths = [*hostile.files(folder), *given(sys.argv[2:])][::EVERY]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            faults = [fault for fault in pool.map(judge, paths) if fault]
        there = subprocess.run([TIMEBASE, "--help"], capture_output=True, text=True, check=True).stdout
        if "\n  play " in there:
            faults += play(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for fault in faults:
        print(fault)
    print(f"{len(paths)} recordings, {len(faults)} on which the commands disagree")
    return 1 if faults else 0


if __name__ == "__main__":
    TIMEBASE = sys.argv[1]
    EVERY = int(os.environ.get("TB_AGREE_EVERY", "3"))  # of so many recordings one
    sys.exit(main())
