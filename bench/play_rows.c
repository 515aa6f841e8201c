/* Playing from MCAP to a reliable reader in another process: as fast as possible, next to bare
 * Cyclone DDS that writes the same messages from memory, and in time, next to bare sleeps. */
#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/bag_writer.h>
#include <timebase/player.h>
#include <timebase/ros2_play_transport.h>
#include <unistd.h>

#include "bench.h"
#include "peer.h"
#include "ros2_messages.h"

#define PERIOD_NS  TB_NS_PER_MS
#define LIMIT_NS   (30 * TB_NS_PER_S)
#define QUIET_US   200000 /* the time that the player gives discovery */
#define ROUNDS_MAX 25
#define TAKEN      32
#define TURNS      40
#define SLEEPS     250 /* of each, per turn */
#define GUARD_NS   (10 * TB_NS_PER_MS)
#define NAME       "rt/bench/play"

/* What is played. */
typedef struct load {
  int messages;
  size_t size; /* of each, with its header */
  int rounds;
  bool batched; /* the bare writer's messages go in packets, each after a millisecond at most */
} load_t;

static const load_t medium = {50000, 1024, 25, false};
static const load_t small = {50000, 100, 5, true};
static const load_t image = {100, 1000000, 5, false};

/* ---- the process that reads ---- */

typedef struct tally {
  int64_t first_ns, last_ns;
} tally_t;

typedef struct reading {
  int count, wanted;
  tally_t tally;
} reading_t;

static void on_played(dds_entity_t reader, void *user)
{
  reading_t *reading = user;
  void *samples[TAKEN] = {NULL};
  dds_sample_info_t infos[TAKEN];
  int32_t taken;
  while ((taken = dds_take(reader, samples, infos, TAKEN, TAKEN)) > 0) {
    reading->tally.last_ns = bench_now_ns();
    for (int32_t i = 0; i < taken; i++)
      if (infos[i].valid_data && reading->count++ == 0)
        reading->tally.first_ns = reading->tally.last_ns;
    dds_return_loan(reader, samples, taken);
    if (reading->count < reading->wanted) continue;
    if (write(STDOUT_FILENO, &reading->tally, sizeof reading->tally) < 0) return;
    reading->count = 0;
  }
}

static dds_entity_t topic_make(dds_entity_t participant, const char *name)
{
  return dds_create_topic(participant, &std_msgs_msg_dds__String__desc, name, NULL, NULL);
}

int bench_play_peer(const char *role, const char *count)
{
  static reading_t reading;
  (void)role;
  reading.wanted = (int)strtol(count, NULL, 10);
  dds_entity_t participant = peer_participant();
  dds_qos_t *qos = peer_lossless_qos();
  dds_listener_t *listener = dds_create_listener(&reading);
  dds_lset_data_available(listener, on_played);
  return peer_serve(dds_create_reader(participant, topic_make(participant, NAME), qos, listener) >
                    0);
}

/* ---- the recording ---- */

typedef struct stage {
  const load_t *load;
  char folder[64], bag[80];
  tb_qos_overrides_t *overrides;
  tb_ros2_context_t *context;
  peer_t peer;
} stage_t;

static void message_fill(uint8_t *message, size_t size, int number)
{
  const uint32_t length = (uint32_t)size - 8;
  memset(message, 'a' + number % 26, size);
  memcpy(message, "\0\1\0\0", 4); /* little endian */
  memcpy(message + 4, &length, sizeof length);
  message[size - 1] = 0;
}

static bool bag_make(stage_t *stage)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  const tb_bag_writer_topic_t topic = {.name = "/bench/play", .type = "std_msgs/msg/String"};
  tb_bag_writer_t *writer = NULL;
  size_t index;
  options.storage_id = "mcap";
  snprintf(stage->folder, sizeof stage->folder, "/dev/shm/timebase-bench-XXXXXX");
  if (!mkdtemp(stage->folder)) return false;
  snprintf(stage->bag, sizeof stage->bag, "%s/bag", stage->folder);
  bool good = !tb_bag_writer_create(stage->bag, &options, &writer, NULL) &&
              !tb_bag_writer_add_topic(writer, &topic, &index, NULL);
  uint8_t *message = malloc(stage->load->size);
  good = good && message;
  for (int i = 0; i < stage->load->messages && good; i++) {
    message_fill(message, stage->load->size, i);
    good = !tb_bag_writer_write(writer, index, PERIOD_NS * (i + 1), 0, message, stage->load->size,
                                NULL);
  }
  free(message);
  return !tb_bag_writer_close(writer, NULL) && good;
}

