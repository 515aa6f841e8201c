#include "ros1/publication.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/list.h"
#include "base/log.h"
#include "ros1/node.h"
#include "ros1/tcpros_header.h"

#define SMALL_SIZE                                                                                 \
  256 /* with its length, of messages that need no memory where they are sent at once */

/* Subscribers come to us: how many there are is all that is of use. */
static void registered(tb__ros1_registration_t *registration, const tb__xmlrpc_value_t *uris)
{
  tb__ros1_publication_t *self = TB__ROS1_OWNER(registration, tb__ros1_publication_t, registration);
  atomic_store(&self->named, uris->count);
}

/* --- links --- */

static void attend(tb__ros1_publication_t *self, tb__subscriber_link_t *link)
{
  tb__mutex_lock(&self->mutex);
  bool is_open = link->fd >= 0, wants_out = link->wants_out;
  tb__mutex_unlock(&self->mutex);
  if (is_open && !wants_out) return;
  if (is_open &&
      !tb__ros1_loop_watch(self->node->loop, &link->watch, link->watch.fd, EPOLLIN | EPOLLOUT))
    return;
  tb__ros1_publication_remove(self, link);
  tb__subscriber_link_destroy(link);
}

static tb__subscriber_link_t *first_link(tb__ros1_publication_t *self)
{
  tb__mutex_lock(&self->mutex);
  tb__subscriber_link_t *first = self->links;
  tb__mutex_unlock(&self->mutex);
  return first;
}

static void attend_all(tb__ros1_task_t *task)
{
  tb__ros1_publication_t *self = TB__ROS1_OWNER(task, tb__ros1_publication_t, attention);
  for (tb__subscriber_link_t *link = first_link(self), *next; link; link = next) {
    next = link->next;
    attend(self, link);
  }
}

static uint32_t count_latest(tb__ros1_publication_t *self)
{
  uint32_t count = 0;
  tb__mutex_lock(&self->mutex);
  for (const tb__ros1_latest_t *one = self->latest; one; one = one->next)
    count++;
  tb__mutex_unlock(&self->mutex);
  return count;
}

bool tb__ros1_publication_add(tb__ros1_publication_t *self, tb__subscriber_link_t *link,
                              tb__ros1_frame_t *answer)
{
  uint32_t least = count_latest(self); /* what a new subscriber gets at once */
  link->room = self->queue_size > least ? self->queue_size : least;
  link->ring = calloc(link->room, sizeof *link->ring);
  if (!link->ring) return false;
  tb__mutex_lock(&self->mutex);
  bool has_room = self->link_count < TB__PUBLICATION_LINKS_MAX;
  if (has_room) {
    link->publication = self;
    link->fd = link->watch.fd;
    link->sending = tb__ros1_frame_use(answer);
    link->sent = 0;
    for (const tb__ros1_latest_t *one = self->latest; one; one = one->next)
      tb__subscriber_link_queue(link, one->frame);
    TB__CHAIN_APPEND(self->links, link);
    self->link_count++;
    tb__subscriber_link_flush(link);
  }
  tb__mutex_unlock(&self->mutex);
  if (has_room)
    tb__ros1_loop_post(self->node->loop, &self->attention);
  else
    tb__log(TB_LOG_WARN, "%s: more than %d subscribers; %s is not served", self->name,
            TB__PUBLICATION_LINKS_MAX, link->subscriber);
  return has_room;
}

void tb__ros1_publication_remove(tb__ros1_publication_t *self, tb__subscriber_link_t *link)
{
  tb__mutex_lock(&self->mutex);
  TB__CHAIN_REMOVE(self->links, link);
  self->link_count--;
  tb__mutex_unlock(&self->mutex);
}

/* --- messages --- */

/* Sends to a link what it takes at once; the rest needs a frame. False: out of memory. */
static bool send_to(tb__ros1_publication_t *self, tb__subscriber_link_t *link,
                    tb__ros1_frame_t **frame, const uint8_t *bytes, size_t size)
    TB_REQUIRES(self->mutex)
{
  size_t sent = 0;
  bool is_idle = !link->sending && link->count == 0;
  if (is_idle) {
    sent = tb__subscriber_link_send(link, bytes, size);
    if (sent == size || link->fd < 0) return true;
  }
  if (!*frame) *frame = tb__ros1_frame_copy(bytes, size);
  if (!*frame) return false;
  if (sent > 0) { /* the rest of a message that has begun */
    link->sending = tb__ros1_frame_use(*frame);
    link->sent = sent;
    link->wants_out = true;
  } else if (!tb__subscriber_link_queue(link, *frame)) {
    self->dropped++;
  }
  return true;
}

static void latest_free(tb__ros1_latest_t *latest)
{
  tb__ros1_frame_release(latest->frame);
  free(latest);
}

