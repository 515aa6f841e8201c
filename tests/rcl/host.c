/* host MODULE SCENARIO: a program that loads its client library, and with it librcl, where other
 * libraries do not see them, as Python loads rclpy's. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  void *module = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void *address = module ? dlsym(module, "client_run") : NULL;
  int (*run)(const char *scenario);
  if (!address) {
    fprintf(stderr, "host: %s\n", argc == 3 ? dlerror() : "two arguments are needed");
    return 2;
  }
  memcpy(&run, &address, sizeof run);
  return run(argv[2]);
}
