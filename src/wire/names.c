#include "wire/names.h"

#include <stdio.h>
#include <string.h>

#define ROS_TOPIC_LENGTH_MAX 247 /* rmw/validate_full_topic_name.h: 255 less 8 for prefixes */
#define NAMESPACE_LENGTH_MAX 245 /* rmw/validate_namespace.h: leaves room for '/' and a name */
#define NODE_LENGTH_MAX      255 /* rmw/validate_node_name.h */
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
  if (topic[0] == '~') return "must not be private (~), as there is no node here";
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

typedef struct builder {
  char text[TB__DDS_NAME_SIZE];
  size_t length;
  bool overflow;
} builder_t;

static void append(builder_t *builder, const char *text, size_t length)
{
  if (length >= TB__DDS_NAME_SIZE - builder->length) {
    builder->overflow = true;
    return;
  }
  memcpy(builder->text + builder->length, text, length);
  builder->length += length;
  builder->text[builder->length] = '\0';
}

static void append_text(builder_t *builder, const char *text)
{
  append(builder, text, strlen(text));
}

static void append_namespace(builder_t *builder, const char *node_namespace)
{
  append_text(builder, node_namespace);
  if (strcmp(node_namespace, "/") != 0) append_text(builder, "/");
}

static bool text_is(const char *text, size_t length, const char *expected)
{
  return length == strlen(expected) && memcmp(text, expected, length) == 0;
}

/* `brace` points to '{'. Returns the replacement, and where the braces end. NULL, with the rule
 * that is broken. */
static const char *substitution(const char *brace, const char *node_name,
                                const char *node_namespace, const char **end, const char **rule)
{
  const char *name = brace + 1;
  size_t length = strcspn(name, "{}");
  if (name[length] != '}') {
    *rule = "must close '{' with '}'";
    return NULL;
  }
  *end = name + length + 1;
  if (text_is(name, length, "node")) return node_name;
  if (text_is(name, length, "ns") || text_is(name, length, "namespace")) return node_namespace;
  *rule = "must have no substitution except {node}, {ns} and {namespace}";
  return NULL;
}

/* The rule that is broken; NULL: none. */
static const char *expand(const char *name, const char *node_name, const char *node_namespace,
                          builder_t *out)
{
  const char *rule = NULL;
  if (*name == '\0') return "must not be empty";
  if (strchr(name + 1, '~')) return "must not have '~' except at the beginning";
  if (*name == '~') {
    if (name[1] != '\0' && name[1] != '/') return "must have '/' after '~'";
    append_namespace(out, node_namespace);
    append_text(out, node_name);
    name++;
  } else if (*name != '/' && strncmp(name, "{ns}", 4) != 0 &&
             strncmp(name, "{namespace}", 11) != 0) {
    append_namespace(out, node_namespace);
  }
  while (*name) {
    size_t plain = strcspn(name, "{");
    append(out, name, plain);
    name += plain;
    if (*name == '\0') break;
    const char *replacement = substitution(name, node_name, node_namespace, &name, &rule);
    if (!replacement) return rule;
    append_text(out, replacement);
  }
  return out->overflow ? "must not be longer than 247 characters when expanded" : NULL;
}

tb_status_t tb__name_expand(const char *name, const char *node_name, const char *node_namespace,
                            char out[TB__DDS_NAME_SIZE], tb_error_t *error)
{
  if (!name) return tb_error_set(error, TB_ERR_INVALID, "name is NULL");
  builder_t full = {.length = 0};
  const char *rule = expand(name, node_name, node_namespace, &full);
  if (rule) return tb_error_set(error, TB_ERR_INVALID, "name '%s': %s", name, rule);
  rule = broken_topic_rule(full.text);
  if (rule)
    return tb_error_set(error, TB_ERR_INVALID, "name '%s', which is '%s' in full: %s", name,
                        full.text, rule);
  memcpy(out, full.text, full.length + 1);
  return TB_OK;
}

static const char *broken_node_rule(const char *name)
{
  size_t length = strlen(name);
  if (length == 0) return "must not be empty";
  for (size_t i = 0; i < length; i++) {
    if (!is_name_character(name[i])) return "must have only letters, digits and '_'";
  }
  if (is_digit(name[0])) return "must not start with a digit";
  if (length > NODE_LENGTH_MAX) return "must not be longer than 255 characters";
  return NULL;
}

tb_status_t tb__node_name_check(const char *name, tb_error_t *error)
{
  if (!name) return tb_error_set(error, TB_ERR_INVALID, "node name is NULL");
  const char *rule = broken_node_rule(name);
  if (rule) return tb_error_set(error, TB_ERR_INVALID, "node name '%s': %s", name, rule);
  return TB_OK;
}

tb_status_t tb__namespace_normalize(const char *ns, char out[TB__DDS_NAME_SIZE], tb_error_t *error)
{
  if (!ns) return tb_error_set(error, TB_ERR_INVALID, "namespace is NULL");
  bool root = strcmp(ns, "") == 0 || strcmp(ns, "/") == 0;
  const char *relative = ns + (ns[0] == '/');
  const char *rule = root ? NULL : broken_topic_rule(ns);
  if (!rule && strlen(relative) + 1 > NAMESPACE_LENGTH_MAX)
    rule = "must not be longer than 245 characters";
  if (rule) return tb_error_set(error, TB_ERR_INVALID, "namespace '%s': %s", ns, rule);
  snprintf(out, TB__DDS_NAME_SIZE, "/%.*s", NAMESPACE_LENGTH_MAX - 1, relative);
  return TB_OK;
}

tb_status_t tb__enclave_name_check(const char *enclave, tb_error_t *error)
{
  if (strcmp(enclave, "/") == 0) return TB_OK;
  const char *rule = enclave[0] == '/' ? broken_topic_rule(enclave) : "must begin with '/'";
  if (!rule) return TB_OK;
  return tb_error_set(error, TB_ERR_INVALID, "enclave '%s': %s", enclave, rule);
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
