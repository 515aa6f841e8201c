#include "dds/log_sink.h"

#include <dds/dds.h>
#include <dds/ddsrt/log.h>
#include <string.h>

#include "base/log.h"
#include "platform/mutex.h"

static tb__mutex_t users_mutex = TB__MUTEX_INIT;
static int users TB_GUARDED_BY(users_mutex);
static _Thread_local tb__dds_log_capture_t *current_capture;

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

static void sink(void *user, const dds_log_data_t *data)
{
  (void)user;
  tb_log_level_t level = level_of(data->priority);
  size_t length = strnlen(data->message, data->size);
  while (length > 0 && data->message[length - 1] == '\n')
    length--;
  if (current_capture)
    capture_add(current_capture, level, data->message, length);
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
  tb__mutex_lock(&users_mutex);
  if (--users == 0) dds_set_log_sink(NULL, NULL);
  tb__mutex_unlock(&users_mutex);
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
