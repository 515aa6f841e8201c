"""MCAP files as other programs write them: no metadata of ours, no chunks, no summary."""

import struct

MAGIC = b"\x89MCAP0\r\n"


def record(opcode, content):
    return bytes([opcode]) + struct.pack("<Q", len(content)) + content


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def write(path, channels, profile="ros1"):
    """Each channel: topic, type, encoding of its messages, encoding and text of its definition, metadata,
    and messages as pairs of a time and bytes."""
    data = MAGIC + record(1, text(profile) + text("test"))
    for number, (topic, kind, encoding, schema, definition, metadata, messages) in enumerate(channels, 1):
        pairs = b"".join(text(key) + text(value) for key, value in metadata.items())
        data += record(3, struct.pack("<H", number) + text(kind) + text(schema) + text(definition))
        data += record(4, struct.pack("<HH", number, number) + text(topic) + text(encoding) 
                       + struct.pack("<I", len(pairs)) + pairs)
        for count, (at_ns, body) in enumerate(messages):
            data += record(5, struct.pack("<HIQQ", number, count, at_ns, at_ns) + body)
    data += record(15, struct.pack("<I", 0)) + record(2, struct.pack("<QQI", 0, 0, 0)) + MAGIC
    with open(path, "wb") as file:
        file.write(data)
