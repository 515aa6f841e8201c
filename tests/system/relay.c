/* A link between two network interfaces of its namespace that loses and delays Ethernet frames:
 *
 *   relay [--loss PERCENT] [--delay-ms MS] [--seed N] [--queue FRAMES] INTERFACE INTERFACE
 *
 * It prints "ready", takes a line each on standard input and answers with a line:
 *
 *   loss PERCENT   "loss"
 *   cut            "cut": in-flight and later frames are lost
 *   restore        "restored"
 *   counts         "counts NAME NUMBER NAME NUMBER ..." for what came on the first interface, then
 *                  such a line for the second
 *
 * and ends at the end of standard input. Frame n (from 0) of direction d (0: from the first
 * interface) is lost if draw(seed, d, n) is below the loss: which frames are lost follows from the
 * seed alone, whatever the other direction carries. */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S       INT64_C(1000000000)
#define NS_PER_MS      INT64_C(1000000)
#define FRAME_MAX      (64 * 1024 + 256)
#define RECEIVE_BUFFER (8 * 1024 * 1024)
#define AT_ONCE        64 /* frames taken from one interface before the other has its turn */

typedef struct frame {
  struct frame *next;
  int64_t due_ns;
  int direction;
  size_t size;
  uint8_t bytes[]; /* what the kernel reports of checksums (virtio_net_hdr), then the frame */
} frame_t;

/* What became of the frames of one direction. */
typedef struct counts {
  uint64_t received, multicast, lost, cut, overflow, overrun, forwarded, failed;
} counts_t;

typedef struct relay {
  int sockets[2];
  int timer;
  uint64_t seed;
  double loss; /* 0 to 1 */
  int64_t delay_ns;
  bool is_cut;
  frame_t *first, **end; /* in the order in which they are due, as the delay never changes */
  size_t waiting, queue_max;
  counts_t counts[2];
} relay_t;

