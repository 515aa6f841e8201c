#include "contract_json.h"

static json_t *integer(uint64_t value)
{
  return json_integer((json_int_t)value);
}

json_t *contract_spread_json(const tb__spread_t *spread)
{
  json_t *out = json_object();
  json_put(out, "count", integer(spread->moments.count));
  json_put(out, "least_ns", json_integer(spread->moments.min_ns));
  json_put(out, "mean_ns", json_real(spread->moments.mean_ns));
  json_put(out, "deviation_ns", json_real(tb__moments_deviation(&spread->moments)));
  json_put(out, "p50_ns", json_integer(tb__spread_quantile(spread, 0.5)));
  json_put(out, "p99_ns", json_integer(tb__spread_quantile(spread, 0.99)));
  json_put(out, "greatest_ns", json_integer(spread->moments.max_ns));
  return out;
}

json_t *contract_tf_topic_json(const tb__tf_cover_t *cover, uint32_t topic)
{
  const tb__tf_topic_t *counts = tb__tf_cover_topic(cover, topic);
  if (!counts || counts->messages == 0) return NULL;
  json_t *out = json_object();
  json_put(out, "messages", integer(counts->messages));
  json_put(out, "at_once", integer(counts->covered));
  json_put(out, "later", integer(counts->waited));
  json_put(out, "never", integer(counts->never));
  json_put(out, "too_old", integer(counts->too_old));
  json_put(out, "no_transform", integer(counts->unknown));
  json_put(out, "not_followed", integer(counts->dropped));
  json_put(out, "wait", counts->wait ? contract_spread_json(counts->wait) : json_null());
  json_put(out, "last_child",
           counts->worst_ns > 0 ? text_json(tb__tf_cover_name(cover, counts->worst_edge))
                                : json_null());
  return out;
}

static json_t *edge_json(const tb__tf_cover_t *cover, uint32_t child, const tb__tf_edge_t *edge)
{
  json_t *out = json_object();
  json_put(out, "parent", text_json(tb__tf_cover_name(cover, edge->parent)));
  json_put(out, "child", text_json(tb__tf_cover_name(cover, child)));
  json_put(out, "static", json_boolean(edge->is_static));
  json_put(out, "late", integer(edge->late));
  json_put(out, "never", integer(edge->never));
  json_put(out, "old_epoch", integer(edge->old_epoch));
  json_put(out, "handovers", integer(edge->handovers));
  json_put(out, "parent_changes", integer(edge->parent_changes));
  json_put(out, "wait", edge->wait ? contract_spread_json(edge->wait) : json_null());
  return out;
}

json_t *contract_tf_edges_json(const tb__tf_cover_t *cover, contract_publisher_t publisher,
                               void *user)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < cover->name_count; i++) {
    const tb__tf_edge_t *edge = tb__tf_cover_edge(cover, i);
    if (!edge) continue;
    json_t *item = edge_json(cover, i, edge);
    if (publisher) {
      uint64_t id = edge->is_static ? edge->static_publisher : edge->publishers[0];
      const char *node = id ? publisher(user, id) : NULL;
      json_put(item, "publisher", node ? text_json(node) : json_null());
    }
    json_push(list, item);
  }
  return list;
}
