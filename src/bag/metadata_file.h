/* metadata.yaml in a folder, never seen half written. */
#ifndef TB_BAG_METADATA_FILE_H
#define TB_BAG_METADATA_FILE_H

#include <timebase/error.h>

/* Replaces metadata.yaml in the folder of a descriptor at once; it has arrived on the disk then.
 * `name` of the folder is for errors. */
tb_status_t tb__bag_metadata_replace_in(int folder, const char *name, const char *text,
                                        tb_error_t *error) TB_WARN_UNUSED;
/* The same, in the folder that has that path now. */
tb_status_t tb__bag_metadata_replace(const char *path, const char *text,
                                     tb_error_t *error) TB_WARN_UNUSED;
/* The names in the folder have arrived on the disk. */
tb_status_t tb__bag_folder_sync(int folder, const char *name, tb_error_t *error) TB_WARN_UNUSED;

#endif
