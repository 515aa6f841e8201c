/* Serving ROS 2 services of any type, with serialized requests and responses; timebase/ros2_idl.h
 * makes those from structs of IDL types. */
#ifndef TIMEBASE_ROS2_SERVICE_H
#define TIMEBASE_ROS2_SERVICE_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>
#include <timebase/ros2_context.h>

/** A service: the side that answers. */
typedef struct tb_ros2_service tb_ros2_service_t;

/** Identifies a request and its client. Copy it to answer later. It also holds how the client is
 * answered, which nodes of Cyclone DDS and of Fast DDS expect in forms of their own. */
typedef struct tb_ros2_request_id {
  uint64_t client;         /**< the client's choice; for Fast DDS the end of the GUID below */
  int64_t sequence;        /**< of the request among the client's */
  uint8_t writer_guid[16]; /**< DDS GUID of its writer; zeros if it is gone already. For a client of
                                Fast DDS that of its reader of replies, as in rmw_fastrtps. */
} tb_ros2_request_id_t;

/** A request as it came: serialized. */
typedef struct tb_ros2_request {
  const void *cdr; /**< 4 bytes of encapsulation, the body, and zeros up to a multiple of 4 */
  size_t size;     /**< of all that, at least 4; nothing in it was checked */
  int64_t source_timestamp_ns; /**< the client's system time at sending, since 1970 */
  tb_ros2_request_id_t id;     /**< for the answer */
  /** Of the response as the client announces it, such as "RIHS01_" and 64 digits: it tells apart
   * the definitions that a service has had. NULL: none, as of humble, or not discovered yet. */
  const char *response_type_hash;
} tb_ros2_request_t;

/** Called with each request, in order, on the context's thread: one callback of all the services
 * and clients of a context at a time, with no lock held. `request` ends with the call. Answer with
 * tb_ros2_service_reply, now or later. May call anything but the destruction of the context. */
typedef void (*tb_ros2_service_callback_t)(tb_ros2_service_t *service,
                                           const tb_ros2_request_t *request, void *user);

TB_BEGIN_DECLS

/** Serves clients on Cyclone DDS and on Fast DDS (rmw_fastrtps). With DDS Security, or if Cyclone
 * DDS does not send over UDP, those of Fast DDS cannot be answered: their requests are dropped, and
 * a warning is logged once.
 *
 * Names, QoS and errors as in tb_ros2_client_create; TB_ERR_SYSTEM: no thread. As many requests as
 * the history's depth wait, and 256 MiB of them; more push out the oldest, and a larger one all of
 * them. The callback may run before this returns. Destroy the service before its context. [any
 * thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_service_create(
    tb_ros2_context_t *context, const char *service, const char *type, const tb_qos_t *qos,
    tb_ros2_service_callback_t callback, void *user, tb_ros2_service_t **out, tb_error_t *error);

/** Accepts NULL. Requests that wait are dropped; their clients notice that the service is gone.
 * Answers on their way get up to half a second to arrive; those that wait are dropped. No other
 * thread may be in a call, except for the callback: in that, until it has returned, replies return
 * TB_ERR_CLOSED and destroying it again does nothing. In its own callback it returns at once, and
 * what is left is done when that has returned. [any thread] [blocks: until a running callback has
 * returned, and for answers, except in its own callback] */
TB_API void tb_ros2_service_destroy(tb_ros2_service_t *service);

/** Answers a request with a serialized response (4 bytes of encapsulation and the body). Once for
 * each request. If the client's reader of replies is not known yet, the service keeps a copy and
 * sends it once it is, for 30 s at most: then it is dropped, and a warning is logged. Of such
 * replies 64 wait, 16 of them to one participant, and 64 MiB; more push out the oldest.
 *
 *   TB_OK             it was sent, or it waits
 *   TB_ERR_CLOSED     the client is gone, or the service is being destroyed: nothing was sent
 *   TB_ERR_TIMEOUT    clients do not accept what was sent before; nothing was sent
 *   TB_ERR_INVALID    not plain CDR (00 00 or 00 01 at the start)
 *   TB_ERR_LIMIT      to Fast DDS only: CYCLONEDDS_URI asks for packets that are too large for it
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_FORKED
 *
 * [any thread] [from callbacks] [blocks: up to 50 ms] */
TB_API tb_status_t tb_ros2_service_reply(tb_ros2_service_t *service, const tb_ros2_request_id_t *id,
                                         const void *cdr, size_t size, tb_error_t *error);

TB_END_DECLS

#endif
