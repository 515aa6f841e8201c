/* What `timebase observe` measures, as a live view of the whole terminal. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keys.h"
#include "observe.h"
#include "observe_arguments.h"
#include "screen_log.h"
#include "screen_view.h"
#include "text.h"
#include "top_picture.h"

#define HELP_SHOWN (-1)

enum { FD_SIGNAL, FD_KEYS, FD_VIEW, FD_COUNT };

typedef struct top {
  observe_t observe;
  observe_arguments_t arguments;
  terminal_t terminal;
  screen_view_t *view;
  screen_log_t log;
  keys_t keys;
  top_control_t control;
  top_table_t table;
  top_findings_t findings;
  const top_row_t **shown;
  size_t shown_room;
  int64_t counted_ns; /* steady: counts are from then on */
} top_t;

/* --- the screen --- */

/* False: it is gone, or memory is short. */
static bool show(top_t *top)
{
  if (top->shown_room < top->table.count) {
    const top_row_t **grown = reallocarray(top->shown, top->table.room, sizeof *grown);
    if (!grown) return false;
    top->shown = grown;
    top->shown_room = top->table.room;
  }
  const top_picture_t picture = {
      .table = &top->table,
      .findings = &top->findings,
      .control = &top->control,
      .log = &top->log,
      .shown = top->shown,
      .domain = (uint32_t)tb_ros2_context_domain_id(top->observe.context),
      .seconds = (observe_steady_now(&top->observe) - top->counted_ns) / TB_NS_PER_S,
  };
  return screen_view_show(top->view, top_picture_draw, &picture);
}

static void update(top_t *top)
{
  if (top->control.is_paused) return;
  top_table_update(&top->table, &top->observe, &top->findings);
}

/* --- keys --- */

/* False: to quit. */
static bool take_key(top_t *top, int key)
{
  bool was_paused = top->control.is_paused;
  top_order_t order = top_control_take(&top->control, key);
  if (order == TOP_RESTART) {
    observe_restart_counts(&top->observe);
    top_findings_fini(&top->findings);
    top->counted_ns = observe_steady_now(&top->observe);
    update(top);
  }
  if (was_paused && !top->control.is_paused) update(top);
  return order != TOP_QUIT;
}

static bool take_keys(top_t *top)
{
  char bytes[64];
  size_t count = terminal_read(&top->terminal, bytes, sizeof bytes);
  if (count == 0) return false; /* the terminal is gone */
  for (size_t i = 0; i < count; i++)
    if (!take_key(top, keys_take(&top->keys, bytes[i]))) return false;
  return true;
}

/* --- the run --- */

static int until_ms(const top_t *top, int64_t deadline_ns)
{
  int64_t left_ns = deadline_ns - observe_steady_now(&top->observe);
  return left_ns > 0 ? (int)((left_ns + TB_NS_PER_MS - 1) / TB_NS_PER_MS) : 0;
}

static void top_run(top_t *top)
{
  observe_pace_t pace = observe_pace_begin(&top->observe);
  bool goes_on = true;
  update(top);
  goes_on = show(top);
  while (goes_on) {
    bool is_second = observe_keep_pace(&top->observe, &pace);
    if (is_second) update(top);
    if (is_second) goes_on = show(top);
    struct pollfd fds[FD_COUNT] = {
        [FD_SIGNAL] = {command_signal_fd(), POLLIN, 0},
        [FD_KEYS] = {top->terminal.keyboard ? STDIN_FILENO : -1, POLLIN, 0},
        [FD_VIEW] = {screen_view_fd(top->view), POLLIN, 0}};
    int ready = poll(fds, FD_COUNT, until_ms(top, pace.step_ns));
    if (ready > 0 && fds[FD_SIGNAL].revents) break;
    if (ready > 0 && fds[FD_VIEW].revents) screen_view_handle_input(top->view);
    if (ready > 0 && fds[FD_KEYS].revents) goes_on = take_keys(top) && goes_on;
    if (ready == 0) take_key(top, keys_pause(&top->keys));
    if (goes_on && ready > 0) goes_on = show(top);
  }
}

static void log_warning(void *user, const char *text)
{
  screen_log_add(user, "warning", text);
}

