#include "dds/resend.h"

#include "dds/inner_writer.h"
#include "dds/raw_type.h"

#include <dds/ddsi/ddsi_entity_index.h> /* which need inner_writer.h */
#include <dds/ddsi/ddsi_entity_match.h>
#include <dds/ddsi/ddsi_proxy_endpoint.h>

bool tb__resend_is_due(tb__resend_t resend, int64_t number, int64_t acknowledged)
{
  switch (resend) {
  case TB__RESEND_NOTHING:
    return false;
  case TB__RESEND_SINCE_MATCH:
    return number == 0 || number > acknowledged;
  default:
    return true;
  }
}

/* Called by Cyclone with the writer's lock held, for samples of any writer of the process. */
static int is_sent_again(struct ddsi_writer *writer, struct ddsi_proxy_reader *reader,
                         struct ddsi_serdata *sample)
{
  if (sample->ops != &tb__raw_sample_ops) return true;
  const struct ddsi_wr_prd_match *match =
      ddsrt_avl_lookup(&ddsi_wr_readers_treedef, &writer->readers, &reader->e.guid);
  return !match || tb__raw_sample_is_due(sample, (int64_t)match->seq);
}

/* Cyclone reads the function under the lock of any writer that the reader is matched with. */
static void reader_limit(struct ddsi_proxy_reader *reader)
{
  ddsi_filter_fn_t none = NULL;
  __atomic_compare_exchange_n(&reader->filter, &none, is_sent_again, false, __ATOMIC_RELEASE,
                              __ATOMIC_RELAXED);
}

static void readers_limit_locked(const struct ddsi_domaingv *domain,
                                 const struct ddsi_writer *writer)
{
  const ddsrt_avl_treedef_t *tree = &ddsi_wr_readers_treedef;
  const struct ddsi_wr_prd_match *match = ddsrt_avl_find_min(tree, &writer->readers);
  for (; match; match = ddsrt_avl_find_succ(tree, &writer->readers, match)) {
    if (!tb__inner_guid_is_of_fast_dds(&match->prd_guid)) continue;
    struct ddsi_proxy_reader *reader =
        entidx_lookup_proxy_reader_guid(domain->entity_index, &match->prd_guid);
    if (reader) reader_limit(reader);
  }
}

void tb__resend_limit(dds_entity_t writer, const struct ddsi_sertype *type)
{
  tb__inner_writer_t inner;
  if (!tb__inner_writer_enter(writer, type, &inner)) return;
  ddsrt_mutex_lock(&inner.writer->e.lock);
  readers_limit_locked(inner.domain, inner.writer);
  ddsrt_mutex_unlock(&inner.writer->e.lock);
  tb__inner_writer_leave(&inner);
}
