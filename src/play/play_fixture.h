/* What the tests of the player share: a bag in memory, a fake transport, a manual steady clock. */
#ifndef TB_PLAY_PLAY_FIXTURE_H
#define TB_PLAY_PLAY_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <timebase/log.h>

#include "bag/fake_bag.h"
#include "play/fake_transport.h"
#include "play/player_check.h"
#include "test.h"

#define MS           TB_NS_PER_MS
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define AT(ms)                                                                                     \
  {                                                                                                \
    .log_time_ns = (ms)*MS                                                                         \
  }
#define ON(index, ms)                                                                              \
  {                                                                                                \
    .topic = (index), .log_time_ns = (ms)*MS                                                       \
  }

static const tb__fake_topic_t fixture_topics[] = {
    {"/a", "std_msgs/msg/String", NULL, NULL},
    {"/b", "std_msgs/msg/String", NULL, NULL},
    {"/clock", "rosgraph_msgs/msg/Clock", NULL, NULL},
};

typedef struct fixture {
  tb__fake_bag_t bag;
  tb_bag_reader_t *reader;
  tb__manual_pacer_t pacer;
  tb__fake_transport_t fake;
  tb_play_transport_t transport;
  tb_player_options_t options;
  tb_player_t *player;
} fixture_t;

static inline void fixture_init(fixture_t *f, const tb__fake_message_t *messages, size_t count)
{
  *f = (fixture_t){.bag = {.topics = fixture_topics,
                           .topic_count = COUNT(fixture_topics),
                           .messages = messages,
                           .message_count = count},
                   .options = TB_PLAYER_OPTIONS_INIT};
  f->options.read_ahead_messages = 0;
  assert_ok(tb__fake_bag_open(&f->bag, NULL, &f->reader, NULL));
  tb__manual_pacer_init(&f->pacer);
  f->transport = tb__fake_transport_init(&f->fake, &f->pacer);
  f->pacer.user = f;
}

static inline void fixture_create(fixture_t *f)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb__player_create(f->reader, &f->transport, &f->options, &f->pacer.base, &f->player,
                        &error) != TB_OK)
    fail_msg("%s", error.text);
}

static inline void fixture_check(fixture_t *f)
{
  const char *wrong = tb__player_check(f->player);
  if (wrong) fail_msg("%s\nafter %s", wrong, f->fake.trace);
}

static inline void fixture_fini(fixture_t *f)
{
  tb_player_destroy(f->player);
  tb__fake_transport_fini(&f->fake);
  tb_bag_reader_close(f->reader);
}

static inline void fixture_act(fixture_t *f, const tb__manual_act_t *acts, size_t count)
{
  f->pacer.acts = acts;
  f->pacer.act_count = count;
}

/* Acts on the player of a fixture_t, or of what begins with one. */
static inline void act_pause(void *user)
{
  tb_player_pause(((fixture_t *)user)->player);
}

static inline void act_resume(void *user)
{
  tb_player_resume(((fixture_t *)user)->player);
}

static inline void act_next(void *user)
{
  assert_ok(tb_player_play_next(((fixture_t *)user)->player));
}

static inline void act_stop(void *user)
{
  tb_player_stop(((fixture_t *)user)->player);
}

/* A log hook that notes warnings. */
typedef struct warnings {
  int count;
  char text[256]; /* the last one */
} warnings_t;

static inline void note_warning(tb_log_level_t level, const char *message, void *user)
{
  warnings_t *warnings = user;
  if (level != TB_LOG_WARN) return;
  warnings->count++;
  snprintf(warnings->text, sizeof warnings->text, "%s", message);
}

static inline void assert_plays(fixture_t *f, const char *expected)
{
  if (!f->player) fixture_create(f);
  tb_error_t error = TB_ERROR_INIT;
  if (tb_player_run(f->player, NULL, &error) != TB_OK) fail_msg("%s", error.text);
  if (strcmp(f->fake.trace, expected) != 0)
    fail_msg("played\n  %s\nexpected\n  %s", f->fake.trace, expected);
}

static inline tb_player_status_t fixture_status(fixture_t *f)
{
  tb_player_status_t status;
  tb_player_status(f->player, &status);
  return status;
}

#endif
