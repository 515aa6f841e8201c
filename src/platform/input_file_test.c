/* Files that are named in options. */
#include "platform/input_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"

static char folder[] = "/tmp/timebase-input-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/file", folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  return rmdir(folder);
}

static void write_bytes(size_t size)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  for (size_t i = 0; i < size; i++)
    fputc('a' + (int)(i % 26), file);
  fclose(file);
}

static void test_the_whole_file_is_read(void **state)
{
  (void)state;
  static const size_t sizes[] = {0, 1, 16382, 16383, 16384, 100000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char *bytes = NULL;
    size_t size = 77;
    write_bytes(sizes[i]);
    assert_ok(tb__input_file_read(path, sizes[i], &bytes, &size, NULL));
    assert_int_equal(size, sizes[i]);
    assert_int_equal(strlen(bytes), size);
    if (size) assert_int_equal(bytes[size - 1], 'a' + (int)((size - 1) % 26));
    free(bytes);
  }
  unlink(path);
}

static void assert_refused(const char *name, tb_status_t status, const char *why)
{
  tb_error_t error = TB_ERROR_INIT;
  char *bytes = NULL;
  size_t size = 77;
  assert_status(tb__input_file_read(name, 1000, &bytes, &size, &error), status);
  assert_null(bytes);
  assert_int_equal(size, 77);
  assert_memory_equal(error.text, name, strlen(name));
  if (!strstr(error.text, why)) fail_msg("'%s' does not contain '%s'", error.text, why);
}

static void test_what_is_too_large_is_refused(void **state)
{
  (void)state;
  write_bytes(1001);
  assert_refused(path, TB_ERR_LIMIT, "more than 1000 bytes");
  unlink(path);
  assert_refused(path, TB_ERR_NOT_FOUND, "No such file");
}

/* The pipes have no writer: opening one as usual would block. */
static void test_only_regular_files_are_read(void **state)
{
  (void)state;
  int ends[2];
  char name[40];
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_refused(path, TB_ERR_INVALID, "not a regular file but a pipe: write it to one first");
  unlink(path);
  assert_int_equal(pipe(ends), 0);
  snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
  assert_refused(name, TB_ERR_INVALID, "but a pipe");
  close(ends[0]);
  close(ends[1]);
  assert_refused("/dev/zero", TB_ERR_INVALID, "but a device");
  assert_refused(folder, TB_ERR_INVALID, "but a folder");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(socket_fd, (struct sockaddr *)&address, sizeof address), 0);
  assert_refused(path, TB_ERR_INVALID, "but a socket");
  close(socket_fd);
  unlink(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_whole_file_is_read),
      cmocka_unit_test(test_what_is_too_large_is_refused),
      cmocka_unit_test(test_only_regular_files_are_read),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
