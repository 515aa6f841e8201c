// The other side of mcap_cross_check: MCAP files by @mcap/core.
//   write FOLDER            files of several kinds, each NAME.mcap beside NAME.list
//   read FILE MODE          the list of what is in it; MODE indexed (by its summary) or stream
// A line of a list: topic, log time, publish time, size and FNV-1a of the payload, in order.
import { closeSync, openSync, readFileSync, readSync, statSync, writeFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const { McapIndexedReader, McapStreamReader, McapWriter } = require("@mcap/core");
const { loadDecompressHandlers } = require("@mcap/support");
const zstd = require("@foxglove/wasm-zstd");

function hash(data) {
  let value = 0x811c9dc5;
  for (const byte of data) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(16).padStart(8, "0");
}

function line(topic, message) {
  const { logTime, publishTime, data } = message;
  return `${topic} ${logTime} ${publishTime} ${data.length} ${hash(data)}`;
}

class FileWritable {
  #at = 0n;
  constructor(path) {
    this.fd = openSync(path, "w");
  }
  position() {
    return this.#at;
  }
  async write(bytes) {
    writeSync(this.fd, bytes);
    this.#at += BigInt(bytes.length);
  }
}

// Messages whose times overlap from chunk to chunk and go back within one.
function* messages(count) {
  for (let i = 0; i < count; i++) {
    const data = new Uint8Array(8 + ((i * 37) % 500)).fill(i % 7);
    data.set([0, 1, 0, 0, i & 255, i >> 8]);
    const logTime = BigInt(1_700_000_000_000_000_000n) + BigInt(1000 * i + ((i * 7919) % 20000));
    yield { channel: i % 3, sequence: i, logTime, publishTime: logTime - 5n, data };
  }
}

async function writeFile(folder, name, options) {
  const writable = new FileWritable(`${folder}/${name}.mcap`);
  const writer = new McapWriter({ writable, ...options });
  await writer.start({ profile: "ros2", library: "cross check" });
  const schemaId = await writer.registerSchema({
    name: "std_msgs/msg/String", encoding: "ros2msg", data: new TextEncoder().encode("string data\n"),
  });
  const channels = [];
  for (let i = 0; i < 3; i++)
    channels.push(await writer.registerChannel({
      schemaId, topic: `/topic_${i}`, messageEncoding: "cdr",
      metadata: new Map([["offered_qos_profiles", "- durability: 1\n"]]),
    }));
  const list = [];
  for (const { channel, ...message } of messages(name === "empty" ? 0 : 1000)) {
    await writer.addMessage({ channelId: channels[channel], ...message });
    list.push({ time: message.logTime, text: line(`/topic_${channel}`, message) });
  }
  await writer.addAttachment({
    name: "notes.txt", logTime: 1n, createTime: 2n, mediaType: "text/plain",
    data: new TextEncoder().encode("attached"),
  });
  await writer.addMetadata({
    name: "rosbag2", metadata: new Map([["ROS_DISTRO", "jazzy"], ["serialized_metadata", ""]]),
  });
  await writer.end();
  closeSync(writable.fd);
  list.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  writeFileSync(`${folder}/${name}.list`, list.map(({ text }) => text + "\n").join(""));
}

async function write(folder) {
  await zstd.isLoaded;
  const compressChunk = (data) => ({
    compression: "zstd", compressedData: new Uint8Array(zstd.compress(data, 3)),
  });
  const chunkSize = 20000;
  await writeFile(folder, "plain", { chunkSize });
  await writeFile(folder, "packed", { chunkSize, compressChunk });
  await writeFile(folder, "unchunked", { useChunks: false });
  await writeFile(folder, "unindexed", {
    chunkSize, useStatistics: false, useChunkIndex: false, useMessageIndex: false,
    useSummaryOffsets: false, repeatChannels: false, repeatSchemas: false,
  });
  await writeFile(folder, "empty", {});
}

function readable(path) {
  const fd = openSync(path);
  return {
    size: async () => BigInt(statSync(path).size),
    read: async (offset, size) => {
      const bytes = new Uint8Array(Number(size));
      if (readSync(fd, bytes, 0, bytes.length, Number(offset)) !== bytes.length)
        throw new Error(`${path}: no ${size} bytes at ${offset}`);
      return bytes;
    },
  };
}

async function readIndexed(path, decompressHandlers) {
  const reader = await McapIndexedReader.Initialize({ readable: readable(path), decompressHandlers });
  if (reader.header.profile !== "ros2" || !reader.header.library.startsWith("timebase "))
    throw new Error(`header ${JSON.stringify(reader.header)}`);
  let distro = "";
  for await (const { metadata } of reader.readMetadata({ name: "rosbag2" }))
    distro = metadata.get("ROS_DISTRO");
  let count = 0n;
  for await (const message of reader.readMessages()) {
    console.log(line(reader.channelsById.get(message.channelId).topic, message));
    count++;
  }
  if (reader.statistics.messageCount !== count || distro !== "jazzy")
    throw new Error(`${reader.statistics.messageCount} messages in the statistics, ${count} read, of ${distro}`);
}

async function readStream(path, decompressHandlers) {
  const reader = new McapStreamReader({ validateCrcs: true, decompressHandlers });
  const topics = new Map();
  const list = [];
  reader.append(readFileSync(path));
  for (let record; (record = reader.nextRecord()); ) {
    if (record.type === "Channel") topics.set(record.id, record.topic);
    if (record.type === "Message")
      list.push({ time: record.logTime, text: line(topics.get(record.channelId), record) });
  }
  if (!reader.done()) throw new Error("the file does not end");
  list.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  for (const { text } of list) console.log(text);
}

const [, , what, path, mode] = process.argv;
if (what === "write") await write(path);
else if (mode === "indexed") await readIndexed(path, await loadDecompressHandlers());
else await readStream(path, await loadDecompressHandlers());
