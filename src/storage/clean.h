/* Texts of recordings that are not valid text: the one place that decides what they are read as. */
#ifndef TB_STORAGE_CLEAN_H
#define TB_STORAGE_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

/* The names that a topic or type without a name gets. */
#define TB__BAG_NO_NAME "/unnamed"
#define TB__BAG_NO_TYPE "unknown"

/* The bytes as UTF-8 that metadata.yaml and terminals can hold, to be freed: each other byte
 * becomes "\x1b", in two digits. *changed is set to true if there was one, and left alone
 * otherwise; it may be NULL. NULL: no memory. */
char *tb__bag_clean(const void *bytes, size_t size, bool *changed);

/* As ROS 2 names them, in place, where a recorder of DDS wrote what DDS has: "rt/chatter" and
 * "std_msgs::msg::dds_::String_". */
void tb__bag_name_as_ros(char *topic, char *type);

/* Whether YAML can hold the text: UTF-8, and no control characters but tab and line feed. */
bool tb__yaml_can_hold(const char *text);

#endif
