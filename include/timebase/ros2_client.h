/* Calling ROS 2 services of any type, with serialized requests and responses; timebase/ros2_idl.h
 * makes those from structs of IDL types. */
#ifndef TIMEBASE_ROS2_CLIENT_H
#define TIMEBASE_ROS2_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>
#include <timebase/ros2_context.h>
#include <timebase/sleep.h>

/** A client of one service. */
typedef struct tb_ros2_client tb_ros2_client_t;

/** A response as it came: serialized. */
typedef struct tb_ros2_response {
  void *cdr;   /**< 4 bytes of encapsulation, the body, and zeros up to a multiple of 4 */
  size_t size; /**< of all that, at least 4 */
} tb_ros2_response_t;

/** When a request was sent and answered, in ns since 1970, by the system clocks of both hosts. The
 * other host's clock is ahead of this one's by replied_ns - (asked_ns + received_ns) / 2, give or
 * take (received_ns - asked_ns) / 2, however long the service took. */
typedef struct tb_ros2_call_times {
  int64_t asked_ns;    /**< here, right before the request was sent */
  int64_t replied_ns;  /**< there, when the response was sent: its source timestamp */
  int64_t received_ns; /**< here, when the response was received from the network */
} tb_ros2_call_times_t;

/** Called once for a request: with TB_OK and the response, which ends with the call, or with the
 * error and NULL. On the context's thread (that of services' callbacks), with no lock held, or on
 * the thread that destroys the client. May call anything but the destruction of the context, but a
 * call to a service of its own context would wait for itself until its limit. */
typedef void (*tb_ros2_response_callback_t)(tb_status_t status, const tb_ros2_response_t *response,
                                            void *user);

TB_BEGIN_DECLS

/** `service`: a ROS name; a relative one ("add") is taken from the root ("/add"). `type`:
 * "package/srv/Name". `qos` may be NULL for TB_QOS_INIT_DEFAULT, which ROS uses for services; it
 * must be reliable. Destroy the client before its context. Services of Cyclone DDS
 * (rmw_cyclonedds) and of Fast DDS (rmw_fastrtps) are asked, each in its own form; those of other
 * middlewares do not understand either.
 *
 *   TB_ERR_INVALID    a name breaks ROS's rules, or a QoS policy has no valid value: see the text
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_FORKED
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_client_create(tb_ros2_context_t *context,
                                                        const char *service, const char *type,
                                                        const tb_qos_t *qos, tb_ros2_client_t **out,
                                                        tb_error_t *error);

/** Accepts NULL. Requests that are still open end with TB_ERR_CLOSED. No call may be in progress on
 * another thread, but in a callback: there calls return TB_ERR_CLOSED from now on, also one that
 * waits, and destroying it again does nothing. In its own callback it returns at once, and what is
 * left is done when that has returned.
 * [any thread] [blocks: until a running callback has returned, except in its own] */
TB_API void tb_ros2_client_destroy(tb_ros2_client_t *client);

/** Whether there is a service now that can be called, and whose answers arrive; false while the
 * client is being destroyed, and where the wait below returns TB_ERR_UNSUPPORTED. Services of Fast
 * DDS get a writer of their own when this, a wait or a call first sees one. [any thread] */
TB_API bool tb_ros2_client_is_service_ready(tb_ros2_client_t *client);

