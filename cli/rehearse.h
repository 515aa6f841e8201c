/* `timebase rehearse`: what its parts share. The main thread's, except where noted. */
#ifndef TB_CLI_REHEARSE_H
#define TB_CLI_REHEARSE_H

#include <jansson.h>

#include "contract/manifest.h"
#include "contract/rehearsal.h"
#include "contract/run_factor.h"
#include "observe.h"
#include "rehearse_player.h"
#include "rehearse_recording.h"
#include "rehearse_safety.h"
#include "rehearse_stack.h"

#define REHEARSE_WHY_SIZE 400

typedef struct rehearse_arguments {
  const char *bag, *manifest, *output;
  const char *junit; /* NULL: none */
  const char *folders[OBSERVE_FOLDERS_MAX];
  size_t folder_count;
  char **command; /* ends with NULL */
  char default_output[64];
  tb_duration_t start_limit;
  int domain;
  bool json;
} rehearse_arguments_t;

typedef struct rehearse {
  const command_t *command;
  const rehearse_arguments_t *arguments;
  tb__manifest_t manifest;
  tb__rehearsal_t result;
  observe_t observe;
  const tb_ros2_graph_snapshot_t *before; /* the graph before the stack was started */
  const tb_ros2_graph_snapshot_t *quiet;  /* and when /clock began; NULL: it has not */
  rehearse_stack_t stack;
  rehearse_player_t player;
  rehearse_recording_t recording;
  rehearse_safety_t safety;
  tb__run_factor_t factor; /* of the run */
  tb_ros2_subscription_t *ticks;
  pthread_mutex_t tick_lock;            /* for `factor`, which a thread of DDS feeds */
  bool is_in_run;                       /* ticks are fed; under the lock */
  int64_t next_step_ns, next_second_ns; /* steady: of the observer */
  int64_t other_clock_ns;               /* steady: another one was seen; 0: none */
  char why[REHEARSE_WHY_SIZE];          /* it cannot go on; "": it can */
  bool is_signalled;
  bool has_run; /* to its end */
} rehearse_t;

/* --- time --- */

int64_t rehearse_now(const rehearse_t *rehearse); /* steady */
/* One turn of everything that is to be attended to, of a few milliseconds. False: it cannot go on,
 * and `why` has the reason. */
bool rehearse_turn(rehearse_t *rehearse);
/* Turns until that steady time. */
bool rehearse_wait_until(rehearse_t *rehearse, int64_t until_ns);
/* Ends the stack and starts it again, while the player plays. In the same way. */
bool rehearse_restart(rehearse_t *rehearse);
/* A line on standard error. */
void rehearse_report(const rehearse_t *rehearse, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- the graph (rehearse_graph.c) --- */

/* Whether the participant, or endpoint, is of the stack: not of this process, and not there
 * before. */
bool rehearse_is_of_stack(const rehearse_t *rehearse, const uint8_t participant[16]);
/* A publisher of the stack on the topic; NULL: there is none. */
const tb_ros2_graph_endpoint_t *rehearse_stack_publisher(const rehearse_t *rehearse,
                                                         const char *topic);
bool rehearse_stack_subscribes(const rehearse_t *rehearse, const char *topic);
/* Another publisher of /clock than ours, as text; false: there is none. */
bool rehearse_has_other_clock(const rehearse_t *rehearse, char *out, size_t size);

/* Waits until the graph has not changed for half a second, and all processes have announced their
 * nodes; at most for `limit_ns`. */
bool rehearse_settle(rehearse_t *rehearse, int64_t limit_ns);

/* The steps: each adds its lines to the result. */
int rehearse_judge_bases(rehearse_t *rehearse);  /* EXIT_OK, or a message was printed */
void rehearse_end_quiet(rehearse_t *rehearse);   /* before the first tick */
void rehearse_begin_run(rehearse_t *rehearse);   /* what counts from here on is of the run */
void rehearse_judge_quiet(rehearse_t *rehearse); /* once outputs came */
void rehearse_judge_run(rehearse_t *rehearse);
/* A seek back and what follows. False: as rehearse_turn. */
bool rehearse_seek_back(rehearse_t *rehearse);
/* The safety output (rehearse_stop.c). In the same way. */
bool rehearse_pause(rehearse_t *rehearse);
bool rehearse_withhold(rehearse_t *rehearse);

/* The name of a topic on the graph: recordings may lack the first '/'. */
typedef struct rehearse_name {
  char text[TB__MANIFEST_NAME_MAX + 2];
} rehearse_name_t;
rehearse_name_t rehearse_full_name(const char *recorded);

/* Topics of the recording that are played, to be freed; names as recorded, in `info`. */
const char **rehearse_choose_inputs(rehearse_t *rehearse, const tb_bag_info_t *info,
                                    size_t *out_count);

/* --- output (rehearse_show.c) --- */

void rehearse_print(const rehearse_t *rehearse);
json_t *rehearse_json(const rehearse_t *rehearse);

#endif
