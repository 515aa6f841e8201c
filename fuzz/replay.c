/* Runs a fuzz target over files and folders of inputs, so that a corpus is a regression test
 * without libFuzzer. Prints how many inputs it ran; returns 0 unless an input cannot be read or
 * there was none. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    LLVMFuzzerTestOneInput(data, size);
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
  int failed = 0;
  for (int i = 1; i < argc; i++)
    failed |= run_path(argv[i]);
  printf("replay: %d inputs\n", inputs_run);
  return failed || inputs_run == 0;
}
