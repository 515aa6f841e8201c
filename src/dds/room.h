/* Checks that the limits of this process allow what Cyclone DDS needs: with less, Cyclone crashes
 * or ends the process. */
#ifndef TB_DDS_ROOM_H
#define TB_DDS_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>

/* TB_ERR_SYSTEM: descriptors; TB_ERR_NO_MEMORY: address space, for threads and buffers. */
TB_WARN_UNUSED tb_status_t tb__dds_room_for_domain(uint32_t id, bool has_others, tb_error_t *error);
/* For what threads of the domain, which is there already, may need meanwhile. */
TB_WARN_UNUSED tb_status_t tb__dds_room_to_join(uint32_t id, tb_error_t *error);
TB_WARN_UNUSED tb_status_t tb__dds_room_for_participant(uint32_t domain_id, bool secured,
                                                        tb_error_t *error);
TB_WARN_UNUSED tb_status_t tb__dds_room_for_endpoint(const char *topic, tb_error_t *error);

#endif