static void bag_remove(const stage_t *stage)
{
  char path[112];
  snprintf(path, sizeof path, "%s/metadata.yaml", stage->bag);
  unlink(path);
  snprintf(path, sizeof path, "%s/bag_0.mcap", stage->bag);
  unlink(path);
  rmdir(stage->bag);
  rmdir(stage->folder);
}

/* The peer reports each time that it has all messages. Nothing may be lost, so the history is that
 * of the bare writer, and not that of rosbag2. */
static bool stage_open(stage_t *stage, const load_t *load)
{
  static const char overrides[] = "/bench/play: {reliability: reliable, history: keep_all}";
  char count[16];
  *stage = (stage_t){.load = load, .peer = PEER_NONE};
  snprintf(count, sizeof count, "%d", load->messages);
  return bag_make(stage) &&
         !tb_qos_overrides_parse(overrides, strlen(overrides), &stage->overrides, NULL) &&
         !tb_ros2_context_create(NULL, &stage->context, NULL) &&
         peer_start(&stage->peer, BENCH_PLAY_PEER, "counts", count);
}

static void stage_close(stage_t *stage)
{
  peer_end(&stage->peer);
  tb_ros2_context_destroy(stage->context);
  tb_qos_overrides_destroy(stage->overrides);
  bag_remove(stage);
}

/* Waits until the peer has all messages. */
static bool tally_read(const stage_t *stage, tally_t *out)
{
  struct pollfd poll_fd = {stage->peer.out, POLLIN, 0};
  return poll(&poll_fd, 1, (int)(LIMIT_NS / TB_NS_PER_MS)) == 1 &&
         read(stage->peer.out, out, sizeof *out) == sizeof *out;
}

/* ---- the player, whose transport can record when it gets messages ---- */

typedef struct playing {
  tb_bag_reader_t *reader;
  tb_ros2_play_transport_t *transport;
  tb_play_transport_t real;
  tb_player_t *player;
  sem_t settled;
  int64_t *given_ns;
  int count;
} playing_t;

static tb_status_t add_topic(void *self, const tb_bag_topic_t *topic, void **out, tb_error_t *error)
{
  const playing_t *playing = self;
  return playing->real.ops->add_topic(playing->real.self, topic, out, error);
}

static tb_status_t publish(void *self, void *handle, const void *data, size_t size,
                           tb_error_t *error)
{
  playing_t *playing = self;
  playing->given_ns[playing->count++] = bench_now_ns();
  return playing->real.ops->publish(playing->real.self, handle, data, size, error);
}

static tb_status_t settle(void *self, tb_duration_t limit, tb_error_t *error)
{
  playing_t *playing = self;
  tb_status_t status = playing->real.ops->settle(playing->real.self, limit, error);
  sem_post(&playing->settled);
  return status;
}

static tb_status_t flush(void *self, tb_duration_t limit, tb_error_t *error)
{
  const playing_t *playing = self;
  return playing->real.ops->flush(playing->real.self, limit, error);
}

static const tb_play_transport_ops_t noting_ops = {
    .add_topic = add_topic, .publish = publish, .settle = settle, .flush = flush};

static bool playing_open(playing_t *playing, const stage_t *stage,
                         const tb_player_options_t *options, bool notes)
{
  tb_ros2_play_transport_options_t how = TB_ROS2_PLAY_TRANSPORT_OPTIONS_INIT;
  how.qos_overrides = stage->overrides;
  if (options->rate == TB_PLAYER_FASTEST) how.batch.ns = TB_NS_PER_MS; /* as the command has it */
  *playing = (playing_t){.given_ns = calloc((size_t)stage->load->messages, sizeof(int64_t))};
  if (sem_init(&playing->settled, 0, 0) || !playing->given_ns ||
      tb_bag_reader_open(stage->bag, NULL, &playing->reader, NULL) ||
      tb_ros2_play_transport_create(stage->context, &how, &playing->transport, NULL))
    return false;
  playing->real = tb_ros2_play_transport_interface(playing->transport);
  const tb_play_transport_t noting = {&noting_ops, playing, playing->real.clock};
  return !tb_player_create(playing->reader, notes ? &noting : &playing->real, options,
                           &playing->player, NULL);
}

static void playing_close(playing_t *playing)
{
  tb_player_destroy(playing->player);
  tb_ros2_play_transport_destroy(playing->transport);
  tb_bag_reader_close(playing->reader);
  sem_destroy(&playing->settled);
  free(playing->given_ns);
}

/* ---- as fast as possible ---- */

/* In thousand messages a second, at the reader. */
static double rate_of(const load_t *load, const tally_t *tally)
{
  return (load->messages - 1) * 1e6 / (double)(tally->last_ns - tally->first_ns);
}

static bool play_fastest(const stage_t *stage)
{
  playing_t playing;
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  options.rate = TB_PLAYER_FASTEST;
  bool done =
      playing_open(&playing, stage, &options, false) && !tb_player_run(playing.player, NULL, NULL);
  playing_close(&playing);
  return done;
}

