/* What `timebase bag info` has found out, and the ways to show it. */
#ifndef TB_CLI_BAG_INFO_H
#define TB_CLI_BAG_INFO_H

#include "bag.h"
#include "bag_digest.h"
#include "bag_evidence.h"
#include "bag_service_calls.h"

typedef struct bag_info_topic {
  uint64_t count;            /* messages that could be read */
  int64_t first_ns, last_ns; /* of a scan */
  int64_t longest_gap_ns;    /* between messages that follow each other; of a scan */
  uint64_t bytes;            /* of payloads; where those are read */
  bag_digest_t *digest;      /* NULL: not requested */
  bool has_calls;            /* it has events of a service, which were read */
  bag_service_calls_t calls;
  char sha256[BAG_DIGEST_TEXT_SIZE];
} bag_info_topic_t;

typedef struct bag_info {
  const tb_bag_info_t *bag;
  const char *library; /* that wrote the recording; empty: unknown */
  const size_t *order; /* in which topics are shown */
  bag_info_topic_t *topics;
  uint64_t message_count; /* that could be read */
  int64_t start_ns, end_ns;
  bool is_scanned; /* messages were read; otherwise counts and times are those of the reader's info
                    */
  bool was_scan_asked;
  int sort;
  bool has_digests;
  bool is_verbose;                 /* payloads are read: sizes are known */
  uint64_t failures;               /* to read something */
  char damage[TB_ERROR_TEXT_SIZE]; /* empty: none was seen */
  tb_error_t refused;              /* a part, by a ceiling or the machine: that is no damage */
  bag_evidence_t evidence;
  bool is_salvaged; /* could not be opened as a whole one */
} bag_info_t;

/* "none", "message:zstd" ... */
void bag_info_compression(const bag_info_t *info, char *out, size_t size);
/* Inside of the bag's folder. */
const char *bag_info_file(const bag_info_t *info, size_t index);

/* Whether the topic has the events of a service. */
bool bag_info_is_service(const tb_bag_topic_t *topic);

/* Messages a second; 0: there are not two, or a scan was not made. */
double bag_info_rate(const bag_info_t *info, size_t topic);

void bag_info_print(const bag_info_t *info);
/* The names of topics, a line each. */
void bag_info_print_names(const bag_info_t *info);
/* False: no memory. */
bool bag_info_print_json(const bag_info_t *info);

#endif