static _Noreturn void fail(const char *format, ...)
{
  va_list arguments;
  int number = errno;
  fputs("relay: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, ": %s\n", strerror(number));
  exit(1);
}

static int64_t steady_now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* 0 to 1: splitmix64 by number instead of in sequence. */
static double draw(uint64_t seed, int direction, uint64_t number)
{
  uint64_t z = seed + (2 * number + (uint64_t)direction + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-53;
}

/* --- the queue --- */

static void timer_set(const relay_t *relay)
{
  struct itimerspec when = {0}; /* disarmed */
  if (relay->first) {
    when.it_value.tv_sec = relay->first->due_ns / NS_PER_S;
    when.it_value.tv_nsec = relay->first->due_ns % NS_PER_S;
  }
  if (timerfd_settime(relay->timer, TFD_TIMER_ABSTIME, &when, NULL) != 0) fail("timerfd_settime");
}

static void frame_put(relay_t *relay, frame_t *frame)
{
  frame->next = NULL;
  *relay->end = frame;
  relay->end = &frame->next;
  if (relay->waiting++ == 0) timer_set(relay);
}

static frame_t *frame_take(relay_t *relay)
{
  frame_t *frame = relay->first;
  relay->first = frame->next;
  if (!relay->first) relay->end = &relay->first;
  relay->waiting--;
  return frame;
}

static void frame_send(relay_t *relay, frame_t *frame)
{
  counts_t *counts = &relay->counts[frame->direction];
  int socket = relay->sockets[!frame->direction];
  if (send(socket, frame->bytes, frame->size, MSG_DONTWAIT) == (ssize_t)frame->size)
    counts->forwarded++;
  else
    counts->failed++;
  free(frame);
}

static void send_due(relay_t *relay)
{
  uint64_t times;
  if (read(relay->timer, &times, sizeof times) < 0 && errno != EAGAIN) fail("timerfd");
  int64_t now_ns = steady_now_ns();
  while (relay->first && relay->first->due_ns <= now_ns)
    frame_send(relay, frame_take(relay));
  timer_set(relay);
}

/* --- what comes --- */

static bool is_multicast(const uint8_t *frame)
{
  return frame[0] == 0x01 && frame[1] == 0x00 && frame[2] == 0x5e; /* of IPv4 */
}

static void take_frame(relay_t *relay, int direction, const uint8_t *bytes, size_t size)
{
  counts_t *counts = &relay->counts[direction];
  if (size < sizeof(struct virtio_net_hdr) + ETH_HLEN) return;
  bool is_lost = draw(relay->seed, direction, counts->received++) < relay->loss;
  counts->multicast += is_multicast(bytes + sizeof(struct virtio_net_hdr));
  if (relay->is_cut) {
    counts->cut++;
  } else if (is_lost) {
    counts->lost++;
  } else if (relay->waiting == relay->queue_max) {
    counts->overflow++;
  } else {
    frame_t *frame = malloc(sizeof *frame + size);
    if (!frame) fail("a frame");
    memcpy(frame->bytes, bytes, size);
    frame->size = size;
    frame->direction = direction;
    frame->due_ns = steady_now_ns() + relay->delay_ns;
    frame_put(relay, frame);
  }
}

static void take_frames(relay_t *relay, int direction)
{
  static uint8_t bytes[FRAME_MAX];
  for (int i = 0; i < AT_ONCE; i++) {
    ssize_t size = recv(relay->sockets[direction], bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size < 0) fail("receiving on interface %d", direction);
    if ((size_t)size > sizeof bytes) fail("a frame of %zd bytes", size);
    take_frame(relay, direction, bytes, (size_t)size);
  }
}

/* --- commands --- */

static void cut(relay_t *relay)
{
  relay->is_cut = true;
  while (relay->first) {
    frame_t *frame = frame_take(relay);
    relay->counts[frame->direction].cut++;
    free(frame);
  }
  timer_set(relay);
  puts("cut");
}

/* Overrun are those that the kernel had no room for: they have no number. */
static void report_counts(relay_t *relay)
{
  for (int i = 0; i < 2; i++) {
    counts_t *counts = &relay->counts[i];
    struct tpacket_stats kernel = {0};
    socklen_t size = sizeof kernel;
    if (getsockopt(relay->sockets[i], SOL_PACKET, PACKET_STATISTICS, &kernel, &size) != 0)
      fail("PACKET_STATISTICS");
    counts->overrun += kernel.tp_drops;
    printf("counts received %" PRIu64 " multicast %" PRIu64 " lost %" PRIu64 " cut %" PRIu64
           " overflow %" PRIu64 " overrun %" PRIu64 " forwarded %" PRIu64 " failed %" PRIu64 "\n",
           counts->received, counts->multicast, counts->lost, counts->cut, counts->overflow,
           counts->overrun, counts->forwarded, counts->failed);
  }
}

static double parse_loss(const char *text)
{
  char *end;
  double percent = strtod(text, &end);
  errno = EINVAL;
  if (end == text || (*end && *end != '\n') || !(percent >= 0 && percent <= 100))
    fail("loss %s", text);
  return percent / 100;
}

static void take_command(relay_t *relay, const char *line)
{
  if (!strncmp(line, "loss ", 5)) {
    relay->loss = parse_loss(line + 5);
    puts("loss");
  } else if (!strcmp(line, "cut\n")) {
    cut(relay);
  } else if (!strcmp(line, "restore\n")) {
    relay->is_cut = false;
    puts("restored");
  } else if (!strcmp(line, "counts\n")) {
    report_counts(relay);
  } else {
    errno = EINVAL;
    fail("command %s", line);
  }
}

/* --- setting up --- */

static int interface_open(const char *name)
{
  int on = 1, room = RECEIVE_BUFFER;
  int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* nothing before it is bound */
  if (fd < 0) fail("a packet socket");
  struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htobe16(ETH_P_ALL)};
  address.sll_ifindex = (int)if_nametoindex(name);
  if (!address.sll_ifindex) fail("%s", name);
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  /* Checksums that the sender has left to its interface stay so on the other side. */
  if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0 ||
      bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
    fail("%s", name);
  return fd;
}

static void parse(int argc, char **argv, relay_t *relay)
{
  int i = 1;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (!strcmp(argv[i], "--loss"))
      relay->loss = parse_loss(argv[i + 1]);
    else if (!strcmp(argv[i], "--delay-ms"))
      relay->delay_ns = strtoll(argv[i + 1], NULL, 10) * NS_PER_MS;
    else if (!strcmp(argv[i], "--seed"))
      relay->seed = strtoull(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "--queue"))
      relay->queue_max = strtoull(argv[i + 1], NULL, 10);
    else
      break;
  }
  errno = EINVAL;
  if (argc - i != 2) fail("arguments");
  relay->sockets[0] = interface_open(argv[i]);
  relay->sockets[1] = interface_open(argv[i + 1]);
}

/* False at the end of standard input. */
static bool take_commands(relay_t *relay)
{
  static char line[128];
  static size_t length;
  ssize_t count = read(STDIN_FILENO, line + length, sizeof line - 1 - length);
  if (count <= 0) return false;
  length += (size_t)count;
  for (char *end; (end = memchr(line, '\n', length));) {
    char command[sizeof line] = "";
    size_t size = (size_t)(end - line) + 1;
    memcpy(command, line, size);
    memmove(line, line + size, length -= size);
    take_command(relay, command);
  }
  return length < sizeof line - 1;
}

int main(int argc, char **argv)
{
  relay_t relay = {.queue_max = 4096};
  relay.end = &relay.first;
  setvbuf(stdout, NULL, _IOLBF, 0);
  parse(argc, argv, &relay);
  relay.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (relay.timer < 0) fail("timerfd");
  puts("ready");
  struct pollfd fds[] = {
      {relay.sockets[0], POLLIN, 0},
      {relay.sockets[1], POLLIN, 0},
      {relay.timer, POLLIN, 0},
      {STDIN_FILENO, POLLIN, 0},
  };
  for (;;) {
    if (poll(fds, 4, -1) < 0) fail("poll");
    for (int i = 0; i < 2; i++)
      if (fds[i].revents) take_frames(&relay, i);
    if (fds[2].revents) send_due(&relay);
    if (fds[3].revents && !take_commands(&relay)) break;
  }
  while (relay.first)
    free(frame_take(&relay));
  return 0;
}
