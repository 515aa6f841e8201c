/* rmw_dds_common: the nodes of a participant. */
#include "wire/message_tables.h"

#define NAME_MAX_LENGTH 256
#define INFO_NAME       "rmw_dds_common/msg/ParticipantEntitiesInfo"

/* One form of the three types that contain a gid. */
#define FORM(form, gid_size)                                                                       \
  static const tb__cdr_field_t gid_fields_##form[] = {OCTETS(tb__gid_t, data, gid_size)};          \
  static const tb__cdr_type_t gid_type_##form =                                                    \
      TYPE("rmw_dds_common/msg/Gid", tb__gid_t, gid_fields_##form);                                \
  static const tb__cdr_field_t node_fields_##form[] = {                                            \
      STRING(tb__node_entities_info_t, node_namespace, NAME_MAX_LENGTH),                           \
      STRING(tb__node_entities_info_t, node_name, NAME_MAX_LENGTH),                                \
      LIST(tb__node_entities_info_t, reader_gid_seq, TB__CDR_STRUCT, 0, &gid_type_##form),         \
      LIST(tb__node_entities_info_t, writer_gid_seq, TB__CDR_STRUCT, 0, &gid_type_##form),         \
  };                                                                                               \
  static const tb__cdr_type_t node_type_##form =                                                   \
      TYPE("rmw_dds_common/msg/NodeEntitiesInfo", tb__node_entities_info_t, node_fields_##form);   \
  static const tb__cdr_field_t info_fields_##form[] = {                                            \
      STRUCT(tb__participant_entities_info_t, gid, &gid_type_##form),                              \
      LIST(tb__participant_entities_info_t, node_entities_info_seq, TB__CDR_STRUCT, 0,             \
           &node_type_##form),                                                                     \
  };

FORM(jazzy, 16)
FORM(humble, 24)

const tb__cdr_type_t tb__participant_entities_info_type =
    TYPE(INFO_NAME, tb__participant_entities_info_t, info_fields_jazzy);
const tb__cdr_type_t tb__participant_entities_info_humble_type =
    TYPE(INFO_NAME, tb__participant_entities_info_t, info_fields_humble);

tb_status_t tb__participant_entities_info_decode(const void *cdr, size_t size,
                                                 tb__participant_entities_info_t **out,
                                                 bool *out_humble)
{
  /* No sample is valid in both forms: the newer one reads the 8 zeros of humble's first gid as an
   * empty list of nodes, with excess bytes after it. */
  tb_status_t status = tb__cdr_decode(&tb__participant_entities_info_type, cdr, size, out);
  bool humble =
      status && tb__cdr_decode(&tb__participant_entities_info_humble_type, cdr, size, out) == TB_OK;
  if (status && !humble) return status;
  *out_humble = humble;
  return TB_OK;
}
