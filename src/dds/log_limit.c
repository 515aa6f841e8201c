#include "dds/log_limit.h"

static tb__log_cause_t *cause_find(tb__log_limit_t *limit, const char *file, uint32_t line,
                                   int64_t now_ns)
{
  tb__log_cause_t *oldest = &limit->causes[0];
  for (int i = 0; i < TB__LOG_CAUSES; i++) {
    tb__log_cause_t *cause = &limit->causes[i];
    if (cause->file == file && cause->line == line) return cause;
    if (!cause->file || (oldest->file && cause->begin_ns < oldest->begin_ns)) oldest = cause;
  }
  uint64_t left_out = oldest->left_out; /* reported with the next message */
  *oldest = (tb__log_cause_t){.file = file, .line = line, .begin_ns = now_ns, .left_out = left_out};
  return oldest;
}

bool tb__log_limit_take(tb__log_limit_t *limit, const char *file, uint32_t line, uint32_t most,
                        int64_t now_ns, uint64_t *out_left_out)
{
  *out_left_out = 0;
  if (most == 0 || !file) return true;
  tb__log_cause_t *cause = cause_find(limit, file, line, now_ns);
  if (now_ns - cause->begin_ns >= TB__LOG_LIMIT_SPAN_NS) {
    cause->begin_ns = now_ns;
    cause->passed = 0;
  }
  if (cause->passed >= most) {
    cause->left_out++;
    return false;
  }
  cause->passed++;
  *out_left_out = cause->left_out;
  cause->left_out = 0;
  return true;
}

uint64_t tb__log_limit_end(tb__log_limit_t *limit)
{
  uint64_t sum = 0;
  for (int i = 0; i < TB__LOG_CAUSES; i++)
    sum += limit->causes[i].left_out;
  *limit = (tb__log_limit_t){0};
  return sum;
}
