/* The definitions of everything that is decoded, each looked for once: by type, hash and recorded
 * text. What was found first need not be what messages are of, so it is checked on the first
 * message, and left for the next origin if that does not fit.
 *
 * All calls on the owner's thread, but for those on a tb__known_definition_t: that never changes,
 * lives as long as the cache, and may be used on any thread. */
#ifndef TB_DEFINITION_DEFINITIONS_H
#define TB_DEFINITION_DEFINITIONS_H

#include "definition/message_head.h"
#include "definition/resolve.h"

typedef struct tb__definitions tb__definitions_t;

/* A definition, and the paths that time checks need. */
typedef struct tb__known_definition {
  tb__schema_t *schema;
  tb__message_head_t head; /* .stamp is NULL: its messages have no header */
  tb__edge_paths_t edges;  /* .all is NULL: no transforms */
  tb__definition_origin_t origin;
} tb__known_definition_t;

typedef enum tb__definition_state {
  TB__DEFINITION_IS_KNOWN,
  TB__DEFINITION_IS_AWAITED, /* a node is to be asked: tb__definition_entry_described */
  TB__DEFINITION_IS_UNKNOWN, /* nowhere, or none fits; _note says why */
} tb__definition_state_t;

/* One type. Lives as long as the cache. */
typedef struct tb__definition_entry tb__definition_entry_t;

/* Copies the places. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__definitions_create(const tb__definition_places_t *places,
                                                  tb__definitions_t **out) TB_WARN_UNUSED;
/* Accepts NULL. */
TB_PRIVATE_API void tb__definitions_destroy(tb__definitions_t *definitions);

/* What is looked for. Texts are copied. */
typedef struct tb__definition_key {
  const char *type;                         /* "package/msg/Name" */
  const char *type_hash;                    /* "RIHS01_..."; may be NULL */
  const char *recorded, *recorded_encoding; /* as tb_bag_topic_t has them; may be NULL */
  bool has_node; /* a node that publishes it may be asked: AWAITED until it was */
} tb__definition_key_t;

/* The same entry for the same type, hash and recorded text. TB_ERR_LIMIT: above 10,000 entries.
 * TB_ERR_NO_MEMORY. [file system] */
TB_PRIVATE_API tb_status_t tb__definitions_get(tb__definitions_t *definitions,
                                               const tb__definition_key_t *key,
                                               tb__definition_entry_t **out) TB_WARN_UNUSED;

TB_PRIVATE_API tb__definition_state_t
tb__definition_entry_state(const tb__definition_entry_t *entry);
/* NULL unless it is KNOWN. */
TB_PRIVATE_API const tb__known_definition_t *
tb__definition_entry_known(const tb__definition_entry_t *entry);
/* Why earlier origins were of no use; "": none was there. */
TB_PRIVATE_API const char *tb__definition_entry_note(const tb__definition_entry_t *entry);
TB_PRIVATE_API const char *tb__definition_entry_type(const tb__definition_entry_t *entry);
/* "" without one. */
TB_PRIVATE_API const char *tb__definition_entry_hash(const tb__definition_entry_t *entry);

/* What a node that was asked answered, as "ros2msg"; NULL: nothing of use. Ends AWAITED.
 * TB_ERR_NO_MEMORY. [file system] */
TB_PRIVATE_API tb_status_t tb__definition_entry_described(tb__definition_entry_t *entry,
                                                          const char *text) TB_WARN_UNUSED;
/* There is a node that may be asked now. AWAITED if it is UNKNOWN and none was asked before. */
TB_PRIVATE_API void tb__definition_entry_offer_node(tb__definition_entry_t *entry);

/* Whether all of a message is of it: to be called for the first message of a topic. */
TB_PRIVATE_API bool tb__known_definition_fits(const tb__known_definition_t *known, const void *cdr,
                                              size_t size, tb_error_t *error);
/* What that returned, for the first message of a topic. Once one has fitted, others are the fault
 * of their publishers. Before that `known` is left for the next origin, unless it has been. After
 * the last origin the first one is looked at again, for three messages in all: then it is UNKNOWN.
 * `why` may be NULL. TB_ERR_NO_MEMORY. [file system] */
TB_PRIVATE_API tb_status_t tb__definition_entry_checked(tb__definition_entry_t *entry,
                                                        const tb__known_definition_t *known,
                                                        bool fits, const char *why);
/* Whether a message has fitted. */
TB_PRIVATE_API bool tb__definition_entry_is_confirmed(const tb__definition_entry_t *entry);
/* Both, for readers on one thread: the definition that the first message fits; NULL: none does. The
 * second and later calls return it without a look at the message. */
TB_PRIVATE_API const tb__known_definition_t *tb__definition_entry_fit(tb__definition_entry_t *entry,
                                                                      const void *cdr, size_t size);

#endif
