#include "dds/log_sink.h"
#include "base/list.h"

#include <dds/dds.h>
#include <dds/ddsrt/log.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "dds/log_limit.h"
#include "platform/mutex.h"
#include "platform/time.h"

#define LEAVING_BEGIN "Remote secure participant "

static tb__mutex_t users_mutex = TB__MUTEX_INIT;
static int users TB_GUARDED_BY(users_mutex);
static tb__mutex_t leaving_mutex = TB__MUTEX_INIT;
static tb__dds_leaving_t *all_leaving TB_GUARDED_BY(leaving_mutex);
static _Thread_local tb__dds_log_capture_t *current_capture;
static tb__mutex_t limit_mutex = TB__MUTEX_INIT;
static tb__log_limit_t limit TB_GUARDED_BY(limit_mutex);

static tb_log_level_t level_of(uint32_t category)
{
  if (category & (DDS_LC_FATAL | DDS_LC_ERROR)) return TB_LOG_ERROR;
  if (category & DDS_LC_WARNING) return TB_LOG_WARN;
  return category & DDS_LC_INFO ? TB_LOG_INFO : TB_LOG_DEBUG;
}

static void capture_add(tb__dds_log_capture_t *capture, tb_log_level_t level, const char *text,
                        size_t length)
{
  if (sizeof capture->lines - capture->used < length + 2) return;
  capture->lines[capture->used++] = (char)level;
  memcpy(capture->lines + capture->used, text, length);
  capture->used += length;
  capture->lines[capture->used++] = '\0';
}

static bool is_from_leaving(const char *text, size_t length)
{
  size_t begin = strlen(LEAVING_BEGIN);
  if (length < begin || memcmp(text, LEAVING_BEGIN, begin) != 0) return false;
  tb__mutex_lock(&leaving_mutex);
  const tb__dds_leaving_t *leaving = all_leaving;
  while (leaving && (strlen(leaving->text) != length || strncmp(leaving->text, text, length) != 0))
    leaving = leaving->next;
  tb__mutex_unlock(&leaving_mutex);
  return leaving;
}

/* A series of bad packets is one cause. */
static bool passes(const dds_log_data_t *data, uint64_t *out_left_out)
{
  tb__mutex_lock(&limit_mutex);
  bool passed = tb__log_limit_take(&limit, data->file, data->line, tb__log_limit(),
                                   tb__steady_coarse_now_ns(), out_left_out);
  tb__mutex_unlock(&limit_mutex);
  return passed;
}

static void sink(void *user, const dds_log_data_t *data)
{
  (void)user;
  tb_log_level_t level = level_of(data->priority);
  size_t length = strnlen(data->message, data->size);
  while (length > 0 && data->message[length - 1] == '\n')
    length--;
  if (is_from_leaving(data->message, length)) return;
  if (current_capture) {
    capture_add(current_capture, level, data->message, length);
    return;
  }
  uint64_t left_out;
  if (!passes(data, &left_out)) return;
  if (left_out > 0)
    tb__log(level, "dds: %.*s (and %" PRIu64 " more like this, left out)", (int)length,
            data->message, left_out);
  else
    tb__log(level, "dds: %.*s", (int)length, data->message);
}

void tb__dds_log_acquire(void)
{
  tb__mutex_lock(&users_mutex);
  if (users++ == 0) dds_set_log_sink(sink, NULL);
  tb__mutex_unlock(&users_mutex);
}

void tb__dds_log_release(void)
{
  uint64_t left_out = 0;
  tb__mutex_lock(&users_mutex);
  if (--users == 0) {
    dds_set_log_sink(NULL, NULL);
    tb__mutex_lock(&limit_mutex);
    left_out = tb__log_limit_end(&limit);
    tb__mutex_unlock(&limit_mutex);
  }
  tb__mutex_unlock(&users_mutex);
  if (left_out > 0)
    tb__log(TB_LOG_WARN, "dds: %" PRIu64 " messages like those above were left out", left_out);
}

static uint32_t word_of(const uint8_t *bytes)
{
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

void tb__dds_log_leave(tb__dds_leaving_t *leaving, const tb__guid_t *guid)
{
  snprintf(leaving->text, sizeof leaving->text,
           LEAVING_BEGIN "%" PRIx32 ":%" PRIx32 ":%" PRIx32 ":%" PRIx32 " not allowed",
           word_of(guid->bytes), word_of(guid->bytes + 4), word_of(guid->bytes + 8),
           word_of(guid->bytes + 12));
  tb__mutex_lock(&leaving_mutex);
  leaving->next = all_leaving;
  all_leaving = leaving;
  tb__mutex_unlock(&leaving_mutex);
}

void tb__dds_log_left(tb__dds_leaving_t *leaving)
{
  tb__mutex_lock(&leaving_mutex);
  TB__CHAIN_REMOVE(all_leaving, leaving);
  tb__mutex_unlock(&leaving_mutex);
}

void tb__dds_log_capture_begin(tb__dds_log_capture_t *capture)
{
  capture->used = 0;
  current_capture = capture;
}

void tb__dds_log_capture_stop(void)
{
  current_capture = NULL;
}

void tb__dds_log_capture_replay(const tb__dds_log_capture_t *capture)
{
  for (size_t at = 0; at < capture->used; at += strlen(capture->lines + at) + 1)
    tb__log((tb_log_level_t)capture->lines[at], "dds: %s", capture->lines + at + 1);
}

const char *tb__dds_log_capture_find(const tb__dds_log_capture_t *capture, const char *part)
{
  for (size_t at = 0; at < capture->used; at += strlen(capture->lines + at) + 1) {
    if (strstr(capture->lines + at + 1, part)) return capture->lines + at + 1;
  }
  return NULL;
}

const char *tb__dds_log_capture_last(const tb__dds_log_capture_t *capture)
{
  const char *last = NULL;
  for (size_t at = 0; at < capture->used; at += strlen(capture->lines + at) + 1) {
    if (capture->lines[at] >= TB_LOG_WARN) last = capture->lines + at + 1;
  }
  return last;
}
