/* The ceilings of tb_bag_limits_t. */
#ifndef TB_STORAGE_LIMITS_H
#define TB_STORAGE_LIMITS_H

#include <timebase/bag_reader.h>

#define TB__BAG_CHUNK_SIZE    (UINT64_C(1) << 30)
#define TB__BAG_OVERLAP_SIZE  (UINT64_C(256) << 20)
#define TB__BAG_UNPACKED_SIZE (UINT64_C(64) << 30)
#define TB__BAG_FILE_COUNT    UINT64_C(10000)

/* `limits`, which may be NULL, with defaults in the place of zeros. */
tb_bag_limits_t tb__bag_limits(const tb_bag_limits_t *limits);

/* TB_ERR_INVALID. */
tb_status_t tb__bag_limits_check(const tb_bag_limits_t *limits, tb_error_t *error) TB_WARN_UNUSED;

#endif
