/* A request that servers of both kinds know, so that one in a wrong form is noticed. */
#ifndef TB_TEST_FASTDDS_ASK_H
#define TB_TEST_FASTDDS_ASK_H

#define ASK_TYPE "rcl_interfaces/srv/GetParameters"

/* rcl_interfaces/srv/GetParameters for use_sim_time, with its padding. */
static const unsigned char ask_request[] = {0,   1,   0,   0,   1,   0,   0,   0,   13,  0,
                                            0,   0,   'u', 's', 'e', '_', 's', 'i', 'm', '_',
                                            't', 'i', 'm', 'e', 0,   0,   0,   0};

#endif
