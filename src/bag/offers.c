#include "bag/offers.h"
#include "base/no_memory.h"

#include <stdlib.h>
#include <string.h>

/* Words of rmw/qos_string_conversions.h; the index is the number in rmw/types.h. */
static const char *const history_words[] = {"system_default", "keep_last", "keep_all", "unknown",
                                            NULL};
static const char *const reliability_words[] = {"system_default", "reliable",       "best_effort",
                                                "unknown",        "best_available", NULL};
static const char *const durability_words[] = {"system_default", "transient_local", "volatile",
                                               "unknown",        "best_available",  NULL};
static const char *const liveliness_words[] = {
    "system_default", "automatic", "manual_by_node", "manual_by_topic", "unknown",
    "best_available", NULL};

static tb_status_t bad_value(const tb__yaml_node_t *node, tb_error_t *error)
{
  const char *text = tb__yaml_text(node);
  return tb_error_set(error, TB_ERR_CORRUPT, "offered QoS, line %zu: bad value \"%.40s\" of %.40s",
                      node->line, text ? text : "(not a string)", node->key ? node->key : "?");
}

static tb_status_t read_policy(const tb__yaml_node_t *offer, const char *key,
                               const char *const *words, int64_t *out, tb_error_t *error)
{
  const tb__yaml_node_t *node = tb__yaml_find(offer, key);
  if (!node) return TB_OK;
  int64_t number = 0;
  if (tb__yaml_to_int64(node, &number)) {
    *out = number;
    return TB_OK;
  }
  const char *text = tb__yaml_text(node);
  for (int i = 0; text && words[i]; i++) {
    if (strcmp(text, words[i]) == 0) {
      *out = i;
      return TB_OK;
    }
  }
  return bad_value(node, error);
}

/* Before RMW_DURATION_INFINITE, each middleware wrote its own largest value. */
static int64_t duration_ns(uint64_t sec, uint64_t nsec)
{
  if (sec == INT32_MAX && (nsec == UINT32_MAX || nsec == INT32_MAX)) return INT64_MAX;
  uint64_t ns = 0;
  if (__builtin_mul_overflow(sec, (uint64_t)TB_NS_PER_S, &ns) ||
      __builtin_add_overflow(ns, nsec, &ns) || ns > INT64_MAX)
    return INT64_MAX;
  return (int64_t)ns;
}

static tb_status_t read_duration(const tb__yaml_node_t *offer, const char *key, int64_t *out,
                                 tb_error_t *error)
{
  const tb__yaml_node_t *node = tb__yaml_find(offer, key);
  if (!node) return TB_OK;
  uint64_t sec = 0;
  uint64_t nsec = 0;
  if (!tb__yaml_to_uint64(tb__yaml_find(node, "sec"), &sec) ||
      !tb__yaml_to_uint64(tb__yaml_find(node, "nsec"), &nsec))
    return bad_value(node, error);
  *out = duration_ns(sec, nsec);
  return TB_OK;
}

/* Not needed for reading: what is no number is none. */
static int64_t read_depth(const tb__yaml_node_t *offer)
{
  int64_t depth = 0;
  tb__yaml_to_int64(tb__yaml_find(offer, "depth"), &depth);
  return depth < 0 ? 0 : depth;
}

