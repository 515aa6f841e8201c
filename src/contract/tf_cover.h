/* Would tf2 have answered? For each message with a frame: whether the transforms from that frame to
 * the root of its tree covered its stamp when it was received, else how long after that they did,
 * and which edge was the last. Bounded memory. One thread at a time. */
#ifndef TB_CONTRACT_TF_COVER_H
#define TB_CONTRACT_TF_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#include "contract/frames.h"
#include "contract/spread.h"
#include "definition/message_head.h"

#define TB__TF_FRAMES_MAX  4096 /* others are as if there were none */
#define TB__TF_WAITING_MAX 4096 /* messages that wait for transforms; the oldest is given up */
#define TB__TF_DEPTH_MAX   64   /* edges from a frame to its root */
/* As long as tf2 keeps transforms. After that nobody waits for one. */
#define TB__TF_CACHE_NS INT64_C(10000000000)

enum { TB__TF_PUBLISHERS = 2 };

/* The transform to a frame from its parent. */
typedef struct tb__tf_edge {
  bool is_set, is_static;
  bool is_both; /* static transforms and others */
  uint32_t parent;
  int64_t oldest_ns, newest_ns; /* stamps, since the last jump */
  uint64_t count;
  uint64_t parent_changes; /* how often it came from another parent than the time before */
  uint32_t other_parent;   /* the one before the last change */
  uint64_t publishers[TB__TF_PUBLISHERS]; /* the last two; 0: none, or not known */
  uint64_t static_publisher; /* the last one of static transforms; 0: none, or not known */
  uint64_t handovers;        /* how often another of them sent it than the time before */
  uint64_t late;             /* messages whose last missing transform it was */
  uint64_t never;            /* messages that waited for it in vain */
  tb__spread_t *wait;        /* of both, from receipt on; NULL: none */
  uint32_t late_topic;       /* of the longest wait */
  uint64_t old_epoch;        /* transforms of the time before a jump back */
  int64_t old_stamp_ns;      /* of the first one, .. */
  int64_t old_at_ns;         /* .. and ROS time then */
  uint64_t old_publisher;    /* of the last one; 0: not known */
  uint32_t first_waiting;    /* number from 1 on; 0: none */
} tb__tf_edge_t;

typedef struct tb__tf_topic {
  uint64_t messages;  /* with a frame and a stamp */
  uint64_t covered;   /* answered at receipt */
  uint64_t waited;    /* answered later */
  uint64_t never;     /* not within the 10 s that tf2 keeps, or not before a cut */
  uint64_t too_old;   /* the stamp is before what tf2 keeps */
  uint64_t unknown;   /* the frame is in no transform, or not yet, or has no root */
  uint64_t dropped;   /* not followed: a jump, too many that wait, or the end */
  tb__spread_t *wait; /* of those that waited; NULL: none */
  int64_t worst_ns;
  uint32_t worst_edge; /* the child of that edge */
} tb__tf_topic_t;

typedef struct tb__tf_waiting {
  uint32_t topic, frame; /* of the message; the edge that it waits for is that of `child` */
  uint32_t child;
  uint32_t next, previous; /* of those that wait for the same edge; from 1 on, 0: none */
  uint32_t is_used;
  int64_t stamp_ns, received_ns;
} tb__tf_waiting_t;

typedef struct tb__tf_cover {
  tb__frames_t names;
  uint32_t name_count;
  tb__tf_edge_t *edges; /* by number of the child's name */
  uint32_t edge_capacity;
  tb__tf_topic_t *topics;
  uint32_t topic_count;
  tb__tf_waiting_t *waiting; /* a ring, in the order of reception */
  uint32_t waiting_at, waiting_count;
} tb__tf_cover_t;

typedef struct tb__tf_transform {
  const char *parent, *child; /* may be any bytes; a '/' before them does not count */
  size_t parent_length, child_length;
  int64_t stamp_ns;
  int64_t received_ns; /* steady, or of a recording what is nearest to that */
  uint64_t publisher;  /* 0: not known */
  bool is_static;
} tb__tf_transform_t;

