/* MCAP files of every shape, made without the writer, for tests. Failures fail the running test. */
#ifndef TB_BAG_TEST_MCAP_H
#define TB_BAG_TEST_MCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcap/record.h"

typedef struct tb__test_bytes {
  uint8_t *bytes;
  size_t size, capacity;
} tb__test_bytes_t;

/* Zeroed before tb__test_mcap_begin. */
typedef struct tb__test_mcap {
  tb__test_bytes_t file, chunk;
  tb__test_bytes_t definitions, chunk_index, metadata_index; /* of the summary */
  bool in_chunk;
  tb__mcap_compression_t compression;
  uint64_t chunk_start_ns, chunk_end_ns;
  uint64_t start_ns, end_ns;
  uint64_t counts[16], chunk_counts[16];
  unsigned channels, chunks, attachments, metadata;
  bool lies_about_times;   /* the next chunk says that it starts 1 ns later */
  bool claims_start_0;     /* in the statistics */
  bool has_no_indexes;     /* of the messages in chunks */
  bool counts_no_channels; /* in the statistics */
} tb__test_mcap_t;

void tb__test_mcap_begin(tb__test_mcap_t *mcap);
/* A schema and a channel of one id, from 1 on. */
void tb__test_mcap_channel(tb__test_mcap_t *mcap, uint16_t id, const char *topic, const char *type);
void tb__test_mcap_message(tb__test_mcap_t *mcap, uint16_t channel, uint64_t log_time_ns,
                           const void *data, size_t size);
void tb__test_mcap_chunk_begin(tb__test_mcap_t *mcap, tb__mcap_compression_t compression);
void tb__test_mcap_chunk_end(tb__test_mcap_t *mcap);
void tb__test_mcap_attachment(tb__test_mcap_t *mcap, const char *name, const char *data);
void tb__test_mcap_metadata(tb__test_mcap_t *mcap, const char *name, const char *key,
                            const char *value);
void tb__test_mcap_end(tb__test_mcap_t *mcap, bool with_summary);
void tb__test_mcap_save(const tb__test_mcap_t *mcap, const char *path);
void tb__test_mcap_fini(tb__test_mcap_t *mcap);

#endif
