#include "dds/qos_map.h"

static tb_status_t invalid(tb_error_t *error, const char *policy, int64_t value)
{
  return tb_error_set(error, TB_ERR_INVALID, "QoS: %s has no valid value (%lld)", policy,
                      (long long)value);
}

static tb_status_t map_history(const tb_qos_t *qos, dds_qos_t *out, tb_error_t *error)
{
  bool keep_all = qos->history == TB_QOS_KEEP_ALL;
  if (!keep_all && qos->history != TB_QOS_KEEP_LAST) return invalid(error, "history", qos->history);
  if (!keep_all && qos->depth < 1) return invalid(error, "history depth", qos->depth);
  dds_history_kind_t kind = keep_all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST;
  int32_t depth = keep_all ? DDS_LENGTH_UNLIMITED : qos->depth;
  dds_qset_history(out, kind, depth);
  switch (qos->durability) {
  case TB_QOS_VOLATILE:
    dds_qset_durability(out, DDS_DURABILITY_VOLATILE);
    return TB_OK;
  case TB_QOS_TRANSIENT_LOCAL: /* Cyclone keeps for late readers what durability_service says */
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
  return duration.ns == 0 ? DDS_INFINITY : duration.ns; /* INT64_MAX is infinity to both */
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
  dds_qos_t *mapped = dds_create_qos();
  if (!mapped) return tb_error_set(error, TB_ERR_NO_MEMORY, "QoS: out of memory");
  const dds_data_representation_id_t xcdr1 = DDS_DATA_REPRESENTATION_XCDR1;
  dds_qset_data_representation(mapped, 1, &xcdr1);
  dds_qset_writer_data_lifecycle(mapped, false);
  tb_status_t status = map_history(qos, mapped, error);
  if (status == TB_OK) status = map_reliability(qos, mapped, error);
  if (status == TB_OK) status = map_durations(qos, mapped, error);
  if (status != TB_OK) {
    dds_delete_qos(mapped);
    return status;
  }
  *out = mapped;
  return TB_OK;
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
