/* How fast a recording is played: over the last seconds, from what the player has counted. */
#ifndef TB_CLI_PLAY_RATES_H
#define TB_CLI_PLAY_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAY_RATES_SAMPLES 21 /* 100 ms apart: two seconds */

typedef struct play_rates {
  size_t topic_count;
  int64_t now_ns[PLAY_RATES_SAMPLES], played_ns[PLAY_RATES_SAMPLES];
  uint64_t *sent; /* by sample, then by topic */
  size_t count;   /* samples that were taken */
} play_rates_t;

/* False: out of memory. */
bool play_rates_init(play_rates_t *rates, size_t topic_count);
void play_rates_fini(play_rates_t *rates);

/* The counts to fill now, by topic. NULL: it is too early for another sample.
 * `now_ns` is steady time, `played_ns` recorded time that has passed. */
uint64_t *play_rates_sample(play_rates_t *rates, int64_t now_ns, int64_t played_ns);

/* Recorded seconds per second, and messages per second. NAN: not known yet. */
double play_rates_achieved(const play_rates_t *rates);
double play_rates_topic(const play_rates_t *rates, size_t topic);

#endif
