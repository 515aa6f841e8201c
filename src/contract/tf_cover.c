#include "contract/tf_cover.h"

#include <stdlib.h>
#include <string.h>

enum { TURNS_OF_TWO = 4 };

static int64_t minus(int64_t a, int64_t b)
{
  int64_t result;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < b ? INT64_MIN : INT64_MAX;
}

size_t tb__tf_tree_length(const char *topic)
{
  const char *slash = strrchr(topic, '/');
  return slash ? (size_t)(slash - topic) : 0;
}

bool tb__tf_tree_has(const char *tree, size_t tree_length, const char *topic)
{
  return strncmp(tree, topic, tree_length) == 0 && (!tree_length || topic[tree_length] == '/');
}

size_t tb__tf_tree_frame(const char *tree, size_t tree_length, const char *frame, size_t length,
                         char out[TB__TF_TREE_FRAME_SIZE])
{
  size_t at = 0;
  if (length && *frame == '/') {
    frame++;
    length--;
  }
  if (tree_length > TB__TF_TREE_FRAME_SIZE / 2) tree_length = TB__TF_TREE_FRAME_SIZE / 2;
  if (tree_length) {
    out[at++] = '[';
    memcpy(out + at, tree, tree_length);
    at += tree_length;
    out[at++] = ']';
    out[at++] = ' ';
  }
  if (length > TB__TF_TREE_FRAME_SIZE - at) length = TB__TF_TREE_FRAME_SIZE - at;
  memcpy(out + at, frame, length);
  return at + length;
}

tb__tf_transform_t tb__tf_tree_transform(const char *tree, size_t tree_length,
                                         const tb__edge_t *edge, tb__tf_tree_names_t *names)
{
  return (tb__tf_transform_t){
      .parent = names->parent,
      .child = names->child,
      .parent_length =
          tb__tf_tree_frame(tree, tree_length, edge->parent, edge->parent_length, names->parent),
      .child_length =
          tb__tf_tree_frame(tree, tree_length, edge->child, edge->child_length, names->child),
      .stamp_ns = edge->stamp_ns,
  };
}

tb_status_t tb__tf_cover_init(tb__tf_cover_t *cover, uint32_t topic_count)
{
  memset(cover, 0, sizeof *cover);
  cover->names.most = cover->names.most_of_topic = TB__TF_FRAMES_MAX;
  cover->topics = calloc((size_t)topic_count + 1, sizeof *cover->topics);
  cover->waiting = calloc(TB__TF_WAITING_MAX, sizeof *cover->waiting);
  if (!cover->topics || !cover->waiting) {
    tb__tf_cover_fini(cover);
    return TB_ERR_NO_MEMORY;
  }
  cover->topic_count = topic_count;
  return TB_OK;
}

void tb__tf_cover_fini(tb__tf_cover_t *cover)
{
  for (uint32_t i = 0; i < cover->edge_capacity; i++)
    free(cover->edges[i].wait);
  for (uint32_t i = 0; cover->topics && i < cover->topic_count; i++)
    free(cover->topics[i].wait);
  free(cover->edges);
  free(cover->topics);
  free(cover->waiting);
  tb__frames_fini(&cover->names);
  memset(cover, 0, sizeof *cover);
}

/* TB_ERR_LIMIT: there are too many. */
static tb_status_t find_name(tb__tf_cover_t *cover, const char *name, size_t length, uint32_t *out)
{
  if (length && *name == '/') {
    name++;
    length--;
  }
  tb_status_t status = tb__frames_find(&cover->names, 0, &cover->name_count, name, length, out);
  if (status || *out < cover->edge_capacity) return status;
  uint32_t capacity = cover->edge_capacity ? 2 * cover->edge_capacity : 32;
  tb__tf_edge_t *moved = realloc(cover->edges, capacity * sizeof *moved);
  if (!moved) return TB_ERR_NO_MEMORY;
  memset(moved + cover->edge_capacity, 0, (capacity - cover->edge_capacity) * sizeof *moved);
  cover->edges = moved;
  cover->edge_capacity = capacity;
  return TB_OK;
}

/* Whether it is in any transform; a root is, too. */
static bool is_known(tb__tf_cover_t *cover, const char *name, size_t length, uint32_t *out)
{
  uint32_t no_room = UINT32_MAX;
  bool is_rooted = length && *name == '/';
  return tb__frames_find(&cover->names, 0, &no_room, name + is_rooted, length - is_rooted, out) ==
         TB_OK;
}

/* Interpolation needs a transform at or before the stamp and one at or after it. */
static bool is_too_old(const tb__tf_edge_t *edge, int64_t stamp_ns)
{
  return stamp_ns < edge->oldest_ns || minus(edge->newest_ns, stamp_ns) > TB__TF_CACHE_NS;
}

