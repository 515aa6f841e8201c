/* The connections of a ROS 1 bag: each publisher of each topic, as it described itself. */
#ifndef TB_ROSBAG1_CONNECTIONS_H
#define TB_ROSBAG1_CONNECTIONS_H

#include <timebase/error.h>

#include "rosbag1/record.h"

#define TB__ROSBAG1_MAX_CONNECTIONS 65536

typedef struct tb__rosbag1_connection {
  uint32_t id;
  uint8_t *header; /* its fields, as in the file */
  size_t header_size;
  tb__rosbag1_text_t topic, type, md5sum, definition, callerid; /* in `header` */
  char *caller; /* callerid as a text; NULL: there is none */
  bool is_latching;
  uint64_t message_count;
} tb__rosbag1_connection_t;

typedef struct tb__rosbag1_connections {
  tb__rosbag1_connection_t *items; /* sorted by id */
  size_t count, capacity;
  size_t last; /* found last */
} tb__rosbag1_connections_t;

/* NULL: there is none of this id. */
tb__rosbag1_connection_t *tb__rosbag1_connections_find(tb__rosbag1_connections_t *all, uint32_t id);
/* Format 1.2, where topics are connections. */
tb__rosbag1_connection_t *tb__rosbag1_connections_of_topic(tb__rosbag1_connections_t *all,
                                                           tb__rosbag1_text_t topic);
/* Adds what a connection record describes; one that is there already stays. TB_ERR_CORRUPT: it is
 * no connection; *is_other: it is there, but of another topic or type. */
tb_status_t tb__rosbag1_connections_add(tb__rosbag1_connections_t *all,
                                        const tb__rosbag1_record_t *record, const uint8_t *data,
                                        bool *is_other, tb_error_t *error) TB_WARN_UNUSED;
/* The same for a definition record of format 1.2, whose topic becomes the next connection. */
tb_status_t tb__rosbag1_connections_add_topic(tb__rosbag1_connections_t *all,
                                              const tb__rosbag1_record_t *record,
                                              tb_error_t *error) TB_WARN_UNUSED;
void tb__rosbag1_connections_fini(tb__rosbag1_connections_t *all);

#endif
