/* The manifest: what a deployment declares about its time. docs/manifest.md has its form for users,
 * schema/manifest.schema.json the same for tools. Not for several threads. */
#ifndef TB_CONTRACT_MANIFEST_H
#define TB_CONTRACT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/qos.h>

#include "contract/limits.h"
#include "contract/problems.h"
#include "contract/rules.h"

#define TB__MANIFEST_VERSION     1
#define TB__MANIFEST_SIZE_MAX    ((size_t)1 << 20) /* bytes */
#define TB__MANIFEST_VALUES_MAX  100000
#define TB__MANIFEST_ENTRIES_MAX 4096 /* of each list: nodes, topics, paths, ... */
#define TB__MANIFEST_NAME_MAX    256  /* bytes of a name of a node or topic */

/* Where a recording and a recorder keep it: a topic (std_msgs/msg/String, latched) with its text,
 * and the key of the same text in metadata.yaml. */
#define TB__MANIFEST_TOPIC       "/timebase/manifest"
#define TB__MANIFEST_CUSTOM_DATA "timebase_manifest"

/* The topic of the points at which a recorder has read all clocks (std_msgs/msg/String, latched).
 */
#define TB__POINTS_TOPIC "/timebase/points"

typedef enum tb__manifest_mode {
  TB__MODE_VEHICLE = 1, /* system time, no /clock */
  TB__MODE_SIMULATION,
  TB__MODE_REPLAY,
} tb__manifest_mode_t;

/* What a node takes a kind of time from. */
typedef enum tb__time_base {
  TB__TIME_ROS = 1, /* the graph's time */
  TB__TIME_SYSTEM,
  TB__TIME_STEADY,
  TB__TIME_NONE, /* it has nothing of that kind */
} tb__time_base_t;

/* The kinds of time of a node. Timers and hardware timeouts cannot be observed from outside. */
typedef enum tb__time_kind {
  TB__KIND_HEADERS, /* header.stamp of what it publishes */
  TB__KIND_TF,      /* stamps of its transforms */
  TB__KIND_TIMERS,
  TB__KIND_DIAGNOSTICS,
  TB__KIND_HARDWARE_TIMEOUTS, /* steady or none */
  TB__KIND_COUNT
} tb__time_kind_t;

/* A list of names. */
typedef struct tb__manifest_names {
  const char **items;
  size_t count;
} tb__manifest_names_t;

typedef struct tb__manifest_clock {
  const char *topic;             /* NULL: none, ROS time is system time */
  const char *publisher;         /* a node; NULL: not declared */
  double rate_hz;                /* 0: not declared */
  double factor_min, factor_max; /* of real time; 0: not declared */
  bool has_qos;
  tb_qos_reliability_t reliability; /* that the publisher offers */
  tb_qos_durability_t durability;
  int32_t depth; /* 0: not declared */
} tb__manifest_clock_t;

typedef struct tb__manifest_node {
  const char *name; /* or a pattern, see tb__name_matches */
  const char *role; /* NULL: not declared */
  bool timing_critical;
  bool use_sim_time;                     /* declared, or by the mode */
  bool has_use_sim_time;                 /* declared */
  tb__time_base_t bases[TB__KIND_COUNT]; /* declared, or the default */
  bool has_base[TB__KIND_COUNT];         /* declared */
  size_t line;                           /* 0: of no text */
} tb__manifest_node_t;

typedef struct tb__manifest_topic {
  const char *name;             /* or a pattern */
  const char *type;             /* NULL: not declared */
  double rate_hz;               /* 0: not declared */
  int64_t budget_ns;            /* of the age at reception, in ROS time; 0: none */
  tb__contract_limits_t limits; /* the manifest's, with its own */
  size_t line;
} tb__manifest_topic_t;

typedef struct tb__manifest_path {
  const char *name;      /* NULL: not declared */
  const char *from, *to; /* topics */
  int64_t budget_ns;     /* above 0 */
  size_t line;
} tb__manifest_path_t;

/* A rule that is switched off, with a reason. */
typedef struct tb__manifest_off {
  tb__rule_id_t rule;
  const char *reason;
  tb__manifest_names_t subjects; /* names or patterns; none: of all */
  size_t line;
} tb__manifest_off_t;

/* The output that must trip while its input, or time, is stopped. */
typedef struct tb__manifest_safety {
  const char *topic; /* NULL: there is none */
  const char *field; /* of its messages: "data", "status[0].level" */
  const char *trips; /* the value that means that it has tripped: "true", "2", "STOP" */
  int64_t within_ns; /* of steady time */
} tb__manifest_safety_t;

