#include "dds/topic_writers.h"

#include <dds/dds.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"

#define BATCH_SIZE  16
#define WRITERS_MAX 64 /* further ones are not counted */

struct tb__topic_writers {
  dds_entity_t reader;
  const char *topic, *type;
  void (*changed)(void *user);
  void *user;
  dds_instance_handle_t instances[WRITERS_MAX];
  uint32_t count;
};

static void on_data(dds_entity_t reader, void *user)
{
  (void)reader;
  tb__topic_writers_t *writers = user;
  writers->changed(writers->user);
}

tb_status_t tb__topic_writers_create(tb__participant_t *participant, const char *topic,
                                     const char *type, void (*changed)(void *user), void *user,
                                     tb__topic_writers_t **out)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__topic_writers_t *writers = calloc(1, sizeof *writers);
  if (!writers) return TB_ERR_NO_MEMORY;
  *writers = (tb__topic_writers_t){.topic = topic, .type = type, .changed = changed, .user = user};
  dds_listener_t *listener = dds_create_listener(writers);
  if (!listener) goto fail;
  dds_lset_data_available(listener, on_data);
  writers->reader = dds_create_reader(tb__participant_handle(participant),
                                      DDS_BUILTIN_TOPIC_DCPSPUBLICATION, NULL, listener);
  dds_delete_listener(listener);
  if (writers->reader < 0) goto fail;
  *out = writers;
  return TB_OK;

fail:
  free(writers);
  return TB_ERR_NO_MEMORY;
}

void tb__topic_writers_destroy(tb__topic_writers_t *writers)
{
  if (!writers) return;
  if (!tb__is_forked()) dds_delete(writers->reader);
  free(writers);
}

static void note(tb__topic_writers_t *writers, dds_instance_handle_t instance, bool is_alive)
{
  uint32_t at = 0;
  while (at < writers->count && writers->instances[at] != instance)
    at++;
  bool known = at < writers->count;
  if (is_alive && !known && at < WRITERS_MAX) writers->instances[writers->count++] = instance;
  if (!is_alive && known) writers->instances[at] = writers->instances[--writers->count];
}

uint32_t tb__topic_writers_count(tb__topic_writers_t *writers)
{
  void *samples[BATCH_SIZE];
  dds_sample_info_t info[BATCH_SIZE];
  dds_return_t count = tb__is_forked() ? 0 : BATCH_SIZE;
  while (count == BATCH_SIZE) {
    samples[0] = NULL; /* DDS provides the memory */
    count = dds_take(writers->reader, samples, info, BATCH_SIZE, BATCH_SIZE);
    for (dds_return_t i = 0; i < count; i++) {
      const dds_builtintopic_endpoint_t *endpoint = samples[i];
      bool ours = info[i].valid_data && !strcmp(endpoint->topic_name, writers->topic) &&
                  !strcmp(endpoint->type_name, writers->type);
      bool is_alive = info[i].instance_state == DDS_ALIVE_INSTANCE_STATE;
      if (ours || !is_alive) note(writers, info[i].instance_handle, is_alive);
    }
    if (count > 0) dds_return_loan(writers->reader, samples, count);
  }
  return writers->count;
}
