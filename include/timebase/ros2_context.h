/* A program's place in a ROS 2 graph: one DDS participant in one domain. */
#ifndef TIMEBASE_ROS2_CONTEXT_H
#define TIMEBASE_ROS2_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/cancel_token.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/status.h>

/** A place in one domain. */
typedef struct tb_ros2_context tb_ros2_context_t;

/** Which form of ROS 2 is spoken on the wire. Topics and services are the same in both; a graph may
 * have nodes of either, but each lists only the nodes of its own. */
typedef enum tb_ros2_distro {
  TB_ROS2_DISTRO_ENVIRONMENT = 0, /**< as ROS_DISTRO; jazzy without it */
  TB_ROS2_DISTRO_HUMBLE = 1,      /**< humble and older: gids of 24 bytes, no type hashes */
  TB_ROS2_DISTRO_JAZZY = 2,       /**< iron and newer: gids of 16 bytes, type hashes */
} tb_ros2_distro_t;

/** Which domain, whose log, whose wire, the arguments of the program, and its enclave. */
typedef struct tb_ros2_context_options {
  /** Whether the domain is `domain_id`; otherwise it is that of ROS_DOMAIN_ID, 0 without it. */
  bool has_domain_id;
  int domain_id; /**< 0 to 232; 0 without `has_domain_id` */

  /** Leave the log of Cyclone DDS alone, which prints to stderr unless the program has set a sink
   * of its own (dds_set_log_sink). Otherwise it goes to the log hook (timebase/log.h), prefixed
   * "dds: ", as long as there is a context without this option. Cyclone may hold locks of its own
   * while it logs: a hook must not create or destroy contexts, publishers and subscriptions, nor
   * publish, during such a message. */
  bool keep_dds_log;

  tb_ros2_distro_t distro; /**< how nodes are announced */

  /** The program's arguments, argv[0] being its name: what follows --ros-args applies to all nodes
   * of the context, as in ROS (ros2_arguments.h). Read only during the call. */
  int argc;
  const char *const *argv; /**< NULL if there are none */

  /** The enclave that the participant names and whose files it uses where security is on: "/", or
   * an absolute name like "/robot/arm". NULL: "/". An --enclave in `argv` wins. Copied. */
  const char *enclave;

  /** Have reliable publishers ask for acknowledgements at once, not every 100 ms: for callers that
   * wait for them after each message (tb_ros2_publisher_wait_for_acks). HeartbeatInterval in
   * CYCLONEDDS_URI wins. */
  bool prompt_acks;
  uint8_t padding[7]; /**< not used */
} tb_ros2_context_options_t;

/** The domain that ROS_DOMAIN_ID names; the log of Cyclone DDS goes to the log hook; the form that
 * ROS_DISTRO names; no arguments; acknowledgements as DDS does. */
#define TB_ROS2_CONTEXT_OPTIONS_INIT                                                               \
  {                                                                                                \
    false, 0, false, TB_ROS2_DISTRO_ENVIRONMENT, 0, NULL, NULL, false,                             \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** Joins the domain. Obeys ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS,
 * ROS_LOCALHOST_ONLY and CYCLONEDDS_URI as ROS 2 jazzy with rmw_cyclonedds does; CYCLONEDDS_URI
 * wins over the others. `options` may be NULL for the defaults.
 *
 * With ROS_SECURITY_ENABLE=true the participant is secured by DDS Security with the files that the
 * enclave has in the keystore (see sros2): in ROS_SECURITY_KEYSTORE/enclaves/ENCLAVE, with
 * ROS_SECURITY_ENCLAVE_OVERRIDE in the place of the enclave's name if it is set. Where folder or
 * files are missing, ROS_SECURITY_STRATEGY=Enforce refuses, and otherwise the context is made
 * without security, which is logged as a warning. Existing but unusable files are always refused.
 *
 * A process may have several contexts. Those of one domain share its settings and its security,
 * which are read when the first is created. A domain that the program itself made with Cyclone
 * before is used as it is.
 *
 *   TB_ERR_INVALID    ROS_DOMAIN_ID, a static peer, CYCLONEDDS_URI, the enclave or an argument
 *                     after --ros-args cannot be read; another context of the domain has other
 *                     discovery settings or another security; a file of the enclave is invalid,
 *                     has expired, or was not signed by its CA
 *   TB_ERR_NOT_FOUND  the keystore lacks the enclave or a file of it
 *   TB_ERR_SYSTEM     a file of the enclave cannot be read; too few descriptors are left for
 *                     Cyclone DDS
 *   TB_ERR_UNSUPPORTED   security in a domain that the program itself has made
 *   TB_ERR_RANGE      the domain id is not 0 to 232
 *   TB_ERR_LIMIT      as many processes of the domain run on this machine as Cyclone's setting
 *                     Discovery/MaxAutoParticipantIndex allows (32 unless CYCLONEDDS_URI sets it)
 *   TB_ERR_VERSION    the process has loaded another release of Cyclone DDS
 *   TB_ERR_TRANSPORT  another failure of the middleware
 *   TB_ERR_FORKED     this is a forked child: the parent's middleware does not work here, and what
 *                     was made of it can only be destroyed, which leaves the middleware alone
 *   TB_ERR_NO_MEMORY  or too little address space is left for Cyclone DDS
 *
 * [any thread, but not while another changes the environment] [blocks: for the network's sockets]
 */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_context_create(
    const tb_ros2_context_options_t *options, tb_ros2_context_t **out, tb_error_t *error);

/** A token that tb_ros2_context_shutdown cancels: give it to the waits of a program that are to end
 * with the context ("shutdown wakes sleepers"). The token is the context's: do not destroy it. A
 * wait with it that is in progress when the context is destroyed is cancelled too, and the context
 * waits until it has left. NULL for NULL. [any thread] [from callbacks] */
TB_API tb_cancel_token_t *tb_ros2_context_token(tb_ros2_context_t *context);

/** Cancels the token of the context, for waits in progress and future ones. Nothing else ends: the
 * program destroys its objects, and the context last, when its threads have left their waits
 * (rclcpp::shutdown). Again it does nothing; NULL does nothing. Never blocks. [any thread] [from
 * callbacks] */
TB_API void tb_ros2_context_shutdown(tb_ros2_context_t *context);

/** Leaves the domain. Accepts NULL. Destroy what was created from the context before it.
 * [any thread] [blocks: until running callbacks have returned, and waits with the context's token]
 * Not from a callback of DDS or of a jump. */
TB_API void tb_ros2_context_destroy(tb_ros2_context_t *context);

/** The domain that the context is in, 0 to 232; -1 for NULL. [any thread] [from callbacks] */
TB_API int tb_ros2_context_domain_id(const tb_ros2_context_t *context);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_context_create_sized(const tb_ros2_context_options_t *options,
                                                size_t options_size, tb_ros2_context_t **out,
                                                tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_context_create(const tb_ros2_context_options_t *options,
                                             tb_ros2_context_t **out, tb_error_t *error)
{
  return tb_ros2_context_create_sized(options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
