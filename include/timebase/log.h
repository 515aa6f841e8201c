/* What the library reports on its own: to the log hook, or to standard error. */
#ifndef TIMEBASE_LOG_H
#define TIMEBASE_LOG_H

#include <stdint.h>
#include <timebase/export.h>

/** The severity of a message. */
typedef enum tb_log_level {
  TB_LOG_DEBUG = 10, /**< for debugging */
  TB_LOG_INFO = 20,  /**< a change that is meant */
  TB_LOG_WARN = 30,  /**< it continues, but not as intended */
  TB_LOG_ERROR = 40,
} tb_log_level_t; /**< ROS's numbers (rcl_interfaces/Log) */

/** `message` is one line without newline, escaped (tb_text_escape), and valid only during the call.
 */
typedef void (*tb_log_hook_t)(tb_log_level_t level, const char *message, void *user);

TB_BEGIN_DECLS

/** Sets the process's hook. NULL, the default: warnings and errors are written to standard error, a
 * line each ("timebase: warning: ..."). TIMEBASE_LOG in the environment, read at the first message,
 * says from which level on: debug, info, warn, error, or off. It has no effect on a hook. On return
 * no thread is inside the old hook any more, unless called from within a hook.
 * [any thread] [blocks: until running calls of the old hook have returned] The hook may be called
 * from any thread, several at a time, with no lock of ours held. It must not wait for a thread that
 * reads the time: that thread may be waiting for what the hook delays. The hook may run on a thread
 * that is blocked by a jump, or on a jump handler's thread: reading a clock there returns
 * TB_ERR_BUSY instead of waiting, removing a jump handler returns at once, and what would have to
 * wait for the jump returns TB_ERR_DEADLOCK: changing a source or the default, destroying a clock,
 * a source, a condition or a token, moving time that is in a jump, moving time and waiting for what
 * that makes due, holding and moving the time of timebase/testing.h. */
TB_API void tb_log_set_hook(tb_log_hook_t hook, void *user);

/** Of the messages that the middleware logs at one place of its sources, as at each bad packet of a
 * flood, this many in 10 s go to the hook (default: 10; 0: all of them). The number left out is
 * reported with the next one, or at the end. [any thread] */
TB_API void tb_log_set_limit(uint32_t messages);

TB_END_DECLS

#endif