/** Waits until there is one, or the wait ends as `options` ask (tb_wait_options_t; NULL: nothing
 * ends it). TB_ERR_CLOSED: also, in its callback, the client is being destroyed.
 * TB_ERR_UNSUPPORTED: at once, as that of a call. [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t
tb_ros2_client_wait_for_service(tb_ros2_client_t *client, const tb_wait_options_t *options);

/** Sends a serialized request (4 bytes of encapsulation and the body) and waits for the response:
 * give *out back with tb_ros2_response_release. `options` (tb_wait_options_t; NULL: nothing ends it
 * early) are for all of it, with the wait for a service; ending takes about 0.1 s more while the
 * middleware cannot send. Where the wait ends after the request was sent the service may still
 * carry it out; its answer is dropped.
 *
 *   TB_ERR_NOT_FOUND  there was no service within the limit; nothing was sent
 *   TB_ERR_TIMEOUT    no answer within the limit
 *   TB_ERR_CLOSED     every service that had the request is gone (or was restarted: the new one is
 *                     not sent earlier requests; one that was killed is gone when its lease
 *                     ends): whether it was carried out is not known; or the client is being
 * destroyed, or the token or the clock of the options was destroyed TB_ERR_CANCELLED,
 * TB_ERR_JUMP_BACKWARD, TB_ERR_JUMP_FORWARD, TB_ERR_CLOCK_CHANGED as the options ask, unless the
 * answer was there already TB_ERR_UNSUPPORTED   nodes of Fast DDS and of Cyclone DDS offer this
 * service, and requests to them cannot be kept apart (DDS Security, or a node of Fast DDS in a
 *                     partition); nothing was sent
 *   TB_ERR_INVALID    not plain CDR (00 00 or 00 01 at the start); the options
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_FORKED
 *
 * DDS sends again what a link loses, but not the first message of a writer to a reader that keeps
 * no history and had heard nothing of it: over a bad link a call right after the service has come,
 * or its answer, may be lost for good, so give a limit.
 * Several threads may call at once. A second answer to a request is ignored.
 * [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_client_call(tb_ros2_client_t *client, const void *cdr,
                                                         size_t size,
                                                         const tb_wait_options_t *options,
                                                         tb_ros2_response_t *out,
                                                         tb_error_t *error);

/** The same, with when it was: *out_times is filled in if this returns TB_OK. [any thread] [blocks]
 */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_client_call_timed(
    tb_ros2_client_t *client, const void *cdr, size_t size, const tb_wait_options_t *options,
    tb_ros2_response_t *out, tb_ros2_call_times_t *out_times, tb_error_t *error);

/** tb_ros2_client_call without waiting, `limit` is that of the answer: `callback` is called once if
 * this returns TB_OK, else never. There must be a service already (TB_ERR_NOT_FOUND,
 * TB_ERR_UNSUPPORTED). The callback's errors are TB_ERR_TIMEOUT, TB_ERR_CLOSED and
 * TB_ERR_NO_MEMORY, as above. TB_ERR_SYSTEM: no thread. [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_client_call_async(tb_ros2_client_t *client,
                                                            const void *cdr, size_t size,
                                                            tb_duration_t limit,
                                                            tb_ros2_response_callback_t callback,
                                                            void *user, tb_error_t *error);

/** Frees what tb_ros2_client_call filled in. Accepts NULL, and a response that is released or zero.
 * [any thread] */
TB_API void tb_ros2_response_release(tb_ros2_response_t *response);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_client_wait_for_service_sized(tb_ros2_client_t *client,
                                                         const tb_wait_options_t *options,
                                                         size_t options_size);
TB_INLINE tb_status_t tb_ros2_client_wait_for_service(tb_ros2_client_t *client,
                                                      const tb_wait_options_t *options)
{
  return tb_ros2_client_wait_for_service_sized(client, options, sizeof *options);
}
TB_API tb_status_t tb_ros2_client_call_sized(tb_ros2_client_t *client, const void *cdr, size_t size,
                                             const tb_wait_options_t *options, size_t options_size,
                                             tb_ros2_response_t *out, tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_client_call(tb_ros2_client_t *client, const void *cdr, size_t size,
                                          const tb_wait_options_t *options, tb_ros2_response_t *out,
                                          tb_error_t *error)
{
  return tb_ros2_client_call_sized(client, cdr, size, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_ros2_client_call_timed_sized(tb_ros2_client_t *client, const void *cdr,
                                                   size_t size, const tb_wait_options_t *options,
                                                   size_t options_size, tb_ros2_response_t *out,
                                                   tb_ros2_call_times_t *out_times,
                                                   size_t out_times_size, tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_client_call_timed(tb_ros2_client_t *client, const void *cdr,
                                                size_t size, const tb_wait_options_t *options,
                                                tb_ros2_response_t *out,
                                                tb_ros2_call_times_t *out_times, tb_error_t *error)
{
  return tb_ros2_client_call_timed_sized(client, cdr, size, options, sizeof *options, out,
                                         out_times, sizeof *out_times, error);
}

TB_END_DECLS

#endif
