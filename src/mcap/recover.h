/* Checking a file from front to back, and copying what is intact of a damaged one. */
#ifndef TB_MCAP_RECOVER_H
#define TB_MCAP_RECOVER_H

#include "mcap/scan.h"
#include "storage/output.h"
#include "storage/storage.h"

/* What is in the file and, of a recovery, in the copy. */
typedef struct tb__mcap_recovery {
  uint64_t messages, attachments, metadata;
  uint64_t damages, lost_bytes;       /* without what is harmless */
  bool is_unclosed;                   /* the one damage is that the file was not closed */
  uint64_t lost_messages;             /* a lower bound: those that indexes count */
  uint64_t doubtful_messages;         /* of chunks with a wrong CRC; they are kept */
  tb__mcap_compression_t compression; /* of the last chunk that is compressed */
} tb__mcap_recovery_t;

typedef void (*tb__mcap_loss_fn)(void *user, const tb__mcap_damage_t *loss);

/* Reads all of `from`, which errors call `name`, with every CRC, and reports everything that
 * is damaged, cut off or contradicts the rest. With `to`, which must not exist, everything that is
 * intact is written there: messages (of a chunk that was cut off, as many as there are; of one with
 * a wrong CRC, what its records hold), attachments, metadata, channels and schemas as they were.
 * `loss` may be NULL. TB_OK means that the work was done, not that nothing was lost. */
tb_status_t tb__mcap_recover(const char *from, const char *name, const char *to,
                             const tb__bag_output_options_t *options, tb__mcap_loss_fn loss,
                             void *user, tb__mcap_recovery_t *out,
                             tb_error_t *error) TB_WARN_UNUSED;

/* The same within limits without zeros; those of the above are the defaults. What a chunk's limit
 * hides is no loss: TB_ERR_LIMIT, as for a copy that gets larger than limits->unpacked_size. */
tb_status_t tb__mcap_recover_within(const tb_bag_limits_t *limits, const char *from,
                                    const char *name, const char *to,
                                    const tb__bag_output_options_t *options, tb__mcap_loss_fn loss,
                                    void *user, tb__mcap_recovery_t *out,
                                    tb_error_t *error) TB_WARN_UNUSED;

/* Of a file that was recovered, in words; all NULL if nothing is lost. */
typedef struct tb__mcap_losses {
  char *first;  /* with path and offset */
  char *in_all; /* how much */
  bool is_unclosed;
  const char *chunk_format; /* of the damaged file, static; NULL: its chunks are not compressed */
} tb__mcap_losses_t;

/* Opens what can be read of a damaged file: it is recovered into a file without a name. */
tb_status_t tb__mcap_salvage_open(const tb__bag_storage_t *storage, const char *path,
                                  const char *name, const tb_bag_limits_t *limits,
                                  tb__bag_file_t **out, tb_error_t *error) TB_WARN_UNUSED;
/* The losses are reported as those of the file, and the library as what wrote it; it takes both
 * over unless this fails. */
tb_status_t tb__mcap_open_recovered(const tb__bag_storage_t *storage, const char *path,
                                    const char *name, const tb_bag_limits_t *limits,
                                    const tb__mcap_losses_t *losses, char *library,
                                    tb__bag_file_t **out, tb_error_t *error) TB_WARN_UNUSED;

#endif
