/* What a writer sends again to readers of Fast DDS.
 *
 * A writer keeps a sample until each of its readers has acknowledged it, one that was killed until
 * its lease ends. To readers of its own kind Cyclone DDS sends again what was written since they
 * were matched, and declares the rest as gone, as volatile durability demands. Readers of others
 * get all that is there: a server that is started again got requests that had ended. Cyclone asks a
 * function of the reader before it sends a sample again; here is that function. */
#ifndef TB_DDS_RESEND_H
#define TB_DDS_RESEND_H

#include <stdbool.h>
#include <stdint.h>

struct ddsi_sertype;

typedef enum tb__resend {
  TB__RESEND_ALL, /* what Cyclone DDS does by itself */
  TB__RESEND_SINCE_MATCH,
  TB__RESEND_NOTHING,
} tb__resend_t;

/* Whether a sample with this number is sent again to a reader that has acknowledged all up to
 * `acknowledged`: what was written before a reader was matched counts as acknowledged. `number` is
 * the sample's RTPS sequence number; 0: unknown. Pure. */
bool tb__resend_is_due(tb__resend_t resend, int64_t number, int64_t acknowledged);

/* [any thread, also of DDS in the callback that reports a match; not under a lock of DDS] To be
 * called after each match of a writer whose samples are not TB__RESEND_ALL, and once when it has
 * been created; the library must stay loaded (stay_loaded.h). Where a reader has the function of
 * another copy of the library, ours is put before it; where it has a third one, that stays. */
void tb__resend_limit(int32_t writer, const struct ddsi_sertype *type);

#endif
