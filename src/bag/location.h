/* Which files make up a bag. */
#ifndef TB_BAG_LOCATION_H
#define TB_BAG_LOCATION_H

#include "bag/metadata.h"

typedef struct tb__bag_location {
  char *path;
  char **files; /* paths that can be opened, in the bag's order */
  size_t file_count;
  uint64_t max_files;
  bool has_metadata;
  tb__bag_metadata_t metadata;
  tb__bag_compression_t compression; /* as metadata.yaml has it */
  char *damage;                      /* the first thing that was wrong, or NULL */
  char *oddity;                      /* what was wrong with nothing lost, or NULL */
  char *notice;                      /* that the files may be several recordings, or NULL */
} tb__bag_location_t;

/* Compressed as a whole: "x.db3.zstd". */
bool tb__bag_file_is_packed(const char *path);

/* Called before a file is opened, as opening a pipe would block. A file that cannot be examined
 * passes: opening it reports why. TB_ERR_INVALID. */
tb_status_t tb__bag_check_regular(const char *path, tb_error_t *error) TB_WARN_UNUSED;

/* *out is zeroed by the caller. Errors as in tb_bag_reader_open. */
tb_status_t tb__bag_locate(const char *path, uint64_t max_files, tb__bag_location_t *out,
                           tb_error_t *error) TB_WARN_UNUSED;
/* The same for a bag that may be damaged: without a readable metadata.yaml as if there were none,
 * and without files that are missing. What was wrong is in `damage`. */
tb_status_t tb__bag_locate_damaged(const char *path, uint64_t max_files, tb__bag_location_t *out,
                                   tb_error_t *error) TB_WARN_UNUSED;
/* The files in the folder, as if there were no metadata.yaml: `metadata` has what could be read of
 * that, and `has_metadata` is false. */
tb_status_t tb__bag_locate_files(const char *path, uint64_t max_files, tb__bag_location_t *out,
                                 tb_error_t *error) TB_WARN_UNUSED;
void tb__bag_location_fini(tb__bag_location_t *location);

/* Digits compare as numbers: bag_2.db3 before bag_10.db3. A total order. */
int tb__natural_compare(const char *a, const char *b);

#endif
