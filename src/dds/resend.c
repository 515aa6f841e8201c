#include "dds/resend.h"

#include "dds/inner_writer.h"
#include "dds/raw_type.h"

#include <stdatomic.h>

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

/* The function of another copy of the library that ours has replaced; NULL: none. It decides about
 * the samples of that copy, which stays loaded too. */
static _Atomic(ddsi_filter_fn_t) other_copy;

/* Each copy may have replaced the other's, for another reader, and asks it. */
static bool other_agrees(struct ddsi_writer *writer, struct ddsi_proxy_reader *reader,
                         struct ddsi_serdata *sample)
{
  static _Thread_local bool is_asking;
  ddsi_filter_fn_t other = atomic_load(&other_copy);
  if (!other || is_asking) return true;
  is_asking = true;
  bool agrees = other(writer, reader, sample);
  is_asking = false;
  return agrees;
}

/* Called by Cyclone with the writer's lock held, for samples of any writer of the process. */
static int is_sent_again(struct ddsi_writer *writer, struct ddsi_proxy_reader *reader,
                         struct ddsi_serdata *sample)
{
  if (sample->ops != &tb__raw_sample_ops) return other_agrees(writer, reader, sample);
  const struct ddsi_wr_prd_match *match =
      ddsrt_avl_lookup(&ddsi_wr_readers_treedef, &writer->readers, &reader->e.guid);
  return !match || tb__raw_sample_is_due(sample, (int64_t)match->seq);
}

/* Cyclone reads the function under the lock of any writer that the reader is matched with. Of a
 * third copy neither ours nor the second one's is replaced. */
static void reader_limit(struct ddsi_proxy_reader *reader)
{
  ddsi_filter_fn_t there = __atomic_load_n(&reader->filter, __ATOMIC_ACQUIRE), none = NULL;
  while (there != is_sent_again) {
    if (there && !atomic_compare_exchange_strong(&other_copy, &none, there) && none != there)
      return;
    none = NULL;
    if (__atomic_compare_exchange_n(&reader->filter, &there, is_sent_again, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return;
  }
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
