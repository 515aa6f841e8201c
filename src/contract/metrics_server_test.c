/* Metrics over HTTP, and clients that mean no good. All tests but those of its life share one
 * server. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <timebase/metrics_server.h>
#include <timebase/testing.h>
#include <timebase/time.h>
#include <unistd.h>

#include "forking.h"
#include "test.h"

#define TYPE "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"
#define BODY "# TYPE a gauge\na 1\n# EOF\n"

static tb_metrics_server_t *server;
static uint16_t port;
static char answer[1 << 20];
static size_t answer_size;

/* What `write` does. */
static atomic_int must_fail, calls, blocked_signals;
static atomic_size_t text_size; /* 0: BODY */

static tb_status_t write_text(size_t room, char *out, size_t *out_size, void *user)
{
  sigset_t set;
  assert_ptr_equal(user, &calls);
  atomic_fetch_add(&calls, 1);
  pthread_sigmask(SIG_SETMASK, NULL, &set);
  atomic_store(&blocked_signals, sigismember(&set, SIGINT) && sigismember(&set, SIGTERM) &&
                                     sigismember(&set, SIGPIPE) && !sigismember(&set, SIGBUS));
  if (atomic_load(&must_fail)) return TB_ERR_BUSY;
  size_t size = atomic_load(&text_size);
  *out_size = size ? size : strlen(BODY);
  if (*out_size > room) return TB_ERR_LIMIT;
  if (size)
    memset(out, 'x', size);
  else
    memcpy(out, BODY, strlen(BODY));
  return TB_OK;
}

static const tb_metrics_server_options_t any_port = {.write = write_text, .user = &calls};

static int connect_to(uint16_t to)
{
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(to), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct timeval limit = {60, 0}; /* a test that would wait for longer fails */
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(fd >= 0);
  assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
  return fd;
}

/* The server may have closed the connection already. */
static void send_to(int fd, const char *text, size_t size)
{
  for (ssize_t sent; size; text += sent, size -= (size_t)sent)
    if ((sent = send(fd, text, size, MSG_NOSIGNAL)) <= 0) return;
}

/* To the end of the connection, which it closes. */
static void receive(int fd)
{
  ssize_t got;
  answer_size = 0;
  while ((got = recv(fd, answer + answer_size, sizeof answer - 1 - answer_size, 0)) > 0)
    answer_size += (size_t)got;
  assert_true(got == 0 || errno == ECONNRESET);
  answer[answer_size] = '\0';
  close(fd);
}

static void ask(const char *request)
{
  int fd = connect_to(port);
  send_to(fd, request, strlen(request));
  receive(fd);
}

static int status_of_answer(void)
{
  int status = 0;
  return sscanf(answer, "HTTP/1.%*d %d", &status) == 1 ? status : 0;
}

static int status_for_host(const char *host)
{
  char request[256];
  snprintf(request, sizeof request, "GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n", host);
  ask(request);
  return status_of_answer();
}

static int status_for_name(const char *name)
{
  char host[128];
  snprintf(host, sizeof host, "%s:%u", name, port);
  return status_for_host(host);
}

static int status_for(const char *method, const char *path)
{
  char request[256];
  snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", method, path,
           port);
  ask(request);
  return status_of_answer();
}

static void assert_is_served(void)
{
  assert_int_equal(status_for("GET", "/metrics"), 200);
  assert_non_null(strstr(answer, "\r\n\r\n" BODY));
}

/* --- answers --- */

static void test_get_and_head(void **state)
{
  (void)state;
  assert_int_equal(status_for("GET", "/metrics"), 200);
  assert_non_null(strstr(answer, TYPE));
  assert_string_equal(strstr(answer, "\r\n\r\n") + 4, BODY);
  assert_int_equal(status_for("HEAD", "/metrics"), 200);
  assert_non_null(strstr(answer, TYPE));
  assert_string_equal(strstr(answer, "\r\n\r\n") + 4, "");
  assert_int_equal(status_for("GET", "/metrics?a=b"), 200);
  assert_true(atomic_load(&blocked_signals));
}

static void test_nothing_else(void **state)
{
  (void)state;
  int before = atomic_load(&calls);
  assert_int_equal(status_for("GET", "/"), 404);
  assert_int_equal(status_for("GET", "/metrics/"), 404);
  assert_int_equal(status_for("GET", "/metrics/../../etc/passwd"), 404);
  assert_int_equal(status_for("GET", "http://localhost/metrics"), 404);
  assert_int_equal(status_for("POST", "/metrics"), 405);
  assert_non_null(strstr(answer, "Allow: GET, HEAD\r\n"));
  assert_int_equal(status_for("DELETE", "/metrics"), 405);
  assert_int_equal(status_for("get", "/metrics"), 405);
  assert_int_equal(atomic_load(&calls), before);
}

