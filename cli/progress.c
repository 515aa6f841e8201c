#include "progress.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <timebase/duration.h>
#include <unistd.h>

#include "text.h"

#define PERIOD_MS    200
#define BEGIN_NS     TB_NS_PER_S
#define LEFT_FROM_NS TB_NS_PER_S /* an estimate from less than that jumps */
#define LEFT_FROM    0.01

static struct {
  bool is_quiet, is_open;
  const command_t *command;
  pthread_t thread;
  int end[2]; /* a pipe that ends when the thread should */
  int64_t begin_ns;
  uint64_t bytes_drawn;
  int64_t drawn_ns;
  double rate;
} line = {.rate = -1};

/* Of the thread that reads, for the one that draws; what does not fit together is shown for a
 * moment. */
static _Atomic int64_t span_start_ns, span_end_ns, span_at_ns, began_ns;
static _Atomic size_t span_index, span_count;
static _Atomic uint64_t message_count, bytes_before, bytes_expected;
static atomic_bool is_shown, was_printed;
static _Thread_local bool is_drawing;

bool progress_option(int option)
{
  if (option == PROGRESS_QUIET) line.is_quiet = true;
  return option == PROGRESS_QUIET;
}

/* --- how far it is --- */

void progress_span(int64_t start_ns, int64_t end_ns, size_t index, size_t count)
{
  if (!line.is_open) return;
  if (index == 0) {
    atomic_store(&message_count, 0);
    atomic_store(&began_ns, command_steady_ns());
  }
  atomic_store(&span_at_ns, start_ns);
  atomic_store(&span_start_ns, start_ns);
  atomic_store(&span_end_ns, end_ns);
  atomic_store(&span_index, index);
  atomic_store(&span_count, count);
}

/* One thread writes, so no order and no locked addition is needed. */
void progress_at(int64_t log_time_ns)
{
  uint64_t count = atomic_load_explicit(&message_count, memory_order_relaxed);
  atomic_store_explicit(&message_count, count + 1, memory_order_relaxed);
  atomic_store_explicit(&span_at_ns, log_time_ns, memory_order_relaxed);
}

/* All that the process has read, as the kernel counts it. False: it does not. */
static bool bytes_read(uint64_t *out)
{
  char text[512];
  int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[length > 0 ? length : 0] = '\0';
  const char *found = strstr(text, "rchar: ");
  if (found) *out = strtoull(found + strlen("rchar: "), NULL, 10);
  return found;
}

void progress_expect_bytes(uint64_t bytes)
{
  uint64_t before = 0;
  if (!line.is_open || !bytes_read(&before)) return;
  atomic_store(&began_ns, command_steady_ns());
  atomic_store(&bytes_before, before);
  atomic_store(&bytes_expected, bytes);
}

static double limited(double part)
{
  return part < 0 ? 0 : part > 0.99 ? 0.99 : part;
}

/* By log time, or else by bytes. */
static double part_done(uint64_t bytes)
{
  size_t count = atomic_load(&span_count);
  uint64_t expected = atomic_load(&bytes_expected);
  if (count == 0) return expected > 0 ? limited((double)bytes / (double)expected) : -1;
  int64_t start_ns = atomic_load(&span_start_ns), end_ns = atomic_load(&span_end_ns);
  if (end_ns <= start_ns) return -1;
  double length = (double)end_ns - (double)start_ns;
  double part = ((double)atomic_load(&span_at_ns) - (double)start_ns) / length;
  return limited(((double)atomic_load(&span_index) + limited(part)) / (double)count);
}

/* Of the time between two lines, smoothed. */
static void take_rate(uint64_t bytes, int64_t now_ns)
{
  double seconds = (double)(now_ns - line.drawn_ns) / 1e9;
  if (line.drawn_ns > 0 && seconds > 0) {
    double rate = (double)(bytes - line.bytes_drawn) / seconds;
    line.rate = line.rate < 0 ? rate : 0.8 * line.rate + 0.2 * rate;
  }
  line.bytes_drawn = bytes;
  line.drawn_ns = now_ns;
}

