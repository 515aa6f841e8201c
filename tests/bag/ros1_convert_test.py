#!/usr/bin/python3
"""Bags of ROS 1 to ROS 2 and back: ros1_convert_test.py TIMEBASE [BAGS]

Bags that rosbag's Python writes here, and those of the folder BAGS, are converted to MCAP and back, and must hold the
same for rosbag but for Header.seq, which is counted. In sqlite3 the messages must be the bytes that a serializer of
CDR in this file makes of them. Damaged bags must give what rosbag can read at best.
Exit status 77: there is no rosbag here.
"""
import glob
import io
import json
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile

try:
    import genpy
    import genpy.dynamic
    import rosbag
    import rospy
    from geometry_msgs.msg import PoseStamped
    from sensor_msgs.msg import CameraInfo, Imu, NavSatFix
    from std_msgs.msg import Bool, Duration, Empty, Header, String, Time
    from tf2_msgs.msg import TFMessage
    from geometry_msgs.msg import TransformStamped, Vector3
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import foreign_mcap

LOG = "rosgraph_msgs/Log"  # rcl_interfaces/msg/Log has no frame_id and no topics: reencoder_test.c
NUMBERS = {"bool": "?", "byte": "b", "char": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
           "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"}


class Cdr:
    """A message of ROS 1 as ROS 2 serializes it, from its class."""

    def __init__(self, message):
        self.out = bytearray()
        self.put_message(message)

    def align(self, size):
        self.out += bytes(-len(self.out) % size)

    def put_number(self, code, value):
        self.align(struct.calcsize(code))
        self.out += struct.pack("<" + code, value)

    def put_text(self, value):
        data = value if isinstance(value, bytes) else value.encode()
        self.put_number("I", len(data) + 1)
        self.out += data + b"\0"

    def put_value(self, kind, value):
        if kind in NUMBERS:
            self.put_number(NUMBERS[kind], value)
        elif kind == "string":
            self.put_text(value)
        elif kind in ("time", "duration"):
            self.put_number("i", value.secs)
            self.put_number("I", value.nsecs)
        else:
            self.put_message(value)

    def put_field(self, kind, value):
        base, bracket, count = kind.partition("[")
        if not bracket:
            self.put_value(base, value)
            return
        if count == "]":
            self.put_number("I", len(value))
        for item in value:
            self.put_value(base, item)

    def put_message(self, message):
        if not message.__slots__:
            self.out += b"\0"
        for name, kind in zip(message.__slots__, message._slot_types):
            if not (message._type == "std_msgs/Header" and name == "seq"):
                self.put_field(kind, getattr(message, name))


def make_message(kind, i):
    stamp = rospy.Time(100 + i, i * 1000)
    header = Header(seq=1000 + i, stamp=stamp, frame_id="frame_%d" % (i % 7))
    if kind is Imu:
        return Imu(header=header, orientation_covariance=[i * 0.5] * 9)
    if kind is PoseStamped:
        pose = PoseStamped(header=header)
        pose.pose.position.x = i
        return pose
    if kind is TFMessage:
        return TFMessage([TransformStamped(header=header, child_frame_id="x" * n) for n in range(i % 4)])
    if kind is CameraInfo:
        return CameraInfo(header=header, distortion_model="d", D=[1.5] * (i % 6), K=[i] * 9)
    if kind is NavSatFix:
        return NavSatFix(header=header, latitude=i)
    if kind is String:
        return String(data="\u00e4" * i)
    if kind is Header:
        return header
    if kind is Time:
        return Time(stamp)
    if kind is Duration:
        return Duration(rospy.Duration(-i, 5))
    return kind() if kind is Empty else kind(i % 2 == 0)


KINDS = (Imu, PoseStamped, TFMessage, CameraInfo, NavSatFix, String, Header, Time, Duration, Empty, Bool)


def make_bags(folder):
    """Every kind of message, several publishers, as each opening of the bag adds one; times out of order."""
    path = os.path.join(folder, "made.bag")
    for node in range(3):
        with rosbag.Bag(path, "a" if node else "w", chunk_threshold=8192) as bag:
            for i in range(node, 60, 3):
                for kind in KINDS:
                    topic = "/" + kind._type.replace("/", "_")
                    header = {"callerid": f"/node_{node}", "latching": "1" if kind is TFMessage else "0",
                              "topic": topic, "type": kind._type, "md5sum": kind._md5sum,
                              "message_definition": kind._full_text}
                    time = rospy.Time.from_sec(100 + (i * 7 % 50) * 0.25)
                    bag.write(topic, make_message(kind, i), t=time, connection_header=header if node else None)
    late = os.path.join(folder, "late.bag")
    with rosbag.Bag(late, "w") as bag:
        for i, second in enumerate((100, 2 ** 31, 101, 2 ** 31 + 5)):
            bag.write("/h", Header(stamp=rospy.Time(second)), t=rospy.Time(100 + i))
    return path, late


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def without_seq(message):
    """The same with every Header.seq as 0."""
    if message._type == "std_msgs/Header":
        message.seq = 0
    for name in message.__slots__:
        value = getattr(message, name)
        for inner in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(inner, genpy.Message):
                without_seq(inner)
    return message


