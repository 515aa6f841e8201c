#include "ros1/name_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ros1/uri.h"

struct tb__name_lookup {
  tb__ros1_task_t task;
  void (*done)(void *user, const tb__name_addresses_t *found);
  void *user;
  uint16_t port;
  char host[TB__ROS1_HOST_SIZE];
  tb__name_addresses_t found;
  tb__mutex_t mutex;
  tb__ros1_loop_t *loop; /* guarded by the mutex; NULL: cancelled */
  _Atomic uint32_t users;
};

static _Atomic uint32_t running;

static void release(tb__name_lookup_t *lookup)
{
  if (atomic_fetch_sub(&lookup->users, 1) > 1) return;
  tb__mutex_fini(&lookup->mutex);
  free(lookup);
}

static void add(tb__name_addresses_t *found, const void *address, socklen_t size)
{
  if (found->count == TB__NAME_LOOKUP_ADDRESSES || size > sizeof found->addresses[0]) return;
  memcpy(&found->addresses[found->count], address, size);
  found->sizes[found->count++] = size;
}

bool tb__name_is_address(const char *host, uint16_t port, tb__name_addresses_t *out)
{
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
  out->count = 0;
  if (inet_pton(AF_INET, host, &v4.sin_addr) == 1)
    add(out, &v4, sizeof v4);
  else if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1)
    add(out, &v6, sizeof v6);
  return out->count > 0;
}

static void ask_resolver(tb__name_lookup_t *lookup)
{
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo *list = NULL;
  char service[8];
  snprintf(service, sizeof service, "%u", (unsigned)lookup->port);
  if (getaddrinfo(lookup->host, service, &hints, &list) != 0) return;
  for (int want_v6 = 0; want_v6 < 2; want_v6++)
    for (const struct addrinfo *one = list; one; one = one->ai_next)
      if (one->ai_family == (want_v6 ? AF_INET6 : AF_INET))
        add(&lookup->found, one->ai_addr, one->ai_addrlen);
  freeaddrinfo(list);
}

static void *look_up(void *argument)
{
  tb__name_lookup_t *lookup = argument;
  ask_resolver(lookup);
  tb__mutex_lock(&lookup->mutex);
  if (lookup->loop) tb__ros1_loop_post(lookup->loop, &lookup->task);
  tb__mutex_unlock(&lookup->mutex);
  release(lookup);
  atomic_fetch_sub(&running, 1);
  return NULL;
}

static void report(tb__ros1_task_t *task)
{
  tb__name_lookup_t *lookup = TB__ROS1_OWNER(task, tb__name_lookup_t, task);
  lookup->done(lookup->user, &lookup->found);
  release(lookup);
}

tb_status_t tb__name_lookup_start(tb__ros1_loop_t *loop, const char *host, uint16_t port,
                                  void (*done)(void *user, const tb__name_addresses_t *found),
                                  void *user, tb__name_lookup_t **out)
{
  tb_status_t status = TB_ERR_LIMIT;
  tb__name_lookup_t *lookup = NULL;
  if (atomic_fetch_add(&running, 1) >= TB__NAME_LOOKUPS_MAX) goto fail;
  status = TB_ERR_NO_MEMORY;
  lookup = calloc(1, sizeof *lookup);
  if (!lookup) goto fail;
  lookup->task.run = report;
  lookup->done = done;
  lookup->user = user;
  lookup->port = port;
  lookup->loop = loop;
  snprintf(lookup->host, sizeof lookup->host, "%s", host);
  tb__mutex_init(&lookup->mutex);
  atomic_init(&lookup->users, 2);
  tb__thread_t thread;
  status = tb__thread_start(&thread, "tb-ros1-names", look_up, lookup);
  if (status) goto fail;
  tb__thread_detach(&thread);
  *out = lookup;
  return TB_OK;
fail:
  atomic_fetch_sub(&running, 1);
  free(lookup);
  return status;
}

void tb__name_lookup_cancel(tb__name_lookup_t *lookup)
{
  tb__mutex_lock(&lookup->mutex);
  tb__ros1_loop_t *loop = lookup->loop;
  lookup->loop = NULL;
  tb__mutex_unlock(&lookup->mutex);
  tb__ros1_loop_withdraw(loop, &lookup->task);
  release(lookup);
}