static progress_facts_t facts_now(int64_t now_ns)
{
  uint64_t bytes = 0;
  if (bytes_read(&bytes)) take_rate(bytes, now_ns);
  bool has_span = atomic_load(&span_count) > 0;
  return (progress_facts_t){
      .part = part_done(bytes - atomic_load(&bytes_before)),
      .rate = line.rate,
      .messages = has_span ? atomic_load(&message_count) : 0,
      .elapsed_ns = now_ns - atomic_load(&began_ns),
  };
}

/* --- as text --- */

static size_t put_left(const progress_facts_t *facts, char *out, size_t size)
{
  if (facts->part < LEFT_FROM || facts->elapsed_ns < LEFT_FROM_NS) return 0;
  double left_s = (double)facts->elapsed_ns / 1e9 * (1 - facts->part) / facts->part;
  int64_t seconds = (int64_t)(left_s + 0.5);
  if (seconds < 3600)
    return (size_t)snprintf(out, size, "  %d:%02d left", (int)(seconds / 60), (int)(seconds % 60));
  return (size_t)snprintf(out, size, "  %" PRId64 ":%02d:%02d left", seconds / 3600,
                          (int)(seconds / 60 % 60), (int)(seconds % 60));
}

void progress_text(const progress_facts_t *facts, char *out, size_t size)
{
  size_t used = 0;
  if (facts->part >= 0)
    used += (size_t)snprintf(out + used, size - used, "%d %%", (int)(100 * facts->part));
  else
    used += (size_t)snprintf(out + used, size - used, "reading");
  if (facts->rate >= 0)
    used += (size_t)snprintf(out + used, size - used, "  %.*f MB/s", facts->rate < 9.95e6 ? 1 : 0,
                             facts->rate / 1e6);
  if (facts->messages > 0)
    used += (size_t)snprintf(out + used, size - used, "  %" PRIu64 " message%s", facts->messages,
                             facts->messages == 1 ? "" : "s");
  put_left(facts, out + used, size - used);
}

/* --- on the terminal --- */

/* Before anything else is printed. */
static void hide(void)
{
  if (is_drawing) return;
  atomic_store(&was_printed, true);
  if (atomic_exchange(&is_shown, false)) text_err("\r\033[K");
}

static int columns_of_terminal(void)
{
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1 : 79;
}

/* What is printed meanwhile may be a part of a line: the next time will do. In the background the
 * terminal belongs to another program. */
static void draw(void)
{
  char text[160], row[256];
  int64_t now_ns = command_steady_ns();
  progress_facts_t facts = facts_now(now_ns);
  if (now_ns - line.begin_ns < BEGIN_NS || atomic_exchange(&was_printed, false) ||
      tcgetpgrp(STDERR_FILENO) != getpgrp())
    return;
  progress_text(&facts, text, sizeof text);
  snprintf(row, sizeof row, "%s: %s", line.command->name, text);
  flockfile(stderr);
  text_err("\r%.*s\033[K", columns_of_terminal(), row);
  atomic_store(&is_shown, true);
  funlockfile(stderr);
}

static void *show(void *unused)
{
  (void)unused;
  struct pollfd end = {line.end[0], POLLIN, 0};
  is_drawing = true;
  while (poll(&end, 1, PERIOD_MS) == 0)
    draw();
  return NULL;
}

static bool is_wanted(void)
{
  const char *type = getenv("TERM");
  return !line.is_quiet && !line.is_open && isatty(STDERR_FILENO) && type && *type &&
         strcmp(type, "dumb") != 0;
}

/* Signals are for the thread that reads. */
static bool start_thread(void)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(&line.thread, NULL, show, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

void progress_begin(const command_t *command)
{
  if (!is_wanted() || pipe2(line.end, O_CLOEXEC) != 0) return;
  line.command = command;
  line.begin_ns = command_steady_ns();
  atomic_store(&began_ns, line.begin_ns);
  line.is_open = start_thread();
  if (line.is_open) {
    text_set_before(hide);
    return;
  }
  close(line.end[0]);
  close(line.end[1]);
}

void progress_end(void)
{
  if (!line.is_open) return;
  close(line.end[1]);
  pthread_join(line.thread, NULL);
  close(line.end[0]);
  hide();
  text_set_before(NULL);
  atomic_store(&span_count, 0);
  line.is_open = false;
}
