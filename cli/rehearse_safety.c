#include "rehearse_safety.h"

#include <stdio.h>

void rehearse_safety_init(rehearse_safety_t *safety, const tb__manifest_safety_t *declared)
{
  *safety = (rehearse_safety_t){.declared = declared};
  pthread_mutex_init(&safety->lock, NULL);
}

/* On a thread of DDS. */
static void on_message(const tb_ros2_sample_t *sample, void *user)
{
  rehearse_safety_t *safety = user;
  tb__message_t message;
  if (tb__message_open(&message, safety->schema, sample->cdr, sample->size)) return;
  bool is_tripped = tb__trip_is_value(safety->field, &message, safety->declared->trips);
  pthread_mutex_lock(&safety->lock);
  tb__trip_feed(&safety->trip, is_tripped, sample->receive_steady_ns);
  pthread_mutex_unlock(&safety->lock);
}

void rehearse_safety_open(rehearse_safety_t *safety, tb_ros2_context_t *context,
                          const tb_ros2_graph_endpoint_t *publisher,
                          const tb__known_definition_t *definition)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_ros2_subscription_options_t options = {on_message, safety};
  qos.depth = 100;
  qos.reliability = publisher->qos.reliability;
  qos.durability = publisher->qos.durability;
  qos.has_key = publisher->qos.has_key;
  safety->schema = definition->schema;
  tb_status_t status =
      tb__field_path_create(safety->schema, safety->declared->field, &safety->field, &error);
  if (!status) status = tb__trip_check(safety->field, safety->declared->trips, &error);
  if (!status)
    status = tb_ros2_subscription_create(context, publisher->name, publisher->type, &qos, &options,
                                         &safety->subscription, &error);
  if (status)
    snprintf(safety->why, sizeof safety->why, "%s",
             error.text[0] ? error.text : tb_status_message(status));
}

void rehearse_safety_close(rehearse_safety_t *safety)
{
  tb_ros2_subscription_destroy(safety->subscription);
  tb__field_path_destroy(safety->field);
  pthread_mutex_destroy(&safety->lock);
}

tb__trip_t rehearse_safety_state(rehearse_safety_t *safety)
{
  pthread_mutex_lock(&safety->lock);
  tb__trip_t trip = safety->trip;
  pthread_mutex_unlock(&safety->lock);
  return trip;
}