static tb_status_t read_flag(const tb__yaml_node_t *offer, const char *key, bool *out,
                             tb_error_t *error)
{
  const tb__yaml_node_t *node = tb__yaml_find(offer, key);
  if (!node) return TB_OK;
  const char *text = tb__yaml_text(node);
  if (!text || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
    return bad_value(node, error);
  *out = *text == 't';
  return TB_OK;
}

tb_status_t tb__qos_offer_read(const tb__yaml_node_t *node, tb__qos_offer_t *out, tb_error_t *error)
{
  if (node->kind != TB__YAML_MAPPING)
    return tb_error_set(error, TB_ERR_CORRUPT, "offered QoS, line %zu: not a mapping", node->line);
  tb_status_t status = read_policy(node, "history", history_words, &out->history, error);
  out->depth = read_depth(node);
  if (!status)
    status = read_policy(node, "reliability", reliability_words, &out->reliability, error);
  if (!status) status = read_policy(node, "durability", durability_words, &out->durability, error);
  if (!status) status = read_policy(node, "liveliness", liveliness_words, &out->liveliness, error);
  if (!status) status = read_duration(node, "deadline", &out->deadline_ns, error);
  if (!status) status = read_duration(node, "lifespan", &out->lifespan_ns, error);
  if (!status) status = read_duration(node, "liveliness_lease_duration", &out->lease_ns, error);
  if (!status)
    status = read_flag(node, "avoid_ros_namespace_conventions",
                       &out->avoid_ros_namespace_conventions, error);
  return status;
}

static tb_status_t read_sequence(const tb__yaml_node_t *node, tb__qos_offers_t *out,
                                 tb_error_t *error)
{
  size_t count = 0;
  for (const tb__yaml_node_t *item = node->first; item; item = item->next)
    count++;
  tb__qos_offers_t offers = {calloc(count ? count : 1, sizeof *offers.items), count};
  if (!offers.items) return tb__no_memory(error);
  tb_status_t status = TB_OK;
  size_t i = 0;
  for (const tb__yaml_node_t *item = node->first; item && !status; item = item->next)
    status = tb__qos_offer_read(item, &offers.items[i++], error);
  if (status)
    tb__qos_offers_fini(&offers);
  else
    *out = offers;
  return status;
}

tb_status_t tb__qos_offers_parse(const char *text, tb__qos_offers_t *out, tb_error_t *error)
{
  tb__yaml_t yaml = {0};
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__bag_yaml_parse(text, strlen(text), &yaml, &detail);
  if (status) return tb_error_set(error, status, "offered QoS, %s", detail.text);
  if (tb__yaml_is_null(yaml.root))
    *out = (tb__qos_offers_t){0};
  else if (yaml.root->kind == TB__YAML_SEQUENCE)
    status = read_sequence(yaml.root, out, error);
  else
    status = tb_error_set(error, TB_ERR_CORRUPT, "offered QoS: not a list of profiles");
  tb__yaml_fini(&yaml);
  return status;
}

tb_status_t tb__qos_offers_from_node(const tb__yaml_node_t *node, tb__qos_offers_t *out,
                                     tb_error_t *error)
{
  if (tb__yaml_is_null(node)) {
    *out = (tb__qos_offers_t){0};
    return TB_OK;
  }
  if (node->kind == TB__YAML_SCALAR) return tb__qos_offers_parse(node->text, out, error);
  if (node->kind == TB__YAML_SEQUENCE) return read_sequence(node, out, error);
  return tb_error_set(error, TB_ERR_CORRUPT, "offered QoS, line %zu: not a list", node->line);
}

void tb__qos_offers_fini(tb__qos_offers_t *offers)
{
  free(offers->items);
  *offers = (tb__qos_offers_t){0};
}

static void put_policy(tb__yaml_writer_t *writer, const char *key, const char *const *words,
                       int64_t number)
{
  const char *word = "unknown";
  for (int64_t i = 0; words[i] && i <= number; i++)
    if (i == number) word = words[i];
  tb__yaml_pair(writer, key, word);
}

static void put_duration(tb__yaml_writer_t *writer, const char *key, int64_t ns)
{
  tb__yaml_put_text(writer, key);
  tb__yaml_open_map(writer);
  tb__yaml_pair_int(writer, "sec", ns / TB_NS_PER_S);
  tb__yaml_pair_int(writer, "nsec", ns % TB_NS_PER_S);
  tb__yaml_close_map(writer);
}

static void put_offer(tb__yaml_writer_t *writer, const tb__qos_offer_t *offer)
{
  tb__yaml_open_map(writer);
  put_policy(writer, "history", history_words, offer->history);
  tb__yaml_pair_int(writer, "depth", offer->depth);
  put_policy(writer, "reliability", reliability_words, offer->reliability);
  put_policy(writer, "durability", durability_words, offer->durability);
  put_duration(writer, "deadline", offer->deadline_ns);
  put_duration(writer, "lifespan", offer->lifespan_ns);
  put_policy(writer, "liveliness", liveliness_words, offer->liveliness);
  put_duration(writer, "liveliness_lease_duration", offer->lease_ns);
  tb__yaml_put_text(writer, "avoid_ros_namespace_conventions");
  tb__yaml_put_bool(writer, offer->avoid_ros_namespace_conventions);
  tb__yaml_close_map(writer);
}

void tb__qos_offers_put(const tb__qos_offers_t *offers, tb__yaml_writer_t *writer)
{
  tb__yaml_open_list(writer);
  for (size_t i = 0; i < offers->count; i++)
    put_offer(writer, &offers->items[i]);
  tb__yaml_close_list(writer);
}

tb_status_t tb__qos_offers_text(const tb__qos_offers_t *offers, char **out, tb_error_t *error)
{
  if (offers->count == 0) {
    char *empty = strdup("");
    if (!empty) return tb__no_memory(error);
    *out = empty;
    return TB_OK;
  }
  tb__yaml_writer_t *writer = NULL;
  tb_status_t status = tb__yaml_writer_create(&writer, error);
  if (status) return status;
  tb__qos_offers_put(offers, writer);
  return tb__yaml_writer_finish(writer, out, error);
}

/* History and lifespan are the publisher's own business and do not decide about matching. */
static bool match_alike(const tb__qos_offer_t *a, const tb__qos_offer_t *b)
{
  return a->reliability == b->reliability && a->durability == b->durability &&
         a->deadline_ns == b->deadline_ns && a->liveliness == b->liveliness &&
         a->lease_ns == b->lease_ns;
}

static tb_duration_t or_infinite(int64_t ns)
{
  return (tb_duration_t){ns ? ns : INT64_MAX};
}

tb_bag_qos_origin_t tb__qos_offers_adapt(const tb__qos_offers_t *offers, tb_qos_t *out)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  *out = qos;
  if (offers->count == 0) return TB_BAG_QOS_DEFAULT;
  const tb__qos_offer_t *offer = &offers->items[0];
  for (size_t i = 1; i < offers->count; i++)
    if (!match_alike(offer, &offers->items[i])) return TB_BAG_QOS_MIXED;
  if (offer->reliability == TB_QOS_BEST_EFFORT) qos.reliability = TB_QOS_BEST_EFFORT;
  if (offer->durability == TB_QOS_TRANSIENT_LOCAL) qos.durability = TB_QOS_TRANSIENT_LOCAL;
  if (offer->liveliness == TB_QOS_LIVELINESS_MANUAL_BY_TOPIC)
    qos.liveliness = TB_QOS_LIVELINESS_MANUAL_BY_TOPIC;
  qos.deadline = or_infinite(offer->deadline_ns);
  qos.lifespan = or_infinite(offer->lifespan_ns);
  qos.liveliness_lease = or_infinite(offer->lease_ns);
  qos.avoid_ros_namespace_conventions = offer->avoid_ros_namespace_conventions;
  *out = qos;
  return TB_BAG_QOS_RECORDED;
}

#define KEPT_MAX 1000 /* each one is sought by players */

uint64_t tb__qos_offers_kept(const tb__qos_offers_t *offers)
{
  uint64_t kept = 0;
  for (size_t i = 0; i < offers->count && kept < KEPT_MAX; i++) {
    const tb__qos_offer_t *offer = &offers->items[i];
    bool all = offer->history == TB__QOS_OFFER_KEEP_ALL || offer->depth > KEPT_MAX;
    kept += all ? KEPT_MAX : offer->depth > 0 ? (uint64_t)offer->depth : 1;
  }
  if (kept > KEPT_MAX) kept = KEPT_MAX;
  return kept ? kept : 1;
}
