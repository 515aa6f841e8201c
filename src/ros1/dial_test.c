/* Names of hosts are looked up off the loop's thread: the test has a resolver that hangs. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "held/parking.h"
#include "platform/time.h"
#include "ros1/dial.h"

#include "test.h"

#define LIMIT_NS INT64_C(60000000000)
#define SHORT_NS INT64_C(20000000)

static _Atomic uint32_t resolver_may_return; /* futex */
static _Atomic uint32_t resolvers_hang;

/* Instead of the C library's. */
int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict list)
{
  (void)node, (void)service, (void)hints, (void)list;
  atomic_fetch_add(&resolvers_hang, 1);
  while (!atomic_load(&resolver_may_return))
    tb__futex_wait_kernel(&resolver_may_return, 0, TB__NO_DEADLINE);
  atomic_fetch_sub(&resolvers_hang, 1);
  tb__futex_wake_all(&resolvers_hang);
  return EAI_NONAME;
}

typedef struct fixture {
  tb__ros1_loop_t loop;
  tb__ros1_dial_t dial;
  tb__ros1_uri_t peer;
  int64_t limit_ns;
  tb_status_t status;
  int fd;
  _Atomic uint32_t done; /* futex */
} fixture_t;

static void dialed(tb__ros1_dial_t *dial, int fd, const tb_error_t *error)
{
  fixture_t *fixture = TB__ROS1_OWNER(dial, fixture_t, dial);
  fixture->fd = fd;
  fixture->status = fd < 0 ? error->status : TB_OK;
  atomic_store(&fixture->done, 1);
  tb__futex_wake_all(&fixture->done);
}

static void start(void *user)
{
  fixture_t *fixture = user;
  tb__ros1_dial_start(&fixture->dial, &fixture->loop, &fixture->peer, fixture->limit_ns, dialed);
}

static void cancel(void *user)
{
  fixture_t *fixture = user;
  tb__ros1_dial_cancel(&fixture->dial);
}

static tb_status_t dial(fixture_t *fixture, const char *host, uint16_t port, int64_t limit_ns)
{
  snprintf(fixture->peer.host, sizeof fixture->peer.host, "%s", host);
  fixture->peer.port = port;
  fixture->limit_ns = limit_ns;
  atomic_store(&fixture->done, 0);
  tb__ros1_loop_call(&fixture->loop, start, fixture);
  while (!atomic_load(&fixture->done))
    tb__futex_wait_kernel(&fixture->done, 0, TB__NO_DEADLINE);
  return fixture->status;
}

static void test_addresses_are_dialed_while_resolvers_hang(void **state)
{
  (void)state;
  fixture_t fixture = {0};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
  assert_int_equal(listen(listener, 1), 0);
  assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
  assert_ok(tb__ros1_loop_start(&fixture.loop));

  for (int i = 0; i < TB__NAME_LOOKUPS_MAX; i++)
    assert_status(dial(&fixture, "robot", 1, SHORT_NS), TB_ERR_TIMEOUT);
  assert_status(dial(&fixture, "robot", 1, LIMIT_NS), TB_ERR_LIMIT);
  assert_ok(dial(&fixture, "127.0.0.1", ntohs(address.sin_port), LIMIT_NS));
  close(fixture.fd);
  close(listener);
  assert_status(dial(&fixture, "127.0.0.1", ntohs(address.sin_port), LIMIT_NS), TB_ERR_TRANSPORT);

  atomic_store(&resolver_may_return, 1);
  tb__futex_wake_all(&resolver_may_return);
  for (uint32_t left; (left = atomic_load(&resolvers_hang)) > 0;)
    tb__futex_wait_kernel(&resolvers_hang, left, TB__NO_DEADLINE);
  tb_status_t status; /* the last thread may not have ended */
  while ((status = dial(&fixture, "robot", 1, LIMIT_NS)) == TB_ERR_LIMIT)
    ;
  assert_status(status, TB_ERR_NOT_FOUND);
  tb__ros1_loop_stop(&fixture.loop);
}

static void test_a_loop_ends_while_a_resolver_hangs(void **state)
{
  (void)state;
  fixture_t fixture = {.peer = {"robot", 1}, .limit_ns = LIMIT_NS};
  atomic_store(&resolver_may_return, 0);
  assert_ok(tb__ros1_loop_start(&fixture.loop));
  tb__ros1_loop_call(&fixture.loop, start, &fixture);
  while (!atomic_load(&resolvers_hang))
    tb__futex_wait_kernel(
        &resolvers_hang, 0,
        (tb__deadline_t){TB__DEADLINE_STEADY, tb__real_steady_now_ns() + SHORT_NS});
  tb__ros1_loop_call(&fixture.loop, cancel, &fixture);
  tb__ros1_loop_stop(&fixture.loop);
  memset(&fixture.loop, 0xA5, sizeof fixture.loop); /* nobody uses it any more */
  atomic_store(&resolver_may_return, 1);
  tb__futex_wake_all(&resolver_may_return);
  for (uint32_t left; (left = atomic_load(&resolvers_hang)) > 0;)
    tb__futex_wait_kernel(&resolvers_hang, left, TB__NO_DEADLINE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_addresses_are_dialed_while_resolvers_hang),
      cmocka_unit_test(test_a_loop_ends_while_a_resolver_hangs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
