#include "play_density.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#define SIZE_MAX_READ (UINT64_C(4) << 30) /* more would take the disk from the player for long */
#define WORK_NS       (5 * TB_NS_PER_MS)
#define REST_MS       15
#define BATCH         64 /* messages between two looks at the clock */

/* --- as text --- */

/* In a part that the column covers, on average: columns may cover different numbers of them. */
static double density_of(const uint32_t *bins, size_t count, int column, int width)
{
  size_t from = count * (size_t)column / (size_t)width;
  size_t to = count * ((size_t)column + 1) / (size_t)width;
  double sum = bins[from];
  for (size_t i = from + 1; i < to; i++)
    sum += bins[i];
  return to > from ? sum / (double)(to - from) : sum;
}

void play_density_text(const uint32_t *bins, size_t count, size_t known, int width, int head,
                       char *out, size_t size)
{
  static const char *const levels[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double most = 0;
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; i < width; i++)
    most = fmax(most, density_of(bins, count, i, width));
  for (int i = 0; i < width; i++) {
    double density = density_of(bins, count, i, width);
    bool is_known = density > 0 || count * (size_t)i / (size_t)width < known;
    size_t level = density > 0 ? (size_t)ceil(8 * density / most - 1e-9) : 0;
    const char *text = i == head ? "|" : is_known ? levels[level] : " ";
    if (used + strlen(text) >= size) return;
    used += (size_t)snprintf(out + used, size - used, "%s", text);
  }
}

/* --- counting --- */

static size_t bin_of(const play_density_t *density, int64_t time_ns)
{
  double length = (double)(density->end_ns - density->start_ns) + 1;
  double part = (double)(time_ns - density->start_ns) / length;
  if (part <= 0) return 0;
  size_t bin = (size_t)(part * PLAY_DENSITY_BINS);
  return bin < PLAY_DENSITY_BINS ? bin : PLAY_DENSITY_BINS - 1;
}

static void count_message(play_density_t *density, const size_t *topics,
                          const tb_bag_message_t *message)
{
  size_t topic = topics[message->topic], bin = bin_of(density, message->log_time_ns);
  if (topic < density->topic_count)
    atomic_fetch_add_explicit(&density->counts[topic * PLAY_DENSITY_BINS + bin], 1,
                              memory_order_relaxed);
  atomic_store_explicit(&density->known, bin, memory_order_relaxed);
}

/* A quarter of a processor at most. */
static void read_all(play_density_t *density, tb_bag_reader_t *reader, const size_t *topics)
{
  tb_bag_message_t message;
  int64_t began_ns = command_steady_ns();
  for (uint64_t count = 1; !atomic_load(&density->ends); count++) {
    tb_status_t status = tb_bag_reader_next(reader, &message, NULL);
    if (status == TB_ERR_END) {
      atomic_store(&density->known, PLAY_DENSITY_BINS);
      return;
    }
    if (!status) count_message(density, topics, &message);
    if (count % BATCH || command_steady_ns() - began_ns < WORK_NS) continue;
    poll(NULL, 0, REST_MS);
    began_ns = command_steady_ns();
  }
}

/* To be freed: the topics of the player's reader by those of ours. NULL: out of memory. */
static size_t *match_topics(const play_density_t *density, const tb_bag_info_t *info)
{
  size_t *topics = calloc(info->topic_count + 1, sizeof *topics);
  for (size_t i = 0; topics && i < info->topic_count; i++)
    for (topics[i] = 0; topics[i] < density->topic_count; topics[i]++)
      if (strcmp(density->info->topics[topics[i]].name, info->topics[i].name) == 0) break;
  return topics;
}

static void *run(void *user)
{
  play_density_t *density = user;
  tb_bag_reader_t *reader = NULL;
  if (tb_bag_reader_open_many(density->paths, density->path_count, &density->options, &reader,
                              NULL))
    return NULL;
  size_t *topics = match_topics(density, tb_bag_reader_info(reader));
  if (topics) read_all(density, reader, topics);
  free(topics);
  tb_bag_reader_close(reader);
  return NULL;
}

/* --- begin and end --- */

static bool is_cheap(const tb_bag_info_t *info)
{
  return !info->damage && info->unclosed_count == 0 && info->oddity_count == 0 &&
         info->compression != TB_BAG_COMPRESSION_FILES && info->message_count > 0;
}

static bool start_thread(play_density_t *density)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(&density->thread, NULL, run, density) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

void play_density_begin(play_density_t *density, const char *const *paths, size_t path_count,
                        const tb_bag_reader_options_t *options, const tb_bag_info_t *info,
                        uint64_t size)
{
  *density = (play_density_t){.start_ns = info->start_ns,
                              .end_ns = info->end_ns,
                              .topic_count = info->topic_count,
                              .options = *options,
                              .paths = paths,
                              .path_count = path_count,
                              .info = info};
  density->options.content = TB_BAG_CONTENT_TIMES;
  density->counts = calloc((info->topic_count + 1) * PLAY_DENSITY_BINS, sizeof *density->counts);
  if (!density->counts || size > SIZE_MAX_READ || !is_cheap(info)) return;
  (void)command_steady_ns(); /* its clock is made before there are threads */
  density->is_open = start_thread(density);
}

void play_density_end(play_density_t *density)
{
  if (density->is_open) {
    atomic_store(&density->ends, true);
    pthread_join(density->thread, NULL);
  }
  free((void *)density->counts);
  *density = (play_density_t){0};
}

size_t play_density_take(const play_density_t *density, size_t topic,
                         uint32_t out[PLAY_DENSITY_BINS])
{
  memset(out, 0, PLAY_DENSITY_BINS * sizeof *out);
  if (!density->is_open || topic >= density->topic_count) return 0;
  for (size_t i = 0; i < PLAY_DENSITY_BINS; i++)
    out[i] =
        atomic_load_explicit(&density->counts[topic * PLAY_DENSITY_BINS + i], memory_order_relaxed);
  return atomic_load_explicit(&density->known, memory_order_relaxed);
}