typedef struct bare_writer {
  dds_entity_t participant, writer;
  struct ddsi_sertype *type; /* of the writer's samples */
  struct ddsi_serdata **samples;
} bare_writer_t;

/* From the sample of a separate topic. */
static bool type_find(bare_writer_t *bare, const dds_qos_t *qos)
{
  static char text[] = "";
  const std_msgs_msg_dds__String_ message = {text};
  dds_entity_t topic = topic_make(bare->participant, "rt/bench/type");
  dds_entity_t reader = dds_create_reader(bare->participant, topic, qos, NULL);
  dds_entity_t writer = dds_create_writer(bare->participant, topic, qos, NULL);
  struct ddsi_serdata *sample = NULL;
  dds_sample_info_t info;
  bool done = reader > 0 && writer > 0 && !dds_write(writer, &message) &&
              dds_takecdr(reader, &sample, 1, &info, DDS_ANY_STATE) == 1;
  if (done) bare->type = ddsi_sertype_ref(sample->type);
  if (done) ddsi_serdata_unref(sample);
  dds_delete(reader);
  dds_delete(writer);
  return done;
}

static bool bare_open(bare_writer_t *bare, const load_t *load)
{
  dds_qos_t *qos = peer_lossless_qos();
  bare->participant = peer_participant();
  bare->samples = calloc((size_t)load->messages, sizeof(struct ddsi_serdata *));
  bool done = bare->samples && type_find(bare, qos);
  dds_write_set_batch(load->batched); /* of the writers that are created from now on */
  bare->writer =
      dds_create_writer(bare->participant, topic_make(bare->participant, NAME), qos, NULL);
  dds_write_set_batch(false);
  dds_delete_qos(qos);
  return done && bare->writer > 0;
}

static void bare_close(bare_writer_t *bare)
{
  if (bare->type) ddsi_sertype_unref(bare->type);
  dds_delete(bare->participant);
  free(bare->samples);
}

static bool samples_make(bare_writer_t *bare, const load_t *load)
{
  uint8_t *message = malloc(load->size);
  const ddsrt_iovec_t part = {.iov_base = message, .iov_len = load->size};
  bool done = message;
  for (int i = 0; i < load->messages && done; i++) {
    message_fill(message, load->size, i);
    bare->samples[i] = ddsi_serdata_from_ser_iov(bare->type, SDK_DATA, 1, &part, load->size);
    done = bare->samples[i];
  }
  free(message);
  return done;
}

static bool matched(dds_entity_t writer)
{
  int64_t give_up = bench_now_ns() + LIMIT_NS;
  dds_publication_matched_status_t status = {0};
  while (dds_get_publication_matched_status(writer, &status) == 0 && status.current_count == 0)
    if (usleep(1000) || bench_now_ns() > give_up) return false;
  return status.current_count > 0;
}

static bool samples_write(const bare_writer_t *bare, const load_t *load)
{
  bool done = true;
  int64_t flushed_ns = bench_now_ns();
  for (int i = 0; i < load->messages && done; i++) {
    done = dds_writecdr(bare->writer, bare->samples[i]) == DDS_RETCODE_OK;
    if (!load->batched || bench_now_ns() - flushed_ns < TB_NS_PER_MS) continue;
    dds_write_flush(bare->writer);
    flushed_ns = bench_now_ns();
  }
  dds_write_flush(bare->writer);
  return done;
}

static bool write_bare(const load_t *load)
{
  bare_writer_t bare = {0};
  bool done = bare_open(&bare, load) && samples_make(&bare, load) && matched(bare.writer);
  usleep(QUIET_US);
  done = done && samples_write(&bare, load) &&
         dds_wait_for_acks(bare.writer, LIMIT_NS) == DDS_RETCODE_OK;
  bare_close(&bare);
  return done;
}

static bool race(const stage_t *stage, result_t *out)
{
  const load_t *load = stage->load;
  double ours[ROUNDS_MAX], bare[ROUNDS_MAX];
  for (int i = -1; i < load->rounds; i++) { /* once to warm up */
    tally_t played, written;
    if (!write_bare(load) || !tally_read(stage, &written) || !play_fastest(stage) ||
        !tally_read(stage, &played))
      return false;
    if (i < 0) continue;
    ours[i] = rate_of(load, &played);
    bare[i] = rate_of(load, &written);
  }
  *out = (result_t){bench_median(ours, load->rounds), bench_median(bare, load->rounds)};
  return true;
}

static bool finish(const row_t *row, stage_t *stage, bool done)
{
  stage_close(stage);
  return done || bench_fail(row, "the processes did not meet, or messages did not arrive");
}

