/* The notes (custom_data) of recordings that are copied. */
#ifndef TB_CLI_BAG_NOTES_H
#define TB_CLI_BAG_NOTES_H

#include "bag.h"

/* Before the names of notes of how a recording was made (docs/provenance.md). */
#define BAG_MADE_PREFIX "timebase."
bool bag_note_is_of_making(const char *key);

/* Those of the reader to the writer; of several recordings all that differ. */
tb_status_t bag_notes_copy(bag_copy_t *copy, tb_error_t *error);
/* What was done and, of a damaged recording, what was lost. */
tb_status_t bag_notes_add(bag_copy_t *copy, tb_error_t *error);

#endif
