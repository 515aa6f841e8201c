/* metadata.yaml in a folder, never seen half written. */
#ifndef TB_BAG_METADATA_FILE_H
#define TB_BAG_METADATA_FILE_H

#include <timebase/error.h>

/* Replaces metadata.yaml in `folder` at once; it has arrived on the disk then. */
tb_status_t tb__bag_metadata_replace(const char *folder, const char *text,
                                     tb_error_t *error) TB_WARN_UNUSED;
/* The names in the folder have arrived on the disk. */
tb_status_t tb__bag_folder_sync(const char *folder, tb_error_t *error) TB_WARN_UNUSED;

#endif
