/* Subscriptions, services and clients that are destroyed while their callbacks run, by another
 * thread or by the callback itself: until it has returned calls on them return TB_ERR_CLOSED and
 * change nothing, and after it they are freed (checked with address sanitizer). */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <timebase/ready.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_subscription.h>

#include "system/loopback.h"
#include "test.h"
#include "within.h"

#define LIMIT  ((tb_duration_t){120 * TB_NS_PER_S})
#define DOMAIN 38
#define TOPIC  "std_msgs/msg/Bool"
#define TYPE   "std_srvs/srv/Trigger"

static const uint8_t message[] = {0, 1, 0, 0, 1, 0, 0, 0};

static tb_ros2_context_t *context;
static tb_ros2_node_t *node;

/* What is destroyed in its callback, and by which thread. */
typedef struct scene {
  tb_ros2_subscription_t *subscription;
  tb_ros2_service_t *service;
  tb_ros2_client_t *client;
  bool by_itself;
  sem_t inside; /* the callback runs */
  sem_t done;   /* it is about to return */
  sem_t closed; /* of a client: a request that was open has ended */
  _Atomic int calls;
  _Atomic bool may_go; /* of a service: all requests have been sent */
  void (*destroy)(struct scene *scene);
} scene_t;

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK) fail_msg("%s", error.text);
  assert_ok(tb_ros2_node_create(context, "destroyer", "", NULL, &node, NULL));
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return 0;
}

static void wait_for(sem_t *semaphore)
{
  while (sem_wait(semaphore) != 0)
    ;
}

static void scene_init(scene_t *scene, bool by_itself, void (*destroy)(scene_t *))
{
  *scene = (scene_t){.by_itself = by_itself, .destroy = destroy};
  sem_init(&scene->inside, 0, 0);
  sem_init(&scene->done, 0, 0);
  sem_init(&scene->closed, 0, 0);
}

/* In the callback: returns when the handle is being destroyed. */
static void be_destroyed(scene_t *scene)
{
  assert_status(tb_ready_wait(tb_ros2_node_clock(node), NULL, WITHIN(TB_NO_WAIT), NULL, NULL),
                TB_ERR_DEADLOCK); /* it would delay what brings time */
  sem_post(&scene->inside);
  if (scene->by_itself) scene->destroy(scene);
}

/* On another thread, or in the callback; and the callback has ended then. */
static void destroy(scene_t *scene)
{
  wait_for(&scene->inside);
  if (!scene->by_itself) scene->destroy(scene);
  wait_for(&scene->done);
}

/* ---- subscriptions ---- */

static void subscription_destroy(scene_t *scene)
{
  tb_ros2_subscription_destroy(scene->subscription);
}

static void on_message(const tb_ros2_sample_t *sample, void *user)
{
  scene_t *scene = user;
  tb_ros2_subscription_t *subscription = scene->subscription;
  tb_ros2_sample_t taken = {0};
  assert_int_equal(sample->size, sizeof message);
  if (atomic_fetch_add(&scene->calls, 1)) return;
  be_destroyed(scene);
  while (tb_ros2_subscription_wait_for_matched(subscription, UINT32_MAX, WITHIN(TB_NO_WAIT)) !=
         TB_ERR_CLOSED)
    sched_yield();
  assert_status(tb_ros2_subscription_wait_for_matched(subscription, 1, WITHIN(LIMIT)),
                TB_ERR_CLOSED);
  assert_status(tb_ros2_subscription_take(subscription, &taken), TB_ERR_CLOSED);
  tb_ros2_subscription_matched(subscription);
  tb_ros2_subscription_incompatible(subscription, NULL);
  tb_ros2_subscription_destroy(subscription); /* again: does nothing */
  assert_memory_equal(sample->cdr, message, sizeof message);
  sem_post(&scene->done);
}

static void publish(tb_ros2_publisher_t *publisher, int count)
{
  for (int i = 0; i < count; i++)
    assert_ok(tb_ros2_publisher_publish(publisher, message, sizeof message, NULL));
}

typedef struct publishing {
  pthread_t thread;
  tb_ros2_publisher_t *publisher;
} publishing_t;

