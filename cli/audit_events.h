/* Changes of use_sim_time on /parameter_events. */
#ifndef TB_CLI_AUDIT_EVENTS_H
#define TB_CLI_AUDIT_EVENTS_H

#include <pthread.h>
#include <timebase/message_definition.h>
#include <timebase/ros2_subscription.h>
#include <timebase/steady_clock.h>

#include "contract/time_base.h"

struct audit;

#define AUDIT_EVENTS_MAX      1024 /* nodes of which the last change is kept */
#define AUDIT_EVENT_NAME_SIZE 512

typedef struct audit_event {
  char node[AUDIT_EVENT_NAME_SIZE];
  bool value;
  int64_t steady_ns;
} audit_event_t;

typedef struct audit_events {
  tb_ros2_subscription_t *subscription;
  tb_steady_clock_t *steady;
  struct audit_event_reader *reader;
  pthread_mutex_t mutex;
  audit_event_t *list;
  size_t count, capacity;
} audit_events_t;

/* Zeroes it and subscribes. EXIT_OK, or a message has been printed. Close it either way. */
int audit_events_open(struct audit *audit);
void audit_events_close(audit_events_t *events);

/* The last change of a node, TB__IS_NOT_KNOWN: none was seen. *out_steady_ns is when. */
tb__known_bool_t audit_events_of(audit_events_t *events, const char *node, int64_t *out_steady_ns);

#endif
