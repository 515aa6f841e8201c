#include "ros2/clock_claims.h"

#include <stdlib.h>

#include "platform/mutex.h"

typedef struct claim {
  const tb_clock_t *clock;
  struct claim *next;
} claim_t;

static tb__mutex_t mutex = TB__MUTEX_INIT;
static claim_t *claims TB_GUARDED_BY(mutex);

/* The link to the clock's claim, or to the end of the list. */
static claim_t **claim_link(const tb_clock_t *clock) TB_REQUIRES(mutex)
{
  claim_t **link = &claims;
  while (*link && (*link)->clock != clock)
    link = &(*link)->next;
  return link;
}

tb_status_t tb__clock_claim(const tb_clock_t *clock)
{
  claim_t *claim = malloc(sizeof *claim);
  if (!claim) return TB_ERR_NO_MEMORY;
  *claim = (claim_t){.clock = clock};
  tb__mutex_lock(&mutex);
  claim_t **link = claim_link(clock);
  bool is_free = !*link;
  if (is_free) *link = claim;
  tb__mutex_unlock(&mutex);
  if (is_free) return TB_OK;
  free(claim);
  return TB_ERR_BUSY;
}

static void claim_end(const tb_clock_t *clock)
{
  tb__mutex_lock(&mutex);
  claim_t **link = claim_link(clock);
  claim_t *claim = *link;
  if (claim) *link = claim->next;
  tb__mutex_unlock(&mutex);
  free(claim);
}

void tb__clock_claims_end(tb_clock_t *const *clocks, size_t count)
{
  for (size_t i = 0; i < count; i++)
    claim_end(clocks[i]);
}
