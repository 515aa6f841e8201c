/* The QoS that publishers offered while a bag was recorded, and what a player offers for it. */
#ifndef TB_BAG_OFFERS_H
#define TB_BAG_OFFERS_H

#include <timebase/bag_reader.h>

#include "bag/bag_yaml.h"
#include "bag/yaml_writer.h"
#include "base/private_api.h"

/* Policies as numbers of rmw/types.h, 0 being "system default"; durations in ns, 0 being
 * "unspecified" and INT64_MAX infinite. */
typedef struct tb__qos_offer {
  int64_t history;
  int64_t depth;
  int64_t reliability;
  int64_t durability;
  int64_t liveliness;
  int64_t deadline_ns;
  int64_t lifespan_ns;
  int64_t lease_ns;
  bool avoid_ros_namespace_conventions;
} tb__qos_offer_t;

#define TB__QOS_OFFER_KEEP_ALL 2 /* history */

typedef struct tb__qos_offers {
  tb__qos_offer_t *items;
  size_t count;
} tb__qos_offers_t;

/* A mapping of policies; *out holds what is not in it. */
tb_status_t tb__qos_offer_read(const tb__yaml_node_t *node, tb__qos_offer_t *out,
                               tb_error_t *error) TB_WARN_UNUSED;

/* Text of a topics row (sequence of maps, or empty), or a node of metadata.yaml: text in it before
 * version 9, a sequence since. Numbers and words are accepted in every version. */
tb_status_t tb__qos_offers_parse(const char *text, tb__qos_offers_t *out,
                                 tb_error_t *error) TB_WARN_UNUSED;
tb_status_t tb__qos_offers_from_node(const tb__yaml_node_t *node, tb__qos_offers_t *out,
                                     tb_error_t *error) TB_WARN_UNUSED;
void tb__qos_offers_fini(tb__qos_offers_t *offers);

/* A list of profiles in the words of version 9; infinite durations as RMW_DURATION_INFINITE. */
void tb__qos_offers_put(const tb__qos_offers_t *offers, tb__yaml_writer_t *writer);
/* That list as a text to be freed; "" for none. */
TB_PRIVATE_API tb_status_t tb__qos_offers_text(const tb__qos_offers_t *offers, char **out,
                                               tb_error_t *error) TB_WARN_UNUSED;

/* Messages that publishers with these keep for late subscriptions, 1 to 1000: which message is of
 * which publisher is not recorded, and the depth is not known to most recorders. */
uint64_t tb__qos_offers_kept(const tb__qos_offers_t *offers);

/* rosbag2_storage::Rosbag2QoS::adapt_offer_to_recorded_offers: the offer if all agree in the
 * policies that decide about matching, with default history; otherwise the default. */
tb_bag_qos_origin_t tb__qos_offers_adapt(const tb__qos_offers_t *offers, tb_qos_t *out);

#endif
