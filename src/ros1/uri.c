#include "ros1/uri.h"

#include <string.h>
#include <strings.h>

bool tb__ros1_host_is_valid(const char *host)
{
  static const char allowed[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:%";
  size_t length = strlen(host);
  return length > 0 && length < TB__ROS1_HOST_SIZE && strspn(host, allowed) == length;
}

bool tb__ros1_uri_parse(const char *text, tb__ros1_uri_t *out)
{
  tb__ros1_uri_t uri = {.port = 0};
  if (strncasecmp(text, "http://", 7) != 0) return false;
  text += 7;
  bool has_brackets = *text == '[';
  size_t length = strcspn(text += has_brackets, has_brackets ? "]" : ":/");
  if (length >= sizeof uri.host) return false;
  memcpy(uri.host, text, length);
  text += length;
  if (has_brackets && *text++ != ']') return false;
  uint32_t port = 0;
  if (*text++ != ':') return false;
  if (*text < '0' || *text > '9') return false;
  for (; *text >= '0' && *text <= '9'; text++) {
    port = port * 10 + (uint32_t)(*text - '0');
    if (port > UINT16_MAX) return false;
  }
  if (port == 0 || (*text != '\0' && *text != '/') || !tb__ros1_host_is_valid(uri.host))
    return false;
  uri.port = (uint16_t)port;
  *out = uri;
  return true;
}
