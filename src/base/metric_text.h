/* What is the same in OpenMetrics text wherever it is written: the head of a family, and labels. */
#ifndef TB_BASE_METRIC_TEXT_H
#define TB_BASE_METRIC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Where the text goes. */
typedef struct tb__metric_sink {
  void (*put)(void *to, const char *bytes, size_t size);
  void *to;
} tb__metric_sink_t;

static inline void tb__metric_put(tb__metric_sink_t sink, const char *text)
{
  sink.put(sink.to, text, strlen(text));
}

/* `before`: "{" for the first one, "," for others. Bytes of the value that are not printable ASCII
 * become '?'. */
static inline void tb__metric_label(tb__metric_sink_t sink, const char *before, const char *name,
                                    const char *value)
{
  tb__metric_put(sink, before);
  tb__metric_put(sink, name);
  tb__metric_put(sink, "=\"");
  for (; *value; value++) {
    bool is_plain = *value >= 0x20 && *value <= 0x7e;
    if (*value == '\\' || *value == '"') sink.put(sink.to, "\\", 1);
    sink.put(sink.to, is_plain ? value : "?", 1);
  }
  tb__metric_put(sink, "\"");
}

static inline void tb__metric_line(tb__metric_sink_t sink, const char *keyword, const char *name,
                                   const char *rest, const char *end)
{
  tb__metric_put(sink, keyword);
  tb__metric_put(sink, name);
  tb__metric_put(sink, " ");
  tb__metric_put(sink, rest);
  tb__metric_put(sink, end);
}

/* `unit`: the end of the name, or NULL. `help`: without a full stop, and nothing to escape. */
static inline void tb__metric_head(tb__metric_sink_t sink, const char *name, const char *type,
                                   const char *unit, const char *help)
{
  tb__metric_line(sink, "# TYPE ", name, type, "\n");
  if (unit) tb__metric_line(sink, "# UNIT ", name, unit, "\n");
  tb__metric_line(sink, "# HELP ", name, help, ".\n");
}

#endif
