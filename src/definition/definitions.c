#include "definition/definitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/hash.h"

#define ENTRIES_MAX 10000
#define ROUNDS_MAX  3
#define BUCKETS     256
#define ORIGINS     (TB__DEFINITION_BUILT_IN + 1)

struct tb__definition_entry {
  tb__definition_entry_t *next; /* of the same bucket */
  tb__definitions_t *of;
  char *type, *type_hash, *recorded, *recorded_encoding, *described;
  bool is_ros1; /* no definition of ROS 2 knows the bytes of its messages: */
  char *ros1;   /* what is used in the place of the recorded text, or NULL */
  tb__known_definition_t *known[ORIGINS]; /* made when they are first needed */
  bool is_looked_for[ORIGINS];
  tb__definition_origin_t origin; /* the current one; UNKNOWN: before the first */
  tb__definition_state_t state;
  bool may_ask, was_asked; /* a node */
  bool has_fitted;
  int rounds; /* of all origins */
  char note[TB_ERROR_TEXT_SIZE];
};

struct tb__definitions {
  tb__definition_entry_t *buckets[BUCKETS];
  size_t count;
  char *prefixes;
  char **folders;
  size_t folder_count;
};

/* --- one definition --- */

static void known_destroy(tb__known_definition_t *known)
{
  if (!known) return;
  tb__message_head_fini(&known->head);
  tb__edge_paths_fini(&known->edges);
  tb__schema_destroy(known->schema);
  free(known);
}

/* Takes the schema. */
static tb_status_t known_create(tb__definition_t *definition, tb__known_definition_t **out)
{
  tb__known_definition_t *known = calloc(1, sizeof *known);
  if (!known) {
    tb__schema_destroy(definition->schema);
    return TB_ERR_NO_MEMORY;
  }
  known->schema = definition->schema;
  known->origin = definition->origin;
  tb_status_t status = tb__message_head_init(&known->head, known->schema, NULL);
  if (!status) status = tb__edge_paths_init(&known->edges, known->schema, NULL);
  if (status)
    known_destroy(known);
  else
    *out = known;
  return status;
}

bool tb__known_definition_fits(const tb__known_definition_t *known, const void *cdr, size_t size,
                               tb_error_t *error)
{
  tb__message_t message;
  tb_status_t status = tb__message_open(&message, known->schema, cdr, size);
  if (status) tb_error_set(error, status, "its encapsulation is not that of CDR");
  return !status && tb__message_walk(&message, NULL, NULL, error) == TB_OK;
}

/* --- the origins of an entry --- */

static void note(tb__definition_entry_t *entry, const char *text)
{
  if (!entry->note[0]) snprintf(entry->note, sizeof entry->note, "%s", text);
}

static tb_status_t look_at(tb__definition_entry_t *entry, tb__definition_origin_t origin)
{
  const tb__definitions_t *of = entry->of;
  tb__definition_t found;
  tb__definition_request_t request = {
      .type = entry->type,
      .recorded = entry->is_ros1 ? entry->ros1 : entry->recorded,
      .recorded_encoding = entry->is_ros1 ? TB__MESSAGE_ROS1_ENCODING : entry->recorded_encoding,
      .described = entry->described,
      .places = {of->prefixes, (const char *const *)of->folders, of->folder_count}};
  if (entry->is_looked_for[origin]) return TB_OK;
  entry->is_looked_for[origin] = origin != TB__DEFINITION_RECORDING && entry->is_ros1;
  if (entry->is_looked_for[origin]) return TB_OK;
  tb_status_t status = tb__definition_resolve_at(&request, origin, &found);
  if (status == TB_ERR_NO_MEMORY) return status;
  entry->is_looked_for[origin] = true;
  if (found.note[0]) note(entry, found.note);
  return status ? TB_OK : known_create(&found, &entry->known[origin]);
}

static bool has_any(const tb__definition_entry_t *entry)
{
  for (size_t i = 0; i < ORIGINS; i++)
    if (entry->known[i]) return true;
  return false;
}

