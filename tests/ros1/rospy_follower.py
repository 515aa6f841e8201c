#!/usr/bin/python3
"""A node of rospy on simulated time. For each line of standard input it prints what it sees as JSON."""

import json
import sys

import rospy
from rosgraph_msgs.msg import Clock

seen = {"ticks": 0, "jumps_backward": 0, "repeated": 0}
last = 0


def on_tick(message):
    global last
    time_ns = message.clock.to_nsec()
    seen["jumps_backward"] += time_ns < last
    seen["repeated"] += time_ns == last
    seen["ticks"] += 1
    last = time_ns


rospy.init_node("rospy_follower", disable_rosout=True)
rospy.Subscriber("/clock", Clock, on_tick, tcp_nodelay=True)
print(json.dumps({"sim": not rospy.rostime.is_wallclock()}), flush=True)
for line in sys.stdin:
    print(json.dumps({"now_ns": rospy.Time.now().to_nsec(), **seen}), flush=True)