typedef enum coverage {
  COVERED,
  AWAITED, /* *out is the child of the first edge that is not there yet */
  TOO_OLD,
  ROOTLESS, /* the edges are a loop */
} coverage_t;

static coverage_t coverage_of(const tb__tf_cover_t *cover, uint32_t frame, int64_t stamp_ns,
                              uint32_t *out)
{
  for (int depth = 0; cover->edges[frame].is_set; depth++) {
    const tb__tf_edge_t *edge = &cover->edges[frame];
    *out = frame;
    if (depth == TB__TF_DEPTH_MAX) return ROOTLESS;
    if (!edge->is_static && edge->count == 0) return AWAITED; /* cleared by a jump */
    if (!edge->is_static && stamp_ns > edge->newest_ns) return AWAITED;
    if (!edge->is_static && is_too_old(edge, stamp_ns)) return TOO_OLD;
    frame = edge->parent;
  }
  return COVERED;
}

/* --- messages that wait --- */

static void link_waiting(tb__tf_cover_t *cover, uint32_t number, uint32_t child)
{
  tb__tf_waiting_t *waiting = &cover->waiting[number - 1];
  tb__tf_edge_t *edge = &cover->edges[child];
  waiting->child = child;
  waiting->previous = 0;
  waiting->next = edge->first_waiting;
  if (waiting->next) cover->waiting[waiting->next - 1].previous = number;
  edge->first_waiting = number;
}

static void unlink_waiting(tb__tf_cover_t *cover, uint32_t number)
{
  tb__tf_waiting_t *waiting = &cover->waiting[number - 1];
  if (waiting->next) cover->waiting[waiting->next - 1].previous = waiting->previous;
  if (waiting->previous)
    cover->waiting[waiting->previous - 1].next = waiting->next;
  else
    cover->edges[waiting->child].first_waiting = waiting->next;
}

static tb_status_t note_wait(tb__spread_t **spread, int64_t wait_ns)
{
  if (!*spread) *spread = calloc(1, sizeof **spread);
  if (!*spread) return TB_ERR_NO_MEMORY;
  tb__spread_add(*spread, wait_ns);
  return TB_OK;
}

/* The transform that was the last one, or never came. */
static tb_status_t note_late(tb__tf_cover_t *cover, const tb__tf_waiting_t *waiting,
                             int64_t wait_ns, bool came)
{
  tb__tf_topic_t *topic = &cover->topics[waiting->topic];
  tb__tf_edge_t *edge = &cover->edges[waiting->child];
  ++*(came ? &edge->late : &edge->never);
  ++*(came ? &topic->waited : &topic->never);
  if (!edge->wait || wait_ns > edge->wait->moments.max_ns) edge->late_topic = waiting->topic;
  if (wait_ns > topic->worst_ns) {
    topic->worst_ns = wait_ns;
    topic->worst_edge = waiting->child;
  }
  tb_status_t status = note_wait(&edge->wait, wait_ns);
  tb_status_t other = came ? note_wait(&topic->wait, wait_ns) : TB_OK;
  return status ? status : other;
}

static void remove_waiting(tb__tf_cover_t *cover, uint32_t number)
{
  unlink_waiting(cover, number);
  cover->waiting[number - 1].is_used = 0;
}

/* The ring begins with one that still waits. */
static void trim(tb__tf_cover_t *cover)
{
  while (cover->waiting_count && !cover->waiting[cover->waiting_at].is_used) {
    cover->waiting_at = (cover->waiting_at + 1) % TB__TF_WAITING_MAX;
    cover->waiting_count--;
  }
}

static void drop_first(tb__tf_cover_t *cover)
{
  cover->topics[cover->waiting[cover->waiting_at].topic].dropped++;
  remove_waiting(cover, cover->waiting_at + 1);
  trim(cover);
}

static tb_status_t give_up(tb__tf_cover_t *cover, int64_t now_ns)
{
  tb_status_t status = TB_OK;
  for (trim(cover); cover->waiting_count; trim(cover)) {
    const tb__tf_waiting_t *first = &cover->waiting[cover->waiting_at];
    int64_t wait_ns = minus(now_ns, first->received_ns);
    if (wait_ns <= TB__TF_CACHE_NS) break;
    tb_status_t noted = note_late(cover, first, TB__TF_CACHE_NS, false);
    if (!status) status = noted;
    remove_waiting(cover, cover->waiting_at + 1);
  }
  return status;
}

