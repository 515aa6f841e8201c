/* Fixture for tests of the clock server: a manual steady clock, a sink that records, and actions at
 * given instants. */
#ifndef TB_SERVER_SERVER_FIXTURE_H
#define TB_SERVER_SERVER_FIXTURE_H

#include <string.h>

#include "server/clock_server.h"
#include "server/manual_pacer.h"
#include "test.h"

#define MS           TB_NS_PER_MS
#define S            TB_NS_PER_S
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Actions of one test: `f` is its fixture. */
#define ACT(name, ...)                                                                             \
  static void name(void *user)                                                                     \
  {                                                                                                \
    fixture_t *f = user;                                                                           \
    __VA_ARGS__;                                                                                   \
  }
#define ACTS(f, ...)                                                                               \
  do {                                                                                             \
    static const tb__manual_act_t acts_[] = {__VA_ARGS__};                                         \
    (f)->pacer.acts = acts_;                                                                       \
    (f)->pacer.act_count = COUNT(acts_);                                                           \
  } while (0)

typedef struct fixture {
  tb__manual_pacer_t pacer;
  tb_clock_server_options_t options;
  tb_clock_server_t *server;
  char trace[2000]; /* "STEADY=TIME" in ms for each tick, with the reason's letter for a jump */
  int64_t last_ns;
  uint64_t ticks, fail_at;
  int64_t delay_ns; /* how long a tick takes */
} fixture_t;

static inline tb_status_t fixture_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                                       tb_error_t *error)
{
  fixture_t *f = self;
  size_t size = strlen(f->trace);
  const char *letter = reason == TB_JUMP_REASON_SEEK    ? "s"
                       : reason == TB_JUMP_REASON_RESET ? "r"
                       : reason == TB_JUMP_REASON_TICK  ? ""
                                                        : "?";
  tb__mutex_lock(&f->server->mutex);
  const char *wrong = tb__flow_check_locked(&f->server->flow);
  tb__mutex_unlock(&f->server->mutex);
  if (wrong) fail_msg("tick %llu: %s", (unsigned long long)f->ticks, wrong);
  if (++f->ticks == f->fail_at) return tb_error_set(error, TB_ERR_TRANSPORT, "no way out");
  snprintf(f->trace + size, sizeof f->trace - size, "%s%.9g=%.9g%s", size ? " " : "",
           (double)(f->pacer.steady_ns - TB__MANUAL_PACER_START) / 1e6, (double)time_ns / 1e6,
           letter);
  f->last_ns = time_ns;
  f->pacer.steady_ns += f->delay_ns;
  return TB_OK;
}

/* Time 1000 ms, a tick each 10 ms. */
static inline void fixture_init(fixture_t *f)
{
  *f = (fixture_t){.options = TB_CLOCK_SERVER_OPTIONS_INIT};
  f->options.start_ns = S;
  tb__manual_pacer_init(&f->pacer);
  f->pacer.user = f;
}

static inline void fixture_create(fixture_t *f)
{
  tb_tick_sink_t sink = {fixture_tick, f};
  tb_error_t error = TB_ERROR_INIT;
  if (tb__clock_server_create(&f->options, &sink, 1, &f->pacer.base, &f->server, &error) != TB_OK)
    fail_msg("%s", error.text);
}

static inline void fixture_fini(fixture_t *f)
{
  tb_clock_server_destroy(f->server);
}

static inline tb_clock_server_status_t fixture_status(fixture_t *f)
{
  tb_clock_server_status_t status;
  tb_clock_server_status(f->server, &status);
  return status;
}

static inline void assert_trace(fixture_t *f, const char *expected)
{
  if (strcmp(f->trace, expected) != 0)
    fail_msg("ticks were\n  %s\nexpected\n  %s", f->trace, expected);
  f->trace[0] = '\0';
}

/* Until the end, or until an action stops the server. */
static inline void assert_serves(fixture_t *f, const char *expected)
{
  tb_error_t error = TB_ERROR_INIT;
  if (!f->server) fixture_create(f);
  if (tb_clock_server_run(f->server, &error) != TB_OK) fail_msg("%s", error.text);
  assert_trace(f, expected);
}

#endif