static void *publish_many(void *argument)
{
  publish(((publishing_t *)argument)->publisher, 20); /* more than are taken at once */
  return NULL;
}

static void subscription_case(bool by_itself, bool in_node)
{
  scene_t scene;
  publishing_t publishing;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT; /* reliable */
  tb_ros2_subscription_options_t options = {on_message, &scene};
  scene_init(&scene, by_itself, subscription_destroy);
  assert_ok(tb_ros2_publisher_create(context, "/here", TOPIC, &qos, &publishing.publisher, NULL));
  if (in_node)
    assert_ok(tb_ros2_node_create_subscription(node, "/here", TOPIC, &qos, &options,
                                               &scene.subscription, NULL));
  else
    assert_ok(tb_ros2_subscription_create(context, "/here", TOPIC, &qos, &options,
                                          &scene.subscription, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(publishing.publisher, 1, WITHIN(LIMIT)));
  assert_int_equal(pthread_create(&publishing.thread, NULL, publish_many, &publishing), 0);
  destroy(&scene);
  pthread_join(publishing.thread, NULL);
  publish(publishing.publisher, 3);
  assert_int_equal(atomic_load(&scene.calls), 1);
  tb_ros2_publisher_destroy(publishing.publisher);
}

static void test_subscriptions(void **state)
{
  (void)state;
  for (int way = 0; way < 4; way++)
    subscription_case(way & 1, way & 2);
}

/* One callback within another: the inner one destroys both subscriptions. */
typedef struct nested {
  tb_ros2_publisher_t *to_inner;
  tb_ros2_subscription_t *outer, *inner;
  sem_t done;
} nested_t;

static void on_inner(const tb_ros2_sample_t *sample, void *user)
{
  (void)sample;
  nested_t *nested = user;
  tb_ros2_subscription_destroy(nested->outer);
  tb_ros2_subscription_destroy(nested->inner);
}

static void on_outer(const tb_ros2_sample_t *sample, void *user)
{
  (void)sample;
  nested_t *nested = user;
  publish(nested->to_inner, 1);
  tb_ros2_subscription_matched(nested->outer);
  sem_post(&nested->done);
}

static void test_a_subscription_within_the_callback_of_another(void **state)
{
  (void)state;
  nested_t nested;
  tb_ros2_publisher_t *to_outer;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT; /* reliable */
  tb_ros2_subscription_options_t inner = {on_inner, &nested}, outer = {on_outer, &nested};
  sem_init(&nested.done, 0, 0);
  assert_ok(tb_ros2_publisher_create(context, "/outer", TOPIC, &qos, &to_outer, NULL));
  assert_ok(tb_ros2_publisher_create(context, "/inner", TOPIC, &qos, &nested.to_inner, NULL));
  assert_ok(
      tb_ros2_subscription_create(context, "/inner", TOPIC, &qos, &inner, &nested.inner, NULL));
  assert_ok(
      tb_ros2_subscription_create(context, "/outer", TOPIC, &qos, &outer, &nested.outer, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(nested.to_inner, 1, WITHIN(LIMIT)));
  assert_ok(tb_ros2_publisher_wait_for_matched(to_outer, 1, WITHIN(LIMIT)));
  publish(to_outer, 1);
  wait_for(&nested.done);
  tb_ros2_publisher_destroy(to_outer);
  tb_ros2_publisher_destroy(nested.to_inner);
}

/* ---- services ---- */

static void service_destroy(scene_t *scene)
{
  tb_ros2_service_destroy(scene->service);
}

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  scene_t *scene = user;
  if (atomic_fetch_add(&scene->calls, 1)) return;
  while (!atomic_load(&scene->may_go))
    sched_yield();
  be_destroyed(scene);
  while (tb_ros2_service_reply(service, &request->id, "", 0, NULL) != TB_ERR_CLOSED)
    sched_yield(); /* no CDR: TB_ERR_INVALID until then */
  assert_status(tb_ros2_service_reply(service, &request->id, message, sizeof message, NULL),
                TB_ERR_CLOSED);
  tb_ros2_service_destroy(service); /* again: does nothing */
  assert_memory_equal(request->cdr, message, sizeof message);
  sem_post(&scene->done);
}

static void on_gone(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  scene_t *scene = user;
  assert_status(status, TB_ERR_CLOSED);
  assert_null(response);
  sem_post(&scene->closed);
}

/* The first request is being carried out, the others wait: none is answered. */
static void service_case(bool by_itself, bool in_node)
{
  scene_t scene;
  tb_ros2_client_t *client;
  scene_init(&scene, by_itself, service_destroy);
  if (in_node)
    assert_ok(tb_ros2_node_create_service(node, "/serve", TYPE, NULL, on_request, &scene,
                                          &scene.service, NULL));
  else
    assert_ok(tb_ros2_service_create(context, "/serve", TYPE, NULL, on_request, &scene,
                                     &scene.service, NULL));
  assert_ok(tb_ros2_client_create(context, "/serve", TYPE, NULL, &client, NULL));
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  for (int i = 0; i < 3; i++)
    assert_ok(
        tb_ros2_client_call_async(client, message, sizeof message, LIMIT, on_gone, &scene, NULL));
  atomic_store(&scene.may_go, true);
  destroy(&scene);
  for (int i = 0; i < 3; i++)
    wait_for(&scene.closed);
  assert_int_equal(atomic_load(&scene.calls), 1);
  tb_ros2_client_destroy(client);
}

static void test_services(void **state)
{
  (void)state;
  for (int way = 0; way < 4; way++)
    service_case(way & 1, way & 2);
}

/* ---- clients ---- */

static void client_destroy(scene_t *scene)
{
  tb_ros2_client_destroy(scene->client);
}

static const uint8_t wanted[] = {0, 1, 0, 0, 2, 0, 0, 0};

/* Others have no answer. */
static void answer_wanted(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  if (request->size != sizeof wanted || memcmp(request->cdr, wanted, sizeof wanted) != 0) return;
  assert_ok(tb_ros2_service_reply(service, &request->id, message, sizeof message, NULL));
}

static void never(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)status, (void)response, (void)user;
  fail();
}

