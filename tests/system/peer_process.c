#include "system/peer_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

void peer_start(peer_t *peer, const char *const argv[])
{
  int in[2], out[2];
  memset(peer, 0, sizeof *peer);
  assert_int_equal(pipe2(in, O_CLOEXEC), 0);
  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  pid_t parent = getpid();
  peer->pid = fork();
  assert_true(peer->pid >= 0);
  if (peer->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that dies takes its peers along */
    if (getppid() != parent) _exit(127);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execv(argv[0], (char *const *)argv);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  peer->in = in[1];
  peer->out = out[0];
}

static void peer_read_more(peer_t *peer)
{
  struct pollfd wait = {peer->out, POLLIN, 0};
  int ready = poll(&wait, 1, PEER_LIMIT_MS);
  if (ready <= 0) fail_msg("peer %d printed nothing for %d ms", (int)peer->pid, PEER_LIMIT_MS);
  ssize_t count = read(peer->out, peer->pending + peer->pending_size,
                       sizeof peer->pending - peer->pending_size);
  if (count <= 0) fail_msg("peer %d has closed its output", (int)peer->pid);
  peer->pending_size += (size_t)count;
}

void peer_read_line(peer_t *peer, char *out, size_t size)
{
  char *end;
  while (!(end = memchr(peer->pending, '\n', peer->pending_size)))
    peer_read_more(peer);
  size_t length = (size_t)(end - peer->pending);
  assert_true(length < size);
  memcpy(out, peer->pending, length);
  out[length] = '\0';
  peer->pending_size -= length + 1;
  memmove(peer->pending, end + 1, peer->pending_size);
}

void peer_expect_line(peer_t *peer, const char *expected)
{
  char line[1024];
  peer_read_line(peer, line, sizeof line);
  assert_string_equal(line, expected);
}

void peer_say(peer_t *peer, const char *format, ...)
{
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  assert_in_range(length, 0, sizeof line - 2);
  line[length] = '\n';
  assert_int_equal(write(peer->in, line, (size_t)length + 1), length + 1);
}

void peer_go_on(peer_t *peer)
{
  peer_say(peer, "%s", "");
}

static int peer_end(peer_t *peer)
{
  int status = -1;
  while (waitpid(peer->pid, &status, 0) < 0 && errno == EINTR)
    ;
  close(peer->out);
  return status;
}

void peer_wait_killed(peer_t *peer)
{
  int status = peer_end(peer);
  close(peer->in);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
    fail_msg("peer %d ended with status 0x%x", (int)peer->pid, (unsigned)status);
}

void peer_stop(peer_t *peer)
{
  close(peer->in);
  int status = peer_end(peer);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail_msg("peer %d ended with status 0x%x", (int)peer->pid, (unsigned)status);
}