/* That of the origin, taken out of the list; else of the oldest, if there are too many. */
static void forget(tb__ros1_publication_t *self, const char *origin) TB_REQUIRES(self->mutex)
{
  size_t count = 0;
  tb__ros1_latest_t *gone = self->latest;
  for (; gone && strcmp(gone->origin, origin) != 0; gone = gone->next)
    count++;
  if (!gone && count >= TB__PUBLICATION_ORIGINS_MAX) gone = self->latest;
  if (!gone) return;
  TB__CHAIN_REMOVE(self->latest, gone);
  latest_free(gone);
}

static void latch(tb__ros1_publication_t *self, tb__ros1_latest_t *latest) TB_REQUIRES(self->mutex)
{
  forget(self, latest->origin);
  TB__CHAIN_APPEND(self->latest, latest);
}

/* NULL: out of memory. */
static tb__ros1_latest_t *latest_create(const char *origin, tb__ros1_frame_t *frame)
{
  size_t size = strlen(origin) + 1;
  tb__ros1_latest_t *latest = malloc(sizeof *latest + size);
  if (!latest) return NULL;
  *latest = (tb__ros1_latest_t){.frame = tb__ros1_frame_use(frame)};
  memcpy(latest->origin, origin, size);
  return latest;
}

/* True: the loop has something to do. */
static bool send_to_all(tb__ros1_publication_t *self, tb__ros1_frame_t **frame,
                        const uint8_t *bytes, size_t size, bool *out_has_memory)
    TB_REQUIRES(self->mutex)
{
  bool needs_attention = false;
  for (tb__subscriber_link_t *link = self->links; link; link = link->next) {
    if (link->fd < 0) continue;
    if (!send_to(self, link, frame, bytes, size)) {
      *out_has_memory = false;
      if (!link->sending && link->count == 0) link->fd = -1; /* a message may have begun */
    }
    needs_attention = needs_attention || link->wants_out || link->fd < 0;
  }
  return needs_attention;
}

tb_status_t tb__ros1_publication_send(tb__ros1_publication_t *self, const char *origin,
                                      const void *message, size_t size)
{
  uint8_t small[SMALL_SIZE];
  bool is_small = size + 4 <= sizeof small && !self->is_latched, has_memory = true;
  tb__ros1_frame_t *frame = is_small ? NULL : tb__ros1_frame_create(size + 4);
  if (!is_small && !frame) return TB_ERR_NO_MEMORY;
  tb__ros1_latest_t *latest = self->is_latched ? latest_create(origin, frame) : NULL;
  if (self->is_latched && !latest) {
    tb__ros1_frame_release(frame);
    return TB_ERR_NO_MEMORY;
  }
  uint8_t *bytes = is_small ? small : frame->bytes;
  tb__tcpros_write_u32((uint32_t)size, bytes);
  if (size) memcpy(bytes + 4, message, size);
  tb__mutex_lock(&self->mutex);
  if (latest) latch(self, latest);
  bool needs_attention = send_to_all(self, &frame, bytes, size + 4, &has_memory);
  tb__mutex_unlock(&self->mutex);
  tb__ros1_frame_release(frame);
  if (needs_attention) tb__ros1_loop_post(self->node->loop, &self->attention);
  return has_memory ? TB_OK : TB_ERR_NO_MEMORY;
}

uint32_t tb__ros1_publication_waiting(tb__ros1_publication_t *self)
{
  uint32_t most = 0;
  tb__mutex_lock(&self->mutex);
  for (const tb__subscriber_link_t *link = self->links; link; link = link->next) {
    uint32_t waiting = link->count + (link->sending != NULL);
    if (link->fd >= 0 && waiting > most) most = waiting;
  }
  tb__mutex_unlock(&self->mutex);
  return most;
}

/* --- begin and end --- */

tb_status_t tb__ros1_publication_open(tb__ros1_publication_t *self, tb__ros1_node_t *node,
                                      tb_error_t *error)
{
  tb_status_t status = tb__tcpros_server_open(&node->tcpros, error);
  if (status) return status;
  self->node = node;
  atomic_store(&self->named, UINT32_MAX);
  self->attention.run = attend_all;
  tb__mutex_init(&self->mutex);
  self->registration.call = "registerPublisher";
  self->registration.farewell = "unregisterPublisher";
  self->registration.topic = self->name;
  self->registration.type = self->type;
  self->registration.registered = registered;
  TB__CHAIN_APPEND(node->publications, self);
  tb__ros1_registration_begin(&self->registration, node);
  return TB_OK;
}

void tb__ros1_publication_close(tb__ros1_publication_t *self)
{
  tb__ros1_node_t *node = self->node;
  TB__CHAIN_REMOVE(node->publications, self);
  tb__ros1_registration_end(&self->registration);
  tb__ros1_loop_withdraw(node->loop, &self->attention);
  for (tb__subscriber_link_t *link; (link = first_link(self));) {
    tb__ros1_publication_remove(self, link);
    tb__subscriber_link_destroy(link);
  }
  tb__mutex_lock(&self->mutex);
  for (tb__ros1_latest_t *latest; (latest = self->latest);) {
    self->latest = latest->next;
    latest_free(latest);
  }
  tb__mutex_unlock(&self->mutex);
  tb__mutex_fini(&self->mutex);
}
