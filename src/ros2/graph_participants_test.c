/* What the model knows of participants, whatever the order in which their parts arrive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ros2/graph_model.h"
#include "ros2/graph_snapshot.h"
#include "test.h"

#define FAST        0x0f
#define CYCLONE     0x10
#define PARTICIPANT 0x1c1
#define INFO_WRITER 0x103
#define CLOCK       0x503

#define AWAITED    TB_ROS2_PARTICIPANT_AWAITED
#define ANNOUNCED  TB_ROS2_PARTICIPANT_ANNOUNCED
#define NO_NODES   TB_ROS2_PARTICIPANT_NO_NODES
#define UNREADABLE TB_ROS2_PARTICIPANT_UNREADABLE

static tb__graph_model_t model;
static tb_ros2_graph_snapshot_t *snapshot;

static int setup(void **state)
{
  (void)state;
  model = (tb__graph_model_t){0};
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb__graph_model_fini(&model);
  free(snapshot);
  snapshot = NULL;
  return 0;
}

/* Entity `entity` of participant `p` of a vendor. */
static tb__guid_t guid_of(uint8_t vendor, uint8_t p, uint32_t entity)
{
  tb__guid_t guid;
  memset(guid.bytes, p, sizeof guid.bytes);
  guid.bytes[0] = 1;
  guid.bytes[1] = vendor;
  for (int i = 0; i < 4; i++)
    guid.bytes[12 + i] = (uint8_t)(entity >> (24 - 8 * i));
  return guid;
}

static void participant(uint8_t vendor, uint8_t p, const char *user_data)
{
  tb__seen_participant_t seen = {.guid = guid_of(vendor, p, PARTICIPANT),
                                 .addresses = "udp/10.0.0.7:7410@2"};
  snprintf(seen.user_data, sizeof seen.user_data, "%s", user_data);
  assert_ok(tb__graph_model_participant(&model, &seen));
}

static void participant_gone(uint8_t vendor, uint8_t p)
{
  tb__seen_participant_t seen = {.guid = guid_of(vendor, p, PARTICIPANT), .is_gone = true};
  assert_ok(tb__graph_model_participant(&model, &seen));
}

static void writer(uint8_t vendor, uint8_t p, uint32_t entity)
{
  tb__seen_endpoint_t seen = {
      .guid = guid_of(vendor, p, entity),
      .participant_guid = guid_of(vendor, p, PARTICIPANT),
      .is_writer = true,
      .topic = entity == INFO_WRITER ? "ros_discovery_info" : "rt/clock",
      .type = entity == INFO_WRITER ? "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
                                    : "rosgraph_msgs::msg::dds_::Clock_",
      .qos = TB_QOS_INIT_DEFAULT,
  };
  assert_ok(tb__graph_model_endpoint(&model, &seen));
}

static void writer_gone(uint8_t vendor, uint8_t p, uint32_t entity)
{
  tb__seen_endpoint_t seen = {.guid = guid_of(vendor, p, entity), .is_gone = true};
  assert_ok(tb__graph_model_endpoint(&model, &seen));
}

/* From participant `p`, about `about`: the node "/n" with the writer CLOCK. */
static void info_about(uint8_t vendor, uint8_t p, uint8_t about)
{
  uint8_t *bytes;
  size_t size;
  tb__gid_t gid = {{0}};
  tb__node_entities_info_t node = {"/", "n", {NULL, 0}, {&gid, 1}};
  tb__participant_entities_info_t announced = {.node_entities_info_seq = {&node, 1}};
  tb__guid_t from = guid_of(vendor, p, INFO_WRITER), own = guid_of(vendor, about, PARTICIPANT),
             clock = guid_of(vendor, about, CLOCK);
  tb__guid_copy(&own, announced.gid.data);
  tb__guid_copy(&clock, gid.data);
  assert_ok(tb__cdr_encode(&tb__participant_entities_info_type, &announced, false, &bytes, &size));
  assert_ok(tb__graph_model_info(&model, &from, bytes, size));
  free(bytes);
}

