#include <string.h>

#include "ros1_ticks.h"

bool ros1_is_asked(int argc, char **argv)
{
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (!strcmp(argv[i], "--ros1")) return true;
  return false;
}
