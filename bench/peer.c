#include "peer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool peer_start(peer_t *peer, const char *kind, const char *role, const char *count)
{
  int in[2], out[2];
  char byte;
  *peer = PEER_NONE;
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) return false;
  fflush(NULL);
  peer->pid = fork();
  if (peer->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execl("/proc/self/exe", "bench", kind, role, count, (char *)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  peer->in = in[1];
  peer->out = out[0];
  return peer->pid > 0 && read(peer->out, &byte, 1) == 1;
}

void peer_end(peer_t *peer)
{
  if (peer->in >= 0) close(peer->in);
  if (peer->out >= 0) close(peer->out);
  if (peer->pid > 0) waitpid(peer->pid, NULL, 0);
}

int peer_serve(bool ready)
{
  char byte = 'r';
  if (!ready || write(STDOUT_FILENO, &byte, 1) != 1) return 1;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  _exit(0); /* like a killed process: without an orderly shutdown */
}

int64_t peer_cpu_ns(const peer_t *peer)
{
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(peer->pid, &clock) || clock_gettime(clock, &used)) return -1;
  return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

#ifdef TB_BENCH_ROS2
dds_qos_t *peer_lossless_qos(void)
{
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_INFINITY);
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, DDS_LENGTH_UNLIMITED);
  return qos;
}

dds_entity_t peer_participant(void)
{
  const char *domain = getenv("ROS_DOMAIN_ID");
  return dds_create_participant((dds_domainid_t)strtol(domain ? domain : "0", NULL, 10), NULL,
                                NULL);
}
#endif