static void info(uint8_t vendor, uint8_t p)
{
  info_about(vendor, p, p);
}

static void garbage(uint8_t vendor, uint8_t p)
{
  tb__guid_t from = guid_of(vendor, p, INFO_WRITER);
  assert_ok(tb__graph_model_info(&model, &from, "\0\1\0\0\377", 5));
}

static const tb_ros2_graph_participant_t *look(uint8_t vendor, uint8_t p)
{
  tb__guid_t own = guid_of(CYCLONE, 99, PARTICIPANT), guid = guid_of(vendor, p, PARTICIPANT);
  free(snapshot);
  snapshot = NULL;
  assert_ok(tb__graph_snapshot_build(&model, &own, 0, &snapshot));
  return tb_ros2_graph_find_participant(snapshot, guid.bytes);
}

static void assert_state(uint8_t vendor, uint8_t p, tb_ros2_participant_state_t expected)
{
  const tb_ros2_graph_participant_t *found = look(vendor, p);
  assert_non_null(found);
  assert_int_equal(found->state, expected);
}

/* --- the order of arrival --- */

enum { PART_PARTICIPANT, PART_WRITER, PART_CLOCK, PART_INFO, PART_COUNT };

static void arrive(uint8_t vendor, int part)
{
  if (part == PART_PARTICIPANT) participant(vendor, 1, "enclave=/;");
  if (part == PART_WRITER) writer(vendor, 1, INFO_WRITER);
  if (part == PART_CLOCK) writer(vendor, 1, CLOCK);
  if (part == PART_INFO) info(vendor, 1);
}

static void leave(uint8_t vendor, int part)
{
  if (part == PART_PARTICIPANT) participant_gone(vendor, 1);
  if (part == PART_WRITER) writer_gone(vendor, 1, INFO_WRITER);
  if (part == PART_CLOCK) writer_gone(vendor, 1, CLOCK);
}

/* `present`: bits of the parts. */
static void assert_parts(uint8_t vendor, unsigned present)
{
  const tb_ros2_graph_participant_t *found = look(vendor, 1);
  bool has_info = present & 1u << PART_INFO, has_writer = present & 1u << PART_WRITER;
  if (!(present & 1u << PART_PARTICIPANT)) {
    assert_null(found);
    assert_int_equal(snapshot->node_count + snapshot->endpoint_count, 0);
    return;
  }
  assert_non_null(found);
  assert_int_equal(found->state, has_info                       ? ANNOUNCED
                                 : vendor == FAST || has_writer ? AWAITED
                                                                : NO_NODES);
  assert_int_equal(snapshot->awaited_count, found->state == AWAITED);
  assert_int_equal(snapshot->node_count, has_info);
  assert_int_equal(snapshot->endpoint_count, has_writer + !!(present & 1u << PART_CLOCK));
  if (has_info) assert_string_equal(snapshot->nodes[0].middleware, found->middleware);
  if (has_info && present & 1u << PART_CLOCK)
    assert_int_equal(snapshot->nodes[0].endpoint_count, 1);
}

/* The number `order`, from 0 on, of the orders of `count` parts. */
static void permute(int order, int count, int out[])
{
  for (int i = 0; i < count; i++)
    out[i] = i;
  for (int i = count; i > 1; i--) {
    int other = order % i, last = out[i - 1];
    out[i - 1] = out[other];
    out[other] = last;
    order /= i;
  }
}

static void check_arrivals(uint8_t vendor)
{
  int order[PART_COUNT], leaving[PART_COUNT];
  for (int i = 0; i < 24; i++) {
    unsigned present = 0;
    permute(i, PART_COUNT, order);
    for (int p = 0; p < PART_COUNT; p++) {
      arrive(vendor, order[p]);
      present |= 1u << order[p];
      assert_parts(vendor, present);
    }
    permute(i % 6, PART_INFO, leaving); /* nothing piles up, whatever leaves first */
    for (int p = 0; p < PART_INFO; p++)
      leave(vendor, leaving[p]);
    assert_int_equal(model.participant_count + model.endpoint_count + model.unknown_count, 0);
  }
}

