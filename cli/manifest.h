/* The commands `timebase manifest ...`, and what they share. */
#ifndef TB_CLI_MANIFEST_H
#define TB_CLI_MANIFEST_H

#include <jansson.h>

#include "command.h"
#include "contract/manifest.h"

extern const command_t command_manifest_init;
extern const command_t command_manifest_show;
extern const command_t command_manifest_verify;

/* Whether the path is that of a recording: a folder, or a file named as one. */
bool manifest_is_bag(const char *path);

/* Reads the manifest of a file, or the one that a recording has with it. `problems` gets what is
 * wrong with it. EXIT_OK; EXIT_CHECK if it has errors (they are not printed); or a message was
 * printed. */
int manifest_read(const command_t *command, const char *path, tb__problems_t *problems,
                  tb__manifest_t *out);

/* "FILE:3:5: error: ...", each on a line of standard error. */
void manifest_print_problems(const char *path, const tb__problems_t *problems);

/* For a command that goes by the manifest of a file. EXIT_OK; EXIT_USAGE if it has errors, all of
 * which were printed; or another message was printed. `out_text` (may be NULL) gets the text of the
 * file, to be freed. */
int manifest_load(const command_t *command, const char *path, tb__manifest_t *out, char **out_text);
/* The same, or the manifest that a recording has with it. */
int manifest_load_any(const command_t *command, const char *path, tb__manifest_t *out);

/* With defaults filled in: as YAML, which can be read again, and as JSON. */
void manifest_print(const tb__manifest_t *manifest);
json_t *manifest_json(const tb__manifest_t *manifest);

#endif