/* Robots that share a graph have a tree each, on topics of a namespace: "/r1/tf". */

enum { TB__TF_TREE_FRAME_SIZE = 1100 }; /* what is longer is cut */

/* The length of the namespace in the name of a topic of transforms: of "/r1/tf" 3, of "/tf" 0. */
TB_PRIVATE_API size_t tb__tf_tree_length(const char *topic);
/* Whether the topic is in that namespace; in the first one all are. */
TB_PRIVATE_API bool tb__tf_tree_has(const char *tree, size_t tree_length, const char *topic);
/* A frame as it is named where there are several trees: "[/r1] base", and "base" in the first one.
 * Returns its length. */
TB_PRIVATE_API size_t tb__tf_tree_frame(const char *tree, size_t tree_length, const char *frame,
                                        size_t length, char out[TB__TF_TREE_FRAME_SIZE]);

typedef struct tb__tf_tree_names {
  char parent[TB__TF_TREE_FRAME_SIZE], child[TB__TF_TREE_FRAME_SIZE];
} tb__tf_tree_names_t;

/* The edge with the names of its frames, which `names` has, and its stamp; the rest is zero. */
TB_PRIVATE_API tb__tf_transform_t tb__tf_tree_transform(const char *tree, size_t tree_length,
                                                        const tb__edge_t *edge,
                                                        tb__tf_tree_names_t *names);

/* For topics with numbers from 0 on, below `topic_count`. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__tf_cover_init(tb__tf_cover_t *cover,
                                             uint32_t topic_count) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__tf_cover_fini(tb__tf_cover_t *cover);

/* TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__tf_cover_transform(tb__tf_cover_t *cover,
                                                  const tb__tf_transform_t *transform);
/* A message of a frame, which is any bytes. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__tf_cover_message(tb__tf_cover_t *cover, uint32_t topic,
                                                const char *frame, size_t length, int64_t stamp_ns,
                                                int64_t received_ns);
/* A transform of the time before a jump back, when ROS time is `ros_ns`: counted, and in no buffer.
 * TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__tf_cover_old_epoch(tb__tf_cover_t *cover,
                                                  const tb__tf_transform_t *transform,
                                                  int64_t ros_ns);
/* ROS time has jumped back: buffers are cleared, static transforms stay. */
TB_PRIVATE_API void tb__tf_cover_clear(tb__tf_cover_t *cover);
/* No more comes: what still waits is dropped. */
TB_PRIVATE_API void tb__tf_cover_end(tb__tf_cover_t *cover);
/* The same at a time at which more would come: messages that wait for longer than `patience_ns`, in
 * which what the transform is behind their stamps counts, are of those that waited in vain.
 * TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__tf_cover_cut(tb__tf_cover_t *cover, int64_t now_ns,
                                            int64_t patience_ns);
/* Counts again from 0, for topics that may be others; transforms and publishers stay. Nothing may
 * wait: tb__tf_cover_end. */
TB_PRIVATE_API void tb__tf_cover_restart(tb__tf_cover_t *cover);

/* The publisher has ended: an edge that is static no longer is not. */
TB_PRIVATE_API void tb__tf_cover_gone(tb__tf_cover_t *cover, uint64_t publisher);

/* NULL: there is no such topic. */
TB_PRIVATE_API const tb__tf_topic_t *tb__tf_cover_topic(const tb__tf_cover_t *cover,
                                                        uint32_t topic);
/* The edge to the frame of that number, below `name_count`; NULL: it has no parent. */
TB_PRIVATE_API const tb__tf_edge_t *tb__tf_cover_edge(const tb__tf_cover_t *cover, uint32_t child);
TB_PRIVATE_API const char *tb__tf_cover_name(const tb__tf_cover_t *cover, uint32_t frame);
/* Whether two send it by turns: known publishers, or two parents; or it is static and not. One that
 * takes over from another does not count. */
TB_PRIVATE_API bool tb__tf_edge_is_shared(const tb__tf_edge_t *edge);

#endif
