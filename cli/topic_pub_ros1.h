/* What `timebase topic pub --ros1` publishes with. */
#ifndef TB_CLI_TOPIC_PUB_ROS1_H
#define TB_CLI_TOPIC_PUB_ROS1_H

#include <timebase/cancel_token.h>
#include <timebase/reencoder.h>
#include <timebase/steady_clock.h>

#include "topic_pub.h"

struct tb__schema;
struct tb_ros1_context;
struct tb_ros1_publisher;

typedef struct topic_pub_ros1 {
  struct tb_ros1_context *context;
  struct tb_ros1_publisher *publisher;
  tb_reencoder_t *types; /* with the definition of ROS 1 */
  struct tb__schema *schema;
} topic_pub_ros1_t;

/* Joins the graph and finds the definition. EXIT_OK, or a message was printed. Close it either way.
 */
int topic_pub_ros1_open(const command_t *command, const topic_pub_arguments_t *arguments,
                        topic_pub_ros1_t *out);
int topic_pub_ros1_advertise(const command_t *command, const topic_pub_arguments_t *arguments,
                             topic_pub_ros1_t *pub);
void topic_pub_ros1_close(topic_pub_ros1_t *pub);

uint32_t topic_pub_ros1_matched(const topic_pub_ros1_t *pub);
tb_status_t topic_pub_ros1_publish(const topic_pub_ros1_t *pub, const void *data, size_t size,
                                   tb_error_t *error);
/* Until queues of subscribers are empty, a second at most. */
tb_status_t topic_pub_ros1_drain(const topic_pub_ros1_t *pub, tb_steady_clock_t *steady,
                                 tb_cancel_token_t *token);

#endif
