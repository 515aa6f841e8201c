-- The demo recording: 30 s from 1700000000 s on, laid out as rosbag2 of ROS 2 jazzy writes it.
--
--   /chatter    std_msgs/msg/String   2 Hz, "hello 0" to "hello 60", reliable
--   /stamped    std_msgs/msg/Header   10 Hz, stamp == log time, best effort
--   /map_name   std_msgs/msg/String   once at 50 ms, "warehouse", transient local
--
-- Run in this folder: sqlite3 demo_0.db3 '.read demo.sql'

BEGIN;

-- Schema version 4 -------------------------------------------------------------------------------

CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL,
  metadata TEXT NOT NULL);
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
  serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,
  type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL,
  encoding TEXT NOT NULL, encoded_message_definition TEXT NOT NULL,
  type_description_hash TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,
  timestamp INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);

INSERT INTO schema VALUES (4, 'jazzy');

-- The table holds metadata.yaml without its outermost key.
INSERT INTO metadata(metadata_version, metadata)
  WITH yaml(text) AS (SELECT CAST(readfile('metadata.yaml') AS TEXT))
  SELECT 9, substr(replace(substr(text, instr(text, char(10))), char(10, 32, 32), char(10)), 2)
  FROM yaml;

-- Topics -----------------------------------------------------------------------------------------

CREATE TEMP TABLE hashes(type TEXT, hash TEXT);
INSERT INTO hashes VALUES
  ('std_msgs/msg/String',
   'RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18'),
  ('std_msgs/msg/Header',
   'RIHS01_f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01');

CREATE TEMP TABLE offers(id, name, type, depth, reliability, durability);
INSERT INTO offers VALUES
  (1, '/chatter',  'std_msgs/msg/String', 10, 'reliable',    'volatile'),
  (2, '/stamped',  'std_msgs/msg/Header',  5, 'best_effort', 'volatile'),
  (3, '/map_name', 'std_msgs/msg/String',  1, 'reliable',    'transient_local');

INSERT INTO topics
  WITH never(text) AS (SELECT '    sec: 9223372036' || char(10) || '    nsec: 854775807')
  SELECT id, name, offers.type, 'cdr',
    '- history: keep_last' || char(10) ||
    '  depth: ' || depth || char(10) ||
    '  reliability: ' || reliability || char(10) ||
    '  durability: ' || durability || char(10) ||
    '  deadline:' || char(10) || never.text || char(10) ||
    '  lifespan:' || char(10) || never.text || char(10) ||
    '  liveliness: automatic' || char(10) ||
    '  liveliness_lease_duration:' || char(10) || never.text || char(10) ||
    '  avoid_ros_namespace_conventions: false',
    hash
  FROM offers JOIN hashes ON hashes.type = offers.type, never ORDER BY id;

INSERT INTO message_definitions(topic_type, encoding, encoded_message_definition,
                                type_description_hash)
  SELECT type, 'ros2msg',
    CASE type
      WHEN 'std_msgs/msg/String' THEN 'string data' || char(10)
      ELSE 'builtin_interfaces/Time stamp' || char(10) || 'string frame_id' || char(10) ||
        '================================================================================' ||
        char(10) || 'MSG: builtin_interfaces/Time' || char(10) ||
        'int32 sec' || char(10) || 'uint32 nanosec' || char(10)
    END,
    hash
  FROM hashes;

-- Messages ---------------------------------------------------------------------------------------

-- What happened, before it is serialized. `ms` counts from the start.
CREATE TEMP TABLE events(topic_id INTEGER, ms INTEGER, text TEXT);
INSERT INTO events
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
  SELECT 1, 500 * i, 'hello ' || i FROM n;
INSERT INTO events
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
  SELECT 2, 100 * i, 'base_link' FROM n;
INSERT INTO events VALUES (3, 50, 'warehouse');

-- Every byte value at its own place: byte v is substr(all_bytes, v + 1, 1).
CREATE TEMP TABLE byte_table AS SELECT CAST(
  x'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F'
  || x'202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F'
  || x'404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F'
  || x'606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F'
  || x'808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9F'
  || x'A0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBF'
  || x'C0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDF'
  || x'E0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF' AS BLOB) AS all_bytes;

-- CDR, little endian (encapsulation 00 01 00 00): an integer is four bytes, lowest first; a text is
-- its length with the final NUL, the bytes, and the NUL.
CREATE TEMP TABLE fields AS
  SELECT topic_id, ms, text,
    1700000000 + ms / 1000 AS sec,
    ms % 1000 * 1000000 AS nanosec,
    length(text) + 1 AS length
  FROM events;

INSERT INTO messages(topic_id, timestamp, data)
  SELECT topic_id, sec * 1000000000 + nanosec, CAST(
    x'00010000' ||
    CASE topic_id WHEN 2 THEN
      substr(all_bytes, (sec & 255) + 1, 1) ||
      substr(all_bytes, (sec >> 8 & 255) + 1, 1) ||
      substr(all_bytes, (sec >> 16 & 255) + 1, 1) ||
      substr(all_bytes, (sec >> 24 & 255) + 1, 1) ||
      substr(all_bytes, (nanosec & 255) + 1, 1) ||
      substr(all_bytes, (nanosec >> 8 & 255) + 1, 1) ||
      substr(all_bytes, (nanosec >> 16 & 255) + 1, 1) ||
      substr(all_bytes, (nanosec >> 24 & 255) + 1, 1)
    ELSE x'' END ||
    substr(all_bytes, length + 1, 1) || x'000000' || text || x'00' AS BLOB)
  FROM fields, byte_table ORDER BY ms, topic_id;

COMMIT;
