/* The arguments of `timebase record`. */
#ifndef TB_CLI_RECORD_ARGUMENTS_H
#define TB_CLI_RECORD_ARGUMENTS_H

#include <timebase/ros2_recorder.h>

#include "command.h"
#include "ros_arguments.h"

#define RECORD_PATH_SIZE 64

enum {
  RECORD_TOPICS,
  RECORD_EXCLUDED_TOPICS,
  RECORD_TYPES,
  RECORD_EXCLUDED_TYPES,
  RECORD_SERVICES,
  RECORD_EXCLUDED_SERVICES,
  RECORD_ACTIONS,
  RECORD_EXCLUDED_ACTIONS,
  RECORD_LISTS,
};

typedef struct record_arguments {
  tb_ros2_recorder_options_t options;
  const char **lists[RECORD_LISTS]; /* of words; those of the options */
  char (*names)[TB_ROS2_NAME_SIZE]; /* words of lists, resolved; NULL: not yet */
  tb_bag_note_t *notes;             /* --custom-data, and room for one more */
  size_t note_count;
  ros_arguments_t ros;
  const char *path;
  char default_path[RECORD_PATH_SIZE];
  const char *node;     /* NULL: the usual one */
  const char *manifest; /* NULL: none */
  bool use_sim_time;
  bool has_log_time;
  bool no_keyboard, plain;
  bool ros1; /* a graph of ROS 1 */
  bool allow_loss;
  const char *storage;   /* NULL: not given */
  const char *packed_by; /* the option that asks for compressed chunks; NULL: none */
  int domain;
} record_arguments_t;

/* Takes --ros-args out of `argv`, and makes room for the words that are left: *argc. False: out of
 * memory. */
bool record_arguments_init(record_arguments_t *arguments, int *argc, char **argv);
void record_arguments_fini(record_arguments_t *arguments);

/* An exit status; a message was printed unless it is EXIT_OK. */
int record_arguments_parse(const command_t *command, int argc, char **argv,
                           record_arguments_t *arguments, bool *out_help);

extern const char record_usage[], record_help[];

#endif
