#!/usr/bin/python3
"""Bags that timebase writes read equal by rosbag of ROS 1: ros1_write_test.py TIMEBASE VIEW [BAGS]

Bags that rosbag's Python writes here, and those of the folder BAGS, are copied with each compression. rosbag
must find the same connections and messages in the copy, and so must rosbag of C++,
if VIEW is the path of the program ros1_view and not "none". Messages at time 0, which rosbag of C++ leaves out,
are at 1 ns in the copy.
Exit status 77: there is no rosbag here.
"""
import glob
import os
import subprocess
import sys
import tempfile

try:
    import rosbag
    import rospy
    from std_msgs.msg import Empty, Header, String
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

COMPRESSIONS = ("none", "bz2", "lz4")


def make_bags(folder):
    """Disorder, ties, a large message, two publishers of a topic, nothing at all."""
    path = os.path.join(folder, "made.bag")
    with rosbag.Bag(path, "w", chunk_threshold=4096) as bag:
        for i in range(400):
            time = rospy.Time.from_sec(100 + (i * 7 % 50) * 0.25)
            caller = {"callerid": f"/node_{i % 3}", "latching": "1"}
            bag.write("/s", String(data="x" * (i % 300)), t=time, connection_header=dict(
                caller, topic="/s", type="std_msgs/String", md5sum=String._md5sum,
                message_definition=String._full_text) if i % 2 else None)
            bag.write("/h", Header(seq=i, stamp=time, frame_id="map"), t=time)
            if i % 50 == 0:
                bag.write("/e", Empty(), t=time)
        bag.write("/s", String(data="y" * 2000000), t=rospy.Time(101))
        for i in range(3):
            bag.write("/zero", String(data="z" * i), t=rospy.Time(0))
    with rosbag.Bag(os.path.join(folder, "nothing.bag"), "w"):
        pass
    return [path, os.path.join(folder, "nothing.bag")]


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def header_of(header):
    """What a reader of the connection sees."""
    latching = text(header.get("latching", "0"))
    return (text(header.get("callerid", "")), latching, text(header["md5sum"]),
            text(header["message_definition"]), text(header["type"]))


def read(path, earliest_ns=0):
    """All messages by topic, in the order of time, and the connections that they are of. Time 0 is read as
    `earliest_ns`."""
    topics = {}
    with rosbag.Bag(path) as bag:
        for topic, (kind, data, md5sum, _, _), time, header in bag.read_messages(
                raw=True, return_connection_header=True):
            topics.setdefault(topic, []).append(
                (time.to_nsec() or earliest_ns, kind, md5sum, bytes(data), header_of(header)))
    for messages in topics.values():
        messages.sort(key=lambda message: (message[0], message[3]))
    return topics


def without_latching(topics):
    return {topic: [(m[:4], m[4][0], m[4][2:]) for m in messages]
            for topic, messages in topics.items()}


def check_latching(before, after):
    """A topic is latched in the copy if one of its publishers is."""
    for topic, messages in before.items():
        latched = "1" if any(m[4][1] == "1" for m in messages) else "0"
        if any(m[4][1] != latched for m in after[topic]):
            return f"{topic}: latching is not {latched}"
    return None


def expected_view(topics):
    """What ros1_view prints."""
    lines = []
    for topic, messages in sorted(topics.items()):
        total = sum(sum(message[3]) for message in messages)
        lines.append(f"{topic} {len(messages)} {messages[0][0]} {messages[-1][0]} {total}")
    return lines


def check_copy(timebase, view, path, folder, compression):
    copy = os.path.join(folder, f"copy_{compression}.bag")
    if os.path.exists(copy):
        os.unlink(copy)
    done = subprocess.run([timebase, "bag", "convert", path, "-o", copy,
                           "--chunk-compression", compression, "--chunk-size", "65536"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        return f"convert: {done.stdout}"
    before, after = read(path, earliest_ns=1), read(copy)
    if without_latching(before) != without_latching(after):
        return "the messages or connections differ"
    with rosbag.Bag(copy) as bag:
        if after and bag.get_compression_info().compression != compression:
            return f"compressed by {bag.get_compression_info().compression}"
    checked = subprocess.run([timebase, "bag", "check", copy], stdout=subprocess.PIPE, check=False)
    if checked.returncode:
        return "timebase bag check finds something wrong with it"
    if view != "none":
        seen = subprocess.run([view, copy], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, timeout=60)
        if seen.returncode or seen.stdout.decode().splitlines() != expected_view(after):
            return f"C++: {seen.stdout.decode(errors='replace')[-300:]}"
    return check_latching(before, after)


def main():
    timebase, view = sys.argv[1], sys.argv[2]
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        bags = make_bags(folder)
        for path in sorted(glob.glob(os.path.join(sys.argv[3], "*.bag"))) if len(sys.argv) > 3 else []:
            try:
                with rosbag.Bag(path):
                    bags.append(path)
            except rosbag.ROSBagException:
                pass  # damaged: rosbag cannot say what is in it
        for path in bags:
            for compression in COMPRESSIONS:
                wrong = check_copy(timebase, view, path, folder, compression)
                count += 1
                failed += bool(wrong)
                if wrong:
                    print(f"{os.path.basename(path)}, {compression}: {wrong}")
    print(f"{count} copies, {failed} of them wrong")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
