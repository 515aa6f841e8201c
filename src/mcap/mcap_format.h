/* The MCAP format, for reading and writing the files of a bag. */
#ifndef TB_MCAP_MCAP_FORMAT_H
#define TB_MCAP_MCAP_FORMAT_H

#include "storage/output.h"
#include "storage/storage.h"

extern const tb__bag_storage_t tb__mcap_storage;
/* The same for damaged files. */
extern const tb__bag_storage_t tb__mcap_salvage;
extern const tb__bag_output_format_t tb__mcap_output;

#endif
