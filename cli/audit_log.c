#include "audit_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit.h"

#define TOPIC "/rosout"
#define TYPE  "rcl_interfaces/msg/Log"
#define LINE  "================================================================================\n"

static const char definition[] =
    "builtin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\n"
    "string function\nuint32 line\n" LINE "MSG: builtin_interfaces/Time\nint32 sec\n"
    "uint32 nanosec\n";

/* --- gathering --- */

static void copy_text(char *out, size_t size, const char *text, size_t length)
{
  size_t used = length < size - 1 ? length : size - 1;
  memcpy(out, text, used);
  out[used] = '\0';
}

/* NULL: there are too many. */
static audit_log_entry_t *entry_of(audit_log_t *log, const uint8_t writer[16],
                                   const tb__log_sentence_t *sentence, const char *name,
                                   size_t length)
{
  char logger[AUDIT_LOG_TEXT_SIZE];
  copy_text(logger, sizeof logger, name, length);
  for (size_t i = 0; i < log->count; i++) {
    audit_log_entry_t *entry = &log->list[i];
    if (entry->sentence == sentence && memcmp(entry->writer, writer, 16) == 0 &&
        strcmp(entry->logger, logger) == 0)
      return entry;
  }
  if (log->count == AUDIT_LOG_MAX) return NULL;
  audit_log_entry_t *entry = &log->list[log->count++];
  *entry = (audit_log_entry_t){.sentence = sentence};
  memcpy(entry->writer, writer, 16);
  memcpy(entry->logger, logger, sizeof logger);
  return entry;
}

static void on_log(const tb_ros2_sample_t *sample, void *user)
{
  audit_log_t *log = user;
  const char *text, *name;
  size_t length, name_length;
  if (tb_message_field_string(log->message, sample->cdr, sample->size, &text, &length) ||
      tb_message_field_string(log->name, sample->cdr, sample->size, &name, &name_length))
    return;
  const tb__log_sentence_t *sentence = tb__log_sentence_find(text, length);
  if (!sentence) return;
  pthread_mutex_lock(&log->mutex);
  audit_log_entry_t *entry = entry_of(log, sample->writer_guid, sentence, name, name_length);
  if (entry && entry->count++ == 0) copy_text(entry->text, sizeof entry->text, text, length);
  pthread_mutex_unlock(&log->mutex);
}

int audit_log_open(audit_t *audit)
{
  audit_log_t *log = &audit->log;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_ros2_subscription_options_t options = {on_log, log};
  memset(log, 0, sizeof *log);
  pthread_mutex_init(&log->mutex, NULL);
  log->is_open = true;
  qos.reliability = TB_QOS_BEST_EFFORT; /* without what was logged before */
  tb_status_t status =
      tb_message_definition_parse(TYPE, "ros2msg", definition, &log->definition, &error);
  if (!status) status = tb_message_field_create(log->definition, "name", &log->name, &error);
  if (!status) status = tb_message_field_create(log->definition, "msg", &log->message, &error);
  if (!status)
    status = tb_ros2_subscription_create(audit->view.context, TOPIC, TYPE, &qos, &options,
                                         &log->subscription, &error);
  return status ? command_failed(audit->command, status, &error) : EXIT_OK;
}

void audit_log_close(audit_log_t *log)
{
  if (!log->is_open) return;
  tb_ros2_subscription_destroy(log->subscription);
  tb_message_field_destroy(log->name);
  tb_message_field_destroy(log->message);
  tb_message_definition_destroy(log->definition);
  pthread_mutex_destroy(&log->mutex);
  log->is_open = false;
}

void audit_log_restart(audit_log_t *log)
{
  pthread_mutex_lock(&log->mutex);
  log->count = 0;
  pthread_mutex_unlock(&log->mutex);
}

/* --- judging --- */

/* The only node on wall time; NULL: none, or several. Recorders and viewers cause nothing. */
static const char *only_mixed(const audit_t *audit)
{
  const char *found = NULL;
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++) {
    if (audit->nodes[i].role != AUDIT_ROLE_NODE || !audit_nodes_is_mixed(audit, i)) continue;
    if (found) return NULL;
    found = audit->view.snapshot->nodes[i].full_name;
  }
  return found;
}

static bool is_mixed(const audit_t *audit, const char *name)
{
  for (size_t i = 0; i < audit->view.snapshot->node_count; i++)
    if (strcmp(audit->view.snapshot->nodes[i].full_name, name) == 0)
      return audit_nodes_is_mixed(audit, i);
  return false;
}

/* What explains that a node logs a sentence: its own time base, the only other one that is wrong,
 * or a jump of /clock. NULL: nothing that was found. */
static const char *cause_of(const audit_t *audit, const audit_log_entry_t *entry, const char *node)
{
  const tb__log_sentence_t *sentence = entry->sentence;
  if (is_mixed(audit, node)) return node;
  if (sentence->is_of_jump && audit_clock_jumps(&audit->clock)) return audit->clock_topic;
  return sentence->is_of_mix ? only_mixed(audit) : NULL;
}

static void find_entry(audit_t *audit, const audit_log_entry_t *entry)
{
  const char *node = audit_node_of(audit->view.snapshot, entry->writer);
  tb__finding_input_t input = {.rule = TB__RULE_LOG_EVIDENCE, .kind = TB__SUBJECT_NODE};
  input.subject = node ? node : entry->logger;
  input.cause = cause_of(audit, entry, input.subject);
  tb__findings_add(audit->findings, &input, "%s (%" PRIu64 " times): %s", entry->sentence->meaning,
                   entry->count, entry->text);
}

void audit_log_find(audit_t *audit)
{
  pthread_mutex_lock(&audit->log.mutex);
  for (size_t i = 0; i < audit->log.count; i++)
    find_entry(audit, &audit->log.list[i]);
  pthread_mutex_unlock(&audit->log.mutex);
}