/* What `timebase rehearse` does and expects. */
typedef struct tb__manifest_rehearsal {
  bool is_declared;
  tb__manifest_names_t inputs;   /* topics that are played; none: those that are subscribed to */
  tb__manifest_names_t outputs;  /* that resume after a seek; none: all that have stamps */
  tb__manifest_names_t withhold; /* inputs that are withheld, one after the other */
  int64_t quiet_ns;              /* without a clock, steady time */
  int64_t run_ns;                /* how much is played; 0: all of it */
  int64_t resume_ns;             /* steady time in which outputs resume; 0: not declared */
  tb__manifest_safety_t safety;
} tb__manifest_rehearsal_t;

typedef struct tb__manifest {
  const char *name; /* NULL: not declared */
  tb__manifest_mode_t mode;
  int64_t max_error_ns; /* of a node's time; 0: not declared */
  tb__manifest_clock_t clock;
  tb__contract_limits_t limits;
  tb__manifest_node_t *nodes; /* in the order of the text */
  size_t node_count;
  tb__manifest_topic_t *topics;
  size_t topic_count;
  tb__manifest_path_t *paths;
  size_t path_count;
  tb__manifest_names_t evidence; /* topics; declared, or those of the mode */
  bool has_evidence;             /* declared */
  tb__manifest_off_t *off;
  size_t off_count;
  tb__manifest_rehearsal_t rehearsal;
  tb__manifest_node_t node_defaults;
  tb__manifest_topic_t topic_defaults;
  struct tb__manifest_memory *memory; /* of the texts */
} tb__manifest_t;

/* Reads the text (NUL or not at the end). `problems` gets errors and warnings, by line. With errors
 * TB_ERR_CORRUPT is returned and *out left alone; also TB_ERR_NO_MEMORY. Free it afterwards. */
TB_PRIVATE_API tb_status_t tb__manifest_parse(const char *text, size_t size,
                                              tb__problems_t *problems,
                                              tb__manifest_t *out) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__manifest_fini(tb__manifest_t *manifest);

/* The same for a file, whose text is *out_text, to be freed (NULL: not needed); `error` is of
 * reading it, and of the first problem. TB_ERR_INVALID if it is no regular file, TB_ERR_NOT_FOUND,
 * TB_ERR_LIMIT, TB_ERR_SYSTEM. */
TB_PRIVATE_API tb_status_t tb__manifest_load(const char *path, tb__problems_t *problems,
                                             tb__manifest_t *out, char **out_text,
                                             tb_error_t *error) TB_WARN_UNUSED;

/* What holds for a node or topic: its own entry, else the first pattern that matches. *out_declared
 * (may be NULL) is whether there is one; else the defaults are returned. Never NULL. */
TB_PRIVATE_API const tb__manifest_node_t *tb__manifest_node(const tb__manifest_t *manifest,
                                                            const char *name, bool *out_declared);
TB_PRIVATE_API const tb__manifest_topic_t *tb__manifest_topic(const tb__manifest_t *manifest,
                                                              const char *name, bool *out_declared);

/* By which part of the declared rate of /clock a measured one is off; 0: as declared, or none is.
 * In replay only too few ticks are off: a player sends one before each message as well. */
TB_PRIVATE_API double tb__manifest_rate_off(const tb__manifest_t *manifest, double rate_hz);

/* Whether a factor of real time is as declared: a number within the part rate_warn of it, a range
 * as it is. True where none is declared. */
TB_PRIVATE_API bool tb__manifest_factor_fits(const tb__manifest_clock_t *declared,
                                             const tb__contract_limits_t *limits, double factor);

/* Why the rule is switched off for the subject (NULL: for all); NULL: it is on. */
TB_PRIVATE_API const char *tb__manifest_off_reason(const tb__manifest_t *manifest,
                                                   tb__rule_id_t rule, const char *subject);

/* The words of the text: "vehicle", "ros", "hardware_timeouts". */
TB_PRIVATE_API const char *tb__manifest_mode_name(tb__manifest_mode_t mode);
TB_PRIVATE_API const char *tb__time_base_name(tb__time_base_t base);
TB_PRIVATE_API const char *tb__time_kind_name(tb__time_kind_t kind);
/* Whether what is declared of it can be observed from outside. */
TB_PRIVATE_API bool tb__time_kind_is_observable(tb__time_kind_t kind);

#endif