static void test_host(void **state)
{
  (void)state;
  assert_int_equal(status_for_name("127.0.0.1"), 200);
  assert_int_equal(status_for_name("LocalHost"), 200);
  assert_int_equal(status_for_name("[::1]"), 200);
  int before = atomic_load(&calls);
  assert_int_equal(status_for_name("evil.example"), 421);
  assert_int_equal(status_for_name("127.0.0.1.evil.example"), 421);
  assert_int_equal(status_for_name("localhost.evil.example"), 421);
  assert_int_equal(status_for_name("evil.example@localhost"), 421);
  assert_int_equal(status_for_name("0.0.0.0"), 421);
  assert_int_equal(status_for_host("localhost"), 421);
  assert_int_equal(status_for_host("localhost:1"), 421);
  assert_int_equal(status_for_host(""), 421);
  static const char *const twice[] = {
      "GET /metrics HTTP/1.1\r\nHost: localhost:%u\r\nHost: evil.example\r\n\r\n",
      "GET /metrics HTTP/1.1\r\nHost: evil.example\r\nHost: localhost:%u\r\n\r\n"};
  for (size_t i = 0; i < 2; i++) {
    char request[256];
    const char *mark = strstr(twice[i], "%u");
    snprintf(request, sizeof request, "%.*s%u%s", (int)(mark - twice[i]), twice[i], port, mark + 2);
    ask(request);
    assert_true(status_of_answer() == 421 || status_of_answer() == 400);
  }
  ask("GET /metrics HTTP/1.0\r\n\r\n");
  assert_true(status_of_answer() == 421 || status_of_answer() == 400);
  assert_int_equal(atomic_load(&calls), before);
}

static void test_failures_of_the_writer(void **state)
{
  (void)state;
  atomic_store(&must_fail, 1);
  assert_int_equal(status_for("GET", "/metrics"), 503);
  atomic_store(&must_fail, 0);
  atomic_store(&text_size, ((size_t)4 << 20) + 1);
  assert_int_equal(status_for("GET", "/metrics"), 503);
  atomic_store(&text_size, 700000);
  assert_int_equal(status_for("GET", "/metrics"), 200);
  assert_int_equal(answer + answer_size - (strstr(answer, "\r\n\r\n") + 4), 700000);
  atomic_store(&text_size, 0);
  assert_is_served();
}

/* --- clients that mean no good --- */

static void test_garbage(void **state)
{
  (void)state;
  static const char *const requests[] = {
      "\r\n\r\n\r\n",
      "GET\r\n\r\n",
      "\x16\x03\x01\x02\x01\x01\xfc\x03\x03\r\n\r\n",
      "GET /metrics HTTP/9.9\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET /metrics HTTP/1.1\r\nHost\r\n\r\n",
      "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  };
  int before = atomic_load(&calls);
  assert_ok(tb_testing_hold_os_time());
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    int fd = connect_to(port);
    send_to(fd, requests[i], strlen(requests[i]));
    shutdown(fd, SHUT_WR);
    receive(fd); /* one that is not complete is closed as its client has ended it */
    assert_int_not_equal(status_of_answer(), 200);
  }
  assert_ok(tb_testing_release_os_time());
  assert_int_equal(atomic_load(&calls), before);
  assert_is_served();
}

/* Their ends come together with what they send. They would keep all places for their 10 s, which do
 * not pass here. */
static void test_half_requests_that_are_closed_at_once(void **state)
{
  (void)state;
  static const char half[] = "GET /metrics HTTP/1.1\r\n";
  assert_ok(tb_testing_hold_os_time());
  for (int i = 0; i < 100; i++) {
    int fd = connect_to(port);
    send_to(fd, half, strlen(half));
    close(fd);
  }
  assert_is_served();
  assert_ok(tb_testing_release_os_time());
}

/* It reads to the end, having closed its own side. */
static void test_a_client_that_has_sent_all(void **state)
{
  (void)state;
  char request[128];
  int fd = connect_to(port);
  atomic_store(&text_size, sizeof answer / 2);
  snprintf(request, sizeof request, "GET /metrics HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", port);
  send_to(fd, request, strlen(request));
  assert_int_equal(shutdown(fd, SHUT_WR), 0);
  receive(fd);
  assert_int_equal(status_of_answer(), 200);
  assert_true(answer_size > sizeof answer / 2);
  atomic_store(&text_size, 0);
}

static void test_huge_headers(void **state)
{
  (void)state;
  enum { SIZE = 1 << 20 };
  char *header = malloc(SIZE);
  assert_non_null(header);
  memset(header, 'a', SIZE);
  int fd = connect_to(port);
  static const char begin[] = "GET /metrics HTTP/1.1\r\nX: ";
  send_to(fd, begin, strlen(begin));
  send_to(fd, header, SIZE);
  receive(fd);
  assert_int_not_equal(status_of_answer(), 200);
  fd = connect_to(port);
  send_to(fd, "GET /", 5);
  send_to(fd, header, SIZE);
  receive(fd);
  assert_int_not_equal(status_of_answer(), 200);
  free(header);
  assert_is_served();
}

