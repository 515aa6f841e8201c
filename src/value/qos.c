#include <timebase/qos.h>

static int64_t or_infinite(tb_duration_t duration)
{
  return duration.ns == 0 ? INT64_MAX : duration.ns;
}

static bool is_longer(tb_duration_t offered, tb_duration_t requested)
{
  return or_infinite(offered) > or_infinite(requested);
}

uint32_t tb_qos_mismatches(const tb_qos_t *offered, const tb_qos_t *requested)
{
  if (!offered || !requested) return 0;
  uint32_t mismatches = 0;
  if (requested->reliability == TB_QOS_RELIABLE && offered->reliability != TB_QOS_RELIABLE)
    mismatches |= TB_QOS_POLICY_RELIABILITY;
  if (requested->durability == TB_QOS_TRANSIENT_LOCAL &&
      offered->durability != TB_QOS_TRANSIENT_LOCAL)
    mismatches |= TB_QOS_POLICY_DURABILITY;
  if (is_longer(offered->deadline, requested->deadline)) mismatches |= TB_QOS_POLICY_DEADLINE;
  if (requested->liveliness == TB_QOS_LIVELINESS_MANUAL_BY_TOPIC &&
      offered->liveliness != TB_QOS_LIVELINESS_MANUAL_BY_TOPIC)
    mismatches |= TB_QOS_POLICY_LIVELINESS;
  if (is_longer(offered->liveliness_lease, requested->liveliness_lease))
    mismatches |= TB_QOS_POLICY_LIVELINESS_LEASE;
  return mismatches;
}

const char *tb_qos_policy_name(tb_qos_policy_t policy)
{
  switch (policy) {
  case TB_QOS_POLICY_RELIABILITY:
    return "reliability";
  case TB_QOS_POLICY_DURABILITY:
    return "durability";
  case TB_QOS_POLICY_DEADLINE:
    return "deadline";
  case TB_QOS_POLICY_LIVELINESS:
    return "liveliness";
  case TB_QOS_POLICY_LIVELINESS_LEASE:
    return "liveliness lease";
  case TB_QOS_POLICY_OWNERSHIP:
    return "ownership";
  case TB_QOS_POLICY_PARTITION:
    return "partition";
  case TB_QOS_POLICY_DATA_REPRESENTATION:
    return "data representation";
  case TB_QOS_POLICY_TYPE:
    return "type";
  }
  return NULL;
}
