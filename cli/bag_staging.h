/* A recording that is written beside its place, and moved there once it is whole: so nothing half
 * written is ever found under its name, and nothing that came there meanwhile is overwritten. Who
 * else may write to the folder of the output can neither lead the writing elsewhere nor the
 * cleaning. */
#ifndef TB_CLI_BAG_STAGING_H
#define TB_CLI_BAG_STAGING_H

#include <stdbool.h>
#include <timebase/error.h>

typedef struct bag_staging {
  char *folder; /* a hidden one beside the output, for messages; NULL: none */
  char *place;  /* the same folder through its descriptor: nothing can take its place */
  char *name;   /* of the output */
  char *path;   /* `name` in `place`: where the writer writes */
  int above;    /* descriptor of the folder of the output */
  int inside;   /* of the hidden one */
  bool is_begun;
  bool is_kept; /* it could not be moved to its place, which was reported */
} bag_staging_t;

/* TB_ERR_INVALID if `output`, or `output` with `extension` (or NULL) after it, exists. */
tb_status_t bag_staging_check(const char *output, const char *extension, tb_error_t *error);
/* The same text for the same place: the folders that are there by their own names, and with
 * `extension` (or NULL) after it. To be freed; NULL: out of memory. */
char *bag_staging_place(const char *output, const char *extension);
/* Makes the folder, and those above the output. TB_ERR_INVALID if `output`, or `output` with
 * `extension` (or NULL) after it, exists. */
tb_status_t bag_staging_begin(bag_staging_t *staging, const char *output, const char *extension,
                              tb_error_t *error);
/* Moves what was written to its place: of a folder with `is_single_file` the one file in it, as
 * `output`. Where that fails, it stays in the folder, which the error names. */
tb_status_t bag_staging_publish(bag_staging_t *staging, bool is_single_file, tb_error_t *error);
/* Puts the output's name in place of the hidden one in an error: what the user asked for failed. */
void bag_staging_name_output(const bag_staging_t *staging, const char *output, tb_error_t *error);
/* Removes what was not moved. */
void bag_staging_end(bag_staging_t *staging);

#endif
