"""Small recordings that lie, made here: in sizes, offsets, names, tables and times.

files(folder) writes them and yields their paths. None is a copy of anything."""

import os
import sqlite3
import struct
import zlib

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
ATTACHMENT, _, STATISTICS, METADATA, METADATA_INDEX, _, DATA_END = range(9, 16)
CDR = b"\0\1\0\0"
TYPE = b"std_msgs/msg/String"
LAST_NS = (1 << 63) - 1


def text(value):
    return struct.pack("<I", len(value)) + value


def record(opcode, content, length=None):
    return bytes([opcode]) + struct.pack("<Q", len(content) if length is None else length) + content


def schema(number=1, name=TYPE, data=b"string data\n"):
    return record(SCHEMA, struct.pack("<H", number) + text(name) + text(b"ros2msg") + text(data))


def channel(number=1, topic=b"/a", schema_number=1, encoding=b"cdr", qos=b""):
    pairs = text(b"offered_qos_profiles") + text(qos) if qos else b""
    ids = struct.pack("<HH", number, schema_number)
    return record(CHANNEL, ids + text(topic) + text(encoding) + text(pairs))


def message(time_ns, number=1, data=b"data", head=CDR):
    times = struct.pack("<HIQQ", number, 0, time_ns, time_ns)
    return record(MESSAGE, times + head + data)


def messages(count, first_ns=1000, number=1):
    return b"".join(message(first_ns + i, number) for i in range(count))


def zstd_pack(data):
    """One frame with one block that is not compressed."""
    head = b"\x28\xb5\x2f\xfd\x00\x58"
    return head + (len(data) << 3 | 1).to_bytes(3, "little") + data


class Mcap:
    """A file that is built, with the summary that belongs to it unless another one is given."""

    def __init__(self):
        self.data = MAGIC + record(HEADER, text(b"ros2") + text(b"hostile"))
        self.definitions = schema() + channel()
        self.chunk_index = []
        self.metadata_index = b""
        self.counts = {}
        self.times = []
        self.attachments = self.metadata = 0

    def add(self, records, counted=0, first_ns=1000):
        self.data += records
        self.count(counted, first_ns)
        return self

    def count(self, counted, first_ns=1000, number=1):
        if counted:
            self.counts[number] = self.counts.get(number, 0) + counted
            self.times += [first_ns, first_ns + counted - 1]

    def chunk(self, records, counted=0, first_ns=1000, packed=False, **lies):
        """`lies` replace fields: crc, size, stored, start, end, name, length, listed, indexed."""
        stored = zstd_pack(records) if packed else records
        last_ns = first_ns + counted - 1 if counted else 0
        start = lies.get("start", first_ns if counted else 0)
        end = lies.get("end", last_ns)
        size = lies.get("size", len(records))
        name = lies.get("name", b"zstd" if packed else b"")
        content = struct.pack("<QQQ", start, end, size)
        content += struct.pack("<I", lies.get("crc", zlib.crc32(records))) + text(name)
        content += struct.pack("<Q", lies.get("stored", len(stored))) + stored
        offset = len(self.data)
        self.data += record(CHUNK, content, lies.get("length"))
        length, indexes = len(self.data) - offset, len(self.data)
        if counted and lies.get("indexed", True):
            entries = b"".join(struct.pack("<QQ", first_ns + i, 0) for i in range(counted))
            self.data += record(MESSAGE_INDEX, struct.pack("<HI", 1, len(entries)) + entries)
        index_length = len(self.data) - indexes
        if lies.get("listed", True):
            self.count(counted, first_ns)
            offsets = struct.pack("<HQ", 1, indexes) if index_length else b""
            entry = struct.pack("<QQQQ", start, end, offset, length) + text(offsets)
            entry += struct.pack("<Q", index_length) + text(name)
            self.chunk_index.append(entry + struct.pack("<QQ", len(stored), size))
        return self

    def attachment(self, size=None, length=None):
        content = struct.pack("<QQ", 1, 2) + text(b"notes.txt") + text(b"")
        content += struct.pack("<Q", 4 if size is None else size) + b"text"
        self.data += record(ATTACHMENT, content + struct.pack("<I", zlib.crc32(content)), length)
        self.attachments += 1
        return self

    def note(self, name=b"name", pairs=((b"key", b"value"),)):
        content = text(name) + text(b"".join(text(k) + text(v) for k, v in pairs))
        entry = struct.pack("<QQ", len(self.data), 9 + len(content)) + text(name)
        self.metadata_index += record(METADATA_INDEX, entry)
        self.data += record(METADATA, content)
        self.metadata += 1
        return self

    def end(self, summary=True, **lies):
        """`lies`: messages, chunks, definitions, index, footer, crc."""
        self.data += record(DATA_END, struct.pack("<I", 0))
        start = len(self.data)
        if summary:
            index = lies.get("index", self.chunk_index)
            counted = lies.get("messages", sum(self.counts.values()))
            counts = dict(self.counts)
            if counts and counted != sum(counts.values()):
                counts[1] += counted - sum(counts.values())
            definitions = lies.get("definitions", self.definitions)
            self.data += definitions + b"".join(record(CHUNK_INDEX, entry) for entry in index)
            self.data += self.metadata_index
            content = struct.pack("<QHIIII", counted & (2**64 - 1), 1, lies.get("channels", 1),
                                  self.attachments, self.metadata, lies.get("chunks", len(index)))
            content += struct.pack("<QQ", min(self.times, default=0), max(self.times, default=0))
            pairs = b"".join(struct.pack("<HQ", n, c & (2**64 - 1)) for n, c in counts.items())
            self.data += record(STATISTICS, content + text(pairs))
        footer = struct.pack("<QQ", lies.get("footer", start if summary else 0), 0)
        head = bytes([FOOTER]) + struct.pack("<Q", 20)
        crc = lies.get("crc", zlib.crc32(self.data[start:] + head + footer) if summary else 0)
        self.data += head + footer + struct.pack("<I", crc) + MAGIC
        return self.data


