#include "system/loopback.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "test.h"

#define SOCKETS_MAX 256

static const char config[] =
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name=\"lo\" multicast=\"false\"/>"
    "</Interfaces><AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto"
    "</ParticipantIndex><Peers><Peer address=\"localhost\"/></Peers></Discovery></Domain>"
    "</CycloneDDS>";

/* Until this process ends: where tests have no network and /dev/shm of their own (tests/launch.c),
 * the same test of another checkout would interfere. Programs take their domains in rising order,
 * so they do not deadlock. */
static void domain_lock(int domain_id)
{
  static bool held[256];
  char path[64];
  if (held[domain_id & 255]) return;
  held[domain_id & 255] = true;
  snprintf(path, sizeof path, "/dev/shm/timebase-test-domain-%d.lock", domain_id);
  int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd >= 0) flock(fd, LOCK_EX); /* without a lock the test is as good when it runs alone */
}

void loopback_setup(int domain_id)
{
  char id[16];
  domain_lock(domain_id);
  snprintf(id, sizeof id, "%d", domain_id);
  assert_int_equal(setenv("ROS_DOMAIN_ID", id, 1), 0);
  assert_int_equal(setenv("CYCLONEDDS_URI", config, 1), 0);
  unsetenv("ROS_AUTOMATIC_DISCOVERY_RANGE");
  unsetenv("ROS_STATIC_PEERS");
  unsetenv("ROS_LOCALHOST_ONLY");
  unsetenv("ROS_SECURITY_ENABLE");
}

/* Inodes of the sockets that the process has open. */
static size_t socket_inodes(int pid, unsigned long out[SOCKETS_MAX])
{
  char folder[64], path[600], target[64];
  size_t count = 0;
  snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
  DIR *entries = opendir(folder);
  assert_non_null(entries);
  for (struct dirent *entry; (entry = readdir(entries)) && count < SOCKETS_MAX;) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = '\0';
    if (sscanf(target, "socket:[%lu]", &out[count]) == 1) count++;
  }
  closedir(entries);
  return count;
}

static bool contains(const unsigned long *values, size_t count, unsigned long value)
{
  for (size_t i = 0; i < count; i++) {
    if (values[i] == value) return true;
  }
  return false;
}

/* Addresses in /proc/net/udp are hexadecimal in host order: 0100007F is 127.0.0.1. */
static void check_bound_addresses(int pid)
{
  unsigned long inodes[SOCKETS_MAX];
  size_t count = socket_inodes(pid, inodes), seen = 0;
  char line[512];
  FILE *table = fopen("/proc/net/udp", "r");
  assert_non_null(table);
  while (fgets(line, sizeof line, table)) {
    unsigned address, port;
    unsigned long inode;
    if (sscanf(line, " %*d: %x:%x %*x:%*x %*x %*x:%*x %*x:%*x %*x %*d %*d %lu", &address, &port,
               &inode) != 3 ||
        !contains(inodes, count, inode))
      continue;
    seen++;
    if (address != 0 && (address & 0xff) != 127)
      fail_msg("process %d has a UDP socket bound to %08x port %u", pid, address, port);
  }
  fclose(table);
  assert_true(seen > 0);
}

/* 239.255.0.1, DDS's default group, is 0100FFEF there. */
static void check_no_multicast(void)
{
  char line[256], interface[32] = "";
  FILE *table = fopen("/proc/net/igmp", "r");
  if (!table) return;
  while (fgets(line, sizeof line, table)) {
    char name[32];
    if (sscanf(line, "%*d %31[^: \t]", name) == 1)
      strcpy(interface, name);
    else if (strstr(line, "0100FFEF") && strcmp(interface, "lo") != 0)
      fail_msg("a program has joined 239.255.0.1 on %s", interface);
  }
  fclose(table);
}

void loopback_check(int pid)
{
  check_bound_addresses(pid ? pid : getpid());
  check_no_multicast();
}
