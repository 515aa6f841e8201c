#include "source/source_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "platform/mutex.h"

#define VARIABLE "TIMEBASE_SOURCE"

static const tb__source_name_t built_in[] = {
    {"manual", tb__manual_source_from_name, NULL},
    {"shm", tb__shm_source_from_name, NULL},
    {"extrapolating", tb__extrapolating_source_from_name, NULL},
};

#define BUILT_IN_COUNT (sizeof built_in / sizeof *built_in)

/* Names that other libraries of timebase register when they are loaded. */
static const struct {
  const char *prefix, *library;
} of_siblings[] = {
    {"ros1", "timebase-ros1"},
};

typedef struct registered {
  struct registered *next;
  tb__source_name_t name;
} registered_t;

static tb__mutex_t mutex = TB__MUTEX_INIT;
static registered_t *registered; /* by mutex */

static bool prefix_is(const tb__source_name_t *name, const char *prefix, size_t length)
{
  return strlen(name->prefix) == length && !memcmp(name->prefix, prefix, length);
}

static const tb__source_name_t *find_built_in(const char *prefix, size_t length)
{
  for (size_t i = 0; i < BUILT_IN_COUNT; i++)
    if (prefix_is(&built_in[i], prefix, length)) return &built_in[i];
  return NULL;
}

/* The link to the entry, or to where it would be added. */
static registered_t **find_registered_locked(const char *prefix, size_t length) TB_REQUIRES(mutex)
{
  registered_t **place = &registered;
  while (*place && !prefix_is(&(*place)->name, prefix, length))
    place = &(*place)->next;
  return place;
}

/* Copied, so that no lock is held while the factory runs. */
static bool find(const char *prefix, size_t length, tb__source_name_t *out)
{
  const tb__source_name_t *name = find_built_in(prefix, length);
  tb__mutex_lock(&mutex);
  registered_t *entry = name ? NULL : *find_registered_locked(prefix, length);
  if (entry) name = &entry->name;
  if (name) *out = *name;
  tb__mutex_unlock(&mutex);
  return name != NULL;
}

/* "manual, one, two"; what does not fit is left out. */
static void list_names(char *text, size_t size)
{
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < BUILT_IN_COUNT && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", built_in[i].prefix);
  tb__mutex_lock(&mutex);
  for (const registered_t *entry = registered; entry && used < size; entry = entry->next)
    used += (size_t)snprintf(text + used, size - used, ", %s", entry->name.prefix);
  tb__mutex_unlock(&mutex);
}

static tb_status_t not_found(const char *name, int length, tb_error_t *error)
{
  char known[256];
  for (size_t i = 0; i < sizeof of_siblings / sizeof *of_siblings; i++)
    if (strlen(of_siblings[i].prefix) == (size_t)length &&
        !memcmp(of_siblings[i].prefix, name, (size_t)length))
      return tb_error_set(error, TB_ERR_NOT_FOUND,
                          "source \"%.99s\": it is in lib%s, which this program has not loaded; "
                          "link the program with it (pkg-config %s)",
                          name, of_siblings[i].library, of_siblings[i].library);
  list_names(known, sizeof known);
  return tb_error_set(error, TB_ERR_NOT_FOUND,
                      "source \"%.99s\": unknown kind of source \"%.*s\"; known are %s", name,
                      length, name, known);
}

tb_status_t tb_source_create_from_name(const char *name, tb_source_t **out, tb_error_t *error)
{
  if (!name || !out) return tb_error_set(error, TB_ERR_INVALID, "source: no name was given");
  size_t length = strcspn(name, ":");
  tb__source_name_t found;
  if (!find(name, length, &found)) return not_found(name, (int)(length < 99 ? length : 99), error);
  tb_error_t detail = TB_ERROR_INIT;
  tb_source_t *source = NULL;
  const char *rest = name[length] ? name + length + 1 : "";
  tb_status_t status = found.create(rest, found.user, &source, &detail);
  if (!status && !source) status = TB_ERR_INVALID;
  if (status) {
    if (!detail.text[0])
      tb_error_set(&detail, status, "source \"%.99s\": %s", name, tb_status_message(status));
    if (error) *error = detail;
    return status;
  }
  *out = source;
  return TB_OK;
}

static bool prefix_is_valid(const char *prefix, size_t length)
{
  return length > 0 && length <= TB__SOURCE_PREFIX_MAX &&
         strspn(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
             length;
}

static tb_status_t take_out(const char *prefix, size_t length)
{
  tb__mutex_lock(&mutex);
  registered_t **place = find_registered_locked(prefix, length);
  registered_t *entry = *place;
  if (entry) *place = entry->next;
  tb__mutex_unlock(&mutex);
  free(entry);
  return entry ? TB_OK : TB_ERR_NOT_FOUND;
}

tb_status_t tb_source_register(const char *prefix, tb_source_factory_t factory, void *user)
{
  size_t length = prefix ? strlen(prefix) : 0;
  if (!prefix || !prefix_is_valid(prefix, length)) return TB_ERR_INVALID;
  if (!factory) return take_out(prefix, length);
  if (find_built_in(prefix, length)) return TB_ERR_BUSY;
  registered_t *entry = calloc(1, sizeof *entry);
  if (!entry) return TB_ERR_NO_MEMORY;
  snprintf(entry->name.prefix, sizeof entry->name.prefix, "%s", prefix);
  entry->name.create = factory;
  entry->name.user = user;
  tb__mutex_lock(&mutex);
  registered_t **place = find_registered_locked(prefix, length);
  bool taken = *place;
  if (!taken) *place = entry;
  tb__mutex_unlock(&mutex);
  if (taken) free(entry);
  return taken ? TB_ERR_BUSY : TB_OK;
}

/* At exit. If another thread has the lock, also one that does not exist in a child of fork, the
 * names stay. */
__attribute__((destructor)) static void forget_names(void)
{
  if (!tb__mutex_try_lock(&mutex)) return;
  registered_t *entry = registered;
  registered = NULL;
  tb__mutex_unlock(&mutex);
  while (entry) {
    registered_t *next = entry->next;
    free(entry);
    entry = next;
  }
}

const char *tb__source_name_in_environment(void)
{
  const char *name = getenv(VARIABLE);
  return name && *name ? name : NULL;
}

tb_status_t tb__source_create_from_environment(tb_source_t **out)
{
  const char *name = tb__source_name_in_environment();
  if (!name) return TB_OK;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_source_create_from_name(name, out, &error);
  if (status)
    tb__log(TB_LOG_ERROR, VARIABLE "=%.99s in the environment: %s. Correct or unset it", name,
            error.text);
  return status;
}
