/* A DDS reader of raw samples. */
#ifndef TB_DDS_RAW_READER_H
#define TB_DDS_RAW_READER_H

#include <timebase/ros2_sample.h>

#include "dds/endpoint.h"
#include "dds/participant.h"
#include "dds/peers.h"
#include "dds/related_identity.h"
#include "platform/futex.h"

typedef struct tb__raw_reader tb__raw_reader_t;

/* On DDS's receive thread, or on the thread of a writer in the same process; one call at a time for
 * a reader. The sample ends with the call. */
typedef void (*tb__raw_reader_callback_t)(const tb_ros2_sample_t *sample, void *user);

/* A reader of requests or replies gets what writers of Fast DDS send first (first_sample.h). With a
 * callback all samples go to it; without one (NULL) they wait for take. */
TB_WARN_UNUSED tb_status_t tb__raw_reader_create(tb__participant_t *participant,
                                                 const tb__endpoint_options_t *options,
                                                 tb__raw_reader_callback_t callback, void *user,
                                                 tb__raw_reader_t **out, tb_error_t *error);

/* Afterwards no call of the callback begins, and waits end. False: it was closed already. */
bool tb__raw_reader_close(tb__raw_reader_t *reader);
bool tb__raw_reader_is_closed(const tb__raw_reader_t *reader);
/* Whether its callback runs on this thread, possibly with that of another reader nested in it. */
bool tb__raw_reader_runs_here(const tb__raw_reader_t *reader);
/* Waits for a running callback: not from within it. */
void tb__raw_reader_destroy(tb__raw_reader_t *reader);

/* The oldest waiting sample; one thread at a time. TB_ERR_NOT_FOUND: none is waiting.
 * TB_ERR_CLOSED: the participant is gone, or the reader closed. */
TB_WARN_UNUSED tb_status_t tb__raw_reader_take(tb__raw_reader_t *reader, tb_ros2_sample_t *out);
void tb__raw_reader_release(tb_ros2_sample_t *sample);

/* Where a sample that has not been released comes from. False: from this process. */
bool tb__raw_reader_origin(const tb_ros2_sample_t *sample, tb__sample_origin_t *out);

/* Whether it was written in this process with inline QoS, of which nothing comes with it. */
bool tb__raw_reader_has_inline_qos(const tb_ros2_sample_t *sample);

/* As in raw_writer.h, for matched and incompatible writers. TB_ERR_CLOSED. */
uint32_t tb__raw_reader_matched(const tb__raw_reader_t *reader);
/* The futex that is raised by 1, and whose waiters are woken, when the matched writers change.
 * Waits may raise it too. */
_Atomic uint32_t *tb__raw_reader_match_word(tb__raw_reader_t *reader);
uint32_t tb__raw_reader_incompatible(const tb__raw_reader_t *reader, const char **out_policy);
tb__guid_t tb__raw_reader_guid(const tb__raw_reader_t *reader);

/* The addresses of the network interfaces that its domain uses: see interfaces.h. */
void tb__raw_reader_interfaces(const tb__raw_reader_t *reader, char *out, size_t size);

/* Its writers, to be looked up one by one while it exists. */
tb__peers_t tb__raw_reader_peers(const tb__raw_reader_t *reader);

/* The count of tb__raw_reader_match_word. */
uint32_t tb__raw_reader_match_events(const tb__raw_reader_t *reader);

/* See discovered.h. False in callbacks. */
bool tb__raw_reader_has_all_writers_of(const tb__raw_reader_t *reader,
                                       const tb__guid_t *participant);

/* The writers that are matched now; free *out, which may be NULL if there are none. Not from a
 * callback of DDS. TB_ERR_NO_MEMORY, TB_ERR_CLOSED. */
TB_WARN_UNUSED tb_status_t tb__raw_reader_matched_list(const tb__raw_reader_t *reader,
                                                       tb__matched_t **out, size_t *out_count);

#endif
