/* Calls of a user's jump callback on a thread of the library, where nothing catches what it
 * throws. */
#ifndef TB_RCL_GUARDED_CALL_H
#define TB_RCL_GUARDED_CALL_H

#include "rcl/rcl_abi.h"

/* Calls `callback`. An exception of C++ ends there: it is destroyed and noted, with its type. On
 * processors other than x86-64 and AArch64 it ends the process, as it does without this. */
void tb__guarded_call(rcl_jump_callback_t callback, const rcl_time_jump_t *jump, bool before_jump,
                      void *user_data);

#endif
