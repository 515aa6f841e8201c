/* Which time a node follows, judged by evidence: nodes need not answer, and unknown is not wall
 * time. Pure: what is known of the node comes from the caller. */
#ifndef TB_CONTRACT_TIME_BASE_H
#define TB_CONTRACT_TIME_BASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/private_api.h"

typedef enum tb__base {
  TB__BASE_UNKNOWN,
  TB__BASE_WALL,  /* system time */
  TB__BASE_CLOCK, /* /clock */
  TB__BASE_OTHER, /* a source of timebase, such as time in shared memory */
} tb__base_t;

/* What it was judged by, the strongest first. */
typedef enum tb__base_evidence {
  TB__BASE_BY_NOTHING,
  TB__BASE_BY_ANSWER,          /* its parameter use_sim_time */
  TB__BASE_BY_SUBSCRIPTION,    /* of /clock, as rclcpp and rclpy make it for use_sim_time */
  TB__BASE_BY_EVENT,           /* a change of use_sim_time on /parameter_events */
  TB__BASE_BY_NO_SUBSCRIPTION, /* it is a node of rclcpp or rclpy and has none of /clock */
  TB__BASE_BY_STAMPS,          /* of its topics */
  TB__BASE_BY_SHARED_MEMORY,   /* its process follows a time there, or may do so */
} tb__base_evidence_t;

typedef enum tb__known_bool { TB__IS_NOT_KNOWN, TB__IS_FALSE, TB__IS_TRUE } tb__known_bool_t;

typedef struct tb__base_facts {
  tb__known_bool_t answer;    /* of use_sim_time */
  bool has_other_source;      /* its parameter time_source names another source than /clock */
  bool follows_clock;         /* it subscribes to /clock as a time source does */
  bool is_recorder;           /* it subscribes to /clock for other reasons, and that says nothing */
  bool is_rcl;                /* of rclcpp or rclpy: one of these would subscribe */
  bool has_unseen;            /* it has endpoints that were not discovered, or is no longer there */
  bool is_on_shared_time;     /* its process follows a time in shared memory */
  bool may_be_on_shared_time; /* processes do, and which one it is in is not known */
  tb__known_bool_t event;     /* the last change that was seen */
  bool is_event_newer;        /* than the answer */
  uint64_t stamps_of_clock;   /* that fit the time of /clock, and not system time */
  uint64_t stamps_of_wall;    /* the other way round */
} tb__base_facts_t;

typedef struct tb__base_verdict {
  tb__base_t base;
  tb__base_evidence_t by;
} tb__base_verdict_t;

/* That many stamps are evidence, if none of the other kind is among them. */
#define TB__BASE_STAMPS_MIN 3

TB_PRIVATE_API tb__base_verdict_t tb__base_judge(const tb__base_facts_t *facts);

/* "unknown", "wall", "clock", "other". */
TB_PRIVATE_API const char *tb__base_name(tb__base_t base);
/* "answer", "subscription", "event", "no subscription", "stamps", "shared memory", "none". */
TB_PRIVATE_API const char *tb__base_evidence_name(tb__base_evidence_t by);
/* As a line of evidence: "its parameter use_sim_time is false". */
TB_PRIVATE_API const char *tb__base_evidence_text(tb__base_verdict_t verdict);

/* Nodes that tools make beside those of an application, known by their names: hidden ones (a name
 * that begins with '_'), those of ros2 launch and of tf2's listeners. They have no time of their
 * own that anyone sees. `full_name` is "/ns/name". */
TB_PRIVATE_API bool tb__base_is_tool(const char *full_name);

#endif
