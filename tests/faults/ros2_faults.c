/* What ros2_calls.inc cannot express: calls of the C library whose memory another library frees.
 */
#include <stdio.h>
#include <stdlib.h>

#include "faults.h"

static FILE *text_stream;

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
  if (fault_strikes(FAULT_MEMORY, "open_memstream")) return NULL;
  FILE *stream = __real_open_memstream(text, size);
  if (stream) fault_count_blocks(1); /* the text, which its owner frees */
  text_stream = stream;
  return stream;
}

/* The text is what grows: here at the latest. Files that are read close without memory. */
int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);
int __wrap_fclose(FILE *stream)
{
  bool fails = stream == text_stream && fault_strikes(FAULT_MEMORY, "fclose");
  int result = __real_fclose(stream);
  return fails ? EOF : result;
}