static bool play_load(const row_t *row, const load_t *load, result_t *out)
{
  stage_t stage;
  return finish(row, &stage, stage_open(&stage, load) && race(&stage, out));
}

static bool play_max(const row_t *row, result_t *out)
{
  return play_load(row, &medium, out);
}

static bool play_max_small(const row_t *row, result_t *out)
{
  return play_load(row, &small, out);
}

static bool play_max_image(const row_t *row, result_t *out)
{
  return play_load(row, &image, out);
}

/* ---- in time ---- */

/* The player and the sleeper run in turns so short that other load on the machine affects both. */
typedef struct turn {
  int64_t start_ns;       /* steady */
  int64_t from_ns, to_ns; /* time of the recording */
} turn_t;

typedef struct lateness {
  double us[2 * SLEEPS];
  int count;
} lateness_t;

static void late_add(lateness_t *late, int64_t due_ns, int64_t at_ns)
{
  if (late->count < 2 * SLEEPS) late->us[late->count++] = (double)(at_ns - due_ns) / 1000;
}

static double late_p99(lateness_t *late)
{
  if (late->count == 0) return 0;
  bench_median(late->us, late->count); /* sorts */
  return late->us[late->count - 1 - late->count / 100];
}

static double sleep_bare(void)
{
  lateness_t late = {.count = 0};
  int64_t start_ns = bench_now_ns();
  for (int i = 0; i < SLEEPS; i++) {
    int64_t due_ns = start_ns + i * PERIOD_NS;
    struct timespec due = {due_ns / TB_NS_PER_S, due_ns % TB_NS_PER_S};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    late_add(&late, due_ns, bench_now_ns());
  }
  return late_p99(&late);
}

static int64_t position_of(tb_player_t *player)
{
  tb_player_status_t status;
  tb_player_status(player, &status);
  return status.position_ns;
}

/* Time resumes with the call, not before: the measured value is never less than the lateness. */
static turn_t play_turn(tb_player_t *player)
{
  turn_t turn = {.from_ns = position_of(player), .start_ns = bench_now_ns()};
  tb_player_resume(player);
  usleep(SLEEPS * 1000);
  tb_player_pause(player);
  turn.to_ns = position_of(player);
  return turn;
}

/* The time from the moment a message is due until the transport gets it. The transport is the real
 * one, with its reader, so the cost of sending delays the next message. Messages that a pause may
 * have delayed are left out. */
static double look_at_turn(const playing_t *playing, const turn_t *turn)
{
  lateness_t late = {.count = 0};
  for (int i = 0; i < playing->count; i++) {
    int64_t time_ns = PERIOD_NS * (i + 1);
    if (time_ns >= turn->from_ns && time_ns < turn->to_ns - GUARD_NS)
      late_add(&late, turn->start_ns + time_ns - turn->from_ns, playing->given_ns[i]);
  }
  return late_p99(&late);
}

static void *run(void *player)
{
  return tb_player_run(player, NULL, NULL) ? NULL : player;
}

static bool take_turns(playing_t *playing, result_t *out)
{
  turn_t turns[TURNS];
  double ours[TURNS], bare[TURNS];
  pthread_t thread;
  void *ran = NULL;
  if (pthread_create(&thread, NULL, run, playing->player)) return false;
  sem_wait(&playing->settled);
  usleep(QUIET_US); /* the first message is read */
  for (int i = 0; i < TURNS; i++) {
    bare[i] = sleep_bare();
    turns[i] = play_turn(playing->player);
  }
  tb_player_stop(playing->player);
  pthread_join(thread, &ran);
  for (int i = 0; i < TURNS; i++)
    ours[i] = look_at_turn(playing, &turns[i]);
  *out = (result_t){bench_median(ours, TURNS), bench_median(bare, TURNS)};
  return ran && playing->count > TURNS * SLEEPS / 2;
}

static bool play_jitter_p99(const row_t *row, result_t *out)
{
  stage_t stage;
  playing_t playing = {0};
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  options.start_paused = true;
  bool done = stage_open(&stage, &medium) && playing_open(&playing, &stage, &options, true) &&
              take_turns(&playing, out);
  playing_close(&playing);
  return finish(row, &stage, done);
}

const row_t play_rows[] = {
    {"play_max", "k/s", "dds_writecdr out of memory", 0.9, play_max, 0},
    {"play_max_small", "k/s", "dds_writecdr in batches of 1 ms", 0.8, play_max_small, 0},
    {"play_max_image", "k/s", "dds_writecdr out of memory", 0.95, play_max_image, 0},
    {"play_jitter_p99", "us", "clock_nanosleep to the same times", 1.5, play_jitter_p99, 0},
};
const int play_row_count = sizeof play_rows / sizeof *play_rows;
