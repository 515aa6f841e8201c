/* The sqlite3 format, for reading and writing the files of a bag. */
#ifndef TB_SQLITE_SQLITE_FORMAT_H
#define TB_SQLITE_SQLITE_FORMAT_H

#include "storage/output.h"
#include "storage/storage.h"

extern const tb__bag_storage_t tb__sqlite_storage;
/* The same for damaged files. */
extern const tb__bag_storage_t tb__sqlite_salvage;
extern const tb__bag_output_format_t tb__sqlite_output;

#endif
