#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/error.h>
#include <timebase/log.h>
#include <unistd.h>

#include "base/log.h"
#include "test.h"

static void test_names_and_messages_come_from_the_list(void **state)
{
  (void)state;
  assert_string_equal(tb_status_name(TB_OK), "TB_OK");
  assert_string_equal(tb_status_name(TB_ERR_VERSION), "TB_ERR_VERSION");
  assert_string_equal(tb_status_message(TB_ERR_TIMEOUT), "the limit in steady time has passed");
  assert_string_equal(tb_status_name((tb_status_t)-9999), "TB_ERR_UNKNOWN");
}

static void test_error_set_returns_its_status_and_accepts_null(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  assert_int_equal(tb_error_set(NULL, TB_ERR_RANGE, "x"), TB_ERR_RANGE);
  assert_int_equal(tb_error_set(&error, TB_ERR_RANGE, "rate %d", 7), TB_ERR_RANGE);
  assert_string_equal(error.text, "rate 7");
  assert_int_equal(error.status, TB_ERR_RANGE);
  tb_error_set_errno(&error, TB_ERR_SYSTEM, ENOENT, "/x");
  assert_string_equal(error.text, "/x: No such file or directory");
  assert_int_equal(error.os_errno, ENOENT);
}

static void test_error_text_is_cut_not_overrun(void **state)
{
  (void)state;
  char big[2 * TB_ERROR_TEXT_SIZE];
  memset(big, 'a', sizeof big - 1);
  big[sizeof big - 1] = '\0';
  tb_error_t error = TB_ERROR_INIT;
  tb_error_set_errno(&error, TB_ERR_SYSTEM, ENOENT, "%s", big);
  assert_int_equal(strlen(error.text), TB_ERROR_TEXT_SIZE - 1);
}

static void record_line(tb_log_level_t level, const char *message, void *user)
{
  if (level == TB_LOG_WARN) strcpy(user, message);
}

static void unset_hook(tb_log_level_t level, const char *message, void *user)
{
  (void)level;
  (void)message;
  ++*(int *)user;
  tb_log_set_hook(NULL, NULL);
}

static void test_log_hook_gets_lines_and_may_replace_itself(void **state)
{
  (void)state;
  char line[64] = "";
  tb_log_set_hook(record_line, line);
  tb__log(TB_LOG_WARN, "n=%d", 3);
  assert_string_equal(line, "n=3");
  int calls = 0;
  tb_log_set_hook(unset_hook, &calls);
  tb__log(TB_LOG_INFO, "once");
  tb__log(TB_LOG_INFO, "never");
  assert_int_equal(calls, 1);
}

/* What a child writes to standard error with TIMEBASE_LOG=`setting`, of a warning and a note. */
static void read_without_hook(const char *setting, char *out, size_t size)
{
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    if (setting)
      setenv("TIMEBASE_LOG", setting, 1);
    else
      unsetenv("TIMEBASE_LOG");
    tb_log_set_hook(NULL, NULL);
    tb__log(TB_LOG_WARN, "two %s\n", "publishers");
    tb__log(TB_LOG_INFO, "follows");
    _exit(0);
  }
  close(ends[1]);
  assert_int_equal(waitpid(child, NULL, 0), child);
  ssize_t length = read(ends[0], out, size - 1);
  assert_true(length >= 0);
  out[length] = '\0';
  close(ends[0]);
}

static void test_without_a_hook_warnings_are_written_to_standard_error(void **state)
{
  (void)state;
  static const struct {
    const char *setting, *written;
  } cases[] = {{NULL, "timebase: warning: two publishers\\x0a\n"},
               {"warn", "timebase: warning: two publishers\\x0a\n"},
               {"loud", "timebase: warning: two publishers\\x0a\n"}, /* there is no such level */
               {"info", "timebase: warning: two publishers\\x0a\ntimebase: info: follows\n"},
               {"error", ""},
               {"off", ""}};
  char out[256];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    read_without_hook(cases[i].setting, out, sizeof out);
    assert_string_equal(out, cases[i].written);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_and_messages_come_from_the_list),
      cmocka_unit_test(test_error_set_returns_its_status_and_accepts_null),
      cmocka_unit_test(test_error_text_is_cut_not_overrun),
      cmocka_unit_test(test_without_a_hook_warnings_are_written_to_standard_error),
      cmocka_unit_test(test_log_hook_gets_lines_and_may_replace_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
