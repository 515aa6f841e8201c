/* The internals of a client. */
#ifndef TB_ROS2_CLIENT_H
#define TB_ROS2_CLIENT_H

#include <timebase/ros2_client.h>

#include "dds/raw_reader.h"
#include "dds/raw_writer.h"
#include "ros2/announcer.h"
#include "ros2/dispatch.h"
#include "ros2/service_pair.h"
#include "ros2/write_turn.h"
#include "wait/call_wait.h"

/* A request in flight. */
typedef struct tb__pending {
  struct tb__pending *next;
  int64_t sequence;       /* in the header of the request */
  int64_t plain_sequence; /* RTPS sequence number of the plain request; 0: none was sent */
  int64_t deadline_ns;    /* steady; used for requests with a callback */
  uint64_t servers_upto;  /* the serial of the last server that may have received the request */
  tb_ros2_response_callback_t callback; /* NULL: a call waits */
  void *user;
  bool done;
  tb_status_t status;
  tb_ros2_response_t response;
  tb_ros2_call_times_t times;
} tb__pending_t;

/* A service as this client sees it: its reader of requests. */
typedef struct tb__server {
  uint64_t instance;
  uint64_t serial; /* in order of appearance, from 1 */
  bool is_plain;   /* it takes requests in the form of Fast DDS */
} tb__server_t;

struct tb_ros2_client {
  tb_ros2_context_t *context;
  tb__service_pair_t pair;
  tb__raw_writer_t *writer; /* requests with a header */
  tb__raw_reader_t *reader;
  uint64_t id; /* in the header of requests */
  /* No reader of Fast DDS takes anything from `writer`, except one that is in a partition. */
  bool is_apart;
  char name[TB__USER_DATA_SIZE];
  _Atomic uint32_t events;             /* futex: an answer was received, or matches have changed */
  _Atomic(_Atomic uint32_t *) watched; /* another futex, for a wait on many clients; or NULL */

  tb__mutex_t refresh_mutex; /* before the other two; held while DDS is queried, never by its
                                threads */
  uint32_t refreshed_at;     /* by refresh_mutex: match events when servers were looked up */
  tb__announced_t announced, plain_announced; /* by refresh_mutex */

  tb__write_turn_t plain_turn; /* before `mutex`; the order of plain requests */
  int64_t plain_count;         /* of the thread that has the turn: how many were sent */

  tb__mutex_t mutex;
  tb__raw_writer_t *plain; /* plain requests; NULL until a server of Fast DDS is seen, then fixed */
  bool is_marked;          /* what it sends: readers of others drop it unread */
  tb__guid_t reader_guid, plain_guid; /* what answers to plain requests are related to */
  tb__server_t *servers;
  size_t server_count;
  /* Readers of Fast DDS that would take a request with a header, and readers of others that would
   * take a plain one: nothing is sent then while there are servers of the other kind. */
  size_t foreign_count, misled_count;
  uint64_t last_serial;
  tb__pending_t *pending;  /* waiting for an answer */
  tb__pending_t *finished; /* with a callback to call */
  uint32_t references;     /* the handle's, and one for each tb_ros2_client_call_async that runs */
  bool is_dispatched;      /* `member` is in use */
  bool is_closed;
  tb__dispatch_member_t member;
};

/* ---- client_servers.c ---- */

/* Looks up the servers if matches have changed, makes the writer of plain requests when the first
 * server of Fast DDS is seen, and fails requests that only servers that are gone may have received.
 * Not from callbacks of DDS. TB_ERR_NO_MEMORY, TB_ERR_CLOSED, TB_ERR_TRANSPORT: the next call tries
 * again. */
tb_status_t tb__client_refresh(tb_ros2_client_t *client);

/* Whether there is a service to call, as of the last refresh. TB_ERR_TIMEOUT: not yet.
 * TB_ERR_UNSUPPORTED: there are servers of both kinds, and requests to them would mix. */