/* To the next origin that has one, or to the node that is to be asked. */
static tb_status_t advance(tb__definition_entry_t *entry)
{
  for (;;) {
    if (entry->origin == TB__DEFINITION_BUILT_IN) {
      entry->origin = TB__DEFINITION_UNKNOWN;
      entry->state = TB__DEFINITION_IS_UNKNOWN;
      if (++entry->rounds == ROUNDS_MAX || !has_any(entry)) return TB_OK;
    }
    entry->origin++;
    if (entry->origin == TB__DEFINITION_NODE && entry->may_ask) {
      entry->state = TB__DEFINITION_IS_AWAITED;
      return TB_OK;
    }
    tb_status_t status = look_at(entry, entry->origin);
    if (status) return status;
    if (!entry->known[entry->origin]) continue;
    entry->state = TB__DEFINITION_IS_KNOWN;
    return TB_OK;
  }
}

tb__definition_state_t tb__definition_entry_state(const tb__definition_entry_t *entry)
{
  return entry->state;
}

const tb__known_definition_t *tb__definition_entry_known(const tb__definition_entry_t *entry)
{
  return entry->state == TB__DEFINITION_IS_KNOWN ? entry->known[entry->origin] : NULL;
}

const char *tb__definition_entry_note(const tb__definition_entry_t *entry)
{
  return entry->note;
}

const char *tb__definition_entry_type(const tb__definition_entry_t *entry)
{
  return entry->type;
}

const char *tb__definition_entry_hash(const tb__definition_entry_t *entry)
{
  return entry->type_hash;
}

tb_status_t tb__definition_entry_described(tb__definition_entry_t *entry, const char *text)
{
  if (entry->state != TB__DEFINITION_IS_AWAITED) return TB_OK;
  char *described = text ? strdup(text) : NULL;
  if (text && !described) return TB_ERR_NO_MEMORY;
  free(entry->described);
  entry->described = described;
  entry->may_ask = false;
  entry->was_asked = true;
  entry->is_looked_for[TB__DEFINITION_NODE] = false;
  entry->origin = TB__DEFINITION_RECORDING; /* goes on after it */
  return advance(entry);
}

void tb__definition_entry_offer_node(tb__definition_entry_t *entry)
{
  if (entry->was_asked || entry->state != TB__DEFINITION_IS_UNKNOWN) return;
  entry->may_ask = true;
  entry->rounds = 0;
  entry->origin = TB__DEFINITION_NODE;
  entry->state = TB__DEFINITION_IS_AWAITED;
}

tb_status_t tb__definition_entry_checked(tb__definition_entry_t *entry,
                                         const tb__known_definition_t *known, bool fits,
                                         const char *why)
{
  char text[TB_ERROR_TEXT_SIZE];
  if (tb__definition_entry_known(entry) != known || !known || entry->has_fitted) return TB_OK;
  entry->has_fitted = fits;
  if (fits) return TB_OK;
  snprintf(text, sizeof text, "%s: a message does not fit%s%.400s",
           tb__definition_origin_text(known->origin), why ? ": " : "", why ? why : "");
  note(entry, text);
  return advance(entry);
}

bool tb__definition_entry_is_confirmed(const tb__definition_entry_t *entry)
{
  return entry->has_fitted;
}

const tb__known_definition_t *tb__definition_entry_fit(tb__definition_entry_t *entry,
                                                       const void *cdr, size_t size)
{
  int rounds = entry->rounds;
  const tb__known_definition_t *known;
  while ((known = tb__definition_entry_known(entry)) && !entry->has_fitted &&
         entry->rounds == rounds) {
    tb_error_t error = TB_ERROR_INIT;
    bool fits = tb__known_definition_fits(known, cdr, size, &error);
    if (tb__definition_entry_checked(entry, known, fits, error.text)) return NULL;
  }
  return entry->has_fitted ? known : NULL;
}

/* --- entries --- */

static const char *or_empty(const char *text)
{
  return text ? text : "";
}

static size_t hash_of(const tb__definition_key_t *key)
{
  const char *const texts[] = {key->type, key->type_hash, key->recorded};
  uint64_t hash = TB__HASH_START;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    hash = tb__hash_bytes(hash, or_empty(texts[i]), strlen(or_empty(texts[i])));
  return (size_t)(hash ^ hash >> 29);
}

static bool is_of(const tb__definition_entry_t *entry, const tb__definition_key_t *key)
{
  return strcmp(entry->type, key->type) == 0 &&
         strcmp(entry->type_hash, or_empty(key->type_hash)) == 0 &&
         strcmp(entry->recorded, or_empty(key->recorded)) == 0 &&
         strcmp(entry->recorded_encoding, or_empty(key->recorded_encoding)) == 0;
}

