#include "bag/topic_table.h"
#include "base/no_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/offers.h"
#include "base/log.h"
#include "storage/clean.h"

#define MD5_LENGTH 32

/* The place of `name` in by_name, or where it belongs. */
static size_t lower_bound(const tb__topic_table_t *table, const char *name)
{
  size_t low = 0;
  size_t high = table->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(table->topics[table->by_name[middle]].name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool tb__topic_table_find(const tb__topic_table_t *table, const char *name, size_t *out)
{
  size_t place = lower_bound(table, name);
  if (place == table->count || strcmp(table->topics[table->by_name[place]].name, name) != 0)
    return false;
  *out = table->by_name[place];
  return true;
}

static const char *text_of(const char *text)
{
  return text ? text : "";
}

static int compare_records(const tb__topic_table_t *table, size_t index,
                           const tb__bag_file_topic_t *topic)
{
  const tb_bag_topic_t *known = &table->topics[index];
  int order = strcmp(table->records[index], topic->name);
  if (!order) order = strcmp(known->serialization_format, topic->serialization_format);
  bool is_ros1 = strcmp(topic->serialization_format, "ros1") == 0;
  /* what messages are like on the wire follows from the MD5 sum of ROS 1, whatever the type is
   * called; files of MCAP need not have it */
  if (!order && is_ros1) order = strcmp(text_of(known->type_hash), text_of(topic->type_hash));
  if (order || (is_ros1 && strlen(text_of(topic->type_hash)) == MD5_LENGTH)) return order;
  order = strcmp(known->type, topic->type);
  return order || !is_ros1 ? order : strcmp(text_of(known->definition), text_of(topic->definition));
}

/* Packages of early ROS 1 that have no types any more: roslib/Clock is rosgraph_msgs/Clock,
 * tf/tfMessage is tf2_msgs/TFMessage. */
static bool is_early_name(const char *type)
{
  return strncmp(type, "roslib/", 7) == 0 || strncmp(type, "tf/", 3) == 0;
}

static void swap(const char **a, char **b)
{
  char *kept = (char *)*a;
  *a = *b;
  *b = kept;
}

/* Of two names of one type, today's. */
static void take_modern_name(tb_bag_topic_t *known, tb__bag_file_topic_t *topic)
{
  if (!is_early_name(known->type) || is_early_name(topic->type)) return;
  swap(&known->type, &topic->type);
  if (!*text_of(topic->definition) || !topic->definition_encoding) return;
  swap(&known->definition, &topic->definition);
  swap(&known->definition_encoding, &topic->definition_encoding);
}

/* The place in by_record of the topic that files call and type so, or where it belongs. */
static size_t find_record(const tb__topic_table_t *table, const tb__bag_file_topic_t *topic,
                          bool *found)
{
  size_t low = 0;
  size_t high = table->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_records(table, table->by_record[middle], topic) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *found = low < table->count && compare_records(table, table->by_record[low], topic) == 0;
  return low;
}

static tb_status_t read_offers(const tb__bag_file_topic_t *topic,
                               const tb__bag_metadata_t *metadata, tb__qos_offers_t *out,
                               tb_error_t *error)
{
  tb__bag_metadata_topic_t listed = {0};
  if (metadata && tb__bag_metadata_find_topic(metadata, topic->name, &listed)) {
    tb_status_t status = tb__qos_offers_from_node(listed.offers, out, error);
    if (status || out->count > 0) return status;
    tb__qos_offers_fini(out);
  }
  return tb__qos_offers_parse(topic->offers, out, error);
}

static tb_status_t keep_offers(const tb__bag_file_topic_t *topic, const tb__qos_offers_t *offers,
                               bool readable, tb_bag_topic_t *out, tb_error_t *error)
{
  char *text = readable ? NULL : strdup(topic->offers);
  tb_status_t status = TB_OK;
  if (readable)
    status = tb__qos_offers_text(offers, &text, error);
  else if (!text)
    status = tb__no_memory(error);
  out->offers = text;
  return status;
}

/* A bag with unreadable QoS still has its messages: the default, and a word to the log. */
static tb_status_t choose_qos(const tb__bag_file_topic_t *topic, const tb__bag_metadata_t *metadata,
                              const char *path, tb_bag_topic_t *out, tb_error_t *error)
{
  tb__qos_offers_t offers = {0};
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = read_offers(topic, metadata, &offers, &detail);
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory(error);
  out->qos_origin = tb__qos_offers_adapt(&offers, &out->qos);
  if (status) {
    out->qos_origin = TB_BAG_QOS_UNREADABLE;
    tb__log(TB_LOG_WARN, "%s: topic %s: %s; taken as reliable, volatile, keep last 10", path,
            topic->name, detail.text);
  } else if (out->qos_origin == TB_BAG_QOS_MIXED) {
    tb__log(TB_LOG_WARN,
            "%s: topic %s: its publishers offered different QoS; taken as reliable, volatile, keep "
            "last 10",
            path, topic->name);
  }
  if (out->qos.durability == TB_QOS_TRANSIENT_LOCAL)
    out->latched_depth = tb__qos_offers_kept(&offers);
  status = keep_offers(topic, &offers, !status, out, error);
  tb__qos_offers_fini(&offers);
  return status;
}

static tb_status_t take_definition(tb__bag_file_topic_t *topic, tb_bag_topic_t *out,
                                   tb_error_t *error)
{
  if (!topic->definition) topic->definition = strdup("");
  if (!topic->definition_encoding) topic->definition_encoding = strdup("");
  if (!topic->definition || !topic->definition_encoding) return tb__no_memory(error);
  out->definition = topic->definition;
  out->definition_encoding = topic->definition_encoding;
  return TB_OK;
}

static bool grow_array(void **array, size_t count, size_t size)
{
  void *grown = reallocarray(*array, count, size);
  if (grown) *array = grown;
  return grown;
}

static tb_status_t grow(tb__topic_table_t *table, tb_error_t *error)
{
  size_t count = table->count + 1;
  bool whole = grow_array((void **)&table->topics, count, sizeof *table->topics) &&
               grow_array((void **)&table->by_name, count, sizeof *table->by_name) &&
               grow_array((void **)&table->by_record, count, sizeof *table->by_record) &&
               grow_array((void **)&table->records, count, sizeof *table->records) &&
               grow_array((void **)&table->bags, count, sizeof *table->bags) &&
               grow_array((void **)&table->renamed, count, sizeof *table->renamed);
  return whole ? TB_OK : tb__no_memory(error);
}

static void insert(size_t *order, size_t count, size_t place)
{
  memmove(&order[place + 1], &order[place], (count - place) * sizeof *order);
  order[place] = count;
}

/* Takes `name` over on success. */
static tb_status_t add(tb__topic_table_t *table, tb__bag_file_topic_t *topic, char *name,
                       const char *path, const tb__bag_metadata_t *metadata, tb_error_t *error)
{
  tb_bag_topic_t added = {.name = name,
                          .type = topic->type,
                          .serialization_format = topic->serialization_format,
                          .type_hash = topic->type_hash};
  tb_status_t status = choose_qos(topic, metadata, path, &added, error);
  if (!status) status = take_definition(topic, &added, error);
  if (!status) status = grow(table, error);
  if (status) {
    free((char *)added.offers);
    return status;
  }
  bool found;
  insert(table->by_record, table->count, find_record(table, topic, &found));
  insert(table->by_name, table->count, lower_bound(table, name));
  table->records[table->count] = topic->name;
  table->renamed[table->count] = 1;
  table->bags[table->count] = NULL;
  table->topics[table->count++] = added;
  topic->name = topic->type = topic->serialization_format = topic->type_hash = NULL;
  topic->definition = topic->definition_encoding = NULL;
  return TB_OK;
}

/* ---- names ---- */

tb_status_t tb__topic_table_note(tb__topic_table_t *table, const char *text, tb_error_t *error)
{
  char *copy = strdup(text);
  if (!copy || !grow_array((void **)&table->oddities, table->oddity_count + 1, sizeof copy)) {
    free(copy);
    return tb__no_memory(error);
  }
  table->oddities[table->oddity_count++] = copy;
  tb__log(TB_LOG_WARN, "%s", text);
  return TB_OK;
}

static tb_status_t replace_empty(char **text, const char *other, bool *replaced, tb_error_t *error)
{
  *replaced = !**text;
  if (!*replaced) return TB_OK;
  char *copy = strdup(other);
  if (!copy) return tb__no_memory(error);
  free(*text);
  *text = copy;
  return TB_OK;
}

/* Of a topic that was added. MCAP allows channels without a schema, so no type is no oddity. */
static tb_status_t note_odd(tb__topic_table_t *table, bool is_cleaned, bool is_nameless,
                            bool is_typeless, const char *path, tb_error_t *error)
{
  char text[TB_ERROR_TEXT_SIZE];
  const tb_bag_topic_t *topic = &table->topics[table->count - 1];
  if (is_typeless)
    tb__log(TB_LOG_WARN, "%s: topic %.200s has no type; it is read as \"%s\"", path, topic->name,
            topic->type);
  if (is_nameless)
    snprintf(text, sizeof text, "%s: a topic has no name; it is read as %.200s", path, topic->name);
  else if (is_cleaned)
    snprintf(text, sizeof text,
             "%s: a topic's name, type or format has bytes that are not text; it is read as %.100s "
             "(%.100s)",
             path, topic->name, topic->type);
  else
    return TB_OK;
  return tb__topic_table_note(table, text, error);
}

/* The name with a number that no other topic has, to be freed. NULL: no memory. */
static char *number_name(tb__topic_table_t *table, const char *name, size_t first)
{
  char *numbered = NULL;
  size_t index;
  do {
    free(numbered);
    if (asprintf(&numbered, "%s_%u", name, ++table->renamed[first]) < 0) return NULL;
  } while (tb__topic_table_find(table, numbered, &index));
  return numbered;
}

/* What it is called among the topics of the bag, to be freed. */
static tb_status_t choose_name(tb__topic_table_t *table, const tb__bag_file_topic_t *topic,
                               const char *path, char **out, tb_error_t *error)
{
  size_t first;
  if (!tb__topic_table_find(table, topic->name, &first)) {
    *out = strdup(topic->name);
    return *out ? TB_OK : tb__no_memory(error);
  }
  char text[TB_ERROR_TEXT_SIZE];
  char *name = number_name(table, topic->name, first);
  if (!name) return tb__no_memory(error);
  const tb_bag_topic_t *known = &table->topics[first];
  bool has_sum = text_of(topic->type_hash)[0] != '\0';
  if (strcmp(topic->type, known->type) == 0 &&
      strcmp(topic->serialization_format, known->serialization_format) == 0)
    snprintf(
        text, sizeof text,
        "%s: topic %.80s has another definition of %.80s here than before%s%.32s%s; it is read "
        "as %.80s",
        path, topic->name, topic->type, has_sum ? " (MD5 sum " : "", text_of(topic->type_hash),
        has_sum ? ")" : "", name);
  else
    snprintf(text, sizeof text,
             "%s: topic %.80s is %.80s (%.20s) here, but %.80s (%.20s) before; it is read as %.80s",
             path, topic->name, topic->type, topic->serialization_format, known->type,
             known->serialization_format, name);
  tb_status_t status = tb__topic_table_note(table, text, error);
  if (status) free(name);
  if (!status) *out = name;
  return status;
}

/* ---- topics of several bags ---- */

static bool is_same_offer(const tb__qos_offer_t *a, const tb__qos_offer_t *b)
{
  return a->history == b->history && a->depth == b->depth && a->reliability == b->reliability &&
         a->durability == b->durability && a->liveliness == b->liveliness &&
         a->deadline_ns == b->deadline_ns && a->lifespan_ns == b->lifespan_ns &&
         a->lease_ns == b->lease_ns &&
         a->avoid_ros_namespace_conventions == b->avoid_ros_namespace_conventions;
}

/* *out_added: how many of `more` were not in `to`. */
static tb_status_t add_offers(tb__qos_offers_t *to, const tb__qos_offers_t *more, size_t *out_added)
{
  size_t before = to->count;
  tb__qos_offer_t *items = reallocarray(to->items, to->count + more->count + 1, sizeof *items);
  if (!items) return TB_ERR_NO_MEMORY;
  to->items = items;
  for (size_t i = 0; i < more->count; i++) {
    size_t same = 0;
    while (same < before && !is_same_offer(&items[same], &more->items[i]))
      same++;
    if (same == before) items[to->count++] = more->items[i];
  }
  *out_added = to->count - before;
  return TB_OK;
}

/* What its publishers offered in another bag counts too, if both can be read. */
static tb_status_t unite_offers(tb_bag_topic_t *known, const tb__bag_file_topic_t *topic,
                                const tb__bag_metadata_t *metadata, tb_error_t *error)
{
  tb__qos_offers_t all = {0}, more = {0};
  char *text = NULL;
  size_t added = 0;
  bool is_readable = known->qos_origin != TB_BAG_QOS_UNREADABLE;
  tb_status_t status = is_readable ? tb__qos_offers_parse(known->offers, &all, NULL) : TB_ERR_END;
  if (!status) status = read_offers(topic, metadata, &more, NULL);
  if (!status) status = add_offers(&all, &more, &added);
  if (!status && added > 0) status = tb__qos_offers_text(&all, &text, NULL);
  if (!status && added > 0) {
    free((char *)known->offers);
    known->offers = text;
    known->qos_origin = tb__qos_offers_adapt(&all, &known->qos);
    bool is_latched = known->qos.durability == TB_QOS_TRANSIENT_LOCAL;
    known->latched_depth = is_latched ? tb__qos_offers_kept(&all) : 0;
  }
  tb__qos_offers_fini(&all);
  tb__qos_offers_fini(&more);
  return status == TB_ERR_NO_MEMORY ? tb__no_memory(error) : TB_OK;
}

static tb_status_t take_offers(tb__topic_table_t *table, size_t index, const void *bag,
                               const tb__bag_file_topic_t *topic,
                               const tb__bag_metadata_t *metadata, tb_error_t *error)
{
  bool is_other = table->bags[index] != bag;
  table->bags[index] = bag;
  return is_other ? unite_offers(&table->topics[index], topic, metadata, error) : TB_OK;
}

tb_status_t tb__topic_table_merge(tb__topic_table_t *table, tb__bag_file_topic_t *topic,
                                  const char *path, const void *bag,
                                  const tb__bag_metadata_t *metadata, size_t *out,
                                  tb_error_t *error)
{
  bool found, is_nameless = false, is_typeless = false;
  char *name = NULL;
  tb_status_t status = replace_empty(&topic->name, TB__BAG_NO_NAME, &is_nameless, error);
  if (!status) status = replace_empty(&topic->type, TB__BAG_NO_TYPE, &is_typeless, error);
  if (status) return status;
  size_t place = find_record(table, topic, &found);
  if (found) {
    *out = table->by_record[place];
    take_modern_name(&table->topics[*out], topic);
    return take_offers(table, *out, bag, topic, metadata, error);
  }
  status = choose_name(table, topic, path, &name, error);
  if (status) return status;
  status = add(table, topic, name, path, metadata, error);
  if (status) {
    free(name);
    return status;
  }
  *out = table->count - 1;
  table->bags[*out] = bag;
  return note_odd(table, topic->is_cleaned, is_nameless, is_typeless, path, error);
}

bool tb__topic_table_add_counts(tb__topic_table_t *table, const tb__bag_metadata_t *metadata,
                                uint64_t total)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < table->count; i++) {
    tb__bag_metadata_topic_t listed = {0};
    tb__bag_metadata_find_topic(metadata, table->topics[i].name, &listed);
    if (__builtin_add_overflow(sum, listed.message_count, &sum)) return false;
  }
  if (sum != total || metadata->message_count != total) return false;
  for (size_t i = 0; i < table->count; i++) {
    tb__bag_metadata_topic_t listed = {0};
    tb__bag_metadata_find_topic(metadata, table->topics[i].name, &listed);
    table->topics[i].message_count += listed.message_count;
  }
  return true;
}

void tb__topic_table_fini(tb__topic_table_t *table)
{
  for (size_t i = 0; i < table->count; i++) {
    free((char *)table->topics[i].name);
    free((char *)table->records[i]);
    free((char *)table->topics[i].type);
    free((char *)table->topics[i].serialization_format);
    free((char *)table->topics[i].type_hash);
    free((char *)table->topics[i].offers);
    free((char *)table->topics[i].definition);
    free((char *)table->topics[i].definition_encoding);
  }
  free(table->topics);
  free(table->by_name);
  free(table->by_record);
  free(table->records);
  free(table->renamed);
  free(table->bags);
  for (size_t i = 0; i < table->oddity_count; i++)
    free(table->oddities[i]);
  free(table->oddities);
  *table = (tb__topic_table_t){0};
}
