/* Which topics are recorded. It keeps no lock: one thread at a time. */
#ifndef TB_PLAY_TOPIC_FILTER_H
#define TB_PLAY_TOPIC_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/error.h>
#include <timebase/topic_expression.h>

#include "base/private_api.h"

/* What a recorder is asked for; read while the filter is made. */
typedef struct tb__topic_choices {
  bool all;
  bool include_hidden;
  bool clock; /* /clock in any case */
  const char *const *topics;
  size_t topic_count;
  const char *regex, *exclude_regex; /* NULL: none */
  const char *const *exclude_topics;
  size_t exclude_topic_count;
  const char *const *types, *const *exclude_types;
  size_t type_count, exclude_type_count;
  bool all_services; /* the topics SERVICE/_service_event */
  const char *const *services, *const *exclude_services;
  size_t service_count, exclude_service_count;
  bool all_actions; /* the topics ACTION/_action/... but those of requests and answers */
  const char *const *actions, *const *exclude_actions;
  size_t action_count, exclude_action_count;
} tb__topic_choices_t;

typedef struct tb__topic_choice {
  tb_topic_expression_t *expression; /* NULL: none */
  const char *name;                  /* of the option */
  bool has_matched;
  bool has_failed; /* and was logged */
} tb__topic_choice_t;

typedef struct tb__topic_filter {
  bool all;
  bool include_hidden;
  bool clock; /* /clock in any case */
  tb__topic_choice_t include, exclude;
  char **topics, **excluded; /* up to NULL, as the following */
  char **types, **excluded_types;
  bool all_services;
  char **services, **excluded_services; /* with a first '/' */
  bool all_actions;
  char **actions, **excluded_actions;
} tb__topic_filter_t;

/* TB_ERR_INVALID: a bad expression, or nothing is selected. */
TB_PRIVATE_API tb_status_t tb__topic_filter_init(tb__topic_filter_t *filter,
                                                 const tb__topic_choices_t *choices,
                                                 tb_error_t *error) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__topic_filter_fini(tb__topic_filter_t *filter);
/* A topic for which an expression cannot be evaluated is recorded, so that nothing is lost, and
 * logged.
 */
TB_PRIVATE_API bool tb__topic_filter_wants(tb__topic_filter_t *filter, const char *topic,
                                           const char *type);
/* Logs which expressions have matched none of the topics so far; `when` ends the message. */
TB_PRIVATE_API void tb__topic_filter_report(const tb__topic_filter_t *filter, const char *when);

#endif
