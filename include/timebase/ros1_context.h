/* A program's place in a ROS 1 graph: one node, known to one master. */
#ifndef TIMEBASE_ROS1_CONTEXT_H
#define TIMEBASE_ROS1_CONTEXT_H

#include <stddef.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** A node of one master. */
typedef struct tb_ros1_context tb_ros1_context_t;

/** Which master, under which name, and where other nodes reach this one. */
typedef struct tb_ros1_context_options {
  const char *master_uri; /**< "http://HOST:PORT/"; NULL: ROS_MASTER_URI, and without it
                               http://localhost:11311/. Copied, as the others */
  const char *host;       /**< the name or address under which other machines reach this one; NULL:
                               ROS_HOSTNAME, ROS_IP, else the name of the machine. Where it is localhost
                               or 127.x.x.x, only this machine can connect */
  const char *node_name; /**< "/name" or "/space/name"; a graph has each name once: a second node of
                              it displaces the first. NULL: one that no other node has */
} tb_ros1_context_options_t;

/** What the environment says, and a name that no other node has. */
#define TB_ROS1_CONTEXT_OPTIONS_INIT                                                               \
  {                                                                                                \
    NULL, NULL, NULL                                                                               \
  }

TB_BEGIN_DECLS

/** Starts one thread, "tb-ros1", which does all that the context does on the network: it serves
 * the node's XML-RPC interface, keeps what is registered with the master registered (also with one
 * that is started later, or restarted), and takes messages in. Names of hosts are looked up on
 * threads of their own. The master need not run. `options` may be NULL for the defaults.
 *
 *   TB_ERR_INVALID    the URI of the master, the host or the node's name is not valid
 *   TB_ERR_SYSTEM     no thread, descriptor or port
 *   TB_ERR_FORKED     this is a forked child
 *   TB_ERR_NO_MEMORY
 *
 * [any thread, but not while another changes the environment] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros1_context_create(
    const tb_ros1_context_options_t *options, tb_ros1_context_t **out, tb_error_t *error);

/** Accepts NULL. Destroy what was created from the context before it. [any thread but the log hook
 * and callbacks] [blocks: until the master has been told, for 2.5 s at most, and for 1 s where it
 * did not answer before] */
TB_API void tb_ros1_context_destroy(tb_ros1_context_t *context);

/** The same, and waits for `limit` at most, in steady time; nothing is waited for where it is 0 or
 * less, and no longer than that waits above. For programs that end many contexts whose master may
 * not answer. The context is destroyed in any case; what the master was not told by then stays
 * registered there. [any thread but the log hook and callbacks] [blocks] */
TB_API void tb_ros1_context_destroy_telling(tb_ros1_context_t *context, tb_duration_t limit);

/** The node's name; valid as long as the context; NULL for NULL. [any thread] [from callbacks] */
TB_API const char *tb_ros1_context_node_name(const tb_ros1_context_t *context);

/** The URI of the node's XML-RPC server, as the master knows it: "http://HOST:PORT/"; valid as long
 * as the context; NULL for NULL. [any thread] [from callbacks] */
TB_API const char *tb_ros1_context_node_uri(const tb_ros1_context_t *context);

/** What the call of this name hands over: the size of the struct too, so that it may grow
 * (docs/abi.md). [any thread] as that is. */
TB_API tb_status_t tb_ros1_context_create_sized(const tb_ros1_context_options_t *options,
                                                size_t options_size, tb_ros1_context_t **out,
                                                tb_error_t *error);
TB_INLINE tb_status_t tb_ros1_context_create(const tb_ros1_context_options_t *options,
                                             tb_ros1_context_t **out, tb_error_t *error)
{
  return tb_ros1_context_create_sized(options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
