/* Which processes that `timebase run` has started follow the time, and why they may not. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/shm_readers.h>
#include <timebase/shm_source.h>
#include <unistd.h>

#include "run.h"
#include "text.h"

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

bool run_has_started(pid_t root, uint64_t process)
{
  if (process > INT32_MAX) return false;
  pid_t at = (pid_t)process;
  for (int depth = 0; at > 1 && depth < 1000; depth++) {
    if (at == root) return true;
    at = parent_of(at);
  }
  return false;
}

int run_followers(const char *name, pid_t root)
{
  tb_shm_readers_t *readers;
  int count = 0;
  if (tb_shm_readers_create(name, NULL, &readers, NULL)) return -1;
  for (size_t i = 0; i < readers->count; i++) {
    const tb_shm_reader_t *reader = &readers->readers[i];
    if (reader->in_process_namespace && run_has_started(root, reader->process_id)) count++;
  }
  tb_shm_readers_destroy(readers);
  return count;
}

/* --- why not --- */

static FILE *open_program(const char *program)
{
  if (strchr(program, '/')) return fopen(program, "re");
  const char *path = getenv("PATH");
  for (const char *at = path ? path : ""; *at;) {
    size_t length = strcspn(at, ":");
    char file[4096];
    snprintf(file, sizeof file, "%.*s/%s", (int)length, at, program);
    if (access(file, X_OK) == 0) return fopen(file, "re");
    at += length + (at[length] == ':');
  }
  return NULL;
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

static bool has_publisher(const run_environment_t *environment)
{
  tb_source_t *source;
  tb_shm_status_t status = {0};
  if (tb_source_create_from_name(environment->source, &source, NULL)) return false;
  tb_shm_source_status(source, &status);
  tb_source_destroy(source);
  return status.has_publisher;
}

static const char *reason_of(const run_environment_t *environment, const char *program)
{
  struct stat status;
  const char *reason = NULL;
  if (!has_publisher(environment)) return "the time has no publisher";
  FILE *file = open_program(program);
  if (file && !fstat(fileno(file), &status) && status.st_mode & (S_ISUID | S_ISGID))
    reason = "it is setuid or setgid, so no library can be preloaded into it";
  else if (file && is_static(file))
    reason = "it is linked statically, so no library can be preloaded into it";
  if (file) fclose(file);
  if (reason) return reason;
  if (!environment->library)
    return "libtimebase-rcl.so was not found, and nothing in it uses timebase";
  return "nothing in it uses rcl or timebase, its ROS nodes have no clock yet, or the release of "
         "rcl "
         "is not known";
}

void run_explain(const run_environment_t *environment, const char *program)
{
  text_err("timebase run: %s\n", reason_of(environment, program));
}

/* --- reports --- */

void run_report_print(const char *path, const run_environment_t *environment)
{
  char line[8192];
  FILE *file = path[0] ? fopen(path, "re") : NULL;
  size_t count = 0;
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    text_out("%s\n", line);
    count++;
  }
  if (file) fclose(file);
  if (count) return;
  text_out("no process has loaded rcl%s\n",
           environment->library ? "" : ": libtimebase-rcl.so was not found");
}
