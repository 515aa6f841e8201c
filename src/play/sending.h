/* What has been sent to the transport. */
#ifndef TB_PLAY_SENDING_H
#define TB_PLAY_SENDING_H

#include <stddef.h>
#include <stdint.h>

#include "play/feed.h"

/* Owned by the thread that plays. */
typedef struct tb__sending {
  tb__rejects_t rejects; /* messages that could not be sent */
  size_t file;           /* of the last message; SIZE_MAX after a jump */
  int64_t sent_ns;       /* time of the last message since the last jump; 0: none */
} tb__sending_t;

/* The next message is the first one, or the first after a jump. */
static inline void tb__sending_restart(tb__sending_t *sending)
{
  sending->file = SIZE_MAX;
  sending->sent_ns = 0;
}

#endif
