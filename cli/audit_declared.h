/* What a manifest declares, judged against the graph: the findings of `audit MANIFEST` and the
 * differences of `manifest verify --graph` are made here, once. The main thread's. */
#ifndef TB_CLI_AUDIT_DECLARED_H
#define TB_CLI_AUDIT_DECLARED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <timebase/ros2_sample.h>

#include "contract/finding.h"
#include "contract/manifest.h"

struct audit;
struct audit_topic;

typedef enum audit_item_kind {
  AUDIT_ITEM_DIFFERS,  /* there is a finding of it too */
  AUDIT_ITEM_DECLARED, /* it cannot be observed, or could not be: the manifest alone has it */
  AUDIT_ITEM_NOTE,     /* the manifest does not demand it, or has switched its rule off */
} audit_item_kind_t;

typedef struct audit_item {
  audit_item_kind_t kind;
  const char *what; /* "node", "clock", "topic", "path", "evidence": static */
  char *name, *text;
} audit_item_t;

/* Of one round. */
typedef struct audit_declared {
  audit_item_t *items;
  size_t count, capacity;
  size_t counts[AUDIT_ITEM_NOTE + 1]; /* of each kind, with those that were too many to be kept */
  bool is_lost;                       /* memory ran out */
} audit_declared_t;

/* Before anything is found: what is switched off, and what is timing-critical. */
tb_status_t audit_declared_begin(struct audit *audit);
/* After everything else was found. */
void audit_declared_find(struct audit *audit);
void audit_declared_release(audit_declared_t *declared);

/* What is declared of the node's use_sim_time: by its name, by a pattern, or by the mode. NULL:
 * there is no manifest, or it says nothing of such a node. */
const tb__manifest_node_t *audit_declared_sim_time(const struct audit *audit, size_t index);
/* Which of a node's stamps those of a topic of that type are. */
tb__time_kind_t audit_declared_kind(const char *type);
/* What the stamps of a node's topic of that type are declared to be; 0: nothing is declared. */
tb__time_base_t audit_declared_base(const struct audit *audit, const char *node, const char *type,
                                    tb__time_kind_t *out_kind);
/* A sample of a topic whose rate is declared. Under the mutex of the topics. */
void audit_declared_take(struct audit_topic *topic, const tb_ros2_sample_t *sample);

/* --- for the parts that judge --- */

/* A difference: a finding and an item. */
void audit_declared_differ(struct audit *audit, const tb__finding_input_t *input, const char *what,
                           const char *format, ...) TB_PRINTF(4, 5);
/* A difference whose finding another part of the audit makes. */
void audit_declared_repeat(struct audit *audit, const tb__finding_input_t *input, const char *what,
                           const char *text);
void audit_declared_note(struct audit *audit, audit_item_kind_t kind, const char *what,
                         const char *name, const char *format, ...) TB_PRINTF(5, 6);
/* Rates, budgets and bases of what was sampled. */
void audit_declared_find_streams(struct audit *audit);

/* All but the differences, which are findings: a few lines. */
void audit_declared_print(const struct audit *audit);
/* Those of a kind: [{"kind", "name", "text"}]. */
json_t *audit_declared_json(const struct audit *audit, audit_item_kind_t kind);

#endif
