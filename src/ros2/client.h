/* The internals of a client. */
#ifndef TB_ROS2_CLIENT_H
#define TB_ROS2_CLIENT_H

#include <timebase/ros2_client.h>

#include "dds/raw_reader.h"
#include "dds/raw_writer.h"
#include "ros2/announcer.h"
#include "ros2/dispatch.h"
#include "wire/service_header.h"

/* A request in flight. */
typedef struct tb__pending {
  struct tb__pending *next;
  int64_t sequence;
  int64_t deadline_ns;   /* steady; used for requests with a callback */
  uint64_t servers_upto; /* the serial of the last server that may have received the request */
  tb_ros2_response_callback_t callback; /* NULL: a call waits */
  void *user;
  bool done;
  tb_status_t status;
  tb_ros2_response_t response;
} tb__pending_t;

/* A service as this client sees it: its reader of requests. */
typedef struct tb__server {
  uint64_t instance;
  uint64_t serial; /* in order of appearance, from 1 */
} tb__server_t;

struct tb_ros2_client {
  tb_ros2_context_t *context;
  tb__announced_t announced;
  tb__raw_writer_t *writer;
  tb__raw_reader_t *reader;
  uint64_t id; /* in the header of requests */
  char name[TB__USER_DATA_SIZE];
  _Atomic uint32_t events;             /* futex: an answer was received, or matches have changed */
  _Atomic(_Atomic uint32_t *) watched; /* another futex, for a wait on many clients; or NULL */

  tb__mutex_t refresh_mutex; /* before `mutex`; held while DDS is queried, never by its threads */
  uint32_t refreshed_at;     /* by refresh_mutex: match events when servers were looked up */

  tb__mutex_t mutex;
  tb__server_t *servers;
  size_t server_count;
  size_t foreign_count; /* servers of another middleware: nothing is sent while there are any */
  uint64_t last_serial;
  tb__pending_t *pending;  /* waiting for an answer */
  tb__pending_t *finished; /* with a callback to call */
  uint32_t references;     /* the handle's, and one for each tb_ros2_client_call_async that runs */
  bool is_dispatched;      /* `member` is in use */
  bool is_closed;
  tb__dispatch_member_t member;
};

/* Looks up the servers if matches have changed, and fails requests that only servers that are gone
 * may have received. Not from callbacks of DDS. TB_ERR_NO_MEMORY, TB_ERR_CLOSED: the next call
 * tries again. */
tb_status_t tb__client_refresh(tb_ros2_client_t *client);

/* Whether there is a service to call, as of the last refresh. */
bool tb__client_has_server(tb_ros2_client_t *client);
/* Whether one of another middleware is matched, as of the last refresh. A writer sends to all of
 * its matched readers, so no service can be called then. */
bool tb__client_has_foreign_server(tb_ros2_client_t *client);
/* Queries DDS for it now. TB_ERR_UNSUPPORTED: there is one; TB_ERR_NO_MEMORY, TB_ERR_CLOSED. */
TB_WARN_UNUSED tb_status_t tb__client_check_servers(tb_ros2_client_t *client);

/* Removes a request from the list and ends it. It may be freed afterwards. */
void tb__client_finish_locked(tb_ros2_client_t *client, tb__pending_t *pending, tb_status_t status)
    TB_REQUIRES(client->mutex);

/* Afterwards each increment of client->events also increments *events, which must outlive the
 * client. */
void tb__client_watch(tb_ros2_client_t *client, _Atomic uint32_t *events);

/* Wakes waiters for an answer, and the dispatch thread if callbacks may be due. */
void tb__client_notify(tb_ros2_client_t *client);

#endif
