/* Reads the demo bag, whose path is the argument, to its end. */
#include <stdio.h>
#include <timebase/bag_reader.h>

int main(int argc, char **argv)
{
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_error_t error = {0};
  unsigned long count = 0;
  if (argc != 2) return 2;
  tb_status_t status = tb_bag_reader_open(argv[1], NULL, &reader, &error);
  while (!status && !(status = tb_bag_reader_next(reader, &message, &error)))
    count++;
  if (status != TB_ERR_END || count == 0) {
    fprintf(stderr, "bag: %s: %s\n", tb_status_message(status), error.text);
    return 1;
  }
  tb_bag_reader_close(reader);
  printf("bag: ok, %lu messages\n", count);
  return 0;
}
