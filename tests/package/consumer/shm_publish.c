/* Publishes a time, given in ns, on shared memory (NAME TIME), prints a line when that is done, and
 * lives until its stdin ends. */
#include <stdio.h>
#include <stdlib.h>
#include <timebase/shm_publisher.h>

int main(int argc, char **argv)
{
  tb_shm_publisher_t *publisher;
  if (argc != 3 || tb_shm_publisher_open(argv[1], NULL, &publisher, NULL) != TB_OK) return 1;
  if (tb_shm_publisher_tick(publisher, atoll(argv[2]), TB_JUMP_REASON_NONE) != TB_OK) return 1;
  puts("published");
  fflush(stdout);
  getchar();
  tb_shm_publisher_close(publisher);
  return 0;
}