def serialized(message):
    out = io.BytesIO()
    message.serialize(out)
    return out.getvalue()


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def read(path):
    """By topic: time, type, md5sum, caller, the bytes without seq, CDR, seq of the message's own header."""
    topics, latched = {}, {}
    with rosbag.Bag(path) as bag:
        for topic, (kind, data, md5sum, _, pytype), time, header in bag.read_messages(
                raw=True, return_connection_header=True):
            message = pytype().deserialize(data)
            first = getattr(message, message.__slots__[0]) if message.__slots__ else None
            seq = first.seq if getattr(first, "_type", "") == "std_msgs/Header" else None
            cdr = bytes([0, 1, 0, 0]) + bytes(Cdr(message).out)
            topics.setdefault(topic, []).append(
                (time.to_nsec(), kind, md5sum, text(header.get("callerid", "")),
                 serialized(without_seq(message)), cdr, seq))
            latched[topic] = latched.get(topic) or text(header.get("latching", "0")) == "1"
    return topics, latched


def check_seq(topics):
    """Counted for each publisher."""
    for topic, messages in topics.items():
        if messages[0][6] is None or messages[0][1] == LOG:
            continue
        for caller in {message[3] for message in messages}:
            seen = sorted(m[6] for m in messages if m[3] == caller)
            if seen != list(range(len(seen))):
                return f"{topic}: seq of {caller or 'unknown'} is {seen[:5]}..."
    return None


def same_but_seq(before, after):
    for topic in sorted(set(before) | set(after)):
        one, other = (sorted(m[:4 if m[1] == LOG else 5] for m in side.get(topic, [])) for side in (before, after))
        if one != other:
            return f"{topic}: {len(one)} messages became {len(other)}, or others"
    return None


def profile_of(folder):
    with open(glob.glob(os.path.join(folder, "*.mcap"))[0], "rb") as file:
        data = file.read()
    length = struct.unpack_from("<I", data, 8 + 9)[0]
    return data[21:21 + length].decode(), data


def check_profile(topics, folder):
    profile, data = profile_of(folder)
    if profile != "ros2":
        return f"profile '{profile}', expected 'ros2'"
    if b"callerid" not in data and any(m[3] for messages in topics.values() for m in messages):
        return "no callerid"
    return None


def check_sqlite(timebase, path, before, folder):
    database = os.path.join(folder, "out.db3")
    run("rm", "-rf", database)
    status, out = run(timebase, "bag", "convert", path, "-o", database)
    if status:
        return f"convert to sqlite3: {status}, {out}"
    found = {}
    for file in glob.glob(os.path.join(database, "*.db3")) or [database]:  # in a folder, one for each run
        db = sqlite3.connect(file)
        for topic, time, data in db.execute(
                "SELECT name, timestamp, data FROM messages JOIN topics ON topics.id = topic_id"):
            found.setdefault(topic, []).append((time, data))
        db.close()
    for topic, messages in before.items():
        expected = sorted((m[0], m[5]) for m in messages)
        if messages[0][1] != LOG and sorted(found.get(topic, [])) != expected:
            return f"{topic}: other CDR"
    return None


def check_whole(timebase, path, folder):
    mcap, back = os.path.join(folder, "out"), os.path.join(folder, "back.bag")
    run("rm", "-rf", mcap, back)
    status, out = run(timebase, "bag", "convert", path, "-o", mcap, "--keep-ros1", "-s", "mcap")
    if status:
        return f"convert to mcap: {status}, {out}"
    status, out = run(timebase, "bag", "check", mcap)
    if status:
        return f"check of mcap: {status}, {out}"
    status, out = run(timebase, "bag", "convert", mcap, "-o", back)
    if status:
        return f"convert back: {status}, {out}"
    (before, latched), (after, latched_after) = read(path), read(back)
    if latched != latched_after:
        return f"latched before: {latched}, after: {latched_after}"
    return (same_but_seq(before, after) or check_seq(after) or (before and check_profile(before, mcap))
            or check_sqlite(timebase, path, before, folder))


