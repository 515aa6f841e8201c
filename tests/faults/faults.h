/* Fault sweeps: a scenario runs again and again, and the first, second, third ... call that it
 * makes to the C library or the kernel fails, until it passes with nothing having failed. Calls are
 * wrapped by the linker in these tests only (core_calls.inc, bag_calls.inc). */
#ifndef TB_TEST_FAULTS_H
#define TB_TEST_FAULTS_H

#include <stdbool.h>
#include <string.h>

#include "test.h"

typedef enum fault_kind {
  FAULT_MEMORY,     /* ends in TB_ERR_NO_MEMORY */
  FAULT_OPTIONAL,   /* memory that may be done without: TB_ERR_NO_MEMORY, or nothing changes */
  FAULT_SYSTEM,     /* ends in TB_ERR_SYSTEM */
  FAULT_MIDDLEWARE, /* ends in TB_ERR_TRANSPORT */
  FAULT_HARMLESS,   /* nothing changes */
} fault_kind_t;

/* Returns the first failure, having destroyed all that it made. */
typedef tb_status_t (*fault_scenario_t)(void);

/* Runs `scenario` until nothing fails any more: with every allocation and call that can fail, then
 * with every call whose failure must change nothing, then with allocations that are optional. After
 * each run `still_works` (may be NULL) checks what was there before; blocks and descriptors must
 * be as many as before. */
void fault_sweep(fault_scenario_t scenario, void (*still_works)(void));

/* The same with each run in a forked child, for what a process makes once and keeps. `begin` and
 * `end` (not under test) are run there; after the failure the scenario runs once more, and passes.
 * This process must have no threads. */
void fault_sweep_in_children(fault_scenario_t scenario, void (*begin)(void), void (*end)(void));

/* What the call that has failed ends in; TB_OK while none has. */
tb_status_t fault_status(void);
/* Whether one has, even if nothing changes by it. */
bool fault_has_struck(void);

/* Off: calls neither fail nor are counted. For the set-up of a scenario, which is not under test.
 */
void fault_arm(bool on);

/* For the wrapped calls: whether this one has to fail; and blocks that live. */
/* Nothing fails in this thread meanwhile. */
void fault_suspend(bool on);
bool fault_strikes(fault_kind_t kind, const char *call);
void fault_count_blocks(int by);

#define FAULT_POISON ((void *)0x5a5a)

/* `call` makes *pointer, or fails and leaves it alone: then it is NULL after this. */
#define MAKES(pointer, call)                                                                       \
  __extension__({                                                                                  \
    *(void **)&(pointer) = FAULT_POISON;                                                           \
    tb_status_t made_ = (call);                                                                    \
    if (made_) {                                                                                   \
      assert_ptr_equal(pointer, FAULT_POISON);                                                     \
      (pointer) = NULL;                                                                            \
    }                                                                                              \
    made_;                                                                                         \
  })

/* The same, and leaves the scenario for its `end` on failure. Needs a `status`. */
#define TRY_MAKE(pointer, call)                                                                    \
  if ((status = MAKES(pointer, call))) goto end
#define TRY(call)                                                                                  \
  if ((status = (call))) goto end

#endif
