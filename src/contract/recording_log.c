#include "contract/recording_log.h"

#include <string.h>

#include "base/saturate.h"
#include "definition/message.h"

#define NAME_AT 9 /* behind the stamp and the level, before its padding */

static void copy_text(char out[TB__RECORDING_LOG_TEXT_SIZE], const char *text, size_t length)
{
  size_t used = length < TB__RECORDING_LOG_TEXT_SIZE - 1 ? length : TB__RECORDING_LOG_TEXT_SIZE - 1;
  memcpy(out, text, used);
  out[used] = '\0';
}

/* NULL: there are too many. */
static tb__recorded_log_t *entry_of(tb__recording_log_t *log, const tb__log_sentence_t *sentence,
                                    const char *logger)
{
  for (size_t i = 0; i < log->count; i++)
    if (log->list[i].sentence == sentence && strcmp(log->list[i].logger, logger) == 0)
      return &log->list[i];
  if (log->count == TB__RECORDING_LOG_MAX) return NULL;
  tb__recorded_log_t *entry = &log->list[log->count++];
  *entry = (tb__recorded_log_t){.sentence = sentence};
  copy_text(entry->logger, logger, strlen(logger));
  return entry;
}

static void note_logger(tb__recording_log_t *log, const char *name, int64_t off_ns)
{
  size_t i = 0;
  while (i < log->logger_count && strcmp(log->loggers[i].name, name) != 0)
    i++;
  if (i == TB__RECORDING_LOGGERS_MAX) return;
  tb__recorded_logger_t *logger = &log->loggers[i];
  if (i == log->logger_count) {
    *logger = (tb__recorded_logger_t){.least_ns = off_ns, .greatest_ns = off_ns};
    copy_text(logger->name, name, strlen(name));
    log->logger_count++;
  }
  logger->count++;
  if (off_ns < logger->least_ns) logger->least_ns = off_ns;
  if (off_ns > logger->greatest_ns) logger->greatest_ns = off_ns;
}

bool tb__recording_log_take(tb__recording_log_t *log, const void *cdr, size_t size, int64_t log_ns)
{
  static const tb__schema_t plain = {0}; /* CDR; what it holds is read without it */
  const char *name, *text;
  size_t stamp_at = 0, at = NAME_AT, name_length, text_length;
  int64_t stamp_ns;
  tb__message_t message;
  if (!cdr || tb__message_open(&message, &plain, cdr, size)) return false;
  if (tb__message_time(&message, &stamp_at, &stamp_ns) ||
      tb__message_string(&message, &at, &name, &name_length) ||
      tb__message_string(&message, &at, &text, &text_length))
    return false;
  char logger[TB__RECORDING_LOG_TEXT_SIZE];
  copy_text(logger, name, name_length);
  note_logger(log, logger, tb__sub_saturated(log_ns, stamp_ns));
  const tb__log_sentence_t *sentence = tb__log_sentence_find(text, text_length);
  if (!sentence) return true;
  tb__recorded_log_t *entry = entry_of(log, sentence, logger);
  if (entry && entry->count++ == 0) {
    entry->first_ns = log_ns;
    copy_text(entry->text, text, text_length);
  }
  return true;
}