static void wait_for(tb__tf_cover_t *cover, const tb__tf_waiting_t *waiting)
{
  if (cover->waiting_count == TB__TF_WAITING_MAX) drop_first(cover);
  uint32_t at = (cover->waiting_at + cover->waiting_count++) % TB__TF_WAITING_MAX;
  cover->waiting[at] = *waiting;
  cover->waiting[at].is_used = 1;
  link_waiting(cover, at + 1, waiting->child);
}

/* A transform of the edge came: what waited for it is answered, or waits for the next edge. */
static tb_status_t answer(tb__tf_cover_t *cover, uint32_t child, int64_t now_ns)
{
  tb_status_t status = TB_OK;
  for (uint32_t number = cover->edges[child].first_waiting, next; number; number = next) {
    tb__tf_waiting_t *waiting = &cover->waiting[number - 1];
    uint32_t missing;
    next = waiting->next;
    coverage_t coverage = coverage_of(cover, waiting->frame, waiting->stamp_ns, &missing);
    if (coverage == AWAITED && missing == child) continue;
    if (coverage == AWAITED) {
      unlink_waiting(cover, number);
      link_waiting(cover, number, missing);
      continue;
    }
    if (coverage == COVERED) {
      tb_status_t noted = note_late(cover, waiting, minus(now_ns, waiting->received_ns), true);
      if (!status) status = noted;
    } else {
      tb__tf_topic_t *topic = &cover->topics[waiting->topic];
      ++*(coverage == TOO_OLD ? &topic->too_old : &topic->unknown);
    }
    remove_waiting(cover, number);
  }
  trim(cover);
  return status;
}

/* --- transforms and messages --- */

static void note_publisher(tb__tf_edge_t *edge, uint64_t publisher)
{
  if (publisher == 0 || publisher == edge->publishers[0]) return;
  if (edge->publishers[0]) edge->handovers++;
  edge->publishers[1] = edge->publishers[0];
  edge->publishers[0] = publisher;
}

static bool is_to_itself(const tb__tf_transform_t *transform)
{
  bool is_parent_rooted = transform->parent_length && *transform->parent == '/';
  bool is_child_rooted = transform->child_length && *transform->child == '/';
  size_t length = transform->parent_length - is_parent_rooted;
  return length == transform->child_length - is_child_rooted &&
         memcmp(transform->parent + is_parent_rooted, transform->child + is_child_rooted, length) ==
             0;
}

tb_status_t tb__tf_cover_transform(tb__tf_cover_t *cover, const tb__tf_transform_t *transform)
{
  uint32_t parent, child;
  if (is_to_itself(transform)) return TB_OK;
  tb_status_t status = find_name(cover, transform->child, transform->child_length, &child);
  if (!status) status = find_name(cover, transform->parent, transform->parent_length, &parent);
  if (status) return status == TB_ERR_LIMIT ? TB_OK : status;
  if (parent == child) return TB_OK; /* long names are cut */
  status = give_up(cover, transform->received_ns);
  tb__tf_edge_t *edge = &cover->edges[child];
  edge->is_both |= edge->is_set && edge->is_static != transform->is_static;
  if (edge->is_set && edge->parent != parent) {
    edge->parent_changes++;
    edge->other_parent = edge->parent;
  }
  if (transform->is_static)
    edge->static_publisher = transform->publisher;
  else
    note_publisher(edge, transform->publisher);
  edge->is_set = true;
  edge->is_static = transform->is_static;
  edge->parent = parent;
  if (edge->count == 0 || transform->stamp_ns < edge->oldest_ns)
    edge->oldest_ns = transform->stamp_ns;
  if (edge->count == 0 || transform->stamp_ns > edge->newest_ns)
    edge->newest_ns = transform->stamp_ns;
  edge->count++;
  tb_status_t answered = answer(cover, child, transform->received_ns);
  return status ? status : answered;
}

tb_status_t tb__tf_cover_old_epoch(tb__tf_cover_t *cover, const tb__tf_transform_t *transform,
                                   int64_t ros_ns)
{
  uint32_t parent, child;
  if (is_to_itself(transform)) return TB_OK;
  tb_status_t status = find_name(cover, transform->child, transform->child_length, &child);
  if (!status) status = find_name(cover, transform->parent, transform->parent_length, &parent);
  if (status) return status == TB_ERR_LIMIT ? TB_OK : status;
  tb__tf_edge_t *edge = &cover->edges[child];
  if (!edge->is_set) edge->parent = parent;
  edge->is_set = true;
  if (edge->old_epoch++ == 0) {
    edge->old_stamp_ns = transform->stamp_ns;
    edge->old_at_ns = ros_ns;
  }
  edge->old_publisher = transform->publisher;
  return TB_OK;
}

