/* The messages of latched topics that a late subscription would have had at some time of a
 * recording: with topics of several publishers, of which the recording does not say which message
 * is whose, as many as all of them kept. */
#ifndef TB_CLI_BAG_LATCHED_H
#define TB_CLI_BAG_LATCHED_H

#include <stdatomic.h>
#include <timebase/bag_reader.h>

typedef struct bag_latched bag_latched_t;

/* Is called for each part of the recording that the search could not read. */
typedef void (*bag_latched_failure_fn)(void *user, const tb_error_t *error);

typedef struct bag_latched_from {
  const char *const *paths;
  size_t path_count;
  const tb_bag_reader_options_t *options; /* with which they were opened; topics are ignored */
  const tb_bag_info_t *info;              /* of them */
  const bool *wanted;                     /* by topic */
  int64_t before_ns;
  const atomic_int *signalled; /* ends the search */
  bag_latched_failure_fn on_failure;
  void *user;
} bag_latched_from_t;

/* Reads the recording up to `before_ns`, without payloads, if it has latched topics. Memory
 * does not grow with the sizes of what is kept, and the time for a message not with their number.
 * *out is NULL if there is nothing. */
tb_status_t bag_latched_find(const bag_latched_from_t *from, bag_latched_t **out,
                             tb_error_t *error);
/* The next one, in the order of the recording, valid until the next call. TB_ERR_END, also for
 * NULL. Another failure is about one message. */
tb_status_t bag_latched_next(bag_latched_t *latched, tb_bag_message_t *out, tb_error_t *error);
void bag_latched_close(bag_latched_t *latched);

#endif
