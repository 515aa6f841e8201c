#include "dds/qos_map.h"
#include "base/no_memory.h"
#include "base/sized.h"
#include "dds/endpoint.h"

#include <string.h>

static tb_status_t invalid(tb_error_t *error, const char *policy, int64_t value)
{
  return tb_error_set(error, TB_ERR_INVALID, "QoS: %s has no valid value (%lld)", policy,
                      (long long)value);
}

static tb_status_t map_history(const tb_qos_t *qos, dds_qos_t *out, tb_error_t *error)
{
  bool keep_all = qos->history == TB_QOS_KEEP_ALL;
  bool is_unknown = qos->history == TB_QOS_HISTORY_UNKNOWN;
  if (!keep_all && !is_unknown && qos->history != TB_QOS_KEEP_LAST)
    return invalid(error, "history", qos->history);
  if (!keep_all && tb__qos_depth(qos) < 1) return invalid(error, "history depth", qos->depth);
  dds_history_kind_t kind = keep_all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST;
  int32_t depth = keep_all ? DDS_LENGTH_UNLIMITED : tb__qos_depth(qos);
  dds_qset_history(out, kind, depth);
  switch (qos->durability) {
  case TB_QOS_VOLATILE:
    dds_qset_durability(out, DDS_DURABILITY_VOLATILE);
    return TB_OK;
  case TB_QOS_TRANSIENT_LOCAL: /* what Cyclone keeps for late readers is set by durability_service
                                */
    dds_qset_durability(out, DDS_DURABILITY_TRANSIENT_LOCAL);
    dds_qset_durability_service(out, 0, kind, depth, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED,
                                DDS_LENGTH_UNLIMITED);
    return TB_OK;
  }
  return invalid(error, "durability", qos->durability);
}

static tb_status_t map_reliability(const tb_qos_t *qos, dds_qos_t *out, tb_error_t *error)
{
  switch (qos->reliability) {
  case TB_QOS_RELIABLE:
    dds_qset_reliability(out, DDS_RELIABILITY_RELIABLE, DDS_INFINITY);
    return TB_OK;
  case TB_QOS_BEST_EFFORT:
    dds_qset_reliability(out, DDS_RELIABILITY_BEST_EFFORT, 0);
    return TB_OK;
  }
  return invalid(error, "reliability", qos->reliability);
}

static dds_duration_t map_duration(tb_duration_t duration)
{
  return duration.ns == 0 ? DDS_INFINITY : duration.ns; /* INT64_MAX is infinity in both */
}

static tb_status_t map_durations(const tb_qos_t *qos, dds_qos_t *out, tb_error_t *error)
{
  if (qos->deadline.ns < 0) return invalid(error, "deadline", qos->deadline.ns);
  if (qos->lifespan.ns < 0) return invalid(error, "lifespan", qos->lifespan.ns);
  if (qos->liveliness_lease.ns < 0)
    return invalid(error, "liveliness lease", qos->liveliness_lease.ns);
  dds_qset_deadline(out, map_duration(qos->deadline));
  dds_qset_lifespan(out, map_duration(qos->lifespan));
  dds_duration_t lease = map_duration(qos->liveliness_lease);
  switch (qos->liveliness) {
  case TB_QOS_LIVELINESS_AUTOMATIC:
    dds_qset_liveliness(out, DDS_LIVELINESS_AUTOMATIC, lease);
    return TB_OK;
  case TB_QOS_LIVELINESS_MANUAL_BY_TOPIC:
    dds_qset_liveliness(out, DDS_LIVELINESS_MANUAL_BY_TOPIC, lease);
    return TB_OK;
  }
  return invalid(error, "liveliness", qos->liveliness);
}

tb_status_t tb__qos_to_dds(const tb_qos_t *qos, dds_qos_t **out, tb_error_t *error)
{
  if (!TB__RESERVED_IS_0(qos)) return tb__sized_unsupported(error, "tb_qos_t");
  dds_qos_t *mapped = dds_create_qos();
  if (!mapped) return tb__no_memory_for(error, "QoS");
  const dds_data_representation_id_t xcdr1 = DDS_DATA_REPRESENTATION_XCDR1;
  dds_qset_data_representation(mapped, 1, &xcdr1);
  dds_qset_writer_data_lifecycle(mapped, false);
  tb_status_t status = map_history(qos, mapped, error);
  if (!status) status = map_reliability(qos, mapped, error);
  if (!status) status = map_durations(qos, mapped, error);
  if (status) {
    dds_delete_qos(mapped);
    return status;
  }
  *out = mapped;
  return TB_OK;
}

