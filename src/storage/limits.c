#include "storage/limits.h"
#include "base/sized.h"

static uint64_t or_default(uint64_t value, uint64_t other)
{
  return value ? value : other;
}

tb_bag_limits_t tb__bag_limits(const tb_bag_limits_t *limits)
{
  static const tb_bag_limits_t none;
  if (!limits) limits = &none;
  return (tb_bag_limits_t){
      .chunk_size = or_default(limits->chunk_size, TB__BAG_CHUNK_SIZE),
      .overlap_size = or_default(limits->overlap_size, TB__BAG_OVERLAP_SIZE),
      .unpacked_size = or_default(limits->unpacked_size, TB__BAG_UNPACKED_SIZE),
      .file_count = or_default(limits->file_count, TB__BAG_FILE_COUNT),
  };
}

tb_status_t tb__bag_limits_check(const tb_bag_limits_t *limits, tb_error_t *error)
{
  if (!TB__RESERVED_IS_0(limits)) return tb__sized_unsupported(error, "tb_bag_limits_t");
  if (limits->chunk_size <= UINT32_MAX) return TB_OK;
  return tb_error_set(error, TB_ERR_INVALID, "limits.chunk_size is %llu: at most %u",
                      (unsigned long long)limits->chunk_size, UINT32_MAX);
}
