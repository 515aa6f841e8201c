#include "ros2/service_pair.h"

#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "wire/type_hash.h"

#define WRITE_LIMIT_NS INT64_C(50000000) /* then the caller checks its own limit */
#define GUID_PREFIX    12

void tb__service_id_format(const tb__guid_t *guid, uint32_t number, char out[TB__SERVICE_ID_SIZE])
{
  uint8_t id[TB__GUID_SIZE];
  memcpy(id, guid->bytes, GUID_PREFIX);
  for (int i = 0; i < 4; i++)
    id[GUID_PREFIX + i] = (uint8_t)(number >> (8 * (3 - i)));
  int used = snprintf(out, TB__SERVICE_ID_SIZE, "%2x", id[0]);
  for (size_t i = 1; i < sizeof id; i++)
    used += snprintf(out + used, TB__SERVICE_ID_SIZE - (size_t)used, ".%x", id[i]);
}

bool tb__user_data_value(const char *user_data, const char *key, char *out, size_t size)
{
  size_t length = strlen(key);
  while (*user_data) {
    size_t field = strcspn(user_data, ";");
    if (field > length && memcmp(user_data, key, length) == 0 && user_data[length] == '=' &&
        field - length - 1 < size) {
      snprintf(out, size, "%.*s", (int)(field - length - 1), user_data + length + 1);
      return true;
    }
    user_data += field + (user_data[field] == ';');
  }
  return false;
}

bool tb__user_data_find(const char *user_data, const char *key, char out[TB__SERVICE_ID_SIZE])
{
  return tb__user_data_value(user_data, key, out, TB__SERVICE_ID_SIZE);
}

static tb_status_t side_init(const tb_ros2_context_t *context, const char *type, const char *suffix,
                             const char *key, const char *id, char out_type[TB__DDS_NAME_SIZE],
                             char out_user_data[], tb_error_t *error)
{
  char full[TB__DDS_NAME_SIZE], hash[TB__TYPE_HASH_USER_DATA_SIZE] = "";
  if (snprintf(full, sizeof full, "%s%s", type, suffix) >= (int)sizeof full)
    return tb_error_set(error, TB_ERR_INVALID, "service type name '%.80s...' is too long", type);
  tb_status_t status = tb__type_name_to_dds(full, out_type, error);
  if (status) return status;
  if (!tb__ros2_context_is_humble(context)) tb__type_hash_user_data(full, hash);
  snprintf(out_user_data, TB__USER_DATA_SIZE, "%s=%s;%s", key, id, hash);
  return TB_OK;
}

tb_status_t tb__service_pair_init(tb__service_pair_t *pair, tb_ros2_context_t *context,
                                  const char *service, const char *type, const tb_qos_t *qos,
                                  const char *key, tb_error_t *error)
{
  static const tb_qos_t defaults = TB_QOS_INIT_DEFAULT;
  char id[TB__SERVICE_ID_SIZE];
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "service %s: %s", service,
                        tb_status_message(TB_ERR_FORKED));
  if (!type || (!strstr(type, "/srv/") && !strstr(type, "/action/")))
    return tb_error_set(error, TB_ERR_INVALID, "service type name '%s': must be package/srv/Name",
                        type ? type : "(null)");
  pair->qos = qos ? *qos : defaults;
  if (pair->qos.reliability != TB_QOS_RELIABLE)
    return tb_error_set(error, TB_ERR_INVALID, "service %s: QoS must be reliable", service);
  tb_status_t status =
      tb__service_name_to_dds(service, pair->request_topic, pair->reply_topic, error);
  if (status) return status;
  tb__guid_t guid = tb__participant_guid(tb__ros2_context_participant(context));
  tb__service_id_format(&guid, tb__ros2_context_next_service_id(context), id);
  status = side_init(context, type, "_Request", key, id, pair->request_type,
                     pair->request_user_data, error);
  if (!status)
    status = side_init(context, type, "_Response", key, id, pair->reply_type, pair->reply_user_data,
                       error);
  pair->request = (tb__endpoint_options_t){.topic = pair->request_topic,
                                           .type = pair->request_type,
                                           .qos = &pair->qos,
                                           .user_data = pair->request_user_data,
                                           .write_limit_ns = WRITE_LIMIT_NS};
  pair->reply = pair->request;
  pair->reply.topic = pair->reply_topic;
  pair->reply.type = pair->reply_type;
  pair->reply.user_data = pair->reply_user_data;
  return status;
}
