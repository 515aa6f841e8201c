#!/usr/bin/env python3
"""Bags that rosbag of ROS 1 recorded read as its own reader found: ros1_read_test.py READER BAGS

BAGS is a folder of recordings, each with NAME.expected.json. Of a damaged one as much must be read as
`rosbag reindex` recovers, or as its "salvage" has.
"""
import glob
import hashlib
import json
import os
import subprocess
import sys


def read(reader, path):
    """Topics by name: count, first and last time, type, md5sum, digest of the payloads."""
    out = subprocess.run([reader, path], stdout=subprocess.PIPE, check=True).stdout
    topics, at = [], 0
    while at < len(out):
        end = out.index(b"\n", at)
        words = out[at:end].decode().split()
        at = end + 1
        if words[0] == "topic":
            topics.append({"name": words[2], "type": words[3], "md5sum": words[4],
                           "latched": words[5] == "latched", "message_count": int(words[6]),
                           "count": 0, "digest": hashlib.sha256()})
            continue
        topic, time, size = topics[int(words[1])], int(words[2]), int(words[3])
        topic.setdefault("first_ns", time)
        topic["last_ns"] = time
        topic["count"] += 1
        topic["digest"].update(out[at:at + size])
        at += size + 1
    return {topic["name"]: topic for topic in topics}


def compare(found, expected, exact):
    """What differs, as a list of texts."""
    wrong = []
    for name, topic in expected["topics"].items():
        ours = found.get(name)
        if ours is None:
            if topic["count"]:
                wrong.append(f"{name} is missing")
            continue
        if ours["count"] != ours["message_count"]:
            wrong.append(f"{name}: {ours['count']} messages, counted as {ours['message_count']}")
        if ours["count"] < topic["count"] or (exact and ours["count"] != topic["count"]):
            wrong.append(f"{name}: {ours['count']} messages, expected {topic['count']}")
        elif ours["count"] == topic["count"]:
            for key in ("type", "md5sum", "first_ns", "last_ns"):
                if key in topic and ours.get(key) != topic[key] and topic["count"]:
                    wrong.append(f"{name}: {key} {ours.get(key)}, expected {topic[key]}")
            if "sha256" in topic and ours["digest"].hexdigest() != topic["sha256"]:
                wrong.append(f"{name}: other payloads")
    if exact and sum(topic["count"] for topic in found.values()) != expected["message_count"]:
        wrong.append(f"not {expected['message_count']} messages in all")
    return wrong


def main():
    reader, folder = sys.argv[1:]
    failed = count = 0
    for path in sorted(glob.glob(os.path.join(folder, "*.expected.json"))):
        with open(path, encoding="utf-8") as file:
            expected = json.load(file)
        opens = expected["opens"]
        best = expected if opens else expected.get("salvage") or expected["after_reindex"]
        found = read(reader, os.path.join(folder, expected["file"]))
        wrong = compare(found, best, opens)
        count += 1
        for text in wrong:
            print(f"{expected['file']}: {text}")
        failed += bool(wrong)
    print(f"{count} recordings, {failed} of them read otherwise")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
