// Nodes of Fast DDS, which behave on the wire as those of rmw_fastrtps do.
//
//   fastdds_peer [--unannounced] [--bare] [--lease S] DOMAIN lo|default NODE...
//
// All NODEs (full names; "talker" is "/talker") are in one participant. "lo" uses 127.0.0.1 alone,
// "default" is Fast DDS without settings: shared memory, and UDP with multicast. Each node has
// parameter services, use_sim_time, and publishers of /rosout and /parameter_events. With
// --unannounced the nodes are in no ros_discovery_info until "announce"; with --bare there are no
// endpoints of that topic at all, and no announcement. Others take it for gone
// S seconds (20) after it was killed.
//
// With "default" at most one process of Cyclone DDS may be matched with a reliable writer of the
// peer: where two announce one multicast address, Fast DDS 2.9.1 opens that one only, sends to the
// second one's own address, and ends on an assertion, which Debian's build has. ("lo" has no
// multicast.)
//
// Prints "ready". Takes a line each on standard input, answers each with a line, and ends at the
// end of standard input. "tick" lines (see "follow") come at any time.
//
//   announce                        "ok": ros_discovery_info is sent
//   sees NODE                       "sees NODE", when another participant has announced it
//   graph-matched                   "ok", when another participant reads ros_discovery_info
//
// Servers (each request is counted; what is not of the service's type is never answered):
//   count                           "requests N malformed M"
//   dropped                         "dropped N" replies whose reader was not matched in 100 ms
//   mute on|off                     "ok": requests take effect and get no reply
//   journal FILE                    "ok": each request is appended there as a line, before its
//   reply:
//                                   the first 12 bytes in hexadecimal digits
//   forge other|sequence|writer|unnamed|off [only] [HEX]
//                                   "ok": before each reply, one with the identity of another
//                                   client, of the next request, of the request's writer, or none,
//                                   with the sample HEX (a sequence without elements); "only":
//                                   instead of the reply
//   echo SERVICE TYPE [HEX]         "ok": a service that answers with the request's bytes; with HEX
//                                   any other request is malformed
//   close SERVICE                   "ok": ends what "echo" has made
//   partition NAME|-                "ok": of endpoints that are made from now on; -: the default
//   param NODE NAME                 "value VALUE", as the node of this peer has it
//   store NODE NAME TEXT|--size N   "ok": sets it there
//   now NODE                        "now NS", the last tick of a node with use_sim_time, or
//                                   "now unset"
//
// Clients. [OPTIONS] are before other arguments: --limit MS (for a match, and for the reply; 30000
// each) and --asker reader|writer|none|GUID (the related identity of the request; reader). All
// answer "no service" where none is matched in time, "no answer" where no reply comes, and "bad
// answer" where it is not CDR of its type. Values are "bool true", "integer 1", "double 0.5",
// "string TEXT", "string pattern SIZE" (of --size), "not set".
//   get [OPTIONS] NODE NAME...      "value VALUE..."
//   set [OPTIONS] NODE NAME TEXT|--size N
//                                   "set ok" or "set refused REASON"; --size: a string of a pattern
//   list [OPTIONS] NODE             "names NAME..."
//   types [OPTIONS] NODE NAME...    "types NUMBER..."
//   describe [OPTIONS] NODE NAME... "described NAME NUMBER..."
//   call [OPTIONS] SERVICE TYPE HEX|--size N
//                                   "reply SIZE same|HEX|other": as the request, short, or neither;
//                                   HEX and SIZE are with encapsulation
//   client SERVICE TYPE             "reader GUID writer GUID", in hexadecimal digits
//   post [OPTIONS] SERVICE TYPE HEX|--size N
//                                   "posted": a request of a client whose reader of replies is
//                                   named in it and not yet announced to anyone
//   listen [OPTIONS] SERVICE        as "call", for what was posted last: announces the reader
//   strays SERVICE                  "strays N" replies that its client has dropped
//
// Topics. QOS is reliable, best_effort or latched, with ":DEPTH" if wanted (10).
//   clock QOS                       "ok": a publisher of /clock
//   tick NS...                      "ok": publishes these times
//   ticks FROM_NS STEP_NS MS        "ok": publishes from FROM_NS on, STEP_NS more each MS
//   ticks stop                      "ok"
//   follow QOS                      "ok"; then "tick NS" for each message of /clock,
//                                   until "destroy /clock"
//   pub TOPIC TYPE QOS [RIHS01_...] "ok"
//   send TOPIC COUNT SIZE|HEX       "sent N": std_msgs/String "TOPIC NUMBER xxx" of SIZE bytes, or
//                                   samples as they are; waits rather than replace what readers
//                                   lack
//   flush TOPIC                     "flushed", when readers have acknowledged all; takes up to 3 s
//   sub TOPIC TYPE QOS              "ok"
//   received TOPIC COUNT            "received N SIZE", when there are COUNT messages
//   matched TOPIC COUNT             "matched N", when the publisher or subscription is matched so
//   destroy TOPIC                   "ok": its publisher or subscription
#include <cstdio>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/log/StdoutErrConsumer.hpp>
#include <iostream>

#include "commands.h"

int main(int argc, char **argv)
{
  using eprosima::fastdds::dds::Log;
  using eprosima::fastdds::dds::StdoutErrConsumer;
  auto log = std::make_unique<StdoutErrConsumer>();
  log->stderr_threshold(Log::Kind::Info); // standard output is for answers
  Log::ClearConsumers();
  Log::RegisterConsumer(std::move(log));
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  peer::Words words(std::vector<std::string>(argv + 1, argv + argc));
  bool is_announced = !words.skip("--unannounced");
  try {
    peer::Participant::Options options;
    if (words.skip("--bare")) options.has_graph = is_announced = false;
    if (words.skip("--lease")) options.lease_s = static_cast<int>(words.number());
    options.domain = static_cast<uint32_t>(words.number());
    std::string network = words.next();
    options.is_local = network == "lo";
    if (!options.is_local && network != "default")
      throw std::runtime_error("networks: lo, default");
    peer::Commands commands(options, words.rest());
    if (is_announced) commands.obey("announce");
    std::puts("ready");
    for (std::string line; std::getline(std::cin, line);)
      std::puts(commands.obey(line).c_str());
  } catch (const std::exception &error) {
    std::fprintf(stderr, "fastdds_peer: %s\n", error.what());
    return 1;
  }
  return 0;
}
