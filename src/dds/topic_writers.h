/* The writers of a topic in the whole domain, matched or not. */
#ifndef TB_DDS_TOPIC_WRITERS_H
#define TB_DDS_TOPIC_WRITERS_H

#include <stdint.h>
#include <timebase/status.h>

#include "dds/participant.h"

typedef struct tb__topic_writers tb__topic_writers_t;

/* `topic` and `type` are DDS names, and must outlive it. `changed` is called on a thread of DDS
 * when any writer of the domain appears or goes, and must not call DDS. TB_ERR_NO_MEMORY. */
tb_status_t tb__topic_writers_create(tb__participant_t *participant, const char *topic,
                                     const char *type, void (*changed)(void *user), void *user,
                                     tb__topic_writers_t **out);
/* Accepts NULL. Waits for a running `changed`. */
void tb__topic_writers_destroy(tb__topic_writers_t *writers);

/* How many there are now. One thread at a time, not one of DDS. */
uint32_t tb__topic_writers_count(tb__topic_writers_t *writers);

#endif