static int open_screen(top_t *top)
{
  terminal_open(&top->terminal);
  if (top->terminal.keyboard)
    top->view = screen_view_open(&top->terminal, TOP_PICTURE_ROWS_MIN, TOP_PICTURE_COLUMNS_MIN);
  if (!top->view) {
    terminal_close(&top->terminal);
    text_err("timebase top: the terminal is smaller than %d x %d, too simple (TERM), or not in the "
             "foreground; 'timebase observe' prints the same\n",
             TOP_PICTURE_COLUMNS_MIN, TOP_PICTURE_ROWS_MIN);
    return EXIT_IO;
  }
  if (!screen_log_open(&top->log, top->observe.command)) {
    screen_view_close(top->view);
    terminal_close(&top->terminal);
    return command_failed(top->observe.command, TB_ERR_NO_MEMORY, NULL);
  }
  top->observe.warn = log_warning;
  top->observe.warn_user = &top->log;
  return EXIT_OK;
}

static int observe_and_show(top_t *top)
{
  command_show_log(top->observe.command);
  command_catch_signals();
  int result = observe_arguments_open(&top->arguments);
  if (!result) result = open_screen(top);
  if (!result) {
    top->counted_ns = top->observe.begin_ns;
    top_run(top);
    screen_view_close(top->view);
    terminal_close(&top->terminal);
    screen_log_close(&top->log);
    top->observe.warn = NULL;
  }
  observe_close(&top->observe);
  top_table_fini(&top->table);
  top_findings_fini(&top->findings);
  free(top->shown);
  return command_finish(top->observe.command, result);
}

/* --- the command --- */

static int take_arguments(top_t *top, int argc, char **argv)
{
  static const struct option options[] = {
      OBSERVE_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  const command_t *command = top->observe.command;
  int option;
  while ((option = command_next_option(argc, argv, ":h", options)) != -1) {
    if (option == 'h') return command_help(command) == EXIT_OK ? HELP_SHOWN : EXIT_IO;
    if (!observe_take_option(&top->arguments, option, argv)) return EXIT_USAGE;
  }
  int result = observe_take_topics(&top->arguments, argc, argv);
  if (result) return result;
  if (!screen_view_is_built_in()) {
    text_err("timebase top: built without ncurses; 'timebase observe' prints the same\n");
    return EXIT_USAGE;
  }
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
    text_err("timebase top: standard %s is not a terminal; 'timebase observe' prints the same\n",
             isatty(STDIN_FILENO) ? "output" : "input");
    return EXIT_USAGE;
  }
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  top_t *top = calloc(1, sizeof *top);
  if (!top) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  top->observe.command = command;
  int result = observe_arguments_init(&top->arguments, &top->observe);
  if (result == EXIT_OK) result = take_arguments(top, argc, argv);
  if (result == EXIT_OK) result = observe_and_show(top);
  observe_arguments_fini(&top->arguments);
  free(top);
  return result == HELP_SHOWN ? EXIT_OK : result;
}

const command_t command_top = {
    .name = "top",
    .summary = "show live what observe measures: ages, rates, losses, stamps, /clock",
    .usage = "timebase top [TOPIC...] [--path FROM:TO[:BUDGET]]... [--find-paths]\n"
             "                    [--definitions DIR]... [--max-topics N] [--domain N]",
    .help = "Shows what 'timebase observe' measures on the whole terminal, each second: /clock,\n"
            "paths, a row for each publisher of a topic, what the row of the cursor has no room\n"
            "for, and the latest findings, by the ids of 'timebase audit --rules' where there is\n"
            "one. It receives as 'timebase observe' does, and publishes nothing. Wider terminals\n"
            "have more columns; 'timebase observe --help' describes them. TOPIC is a name or a\n"
            "pattern with * and ? (they match '/' too); without one all topics are observed.\n\n"
            "Keys: UP DOWN PGUP PGDN g G move, s S sort by the next, the previous column, r the\n"
            "other way round, / shows rows with a text in topic, type or publisher, w those with\n"
            "something wrong, SPACE pauses the screen, z counts from now on, ? shows help, q\n"
            "quits. Counts, ages, jitter and quantiles are those since the start or z; rates are\n"
            "those of the last second, factor and rate of /clock too; its jumps and stalls are\n"
            "those since the start.\n\n" OBSERVE_OPTIONS_HELP
            "Status 2 if standard input or output is not a terminal, 3 if the terminal is not\n"
            "usable: smaller than 30 x 6, or too simple.\n",
    .run = run,
};