static void test_parts_of_a_participant_arrive_in_any_order(void **state)
{
  (void)state;
  check_arrivals(FAST);
  check_arrivals(CYCLONE);
}

/* --- who is waited for --- */

static void test_who_is_waited_for(void **state)
{
  (void)state;
  participant(FAST, 1, "");
  assert_state(FAST, 1, NO_NODES); /* plain DDS */
  participant(FAST, 2, "enclave=/sec;");
  assert_state(FAST, 2, AWAITED);
  assert_int_equal(snapshot->awaited_count, 1);
  participant(CYCLONE, 3, "enclave=/;"); /* such as `timebase watch` */
  writer(CYCLONE, 3, CLOCK);
  assert_state(CYCLONE, 3, NO_NODES);
  participant(0x77, 4, "enclave=/;");
  assert_state(0x77, 4, AWAITED);
  participant(CYCLONE, 99, "enclave=/;"); /* our own */
  writer(CYCLONE, 99, INFO_WRITER);
  assert_state(CYCLONE, 99, NO_NODES);
  assert_int_equal(snapshot->awaited_count, 2);
  info(FAST, 2);
  assert_state(FAST, 2, ANNOUNCED);
  assert_string_equal(snapshot->nodes[0].middleware, "Fast DDS");
  participant_gone(0x77, 4);
  assert_null(look(0x77, 4));
  assert_int_equal(snapshot->awaited_count, 0);
}

static void test_what_a_participant_shows(void **state)
{
  (void)state;
  participant(CYCLONE, 99, "enclave=/;");
  participant(0x77, 1, "enclave=/sec;");
  participant(FAST, 1, "");
  const tb_ros2_graph_participant_t *found = look(FAST, 1);
  assert_int_equal(snapshot->participant_count, 3);
  assert_ptr_equal(found, &snapshot->participants[0]); /* by GUID */
  assert_string_equal(found->middleware, "Fast DDS");
  assert_null(found->enclave);
  assert_string_equal(found->addresses, "udp/10.0.0.7:7410@2");
  assert_false(found->is_own);
  assert_true(snapshot->participants[1].is_own);
  assert_string_equal(snapshot->participants[2].middleware, "vendor 01.77");
  assert_string_equal(snapshot->participants[2].enclave, "/sec");
  assert_null(tb_ros2_graph_find_participant(snapshot, guid_of(FAST, 2, PARTICIPANT).bytes));
  assert_null(tb_ros2_graph_find_participant(NULL, found->guid));
  assert_null(tb_ros2_graph_find_participant(snapshot, NULL));
}

/* One that leaves may drop the endpoint that announces nodes first. */
static void test_a_participant_that_withdraws_is_not_waited_for(void **state)
{
  (void)state;
  participant(FAST, 1, "enclave=/;");
  writer(FAST, 1, INFO_WRITER);
  writer_gone(FAST, 1, INFO_WRITER);
  assert_state(FAST, 1, NO_NODES);
  writer(FAST, 1, INFO_WRITER);
  assert_state(FAST, 1, AWAITED);
  info(FAST, 1);
  assert_state(FAST, 1, ANNOUNCED);
  writer_gone(FAST, 1, INFO_WRITER);
  assert_state(FAST, 1, NO_NODES);
  assert_int_equal(snapshot->node_count, 0);
  participant_gone(FAST, 1);
  participant(FAST, 1, "enclave=/;");
  assert_state(FAST, 1, AWAITED);
}

static void assert_undiscovered(size_t count)
{
  tb__guid_t guid;
  size_t found = 0;
  for (size_t at = 0; tb__graph_model_next_undiscovered(&model, &at, &guid); found++)
    assert_int_equal(guid.bytes[1], FAST);
  assert_int_equal(found, count);
}