static void entry_destroy(tb__definition_entry_t *entry)
{
  for (size_t i = 0; i < ORIGINS; i++)
    known_destroy(entry->known[i]);
  free(entry->type);
  free(entry->type_hash);
  free(entry->recorded);
  free(entry->recorded_encoding);
  free(entry->ros1);
  free(entry->described);
  free(entry);
}

/* Its connection's definition, or a known one that has the md5sum. */
static tb_status_t find_ros1(tb__definition_entry_t *entry)
{
  const tb__definitions_t *of = entry->of;
  const tb__definition_places_t places = {of->prefixes, (const char *const *)of->folders,
                                          of->folder_count};
  tb_error_t error = TB_ERROR_INIT;
  entry->is_ros1 = strcmp(entry->recorded_encoding, TB__MESSAGE_ROS1_ENCODING) == 0 ||
                   tb__is_md5sum(entry->type_hash);
  if (!entry->is_ros1) return TB_OK;
  tb_status_t status = tb__ros1_definition_of(entry->type, entry->type_hash, entry->recorded,
                                              &places, &entry->ros1, &error);
  if (status == TB_ERR_NO_MEMORY) return status;
  if (status) note(entry, error.text);
  return TB_OK;
}

static tb_status_t entry_create(tb__definitions_t *of, const tb__definition_key_t *key,
                                tb__definition_entry_t **out)
{
  tb__definition_entry_t *entry = calloc(1, sizeof *entry);
  if (!entry) return TB_ERR_NO_MEMORY;
  entry->of = of;
  entry->may_ask = key->has_node;
  entry->type = strdup(key->type);
  entry->type_hash = strdup(or_empty(key->type_hash));
  entry->recorded = strdup(or_empty(key->recorded));
  entry->recorded_encoding = strdup(or_empty(key->recorded_encoding));
  bool is_whole = entry->type && entry->type_hash && entry->recorded && entry->recorded_encoding;
  tb_status_t status = is_whole ? find_ros1(entry) : TB_ERR_NO_MEMORY;
  if (!status) status = advance(entry);
  if (status)
    entry_destroy(entry);
  else
    *out = entry;
  return status;
}

tb_status_t tb__definitions_get(tb__definitions_t *definitions, const tb__definition_key_t *key,
                                tb__definition_entry_t **out)
{
  tb__definition_entry_t **bucket = &definitions->buckets[hash_of(key) % BUCKETS];
  tb__definition_entry_t *entry = *bucket;
  while (entry && !is_of(entry, key))
    entry = entry->next;
  tb_status_t status = TB_OK;
  if (!entry) {
    if (definitions->count == ENTRIES_MAX) return TB_ERR_LIMIT;
    status = entry_create(definitions, key, &entry);
    if (status) return status;
    entry->next = *bucket;
    *bucket = entry;
    definitions->count++;
  }
  *out = entry;
  return TB_OK;
}

/* --- the cache --- */

tb_status_t tb__definitions_create(const tb__definition_places_t *places, tb__definitions_t **out)
{
  tb__definitions_t *made = calloc(1, sizeof *made);
  if (!made) return TB_ERR_NO_MEMORY;
  made->prefixes = strdup(or_empty(places->prefixes));
  made->folders = calloc(places->folder_count + 1, sizeof *made->folders);
  bool is_whole = made->prefixes && made->folders;
  for (; is_whole && made->folder_count < places->folder_count; made->folder_count++) {
    made->folders[made->folder_count] = strdup(places->folders[made->folder_count]);
    is_whole = made->folders[made->folder_count] != NULL;
  }
  if (is_whole)
    *out = made;
  else
    tb__definitions_destroy(made);
  return is_whole ? TB_OK : TB_ERR_NO_MEMORY;
}

void tb__definitions_destroy(tb__definitions_t *definitions)
{
  if (!definitions) return;
  for (size_t i = 0; i < BUCKETS; i++)
    while (definitions->buckets[i]) {
      tb__definition_entry_t *entry = definitions->buckets[i];
      definitions->buckets[i] = entry->next;
      entry_destroy(entry);
    }
  for (size_t i = 0; i < definitions->folder_count; i++)
    free(definitions->folders[i]);
  free(definitions->folders);
  free(definitions->prefixes);
  free(definitions);
}
