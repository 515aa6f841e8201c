/* How the messages of a recorded topic are read: by the first definition that fits them. One thread
 * at a time. */
#ifndef TB_CONTRACT_RECORDED_TYPE_H
#define TB_CONTRACT_RECORDED_TYPE_H

#include <stdbool.h>

#include "definition/message_head.h"
#include "definition/resolve.h"

/* So many messages are tried before a definition that fits none of them is given up. */
#define TB__RECORDED_TYPE_TRIES 4

typedef struct tb__recorded_type {
  tb__schema_t *schema; /* NULL: not known, or not yet */
  tb__definition_origin_t origin;
  tb__message_head_t head;
  tb__edge_paths_t edges;
  uint32_t tries;
  bool is_given_up;
  char *note; /* why the recorded definition was of no use, or why there is none; may be NULL */
} tb__recorded_type_t;

/* Looks for a definition that fits the message: that of the recording, then elsewhere. What was
 * found before is replaced. Not finding one is no failure. TB_ERR_NO_MEMORY. */
tb_status_t tb__recorded_type_choose(tb__recorded_type_t *type,
                                     const tb__definition_request_t *request, const void *cdr,
                                     size_t size) TB_WARN_UNUSED;
void tb__recorded_type_fini(tb__recorded_type_t *type);

#endif
