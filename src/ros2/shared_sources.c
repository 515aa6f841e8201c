#include "ros2/shared_sources.h"
#include "base/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/extrapolating_source.h>
#include <timebase/ros2_clock_source.h>

#include "ros2/clock_source.h"

#define KEY_SIZE 512

void tb__shared_sources_init(tb__shared_sources_t *sources, tb_ros2_context_t *context)
{
  *sources = (tb__shared_sources_t){.context = context};
  tb__mutex_init(&sources->mutex);
  tb__mutex_init(&sources->watch_mutex);
}

static void shared_destroy(tb__shared_source_t *shared)
{
  tb_source_destroy(shared->source);
  free(shared);
}

void tb__shared_sources_fini(tb__shared_sources_t *sources)
{
  for (tb__shared_source_t *shared = sources->first, *next; shared; shared = next) {
    next = shared->next;
    if (shared->users == 0) shared_destroy(shared);
  }
  tb__mutex_fini(&sources->mutex);
  tb__mutex_fini(&sources->watch_mutex);
}

static bool follows_clock_topic(const char *name)
{
  return strcmp(name, TB__TIME_SOURCE_CLOCK_TOPIC) == 0 ||
         strcmp(name, TB__TIME_SOURCE_EXTRAPOLATING) == 0;
}

/* Nodes with the same key share a source. */
static tb_status_t key_make(const char *name, const char *topic, const tb_qos_t *qos,
                            char out[KEY_SIZE], tb_error_t *error)
{
  int length = follows_clock_topic(name)
                   ? snprintf(out, KEY_SIZE, "%s %s %d %d %d %d", name, topic, qos->reliability,
                              qos->durability, qos->history, (int)qos->depth)
                   : snprintf(out, KEY_SIZE, "=%s", name);
  if (length >= KEY_SIZE)
    return tb_error_set(error, TB_ERR_INVALID, "time_source '%.40s...' is too long", name);
  return TB_OK;
}

static tb__shared_source_t *find_locked(tb__shared_sources_t *sources, const char *key)
    TB_REQUIRES(sources->mutex)
{
  tb__shared_source_t *shared = sources->first;
  while (shared && strcmp(shared->key, key) != 0)
    shared = shared->next;
  if (shared) shared->users++;
  return shared;
}

/* On a thread of DDS. */
static void on_change(void *user)
{
  tb__shared_source_t *shared = user;
  tb__mutex_lock(&shared->sources->watch_mutex);
  for (tb__source_watcher_t *watcher = shared->watchers; watcher; watcher = watcher->next)
    watcher->changed(watcher);
  tb__mutex_unlock(&shared->sources->watch_mutex);
}

static tb_status_t clock_topic_make(tb_ros2_context_t *context, const char *name, const char *topic,
                                    const tb_qos_t *qos, tb__shared_source_t *shared,
                                    tb_error_t *error)
{
  tb_ros2_clock_source_options_t options = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  options.topic = topic;
  options.qos = qos;
  tb_status_t status = tb_ros2_clock_source_create(context, &options, &shared->clock_topic, error);
  if (status) return status;
  tb__clock_source_watch(shared->clock_topic, on_change, shared);
  shared->source = shared->clock_topic;
  if (strcmp(name, TB__TIME_SOURCE_EXTRAPOLATING) != 0) return TB_OK;
  status = tb_extrapolating_source_create(shared->clock_topic, NULL, &shared->source);
  if (!status) return TB_OK;
  tb_source_destroy(shared->clock_topic);
  return tb_error_set(error, status, "time_source '%s': %s", name, tb_status_message(status));
}

/* The names of the sources of nodes are not valid elsewhere. */
static tb_status_t named_make(const char *name, tb_source_t **out, tb_error_t *error)
{
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb_source_create_from_name(name, out, &detail);
  if (status == TB_ERR_NOT_FOUND)
    return tb_error_set(error, status,
                        "time_source is " TB__TIME_SOURCE_CLOCK_TOPIC
                        " or " TB__TIME_SOURCE_EXTRAPOLATING
                        ", which follow /clock, or another source: %.380s",
                        detail.text);
  if (status && error) *error = detail;
  return status;
}

