/* A manifest to begin with, from what was seen of a graph or in a recording. What looks wrong is
 * marked with a comment that begins with "CHECK:". What only a minority does is never expected. */
#ifndef TB_CONTRACT_MANIFEST_DRAFT_H
#define TB_CONTRACT_MANIFEST_DRAFT_H

#include "contract/manifest.h"
#include "contract/time_base.h"

/* Texts may be of others, and any bytes; NULL is taken as empty. */
typedef struct tb__draft_node {
  const char *name;          /* its full name */
  tb__known_bool_t sim_time; /* whether it uses simulated time */
  const char *evidence;      /* by which that was judged: "its parameter use_sim_time is true" */
  bool publishes_clock;
  bool is_repeated; /* another node has the same name */
} tb__draft_node_t;

typedef struct tb__draft_topic {
  const char *name, *type;
  double rate_hz;   /* that was measured; 0: it was not */
  const char *mark; /* what looks wrong; NULL: nothing does */
} tb__draft_topic_t;

typedef struct tb__draft_facts {
  const char *source;          /* "the graph of domain 0", "the recording rec1" */
  bool is_recording;           /* whose nodes are not known */
  bool has_clock;              /* /clock has a publisher, or messages */
  bool is_replay;              /* its publisher is a player */
  size_t clock_publishers;     /* how many; 0: not known */
  const char *clock_publisher; /* the node of the first; NULL: it has none, or it is not known */
  double clock_rate_hz;        /* 0: not measured */
  double clock_factor;         /* 0: not measured */
  const char *clock_mark;      /* what looks wrong */
  const tb__draft_node_t *nodes;
  size_t node_count;
  const tb__draft_topic_t *topics;
  size_t topic_count;
} tb__draft_facts_t;

/* What nodes are expected to do: what most of those do that can be told. Publishers of /clock,
 * recorders and viewers are not counted. */
TB_PRIVATE_API bool tb__draft_expects_sim_time(const tb__draft_facts_t *facts);

/* The text, to be freed, and how many marks are in it. tb__manifest_parse accepts it.
 * TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__manifest_draft(const tb__draft_facts_t *facts, char **out,
                                              size_t *out_marks) TB_WARN_UNUSED;

/* "recorder", "viewer" or "player" for a node that is known by its name as such; NULL: another. */
TB_PRIVATE_API const char *tb__draft_role(const char *node_name);

#endif
