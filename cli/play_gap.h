/* A long way to the next message. */
#ifndef TB_CLI_PLAY_GAP_H
#define TB_CLI_PLAY_GAP_H

#include <timebase/player.h>

#define PLAY_GAP_TEXT_SIZE 64

/* "next message in 1:02:03", at the present rate; "" where it is near, or is not waited for. */
const char *play_gap_text(const tb_player_status_t *status, char out[PLAY_GAP_TEXT_SIZE]);

/* Of a message that is more than an hour away, once: what comes, when, and how to skip what lies
 * between; to be freed. Else NULL. *reported_ns remembers it; 0 at first. */
char *play_gap_warning(const tb_player_status_t *status, const tb_bag_info_t *info,
                       int64_t *reported_ns);

#endif