/* Its writers have all arrived, and that of announcements is not among them. */
static void test_a_participant_without_an_announcing_writer_is_not_waited_for(void **state)
{
  (void)state;
  const tb__guid_t first = guid_of(FAST, 1, PARTICIPANT), second = guid_of(FAST, 2, PARTICIPANT),
                   unknown = guid_of(FAST, 3, PARTICIPANT);
  participant(FAST, 1, "enclave=/;");
  participant(FAST, 2, "enclave=/;");
  participant(FAST, 4, "");
  participant(CYCLONE, 3, "enclave=/;");
  assert_undiscovered(2);
  writer(FAST, 1, CLOCK);
  assert_undiscovered(2);
  tb__graph_model_discovered(&model, &first);
  tb__graph_model_discovered(&model, &unknown);
  assert_undiscovered(1);
  assert_state(FAST, 1, NO_NODES);
  assert_state(FAST, 2, AWAITED);
  writer(FAST, 2, INFO_WRITER);
  assert_undiscovered(0);
  tb__graph_model_discovered(&model, &second);
  assert_state(FAST, 2, AWAITED);
  writer(FAST, 1, INFO_WRITER); /* it makes a node later */
  assert_state(FAST, 1, AWAITED);
  info(FAST, 1);
  assert_state(FAST, 1, ANNOUNCED);
  writer_gone(FAST, 1, INFO_WRITER);
  participant_gone(FAST, 1);
  participant(FAST, 1, "enclave=/;");
  assert_state(FAST, 1, AWAITED);
  assert_undiscovered(1);
}

static void test_an_unreadable_announcement_ends_the_wait(void **state)
{
  (void)state;
  garbage(FAST, 1);
  assert_int_equal(model.participant_count, 0); /* nothing is kept of one that is not known */
  participant(FAST, 1, "enclave=/;");
  garbage(FAST, 2); /* of another one */
  assert_state(FAST, 1, AWAITED);
  garbage(FAST, 1);
  assert_state(FAST, 1, UNREADABLE);
  assert_int_equal(snapshot->awaited_count, 0);
  info(FAST, 1);
  assert_state(FAST, 1, ANNOUNCED);
  garbage(FAST, 1); /* the last that could be read counts */
  assert_state(FAST, 1, ANNOUNCED);
  info(FAST, 1);
  writer(FAST, 1, INFO_WRITER);
  writer_gone(FAST, 1, INFO_WRITER);
  writer(FAST, 1, INFO_WRITER); /* begins again */
  assert_state(FAST, 1, AWAITED);
  participant(FAST, 3, "enclave=/;");
  info_about(FAST, 3, 1); /* of another one: ignored for both */
  assert_state(FAST, 3, UNREADABLE);
  assert_state(FAST, 1, AWAITED);
}

/* USER_DATA may be any bytes; what is longer than its room was cut before. */
static void test_hostile_user_data(void **state)
{
  (void)state;
  char text[TB__SEEN_USER_DATA_SIZE];
  memset(text, ';', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  participant(FAST, 1, text);
  assert_state(FAST, 1, NO_NODES);
  memset(text, 'x', sizeof text - 1);
  memcpy(text, "enclave=", 8);
  participant(FAST, 2, text); /* no end: no value */
  look(FAST, 2);
  participant(FAST, 3, "enclave=\033[31m\xff;enclave=/second;");
  assert_state(FAST, 3, AWAITED);
  assert_string_equal(look(FAST, 3)->enclave, "\033[31m\xff");
  participant(FAST, 3, ""); /* changes what it is */
  assert_state(FAST, 3, NO_NODES);
  assert_int_equal(model.participant_count, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_parts_of_a_participant_arrive_in_any_order),
      TEST(test_who_is_waited_for),
      TEST(test_what_a_participant_shows),
      TEST(test_a_participant_that_withdraws_is_not_waited_for),
      TEST(test_a_participant_without_an_announcing_writer_is_not_waited_for),
      TEST(test_an_unreadable_announcement_ends_the_wait),
      TEST(test_hostile_user_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