tb_status_t tb__client_server_status(tb_ros2_client_t *client);

/* Whether there are servers that take requests with a header, and such that take plain ones. */
void tb__client_kinds_locked(const tb_ros2_client_t *client, bool *out_header, bool *out_plain)
    TB_REQUIRES(client->mutex);

/* Queries DDS, right before a write, for a reader that would misunderstand the request.
 * TB_ERR_UNSUPPORTED: there is one; TB_ERR_NO_MEMORY, TB_ERR_CLOSED. */
TB_WARN_UNUSED tb_status_t tb__client_check_header_readers(tb_ros2_client_t *client);
TB_WARN_UNUSED tb_status_t tb__client_check_plain_readers(tb_ros2_client_t *client);

/* ---- client_plain.c ---- */

/* Makes the writer of plain requests; TB_OK: it is there. TB_ERR_CLOSED: the client is. */
TB_WARN_UNUSED tb_status_t tb__client_plain_open(tb_ros2_client_t *client)
    TB_REQUIRES(client->refresh_mutex);

/* Lists that writer under the node of the client, if it has one. Calls work also if that fails. */
void tb__client_plain_announce(tb_ros2_client_t *client) TB_REQUIRES(client->refresh_mutex);

/* Sends a plain request. TB_OK also if the request was answered before. TB_ERR_TIMEOUT: DDS could
 * not take it yet, or other threads' requests; TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_CLOSED,
 * TB_ERR_UNSUPPORTED; TB_ERR_LIMIT: it is too large for packets with inline QoS. Blocks only for a
 * short time, less if the deadline is sooner. */
TB_WARN_UNUSED tb_status_t tb__client_plain_write(tb_ros2_client_t *client, int64_t sequence,
                                                  const void *cdr, size_t size,
                                                  tb__deadline_t deadline, tb_error_t *error);

/* ---- client_request.c ---- */

/* Adds a request, with a sequence number of its own. Afterwards it may be finished at any time. One
 * with a callback may be freed then, and the client may be destroyed by the callback: the caller
 * has a reference of its own. TB_ERR_CLOSED; TB_ERR_TIMEOUT: there is no server any more. */
TB_WARN_UNUSED tb_status_t tb__client_request_add(tb_ros2_client_t *client, tb__pending_t *pending,
                                                  int64_t *out_sequence);

/* NULL if it is finished already. */
tb__pending_t *tb__client_request_cancel(tb_ros2_client_t *client, int64_t sequence);

/* Sends a request that was added, to servers of both kinds in the form of each. It blocks only for
 * a short time at once, so that the caller's limit applies, and what else may end its wait (NULL:
 * nothing). */
TB_WARN_UNUSED tb_status_t tb__client_request_write(tb_ros2_client_t *client, int64_t sequence,
                                                    const void *cdr, size_t size,
                                                    tb__deadline_t deadline, tb__call_wait_t *wait,
                                                    tb_error_t *error);

/* The error for a service that cannot be called. */
tb_status_t tb__client_no_server(const tb_ros2_client_t *client, tb_status_t status,
                                 tb_error_t *error);

/* The callback of the reader of replies. */
void tb__client_on_reply(const tb_ros2_sample_t *sample, void *user);

tb__pending_t *tb__client_find_locked(tb_ros2_client_t *client, int64_t sequence)
    TB_REQUIRES(client->mutex);

/* Removes a request from the list and ends it. It may be freed afterwards. */
void tb__client_finish_locked(tb_ros2_client_t *client, tb__pending_t *pending, tb_status_t status)
    TB_REQUIRES(client->mutex);

/* ---- client.c ---- */

/* Afterwards each increment of client->events also increments *events, which must outlive the
 * client. */
void tb__client_watch(tb_ros2_client_t *client, _Atomic uint32_t *events);

/* Wakes waiters for an answer, and the dispatch thread if callbacks may be due. */
void tb__client_notify(tb_ros2_client_t *client);

#endif
