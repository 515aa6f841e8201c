/* Finding the next record after damage. */
#ifndef TB_MCAP_RESYNC_H
#define TB_MCAP_RESYNC_H

#include "mcap/definitions.h"
#include "storage/input.h"

/* The next place from `offset` on where a chunk, the end of the data or, in a file without chunks,
 * a message of a known channel begins in all likelihood; the file's size if there is none. */
uint64_t tb__mcap_resync(const tb__bag_input_t *input, const tb__mcap_definitions_t *definitions,
                         bool has_chunks, uint64_t offset);

/* A known opcode, with a length that the file has. The file's end counts too. */
bool tb__mcap_is_record(const tb__bag_input_t *input, uint64_t offset);

#endif
