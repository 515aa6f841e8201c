#include "bag_service_calls.h"

#include <stdlib.h>
#include <string.h>

#include "definition/hash.h"
#include "definition/service_event.h"

/* service_msgs/ServiceEventInfo, with which each event begins; places count from the start. */
#define TYPE_AT       4
#define CLIENT_AT     16
#define CLIENT_SIZE   16
#define SEQUENCE_AT   36 /* aligned to 8 after the encapsulation */
#define SEQUENCE_AT_2 32 /* in XCDR2, aligned to 4 */

#define FIRST_CAPACITY 64

struct bag_service_call {
  bool is_used;
  uint8_t client[CLIENT_SIZE];
  uint8_t sequence[8];
};

static uint64_t hash(const bag_service_call_t *call)
{
  uint64_t sum = tb__hash_bytes(TB__HASH_START, call->client, sizeof call->client);
  sum = tb__hash_bytes(sum, call->sequence, sizeof call->sequence);
  return sum ^ sum >> 32;
}

/* Where the call is, or is to be put. */
static bag_service_call_t *find(const bag_service_call_set_t *set, const bag_service_call_t *call)
{
  size_t place = (size_t)hash(call) & (set->capacity - 1);
  while (set->slots[place].is_used && memcmp(&set->slots[place], call, sizeof *call) != 0)
    place = (place + 1) & (set->capacity - 1);
  return &set->slots[place];
}

static bool grow(bag_service_call_set_t *set)
{
  bag_service_call_set_t grown = {.capacity = set->capacity ? 2 * set->capacity : FIRST_CAPACITY,
                                  .count = set->count};
  grown.slots = calloc(grown.capacity, sizeof *grown.slots);
  if (!grown.slots) return false;
  for (size_t i = 0; i < set->capacity; i++)
    if (set->slots[i].is_used) *find(&grown, &set->slots[i]) = set->slots[i];
  free(set->slots);
  *set = grown;
  return true;
}

static bool add(bag_service_call_set_t *set, const bag_service_call_t *call)
{
  if (2 * set->count >= set->capacity && !grow(set)) return false;
  bag_service_call_t *slot = find(set, call);
  set->count += !slot->is_used;
  *slot = *call;
  return true;
}

/* False: it is in none of the encodings that events have. */
static bool sequence_place(uint8_t encoding, size_t *out)
{
  *out = encoding <= 1 ? SEQUENCE_AT : SEQUENCE_AT_2;
  return encoding <= 1 || encoding == 6 || encoding == 7;
}

bool bag_service_calls_add(bag_service_calls_t *calls, const uint8_t *cdr, size_t size)
{
  size_t place = 0;
  bag_service_call_t call = {.is_used = true};
  if (size <= TYPE_AT || cdr[0] != 0 || !sequence_place(cdr[1], &place)) return true;
  if (size < place + sizeof call.sequence) return true;
  memcpy(call.client, cdr + CLIENT_AT, sizeof call.client);
  memcpy(call.sequence, cdr + place, sizeof call.sequence);
  switch (cdr[TYPE_AT]) {
  case TB__SERVICE_REQUEST_SENT:
  case TB__SERVICE_REQUEST_RECEIVED:
    return add(&calls->requests, &call);
  case TB__SERVICE_RESPONSE_SENT:
  case TB__SERVICE_RESPONSE_RECEIVED:
    return add(&calls->responses, &call);
  default:
    return true;
  }
}

void bag_service_calls_release(bag_service_calls_t *calls)
{
  free(calls->requests.slots);
  free(calls->responses.slots);
  *calls = (bag_service_calls_t){0};
}
