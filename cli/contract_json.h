/* Statistics of src/contract/ in JSON, the same in all commands. */
#ifndef TB_CLI_CONTRACT_JSON_H
#define TB_CLI_CONTRACT_JSON_H

#include "contract/spread.h"
#include "contract/tf_cover.h"
#include "json.h"

json_t *contract_spread_json(const tb__spread_t *spread);

/* Whether tf2 would have answered for the messages of a topic. NULL: none has a frame. */
json_t *contract_tf_topic_json(const tb__tf_cover_t *cover, uint32_t topic);
/* The node of a publisher of transforms; NULL: not known. */
typedef const char *(*contract_publisher_t)(void *user, uint64_t publisher);
/* A list of all edges. `publisher` may be NULL: then they have none. */
json_t *contract_tf_edges_json(const tb__tf_cover_t *cover, contract_publisher_t publisher,
                               void *user);

#endif
