/* GLIBC_TUNABLES=glibc.malloc.tcache_count=0 unload_test PLUGIN
 *
 * Loads what uses timebase, runs it and unloads it, again and again. Nothing may be left: no
 * thread, no descriptor, no memory, no library. */
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS  30
#define WARM_UP 5 /* the loader and the C library keep some memory of their first loads */
#define LIBRARY "libtimebase.so." TB_SOVERSION

#ifdef __SANITIZE_THREAD__
#define THREADS_OF_SANITIZER 1 /* started with the first other thread */
#else
#define THREADS_OF_SANITIZER 0
#endif

static int entries(const char *path)
{
  int count = 0;
  DIR *folder = opendir(path);
  while (folder && readdir(folder))
    count++;
  if (folder) closedir(folder);
  return count;
}

static void fail(const char *what)
{
  fprintf(stderr, "unload_test: %s\n", what);
  exit(1);
}

static bool is_loaded(void)
{
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  if (library) dlclose(library);
  return library;
}

static void round_of(const char *plugin)
{
  void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(dlerror());
  int (*run)(void) = NULL;
  *(void **)&run = dlsym(library, "plugin_run");
  if (!run) fail("no plugin_run");
  if (!is_loaded()) fail(LIBRARY " is not there: nothing is tested");
  int wrong = run();
  if (wrong) {
    fprintf(stderr, "unload_test: plugin_run: %d\n", wrong);
    exit(1);
  }
  if (dlclose(library)) fail("dlclose");
}

int main(int argc, char **argv)
{
  if (argc != 2) return 2;
  int threads = entries("/proc/self/task") + THREADS_OF_SANITIZER;
  int descriptors = entries("/proc/self/fd");
  size_t used = 0;
  for (int i = 0; i < ROUNDS; i++) {
    if (i == WARM_UP) used = mallinfo2().uordblks;
    round_of(argv[1]);
    while (entries("/proc/self/task") != threads) /* one that is joined may still be seen */
      sched_yield();
    if (entries("/proc/self/fd") != descriptors) fail("a descriptor is left");
    if (is_loaded()) fail(LIBRARY " stays loaded");
  }
  if (mallinfo2().uordblks > used) fail("memory is left");
  printf("%d rounds\n", ROUNDS);
  return 0;
}
