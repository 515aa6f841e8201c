#include "dds/idl_type.h"

#include <dds/dds.h>

#define DEPTH_MAX 32 /* of structs within structs */

_Static_assert(sizeof(tb__idl_sequence_t) == sizeof(dds_sequence_t) &&
                   offsetof(tb__idl_sequence_t, length) == offsetof(dds_sequence_t, _length) &&
                   offsetof(tb__idl_sequence_t, buffer) == offsetof(dds_sequence_t, _buffer) &&
                   offsetof(tb__idl_sequence_t, release) == offsetof(dds_sequence_t, _release),
               "sequences look alike");

/* What ROS 2 cannot carry in this instruction; NULL: it can carry all of it. */
static const char *unsupported(uint32_t code)
{
  switch (code & DDS_OP_MASK) {
  case DDS_OP_RTS:
    return NULL;
  case DDS_OP_ADR:
    break;
  case DDS_OP_DLC:
    return "a struct that is appendable: give it @final, or use idlc -x final";
  case DDS_OP_PLC:
    return "a struct that is mutable: give it @final";
  default:
    return "an unknown instruction";
  }
  if (DDS_OP_FLAGS(code) & DDS_OP_FLAG_OPT) return "a member that is @optional";
  if (DDS_OP_TYPE_FLAGS(code)) return "a member that is @external";
  enum dds_stream_typecode type = DDS_OP_TYPE(code);
  if (type == DDS_OP_VAL_SEQ || type == DDS_OP_VAL_BSQ || type == DDS_OP_VAL_ARR)
    type = DDS_OP_SUBTYPE(code);
  switch (type) {
  case DDS_OP_VAL_UNI:
    return "a union";
  case DDS_OP_VAL_ENU:
    return "an enum";
  case DDS_OP_VAL_BMK:
    return "a bitmask";
  default:
    return NULL;
  }
}

/* Sets kind and size of a member that is not a struct, array or sequence. `chars_size` points to
 * the size of a bounded string in the instruction. */
static void plain_kind(tb__idl_member_t *member, enum dds_stream_typecode type,
                       const uint32_t *chars_size)
{
  member->kind = TB__IDL_NUMBER;
  switch (type) {
  case DDS_OP_VAL_BLN:
    member->kind = TB__IDL_BOOL;
    member->size = sizeof(bool);
    break;
  case DDS_OP_VAL_STR:
    member->kind = TB__IDL_STRING;
    member->size = sizeof(char *);
    break;
  case DDS_OP_VAL_BST:
    member->kind = TB__IDL_CHARS;
    member->size = *chars_size;
    break;
  default:
    member->size = (size_t)1 << (type - DDS_OP_VAL_1BY);
  }
}

static bool is_plain(enum dds_stream_typecode type)
{
  return type == DDS_OP_VAL_BLN || type <= DDS_OP_VAL_BST;
}

/* Returns the instruction after one that refers to the members of its elements. */
static const uint32_t *nested(tb__idl_member_t *member, const uint32_t *code, uint32_t jump,
                              uint32_t length)
{
  member->kind = TB__IDL_STRUCT;
  member->members = code + DDS_OP_ADR_JSR(jump);
  uint32_t next = DDS_OP_ADR_JMP(jump);
  return code + (next ? next : length);
}

static const uint32_t *sequence_read(const uint32_t *code, tb__idl_member_t *member)
{
  enum dds_stream_typecode element = DDS_OP_SUBTYPE(*code);
  const uint32_t *rest = code + 2;
  member->shape = TB__IDL_SEQUENCE;
  if (DDS_OP_TYPE(*code) == DDS_OP_VAL_BSQ) member->count = *rest++;
  if (is_plain(element)) {
    plain_kind(member, element, rest);
    return element == DDS_OP_VAL_BST ? rest + 1 : rest;
  }
  member->size = rest[0];
  return nested(member, code, rest[1], (uint32_t)(rest - code) + 2);
}

static const uint32_t *array_read(const uint32_t *code, tb__idl_member_t *member)
{
  enum dds_stream_typecode element = DDS_OP_SUBTYPE(*code);
  member->shape = TB__IDL_ARRAY;
  member->count = code[2];
  if (is_plain(element)) {
    plain_kind(member, element, code + 4);
    return element == DDS_OP_VAL_BST ? code + 5 : code + 3;
  }
  member->size = code[4];
  return nested(member, code, code[3], 5);
}

bool tb__idl_next(const uint32_t **members, tb__idl_member_t *out)
{
  const uint32_t *code = *members;
  if (*code == DDS_OP_RTS) return false;
  *out = (tb__idl_member_t){.shape = TB__IDL_ONE, .offset = code[1]};
  switch (DDS_OP_TYPE(*code)) {
  case DDS_OP_VAL_SEQ:
  case DDS_OP_VAL_BSQ:
    *members = sequence_read(code, out);
    break;
  case DDS_OP_VAL_ARR:
    *members = array_read(code, out);
    break;
  case DDS_OP_VAL_EXT:
    *members = nested(out, code, code[2], 3);
    break;
  default:
    plain_kind(out, DDS_OP_TYPE(*code), code + 2);
    *members = code + (out->kind == TB__IDL_CHARS ? 3 : 2);
  }
  return true;
}

/* What ROS 2 cannot carry; NULL: it can carry all of it. */
static const char *check(const uint32_t *members, int depth)
{
  tb__idl_member_t member;
  const char *what = unsupported(*members);
  if (depth > DEPTH_MAX) return "structs within structs more than 32 deep";
  while (!what && tb__idl_next(&members, &member)) {
    if (member.kind == TB__IDL_STRUCT) what = check(member.members, depth + 1);
    if (!what) what = unsupported(*members);
  }
  return what;
}

tb_status_t tb__idl_type_init(tb__idl_type_t *type, const struct dds_topic_descriptor *descriptor,
                              tb_error_t *error)
{
  if (!descriptor) return tb_error_set(error, TB_ERR_INVALID, "IDL: type is NULL");
  const char *what = check(descriptor->m_ops, 0);
  if (what)
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "%s: ROS 2 cannot carry %s",
                        descriptor->m_typename, what);
  *type = (tb__idl_type_t){descriptor->m_typename, descriptor->m_size, descriptor->m_ops};
  return TB_OK;
}
