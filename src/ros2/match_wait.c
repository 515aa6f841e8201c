#include "ros2/match_wait.h"

#include "wait/call_wait.h"

typedef struct awaited {
  tb__raw_writer_t *writer;
  tb__raw_reader_t *reader;
  uint32_t count;
} awaited_t;

static tb_status_t writer_look(void *user)
{
  const awaited_t *awaited = user;
  return tb__raw_writer_matched(awaited->writer) >= awaited->count ? TB_OK : TB_ERR_TIMEOUT;
}

tb_status_t tb__writer_wait_for_matched(tb__raw_writer_t *writer, uint32_t count,
                                        const tb_wait_options_t *options)
{
  awaited_t awaited = {.writer = writer, .count = count};
  return tb__call_wait(options, tb__raw_writer_match_word(writer), writer_look, &awaited);
}

static tb_status_t reader_look(void *user)
{
  const awaited_t *awaited = user;
  if (tb__raw_reader_is_closed(awaited->reader)) return TB_ERR_CLOSED;
  return tb__raw_reader_matched(awaited->reader) >= awaited->count ? TB_OK : TB_ERR_TIMEOUT;
}

tb_status_t tb__reader_wait_for_matched(tb__raw_reader_t *reader, uint32_t count,
                                        const tb_wait_options_t *options)
{
  awaited_t awaited = {.reader = reader, .count = count};
  return tb__call_wait(options, tb__raw_reader_match_word(reader), reader_look, &awaited);
}