static tb_status_t shared_create(tb__shared_sources_t *sources, const char *key, const char *name,
                                 const char *topic, const tb_qos_t *qos, tb__shared_source_t **out,
                                 tb_error_t *error)
{
  size_t size = strlen(key) + 1;
  tb__shared_source_t *shared = calloc(1, sizeof *shared + size);
  if (!shared)
    return tb_error_set(error, TB_ERR_NO_MEMORY, "time_source '%s': out of memory", name);
  memcpy(shared->key, key, size);
  shared->users = 1;
  shared->sources = sources;
  shared->is_kept = follows_clock_topic(name) || strncmp(name, "shm:", 4) == 0;
  tb_status_t status = follows_clock_topic(name)
                           ? clock_topic_make(sources->context, name, topic, qos, shared, error)
                           : named_make(name, &shared->source, error);
  if (status) {
    free(shared);
    return status;
  }
  *out = shared;
  return TB_OK;
}

tb_status_t tb__shared_source_acquire(tb__shared_sources_t *sources, const char *name,
                                      const char *topic, const tb_qos_t *qos,
                                      tb__shared_source_t **out, tb_error_t *error)
{
  char key[KEY_SIZE];
  tb__shared_source_t *made = NULL;
  tb_status_t status = key_make(name, topic, qos, key, error);
  if (status) return status;
  tb__mutex_lock(&sources->mutex);
  tb__shared_source_t *shared = find_locked(sources, key);
  tb__mutex_unlock(&sources->mutex);
  if (!shared) {
    status = shared_create(sources, key, name, topic, qos, &made, error);
    if (status) return status;
    tb__mutex_lock(&sources->mutex);
    shared = find_locked(sources, key); /* another node may have been faster */
    if (!shared) {
      made->next = sources->first;
      sources->first = shared = made;
      made = NULL;
    }
    tb__mutex_unlock(&sources->mutex);
  }
  if (made) shared_destroy(made);
  *out = shared;
  return TB_OK;
}

/* Takes an unused source off the list: the oldest of too many, or one that is not kept. */
static tb__shared_source_t *superfluous_take(tb__shared_sources_t *sources)
    TB_REQUIRES(sources->mutex)
{
  tb__shared_source_t **superfluous = NULL;
  unsigned unused = 0;
  for (tb__shared_source_t **link = &sources->first; *link; link = &(*link)->next) {
    if ((*link)->users > 0) continue;
    if (!(*link)->is_kept || ++unused > TB__SHARED_SOURCES_KEPT) superfluous = link;
    if (!(*link)->is_kept) break;
  }
  if (!superfluous) return NULL;
  tb__shared_source_t *taken = *superfluous;
  *superfluous = taken->next;
  return taken;
}

void tb__shared_source_release(tb__shared_sources_t *sources, tb__shared_source_t *shared)
{
  if (!shared) return;
  tb__mutex_lock(&sources->mutex);
  shared->users--;
  tb__shared_source_t *superfluous = superfluous_take(sources);
  tb__mutex_unlock(&sources->mutex);
  if (superfluous) shared_destroy(superfluous);
}

void tb__shared_source_watch(tb__shared_sources_t *sources, tb__shared_source_t *shared,
                             tb__source_watcher_t *watcher,
                             void (*changed)(tb__source_watcher_t *watcher))
{
  watcher->changed = changed;
  tb__mutex_lock(&sources->watch_mutex);
  watcher->next = shared->watchers;
  shared->watchers = watcher;
  tb__mutex_unlock(&sources->watch_mutex);
}

void tb__shared_source_unwatch(tb__shared_sources_t *sources, tb__shared_source_t *shared,
                               tb__source_watcher_t *watcher)
{
  tb__mutex_lock(&sources->watch_mutex);
  TB__CHAIN_REMOVE(shared->watchers, watcher);
  tb__mutex_unlock(&sources->watch_mutex);
}
