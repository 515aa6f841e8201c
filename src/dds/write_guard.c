#include "dds/write_guard.h"

#include <stddef.h>
#include <stdlib.h>

#include "dds/inner_writer.h"

#include <dds/ddsi/ddsi_entity_index.h> /* which need inner_writer.h */
#include <dds/ddsi/ddsi_entity_match.h>
#include <dds/ddsi/ddsi_proxy_endpoint.h>
#include <dds/ddsi/q_whc.h>

/* In the place of the functions of a writer's history, whose copies they are but for two. */
typedef struct guard {
  struct whc_ops ops;
  const struct whc_ops *real;
  const struct ddsi_writer *writer;
} guard_t;

static _Thread_local bool has_refused;

static const guard_t *guard_of(const struct whc *history)
{
  return (const guard_t *)(const void *)((const char *)history->ops - offsetof(guard_t, ops));
}

static bool would_take_it(const struct ddsi_writer *writer, const ddsi_guid_t *reader)
{
  if (!tb__inner_guid_is_of_fast_dds(reader)) return false;
  const struct ddsi_proxy_reader *found =
      entidx_lookup_proxy_reader_guid(writer->e.gv->entity_index, reader);
  return found && !tb__inner_is_apart(writer, found);
}

static bool has_reader_of_fast_dds(const struct ddsi_writer *writer)
{
  const ddsrt_avl_treedef_t *tree = &ddsi_wr_readers_treedef;
  const struct ddsi_wr_prd_match *match = ddsrt_avl_find_min(tree, &writer->readers);
  while (match && !would_take_it(writer, &match->prd_guid))
    match = ddsrt_avl_find_succ(tree, &writer->readers, match);
  return match;
}

/* Called by Cyclone with the writer's lock held, in the thread that writes. */
static int insert(struct whc *history, seqno_t max_drop_seq, seqno_t seq, ddsrt_mtime_t expiry,
                  struct ddsi_plist *plist, struct ddsi_serdata *sample,
                  struct ddsi_tkmap_instance *instance)
{
  const guard_t *guard = guard_of(history);
  if (has_reader_of_fast_dds(guard->writer)) {
    has_refused = true;
    return DDS_RETCODE_UNSUPPORTED;
  }
  return guard->real->insert(history, max_drop_seq, seq, expiry, plist, sample, instance);
}

static void history_free(struct whc *history)
{
  const guard_t *guard = guard_of(history);
  guard->real->free(history);
  free((void *)(uintptr_t)guard);
}

tb_status_t tb__write_guard_set(dds_entity_t writer, const struct ddsi_sertype *type)
{
  tb__inner_writer_t inner;
  guard_t *guard = calloc(1, sizeof *guard);
  if (!guard) return TB_ERR_NO_MEMORY;
  if (!tb__inner_writer_enter(writer, type, &inner)) {
    free(guard);
    return TB_ERR_CLOSED;
  }
  ddsrt_mutex_lock(&inner.writer->e.lock);
  struct whc *history = inner.writer->whc;
  guard->real = history->ops;
  guard->ops = *history->ops;
  guard->ops.insert = insert;
  guard->ops.free = history_free;
  guard->writer = inner.writer;
  __atomic_store_n(&history->ops, &guard->ops, __ATOMIC_RELEASE);
  ddsrt_mutex_unlock(&inner.writer->e.lock);
  tb__inner_writer_leave(&inner);
  return TB_OK;
}

bool tb__write_guard_has_refused(void)
{
  bool refused = has_refused;
  has_refused = false;
  return refused;
}
