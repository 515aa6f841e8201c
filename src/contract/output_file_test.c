/* Files that are there in whole, or as before. */
#include "contract/output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "test_folder.h"

static char path[256];

static const char *in_folder(const char *name)
{
  snprintf(path, sizeof path, "%s/%s", test_folder, name);
  return path;
}

static void assert_content(const char *name, const char *expected)
{
  char text[64] = "";
  FILE *file = fopen(in_folder(name), "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, expected);
}

static int entries(void)
{
  int count = 0;
  DIR *folder = opendir(test_folder);
  assert_non_null(folder);
  while (readdir(folder))
    count++;
  closedir(folder);
  return count - 2;
}

static void test_a_file_is_made_and_replaced(void **state)
{
  (void)state;
  struct stat info;
  assert_ok(tb__output_file_write(in_folder("a"), "one", 3, NULL));
  assert_content("a", "one");
  assert_int_equal(chmod(in_folder("a"), 0640), 0);
  assert_ok(tb__output_file_write(in_folder("a"), "two", 3, NULL));
  assert_content("a", "two");
  assert_int_equal(stat(in_folder("a"), &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640);
  assert_int_equal(entries(), 1);
  assert_int_equal(unlink(in_folder("a")), 0);
}

static void test_a_link_stays(void **state)
{
  (void)state;
  char target[256];
  struct stat info;
  assert_ok(tb__output_file_write(in_folder("target"), "one", 3, NULL));
  snprintf(target, sizeof target, "%s", path);
  assert_int_equal(symlink(target, in_folder("link")), 0);
  assert_ok(tb__output_file_write(in_folder("link"), "two", 3, NULL));
  assert_int_equal(lstat(in_folder("link"), &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_content("target", "two");
  assert_int_equal(unlink(in_folder("link")) + unlink(target), 0);
}

static void test_no_folder(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__output_file_write(in_folder("none/a"), "x", 1, &error), TB_ERR_NOT_FOUND);
  assert_non_null(strstr(error.text, "none/a"));
  assert_status(tb__output_file_write(test_folder, "x", 1, &error), TB_ERR_SYSTEM);
}

static void test_a_pipe_is_written_to(void **state)
{
  (void)state;
  char text[8] = "";
  assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_ok(tb__output_file_write(path, "abc", 3, NULL));
  assert_int_equal(read(fd, text, sizeof text), 3);
  assert_string_equal(text, "abc");
  close(fd);
  assert_int_equal(unlink(path), 0);
}

/* The file is too large for the limit of the process: what was there stays, and nothing else. */
static void test_a_failure_leaves_what_was_there(void **state)
{
  (void)state;
  static char large[100000];
  struct rlimit old, small;
  assert_ok(tb__output_file_write(in_folder("a"), "one", 3, NULL));
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 1000;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  tb_status_t status = tb__output_file_write(path, large, sizeof large, NULL);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  assert_status(status, TB_ERR_SYSTEM);
  assert_content("a", "one");
  assert_int_equal(entries(), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_file_is_made_and_replaced),
      cmocka_unit_test(test_a_link_stays),
      cmocka_unit_test(test_no_folder),
      cmocka_unit_test(test_a_pipe_is_written_to),
      cmocka_unit_test(test_a_failure_leaves_what_was_there),
  };
  return cmocka_run_group_tests(tests, test_folder_setup, test_folder_teardown);
}
