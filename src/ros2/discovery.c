#include "ros2/discovery.h"
#include "base/no_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define PEER_LENGTH_MAX 255 /* RMW_DISCOVERY_OPTIONS_STATIC_PEERS_MAX_LENGTH - 1 */

/* The interval grows up to 100 ms for a reader that does not answer. */
#define PROMPT_ACKS                                                                                \
  "<CycloneDDS><Domain><Internal><HeartbeatInterval min=\"100 us\" minsched=\"100 us\" "           \
  "max=\"100 ms\">100 us</HeartbeatInterval></Internal></Domain></CycloneDDS>,"

typedef enum range {
  RANGE_SUBNET,
  RANGE_LOCALHOST,
  RANGE_OFF,
  RANGE_SYSTEM_DEFAULT,
} range_t;

static const char *value_or_empty(const char *value)
{
  return value ? value : "";
}

tb__ros2_environment_t tb__ros2_environment_read(void)
{
  return (tb__ros2_environment_t){
      .domain_id = getenv("ROS_DOMAIN_ID"),
      .distro = getenv("ROS_DISTRO"),
      .discovery_range = getenv("ROS_AUTOMATIC_DISCOVERY_RANGE"),
      .static_peers = getenv("ROS_STATIC_PEERS"),
      .localhost_only = getenv("ROS_LOCALHOST_ONLY"),
      .cyclonedds_uri = getenv("CYCLONEDDS_URI"),
  };
}

tb_status_t tb__domain_id_parse(const char *text, uint32_t *out, tb_error_t *error)
{
  text = value_or_empty(text);
  if (text[0] == '\0') {
    *out = 0;
    return TB_OK;
  }
  char *end;
  errno = 0;
  unsigned long id = strtoul(text, &end, 0);
  if (end == text || *end != '\0')
    return tb_error_set(error, TB_ERR_INVALID, "ROS_DOMAIN_ID '%s' is not an integer", text);
  if (errno == ERANGE || id > TB__DOMAIN_ID_MAX)
    return tb_error_set(error, TB_ERR_RANGE, "ROS_DOMAIN_ID '%s' is out of range: 0 to %d", text,
                        TB__DOMAIN_ID_MAX);
  *out = (uint32_t)id;
  return TB_OK;
}

static range_t range_of(const tb__ros2_environment_t *environment)
{
  const char *range = value_or_empty(environment->discovery_range);
  if (strcmp(value_or_empty(environment->localhost_only), "1") == 0) return RANGE_LOCALHOST;
  if (range[0] == '\0' || strcmp(range, "SUBNET") == 0) return RANGE_SUBNET;
  if (strcmp(range, "OFF") == 0) return RANGE_OFF;
  if (strcmp(range, "SYSTEM_DEFAULT") == 0) return RANGE_SYSTEM_DEFAULT;
  if (strcmp(range, "LOCALHOST") != 0)
    tb__log(TB_LOG_WARN, "unknown ROS_AUTOMATIC_DISCOVERY_RANGE '%s': LOCALHOST is used", range);
  return RANGE_LOCALHOST;
}

/* ROS_LOCALHOST_ONLY=1 overrides the peers as well. */
static const char *peers_of(const tb__ros2_environment_t *environment)
{
  if (strcmp(value_or_empty(environment->localhost_only), "1") == 0) return "";
  return value_or_empty(environment->static_peers);
}

static void put_escaped(FILE *out, const char *text, size_t length)
{
  for (size_t i = 0; i < length; i++) {
    switch (text[i]) {
    case '&':
      fputs("&amp;", out);
      break;
    case '<':
      fputs("&lt;", out);
      break;
    case '>':
      fputs("&gt;", out);
      break;
    case '"':
      fputs("&quot;", out);
      break;
    case '\'':
      fputs("&apos;", out);
      break;
    default:
      putc(text[i], out);
    }
  }
}

static bool peer_is_valid(const char *peer, size_t length)
{
  for (size_t i = 0; i < length; i++) {
    if ((unsigned char)peer[i] <= ' ' || peer[i] == 0x7f) return false;
  }
  return length <= PEER_LENGTH_MAX;
}

static tb_status_t put_peers(FILE *out, const char *peers, tb_error_t *error)
{
  while (*peers) {
    size_t length = strcspn(peers, ";");
    if (!peer_is_valid(peers, length))
      return tb_error_set(
          error, TB_ERR_INVALID,
          "ROS_STATIC_PEERS: '%.*s' is not a peer; use at most %d characters, no blanks",
          (int)(length < 64 ? length : 64), peers, PEER_LENGTH_MAX);
    if (length > 0) {
      fputs("<Peer address=\"", out);
      put_escaped(out, peers, length);
      fputs("\"/>", out);
    }
    peers += length + (peers[length] == ';');
  }
  return TB_OK;
}

static tb_status_t put_range(FILE *out, range_t range, const char *peers, int pid,
                             tb_error_t *error)
{
  tb_status_t status = TB_OK;
  fputs("<CycloneDDS><Domain>", out);
  if (range != RANGE_SUBNET)
    fputs("<General><AllowMulticast>false</AllowMulticast></General>", out);
  fputs("<Discovery>", out);
  if (range == RANGE_OFF) {
    fprintf(out, "<ParticipantIndex>none</ParticipantIndex><Tag>ros_discovery_off_%d</Tag>", pid);
  } else {
    fputs("<ParticipantIndex>auto</ParticipantIndex>"
          "<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>",
          out);
    if (range == RANGE_LOCALHOST || peers[strspn(peers, ";")]) {
      fputs("<Peers>", out);
      if (range == RANGE_LOCALHOST) fputs("<Peer address=\"localhost\"/>", out);
      status = put_peers(out, peers, error);
      fputs("</Peers>", out);
    }
  }
  fputs("</Discovery></Domain></CycloneDDS>,", out);
  return status;
}

tb_status_t tb__discovery_config(const tb__ros2_environment_t *environment, int pid, char **out,
                                 tb_error_t *error)
{
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return tb__no_memory_for(error, "discovery settings");
  range_t range = range_of(environment);
  const char *peers = peers_of(environment);
  if (peers[0] && (range == RANGE_OFF || range == RANGE_SYSTEM_DEFAULT))
    tb__log(TB_LOG_WARN, "ROS_STATIC_PEERS has no effect with this ROS_AUTOMATIC_DISCOVERY_RANGE");
  tb_status_t status = TB_OK;
  if (range != RANGE_SYSTEM_DEFAULT) status = put_range(stream, range, peers, pid, error);
  if (environment->prompt_acks) fputs(PROMPT_ACKS, stream);
  fputs(value_or_empty(environment->cyclonedds_uri), stream);
  bool incomplete = ferror(stream) != 0;
  incomplete = fclose(stream) != 0 || incomplete;
  text = tb__libc_adopt(text, size);
  if (incomplete || !text) status = tb__no_memory_for(error, "discovery settings");
  if (status) {
    free(text);
    return status;
  }
  *out = text;
  return TB_OK;
}
