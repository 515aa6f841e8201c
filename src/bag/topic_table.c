#include "bag/topic_table.h"

#include <stdlib.h>
#include <string.h>

#include "bag/offers.h"
#include "base/log.h"

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
    status = tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
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
  if (status == TB_ERR_NO_MEMORY) return tb_error_set(error, status, "out of memory");
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
  status = keep_offers(topic, &offers, !status, out, error);
  tb__qos_offers_fini(&offers);
  return status;
}

static tb_status_t take_definition(tb__bag_file_topic_t *topic, tb_bag_topic_t *out,
                                   tb_error_t *error)
{
  if (!topic->definition) topic->definition = strdup("");
  if (!topic->definition_encoding) topic->definition_encoding = strdup("");
  if (!topic->definition || !topic->definition_encoding)
    return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  out->definition = topic->definition;
  out->definition_encoding = topic->definition_encoding;
  return TB_OK;
}

static tb_status_t grow(tb__topic_table_t *table, tb_error_t *error)
{
  tb_bag_topic_t *topics = reallocarray(table->topics, table->count + 1, sizeof *topics);
  if (topics) table->topics = topics;
  size_t *by_name = reallocarray(table->by_name, table->count + 1, sizeof *by_name);
  if (by_name) table->by_name = by_name;
  return topics && by_name ? TB_OK : tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
}

static tb_status_t add(tb__topic_table_t *table, tb__bag_file_topic_t *topic, const char *path,
                       const tb__bag_metadata_t *metadata, tb_error_t *error)
{
  tb_bag_topic_t added = {.name = topic->name,
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
  size_t place = lower_bound(table, topic->name);
  memmove(&table->by_name[place + 1], &table->by_name[place],
          (table->count - place) * sizeof *table->by_name);
  table->by_name[place] = table->count;
  table->topics[table->count++] = added;
  topic->name = topic->type = topic->serialization_format = topic->type_hash = NULL;
  topic->definition = topic->definition_encoding = NULL;
  return TB_OK;
}

tb_status_t tb__topic_table_merge(tb__topic_table_t *table, tb__bag_file_topic_t *topic,
                                  const char *path, const tb__bag_metadata_t *metadata, size_t *out,
                                  tb_error_t *error)
{
  size_t index = table->count;
  if (!tb__topic_table_find(table, topic->name, &index)) {
    tb_status_t status = add(table, topic, path, metadata, error);
    if (!status) *out = index;
    return status;
  }
  const tb_bag_topic_t *known = &table->topics[index];
  if (strcmp(known->type, topic->type) != 0 ||
      strcmp(known->serialization_format, topic->serialization_format) != 0)
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "%s: topic %.80s is %.80s (%.20s) here, but %.80s "
                        "(%.20s) before",
                        path, topic->name, topic->type, topic->serialization_format, known->type,
                        known->serialization_format);
  *out = index;
  return TB_OK;
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
    free((char *)table->topics[i].type);
    free((char *)table->topics[i].serialization_format);
    free((char *)table->topics[i].type_hash);
    free((char *)table->topics[i].offers);
    free((char *)table->topics[i].definition);
    free((char *)table->topics[i].definition_encoding);
  }
  free(table->topics);
  free(table->by_name);
  *table = (tb__topic_table_t){0};
}
