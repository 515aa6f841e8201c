/* A request that servers of both kinds know, so that one in a wrong form is noticed. */
#ifndef TB_TEST_FASTDDS_ASK_H
#define TB_TEST_FASTDDS_ASK_H

#include <sched.h>

#include "system/peer_process.h"
#include "test.h"

#define ASK_TYPE "rcl_interfaces/srv/GetParameters"

/* rcl_interfaces/srv/GetParameters for use_sim_time, with its padding. */
static const unsigned char ask_request[] = {0,   1,   0,   0,   1,   0,   0,   0,   13,  0,
                                            0,   0,   'u', 's', 'e', '_', 's', 'i', 'm', '_',
                                            't', 'i', 'm', 'e', 0,   0,   0,   0};

/* That have come to a server so far; none was in a wrong form. */
static inline unsigned requests_of(peer_t *peer)
{
  char line[128];
  unsigned requests = 0, malformed = 1;
  peer_say(peer, "count");
  peer_read_line(peer, line, sizeof line);
  assert_int_equal(sscanf(line, "requests %u malformed %u", &requests, &malformed), 2);
  assert_int_equal(malformed, 0);
  return requests;
}

/* A call ends with the first answer: another server may still be about to get its request. */
static inline void await_requests(peer_t *peer, unsigned expected)
{
  while (requests_of(peer) < expected)
    sched_yield();
}

#endif
