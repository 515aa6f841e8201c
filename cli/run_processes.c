/* The processes that a command has started: which follow the time, and why others cannot. What is
 * found of a process is kept when it has ended. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/shm_readers.h>
#include <unistd.h>

#include "run.h"
#include "text.h"

#define ENVIRONMENT_MAX (256 * 1024)
#define DEPTH_MAX       64
#define NAME_SIZE       32

/* Why nothing can be preloaded into a process, or it does not know of the time; the first one seen
 * of each kind. */
typedef enum obstacle {
  OBSTACLE_SETUID,
  OBSTACLE_STATIC,
  OBSTACLE_NO_PRELOAD,
  OBSTACLE_NO_SOURCE,
  OBSTACLE_COUNT,
} obstacle_t;

struct run_processes {
  const run_environment_t *environment;
  struct {
    pid_t id; /* 0: none */
    char name[NAME_SIZE];
  } seen[OBSTACLE_COUNT];
  char *room; /* ENVIRONMENT_MAX */
  char own_program[1024];
};

/* --- the tree --- */

/* 0: there is no such process. */
static pid_t parent_of(pid_t process)
{
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  size_t length = fread(line, 1, sizeof line - 1, file);
  fclose(file);
  line[length] = '\0';
  const char *after_name = strrchr(line, ')');
  if (!after_name || strlen(after_name) < strlen(") S 1")) return 0;
  return (pid_t)strtol(after_name + strlen(") S "), NULL,
                       10); /* a letter between them: the state */
}

static bool has_started(pid_t root, uint64_t process)
{
  if (process > INT32_MAX) return false;
  pid_t at = (pid_t)process;
  for (int depth = 0; at > 1 && depth < 1000; depth++) {
    at = parent_of(at);
    if (at == root) return true;
  }
  return false;
}

int run_followers(const char *name)
{
  tb_shm_readers_t *readers;
  int count = 0;
  if (tb_shm_readers_create(name, NULL, &readers, NULL)) return -1;
  for (size_t i = 0; i < readers->count; i++) {
    const tb_shm_reader_t *reader = &readers->readers[i];
    if (reader->in_process_namespace && has_started(getpid(), reader->process_id)) count++;
  }
  tb_shm_readers_destroy(readers);
  return count;
}

/* --- what is in the way --- */

static void note(run_processes_t *self, obstacle_t obstacle, pid_t process)
{
  char path[64];
  if (self->seen[obstacle].id) return;
  snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
  FILE *file = fopen(path, "re");
  size_t length = file ? fread(self->seen[obstacle].name, 1, NAME_SIZE - 1, file) : 0;
  if (file) fclose(file);
  self->seen[obstacle].name[length] = '\0';
  self->seen[obstacle].name[strcspn(self->seen[obstacle].name, "\n")] = '\0';
  self->seen[obstacle].id = process;
}

/* An ELF program that names no dynamic loader. */
static bool is_static(FILE *file)
{
  Elf64_Ehdr header;
  if (fread(&header, sizeof header, 1, file) != 1 || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      sizeof(void *) != 8)
    return false;
  for (int i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr part;
    if (fseek(file, (long)header.e_phoff + (long)i * header.e_phentsize, SEEK_SET) ||
        fread(&part, sizeof part, 1, file) != 1 || part.p_type == PT_INTERP)
      return false;
  }
  return true;
}

/* False: nothing is in the way of the program, or it cannot be read. */
static bool find_in_program(FILE *file, obstacle_t *out)
{
  struct stat status;
  if (!file) return false;
  bool is_setuid = !fstat(fileno(file), &status) && status.st_mode & (S_ISUID | S_ISGID);
  *out = is_setuid ? OBSTACLE_SETUID : OBSTACLE_STATIC;
  return is_setuid || is_static(file);
}

/* Its value; NULL: it is not there. */
static const char *find_variable(const char *environment, size_t size, const char *name)
{
  size_t length = strlen(name);
  for (const char *at = environment; at < environment + size; at += strlen(at) + 1)
    if (strncmp(at, name, length) == 0 && at[length] == '=') return at + length + 1;
  return NULL;
}

