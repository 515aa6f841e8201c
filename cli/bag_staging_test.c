#include "bag_staging.h"

#include <string.h>
#include <sys/stat.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#include "test.h"
#include "test_folder.h"

static char *in_folder(const char *name)
{
  static char paths[8][200];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", test_folder, name);
  return path;
}

static void make_file(const char *path)
{
  FILE *file = fopen(path, "wx");
  assert_non_null(file);
  fclose(file);
}

static bool is_there(const char *name)
{
  return access(in_folder(name), F_OK) == 0;
}

/* As another user could who may write to the folder of the output. */
static void swap_hidden(const bag_staging_t *staging)
{
  assert_int_equal(rename(staging->folder, in_folder("aside")), 0);
  assert_int_equal(symlink("victim", staging->folder), 0);
}

static void make_victim(void)
{
  assert_int_equal(mkdir(in_folder("victim"), 0777), 0);
  assert_int_equal(mkdir(in_folder("victim/out"), 0777), 0);
  make_file(in_folder("victim/mine"));
  make_file(in_folder("victim/out/mine"));
}

static void write_bag(const bag_staging_t *staging, const char *storage)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_topic_t topic = {0};
  tb_bag_writer_t *writer = NULL;
  size_t id = 0;
  options.storage_id = storage;
  topic.name = "/a";
  topic.type = "std_msgs/msg/Empty";
  topic.serialization_format = "cdr";
  assert_int_equal(tb_bag_writer_create(staging->path, &options, &writer, NULL), TB_OK);
  assert_int_equal(tb_bag_writer_add_topic(writer, &topic, &id, NULL), TB_OK);
  assert_int_equal(tb_bag_writer_write(writer, id, 1, 1, "\0\1\0\0", 4, NULL), TB_OK);
  assert_int_equal(tb_bag_writer_close(writer, NULL), TB_OK);
}

static void test_another_folder_in_its_place_is_neither_written_nor_cleaned(void **state)
{
  (void)state;
  static const char *const storages[] = {"sqlite3", "mcap"};
  make_victim();
  for (int i = 0; i < 4; i++) {
    bag_staging_t staging = {0};
    tb_error_t error = TB_ERROR_INIT;
    bool publishes = i >= 2;
    assert_int_equal(bag_staging_begin(&staging, in_folder("out"), NULL, &error), TB_OK);
    swap_hidden(&staging);
    write_bag(&staging, storages[i % 2]);
    assert_true(is_there(i % 2 ? "aside/out/out_0.mcap" : "aside/out/out_0.db3"));
    assert_false(is_there("victim/out/out_0.db3") || is_there("victim/out/out_0.db3-wal"));
    if (publishes) assert_int_equal(bag_staging_publish(&staging, false, &error), TB_OK);
    char *link = strdup(staging.folder);
    bag_staging_end(&staging);
    assert_int_equal(unlink(link), 0); /* that was not ours to remove */
    free(link);
    assert_true(is_there("victim/mine") && is_there("victim/out/mine"));
    assert_int_equal(rmdir(in_folder("aside")), 0); /* and nothing of ours is left */
    assert_int_equal(is_there("out"), publishes);
    if (publishes) assert_int_equal(rename(in_folder("out"), in_folder(storages[i % 2])), 0);
  }
  assert_true(is_there("sqlite3/out_0.db3") && is_there("mcap/out_0.mcap"));
}

static void test_a_link_to_nothing_is_found_before_anything_is_written(void **state)
{
  (void)state;
  bag_staging_t staging = {0};
  assert_int_equal(symlink("nowhere", in_folder("link")), 0);
  for (int i = 0; i < 3; i++) {
    static const char *const names[] = {"link", "link/", "link//"};
    tb_error_t error = TB_ERROR_INIT;
    assert_int_equal(bag_staging_begin(&staging, in_folder(names[i]), NULL, &error),
                     TB_ERR_INVALID);
    assert_non_null(strstr(error.text, "link already exists; choose another name"));
    assert_null(staging.folder);
    bag_staging_end(&staging);
  }
}

static void test_what_came_meanwhile_is_kept_and_named(void **state)
{
  (void)state;
  bag_staging_t staging = {0};
  tb_error_t error = TB_ERROR_INIT;
  assert_int_equal(bag_staging_begin(&staging, in_folder("late/"), NULL, &error), TB_OK);
  write_bag(&staging, "mcap");
  make_file(in_folder("late"));
  assert_int_equal(bag_staging_publish(&staging, false, &error), TB_ERR_INVALID);
  assert_ptr_equal(strstr(error.text, in_folder("late already exists")), error.text);
  assert_non_null(strstr(error.text, staging.folder));
  assert_int_equal(access(staging.path, F_OK), 0);
  bag_staging_end(&staging);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_another_folder_in_its_place_is_neither_written_nor_cleaned),
      cmocka_unit_test(test_a_link_to_nothing_is_found_before_anything_is_written),
      cmocka_unit_test(test_what_came_meanwhile_is_kept_and_named),
  };
  return cmocka_run_group_tests(tests, test_folder_setup, test_folder_teardown);
}
