/* A child process that a test talks to line by line. */
#ifndef TB_TEST_PEER_PROCESS_H
#define TB_TEST_PEER_PROCESS_H

#include <stdio.h>
#include <sys/types.h>

#define PEER_LIMIT_MS 120000

typedef struct peer {
  pid_t pid;
  int in;  /* its stdin; closing it asks the peer to end */
  int out; /* its stdout */
  char pending[8192];
  size_t pending_size;
} peer_t;

/* Starts argv[0] (a path) with the arguments up to NULL. Fails the test. */
void peer_start(peer_t *peer, const char *const argv[]);

/* The next line of its stdout, without newline. Fails the test when none comes in time. */
void peer_expect_line(peer_t *peer, const char *expected);
void peer_read_line(peer_t *peer, char *out, size_t size);

/* Sends it a line, which is made as by printf and has no newline. */
void peer_say(peer_t *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends it an empty line. */
void peer_go_on(peer_t *peer);

/* Asks it to end and waits; the test fails unless it returns 0. */
void peer_stop(peer_t *peer);

/* Waits until SIGKILL has ended it; the test fails if anything else has. */
void peer_wait_killed(peer_t *peer);

#endif
