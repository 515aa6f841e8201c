/* How far the clocks of publishers' hosts are from this one's, beside the latencies that subtract
 * them. Nodes are asked on a thread, every 10 s. All calls on the main thread. */
#ifndef TB_CLI_OBSERVE_HOSTS_H
#define TB_CLI_OBSERVE_HOSTS_H

#include "json.h"

struct observe;
typedef struct observe_hosts observe_hosts_t;

/* Asks again when it is time to. Never blocks. */
void observe_hosts_step(struct observe *observe, int64_t steady_ns);
/* Waits for answers that are under way, for half a second at most. */
void observe_hosts_close(struct observe *observe);

/* Of the publisher with this GUID: {"offset": MS, "bound": MS}, null: it was not asked, or has not
 * answered. The offset is its host's clock minus ours. */
json_t *observe_hosts_json(const struct observe *observe, const uint8_t guid[16]);

#endif
