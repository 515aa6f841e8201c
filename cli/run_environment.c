/* What `timebase run` puts in the environment of its command. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/status.h>
#include <unistd.h>

#include "run.h"
#include "text.h"

#define LIBRARY     "libtimebase-rcl.so"
#define WALL_TIMERS "TIMEBASE_WALL_TIMERS"

static char *path_in(const char *folder, size_t length, const char *rest)
{
  char *path;
  return asprintf(&path, "%.*s%s", (int)length, folder, rest) < 0 ? NULL : path;
}

/* `file` is in the same folder as the library, or in the folder beside it. NULL: it is not. */
static char *find_beside(const char *file)
{
  static const char *const places[] = {"/" LIBRARY, "/../lib/" LIBRARY};
  const char *slash = strrchr(file, '/');
  if (!slash) return NULL;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char *path = path_in(file, (size_t)(slash - file), places[i]);
    char *real = path ? realpath(path, NULL) : NULL;
    free(path);
    if (real) return real;
  }
  return NULL;
}

/* Beside the library that this command is linked with, or beside the command. */
static char *find_library(void)
{
  Dl_info core;
  char program[4096], *found = NULL;
  if (dladdr((const void *)(uintptr_t)tb_status_name, &core) && core.dli_fname)
    found = find_beside(core.dli_fname);
  if (found) return found;
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return NULL;
  program[length] = '\0';
  return find_beside(program);
}

/* Whether a list for LD_PRELOAD has the file already. */
static bool lists(const char *preload, const char *file)
{
  size_t length = strlen(file);
  for (const char *at = preload; (at = strstr(at, file)); at += length)
    if ((at == preload || strchr(": ", at[-1])) && (!at[length] || strchr(": ", at[length])))
      return true;
  return false;
}

static char *preload_of(const char *library)
{
  const char *inherited = getenv("LD_PRELOAD");
  char *preload;
  if (!inherited || !inherited[0]) return strdup(library);
  if (lists(inherited, library)) return strdup(inherited);
  return asprintf(&preload, "%s:%s", library, inherited) < 0 ? NULL : preload;
}

int run_environment_find(const command_t *command, const run_arguments_t *arguments,
                         const run_relay_t *relay, run_environment_t *out)
{
  out->source = relay ? path_in("shm:", 4, run_relay_name(relay)) : strdup(arguments->source);
  out->wall_timers = arguments->wall_timers;
  if (!out->source) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  out->library = find_library();
  if (!out->library) {
    text_err("timebase run: %s is not installed beside this command: ROS 2 programs keep their own "
             "time; programs that use timebase follow it\n",
             LIBRARY);
    return EXIT_OK;
  }
  if (strpbrk(out->library, ": ")) {
    text_err("timebase run: %s cannot be preloaded: its path has a space or a colon\n",
             out->library);
    return EXIT_IO;
  }
  out->preload = preload_of(out->library);
  return out->preload ? EXIT_OK : command_failed(command, TB_ERR_NO_MEMORY, NULL);
}

void run_environment_release(run_environment_t *environment)
{
  free(environment->source);
  free(environment->preload);
  free(environment->library);
}

/* In single quotes, as any shell takes it: a quote is '\''. */
static void print_export(const char *name, const char *value)
{
  text_out("export %s='", name);
  for (; *value; value++)
    text_own(stdout, *value == '\'' ? "'\\''" : (char[]){*value, '\0'});
  text_own(stdout, "'\n");
}

void run_environment_print(const run_environment_t *environment)
{
  print_export("TIMEBASE_SOURCE", environment->source);
  if (environment->preload) print_export("LD_PRELOAD", environment->preload);
  if (environment->wall_timers) print_export(WALL_TIMERS, "1");
}

int run_environment_set(const command_t *command, const run_environment_t *environment)
{
  if (setenv("TIMEBASE_SOURCE", environment->source, 1) ||
      (environment->preload && setenv("LD_PRELOAD", environment->preload, 1)) ||
      (environment->wall_timers && setenv(WALL_TIMERS, "1", 1)))
    return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  return EXIT_OK;
}
