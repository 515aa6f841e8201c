/* The recording that a rehearsal makes of its run, and what `timebase check` finds in it. */
#ifndef TB_CLI_REHEARSE_RECORDING_H
#define TB_CLI_REHEARSE_RECORDING_H

#include <timebase/ros2_recorder.h>

#include "command.h"
#include "contract/rehearsal.h"
#include "record_evidence.h"

typedef struct rehearse_recording {
  const command_t *command;
  const char *path;
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  tb_ros2_recorder_t *recorder; /* NULL: it does not record */
  record_evidence_t evidence;
  bool is_made; /* it was closed in good order */
} rehearse_recording_t;

/* Begins to record all topics, with the manifest. EXIT_OK, or a message was printed. */
int rehearse_recording_begin(rehearse_recording_t *recording, const command_t *command,
                             const char *path, const char *manifest, int domain);
/* To be called about every 100 ms. */
void rehearse_recording_poll(rehearse_recording_t *recording);
/* Ends it. EXIT_OK, or a message was printed; EXIT_OK too if none was begun. Its participant stays:
 * publishers wait for the acknowledgements of one that has left until they notice it. */
int rehearse_recording_end(rehearse_recording_t *recording);
/* Accepts one that was not begun. */
void rehearse_recording_close(rehearse_recording_t *recording);

/* Runs the check in a process of its own. EXIT_OK, or a message was printed. */
int rehearse_recording_judge(const rehearse_recording_t *recording, tb__rehearsal_t *result);

#endif
