#include "ros2/names.h"

#include <stdio.h>
#include <string.h>

#define ROS_TOPIC_LENGTH_MAX 247 /* rmw/validate_full_topic_name.h: 255 less 8 for prefixes */
#define TYPE_LENGTH_MAX      200
#define SERVICE_LENGTH_MAX   245 /* 255 less "rq/" and "Request" */

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_character(char c)
{
  return is_letter(c) || is_digit(c) || c == '_';
}

/* The rule that `topic` breaks once it is absolute, NULL if none (rmw_validate_full_topic_name). */
static const char *broken_topic_rule(const char *topic)
{
  size_t length = strlen(topic);
  if (length == 0) return "must not be empty";
  if (topic[0] == '~') return "must not be private (~): there is no node here";
  if (topic[length - 1] == '/') return "must not end with '/'";
  for (size_t i = 0; i < length; i++) {
    if (topic[i] != '/' && !is_name_character(topic[i]))
      return "must have only letters, digits, '_' and '/'";
    if (topic[i] == '/' && topic[i + 1] == '/') return "must not have '//'";
    if (is_digit(topic[i]) && (i == 0 || topic[i - 1] == '/'))
      return "must not have a part that starts with a digit";
  }
  if (length + (topic[0] == '/' ? 0 : 1) > ROS_TOPIC_LENGTH_MAX)
    return "must not be longer than 247 characters";
  return NULL;
}

tb_status_t tb__topic_name_to_dds(const char *topic, bool plain, char out[TB__DDS_NAME_SIZE],
                                  tb_error_t *error)
{
  if (!topic) return tb_error_set(error, TB_ERR_INVALID, "topic name is NULL");
  if (plain) {
    size_t length = strlen(topic);
    if (length == 0 || length >= TB__DDS_NAME_SIZE)
      return tb_error_set(error, TB_ERR_INVALID, "DDS topic name has %zu characters: 1 to %d",
                          length, TB__DDS_NAME_SIZE - 1);
    memcpy(out, topic, length + 1);
    return TB_OK;
  }
  const char *rule = broken_topic_rule(topic);
  if (rule) return tb_error_set(error, TB_ERR_INVALID, "topic name '%s': %s", topic, rule);
  snprintf(out, TB__DDS_NAME_SIZE, "rt%s%.*s", topic[0] == '/' ? "" : "/", ROS_TOPIC_LENGTH_MAX,
           topic);
  return TB_OK;
}

tb_status_t tb__service_name_to_dds(const char *service, char out_request[TB__DDS_NAME_SIZE],
                                    char out_reply[TB__DDS_NAME_SIZE], tb_error_t *error)
{
  if (!service) return tb_error_set(error, TB_ERR_INVALID, "service name is NULL");
  const char *rule = broken_topic_rule(service);
  const char *relative = service + (service[0] == '/');
  if (!rule && strlen(relative) > SERVICE_LENGTH_MAX)
    rule = "must not be longer than 246 characters";
  if (rule) return tb_error_set(error, TB_ERR_INVALID, "service name '%s': %s", service, rule);
  snprintf(out_request, TB__DDS_NAME_SIZE, "rq/%.*sRequest", SERVICE_LENGTH_MAX, relative);
  snprintf(out_reply, TB__DDS_NAME_SIZE, "rr/%.*sReply", SERVICE_LENGTH_MAX, relative);
  return TB_OK;
}

/* Letters, digits and '_', beginning with a letter. */
static bool is_identifier(const char *text, size_t length)
{
  if (length == 0 || !is_letter(text[0])) return false;
  for (size_t i = 1; i < length; i++) {
    if (!is_name_character(text[i])) return false;
  }
  return true;
}

static bool is_kind(const char *text, size_t length)
{
  return (length == 3 && (memcmp(text, "msg", 3) == 0 || memcmp(text, "srv", 3) == 0)) ||
         (length == 6 && memcmp(text, "action", 6) == 0);
}

typedef struct type_parts {
  int package_length, kind_length;
  const char *package, *kind, *name;
} type_parts_t;

static bool type_split(const char *type, type_parts_t *out)
{
  const char *slash = strchr(type, '/');
  if (!slash || strlen(type) > TYPE_LENGTH_MAX) return false;
  const char *second = strchr(slash + 1, '/');
  *out = (type_parts_t){(int)(slash - type), 3, type, "msg", slash + 1};
  if (second) {
    out->kind = slash + 1;
    out->kind_length = (int)(second - out->kind);
    out->name = second + 1;
  }
  return is_identifier(out->package, (size_t)out->package_length) &&
         is_kind(out->kind, (size_t)out->kind_length) &&
         is_identifier(out->name, strlen(out->name));
}

static tb_status_t type_invalid(const char *type, tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_INVALID,
                      "type name '%s': must be package/msg/Name, package/srv/Name or "
                      "package/action/Name, of letters, digits and '_'",
                      type ? type : "(null)");
}

tb_status_t tb__type_name_normalize(const char *type, char out[TB__DDS_NAME_SIZE],
                                    tb_error_t *error)
{
  type_parts_t parts;
  if (!type || !type_split(type, &parts)) return type_invalid(type, error);
  snprintf(out, TB__DDS_NAME_SIZE, "%.*s/%.*s/%s", parts.package_length, parts.package,
           parts.kind_length, parts.kind, parts.name);
  return TB_OK;
}

tb_status_t tb__type_name_to_dds(const char *type, char out[TB__DDS_NAME_SIZE], tb_error_t *error)
{
  type_parts_t parts;
  if (!type || !type_split(type, &parts)) return type_invalid(type, error);
  snprintf(out, TB__DDS_NAME_SIZE, "%.*s::%.*s::dds_::%s_", parts.package_length, parts.package,
           parts.kind_length, parts.kind, parts.name);
  return TB_OK;
}