/* They take all places, and lose them after 10 s whatever they send meanwhile. */
static void test_slow_clients(void **state)
{
  (void)state;
  enum { CLIENTS = 8 };
  int fds[CLIENTS];
  assert_ok(tb_testing_hold_os_time());
  for (int i = 0; i < CLIENTS; i++) {
    fds[i] = connect_to(port);
    send_to(fds[i], "GET /metrics HTTP/1.1\r\nX: ", 26);
  }
  int waiting = connect_to(port); /* is accepted when one of them is gone */
  char request[128];
  snprintf(request, sizeof request, "GET /metrics HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", port);
  send_to(waiting, request, strlen(request));
  int before = atomic_load(&calls);
  for (int i = 0; i < CLIENTS; i++)
    send_to(fds[i], "a", 1);
  struct pollfd answered = {.fd = waiting, .events = POLLIN};
  assert_int_equal(poll(&answered, 1, 100), 0); /* it would have been answered at once */
  assert_int_equal(atomic_load(&calls), before);
  /* Places are given when the server accepts: time passes until all have one. */
  while (poll(&answered, 1, 20) == 0) {
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){TB_NS_PER_S}));
    send_to(fds[0], "a", 1);
  }
  receive(waiting);
  assert_int_equal(status_of_answer(), 200);
  for (int i = 0; i < CLIENTS; i++) {
    tb_status_t status = tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){TB_NS_PER_S * 11});
    assert_ok(status);
    receive(fds[i]);
    assert_int_not_equal(status_of_answer(), 200);
  }
  assert_ok(tb_testing_release_os_time());
  assert_is_served();
}

/* --- its life --- */

static void test_a_port_in_use(void **state)
{
  (void)state;
  tb_metrics_server_t *other = NULL;
  tb_metrics_server_options_t options = any_port;
  tb_error_t error = TB_ERROR_INIT;
  char text[16];
  options.port = port;
  assert_status(tb_metrics_server_create(&options, &other, &error), TB_ERR_SYSTEM);
  assert_null(other);
  snprintf(text, sizeof text, "port %u ", port);
  assert_non_null(strstr(error.text, text));
  assert_non_null(strstr(error.text, strerror(EADDRINUSE)));
}

static void test_destroyed_with_clients(void **state)
{
  (void)state;
  tb_metrics_server_t *other = NULL;
  assert_ok(tb_metrics_server_create(&any_port, &other, NULL));
  uint16_t its_port = tb_metrics_server_port(other);
  assert_int_not_equal(its_port, port);
  int fds[3];
  for (int i = 0; i < 3; i++)
    fds[i] = connect_to(its_port);
  send_to(fds[1], "GET /met", 8);
  tb_metrics_server_destroy(other);
  for (int i = 0; i < 3; i++)
    receive(fds[i]);
  tb_metrics_server_options_t options = any_port;
  options.port = its_port; /* which is free again */
  assert_ok(tb_metrics_server_create(&options, &other, NULL));
  assert_int_equal(tb_metrics_server_port(other), its_port);
  tb_metrics_server_destroy(other);
}

static void test_a_forked_child_touches_nothing(void **state)
{
  (void)state;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    tb_metrics_server_t *other = NULL;
    int is_good = tb_metrics_server_create(&any_port, &other, NULL) == TB_ERR_FORKED;
    tb_metrics_server_destroy(server);
    _exit(is_good ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_is_served();
}

static void test_newer_options(void **state)
{
  (void)state;
  struct {
    tb_metrics_server_options_t known;
    uint64_t more;
  } newer = {any_port, 1};
  tb_metrics_server_t *other = NULL;
  assert_status(tb_metrics_server_create_sized(&newer.known, sizeof newer, &other, NULL),
                TB_ERR_UNSUPPORTED);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_get_and_head),
      cmocka_unit_test(test_nothing_else),
      cmocka_unit_test(test_host),
      cmocka_unit_test(test_failures_of_the_writer),
      cmocka_unit_test(test_garbage),
      cmocka_unit_test(test_half_requests_that_are_closed_at_once),
      cmocka_unit_test(test_a_client_that_has_sent_all),
      cmocka_unit_test(test_huge_headers),
      cmocka_unit_test(test_slow_clients),
      cmocka_unit_test(test_a_port_in_use),
      cmocka_unit_test(test_destroyed_with_clients),
      cmocka_unit_test(test_a_forked_child_touches_nothing),
      cmocka_unit_test(test_newer_options),
  };
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_metrics_server_create(&any_port, &server, &error);
  if (status == TB_ERR_UNSUPPORTED) {
    printf("skipped: %s\n", error.text);
    return 0;
  }
  if (status) {
    printf("%s\n", error.text);
    return 1;
  }
  port = tb_metrics_server_port(server);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tb_metrics_server_destroy(server);
  return failed;
}