tb_status_t tb__tf_cover_message(tb__tf_cover_t *cover, uint32_t topic, const char *frame,
                                 size_t length, int64_t stamp_ns, int64_t received_ns)
{
  tb__tf_waiting_t waiting = {.topic = topic, .stamp_ns = stamp_ns, .received_ns = received_ns};
  if (topic >= cover->topic_count || length == 0) return TB_OK;
  tb__tf_topic_t *counts = &cover->topics[topic];
  counts->messages++;
  tb_status_t status = give_up(cover, received_ns);
  if (status) return status;
  if (!is_known(cover, frame, length, &waiting.frame)) {
    counts->unknown++;
    return TB_OK;
  }
  switch (coverage_of(cover, waiting.frame, stamp_ns, &waiting.child)) {
  case COVERED:
    counts->covered++;
    break;
  case TOO_OLD:
    counts->too_old++;
    break;
  case ROOTLESS:
    counts->unknown++;
    break;
  case AWAITED:
    wait_for(cover, &waiting);
  }
  return TB_OK;
}

void tb__tf_cover_clear(tb__tf_cover_t *cover)
{
  tb__tf_cover_end(cover);
  for (uint32_t i = 0; i < cover->edge_capacity; i++)
    if (!cover->edges[i].is_static) cover->edges[i].count = 0;
}

void tb__tf_cover_end(tb__tf_cover_t *cover)
{
  for (trim(cover); cover->waiting_count; trim(cover))
    drop_first(cover);
}

/* How long it has waited, and will at least: until the edge has reached its stamp. */
static int64_t expected_wait(const tb__tf_cover_t *cover, const tb__tf_waiting_t *waiting,
                             int64_t now_ns)
{
  const tb__tf_edge_t *edge = &cover->edges[waiting->child];
  int64_t wait_ns = minus(now_ns, waiting->received_ns);
  int64_t ahead_ns = edge->count > 0 ? minus(waiting->stamp_ns, edge->newest_ns) : 0;
  if (ahead_ns <= 0) return wait_ns;
  return minus(wait_ns, -ahead_ns);
}

tb_status_t tb__tf_cover_cut(tb__tf_cover_t *cover, int64_t now_ns, int64_t patience_ns)
{
  tb_status_t status = TB_OK;
  for (trim(cover); cover->waiting_count; trim(cover)) {
    const tb__tf_waiting_t *first = &cover->waiting[cover->waiting_at];
    int64_t wait_ns = expected_wait(cover, first, now_ns);
    if (wait_ns <= patience_ns) {
      drop_first(cover);
      continue;
    }
    tb_status_t noted = note_late(cover, first, wait_ns, false);
    if (!status) status = noted;
    remove_waiting(cover, cover->waiting_at + 1);
  }
  return status;
}

void tb__tf_cover_restart(tb__tf_cover_t *cover)
{
  for (uint32_t i = 0; i < cover->topic_count; i++) {
    free(cover->topics[i].wait);
    cover->topics[i] = (tb__tf_topic_t){0};
  }
  for (uint32_t i = 0; i < cover->edge_capacity; i++) {
    tb__tf_edge_t *edge = &cover->edges[i];
    free(edge->wait);
    edge->wait = NULL;
    edge->parent_changes = edge->handovers = edge->late = edge->never = edge->old_epoch = 0;
  }
}

void tb__tf_cover_gone(tb__tf_cover_t *cover, uint64_t publisher)
{
  for (uint32_t i = 0; i < cover->edge_capacity; i++) {
    tb__tf_edge_t *edge = &cover->edges[i];
    if (edge->is_both && (edge->static_publisher == publisher || edge->publishers[0] == publisher))
      edge->is_both = false;
    /* The number may be another publisher's next. */
    for (int k = 0; k < 2; k++)
      if (edge->publishers[k] == publisher) edge->publishers[k] = 0;
    if (edge->static_publisher == publisher) edge->static_publisher = 0;
    if (edge->old_publisher == publisher) edge->old_publisher = 0;
  }
}

/* --- results --- */

const tb__tf_topic_t *tb__tf_cover_topic(const tb__tf_cover_t *cover, uint32_t topic)
{
  return topic < cover->topic_count ? &cover->topics[topic] : NULL;
}

const tb__tf_edge_t *tb__tf_cover_edge(const tb__tf_cover_t *cover, uint32_t child)
{
  return child < cover->edge_capacity && cover->edges[child].is_set ? &cover->edges[child] : NULL;
}

const char *tb__tf_cover_name(const tb__tf_cover_t *cover, uint32_t frame)
{
  return frame < cover->names.count ? cover->names.frames[frame].text : "";
}

bool tb__tf_edge_is_shared(const tb__tf_edge_t *edge)
{
  return edge->is_both || edge->parent_changes >= TURNS_OF_TWO || edge->handovers >= TURNS_OF_TWO;
}
