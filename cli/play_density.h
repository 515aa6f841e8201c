/* When the messages of each topic are: numbers of messages in a fixed number of equal parts of the
 * recording, read beside the player. */
#ifndef TB_CLI_PLAY_DENSITY_H
#define TB_CLI_PLAY_DENSITY_H

#include <pthread.h>
#include <stdatomic.h>
#include <timebase/bag_reader.h>

#define PLAY_DENSITY_BINS 240

typedef struct play_density {
  bool is_open;
  int64_t start_ns, end_ns;
  size_t topic_count;
  _Atomic uint32_t *counts; /* by topic of the recording, then by part */
  atomic_size_t known;      /* parts of which all is counted */
  tb_bag_reader_options_t options;
  const char *const *paths;
  size_t path_count;
  const tb_bag_info_t *info; /* of the player's reader; its names are those of ours */
  pthread_t thread;
  atomic_bool ends;
} play_density_t;

/* `size`: of its files, in bytes. Starts to count, unless the recording is too large, damaged, or
 * has to be unpacked for it. `paths` and `info` outlive it. */
void play_density_begin(play_density_t *density, const char *const *paths, size_t path_count,
                        const tb_bag_reader_options_t *options, const tb_bag_info_t *info,
                        uint64_t size);
/* May be called on zeroes, and twice. */
void play_density_end(play_density_t *density);

/* The parts of a topic; returns how many of them are known. */
size_t play_density_take(const play_density_t *density, size_t topic,
                         uint32_t out[PLAY_DENSITY_BINS]);

/* As a row of `width` columns in UTF-8: blocks as high as there are messages, "·" where there are
 * none, spaces where it is not known; `head` is the column of the current time, or -1. */
void play_density_text(const uint32_t *bins, size_t count, size_t known, int width, int head,
                       char *out, size_t size);

#endif
