/* Inline QoS on what real writers send, to readers in another process. Each fifth packet is lost on
 * the way, so much of it is sent again. */
#include <dds/dds.h>
#include <pthread.h>
#include <stdlib.h>

#include "dds/raw_reader.h"
#include "dds/raw_writer.h"
#include "held/parking.h"
#include "ros2/context.h"
#include "system/inline_qos_pattern.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"

#define DOMAIN       160
#define OTHER_DOMAIN 161
#define THREADS      3
#define ROUNDS       3 /* writers of each thread, one after the other */
#define SAMPLES      32
#define LIMIT        ((tb_duration_t){120 * TB_NS_PER_S})
#define SIZE_MAX_    200000

/* Of this process and its peers. */
#define LOSS          "<Internal><Test><XmitLossiness>200</XmitLossiness></Test></Internal>"
#define LARGE_PACKETS "<General><MaxMessageSize>65500B</MaxMessageSize>"

static void configure(const char *elements)
{
  char config[2048];
  int length = snprintf(config, sizeof config, "%s,<CycloneDDS><Domain>%s</Domain></CycloneDDS>",
                        getenv("CYCLONEDDS_URI"), elements);
  assert_true(length < (int)sizeof config);
  assert_int_equal(setenv("CYCLONEDDS_URI", config, 1), 0);
}

static void peer_open(peer_t *peer)
{
  peer_start(peer, (const char *const[]){TB_INLINE_QOS_PEER, NULL});
  peer_expect_line(peer, "ready");
}

static void expect_samples(peer_t *peer, uint32_t count)
{
  char line[64];
  snprintf(line, sizeof line, "samples %u wrong 0", count);
  peer_say(peer, "samples %u", count);
  peer_expect_line(peer, line);
}

static tb__raw_writer_t *writer_open(tb_ros2_context_t *context, const char *topic)
{
  tb__raw_writer_t *writer;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = pattern_qos();
  tb__endpoint_options_t options = pattern_options(topic, &qos);
  if (tb__raw_writer_create(tb__ros2_context_participant(context), &options, &writer, &error))
    fail_msg("%s", error.text);
  _Atomic uint32_t *events = tb__raw_writer_match_word(writer);
  for (uint32_t seen; seen = atomic_load(events), tb__raw_writer_matched(writer) == 0;)
    tb__futex_wait(events, seen, TB__NO_DEADLINE);
  return writer;
}

/* `sequence` is that of the sample. */
static void write_one(tb__raw_writer_t *writer, uint32_t id, uint32_t number, size_t size,
                      int64_t sequence)
{
  static _Thread_local uint8_t bytes[SIZE_MAX_];
  uint8_t parameters[TB__RELATED_IDENTITY_SIZE];
  tb_error_t error = TB_ERROR_INIT;
  int64_t got = sequence;
  bool has_identity = number % 4 != 3;
  pattern_write(id, number, has_identity, bytes, size);
  tb__related_identity_t identity = pattern_identity(id, number);
  tb__related_identity_write(&identity, parameters);
  tb_status_t status = has_identity ? tb__raw_writer_write_with(writer, bytes, size, parameters,
                                                                sizeof parameters, &got, &error)
                                    : tb__raw_writer_write(writer, bytes, size, &error);
  if (status) fail_msg("%s", error.text);
  assert_true(got == sequence);
}

static void write_samples(tb_ros2_context_t *context, uint32_t id, uint32_t count)
{
  static const size_t sizes[] = {16, 1000, 5000, 20000, 24, 1344, 1348, SIZE_MAX_};
  tb__raw_writer_t *writer = writer_open(context, "rt/inline_qos");
  for (uint32_t i = 0; i < count; i++)
    write_one(writer, id, i, sizes[i % 8], i + 1);
  assert_ok(tb__raw_writer_wait_for_acks(writer, LIMIT));
  tb__raw_writer_destroy(writer);
}

typedef struct run {
  tb_ros2_context_t *context;
  uint32_t id;
  _Atomic bool *stop;
  pthread_t thread;
} run_t;

static void *write_rounds(void *argument)
{
  const run_t *run = argument;
  for (uint32_t i = 0; i < ROUNDS; i++)
    write_samples(run->context, run->id + i * 100, SAMPLES);
  return NULL;
}

/* Packets that nothing is inserted into, all the time. */
static void *write_others(void *argument)
{
  const run_t *run = argument;
  uint8_t bytes[64];
  tb__raw_writer_t *writer = writer_open(run->context, "rt/bystander");
  for (uint32_t i = 0; !atomic_load(run->stop); i++) {
    pattern_write(run->id, i, false, bytes, sizeof bytes);
    assert_ok(tb__raw_writer_write(writer, bytes, sizeof bytes, NULL));
  }
  tb__raw_writer_destroy(writer);
  return NULL;
}

