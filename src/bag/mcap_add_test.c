/* Adding to a file of MCAP: by several at once, and what would not be read again. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/mcap_file.h>
#include <unistd.h>

#define FIXTURE_FILE "a.mcap"

#include "bag/file_fixture.h"
#include "bag/test_mcap.h"
#include "test.h"

#define ADDERS 3
#define EACH   8

static void make_file(void)
{
  static const uint8_t data[8] = {0, 1, 0, 0};
  tb__test_mcap_t mcap = {0};
  tb__test_mcap_begin(&mcap);
  tb__test_mcap_chunk_begin(&mcap, TB__MCAP_NONE);
  tb__test_mcap_channel(&mcap, 1, "/a", "std_msgs/msg/String");
  tb__test_mcap_message(&mcap, 1, 1000, data, sizeof data);
  tb__test_mcap_chunk_end(&mcap);
  tb__test_mcap_end(&mcap, true);
  tb__test_mcap_save(&mcap, path);
  tb__test_mcap_fini(&mcap);
}

static bool count_added(const tb_mcap_part_t *part, void *user)
{
  *(int *)user += part->kind != TB_MCAP_PART_CHUNK;
  return true;
}

static int added(void)
{
  int count = 0;
  assert_ok(tb_mcap_file_list(path, count_added, &count, NULL));
  return count;
}

static void *add_some(void *unused)
{
  (void)unused;
  for (int i = 0; i < EACH; i++)
    if (tb_mcap_file_add_metadata(path, "name", NULL, NULL, 0, NULL)) return path;
  return NULL;
}

static void test_what_several_add_is_there(void **state)
{
  (void)state;
  pthread_t threads[ADDERS];
  make_file();
  for (int i = 0; i < ADDERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, add_some, NULL), 0);
  for (int i = 0; i < ADDERS; i++) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  assert_int_equal(added(), ADDERS * EACH);
}

static void test_a_name_that_would_not_be_read_is_refused(void **state)
{
  (void)state;
  const size_t size = 1 << 20;
  char *name = malloc(size + 1);
  assert_non_null(name);
  memset(name, 'x', size);
  name[size] = '\0';
  make_file();
  assert_status(tb_mcap_file_add_attachment(path, "/dev/null", name + 10, NULL, 1, 1, NULL),
                TB_ERR_INVALID);
  assert_status(
      tb_mcap_file_add_attachment(path, "/dev/null", name + size / 2, name + size / 2, 1, 1, NULL),
      TB_ERR_INVALID);
  assert_ok(tb_mcap_file_add_attachment(path, path, name + 64, NULL, 1, 1, NULL));
  assert_int_equal(added(), 1);
  free(name);
}

static void test_the_owner_stays(void **state)
{
  (void)state;
  struct stat info;
  make_file();
  uid_t owner = geteuid() == 0 ? 1234 : geteuid(); /* only root may give a file away */
  assert_int_equal(chown(path, owner, (gid_t)-1), 0);
  assert_int_equal(chmod(path, 0640), 0);
  assert_ok(tb_mcap_file_add_metadata(path, "name", NULL, NULL, 0, NULL));
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_uid, owner);
  assert_int_equal(info.st_mode & 07777, 0640);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(test_what_several_add_is_there),
      TEST(test_a_name_that_would_not_be_read_is_refused),
      TEST(test_the_owner_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