/* "*" includes the default one. */
static bool has_partition(const dds_qos_t *qos)
{
  uint32_t count = 0;
  char **names = NULL;
  if (!dds_qget_partition(qos, &count, &names)) return false;
  bool has = count > 1 || (count == 1 && names[0][0] != '\0' && strcmp(names[0], "*") != 0);
  for (uint32_t i = 0; i < count; i++)
    dds_free(names[i]);
  dds_free(names);
  return has;
}

/* In DDS an empty list means XCDR1. */
static uint32_t representations(const dds_qos_t *qos)
{
  uint32_t count = 0, bits = 0;
  dds_data_representation_id_t *ids = NULL;
  if (dds_qget_data_representation(qos, &count, &ids)) {
    for (uint32_t i = 0; i < count; i++)
      bits |= ids[i] >= 0 && ids[i] < 32 ? UINT32_C(1) << ids[i] : 0;
    dds_free(ids);
  }
  return count ? bits : UINT32_C(1) << DDS_DATA_REPRESENTATION_XCDR1;
}

static void dds_qos_of(const dds_qos_t *qos, dds_durability_kind_t durability,
                       dds_liveliness_kind_t liveliness, tb_ros2_endpoint_dds_qos_t *out)
{
  dds_ownership_kind_t ownership = DDS_OWNERSHIP_SHARED;
  dds_qget_ownership(qos, &ownership);
  *out = (tb_ros2_endpoint_dds_qos_t){
      .durability = (uint8_t)durability,
      .liveliness = (uint8_t)liveliness,
      .exclusive_ownership = ownership == DDS_OWNERSHIP_EXCLUSIVE,
      .has_partition = has_partition(qos),
      .representations = representations(qos),
  };
}

void tb__qos_of_dds(const dds_qos_t *qos, tb_qos_t *out, tb_ros2_endpoint_dds_qos_t *out_dds)
{
  dds_reliability_kind_t reliability = DDS_RELIABILITY_BEST_EFFORT;
  dds_durability_kind_t durability = DDS_DURABILITY_VOLATILE;
  dds_history_kind_t history = DDS_HISTORY_KEEP_LAST;
  dds_liveliness_kind_t liveliness = DDS_LIVELINESS_AUTOMATIC;
  dds_duration_t blocking, deadline = DDS_INFINITY, lifespan = DDS_INFINITY, lease = DDS_INFINITY;
  int32_t depth = 1;
  dds_qget_reliability(qos, &reliability, &blocking);
  dds_qget_durability(qos, &durability);
  dds_qget_history(qos, &history, &depth);
  dds_qget_deadline(qos, &deadline);
  dds_qget_lifespan(qos, &lifespan);
  dds_qget_liveliness(qos, &liveliness, &lease);
  *out = (tb_qos_t){
      .reliability = reliability == DDS_RELIABILITY_RELIABLE ? TB_QOS_RELIABLE : TB_QOS_BEST_EFFORT,
      .durability =
          durability == DDS_DURABILITY_VOLATILE ? TB_QOS_VOLATILE : TB_QOS_TRANSIENT_LOCAL,
      .history = history == DDS_HISTORY_KEEP_ALL ? TB_QOS_KEEP_ALL : TB_QOS_KEEP_LAST,
      .depth = history == DDS_HISTORY_KEEP_ALL ? 0 : depth,
      .deadline = {deadline},
      .lifespan = {lifespan},
      .liveliness = liveliness == DDS_LIVELINESS_MANUAL_BY_TOPIC ? TB_QOS_LIVELINESS_MANUAL_BY_TOPIC
                                                                 : TB_QOS_LIVELINESS_AUTOMATIC,
      .liveliness_lease = {lease},
  };
  dds_qos_of(qos, durability, liveliness, out_dds);
}

const char *tb__qos_policy_name(uint32_t policy_id)
{
  switch (policy_id) {
  case DDS_INVALID_QOS_POLICY_ID:
    return "none";
  case DDS_DURABILITY_QOS_POLICY_ID:
    return "durability";
  case DDS_PRESENTATION_QOS_POLICY_ID:
    return "presentation";
  case DDS_DEADLINE_QOS_POLICY_ID:
    return "deadline";
  case DDS_LATENCYBUDGET_QOS_POLICY_ID:
    return "latency budget";
  case DDS_OWNERSHIP_QOS_POLICY_ID:
    return "ownership";
  case DDS_LIVELINESS_QOS_POLICY_ID:
    return "liveliness";
  case DDS_PARTITION_QOS_POLICY_ID:
    return "partition";
  case DDS_RELIABILITY_QOS_POLICY_ID:
    return "reliability";
  case DDS_DESTINATIONORDER_QOS_POLICY_ID:
    return "destination order";
  case DDS_DATA_REPRESENTATION_QOS_POLICY_ID:
    return "data representation";
  case DDS_TYPE_CONSISTENCY_ENFORCEMENT_QOS_POLICY_ID:
    return "type consistency";
  default:
    return "other";
  }
}
