/* publisher NAME: publishes the times that it reads from its input, one a line, in nanoseconds;
 * with "jumps" in place of a time, back and forth until its input ends. Answers each line. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/shm_publisher.h>
#include <unistd.h>

static int jump_until_end(tb_shm_publisher_t *publisher)
{
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  for (int64_t i = 0; poll(&input, 1, 0) == 0; i++)
    if (tb_shm_publisher_tick(publisher, (i % 2 ? 900 : 1000) * TB_NS_PER_S + i,
                              TB_JUMP_REASON_NONE))
      return 1;
  return 0;
}

int main(int argc, char **argv)
{
  tb_shm_publisher_t *publisher;
  tb_error_t error = TB_ERROR_INIT;
  char line[64];
  if (argc != 2 || tb_shm_publisher_open(argv[1], NULL, &publisher, &error)) {
    fprintf(stderr, "publisher: %s\n", error.text);
    return 2;
  }
  puts("open");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    int failed = strcmp(line, "jumps\n")
                     ? (int)tb_shm_publisher_tick(publisher, atoll(line), TB_JUMP_REASON_NONE)
                     : jump_until_end(publisher);
    puts(failed ? "failed" : "done");
    fflush(stdout);
  }
  tb_shm_publisher_close(publisher);
  return 0;
}