static void look_at_environment(run_processes_t *self, pid_t process)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/environ", (int)process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  size_t size = 0;
  if (file < 0) return;
  for (ssize_t got; size < ENVIRONMENT_MAX - 1; size += (size_t)got)
    if ((got = read(file, self->room + size, ENVIRONMENT_MAX - 1 - size)) <= 0) break;
  close(file);
  self->room[size] = '\0';
  if (access(path, F_OK) || size == ENVIRONMENT_MAX - 1) return; /* it has ended, or is not known */
  const char *preload = find_variable(self->room, size, "LD_PRELOAD");
  const char *source = find_variable(self->room, size, "TIMEBASE_SOURCE");
  if (self->environment->library && (!preload || !strstr(preload, self->environment->library)))
    note(self, OBSTACLE_NO_PRELOAD, process);
  else if (!source)
    note(self, OBSTACLE_NO_SOURCE, process);
}

/* One that has begun no program of its own yet still is a copy of this one. */
static void look_at_process(run_processes_t *self, pid_t process)
{
  char path[64], program[sizeof self->own_program];
  obstacle_t obstacle;
  snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
  ssize_t length = readlink(path, program, sizeof program - 1);
  if (length <= 0) return; /* it has ended, or is another user's */
  program[length] = '\0';
  if (strcmp(program, self->own_program) == 0) return;
  FILE *file = fopen(path, "re");
  if (find_in_program(file, &obstacle))
    note(self, obstacle, process);
  else
    look_at_environment(self, process);
  if (file) fclose(file);
}

/* The numbers are each followed by a space. */
static void look_below(run_processes_t *self, pid_t process, int depth)
{
  char path[64], *text = NULL;
  size_t size = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
  FILE *file = depth < DEPTH_MAX ? fopen(path, "re") : NULL;
  while (file && getdelim(&text, &size, ' ', file) > 0) {
    pid_t child = (pid_t)strtol(text, NULL, 10);
    if (child <= 0) continue;
    look_at_process(self, child);
    look_below(self, child, depth + 1);
  }
  free(text);
  if (file) fclose(file);
}

void run_processes_look(run_processes_t *self)
{
  look_below(self, getpid(), 0);
}

run_processes_t *run_processes_create(const run_environment_t *environment)
{
  run_processes_t *self = calloc(1, sizeof *self);
  char *room = malloc(ENVIRONMENT_MAX);
  if (!self || !room) {
    free(self);
    free(room);
    return NULL;
  }
  self->environment = environment;
  self->room = room;
  ssize_t length = readlink("/proc/self/exe", self->own_program, sizeof self->own_program - 1);
  self->own_program[length > 0 ? length : 0] = '\0';
  return self;
}

void run_processes_destroy(run_processes_t *self)
{
  if (self) free(self->room);
  free(self);
}

/* --- why not --- */

/* Not a pipe, which nobody may write to. */
static FILE *open_file(const char *name)
{
  struct stat is;
  return stat(name, &is) == 0 && S_ISREG(is.st_mode) ? fopen(name, "re") : NULL;
}

static FILE *open_program(const char *program)
{
  if (strchr(program, '/')) return open_file(program);
  const char *path = getenv("PATH");
  for (const char *at = path ? path : ""; *at;) {
    size_t length = strcspn(at, ":");
    char file[4096];
    snprintf(file, sizeof file, "%.*s/%s", (int)length, at, program);
    if (access(file, X_OK) == 0) return open_file(file);
    at += length + (at[length] == ':');
  }
  return NULL;
}

static const char *text_of(obstacle_t obstacle)
{
  switch (obstacle) {
  case OBSTACLE_SETUID:
    return "is setuid or setgid, so no library can be preloaded into it";
  case OBSTACLE_STATIC:
    return "is linked statically, so no library can be preloaded into it";
  case OBSTACLE_NO_PRELOAD:
    return "has no LD_PRELOAD with libtimebase-rcl.so: what started it has removed it from its "
           "environment";
  case OBSTACLE_NO_SOURCE:
  case OBSTACLE_COUNT:
    break;
  }
  return "has no TIMEBASE_SOURCE: what started it has removed it from its environment";
}

/* A program that has ended before it was looked at is judged by its file. */
bool run_processes_explain(const run_processes_t *self, const char *program)
{
  obstacle_t obstacle;
  for (obstacle = 0; self && obstacle < OBSTACLE_COUNT; obstacle++) {
    if (!self->seen[obstacle].id) continue;
    text_err("timebase run: %s (process %d) ", self->seen[obstacle].name,
             (int)self->seen[obstacle].id);
    text_err("%s\n", text_of(obstacle));
    return true;
  }
  FILE *file = open_program(program);
  bool is_found = find_in_program(file, &obstacle);
  if (file) fclose(file);
  if (is_found) text_err("timebase run: %s %s\n", program, text_of(obstacle));
  return is_found;
}
