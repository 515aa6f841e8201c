/* Status codes: what every fallible call returns. NULL for a pointer that is needed is
 * TB_ERR_INVALID in all of them; functions without a status do nothing then, and return NULL, false
 * or 0 unless their comment names another value. */
#ifndef TIMEBASE_STATUS_H
#define TIMEBASE_STATUS_H

#include <timebase/export.h>

/** X(name, value, message). The one list that codes, names and messages come from.
 * Values are part of the ABI: never renumber, only append. */
#define TB_STATUS_LIST(X)                                                                          \
  X(TB_OK, 0, "success")                                                                           \
  X(TB_ERR_INVALID, -1, "invalid argument or value")                                               \
  X(TB_ERR_RANGE, -2, "value out of range")                                                        \
  X(TB_ERR_OVERFLOW, -3, "arithmetic overflow: above the largest value")                           \
  X(TB_ERR_NOT_SET, -4, "time is not set (zero)")                                                  \
  X(TB_ERR_CLOCK_MISMATCH, -5, "times of different clocks (system, ROS) were mixed")               \
  X(TB_ERR_NO_MEMORY, -6, "out of memory")                                                         \
  X(TB_ERR_BUSY, -7, "busy: a jump is in progress, or another holder has it")                      \
  X(TB_ERR_TIMEOUT, -8, "the limit in steady time has passed")                                     \
  X(TB_ERR_CANCELLED, -9, "cancelled")                                                             \
  X(TB_ERR_CLOSED, -10, "the object was destroyed or closed")                                      \
  X(TB_ERR_CLOCK_CHANGED, -11, "the clock moved to another time source")                           \
  X(TB_ERR_JUMP_BACKWARD, -12, "time jumped backward")                                             \
  X(TB_ERR_JUMP_FORWARD, -13, "time jumped forward")                                               \
  X(TB_ERR_DEADLOCK, -14, "would deadlock: not allowed from this callback")                        \
  X(TB_ERR_DETACHED, -15, "the source no longer moves this timeline")                              \
  X(TB_ERR_FORKED, -16, "not available in a forked child")                                         \
  X(TB_ERR_NOT_FOUND, -17, "not found")                                                            \
  X(TB_ERR_LIMIT, -18, "a limit on number or size was reached")                                    \
  X(TB_ERR_SYSTEM, -19, "the operating system reported an error")                                  \
  X(TB_ERR_TRANSPORT, -20, "the middleware (DDS, TCP) reported an error")                          \
  X(TB_ERR_END, -21, "end of data")                                                                \
  X(TB_ERR_TRUNCATED, -22, "data ends too early")                                                  \
  X(TB_ERR_CORRUPT, -23, "data is corrupt")                                                        \
  X(TB_ERR_UNSUPPORTED, -24, "not supported")                                                      \
  X(TB_ERR_VERSION, -25, "incompatible version")                                                   \
  X(TB_ERR_UNDERFLOW, -26, "arithmetic underflow: below the most negative value")

/** What a call returns: 0, or a negative code. docs/errors.md says what to do about each. */
typedef enum tb_status {
#define TB_STATUS_ENUM(name, value, message) name = (value),
  TB_STATUS_LIST(TB_STATUS_ENUM)
#undef TB_STATUS_ENUM
} tb_status_t;

TB_BEGIN_DECLS

/** The code's own name, "TB_ERR_TIMEOUT"; "TB_ERR_UNKNOWN" for a value not in the list.
 * [any thread] [async-signal-safe] Never NULL; static storage. */
TB_API const char *tb_status_name(tb_status_t status);

/** One lower-case English phrase without a full stop.
 * [any thread] [async-signal-safe] Never NULL; static storage. */
TB_API const char *tb_status_message(tb_status_t status);

TB_END_DECLS

#endif