def check_damaged(timebase, path, expected, folder):
    """At least what rosbag finds at best."""
    mcap = os.path.join(folder, "out")
    run("rm", "-rf", mcap)
    status, out = run(timebase, "bag", "convert", path, "-o", mcap, "--keep-ros1", "-s", "mcap")
    if status not in (0, 3):
        return f"convert: {status}, {out}"
    best = expected.get("salvage") or expected["after_reindex"]
    _, info = run(timebase, "bag", "info", mcap, "--json")
    found = {topic["name"]: topic["count"] for topic in json.loads(info)["topics"]}
    for topic, what in best["topics"].items():
        if found.get(topic, 0) < what["count"]:
            return f"{topic}: {found.get(topic, 0)} messages, expected {what['count']}"
    return None


def check_late(timebase, path, folder):
    """ROS 2 has no times after January 2038: these messages are named once, the others kept."""
    mcap = os.path.join(folder, "late")
    status, out = run(timebase, "bag", "convert", path, "-o", mcap, "-s", "mcap")
    if status != 1 or out.count("2038") != 1 or "2 messages" not in out:
        return f"convert of late times: {status}, {out}"
    return None


def check_options(timebase, path, folder):
    """sqlite3 has no place for messages of ROS 1."""
    status, out = run(timebase, "bag", "convert", path, "-o", os.path.join(folder, "kept.db3"), "--keep-ros1")
    return None if status == 2 and "only MCAP" in out else f"--keep-ros1 to sqlite3: {status}, {out}"


def check_two_definitions(timebase, folder):
    """A type that was changed between two bags: its messages are two topics, each by its own definition."""
    wanted = {"/a": struct.pack("<i", 5), "/a_2": struct.pack("<f", 1.5)}
    paths = [os.path.join(folder, f"changed{i}.bag") for i in range(2)]
    for path, definition, value in zip(paths, ("int32 a\n", "float32 b\n"), (5, 1.5)):
        kind = genpy.dynamic.generate_dynamic("q/T", definition)["q/T"]
        with rosbag.Bag(path, "w") as bag:
            bag.write("/a", kind(value), t=rospy.Time(100))
    mcap, back = os.path.join(folder, "changed"), os.path.join(folder, "changed_back.bag")
    status, out = run(timebase, "bag", "convert", *paths, "-o", mcap, "-s", "mcap")
    if status or "has another definition of q/T here" not in out:
        return f"convert: {status}, {out}"
    status, out = run(timebase, "bag", "convert", mcap, "-o", back[:-4], "-s", "rosbag1")
    if status or f"{back}: " not in out:  # what was written, not what was asked for
        return f"convert back: {status}, {out}"
    with rosbag.Bag(back) as bag:
        found = {topic: raw[1] for topic, raw, _ in bag.read_messages(raw=True)}
    return None if found == wanted else f"{found}"


def check_two_names(timebase, folder):
    """tf/tfMessage is tf2_msgs/TFMessage, with its MD5 sum: one topic, by the modern name, latched if one of its
    publishers is; what has another sum is another topic, and reported."""
    path, other = os.path.join(folder, "names.bag"), os.path.join(folder, "other.bag")
    definition, md5sum = TFMessage._full_text, TFMessage._md5sum
    early = genpy.dynamic.generate_dynamic("tf/tfMessage", definition)["tf/tfMessage"]
    if early._md5sum != md5sum:
        return f"MD5 sums {early._md5sum} and {md5sum}"
    tree = [TransformStamped(child_frame_id="left")]
    header = {"topic": "/tf", "type": "tf2_msgs/TFMessage", "md5sum": md5sum, "message_definition": definition,
              "latching": "1", "callerid": "/new"}
    written = [(early(tree), None), (TFMessage(tree), header)]
    for name, messages in ((path, written), (other, [*written, (Vector3(), None)])):
        with rosbag.Bag(name, "w") as bag:
            for i, (message, connection) in enumerate(messages):
                bag._topic_connections.clear()  # another publisher, whose connection is its own
                bag.write("/tf", message, t=rospy.Time(100 + i), connection_header=connection)
    status, out = run(timebase, "bag", "check", path)
    if status or "2 messages" not in out:
        return f"bag check: {status}, {out}"
    status, out = run(timebase, "check", path)
    if "two types" in out or status not in (0, 1):
        return f"check: {status}, {out}"
    status, out = run(timebase, "bag", "cat", "--json", path)
    lines = [json.loads(line) for line in out.splitlines()]
    if status or [line["type"] for line in lines] != ["tf2_msgs/TFMessage"] * 2 or any(
            line["topic"] != "/tf" or line["message"]["transforms"][0]["child_frame_id"] != "left" for line in lines):
        return f"cat: {status}, {out}"
    for options, kind in ((("-s", "mcap"), "tf2_msgs/msg/TFMessage"), (("-s", "rosbag1"), "tf2_msgs/TFMessage")):
        copy = os.path.join(folder, "names_" + options[1]) + (".bag" if options[1] == "rosbag1" else "")
        status, out = run(timebase, "bag", "convert", path, "-o", copy, *options)
        if status:
            return f"convert {options}: {status}, {out}"
        topics = json.loads(run(timebase, "bag", "info", "--json", copy)[1])["topics"]
        if [(topic["name"], topic["type"], topic["count"]) for topic in topics] != [("/tf", kind, 2)]:
            return f"convert {options}: {topics}"
        if "transient_local" not in json.dumps(topics):
            return f"{options}: not latched: {topics}"
    status, out = run(timebase, "check", other)
    return None if "/tf has two types" in out and "/tf_2" in out else f"check of two types: {status}, {out}"


