/* usage: fuzz_replay FOLDER
 *
 * Runs the fuzz target that FOLDER is named after over the files and folders in it, so that a
 * corpus is a regression test without libFuzzer. Prints how many inputs it ran; returns 0 unless an
 * input cannot be read or there was none. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TARGET(name) int name(const uint8_t *data, size_t size);
#include FUZZ_TARGETS
#undef TARGET

static const struct {
  const char *name;
  int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name) {#name, name},
#include FUZZ_TARGETS
#undef TARGET
};

static int (*target)(const uint8_t *data, size_t size);
static int inputs_run;

static int run_file(const char *path, size_t size)
{
  FILE *file = fopen(path, "rb");
  uint8_t *data =
      malloc(size ? size : 1); /* exact, so that sanitizers detect a read past the end */
  int failed = !file || !data || fread(data, 1, size, file) != size;
  if (failed)
    fprintf(stderr, "replay: %s cannot be read\n", path);
  else
    target(data, size);
  if (file) fclose(file);
  free(data);
  inputs_run++;
  return failed;
}

static int run_path(const char *path);

static int run_folder(const char *path)
{
  struct dirent **entries;
  int failed = 0, count = scandir(path, &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char inner[4096];
    snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') failed |= run_path(inner);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  return failed || count < 0;
}

static int run_path(const char *path)
{
  struct stat status;
  if (stat(path, &status) != 0) {
    fprintf(stderr, "replay: %s is not there\n", path);
    return 1;
  }
  return S_ISDIR(status.st_mode) ? run_folder(path) : run_file(path, (size_t)status.st_size);
}

int main(int argc, char **argv)
{
  const char *slash = argc == 2 ? strrchr(argv[1], '/') : NULL;
  for (size_t i = 0; slash && i < sizeof targets / sizeof *targets; i++)
    if (strcmp(slash + 1, targets[i].name) == 0) target = targets[i].run;
  if (!target) {
    fputs("usage: fuzz_replay FOLDER, where FOLDER has the name of a target\n", stderr);
    return 2;
  }
  int failed = run_folder(argv[1]);
  printf("replay: %d inputs\n", inputs_run);
  return failed || inputs_run == 0;
}