static void use_destroyed_client(tb_ros2_client_t *client)
{
  tb_ros2_response_t response = {NULL, 0};
  assert_status(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)), TB_ERR_CLOSED);
  assert_status(
      tb_ros2_client_call(client, message, sizeof message, WITHIN(LIMIT), &response, NULL),
      TB_ERR_CLOSED);
  assert_status(
      tb_ros2_client_call_async(client, message, sizeof message, LIMIT, never, NULL, NULL),
      TB_ERR_CLOSED);
  assert_false(tb_ros2_client_is_service_ready(client));
  assert_null(response.cdr);
  tb_ros2_client_destroy(client); /* again: does nothing */
}

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  scene_t *scene = user;
  assert_ok(status);
  assert_int_equal(response->size, sizeof message);
  be_destroyed(scene);
  while (tb_ros2_client_wait_for_service(scene->client, WITHIN(TB_NO_WAIT)) != TB_ERR_CLOSED)
    sched_yield();
  use_destroyed_client(scene->client);
  assert_memory_equal(response->cdr, message, sizeof message);
  sem_post(&scene->done);
}

static void on_closed(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  scene_t *scene = user;
  assert_status(status, TB_ERR_CLOSED);
  assert_null(response);
  use_destroyed_client(scene->client);
  sem_post(&scene->closed);
}

/* Two requests are open, whose callbacks come last. */
static void client_case(bool by_itself, bool in_node, bool is_answered)
{
  scene_t scene;
  tb_ros2_service_t *service;
  scene_init(&scene, by_itself, client_destroy);
  assert_ok(
      tb_ros2_service_create(context, "/ask", TYPE, NULL, answer_wanted, NULL, &service, NULL));
  if (in_node)
    assert_ok(tb_ros2_node_create_client(node, "/ask", TYPE, NULL, &scene.client, NULL));
  else
    assert_ok(tb_ros2_client_create(context, "/ask", TYPE, NULL, &scene.client, NULL));
  assert_ok(tb_ros2_client_wait_for_service(scene.client, WITHIN(LIMIT)));
  for (int i = 0; i < 2; i++)
    assert_ok(tb_ros2_client_call_async(scene.client, message, sizeof message, LIMIT, on_closed,
                                        &scene, NULL));
  if (is_answered) {
    assert_ok(tb_ros2_client_call_async(scene.client, wanted, sizeof wanted, LIMIT, on_response,
                                        &scene, NULL));
    destroy(&scene);
  } else {
    tb_ros2_client_destroy(scene.client);
  }
  for (int i = 0; i < 2; i++)
    wait_for(&scene.closed);
  tb_ros2_service_destroy(service);
}