def plain(records, **options):
    """Without chunks and summary."""
    return Mcap().add(records).end(summary=False, **options)


def three_chunks(mcap, **lies_of_second):
    definitions = schema() + channel()
    mcap.chunk(definitions + messages(20), 20)
    mcap.chunk(messages(20, 1020), 20, 1020, **lies_of_second)
    return mcap.chunk(messages(20, 1040), 20, 1040)


def odd_names():
    names = {
        "empty": b"",
        "escape": b"/\x1b]0;x\x07\x1b[2J",
        "nul": b"/a\0b",
        "utf8": b"/\xff\xfe",
        "newline": b"/a\nb",
        "percent": b"/%s%n",
        "space": b"/ ",
        "c1": b"/\xc2\x9b31m",
    }
    for what, name in names.items():
        yield f"topic_{what}", plain(schema() + channel(topic=name) + messages(3))
        yield f"type_{what}", plain(schema(name=name) + channel() + messages(3))
        yield f"qos_{what}", plain(schema() + channel(qos=name) + messages(3))
        mcap = Mcap().note(name, ((name, name),)).note(b"rosbag2", ((b"ROS_DISTRO", name),))
        mcap.chunk(schema() + channel() + messages(3), 3)
        yield f"note_{what}", mcap.end()
    yield "no_schema", plain(channel(schema_number=9) + messages(3))
    yield "schema_zero", plain(channel(schema_number=0) + messages(3))
    two = schema() + schema(2, b"other_msgs/msg/Other") + channel() + channel(2, schema_number=2)
    yield "two_types", plain(two + messages(3) + messages(3, 1000, 2))
    two = schema() + channel() + channel(2, encoding=b"json")
    yield "two_encodings", plain(two + messages(3) + messages(3, 1000, 2))
    two = schema() + channel() + channel(1, b"/b")
    yield "defined_twice", plain(two + messages(3))
    begin, end = schema() + channel() + message(1, data=b"", head=b""), message(1003, data=b"", head=CDR[:3])
    yield "short_payloads", plain(begin + messages(3) + end)
    yield "only_short_payloads", plain(begin + end)
    yield "before_channel", plain(messages(2) + schema() + channel() + messages(2, 1002))
    mcap = Mcap().chunk(messages(5), 5).chunk(schema() + channel() + messages(5, 1005), 5, 1005)
    yield "channel_in_later_chunk", mcap.end(summary=False)
    yield "channel_nowhere", plain(schema() + channel() + messages(3) + messages(3, 1000, 7))