static void write_by_threads(tb_ros2_context_t *context)
{
  _Atomic bool stop = false;
  run_t runs[THREADS + 1];
  for (uint32_t i = 0; i <= THREADS; i++) {
    runs[i] = (run_t){.context = context, .id = i, .stop = &stop};
    assert_int_equal(
        pthread_create(&runs[i].thread, NULL, i < THREADS ? write_rounds : write_others, &runs[i]),
        0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(runs[i].thread, NULL);
  atomic_store(&stop, true);
  pthread_join(runs[THREADS].thread, NULL);
}

static void test_all_samples_have_theirs_over_a_bad_link(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_context_t *context;
  loopback_setup(DOMAIN);
  configure(LOSS);
  peer_open(&peer);
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  write_by_threads(context);
  expect_samples(&peer, THREADS * ROUNDS * SAMPLES);
  tb_ros2_context_destroy(context);
  peer_stop(&peer);
}

/* Packets that are nearly as large as they can be, before anything is inserted. */
static void test_large_packets_are_cut_where_they_grow_too_large(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_context_t *context;
  loopback_setup(DOMAIN);
  configure(LARGE_PACKETS "<FragmentSize>16300B</FragmentSize></General>");
  peer_open(&peer);
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  write_samples(context, 1, 32);
  expect_samples(&peer, 32);
  tb_ros2_context_destroy(context);
  peer_stop(&peer);
}

static void test_fragments_that_fill_a_packet_are_refused(void **state)
{
  (void)state;
  static uint8_t bytes[65440] = {0, 1};
  static const uint8_t parameters[4] = {0};
  peer_t peer;
  tb_ros2_context_t *context;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  configure(LARGE_PACKETS "<FragmentSize>65400B</FragmentSize></General>");
  peer_open(&peer);
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  tb__raw_writer_t *writer = writer_open(context, "rt/inline_qos");
  assert_status(tb__raw_writer_write_with(writer, bytes, sizeof bytes, parameters,
                                          sizeof parameters, NULL, &error),
                TB_ERR_LIMIT);
  assert_non_null(strstr(error.text, "General/FragmentSize"));
  write_one(writer, 1, 0, 60000, 1);
  expect_samples(&peer, 1);
  tb__raw_writer_destroy(writer);
  tb_ros2_context_destroy(context);
  peer_stop(&peer);
}

/* A domain that is deleted and made again, while another one is there. */
static void test_domains_come_and_go(void **state)
{
  (void)state;
  peer_t peers[2];
  tb_ros2_context_t *contexts[2];
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  loopback_setup(DOMAIN);
  peer_open(&peers[0]);
  loopback_setup(OTHER_DOMAIN);
  peer_open(&peers[1]);
  options.has_domain_id = true;
  options.domain_id = OTHER_DOMAIN;
  assert_ok(tb_ros2_context_create(&options, &contexts[1], NULL));
  options.domain_id = DOMAIN;
  for (uint32_t i = 0; i < 4; i++) {
    assert_ok(tb_ros2_context_create(&options, &contexts[0], NULL));
    write_samples(contexts[0], i, 8);
    write_samples(contexts[1], i, 8);
    expect_samples(&peers[0], 8);
    expect_samples(&peers[1], 8);
    tb_ros2_context_destroy(contexts[0]);
  }
  tb_ros2_context_destroy(contexts[1]);
  peer_stop(&peers[0]);
  peer_stop(&peers[1]);
}

/* The program's own domain stays when the context goes; what it sends then passes unchanged. */
static void test_domains_of_the_program(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_context_t *context;
  loopback_setup(DOMAIN);
  peer_open(&peer);
  for (uint32_t i = 0; i < 3; i++) {
    dds_entity_t domain = dds_create_domain(DOMAIN, getenv("CYCLONEDDS_URI"));
    assert_true(domain > 0);
    for (uint32_t k = 0; k < 2; k++) {
      assert_ok(tb_ros2_context_create(NULL, &context, NULL));
      write_samples(context, i, 8);
      expect_samples(&peer, 8);
      tb_ros2_context_destroy(context);
    }
    assert_int_equal(dds_delete(domain), DDS_RETCODE_OK);
  }
  peer_stop(&peer);
}

/* Its types have gone with it (seen by address sanitizer). */
static void test_the_program_deletes_its_domain_too_early(void **state)
{
  (void)state;
  tb_ros2_context_t *context;
  tb__raw_writer_t *writer;
  tb__raw_reader_t *reader;
  char interfaces[64] = "before";
  tb_qos_t qos = pattern_qos();
  tb__endpoint_options_t options = pattern_options("rt/inline_qos", &qos);
  loopback_setup(DOMAIN);
  dds_entity_t domain = dds_create_domain(DOMAIN, getenv("CYCLONEDDS_URI"));
  assert_true(domain > 0);
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  tb__participant_t *participant = tb__ros2_context_participant(context);
  assert_ok(tb__raw_writer_create(participant, &options, &writer, NULL));
  assert_ok(tb__raw_reader_create(participant, &options, NULL, NULL, &reader, NULL));
  tb__guid_t guid = tb__raw_writer_guid(writer);
  assert_int_equal(dds_delete(domain), DDS_RETCODE_OK);
  assert_int_equal(tb__raw_writer_inline_qos(writer), TB__INLINE_QOS_OFF_CLOSED);
  tb__peers_t peers = tb__raw_reader_peers(reader);
  assert_false(tb__peers_has(&peers, &guid));
  assert_false(tb__raw_reader_has_all_writers_of(reader, &guid));
  tb__raw_reader_interfaces(reader, interfaces, sizeof interfaces);
  assert_string_equal(interfaces, "");
  tb__raw_reader_destroy(reader);
  tb__raw_writer_destroy(writer);
  tb_ros2_context_destroy(context);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_samples_have_theirs_over_a_bad_link),
      cmocka_unit_test(test_large_packets_are_cut_where_they_grow_too_large),
      cmocka_unit_test(test_fragments_that_fill_a_packet_are_refused),
      cmocka_unit_test(test_domains_come_and_go),
      cmocka_unit_test(test_domains_of_the_program),
      cmocka_unit_test(test_the_program_deletes_its_domain_too_early),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
