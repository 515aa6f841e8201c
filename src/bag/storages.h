/* The storage formats that the library has, by name. */
#ifndef TB_BAG_STORAGES_H
#define TB_BAG_STORAGES_H

#include "storage/storage.h"

/* The format of this id; NULL: there is none. */
const tb__bag_storage_t *tb__bag_storage_find(const char *id);
/* The format of this file name, from its extension, with or without a following ".zstd"; NULL: the
 * extension is of no format. */
const tb__bag_storage_t *tb__bag_storage_of_file(const char *path);
/* "sqlite3, ..." */
const char *tb__bag_storage_names(void);

#endif
