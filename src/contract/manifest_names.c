#include "contract/manifest_names.h"

#include <string.h>

#include "contract/manifest.h"

const char *tb__manifest_name_fault(const char *name, bool wildcards)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/";
  if (name[0] != '/') return "begins without '/'; write the full name, as 'ros2 node list' has it";
  if (strlen(name) > TB__MANIFEST_NAME_MAX) return "is longer than 256 bytes";
  if (name[strspn(name, plain)] == '\0') {
    if (!name[1] || name[strlen(name) - 1] == '/') return "ends with '/'";
    return strstr(name, "//") ? "has '//' in it" : NULL;
  }
  for (const char *at = name; *at; at++) {
    if (*at == '*' && !wildcards) return "is a pattern; only a name may be here";
    if (*at != '*' && !strchr(plain, *at)) return "has characters that no name of ROS has";
  }
  return NULL;
}

bool tb__manifest_name_is_valid(const char *name)
{
  return !tb__manifest_name_fault(name, false);
}
