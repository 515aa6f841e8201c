/* Keeps the traffic of tests on the loopback interface, and checks that. */
#ifndef TB_TEST_LOOPBACK_H
#define TB_TEST_LOOPBACK_H

/* For this process and its children: no multicast, `lo` alone, and a domain for one test. */
void loopback_setup(int domain_id);

/* Fails the test if an IPv4 UDP socket of process `pid` (0: this one) is bound to an address that
 * is neither of loopback nor the wildcard (which Cyclone binds its receiving sockets to), or if
 * any program on this machine has joined DDS's multicast group anywhere but on `lo`. */
void loopback_check(int pid);

#endif
