#include "play/fake_transport.h"

#include <stdlib.h>
#include <string.h>

#include "platform/deadline.h"
#include "test.h"

static void append(tb__fake_transport_t *fake, const char *text)
{
  size_t length = strlen(text);
  fake->trace = realloc(fake->trace, fake->trace_size + length + 2);
  assert_non_null(fake->trace);
  char *end = fake->trace + fake->trace_size;
  if (fake->trace_size > 0) {
    *end++ = ' ';
    fake->trace_size++;
  }
  memcpy(end, text, length + 1);
  fake->trace_size += length;
}

static void append_ms(tb__fake_transport_t *fake, char mark, int64_t ns)
{
  char text[48];
  if (ns % 1000000 == 0)
    snprintf(text, sizeof text, "%c%lld", mark, (long long)(ns / 1000000));
  else
    snprintf(text, sizeof text, "%c%lld.%06lld", mark, (long long)(ns / 1000000),
             (long long)(ns % 1000000));
  append(fake, text);
}

static void mark_time(tb__fake_transport_t *fake)
{
  int64_t since_ns = fake->pacer->steady_ns - TB__MANUAL_PACER_START;
  if (since_ns == fake->traced_ns) return;
  append_ms(fake, '@', since_ns);
  fake->traced_ns = since_ns;
}

static tb_status_t fake_add_topic(void *self, const tb_bag_topic_t *topic, void **out_handle,
                                  tb_error_t *error)
{
  tb__fake_transport_t *fake = self;
  if (fake->fault_topic && strcmp(fake->fault_topic, topic->name) == 0 &&
      fake->fault == TB_ERR_UNSUPPORTED)
    return tb_error_set(error, fake->fault, "fault of the fake transport");
  fake->topics++;
  *out_handle = (void *)(uintptr_t)topic->name;
  return TB_OK;
}

static tb_status_t fake_publish(void *self, void *handle, const void *data, size_t size,
                                tb_error_t *error)
{
  tb__fake_transport_t *fake = self;
  const char *topic = handle;
  assert_non_null(topic);
  if (fake->fault_topic && strcmp(fake->fault_topic, topic) == 0)
    return tb_error_set(error, fake->fault, "fault of the fake transport");
  mark_time(fake);
  append(fake, topic);
  fake->messages++;
  if (fake->keeps) fake->kept++;
  if (fake->limits_messages) fake->limit_ns = 0;
  fake->pends = fake->pends_messages;
  if (fake->on_message) fake->on_message(fake->user, fake->pacer->steady_ns, topic, data, size);
  fake->pacer->steady_ns += fake->publish_cost_ns;
  return TB_OK;
}

static char mark_of(tb_jump_reason_t reason)
{
  return reason == TB_JUMP_REASON_LOOP ? 'L' : reason == TB_JUMP_REASON_SEEK ? 'S' : 'c';
}

static tb_status_t fake_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  tb__fake_transport_t *fake = self;
  (void)error;
  if (fake->tick_fault) return fake->tick_fault;
  mark_time(fake);
  append_ms(fake, mark_of(reason), time_ns);
  fake->ticks++;
  if (fake->on_tick) fake->on_tick(fake->user, fake->pacer->steady_ns, time_ns, reason);
  return TB_OK;
}

static tb_status_t fake_settle(void *self, tb_duration_t limit, tb_error_t *error)
{
  (void)error;
  assert_true(tb__limit_is_valid(limit));
  tb__fake_transport_t *fake = self;
  append(fake, "settle");
  if (fake->on_settle) fake->on_settle(fake->user);
  return TB_OK;
}

static tb_status_t fake_flush(void *self, tb_duration_t limit, tb_error_t *error)
{
  assert_true(tb__limit_is_valid(limit));
  tb__fake_transport_t *fake = self;
  fake->flush_limit = limit;
  append(fake, "flush");
  if (fake->on_flush) fake->on_flush(fake->user);
  if (fake->flush_fault) tb_error_set(error, fake->flush_fault, "/a by\n/slow");
  return fake->flush_fault;
}

static void fake_send(void *self)
{
  tb__fake_transport_t *fake = self;
  if (fake->kept > 0) append(fake, "send");
  fake->kept = 0;
}

static void fake_split(void *self, const char *closed, const char *opened)
{
  append(self, closed);
  append(self, opened);
}

static void fake_interrupt(void *self)
{
  ((tb__fake_transport_t *)self)->interrupts++;
}

static tb_status_t fake_limit(void *self, int64_t *out_ns, tb_error_t *error)
{
  tb__fake_transport_t *fake = self;
  if (fake->limit_fault)
    return tb_error_set(error, fake->limit_fault, "fault of the fake transport");
  *out_ns = fake->pends ? 0 : fake->limit_ns;
  fake->pends = false;
  return TB_OK;
}

static void fake_set_time(void *self, int64_t time_ns, bool jumps)
{
  tb__fake_transport_t *fake = self;
  fake->time_ns = time_ns;
  fake->jumps += jumps;
}

static void fake_name_holder(void *self, char *out, size_t size)
{
  snprintf(out, size, "name\n%zu", ++((tb__fake_transport_t *)self)->names);
}

static void fake_watch_limit(void *self, void (*wake)(void *user), void *user)
{
  tb__fake_transport_t *fake = self;
  fake->wake = wake;
  fake->wake_user = user;
}

static const tb_play_transport_ops_t fake_ops = {
    .add_topic = fake_add_topic,
    .publish = fake_publish,
    .settle = fake_settle,
    .flush = fake_flush,
    .interrupt = fake_interrupt,
    .split = fake_split,
    .send = fake_send,
    .limit = fake_limit,
    .set_time = fake_set_time,
    .name_holder = fake_name_holder,
    .watch_limit = fake_watch_limit,
};

tb_play_transport_t tb__fake_transport_init(tb__fake_transport_t *fake, tb__manual_pacer_t *pacer)
{
  *fake = (tb__fake_transport_t){.pacer = pacer, .traced_ns = -1, .limit_ns = TB_PLAY_NO_LIMIT};
  return (tb_play_transport_t){&fake_ops, fake, {fake_tick, fake}};
}

void tb__fake_transport_limit(tb__fake_transport_t *fake, int64_t limit_ns)
{
  fake->limit_ns = limit_ns;
  if (fake->wake) fake->wake(fake->wake_user);
}

void tb__fake_transport_fini(tb__fake_transport_t *fake)
{
  free(fake->trace);
}
