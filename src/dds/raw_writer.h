/* A DDS writer of raw samples. */
#ifndef TB_DDS_RAW_WRITER_H
#define TB_DDS_RAW_WRITER_H

#include <stddef.h>

#include "dds/endpoint.h"
#include "dds/inline_qos.h"
#include "dds/participant.h"
#include "dds/peers.h"
#include "dds/transport_hook.h"
#include "platform/futex.h"

typedef struct tb__raw_writer tb__raw_writer_t;

TB_WARN_UNUSED tb_status_t tb__raw_writer_create(tb__participant_t *participant,
                                                 const tb__endpoint_options_t *options,
                                                 tb__raw_writer_t **out, tb_error_t *error);
void tb__raw_writer_destroy(tb__raw_writer_t *writer);

/* TB_ERR_INVALID: not plain CDR with its encapsulation. TB_ERR_CLOSED: the participant is gone.
 * TB_ERR_UNSUPPORTED: see refuses_fast_dds in endpoint.h.
 * Blocks while a reliable writer's history is full of samples that readers have not acknowledged.
 */
TB_WARN_UNUSED tb_status_t tb__raw_writer_write(tb__raw_writer_t *writer, const void *cdr,
                                                size_t size, tb_error_t *error);

/* Whether tb__raw_writer_write_with is possible. The first call for a writer prepares it. */
tb__inline_qos_state_t tb__raw_writer_inline_qos(tb__raw_writer_t *writer);

/* The same with inline QoS: `inline_qos_size` bytes of parameters without a sentinel, in the byte
 * order of this machine, at most TB__INLINE_QOS_MAX, and a multiple of 4; 0: none. All packets with
 * the sample have them, retransmissions too; readers in this process see none
 * (tb__raw_reader_has_inline_qos).
 *
 * `*sequence` is the sample's RTPS sequence number as the caller expects it (0: unknown), then, if
 * TB_OK, as it is. NULL: nobody asks. Such writes wait for one another. A writer whose numbers are
 * asked for must be written in no other way; TB__RESEND_SINCE_MATCH needs them.
 *
 * TB_ERR_UNSUPPORTED, TB_ERR_NO_MEMORY: see tb__raw_writer_inline_qos. TB_ERR_LIMIT: the sample
 * would not fit into the packets that CYCLONEDDS_URI asks for. */
TB_WARN_UNUSED tb_status_t tb__raw_writer_write_with(tb__raw_writer_t *writer, const void *cdr,
                                                     size_t size, const void *inline_qos,
                                                     size_t inline_qos_size, int64_t *sequence,
                                                     tb_error_t *error);

/* Matched readers now. */
uint32_t tb__raw_writer_matched(const tb__raw_writer_t *writer);

/* The futex that is raised by 1, and whose waiters are woken, when the matched readers change.
 * Waits may raise it too. */
_Atomic uint32_t *tb__raw_writer_match_word(tb__raw_writer_t *writer);

/* Afterwards each change of the matched readers also raises *events by 1 and wakes its waiters
 * (platform/futex.h), so that one wait covers many writers. *events must outlive the writer. */
void tb__raw_writer_watch_matched(tb__raw_writer_t *writer, _Atomic uint32_t *events);

/* Whether writers that this thread creates from now on collect what is written, until a packet is
 * full, they are flushed or they block. */
void tb__raw_writers_batch(bool on);
/* Whether reliable writers that this thread creates from now on keep all samples until readers have
 * acknowledged them; a write then blocks for at most 50 ms (TB_ERR_TIMEOUT). */
void tb__raw_writers_keep_all(bool on);
/* Sends what the writer has collected. */
void tb__raw_writer_flush(const tb__raw_writer_t *writer);

/* Waits until all matched reliable readers have acknowledged everything. TB_ERR_TIMEOUT. */
tb_status_t tb__raw_writer_wait_for_acks(tb__raw_writer_t *writer, tb_duration_t limit);

/* Readers refused for their QoS so far; the name of the last such policy (static storage). */
uint32_t tb__raw_writer_incompatible(const tb__raw_writer_t *writer, const char **out_policy);

tb__guid_t tb__raw_writer_guid(const tb__raw_writer_t *writer);
/* Its readers, to be looked up one by one while it exists. */
tb__peers_t tb__raw_writer_peers(const tb__raw_writer_t *writer);
/* The handle of the writer within this process. */
uint64_t tb__raw_writer_instance(const tb__raw_writer_t *writer);

/* The count of tb__raw_writer_match_word. */
uint32_t tb__raw_writer_match_events(const tb__raw_writer_t *writer);

/* The readers that are matched now; free *out, which may be NULL if there are none. Not from a
 * callback of DDS. TB_ERR_NO_MEMORY, TB_ERR_CLOSED. */
TB_WARN_UNUSED tb_status_t tb__raw_writer_matched_list(const tb__raw_writer_t *writer,
                                                       tb__matched_t **out, size_t *out_count);
/* The same, only those that have not acknowledged everything. */
TB_WARN_UNUSED tb_status_t tb__raw_writer_unacked(const tb__raw_writer_t *writer,
                                                  tb__matched_t **out, size_t *out_count);
/* See unacked.h; free *out. */
size_t tb__raw_writer_unacked_bytes(const tb__raw_writer_t *writer, size_t *out_high);
size_t tb__raw_writer_unkept(const tb__raw_writer_t *writer, tb__matched_t **out,
                             size_t *out_count);

#endif
