/* For unload_test: uses clocks, threads, timers and sources of timebase, and leaves nothing. */
#include <pthread.h>
#include <stdatomic.h>
#include <timebase/timebase.h>

__attribute__((visibility("default"))) int plugin_run(void);

typedef struct plugin {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_steady_clock_t *steady;
  tb_timer_queue_t *queue;
  tb_timer_t *timer, *steady_timer;
  tb_jump_handler_t *handler;
  tb_cancel_token_t *token;
  pthread_t sleeper;
  atomic_int calls, steady_calls, jumps;
  tb_status_t slept;
} plugin_t;

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)info;
  plugin_t *plugin = user;
  atomic_fetch_add(&plugin->calls, 1);
}

static void on_steady_timer(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer, (void)info;
  plugin_t *plugin = user;
  atomic_fetch_add(&plugin->steady_calls, 1);
}

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  plugin_t *plugin = user;
  atomic_fetch_add(&plugin->jumps, 1);
}

static void *sleep_for_ever(void *user)
{
  plugin_t *plugin = user;
  const tb_wait_options_t options = {.token = plugin->token};
  plugin->slept = tb_sleep_for(plugin->clock, ((tb_duration_t){INT64_MAX}), &options);
  return NULL;
}

static tb_status_t plugin_make(plugin_t *p)
{
  const tb_timer_options_t timer = {.period = {TB_NS_PER_S}, .callback = on_timer, .user = p};
  const tb_steady_timer_options_t steady_timer = {
      .period = {TB_NS_PER_MS}, .callback = on_steady_timer, .user = p};
  const tb_jump_handler_options_t handler = {
      .threshold.min_backward.ns = -1, .before = on_jump, .user = p};
  tb_status_t status = tb_manual_source_create(&p->source);
  tb_clock_options_t ros = TB_CLOCK_OPTIONS_INIT;
  ros.source = p->source;
  if (!status) status = tb_clock_create(&ros, &p->clock);
  if (!status) status = tb_steady_clock_create(&p->steady);
  if (!status) status = tb_cancel_token_create(&p->token);
  if (!status) status = tb_timer_queue_create(&p->queue);
  if (!status) status = tb_timer_create(p->queue, p->clock, &timer, &p->timer);
  if (!status) status = tb_timer_create(p->queue, p->steady, &steady_timer, &p->steady_timer);
  if (!status) status = tb_jump_handler_create(p->clock, &handler, &p->handler);
  if (!status) status = tb_timer_queue_start_thread(p->queue);
  if (!status) status = tb_timer_start(p->timer);
  if (!status) status = tb_timer_start(p->steady_timer);
  return status;
}

/* An anchor with a rate gives the source a thread. */
static tb_status_t plugin_move(plugin_t *p)
{
  tb_steady_time_t now = {0};
  tb_status_t status = tb_manual_source_set(p->source, 100 * TB_NS_PER_S);
  if (!status) status = tb_manual_source_set(p->source, 50 * TB_NS_PER_S);
  if (!status) status = tb_now(p->steady, &now);
  const tb_anchor_t anchor = {50 * TB_NS_PER_S, now, 1000, {INT64_MAX}, TB_CLOCK_RUNNING, 0};
  if (!status)
    status = tb_timeline_anchor(tb_source_timeline(p->source), &anchor, TB_JUMP_REASON_NONE);
  while (!status && (!atomic_load(&p->calls) || !atomic_load(&p->steady_calls)))
    status = tb_sleep_for(p->steady, (tb_duration_t){TB_NS_PER_MS}, NULL);
  return status;
}

/* 0, or what went wrong. */
int plugin_run(void)
{
  plugin_t plugin = {0};
  int wrong = 0;
  if (plugin_make(&plugin)) return 1;
  if (pthread_create(&plugin.sleeper, NULL, sleep_for_ever, &plugin)) return 2;
  if (plugin_move(&plugin)) wrong = 3;
  tb_cancel_token_cancel(plugin.token);
  pthread_join(plugin.sleeper, NULL);
  if (plugin.slept != TB_ERR_CANCELLED) wrong = 4;
  if (atomic_load(&plugin.jumps) != 1) wrong = 5;
  if (tb_clock_destroy(plugin.clock) || tb_timer_queue_destroy(plugin.queue) ||
      tb_source_destroy(plugin.source) || tb_steady_clock_destroy(plugin.steady) ||
      tb_cancel_token_destroy(plugin.token))
    wrong = 6;
  return wrong;
}
