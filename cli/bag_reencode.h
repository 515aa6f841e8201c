/* What becomes of the topics of a recording that is converted from one generation of ROS to the
 * other: re-encoded by definition, kept as they are, or left out. */
#ifndef TB_CLI_BAG_REENCODE_H
#define TB_CLI_BAG_REENCODE_H

#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <timebase/reencoder.h>

#include "command.h"

#define BAG_REENCODE_FOLDERS_MAX 64

/* One topic of the reader. */
typedef struct bag_reencoded {
  tb_reencoder_t *reencoder; /* NULL: the messages stay as they are */
  bool is_left_out;
  uint64_t failures; /* messages that could not be re-encoded */
} bag_reencoded_t;

typedef struct bag_reencode {
  const command_t *command;
  bool is_on;      /* messages may be re-encoded; otherwise topics of the other generation are
                      refused */
  bool keeps_ros1; /* what cannot be re-encoded stays as it is, in MCAP */
  const char *folders[BAG_REENCODE_FOLDERS_MAX];
  size_t folder_count;
  bag_reencoded_t *topics; /* by topic of the reader */
  size_t topic_count;
  size_t left_out; /* topics */
  uint64_t failures;
  tb_error_t error; /* of the message that failed last */
  char md5sum[64];  /* of the topic that was described last */
} bag_reencode_t;

/* Whether messages of this format stay as they are in this storage: a .bag file has those of ROS 1
 * alone, MCAP both, sqlite3 those of ROS 2. */
bool bag_reencode_fits(const char *serialization_format, const char *storage_id);

/* Whether messages of the topic are those of ROS 1 or 2, and its definition is of the same.
 * TB_ERR_UNSUPPORTED, TB_ERR_CORRUPT. */
tb_status_t bag_reencode_check(const tb_bag_topic_t *topic, tb_error_t *error);

/* The type of its messages, also where a definition without fields has no encoding. */
tb_reencoder_type_t bag_reencode_type(const tb_bag_topic_t *topic);

/* Looks at each topic, or those with wanted[i], and reports what is left out and what is kept. With
 * `is_on`, topics of the other generation that a storage could hold are re-encoded too.
 * TB_ERR_NO_MEMORY. */
tb_status_t bag_reencode_prepare(bag_reencode_t *reencode, const tb_bag_info_t *info,
                                 const char *storage_id, const bool *wanted, tb_error_t *error);
void bag_reencode_end(bag_reencode_t *reencode);

/* The profile of an MCAP file with these topics; NULL: that of ROS 2. */
const char *bag_reencode_profile(const bag_reencode_t *reencode, const tb_bag_info_t *info,
                                 const bool *wanted);

/* Changes what describes a topic to what its messages become. */
void bag_reencode_describe(bag_reencode_t *reencode, size_t index, tb_bag_writer_topic_t *topic);

/* A re-encoder of its own for one publisher of a topic, as headers are counted for each; NULL if
 * none is needed. tb_reencoder_destroy it. */
tb_status_t bag_reencode_for_publisher(const bag_reencode_t *reencode, size_t index,
                                       tb_reencoder_t **out, tb_error_t *error);

/* Replaces a message's bytes. False: it could not be re-encoded; that was reported, if it is the
 * first of its topic. `own` may be NULL. */
bool bag_reencode_message(bag_reencode_t *reencode, const tb_bag_info_t *info, tb_reencoder_t *own,
                          tb_bag_message_t *message);

#endif
