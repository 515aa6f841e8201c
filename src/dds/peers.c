#include "dds/peers.h"

#include <string.h>

#include "dds/inner_writer.h"

#include <dds/ddsi/ddsi_entity_index.h> /* which need inner_writer.h */
#include <dds/ddsi/ddsi_entity_match.h>
#include <dds/ddsi/ddsi_proxy_endpoint.h>
#include <dds/ddsi/q_bswap.h>

/* An endpoint of this process, with its two trees of matches. */
typedef struct inside {
  struct thread_state *thread;
  struct ddsi_domaingv *domain;
  struct ddsi_entity_common *own;
  const ddsrt_avl_treedef_t *remote_kind, *local_kind;
  const ddsrt_avl_tree_t *remote, *local;
  bool is_writer;
} inside_t;

static bool endpoint_find(inside_t *inside, const ddsi_guid_t *guid)
{
  struct ddsi_writer *writer = entidx_lookup_writer_guid(inside->domain->entity_index, guid);
  struct ddsi_reader *reader =
      writer ? NULL : entidx_lookup_reader_guid(inside->domain->entity_index, guid);
  inside->is_writer = writer;
  if (writer) {
    inside->own = &writer->e;
    inside->remote_kind = &ddsi_wr_readers_treedef;
    inside->local_kind = &ddsi_wr_local_readers_treedef;
    inside->remote = &writer->readers;
    inside->local = &writer->local_readers;
  } else if (reader) {
    inside->own = &reader->e;
    inside->remote_kind = &ddsi_rd_writers_treedef;
    inside->local_kind = &ddsi_rd_local_writers_treedef;
    inside->remote = &reader->writers;
    inside->local = &reader->local_writers;
  }
  return inside->own;
}

/* True: until `leave` the endpoint stays, and its matches do not change. */
static bool enter(const tb__peers_t *peers, inside_t *out)
{
  dds_guid_t name;
  if (dds_get_guid(peers->endpoint, &name) < 0) return false; /* then the type may be gone, too */
  *out =
      (inside_t){.thread = lookup_thread_state(), .domain = ddsrt_atomic_ldvoidp(&peers->type->gv)};
  if (!out->domain) return false;
  ddsi_guid_t guid = tb__inner_guid(name.v);
  thread_state_awake(out->thread, out->domain);
  if (endpoint_find(out, &guid)) {
    ddsrt_mutex_lock(&out->own->lock);
    return true;
  }
  thread_state_asleep(out->thread);
  return false;
}

static void leave(const inside_t *inside)
{
  ddsrt_mutex_unlock(&inside->own->lock);
  thread_state_asleep(inside->thread);
}

static bool is_matched(const inside_t *inside, const ddsi_guid_t *peer)
{
  return ddsrt_avl_lookup(inside->remote_kind, inside->remote, peer) ||
         ddsrt_avl_lookup(inside->local_kind, inside->local, peer);
}

bool tb__peers_has(const tb__peers_t *peers, const tb__guid_t *peer)
{
  inside_t inside;
  if (!enter(peers, &inside)) return false;
  ddsi_guid_t guid = tb__inner_guid(peer->bytes);
  bool has = is_matched(&inside, &guid);
  leave(&inside);
  return has;
}

static void user_data_copy(struct ddsi_entity_common *entity, const dds_qos_t *qos,
                           char out[TB__USER_DATA_SIZE])
{
  ddsrt_mutex_lock(&entity->qos_lock);
  size_t size = qos->present & QP_USER_DATA ? qos->user_data.length : 0;
  if (size > TB__USER_DATA_SIZE - 1) size = TB__USER_DATA_SIZE - 1;
  if (size > 0) memcpy(out, qos->user_data.value, size);
  out[size] = '\0';
  ddsrt_mutex_unlock(&entity->qos_lock);
}

/* False: it has gone meanwhile. */
static bool peer_read(const inside_t *inside, const ddsi_guid_t *guid, char out[TB__USER_DATA_SIZE])
{
  struct entity_index *index = inside->domain->entity_index;
  if (inside->is_writer) {
    struct ddsi_proxy_reader *remote = entidx_lookup_proxy_reader_guid(index, guid);
    struct ddsi_reader *local = remote ? NULL : entidx_lookup_reader_guid(index, guid);
    if (remote) user_data_copy(&remote->e, remote->c.xqos, out);
    if (local) user_data_copy(&local->e, local->xqos, out);
    return remote || local;
  }
  struct ddsi_proxy_writer *remote = entidx_lookup_proxy_writer_guid(index, guid);
  struct ddsi_writer *local = remote ? NULL : entidx_lookup_writer_guid(index, guid);
  if (remote) user_data_copy(&remote->e, remote->c.xqos, out);
  if (local) user_data_copy(&local->e, local->xqos, out);
  return remote || local;
}

bool tb__peers_user_data(const tb__peers_t *peers, const tb__guid_t *peer,
                         char out[TB__USER_DATA_SIZE])
{
  inside_t inside;
  if (!enter(peers, &inside)) return false;
  ddsi_guid_t guid = tb__inner_guid(peer->bytes);
  bool found = is_matched(&inside, &guid);
  ddsrt_mutex_unlock(&inside.own->lock); /* locks of two entities are not held at a time */
  found = found && peer_read(&inside, &guid, out);
  thread_state_asleep(inside.thread);
  return found;
}

/* All four kinds of matches begin with the node of the tree, and then have the GUID. */
_Static_assert(offsetof(struct ddsi_wr_prd_match, prd_guid) ==
                       offsetof(struct ddsi_wr_rd_match, rd_guid) &&
                   offsetof(struct ddsi_rd_pwr_match, pwr_guid) ==
                       offsetof(struct ddsi_rd_wr_match, wr_guid) &&
                   offsetof(struct ddsi_rd_wr_match, wr_guid) ==
                       offsetof(struct ddsi_wr_rd_match, rd_guid),
               "matches");

static bool next_of(const ddsrt_avl_treedef_t *kind, const ddsrt_avl_tree_t *tree,
                    const ddsi_guid_t *after, ddsi_guid_t *out)
{
  const char *match = ddsrt_avl_lookup_succ(kind, tree, after);
  if (!match) return false;
  memcpy(out, match + offsetof(struct ddsi_wr_rd_match, rd_guid), sizeof *out);
  return memcmp(&out->prefix, &after->prefix, sizeof out->prefix) == 0;
}

/* A participant is remote or of this process, so its endpoints are in one of the trees. */
bool tb__peers_next(const tb__peers_t *peers, tb__guid_t *guid)
{
  inside_t inside;
  if (!enter(peers, &inside)) return false;
  ddsi_guid_t after = tb__inner_guid(guid->bytes), next;
  bool found = next_of(inside.remote_kind, inside.remote, &after, &next) ||
               next_of(inside.local_kind, inside.local, &after, &next);
  leave(&inside);
  if (!found) return false;
  next = nn_hton_guid(next);
  memcpy(guid->bytes, &next, sizeof guid->bytes);
  return true;
}
