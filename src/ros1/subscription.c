#include "ros1/subscription.h"

#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "ros1/node.h"

/* --- links --- */

static void link_changed(tb__publisher_link_t *link, void *user)
{
  tb__ros1_subscription_t *self = user;
  if (link->state == TB__LINK_OPEN)
    self->open++;
  else
    self->open--;
  self->publishers_changed(self->user, self->open);
}

static void link_message(tb__publisher_link_t *link, const uint8_t *bytes, size_t size, void *user)
{
  tb__ros1_subscription_t *self = user;
  self->message(self->user, link, bytes, size);
}

static void remove_link(tb__ros1_subscription_t *self, tb__publisher_link_t *link)
{
  bool was_open = link->state == TB__LINK_OPEN;
  TB__CHAIN_REMOVE(self->links, link);
  tb__publisher_link_destroy(link);
  if (!was_open) return;
  self->open--;
  self->publishers_changed(self->user, self->open);
}

static tb__publisher_link_t *find_link(tb__ros1_subscription_t *self, const tb__ros1_uri_t *uri,
                                       size_t *out_count)
{
  *out_count = 0;
  for (tb__publisher_link_t *link = self->links; link; link = link->next, ++*out_count)
    if (link->uri.port == uri->port && !strcmp(link->uri.host, uri->host)) return link;
  return NULL;
}

/* One that fails, the longest first: a node that was killed stays known to the master for good, and
 * must not keep the place of one that is there. */
static tb__publisher_link_t *find_failed(const tb__ros1_subscription_t *self)
{
  tb__publisher_link_t *found = NULL;
  for (tb__publisher_link_t *link = self->links; link; link = link->next)
    if (tb__publisher_link_fails(link) && (!found || link->retry_ns > found->retry_ns))
      found = link;
  return found;
}

static void add_publisher(tb__ros1_subscription_t *self, const char *text)
{
  tb__ros1_uri_t uri;
  size_t count;
  if (!text || !tb__ros1_uri_parse(text, &uri)) return;
  tb__publisher_link_t *link = find_link(self, &uri, &count);
  tb__publisher_link_t *failed = NULL;
  if (!link && count >= TB__SUBSCRIPTION_LINKS_MAX) failed = find_failed(self);
  if (!link && count >= TB__SUBSCRIPTION_LINKS_MAX && !failed) {
    if (!self->reported_too_many)
      tb__log(TB_LOG_WARN, "%s: more than %d publishers; the others wait until one of these fails",
              self->name, TB__SUBSCRIPTION_LINKS_MAX);
    self->reported_too_many = true;
    return;
  }
  const tb__publisher_link_events_t events = {link_changed, link_message, self};
  /* Or dead ones that take each other's places are reported again and again. */
  int64_t reported_ns = failed ? failed->reported_ns : 0;
  if (failed) remove_link(self, failed);
  if (link || tb__publisher_link_create(self->node->loop, self->node->name, &self->topic, &uri,
                                        &events, &link))
    return; /* without memory it is tried again with the next registration */
  link->reported_ns = reported_ns;
  TB__CHAIN_APPEND(self->links, link);
}

static void mark_publisher(tb__ros1_subscription_t *self, const char *text)
{
  tb__ros1_uri_t uri;
  size_t count;
  if (!text || !tb__ros1_uri_parse(text, &uri)) return;
  tb__publisher_link_t *link = find_link(self, &uri, &count);
  if (link) link->is_listed = true;
}

static void set_publishers(tb__ros1_subscription_t *self, const tb__xmlrpc_value_t *uris)
{
  for (tb__publisher_link_t *link = self->links; link; link = link->next)
    link->is_listed = false;
  for (const tb__xmlrpc_value_t *uri = uris->first; uri; uri = uri->next)
    mark_publisher(self, tb__xmlrpc_string(uri));
  for (tb__publisher_link_t *link = self->links, *next; link; link = next) {
    next = link->next;
    if (!link->is_listed) remove_link(self, link);
  }
  for (const tb__xmlrpc_value_t *uri = uris->first; uri; uri = uri->next)
    add_publisher(self, tb__xmlrpc_string(uri));
}

/* --- the master --- */

static void registered(tb__ros1_registration_t *registration, const tb__xmlrpc_value_t *uris)
{
  set_publishers(TB__ROS1_OWNER(registration, tb__ros1_subscription_t, registration), uris);
}

void tb__ros1_subscription_renew(tb__ros1_subscription_t *self)
{
  tb__ros1_registration_renew(&self->registration);
}

void tb__ros1_subscription_open(tb__ros1_subscription_t *self, tb__ros1_node_t *node)
{
  self->node = node;
  self->topic.name = self->name;
  self->registration.call = "registerSubscriber";
  self->registration.farewell = "unregisterSubscriber";
  self->registration.topic = self->name;
  self->registration.type = self->topic.type;
  self->registration.registered = registered;
  TB__CHAIN_APPEND(node->subscriptions, self);
  tb__ros1_registration_begin(&self->registration, node);
}

void tb__ros1_subscription_close(tb__ros1_subscription_t *self)
{
  TB__CHAIN_REMOVE(self->node->subscriptions, self);
  while (self->links) {
    tb__publisher_link_t *link = self->links;
    self->links = link->next;
    tb__publisher_link_destroy(link);
  }
  self->open = 0;
  tb__ros1_registration_end(&self->registration);
}
