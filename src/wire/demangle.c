#include "wire/demangle.h"

#include <stdio.h>
#include <string.h>

/* Length of `text` without `suffix`; 0 if it does not end so. */
static size_t length_without(const char *text, const char *suffix)
{
  size_t length = strlen(text), cut = strlen(suffix);
  return length > cut && strcmp(text + length - cut, suffix) == 0 ? length - cut : 0;
}

/* The rules are only in the forward conversion: a name is a ROS name if it converts back to the
 * same DDS name. */
static bool converts_back(const char *name, tb_ros2_endpoint_kind_t kind, const char *topic)
{
  char request[TB__DDS_NAME_SIZE], reply[TB__DDS_NAME_SIZE];
  if (kind == TB_ROS2_ENDPOINT_TOPIC)
    return tb__topic_name_to_dds(name, false, request, NULL) == TB_OK &&
           strcmp(request, topic) == 0;
  return tb__service_name_to_dds(name, request, reply, NULL) == TB_OK &&
         strcmp(kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST ? request : reply, topic) == 0;
}

tb_ros2_endpoint_kind_t tb__topic_name_demangle(const char *topic, char out[TB__DDS_NAME_SIZE])
{
  tb_ros2_endpoint_kind_t kind = TB_ROS2_ENDPOINT_DDS;
  size_t length = strlen(topic);
  if (length >= TB__DDS_NAME_SIZE) return TB_ROS2_ENDPOINT_DDS;
  if (strncmp(topic, "rt/", 3) == 0) {
    kind = TB_ROS2_ENDPOINT_TOPIC;
  } else if (strncmp(topic, "rq/", 3) == 0) {
    kind = TB_ROS2_ENDPOINT_SERVICE_REQUEST;
    length = length_without(topic, "Request");
  } else if (strncmp(topic, "rr/", 3) == 0) {
    kind = TB_ROS2_ENDPOINT_SERVICE_REPLY;
    length = length_without(topic, "Reply");
  }
  if (kind == TB_ROS2_ENDPOINT_DDS || length < 3) return TB_ROS2_ENDPOINT_DDS;
  char name[TB__DDS_NAME_SIZE];
  snprintf(name, sizeof name, "%.*s", (int)(length - 2), topic + 2);
  if (!converts_back(name, kind, topic)) return TB_ROS2_ENDPOINT_DDS;
  memcpy(out, name, sizeof name);
  return kind;
}

bool tb__type_name_demangle(const char *type, tb_ros2_endpoint_kind_t kind,
                            char out[TB__DDS_NAME_SIZE])
{
  char name[TB__DDS_NAME_SIZE], back[TB__DDS_NAME_SIZE];
  const char *middle = strstr(type, "::"), *tail = strstr(type, "::dds_::");
  size_t length = length_without(type, "_");
  if (!middle || !tail || tail <= middle || length >= TB__DDS_NAME_SIZE) return false;
  const char *last = tail + strlen("::dds_::");
  if (type + length <= last) return false;
  snprintf(name, sizeof name, "%.*s/%.*s/%.*s", (int)(middle - type), type,
           (int)(tail - middle - 2), middle + 2, (int)(type + length - last), last);
  if (tb__type_name_to_dds(name, back, NULL) != TB_OK || strcmp(back, type) != 0) return false;
  size_t service = kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST ? length_without(name, "_Request")
                   : kind == TB_ROS2_ENDPOINT_SERVICE_REPLY ? length_without(name, "_Response")
                                                            : 0;
  if (service) name[service] = '\0';
  memcpy(out, name, sizeof name);
  return true;
}
