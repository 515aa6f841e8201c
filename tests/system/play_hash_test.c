/* What `timebase play` announces of the types of a recording, as another process receives it. */
#include <dds/dds.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_writer.h>
#include <unistd.h>

#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"

#define DOMAIN 38
#define LIMIT  DDS_SECS(120)

#define ODD_HASH "RIHS01_00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210"
#define REAL_HASH                                                                                  \
  "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18" /* jazzy's */

static const struct {
  const char *name, *type, *recorded, *announced;
} topics[] = {
    {"/odd", "odd_msgs/msg/Odd", ODD_HASH, "typehash=" ODD_HASH ";"},
    {"/none", "odd_msgs/msg/None", NULL, ""},
    {"/broken", "odd_msgs/msg/Broken", "RIHS01_aa", ""},
    {"/text", "std_msgs/msg/String", NULL, "typehash=" REAL_HASH ";"},
    {"/duration", "builtin_interfaces/msg/Duration", ODD_HASH, "typehash=" ODD_HASH ";"},
};
#define TOPIC_COUNT (sizeof topics / sizeof topics[0])

static char folder[] = "/tmp/timebase_play_hash_XXXXXX";

static void bag_write(const char *path, const char *storage)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  tb_bag_writer_t *writer;
  tb_error_t error = TB_ERROR_INIT;
  options.storage_id = storage;
  if (tb_bag_writer_create(path, &options, &writer, &error) != TB_OK) fail_msg("%s", error.text);
  for (size_t i = 0; i < TOPIC_COUNT; i++) {
    static const uint8_t message[] = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const tb_bag_writer_topic_t topic = {
        .name = topics[i].name, .type = topics[i].type, .type_hash = topics[i].recorded};
    size_t id;
    assert_ok(tb_bag_writer_add_topic(writer, &topic, &id, NULL));
    assert_ok(tb_bag_writer_write(writer, id, 1000, 1000, message, sizeof message, NULL));
  }
  assert_ok(tb_bag_writer_close(writer, NULL));
}

/* A reader of all that others announce to publish, with a waitset on it. */
static dds_entity_t announcements(dds_entity_t *out_waitset)
{
  dds_entity_t participant = dds_create_participant(DOMAIN, NULL, NULL);
  dds_entity_t reader =
      dds_create_reader(participant, DDS_BUILTIN_TOPIC_DCPSPUBLICATION, NULL, NULL);
  assert_true(participant > 0 && reader > 0);
  *out_waitset = dds_create_waitset(participant);
  assert_int_equal(dds_set_status_mask(reader, DDS_DATA_AVAILABLE_STATUS), 0);
  assert_int_equal(dds_waitset_attach(*out_waitset, reader, 0), 0);
  return reader;
}

/* True if it is of one of the topics. */
static bool check_announced(const dds_builtintopic_endpoint_t *endpoint)
{
  for (size_t i = 0; i < TOPIC_COUNT; i++) {
    if (strncmp(endpoint->topic_name, "rt", 2) != 0 ||
        strcmp(endpoint->topic_name + 2, topics[i].name) != 0)
      continue;
    void *user_data = NULL;
    size_t size = 0;
    dds_qget_userdata(endpoint->qos, &user_data, &size);
    if (size != strlen(topics[i].announced) ||
        (size > 0 && memcmp(user_data, topics[i].announced, size) != 0))
      fail_msg("%s: '%.*s'", topics[i].name, (int)size, size > 0 ? (char *)user_data : "");
    dds_free(user_data);
    return true;
  }
  return false;
}

static void check_all(dds_entity_t reader, dds_entity_t waitset)
{
  for (size_t found = 0; found < TOPIC_COUNT;) {
    void *sample = NULL;
    dds_sample_info_t info;
    assert_true(dds_waitset_wait(waitset, NULL, 0, LIMIT) > 0);
    while (dds_take(reader, &sample, &info, 1, 1) == 1) {
      if (info.valid_data && check_announced(sample)) found++;
      dds_return_loan(reader, &sample, 1);
    }
  }
}

static void assert_hashes_of(const char *storage)
{
  peer_t peer;
  char path[64];
  dds_entity_t waitset, reader;
  loopback_setup(DOMAIN);
  snprintf(path, sizeof path, "%s/%s", folder, storage);
  bag_write(path, storage);
  reader = announcements(&waitset);
  peer_start(&peer, (const char *const[]){TB_COMMAND, "play", path, "--start-paused", NULL});
  check_all(reader, waitset);
  loopback_check(peer.pid);
  assert_int_equal(kill(peer.pid, SIGKILL), 0);
  peer_wait_killed(&peer);
  dds_delete(dds_get_participant(reader));
}

static void test_recorded_hashes_are_announced_from_sqlite3(void **state)
{
  (void)state;
  assert_hashes_of("sqlite3");
}

static void test_recorded_hashes_are_announced_from_mcap(void **state)
{
  (void)state;
  assert_hashes_of("mcap");
}

static int folder_make(void **state)
{
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_recorded_hashes_are_announced_from_sqlite3),
      cmocka_unit_test(test_recorded_hashes_are_announced_from_mcap),
  };
  return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
