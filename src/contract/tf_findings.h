/* What is wrong with the edges of transforms: the same for a live graph and for a recording. */
#ifndef TB_CONTRACT_TF_FINDINGS_H
#define TB_CONTRACT_TF_FINDINGS_H

#include "contract/finding.h"
#include "contract/tf_cover.h"

/* Where the edges are from. Each function gets `user`. */
typedef struct tb__tf_judge {
  const tb__tf_cover_t *cover;
  int64_t late_ns; /* messages that wait for an edge for longer: it is late */
  void *user;
  const char *(*topic)(void *user, uint32_t topic);
  /* The node of a publisher; NULL: not known. The function may be NULL. */
  const char *(*publisher)(void *user, uint64_t publisher);
  tb_status_t (*add)(void *user, const tb__finding_input_t *input, const char *evidence);
} tb__tf_judge_t;

/* Edges with several publishers, late ones, and those with transforms of the time before a jump.
 * The first failure of `add`. */
TB_PRIVATE_API tb_status_t tb__tf_cover_judge(const tb__tf_judge_t *judge) TB_WARN_UNUSED;

#endif