def check_foreign(timebase, folder):
    """A file of MCAP without MD5 sums: definitions of one type are told apart by their texts, and what contradicts
    itself is named and left out."""
    path, back = os.path.join(folder, "foreign.mcap"), os.path.join(folder, "foreign.bag")
    header, at = "int32 a\n", 100 * 10**9
    foreign_mcap.write(path, [
        ("/a", "q/T", "ros1", "ros1msg", header, {}, [(at, struct.pack("<i", 5))]),
        ("/a", "q/T", "ros1", "ros1msg", "float32 b\n", {}, [(at, struct.pack("<f", 1.5))]),
        ("/summed", "q/T", "ros1", "ros1msg", header, {"md5sum": "0123456789abcdef" * 2},
         [(at, struct.pack("<i", 6))]),
        ("/cdr", "q/T", "cdr", "ros1msg", header, {}, [(at, b"\0\1\0\0" + struct.pack("<i", 7))]),
        ("/ros2", "q/T", "ros1", "ros2msg", header, {}, [(at, struct.pack("<i", 8))])])
    status, out = run(timebase, "bag", "convert", path, "-o", back)
    if status != 1 or "another definition of q/T here than before; it is read as /a_2" not in out:
        return f"convert: {status}, {out}"
    if 'topic /cdr (q/T) is not converted: its messages are serialized as "cdr", but' not in out:
        return f"/cdr is not named: {out}"
    with rosbag.Bag(back) as bag:
        found = {topic: (raw[1], raw[2]) for topic, raw, _ in bag.read_messages(raw=True)}
    sums = [genpy.dynamic.generate_dynamic("q/T", one)["q/T"]._md5sum for one in (header, "float32 b\n")]
    wanted = {"/a": (struct.pack("<i", 5), sums[0]), "/a_2": (struct.pack("<f", 1.5), sums[1]),
              "/summed": (struct.pack("<i", 6), "0123456789abcdef" * 2)}
    if {topic: found.get(topic) for topic in wanted} != wanted or "/cdr" in found:
        return f"{found}"
    ros2 = os.path.join(folder, "foreign_ros2")
    status, out = run(timebase, "bag", "convert", path, "-o", ros2, "-s", "mcap")
    if status != 1 or "topic /ros2 (q/T) is not converted: its messages are serialized as" not in out:
        return f"convert to ROS 2: {status}, {out}"
    _, info = run(timebase, "bag", "info", ros2, "--json")
    topics = {topic["name"]: topic["type"] for topic in json.loads(info)["topics"]}
    return None if "/ros2" not in topics and topics.get("/a_2") == "q/msg/T" else f"{topics}"


def main():
    timebase = sys.argv[1]
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        made, late = make_bags(folder)
        results = [(made, check_whole(timebase, made, folder)), (late, check_late(timebase, late, folder)),
                   (late, check_options(timebase, late, folder)),
                   ("changed.bag", check_two_definitions(timebase, folder)),
                   ("names.bag", check_two_names(timebase, folder)),
                   ("foreign.mcap", check_foreign(timebase, folder))]
        for name in sorted(glob.glob(os.path.join(sys.argv[2], "*.expected.json"))) if len(sys.argv) > 2 else []:
            with open(name, encoding="utf-8") as file:
                expected = json.load(file)
            path = os.path.join(sys.argv[2], expected["file"])
            results.append((path, check_whole(timebase, path, folder) if expected["opens"]
                            else check_damaged(timebase, path, expected, folder)))
        for path, wrong in results:
            count += 1
            failed += bool(wrong)
            if wrong:
                print(f"{os.path.basename(path)}: {wrong}")
    print(f"{count} recordings, {failed} of them wrong")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
