"""Files of sqlite3 bags, as rosbag2 of humble lays them out."""

import sqlite3


def sqlite_bag_make(path, topics, messages):
    """topics: (name, type); messages: (index of the topic, log time in ns, data)."""
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,"
        "serialization_format TEXT NOT NULL,offered_qos_profiles TEXT NOT NULL);"
        "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,"
        "timestamp INTEGER NOT NULL, data BLOB NOT NULL);"
        "CREATE INDEX timestamp_idx ON messages (timestamp ASC);"
    )
    for name, kind in topics:
        database.execute("INSERT INTO topics VALUES(NULL,?,?,'cdr','')", (name, kind))
    for topic, at, data in messages:
        database.execute("INSERT INTO messages VALUES(NULL,?,?,?)", (topic + 1, at, data))
    database.commit()
    database.close()
    return path
