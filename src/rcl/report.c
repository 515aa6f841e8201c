#include "rcl/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"
#include "rcl/interposed.h"
#include "rcl/note.h"
#include "rcl/ros_clock.h"
#include "rcl/shared_time.h"
#include "rcl/wall_timers.h"

#define VARIABLE "TIMEBASE_RCL_REPORT"

/* As a string of JSON, without quotes: anything that is not plain ASCII is left out as '?'. */
static void escape(const char *text, char *out, size_t size)
{
  size_t used = 0;
  for (; *text && used + 3 < size; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') out[used++] = '\\';
    out[used++] = c < 0x20 || c > 0x7e ? '?' : (char)c;
  }
  out[used] = '\0';
}

static void find_program(char *out, size_t size)
{
  char path[1024];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  escape(path, out, size);
}

/* The program of a node in Python is the interpreter: which script it is, only the arguments show.
 */
static void find_command(char *out, size_t size)
{
  char text[512];
  FILE *file = fopen("/proc/self/cmdline", "re");
  size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  while (length > 0 && !text[length - 1])
    length--;
  for (size_t i = 0; i < length; i++)
    if (!text[i]) text[i] = ' ';
  text[length] = '\0';
  escape(text, out, size);
}

/* "NAME", "NAME"; nothing of a process that is left alone. */
static void list_functions(bool is_followed, char *out, size_t size)
{
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; is_followed && i < TB__INTERPOSED_COUNT && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s\"%s\"", i ? ", " : "",
                             tb__interposed_names[i]);
}

/* A pipe that nothing reads from is an error; it does not block. */
static void append(const char *path, const char *line, size_t length)
{
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (file < 0 || write(file, line, length) != (ssize_t)length)
    tb__rcl_note("%s=%s cannot be written: %s", VARIABLE, path, strerror(errno));
  if (file >= 0) close(file);
}

/* To each file of the list: what `timebase run` reads, and what its user has asked for. */
static void append_to_all(const char *paths, const char *line, size_t length)
{
  char path[4096];
  for (const char *at = paths; *at;) {
    size_t size = strcspn(at, ":");
    snprintf(path, sizeof path, "%.*s", (int)size, at);
    if (path[0]) append(path, line, length);
    at += size + (at[size] == ':');
  }
}

void tb__report_write(const char *event)
{
  const char *paths = getenv(VARIABLE);
  const tb__librcl_release_t *release = tb__shared_time_release();
  char program[2048], command[1024], source[256], functions[1024], name[32], reason[512];
  char line[6656];
  const tb__timer_counts_t timers = tb__timer_counts();
  if (!paths || !paths[0] || !release) return;
  find_program(program, sizeof program);
  find_command(command, sizeof command);
  escape(tb__shared_time_name(), source, sizeof source);
  escape(tb__shared_time_refusal(), reason, sizeof reason);
  list_functions(tb__shared_time_is_followed(), functions, sizeof functions);
  snprintf(name, sizeof name, release->name ? "\"%s\"" : "null", release->name);
  int length = snprintf(
      line, sizeof line,
      "{\"event\": \"%s\", \"pid\": %ld, \"program\": \"%s\", \"command\": \"%s\", \"rcl\": %s, "
      "\"rcl_version\": \"%s\", \"source\": \"%s\", \"reason\": \"%s\", \"functions\": [%s], "
      "\"ros_clocks\": %u, \"ros_clocks_made\": %u, \"ros_timers_made\": %u, "
      "\"wall_timers_made\": %u, \"wall_timers_on_shared_time\": %u}\n",
      event, (long)getpid(), program, command, name, release->version, source, reason, functions,
      tb__ros_clocks_following(), tb__ros_clocks_made(), timers.ros,
      timers.wall + timers.wall_moved, timers.wall_moved);
  append_to_all(paths, line, (size_t)length);
}

/* A forked child that ran no program has reported nothing of its own. */
__attribute__((destructor)) static void report_exit(void)
{
  if (tb__ros_clocks_made() > 0 && !tb__is_forked()) tb__report_write("exit");
}
