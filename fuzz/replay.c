/* Runs a fuzz target over files, and over every file below folders, without libFuzzer:
 * replay PATH... Says how many inputs were run; none is a failure. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static size_t inputs;

static int run_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 1;
  }
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  uint8_t *bytes = size < 0 ? NULL : malloc(size ? (size_t)size : 1);
  int failed = !bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size;
  fclose(file);
  if (failed) {
    fprintf(stderr, "%s: cannot be read\n", path);
  } else {
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
    inputs++;
  }
  free(bytes);
  return failed;
}

static int visit(const char *path, const struct stat *info, int flag, struct FTW *walk)
{
  (void)info;
  (void)walk;
  if (flag == FTW_F) return run_file(path);
  return flag == FTW_D ? 0 : 1;
}

int main(int argc, char **argv)
{
  int failed = 0;
  for (int i = 1; i < argc && !failed; i++)
    failed = nftw(argv[i], visit, 16, FTW_PHYS);
  printf("%zu inputs run\n", inputs);
  return failed || inputs == 0;
}