static void test_clients(void **state)
{
  (void)state;
  for (int way = 0; way < 4; way++)
    client_case(way & 1, way & 2, true);
  client_case(false, false, false);
  client_case(false, true, false);
}

/* The answer may be there, and the client destroyed, before the call has returned. */
static void on_response_destroy(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  scene_t *scene = user;
  (void)response;
  assert_ok(status);
  tb_ros2_client_destroy(scene->client);
  sem_post(&scene->done);
}

static void test_clients_destroyed_by_their_first_answer(void **state)
{
  (void)state;
  scene_t scene;
  tb_ros2_service_t *service;
  scene_init(&scene, true, client_destroy);
  assert_ok(
      tb_ros2_service_create(context, "/ask", TYPE, NULL, answer_wanted, NULL, &service, NULL));
  for (int round = 0; round < 100; round++) {
    assert_ok(tb_ros2_client_create(context, "/ask", TYPE, NULL, &scene.client, NULL));
    assert_ok(tb_ros2_client_wait_for_service(scene.client, WITHIN(LIMIT)));
    assert_ok(tb_ros2_client_call_async(scene.client, wanted, sizeof wanted, LIMIT,
                                        on_response_destroy, &scene, NULL));
    wait_for(&scene.done);
  }
  tb_ros2_service_destroy(service);
}

/* A callback that waits in a call need not have its limit. */
static void on_response_call(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  scene_t *scene = user;
  tb_ros2_response_t none;
  (void)response;
  assert_ok(status);
  sem_post(&scene->inside);
  assert_status(
      tb_ros2_client_call(scene->client, message, sizeof message, WITHIN(LIMIT), &none, NULL),
      TB_ERR_CLOSED);
  sem_post(&scene->done);
}

static void test_a_client_whose_callback_waits_in_a_call(void **state)
{
  (void)state;
  scene_t scene;
  tb_ros2_service_t *service;
  scene_init(&scene, false, client_destroy);
  assert_ok(
      tb_ros2_service_create(context, "/ask", TYPE, NULL, answer_wanted, NULL, &service, NULL));
  assert_ok(tb_ros2_client_create(context, "/ask", TYPE, NULL, &scene.client, NULL));
  assert_ok(tb_ros2_client_wait_for_service(scene.client, WITHIN(LIMIT)));
  assert_ok(tb_ros2_client_call_async(scene.client, wanted, sizeof wanted, LIMIT, on_response_call,
                                      &scene, NULL));
  destroy(&scene);
  tb_ros2_service_destroy(service);
}

/* What a callback has destroyed is freed with the context at the latest. */
static void test_the_context_goes_right_after(void **state)
{
  scene_t scene;
  tb_ros2_publisher_t *publisher;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  scene_init(&scene, true, subscription_destroy);
  tb_ros2_subscription_options_t options = {on_message, &scene};
  assert_ok(tb_ros2_publisher_create(context, "/here", TOPIC, &qos, &publisher, NULL));
  assert_ok(tb_ros2_subscription_create(context, "/here", TOPIC, &qos, &options,
                                        &scene.subscription, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  publish(publisher, 1);
  destroy(&scene);
  tb_ros2_publisher_destroy(publisher);
  teardown(state);
  setup(state);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_subscriptions),
      cmocka_unit_test(test_a_subscription_within_the_callback_of_another),
      cmocka_unit_test(test_services),
      cmocka_unit_test(test_clients),
      cmocka_unit_test(test_clients_destroyed_by_their_first_answer),
      cmocka_unit_test(test_a_client_whose_callback_waits_in_a_call),
      cmocka_unit_test(test_the_context_goes_right_after),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
