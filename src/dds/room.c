#include "dds/room.h"

#include <errno.h>
#include <stdio.h>

#include "platform/headroom.h"

#define MIB ((size_t)1 << 20)

/* Measured with 0.10.2. A domain: 5 to 8 descriptors and 5 to 7 threads, depending on its settings,
 * and 2 to 4 MiB. The C library reserves 64 MiB for the allocations of the first thread, before the
 * other threads have their stacks. Security needs one more thread, and maps its plugins. */
#define DOMAIN_DESCRIPTORS      16
#define DOMAIN_THREADS          8
#define DOMAIN_BYTES            (72 * MIB)
#define PARTICIPANT_DESCRIPTORS 4
#define PARTICIPANT_BYTES       (2 * MIB)
#define SECURITY_DESCRIPTORS    8
#define SECURITY_THREADS        2
#define SECURITY_BYTES          (16 * MIB)
#define ENDPOINT_BYTES          MIB
/* Threads of domains that are there already may allocate for the first time meanwhile, for which
 * the C library reserves 64 MiB each. Cyclone DDS aborts if one of them gets nothing then. */
#define OTHERS_BYTES (128 * MIB)

typedef struct need {
  unsigned descriptors;
  size_t bytes;
} need_t;

static tb_status_t room_check(const char *what, need_t need, tb_error_t *error)
{
  unsigned got = tb__headroom_descriptors(need.descriptors);
  if (got < need.descriptors) {
    return tb_error_set_errno(error, TB_ERR_SYSTEM, errno,
                              "%s: Cyclone DDS needs %u free descriptors, but this process may "
                              "open only %u more; close some, or raise the limit (ulimit -n)",
                              what, need.descriptors, got);
  }
  if (!tb__headroom_memory(need.bytes))
    return tb_error_set(error, TB_ERR_NO_MEMORY,
                        "%s: Cyclone DDS needs %zu MiB of address space for threads and buffers, "
                        "which the limits of this process do not allow; raise them (ulimit -v, "
                        "ulimit -d), or reduce the stack size of threads (ulimit -s)",
                        what, need.bytes / MIB);
  return TB_OK;
}

tb_status_t tb__dds_room_for_domain(uint32_t id, bool has_others, tb_error_t *error)
{
  char what[32];
  snprintf(what, sizeof what, "DDS domain %u", (unsigned)id);
  need_t need = {DOMAIN_DESCRIPTORS, DOMAIN_THREADS * tb__headroom_of_thread() + DOMAIN_BYTES};
  if (has_others) need.bytes += OTHERS_BYTES;
  return room_check(what, need, error);
}

tb_status_t tb__dds_room_to_join(uint32_t id, tb_error_t *error)
{
  char what[48];
  snprintf(what, sizeof what, "another participant in DDS domain %u", (unsigned)id);
  return room_check(what, (need_t){0, OTHERS_BYTES}, error);
}

tb_status_t tb__dds_room_for_participant(uint32_t domain_id, bool secured, tb_error_t *error)
{
  char what[48];
  snprintf(what, sizeof what, "DDS participant in domain %u", (unsigned)domain_id);
  need_t need = {PARTICIPANT_DESCRIPTORS, PARTICIPANT_BYTES};
  if (secured) {
    need.descriptors += SECURITY_DESCRIPTORS;
    need.bytes += SECURITY_THREADS * tb__headroom_of_thread() + SECURITY_BYTES;
  }
  return room_check(what, need, error);
}

tb_status_t tb__dds_room_for_endpoint(const char *topic, tb_error_t *error)
{
  return room_check(topic, (need_t){0, ENDPOINT_BYTES}, error);
}
