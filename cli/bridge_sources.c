#include "bridge_sources.h"

#include <stdlib.h>
#include <string.h>

#define RETRY_NS TB_NS_PER_S

void bridge_sources_init(bridge_sources_t *sources)
{
  *sources = (bridge_sources_t){.first = NULL};
  pthread_mutex_init(&sources->mutex, NULL);
}

/* What it was told apart by. */
static void forget(bridge_source_t *source)
{
  free(source->publisher);
  free(source->type);
  free(source->md5sum);
  free(source->definition);
  source->publisher = source->type = source->md5sum = source->definition = NULL;
}

static void free_all(bridge_source_t *first, void (*close)(bridge_source_t *source))
{
  while (first) {
    bridge_source_t *source = first;
    first = source->next;
    close(source);
    forget(source);
    free(source);
  }
}

void bridge_sources_fini(bridge_sources_t *sources, void (*close)(bridge_source_t *source))
{
  free_all(sources->first, close);
  sources->first = NULL;
  pthread_mutex_destroy(&sources->mutex);
}

static bool is_of(const bridge_source_t *source, const tb_ros1_sample_t *sample)
{
  return source->latched == (sample->latched != 0) &&
         strcmp(source->publisher, sample->publisher) == 0 &&
         strcmp(source->md5sum, sample->type.md5sum) == 0 &&
         strcmp(source->type, sample->type.name) == 0;
}

static bool describe(bridge_source_t *source, const tb_ros1_sample_t *sample)
{
  bridge_source_t made = {.publisher = strdup(sample->publisher),
                          .type = strdup(sample->type.name),
                          .md5sum = strdup(sample->type.md5sum),
                          .definition = strdup(sample->type.definition)};
  if (!made.publisher || !made.type || !made.md5sum || !made.definition) {
    forget(&made);
    return false;
  }
  forget(source);
  source->publisher = made.publisher;
  source->type = made.type;
  source->md5sum = made.md5sum;
  source->definition = made.definition;
  source->latched = sample->latched != 0;
  source->is_open = source->has_failed = false;
  source->retry_ns = 0;
  return true;
}

/* Nothing else looks at one that has no message waiting. */
static bridge_source_t *replaceable(const bridge_sources_t *sources)
{
  bridge_source_t *found = NULL;
  for (bridge_source_t *one = sources->first; one; one = one->next) {
    bool is_kept = atomic_load(&one->waiting) > 0 || (one->latched && !one->is_gone);
    if (is_kept) continue;
    bool is_better = !found || (one->is_gone && !found->is_gone) ||
                     (one->is_gone == found->is_gone && one->used < found->used);
    if (is_better) found = one;
  }
  return found;
}

static bridge_source_t *add(bridge_sources_t *sources, const tb_ros1_sample_t *sample)
{
  bridge_source_t *source;
  if (sources->count >= BRIDGE_SOURCES_MAX) {
    source = replaceable(sources);
    return source && describe(source, sample) ? source : NULL;
  }
  source = calloc(1, sizeof *source);
  if (!source || !describe(source, sample)) {
    free(source);
    return NULL;
  }
  source->next = sources->first;
  sources->first = source;
  sources->count++;
  return source;
}

bridge_source_t *bridge_sources_take(bridge_sources_t *sources, const tb_ros1_sample_t *sample)
{
  pthread_mutex_lock(&sources->mutex);
  bridge_source_t *source = sources->first;
  while (source && !is_of(source, sample))
    source = source->next;
  if (!source) source = add(sources, sample);
  if (source) {
    source->is_gone = false;
    source->used = ++sources->uses;
    atomic_fetch_add(&source->waiting, 1);
  }
  pthread_mutex_unlock(&sources->mutex);
  return source;
}

void bridge_source_release(bridge_source_t *source)
{
  atomic_fetch_sub(&source->waiting, 1);
}

/* Definitions that are missing or wrong stay so. */
static bool may_pass(tb_status_t status)
{
  return status == TB_ERR_NO_MEMORY || status == TB_ERR_SYSTEM || status == TB_ERR_TRANSPORT ||
         status == TB_ERR_BUSY || status == TB_ERR_TIMEOUT;
}

bool bridge_source_is_due(const bridge_source_t *source, int64_t now_ns)
{
  return !source->is_open && now_ns >= source->retry_ns;
}

void bridge_source_opened(bridge_source_t *source, tb_status_t status, int64_t now_ns)
{
  source->is_open = !may_pass(status);
  source->has_failed = status != TB_OK;
  source->retry_ns = now_ns + RETRY_NS;
}

void bridge_sources_forget(bridge_sources_t *sources, void (*close)(bridge_source_t *source))
{
  bridge_source_t *gone = NULL;
  pthread_mutex_lock(&sources->mutex);
  for (bridge_source_t **at = &sources->first; *at;) {
    bridge_source_t *source = *at;
    if (atomic_load(&source->waiting) > 0) {
      at = &source->next;
      continue;
    }
    *at = source->next;
    source->next = gone;
    gone = source;
    sources->count--;
  }
  pthread_mutex_unlock(&sources->mutex);
  free_all(gone, close);
}

void bridge_sources_look(bridge_sources_t *sources, const char *const *names, size_t count)
{
  pthread_mutex_lock(&sources->mutex);
  for (bridge_source_t *source = sources->first; source; source = source->next) {
    source->is_gone = true;
    for (size_t i = 0; i < count && source->is_gone; i++)
      source->is_gone = strcmp(names[i], source->publisher) != 0;
  }
  pthread_mutex_unlock(&sources->mutex);
}

bool bridge_sources_are_none(bridge_sources_t *sources)
{
  pthread_mutex_lock(&sources->mutex);
  bool are_none = sources->count == 0;
  pthread_mutex_unlock(&sources->mutex);
  return are_none;
}

bool bridge_sources_are_many(bridge_sources_t *sources)
{
  pthread_mutex_lock(&sources->mutex);
  bool are_many = sources->count >= BRIDGE_SOURCES_MAX / 2;
  pthread_mutex_unlock(&sources->mutex);
  return are_many;
}
