/* What a recording says of how it was made (docs/provenance.md), as far as it is judged. */
#ifndef TB_CONTRACT_RECORDING_MADE_H
#define TB_CONTRACT_RECORDING_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#include "contract/rules.h"

#define TB__MADE_TEXT_SIZE 256

typedef struct tb__made {
  tb__rule_id_t rule;
  char *subject;           /* of TB__RULE_MESSAGES_LOST: the topic; else the host, or NULL */
  int64_t from_ns, end_ns; /* system time; of a pause */
  char text[TB__MADE_TEXT_SIZE];
} tb__made_t;

typedef struct tb__recording_made {
  tb__made_t *items;
  size_t count;
  char *host;          /* that recorded; NULL: not known */
  bool has_hosts;      /* a publisher is on another */
  bool is_system_time; /* log times are said to be that */
  bool is_of_sending;  /* the same, at the publisher */
  tb_status_t status;  /* the first failure */
} tb__recording_made_t;

/* A note; others are skipped. */
void tb__recording_made_note(tb__recording_made_t *made, const char *key, const char *value);
void tb__recording_made_fini(tb__recording_made_t *made);

#endif
