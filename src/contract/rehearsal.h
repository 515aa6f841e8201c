/* A rehearsal: the contract's acceptance of a stack, in seven steps. Each step is judged by lines
 * of evidence, and a step without one is not proven. Pure: what was seen comes from the caller. Not
 * for several threads. */
#ifndef TB_CONTRACT_REHEARSAL_H
#define TB_CONTRACT_REHEARSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

#include "contract/path.h"
#include "contract/run_factor.h"
#include "contract/stamps.h"
#include "contract/time_base.h"

typedef enum tb__rehearsal_step {
  TB__STEP_TIME_BASE, /* use_sim_time of each node */
  TB__STEP_QUIET,     /* nothing with a time before the first tick */
  TB__STEP_RUN,       /* at 1x, with ages and latencies within the budgets */
  TB__STEP_SEEK,      /* a seek back */
  TB__STEP_PAUSE,     /* the safety output trips while time is stopped */
  TB__STEP_WITHHOLD,  /* and when an input stops */
  TB__STEP_RECORDING, /* of the run passes `timebase check` */
  TB__STEP_COUNT,
} tb__rehearsal_step_t;

/* In the order in which one of a line outweighs another. */
typedef enum tb__proof {
  TB__PROOF_PASS = 1,
  TB__PROOF_NEEDLESS, /* what the step is about is not in the stack: no obstacle to passing */
  TB__PROOF_NONE,
  TB__PROOF_FAIL
} tb__proof_t;

enum { TB__REHEARSAL_LINES = 40, TB__REHEARSAL_LINE_SIZE = 400 };

typedef struct tb__rehearsal_line {
  tb__proof_t proof;
  char text[TB__REHEARSAL_LINE_SIZE];
} tb__rehearsal_line_t;

/* All zero: nothing is proven. */
typedef struct tb__rehearsal {
  struct {
    tb__rehearsal_line_t lines[TB__REHEARSAL_LINES];
    size_t count, dropped; /* the least of them are dropped when there is no room */
    tb__proof_t worst;     /* of all lines; 0: there is none */
  } steps[TB__STEP_COUNT];
  bool is_no_acceptance_run; /* by its factor: what was late in it proves nothing */
} tb__rehearsal_t;

/* A line of evidence. */
TB_PRIVATE_API void tb__rehearsal_note(tb__rehearsal_t *rehearsal, tb__rehearsal_step_t step,
                                       tb__proof_t proof, const char *format, ...) TB_PRINTF(4, 5);
/* The same for the first step that has no line so far: not proven, for this reason. Others refer to
 * it. */
TB_PRIVATE_API void tb__rehearsal_end(tb__rehearsal_t *rehearsal, const char *why);

TB_PRIVATE_API tb__proof_t tb__rehearsal_proof(const tb__rehearsal_t *rehearsal,
                                               tb__rehearsal_step_t step);
/* Of all steps: whether each has passed, or else the gravest. */
TB_PRIVATE_API tb__proof_t tb__rehearsal_verdict(const tb__rehearsal_t *rehearsal);

/* "use-sim-time", and what it is about. */
TB_PRIVATE_API const char *tb__rehearsal_step_name(tb__rehearsal_step_t step);
TB_PRIVATE_API const char *tb__rehearsal_step_title(tb__rehearsal_step_t step);
/* "PASS", "FAIL", "NOT PROVEN", "NOT APPLICABLE". */
TB_PRIVATE_API const char *tb__proof_name(tb__proof_t proof);

/* --- what was seen --- */

/* A node of the stack, and whether it should follow /clock. */
TB_PRIVATE_API void tb__rehearsal_judge_base(tb__rehearsal_t *rehearsal, const char *node,
                                             bool should_follow, tb__base_verdict_t verdict);

/* A publisher of the stack, before the first tick. */
typedef struct tb__quiet_facts {
  const char *topic, *node; /* `node` may be NULL */
  bool is_known;            /* the definition of its messages */
  bool has_stamp;
  bool is_latched;   /* transient local: may be sent before, with what does not change */
  uint64_t messages; /* before the first tick */
  uint64_t unseen;   /* before it was matched, which was before the first tick */
} tb__quiet_facts_t;

TB_PRIVATE_API void tb__rehearsal_judge_quiet(tb__rehearsal_t *rehearsal,
                                              const tb__quiet_facts_t *facts);

/* 0.98 to 1.02; else it is not an acceptance run. Before the ages and paths of the run. */
TB_PRIVATE_API void tb__rehearsal_judge_factor(tb__rehearsal_t *rehearsal,
                                               const tb__run_factor_t *run);
/* Ages of a topic with a budget, in the run. */
TB_PRIVATE_API void tb__rehearsal_judge_age(tb__rehearsal_t *rehearsal, const char *topic,
                                            int64_t budget_ns, const tb__stamps_t *stamps);
TB_PRIVATE_API void tb__rehearsal_judge_path(tb__rehearsal_t *rehearsal, const char *from,
                                             const char *to, const tb__path_t *path);

/* An output after a seek back. */
typedef struct tb__resume_facts {
  const char *topic;
  uint64_t good;      /* messages with a time of the new epoch */
  uint64_t in_flight; /* of the old epoch, at once after the seek: they were on their way */
  uint64_t stale;     /* of the old epoch, later */
  uint64_t wrong;     /* of neither: zero, of another time base, in the future */
  int64_t after_ns;   /* steady time from the seek to the first good one */
  int64_t limit_ns;   /* 0: not declared, and only the others are judged */
} tb__resume_facts_t;

TB_PRIVATE_API void tb__rehearsal_judge_resume(tb__rehearsal_t *rehearsal,
                                               const tb__resume_facts_t *facts);

/* The safety output, while something was stopped. */
typedef struct tb__trip_facts {
  const char *topic, *cause;  /* "time was paused", "/points was withheld" */
  uint64_t messages;          /* received before */
  bool is_known, was_tripped; /* the state before */
  bool has_tripped;
  int64_t after_ns, within_ns; /* steady */
} tb__trip_facts_t;

TB_PRIVATE_API void tb__rehearsal_judge_trip(tb__rehearsal_t *rehearsal, tb__rehearsal_step_t step,
                                             const tb__trip_facts_t *facts);

/* --- JUnit XML --- */

/* A test case for each step: one that is not proven is an error, one that is not applicable is
 * skipped. To a file as
 * tb__output_file_write. */
TB_PRIVATE_API tb_status_t tb__rehearsal_junit_write(const tb__rehearsal_t *rehearsal,
                                                     const char *suite, const char *path,
                                                     tb_error_t *error) TB_WARN_UNUSED;

#endif