def odd_times():
    for what, time_ns in (("0", 0), ("max", LAST_NS), ("max_less_1", LAST_NS - 1), ("above", 1 << 63),
                          ("64", (1 << 64) - 1)):
        records = schema() + channel() + message(5) + message(time_ns)
        yield f"time_{what}", plain(records)
        mcap = Mcap().chunk(records, 2, start=min(5, time_ns), end=max(5, time_ns), listed=False)
        yield f"time_{what}_chunk", mcap.end(summary=False)


def odd_summaries():
    yield "summary", three_chunks(Mcap()).end()
    yield "summary_hides_chunk", three_chunks(Mcap(), listed=False).end()
    mcap = three_chunks(Mcap())
    yield "summary_hides_loose", mcap.add(messages(2, 1060)).end()
    yield "summary_counts_none", Mcap().add(schema() + channel() + messages(9)).end()
    yield "summary_counts_less", three_chunks(Mcap()).end(messages=41)
    yield "summary_counts_more", three_chunks(Mcap()).end(messages=1 << 62)
    yield "summary_counts_chunks", three_chunks(Mcap()).end(chunks=2)
    yield "summary_counts_channels", three_chunks(Mcap()).end(channels=7)
    mcap = three_chunks(Mcap())
    yield "summary_without_index", mcap.end(index=[], chunks=3)
    mcap = three_chunks(Mcap())
    yield "summary_index_twice", mcap.end(index=mcap.chunk_index + mcap.chunk_index[:1])
    mcap = three_chunks(Mcap())
    yield "summary_other_topic", mcap.end(definitions=schema() + channel(topic=b"/b"))
    mcap = three_chunks(Mcap())
    yield "summary_other_type", mcap.end(definitions=schema(name=b"x/msg/Y") + channel())
    yield "summary_no_definitions", three_chunks(Mcap()).end(definitions=b"")
    yield "summary_bad_crc", three_chunks(Mcap()).end(crc=1)
    yield "summary_times", three_chunks(Mcap(), start=1, end=2).end()
    yield "chunk_times", three_chunks(Mcap(), start=1, end=2).end(summary=False)
    yield "chunk_times_reversed", three_chunks(Mcap(), start=9, end=2).end()
    for place in (4, 8, 1 << 40, 1 << 63, (1 << 64) - 1):
        yield f"footer_{place:x}", three_chunks(Mcap()).end(footer=place)
    for field, at in (("offset", 16), ("length", 24), ("index", 32 + 14), ("size", -8), ("stored", -16)):
        for value in (0, 1 << 33, 1 << 62, (1 << 64) - 1):
            mcap = three_chunks(Mcap())
            entry = bytearray(mcap.chunk_index[1])
            at_byte = at % len(entry)
            entry[at_byte : at_byte + 8] = struct.pack("<Q", value)
            mcap.chunk_index[1] = bytes(entry)
            yield f"index_{field}_{value:x}", mcap.end()
    mcap = three_chunks(Mcap())
    data = mcap.end()
    yield "summary_cut", data[:-30]
    hidden = Mcap().chunk(schema() + channel() + messages(20), 20)
    before = len(hidden.data)
    hidden.chunk(messages(20, 1020), 20, 1020, listed=False)
    entry = bytearray(hidden.chunk_index[0])
    at = 32 + 4 + 10
    length = struct.unpack_from("<Q", entry, at)[0] + len(hidden.data) - before
    entry[at : at + 8] = struct.pack("<Q", length)
    yield "summary_hides_among_indexes", hidden.end(index=[bytes(entry)], messages=(length - 15) // 16)


def odd_chunks():
    definitions = schema() + channel()
    for packed in (False, True):
        kind = "zstd" if packed else "raw"
        options = {"packed": packed}
        for summary in (False, True):
            name = f"{kind}_{'summary' if summary else 'scan'}"
            yield f"chunk_{name}", three_chunks(Mcap(), **options).end(summary)
            yield f"chunk_crc_{name}", three_chunks(Mcap(), crc=1, **options).end(summary)
            for size in (0, 9, 1 << 30, 1 << 33, (1 << 64) - 1):
                mcap = three_chunks(Mcap(), size=size, **options)
                yield f"chunk_size_{size:x}_{name}", mcap.end(summary)
            for stored in (0, 9, 1 << 33, (1 << 64) - 1):
                mcap = three_chunks(Mcap(), stored=stored, **options)
                yield f"chunk_stored_{stored:x}_{name}", mcap.end(summary)
            mcap = three_chunks(Mcap(), name=b"brotli", **options)
            yield f"chunk_unknown_{name}", mcap.end(summary)
        for length in (0, 9, 1 << 33, (1 << 64) - 1):
            mcap = three_chunks(Mcap(), length=length, **options)
            yield f"chunk_length_{length:x}_{kind}", mcap.end(summary=False)
        tail = definitions + messages(20) + b"garbage that is no record"
        yield f"chunk_tail_{kind}", Mcap().chunk(tail, 20, **options).end(summary=False)
        inner = Mcap().chunk(messages(9, 1100), 9, 1100)
        nested = definitions + messages(20) + inner.data[len(Mcap().data) :]
        yield f"chunk_nested_{kind}", Mcap().chunk(nested, 20, **options).end()
        yield f"chunk_empty_{kind}", Mcap().chunk(b"", **options).end()
        whole = three_chunks(Mcap(), **options).end()
        for part in (20, 45, 70, 95):
            yield f"cut_{part}_{kind}", whole[: len(whole) * part // 100]


def odd_records():
    start = schema() + channel() + messages(5)
    rest = messages(5, 1005)
    yield "good", plain(start + rest)
    yield "no_end", MAGIC + record(HEADER, text(b"ros2") + text(b"x")) + start
    yield "end_early", plain(start + record(DATA_END, bytes(4)) + rest)
    yield "footer_inside", plain(start + record(FOOTER, bytes(20)) + rest)
    yield "opcode_0", plain(start + record(0, b"abc") + rest)
    yield "opcode_new", plain(start + record(0x80, b"abc") + rest)
    yield "magic_twice", MAGIC + plain(start)
    yield "two_files", plain(start) + plain(start)
    yield "empty", b""
    yield "magic", MAGIC
    yield "header", MAGIC + record(HEADER, text(b"ros2") + text(b"x"))
    yield "garbage", b"no recording at all\n" * 20
    for length in (0, 21, 1 << 33, (1 << 64) - 1):
        yield f"message_length_{length:x}", plain(start + record(MESSAGE, b"x" * 30, length) + rest)
        yield f"attachment_{length:x}", Mcap().add(start).attachment(length).end(summary=False)
        mcap = Mcap().add(start).attachment(length=length).add(rest)
        yield f"attachment_length_{length:x}", mcap.end(summary=False)
        bad = record(CHANNEL, struct.pack("<HH", 1, 1) + struct.pack("<I", length & 0xFFFFFFFF))
        yield f"channel_text_{length:x}", plain(schema() + bad + messages(3))


def mcap_files():
    for part in (odd_names, odd_times, odd_summaries, odd_chunks, odd_records):
        for name, data in part():
            yield f"{name}.mcap", data


TABLES = """CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT,
    serialization_format TEXT, offered_qos_profiles TEXT);
  CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);
  CREATE INDEX timestamp_idx ON messages (timestamp ASC);
  INSERT INTO topics VALUES(1, '/a', 'std_msgs/msg/String', 'cdr', '');
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
  INSERT INTO messages SELECT i, 1, 1000 + i, zeroblob(4 + i) FROM n;"""

SQL = {
    "good": "",
    "name_null": "UPDATE topics SET name = NULL",
    "name_blob": "UPDATE topics SET name = x'2f00ff1b'",
    "name_number": "UPDATE topics SET name = 7",
    "name_empty": "UPDATE topics SET name = ''",
    "name_escape": "UPDATE topics SET name = '/' || char(27) || '[2J'",
    "type_null": "UPDATE topics SET type = NULL",
    "type_empty": "UPDATE topics SET type = ''",
    "type_blob": "UPDATE topics SET type = x'ff00'",
    "format_null": "UPDATE topics SET serialization_format = NULL",
    "qos_blob": "UPDATE topics SET offered_qos_profiles = x'00ff1b'",
    "two_types": "INSERT INTO topics VALUES(2, '/a', 'x/msg/Y', 'cdr', '');"
    "UPDATE messages SET topic_id = 2 WHERE id > 30",
    "topic_twice": "INSERT INTO topics SELECT 2, name, type, serialization_format, '' FROM topics;"
    "UPDATE messages SET topic_id = 2 WHERE id > 30",
    "topic_unknown": "UPDATE messages SET topic_id = 9 WHERE id = 30",
    "topic_negative": "INSERT INTO topics VALUES(-5, '/n', 'x/msg/Y', 'cdr', '');"
    "INSERT INTO messages VALUES(-9, -5, 5, x'00010000')",
    "ids_extreme": "INSERT INTO messages SELECT column1, 1, 5, x'00010000' FROM "
    "(VALUES(-9223372036854775808), (9223372036854775807), (0))",
    "topic_text": "UPDATE messages SET topic_id = 'x' WHERE id = 30",
    "time_max": "UPDATE messages SET timestamp = 9223372036854775807 WHERE id = 30",
    "time_negative": "UPDATE messages SET timestamp = -5 WHERE id = 30",
    "time_text": "UPDATE messages SET timestamp = 'soon' WHERE id = 30",
    "time_null": "UPDATE messages SET timestamp = NULL WHERE id = 30",
    "data_null": "UPDATE messages SET data = NULL WHERE id = 30",
    "data_text": "UPDATE messages SET data = 'text' WHERE id = 30",
    "data_text_all": "UPDATE messages SET data = 'text'",
    "data_empty": "UPDATE messages SET data = x'' WHERE id = 30",
    "no_index": "DROP INDEX timestamp_idx",
    "other_index": "DROP INDEX timestamp_idx; CREATE INDEX timestamp_idx ON messages (topic_id)",
    "no_messages": "DELETE FROM messages",
    "no_topics": "DELETE FROM topics",
    "no_table": "DROP TABLE messages",
    "view": "DROP TABLE messages; CREATE VIEW messages AS SELECT 1 AS id, 1 AS topic_id, "
    "1 AS timestamp, x'00010000' AS data",
    "root_wrong": "PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = 2 WHERE name = "
    "'messages'",
    "root_huge": "PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = 99999 WHERE name = "
    "'messages'",
    "index_root_wrong": "PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = 3 WHERE name "
    "= 'timestamp_idx'",
    "utf16": "",
}


def make_database(path, sql, encoding="UTF-8"):
    database = sqlite3.connect(path)
    database.executescript(f"PRAGMA encoding = '{encoding}'; PRAGMA page_size = 1024;" + TABLES + sql)
    database.commit()
    database.close()


def sqlite_files(folder):
    for name, sql in SQL.items():
        path = os.path.join(folder, f"{name}.db3")
        make_database(path, sql, "UTF-16le" if name == "utf16" else "UTF-8")
        yield path
    whole = os.path.join(folder, "good.db3")
    with open(whole, "rb") as file:
        data = file.read()
    pages = len(data) // 1024
    for page in range(pages):
        path = os.path.join(folder, f"page_{page}.db3")
        with open(path, "wb") as file:
            file.write(data[: page * 1024] + bytes(1024) + data[(page + 1) * 1024 :])
        yield path
    for size in (0, 1, 16, 99, 100, 1024, 3000, len(data) - 1):
        path = os.path.join(folder, f"short_{size}.db3")
        with open(path, "wb") as file:
            file.write(data[:size])
        yield path


NOTES = {
    "good": b"key: value",
    "escape": b'"k\\e": "v\\e[2J"',
    "nul": b'"k\\0": "v"',
    "raw": b'"k\x1b": "v\x01"',
    "utf8": b"key: v\xff",
    "number": b"key: [1, 2]",
}


def folders(folder):
    for name, note in NOTES.items():
        path = os.path.join(folder, f"note_{name}")
        os.makedirs(path)
        make_database(os.path.join(path, "x_0.db3"), "")
        with open(os.path.join(path, "metadata.yaml"), "wb") as file:
            file.write(
                b"rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: sqlite3\n"
                b"  message_count: 60\n  relative_file_paths: [x_0.db3]\n"
                b"  topics_with_message_count:\n    - topic_metadata: {name: /a}\n"
                b"      message_count: 60\n  custom_data:\n    " + note + b"\n"
            )
        yield path
    path = os.path.join(folder, "two_types_in_two_files")
    os.makedirs(path)
    make_database(os.path.join(path, "x_0.db3"), "")
    make_database(os.path.join(path, "x_1.db3"), "UPDATE topics SET type = 'x/msg/Y'")
    yield path


def files(folder):
    for name, data in mcap_files():
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        yield path
    yield from sqlite_files(folder)
    yield from folders(folder)
