/* The log hook: the only way in which the library speaks by itself. */
#ifndef TIMEBASE_LOG_H
#define TIMEBASE_LOG_H

#include <timebase/export.h>

/** How grave a message is. */
typedef enum tb_log_level {
  TB_LOG_DEBUG = 10, /**< for those who look for a fault */
  TB_LOG_INFO = 20,  /**< a change that is meant */
  TB_LOG_WARN = 30,  /**< it goes on, but not as meant */
  TB_LOG_ERROR = 40,
} tb_log_level_t; /**< ROS's numbers (rcl_interfaces/Log) */

/** `message` is one line without newline and valid only during the call. */
typedef void (*tb_log_hook_t)(tb_log_level_t level, const char *message, void *user);

TB_BEGIN_DECLS

/** Sets the process's hook; NULL (the default) drops messages. On return no thread is inside the
 * old hook any more, unless called from within a hook.
 * [any thread] [blocks: until running calls of the old hook have returned]
 * The hook may be called from any thread, several at a time, with no lock of ours held. It may run
 * on a thread that is held up by a jump, or in a jump handler's: reading a clock there returns
 * TB_ERR_BUSY instead of waiting, and changing a source, destroying a clock or a source, and moving
 * time during a jump return TB_ERR_DEADLOCK. */
TB_API void tb_log_set_hook(tb_log_hook_t hook, void *user);

TB_END_DECLS

#endif
