/* A synchronizing filter, as message_filters has one, that survives jumps of time: it pairs images
 * and scans whose stamps are close together.
 *
 *   synchronizer
 *
 * Each topic has a thread that receives and a queue. After a seek the queues hold messages that
 * will never find a partner, or the wrong one: the recording repeats its stamps in each round, so
 * stamps alone do not tell the rounds apart. Each message is labelled with the generation in which
 * it was received (timebase/reset.h), and only messages of the current one are paired. Here a seek
 * forward of a second or more resets too: half of a pair from before it would wait in vain. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/timebase.h>

#define QUEUE   8
#define SLOP_NS (20 * TB_NS_PER_MS)

enum { IMAGE, SCAN, TOPICS };

typedef struct message {
  tb_time_t stamp;
  int round; /* which playing of the recording it is of: only to show that no pair mixes two */
} message_t;

typedef struct synchronizer {
  tb_reset_t *reset;
  pthread_mutex_t mutex; /* of the following */
  uint64_t generation;
  unsigned count[TOPICS];
  message_t queue[TOPICS][QUEUE];
  unsigned pairs, mixed, dropped;
} synchronizer_t;

static void drop_old_locked(synchronizer_t *sync)
{
  if (!tb_reset_poll(sync->reset, &sync->generation)) return;
  sync->dropped += sync->count[IMAGE] + sync->count[SCAN];
  sync->count[IMAGE] = sync->count[SCAN] = 0;
}

static void take_locked(synchronizer_t *sync, int topic, unsigned until)
{
  sync->count[topic] -= until;
  for (unsigned i = 0; i < sync->count[topic]; i++)
    sync->queue[topic][i] = sync->queue[topic][until + i];
}

/* The partner of what has just come, and what is before it, leave the queues. */
static void pair_locked(synchronizer_t *sync, int topic)
{
  int other = topic == IMAGE ? SCAN : IMAGE;
  const message_t newest = sync->queue[topic][sync->count[topic] - 1];
  for (unsigned i = 0; i < sync->count[other]; i++) {
    const message_t partner = sync->queue[other][i];
    if (llabs(partner.stamp.ns - newest.stamp.ns) > SLOP_NS) continue;
    sync->pairs++;
    if (partner.round != newest.round) sync->mixed++;
    take_locked(sync, other, i + 1);
    take_locked(sync, topic, sync->count[topic]);
    return;
  }
}

/* `generation`: of the moment at which it was received. The thread may have waited since. */
static void synchronizer_add(synchronizer_t *sync, int topic, message_t message,
                             uint64_t generation)
{
  pthread_mutex_lock(&sync->mutex);
  drop_old_locked(sync);
  if (generation != sync->generation) {
    sync->dropped++;
  } else {
    if (sync->count[topic] == QUEUE) take_locked(sync, topic, 1);
    sync->queue[topic][sync->count[topic]++] = message;
    pair_locked(sync, topic);
  }
  pthread_mutex_unlock(&sync->mutex);
}

/* ---- a recording of two topics that is played in rounds ---- */

typedef struct world {
  tb_source_t *source;
  tb_clock_t *clock;
  synchronizer_t sync;
  pthread_barrier_t tick; /* both receivers and the player meet before and after each tick */
  int round;
  bool over;
} world_t;

typedef struct receiver {
  world_t *world;
  int topic;
  tb_status_t status;
} receiver_t;

/* Each tick has an image; scans miss one in three, so that images are left in their queue. */
static void *receive(void *argument)
{
  receiver_t *self = argument;
  world_t *world = self->world;
  for (int i = 0;; i++) {
    message_t message;
    uint64_t generation;
    pthread_barrier_wait(&world->tick);
    if (world->over) return NULL;
    self->status = tb_reset_read(world->sync.reset, &message.stamp, &generation);
    message.round = world->round;
    pthread_barrier_wait(&world->tick); /* time may jump while it is on its way */
    if (!self->status && (self->topic == IMAGE || i % 3))
      synchronizer_add(&world->sync, self->topic, message, generation);
  }
}

/* Plays from 10.0 s to 10.9 s, and jumps back while the last messages are on their way. */
static tb_status_t play(world_t *world, int rounds)
{
  tb_status_t status = tb_manual_source_set(world->source, 10 * TB_NS_PER_S);
  for (int i = 1; !status && i <= 10 * rounds; i++) {
    pthread_barrier_wait(&world->tick);
    /* both read the time between the two barriers; then it moves on */
    pthread_barrier_wait(&world->tick);
    if (i % 10)
      status = tb_manual_source_advance(world->source, TB_MS(100));
    else
      status = tb_manual_source_set(world->source, 10 * TB_NS_PER_S);
    if (i % 10 == 0) world->round++;
  }
  world->over = true;
  pthread_barrier_wait(&world->tick);
  return status;
}

static tb_status_t world_begin(world_t *world)
{
  tb_clock_options_t ros = TB_CLOCK_OPTIONS_INIT;
  tb_reset_options_t options = TB_RESET_OPTIONS_INIT;
  options.min_forward.ns = TB_NS_PER_S;
  tb_status_t status = tb_manual_source_create(&world->source);
  ros.source = world->source;
  if (!status) status = tb_clock_create(&ros, &world->clock);
  if (!status) status = tb_reset_create(world->clock, &options, &world->sync.reset);
  if (!status) world->sync.generation = tb_reset_generation(world->sync.reset);
  return status;
}

int main(void)
{
  static world_t world = {.sync.mutex = PTHREAD_MUTEX_INITIALIZER};
  receiver_t receivers[TOPICS] = {{&world, IMAGE, TB_OK}, {&world, SCAN, TB_OK}};
  pthread_t threads[TOPICS];
  pthread_barrier_init(&world.tick, NULL, TOPICS + 1);
  tb_status_t status = world_begin(&world);
  if (!status) {
    for (int i = 0; i < TOPICS; i++)
      if (pthread_create(&threads[i], NULL, receive, &receivers[i])) abort();
    status = play(&world, 3);
    for (int i = 0; i < TOPICS; i++)
      pthread_join(threads[i], NULL);
  }
  if (status) fprintf(stderr, "synchronizer: %s\n", tb_status_message(status));
  printf("synchronizer: %s pairs, %u of two rounds, %s dropped\n",
         world.sync.pairs > 10 ? "many" : "few", world.sync.mixed,
         world.sync.dropped ? "some" : "none");
  tb_reset_destroy(world.sync.reset);
  tb_clock_destroy(world.clock);
  tb_source_destroy(world.source);
  pthread_barrier_destroy(&world.tick);
  return status != TB_OK || world.sync.mixed;
}
