/* The topics of the player's screen: which are shown, and in which order. */
#ifndef TB_CLI_PLAY_TABLE_H
#define TB_CLI_PLAY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum play_sort {
  PLAY_SORT_RECORDED,
  PLAY_SORT_NAME,
  PLAY_SORT_HZ,
  PLAY_SORT_BYTES,
  PLAY_SORTS,
} play_sort_t;

/* A topic that is played. */
typedef struct play_topic {
  size_t topic; /* of the bag */
  char *name;   /* does no harm on a terminal */
  uint64_t recorded, sent;
  double hz, bytes_per_s; /* NAN: not known yet */
  int subscriptions;      /* -1: not known */
  bool is_muted;
} play_topic_t;

/* "", or ", by name" and so on. */
const char *play_sort_text(play_sort_t sort);

/* Indexes of the topics whose names contain `filter`, without regard to case; `out` has room for
 * all. Returns how many. */
size_t play_table_order(const play_topic_t *topics, size_t count, play_sort_t sort,
                        const char *filter, size_t *out);

/* "0", "512", "1.5k", "23M": bytes, in units of 1000. "-" for NAN. */
void play_table_bytes(double bytes, char *out, size_t size);

#endif
