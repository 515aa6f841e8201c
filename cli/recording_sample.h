/* Whose time log times and stamps of a recording are, by its first messages. */
#ifndef TB_CLI_RECORDING_SAMPLE_H
#define TB_CLI_RECORDING_SAMPLE_H

#include <timebase/bag_reader.h>

#include "contract/recording.h"

/* What is read at most: enough for stamps of every topic, and nothing beside a long recording. */
#define RECORDING_SAMPLE_MESSAGES 5000
#define RECORDING_SAMPLE_BYTES    ((size_t)64 << 20)

/* Log times and stamps that are this near are of the same time. */
#define RECORDING_SAMPLE_NEAR_NS (10 * TB_NS_PER_S)

typedef struct recording_sample {
  tb__provenance_t provenance;
  bool has_clock;      /* a recorded /clock */
  bool has_declared;   /* a topic of the name of the manifest's clock, and of its type */
  uint64_t stamps;     /* that were compared with log times; 0: nothing is known of stamps */
  int64_t off_ns;      /* log time minus stamp, or minus the ticks that stamps are compared with */
  char topic[256];     /* whose stamps these are; "/clock" where it is the ticks */
  uint64_t unfit_type; /* topics whose type the manifest declares otherwise */
  char unfit[512];     /* the first of them */
} recording_sample_t;

/* `manifest` may be NULL: its types are compared. What cannot be read is left out. As
 * tb_bag_reader_open. */
tb_status_t recording_sample_read(const char *path, const tb_bag_limits_t *limits,
                                  const tb__manifest_t *manifest, recording_sample_t *out,
                                  tb_error_t *error);

/* Whether stamps and log times are of one time; true where nothing is known of either. */
bool recording_sample_fits(const recording_sample_t *sample);
/* Whether log times are ROS time, with some confidence, that is not system time. */
bool recording_sample_is_ros(const recording_sample_t *sample);

/* "system time at reception (inferred, 95 %: ...)". */
typedef struct recording_sample_text {
  char text[400];
} recording_sample_text_t;
recording_sample_text_t recording_sample_log_time(const recording_sample_t *sample);

#endif
