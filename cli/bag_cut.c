#include "bag_part.h"

/* cut, filter and merge differ in what they do if nothing is requested. */
static int run(const command_t *command, int argc, char **argv)
{
  bag_part_t part = BAG_PART_INIT(command);
  int result = bag_part_begin(&part, argc, argv, NULL);
  bool help = part.help;
  if (!result && !help) result = bag_part_write(&part);
  bag_part_end(&part);
  return help ? command_help(command) : command_finish(command, result);
}

#define TIME_HELP                                                                                  \
  "  --start T          from T on (default: all); --start-offset S is +S\n"                        \
  "  --end T            up to but not including T\n"                                               \
  "  --duration S       the end, counted from the start; also --playback-duration\n"
#define OUTPUT_HELP                                                                                \
  "  --rename A:=B...   topic A is written as B\n"                                                 \
  "  -o, --output OUT   the new recording: a folder, or of the name OUT.mcap, OUT.db3 or "         \
  "OUT.bag\n"                                                                                      \
  "                     a file (unless it may become several); must not exist\n"                   \
  "  -s, --storage S    its format: sqlite3, mcap, rosbag1 (default: by the extension of\n"        \
  "                     OUT, .db3, .mcap or .bag; otherwise that of BAG, mcap if they "            \
  "differ)\n" BAG_OUTPUT_HELP "  -h, --help         this text\n\n"
#define END_HELP                                                                                   \
  "T is seconds since 1970, 2023-11-14T22:13:20Z, or +S for S after the start of the\n"            \
  "recording. Where something could not be read, the rest is copied: status 3.\n"
#define LATCHED_TEXT                                                                               \
  "have, of topics that are transient local (/tf_static), the messages from before it\n"           \
  "that a late subscription would get: as many as the publishers kept, of bags of ROS 1\n"         \
  "the last one of each publisher. They get the start as log time and keep their publish\n"        \
  "time (of sqlite3, which has none, their log time).\n"

const command_t command_bag_cut = {
    .name = "bag cut",
    .summary = "write a part of recordings: a time range, some of their topics",
    .usage = "timebase bag cut BAG... -o OUT [--start T] [--end T | --duration S] [--topics T...] "
             "[-e E] [-x E]",
    .help =
        "Copies the messages with log times from --start on and before --end, byte for byte; from\n"
        "MCAP to MCAP also attachments of that time, and all metadata. Several recordings are\n"
        "merged by time. What begins at --start will\n" LATCHED_TEXT "\n" TIME_HELP BAG_SELECT_HELP
        "  --no-latched       no messages from before --start\n"
        "  --run N            which run, of a recording in which time was set back\n" OUTPUT_HELP
            END_HELP,
    .run = run,
};

const command_t command_bag_filter = {
    .name = "bag filter",
    .summary = "write some topics of recordings, by name, type or expression",
    .usage = "timebase bag filter BAG... -o OUT [-e E] [-x E] [--topics T...] [--topic-types T...] "
             "[--start T] [--end T]",
    .help =
        "Copies the messages of the topics that are chosen, byte for byte; from MCAP to MCAP also\n"
        "attachments and metadata. All runs of a recording in which time was set back are\n"
        "filtered, unless a run or a time is given. With --latched, parts that begin at "
        "--start\n" LATCHED_TEXT "\n" BAG_SELECT_HELP TIME_HELP
        "  --latched          with latched messages from before --start, as cut has them\n"
        "  --run N            which run, of a recording in which time was set back\n" OUTPUT_HELP
            END_HELP,
    .run = run,
};

const command_t command_bag_merge = {
    .name = "bag merge",
    .summary = "merge recordings into one, by time",
    .usage = "timebase bag merge BAG BAG... -o OUT [-e E] [-x E] [--start T] [--end T]",
    .help =
        "Copies the messages of all recordings in the order of their log times, byte for byte;\n"
        "equal times keep the order of the recordings. A topic that has another type in a later\n"
        "recording gets a number (/a_2), which is reported; one whose definition or hash differs\n"
        "under one type is refused by name. Notes that differ are all kept. Recordings of\n"
        "different times (system time and ROS time) are merged with a warning.\n\n" BAG_SELECT_HELP
            TIME_HELP "  --latched          with latched messages from before --start, as cut has "
        "them\n" OUTPUT_HELP END_HELP,
    .run = run,
};
